#!/bin/bash
# made by rocec for leaf
# intent sha256:764ca8beb005082eab1f307f9a86f3d0d05f631ee19311a02c89c243032e0ac2
# model nvidia/sn5400, ASIC spectrum-4, dynamic buffer model
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
