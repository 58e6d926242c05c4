#!/bin/bash
# made by rocec for leaf
# intent sha256:3051ed38a7fb7080e70eef86d497e67fe012c3e5711377652e3bb8ac2e5874a3
# model nvidia/sn5400, ASIC spectrum-4, dynamic buffer model
#
# Read-only: compares ConfigDB with the fragments, then shows the watchdog and the pause counters.
#
# Run on the switch: sudo ./verify.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
python3 rocec-check.py missing <(sonic-cfggen -d --print-data) rocec-ports.json rocec-qos.json
python3 rocec-check.py absent <(sonic-cfggen -d --print-data) rocec-absent.json rocec-ports.json rocec-qos.json
pfcwd show config
show pfc counters
