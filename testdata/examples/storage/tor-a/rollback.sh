#!/bin/bash
# made by rocec for tor-a
# intent sha256:2ccb2800453f2fa14689726e722a337f4e3d9ce7680c4b884ce4327b08de900c
# model nvidia/sn3700c, ASIC spectrum-2, dynamic buffer model
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
