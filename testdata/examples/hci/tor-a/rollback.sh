#!/bin/bash
# made by rocec for tor-a
# intent sha256:78c49820fe26a3a81c29b344851fbe0a1c04a9c12c871476740fd286ee25efc6
# model dell/s5248f-on, ASIC trident3, traditional buffer model
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
