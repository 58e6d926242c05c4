#!/bin/bash
# made by rocec for tor
# intent sha256:37cb7a8e71a0ec4cafd0fd4b8ddac820a2ea78e57caa1f8949409c7088d9679b
# model dell/s5224f-on, ASIC trident3, traditional buffer model
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
python3 "$check" restarts rocec-before.json rocec-qos.json > rocec-restarts.txt
if [ -s rocec-restarts.txt ]; then
    readarray -t ports < rocec-restarts.txt
    pfcwd stop "${ports[@]}"
    config load -y rocec-qos.json
fi
settle() {
    python3 "$check" settle <(sonic-cfggen -d --print-data) rocec-absent.json rocec-ports.json rocec-qos.json > rocec-commands.txt
    while IFS=$'\x1f' read -r -a step; do
        sonic-db-cli CONFIG_DB "${step[@]}" >/dev/null
    done < rocec-commands.txt
}
for try in 1 2 3 4 5 6; do
    settle
    if ./verify.sh; then
        [ -n "${ROCEC_LIVE-}" ] || config save -y
        exit 0
    fi
    echo "not yet as wanted (try $try of 6)" >&2
    sleep 5
done
echo "verify.sh finds what is not as wanted, and nothing was saved; sudo ./rollback.sh goes back" >&2
exit 1
