#!/bin/bash
# made by rocec for tor
# intent sha256:37cb7a8e71a0ec4cafd0fd4b8ddac820a2ea78e57caa1f8949409c7088d9679b
# model dell/s5224f-on, ASIC trident3, traditional buffer model
#
# Goes back to the checkpoint that the last apply script took. Where the config updater refuses,
# config reload -y rocec-before.json goes back too, but restarts the services.
#
# Run on the switch: sudo ./rollback.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [ "$(id -u)" -ne 0 ]; then
    echo "run it with sudo" >&2
    exit 1
fi
check=../common/sonic-d223b306cbf5/rocec-check.py
back() {
    python3 "$check" back rocec-before.json <(sonic-cfggen -d --print-data) rocec-qos.json > rocec-commands.txt
    while IFS=$'\x1f' read -r -a step; do
        sonic-db-cli CONFIG_DB "${step[@]}" >/dev/null
    done < rocec-commands.txt
}
back
config rollback "$(cat rocec-checkpoint)"
back
config save -y
