#!/bin/bash
# made by rocec for leaf
# intent sha256:764ca8beb005082eab1f307f9a86f3d0d05f631ee19311a02c89c243032e0ac2
# model nvidia/sn5400, ASIC spectrum-4, dynamic buffer model
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
