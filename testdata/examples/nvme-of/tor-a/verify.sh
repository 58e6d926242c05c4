#!/bin/bash
# made by rocec for tor-a
# intent sha256:e1ebea0852848ef54e9041618248dc4239e1b1fe029aa7157760a16ba66b981a
# model nvidia/sn3700c, ASIC spectrum-2, dynamic buffer model
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
