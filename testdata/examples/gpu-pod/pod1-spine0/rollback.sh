#!/bin/bash
# made by rocec for pod1-spine0
# intent sha256:d9263252e2de36406624ec588fc0159c9c0e8762f8f4d59c1f9050f674bf921d
# model nvidia/sn5600, ASIC spectrum-4, Cumulus Linux 5.14
#
# Goes back to a revision of nv config history. Before the timer has run out, nv config apply --confirm-no does.
set -euo pipefail
if [ $# -ne 1 ]; then
    nv config history
    echo "name the revision to go back to" >&2
    exit 1
fi
nv config apply "$1" -y
