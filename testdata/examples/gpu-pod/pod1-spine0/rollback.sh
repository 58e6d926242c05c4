#!/bin/bash
# made by rocec for pod1-spine0
# intent sha256:48888170bdf8ca1d5b04f2d4f23bee4295f6816e1640c9249370f7b0245e285a
# model nvidia/sn5600, ASIC spectrum-4, Cumulus Linux 5.11
#
# Goes back to a revision of nv config history. Before the timer has run out, nv config apply --confirm-no does.
set -euo pipefail
if [ $# -ne 1 ]; then
    nv config history
    echo "name the revision to go back to" >&2
    exit 1
fi
nv config apply "$1" -y
