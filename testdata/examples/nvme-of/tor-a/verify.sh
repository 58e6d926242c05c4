#!/bin/bash
# made by rocec for tor-a
# intent sha256:f610161d9c8594ff0445ba883693e7093e690d45b3673fcb508d95d5a6b99897
# model nvidia/sn3700c, ASIC spectrum-2, dynamic buffer model
#
# Read-only: compares ConfigDB with the fragments, then shows the watchdog and the pause counters.
#
# Run on the switch: sudo ./verify.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
check=../common/sonic-d223b306cbf5/rocec-check.py
python3 "$check" missing <(sonic-cfggen -d --print-data) rocec-ports.json rocec-qos.json
python3 "$check" absent <(sonic-cfggen -d --print-data) rocec-absent.json rocec-ports.json rocec-qos.json
pfcwd show config
show pfc counters
