#!/bin/bash
# made by rocec for tor-a
# intent sha256:81be6e87147c3ea0dc0f4c717e992c0f393f075928d3cc0ccfb53ce9a1211341
# model dell/s5248f-on, ASIC trident3, traditional buffer model
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
