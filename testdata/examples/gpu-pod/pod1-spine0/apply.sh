#!/bin/bash
# made by rocec for pod1-spine0
# intent sha256:d9263252e2de36406624ec588fc0159c9c0e8762f8f4d59c1f9050f674bf921d
# model nvidia/sn5600, ASIC spectrum-4, Cumulus Linux 5.14
#
# Patches the pending configuration, shows what it changes and applies it with a timer: without
# nv config apply --confirm-yes within 10m the switch goes back by itself.
# A pending change of somebody else would be applied too, so it stops where there is one.
# ROCEC_CONFIRM=TIME: wait that long instead.
# It removes nothing; a plan made from the switch's own configuration does (nv config show).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [ -n "$(nv config diff 2>/dev/null || true)" ]; then
    echo "there are pending changes: nv config diff shows them, nv config detach puts them aside" >&2
    exit 1
fi
nv config patch "$PWD/nvue.yaml"
nv config diff
nv config apply --confirm "${ROCEC_CONFIRM-10m}" -y
./verify.sh
echo "if all is well: nv config apply --confirm-yes"
