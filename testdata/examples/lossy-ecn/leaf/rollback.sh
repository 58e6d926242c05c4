#!/bin/bash
# made by rocec for leaf
# intent sha256:764ca8beb005082eab1f307f9a86f3d0d05f631ee19311a02c89c243032e0ac2
# model nvidia/sn5400, ASIC spectrum-4, dynamic buffer model
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
