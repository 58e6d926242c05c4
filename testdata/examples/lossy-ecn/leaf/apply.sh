#!/bin/bash
# made by rocec for leaf
# intent sha256:764ca8beb005082eab1f307f9a86f3d0d05f631ee19311a02c89c243032e0ac2
# model nvidia/sn5400, ASIC spectrum-4, dynamic buffer model
#
# Merges the fragments into ConfigDB, verifies them and saves. It removes nothing: rows that
# overlap with it or that have to go stop it before the first change.
# ROCEC_LIVE=ID: take no checkpoint and save nothing, since rocec-live.sh does both.
#
# Run on the switch: sudo ./apply.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [ "$(id -u)" -ne 0 ]; then
    echo "run it with sudo" >&2
    exit 1
fi
check=../common/sonic-d223b306cbf5/rocec-check.py
for f in "$check" rocec-ports.json rocec-qos.json; do
    if [ ! -f "$f" ]; then
        echo "$f is missing" >&2
        exit 1
    fi
done
sonic-cfggen -d --print-data > rocec-before.json
python3 "$check" overlap rocec-before.json rocec-ports.json rocec-qos.json
python3 "$check" absent rocec-before.json rocec-absent.json rocec-ports.json rocec-qos.json
if [ -z "${ROCEC_LIVE-}" ]; then
    checkpoint=rocec-$(date -u +%Y%m%dT%H%M%SZ)
    config checkpoint "$checkpoint"
    printf '%s\n' "$checkpoint" > rocec-checkpoint
fi
config load -y rocec-ports.json
config load -y rocec-qos.json
for try in 1 2 3 4 5 6; do
    if ./verify.sh; then
        [ -n "${ROCEC_LIVE-}" ] || config save -y
        exit 0
    fi
    echo "not yet as wanted (try $try of 6)" >&2
    sleep 5
done
echo "verify.sh finds what is not as wanted, and nothing was saved; sudo ./rollback.sh goes back" >&2
exit 1
