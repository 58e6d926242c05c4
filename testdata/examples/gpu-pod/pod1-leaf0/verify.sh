#!/bin/bash
# made by rocec for pod1-leaf0
# intent sha256:2a599b21e05122d1b1852bc38ebf0564a6c992db55845ecbfac139bbf75504f5
# model nvidia/sn5600, ASIC spectrum-4, Cumulus Linux 5.11
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
