#!/bin/bash
# made by rocec for pod1-spine0
# intent sha256:d9263252e2de36406624ec588fc0159c9c0e8762f8f4d59c1f9050f674bf921d
# model nvidia/sn5600, ASIC spectrum-4, Cumulus Linux 5.14
#
# Read-only: shows the applied profiles, the watchdog and the links.
set -euo pipefail
nv show qos congestion-control rocec_roce
nv show qos egress-queue-mapping default-global
nv show qos egress-scheduler rocec_roce_t036
nv show qos mapping rocec_roce
nv show qos pfc rocec_roce_p3_l40m
nv show interface
