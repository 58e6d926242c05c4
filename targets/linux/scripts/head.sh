#!/bin/bash
# made by rocec, the same for every host
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
