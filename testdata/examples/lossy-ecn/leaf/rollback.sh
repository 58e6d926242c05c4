#!/bin/bash
# made by rocec for leaf
# intent sha256:3051ed38a7fb7080e70eef86d497e67fe012c3e5711377652e3bb8ac2e5874a3
# model nvidia/sn5400, ASIC spectrum-4, dynamic buffer model
#
# Goes back to the checkpoint that the last apply script took. Where the config updater refuses
# (changed buffer pools), config reload -y rocec-before.json goes back too, but restarts the services.
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
