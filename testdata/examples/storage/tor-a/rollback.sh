#!/bin/bash
# made by rocec for tor-a
# intent sha256:2ccb2800453f2fa14689726e722a337f4e3d9ce7680c4b884ce4327b08de900c
# model nvidia/sn3700c, ASIC spectrum-2, dynamic buffer model
#
# Goes back to the checkpoint that the last apply script took. Where the config updater refuses
# (changed buffer pools, ECN profiles before 202511, the watchdog of SKUs that it does not know), config reload -y rocec-before.json goes back too, but restarts the services.
#
# Run on the switch: sudo ./rollback.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [ "$(id -u)" -ne 0 ]; then
    echo "run it with sudo" >&2
    exit 1
fi
config rollback "$(cat rocec-checkpoint)"
config save -y
