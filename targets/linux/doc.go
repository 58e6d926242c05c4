// Package linux is the target for Ubuntu and Debian hosts with mlx5 adapters
// or soft-RoCE. From a host's intent it writes the netplan file, the script
// rocec-qos with the QoS of every port (by dcb of iproute2 or by mlnx_qos), the
// units that run it at boot and when a driver is loaded again, and scripts that
// install, verify, capture and roll back. It takes what capture.sh collected
// and returns the intent that it shows. Other families of adapters, other
// renderers than systemd-networkd, DCBX by lldpad, and NVRAM settings are left
// out and refused.
package linux
