#!/bin/bash
# made by rocec for pod1-spine0
# intent sha256:135ca209d3a90254b241c5bdc6d8b5da72ea1959a42547658db37a98b5588bf9
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
