#!/bin/bash
# made by rocec for tor
# intent sha256:fced31d9c67c3325af29984e71981d953adc8e6e04f5ab89131afe33b82f70ad
# model dell/s5224f-on, ASIC trident3, traditional buffer model
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
