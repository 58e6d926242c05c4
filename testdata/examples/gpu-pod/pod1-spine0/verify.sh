#!/bin/bash
# made by rocec for pod1-spine0
# intent sha256:135ca209d3a90254b241c5bdc6d8b5da72ea1959a42547658db37a98b5588bf9
# model nvidia/sn5600, ASIC spectrum-4, Cumulus Linux 5.11
#
# Read-only: shows the applied profiles, the watchdog and the links.
set -euo pipefail
nv show qos congestion-control rocec_roce
nv show qos egress-queue-mapping default-global
nv show qos egress-scheduler rocec_roce_t036
nv show qos mapping rocec_roce
nv show qos pfc rocec_roce_p3_l40m
nv show interface
