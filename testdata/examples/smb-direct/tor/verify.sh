#!/bin/bash
# made by rocec for tor
# intent sha256:37cb7a8e71a0ec4cafd0fd4b8ddac820a2ea78e57caa1f8949409c7088d9679b
# model dell/s5224f-on, ASIC trident3, traditional buffer model
#
# Read-only: compares ConfigDB with the fragments, then shows the watchdog and the pause counters.
#
# Run on the switch: sudo ./verify.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
check=../common/sonic-d223b306cbf5/rocec-check.py
python3 "$check" missing <(sonic-cfggen -d --print-data) rocec-ports.json rocec-qos.json
python3 "$check" absent <(sonic-cfggen -d --print-data) rocec-absent.json rocec-ports.json rocec-qos.json
# the buffer manager makes the lossless groups by itself, unless its table has no row for the speed and cable
python3 "$check" groups <(sonic-cfggen -d --print-data) rocec-qos.json
pfcwd show config
show pfc counters
