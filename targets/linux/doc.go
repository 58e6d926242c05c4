// Package linux is the target for Ubuntu and Debian hosts with adapters of
// mlx5, bnxt, ice, qede and cxgb4, or soft-RoCE. From a host's intent it writes
// what differs from host to host: netplan, names and VLAN maps for systemd,
// the wanted settings of every port as data, and a file of variables for the
// applications of each class of RDMA. The programs that take these data are one
// kit for all hosts: rocec-qos, which sets DCB by dcb of iproute2 or mlnx_qos
// and runs at boot, and scripts that install, verify, capture and roll back. It
// takes what capture.sh collected and returns the intent that it shows. Other
// renderers than systemd-networkd, DCBX by lldpad, tools of single vendors
// where dcb does the same, and NVRAM settings are left out and refused.
package linux
