#!/bin/bash
# made by rocec for pod1-leaf0
# intent sha256:ec9bd5b353fcfa555048315d0cc8e74e8172b3003231928ac2d67da652fbbf7d
# model nvidia/sn5600, ASIC spectrum-4, Cumulus Linux 5.14
#
# Read-only: shows the applied profiles, the watchdog and the links.
set -euo pipefail
nv show qos congestion-control rocec_roce
nv show qos egress-queue-mapping default-global
nv show qos egress-scheduler rocec_roce_t036
nv show qos mapping rocec_roce
nv show qos pfc rocec_roce_p3_l3m
nv show qos pfc rocec_roce_p3_l40m
nv show interface
