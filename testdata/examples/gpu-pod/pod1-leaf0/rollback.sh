#!/bin/bash
# made by rocec for pod1-leaf0
# intent sha256:2a599b21e05122d1b1852bc38ebf0564a6c992db55845ecbfac139bbf75504f5
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
