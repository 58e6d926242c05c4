#!/bin/bash
# made by rocec for pod1-leaf0
# intent sha256:ec9bd5b353fcfa555048315d0cc8e74e8172b3003231928ac2d67da652fbbf7d
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
