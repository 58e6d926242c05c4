# made by rocec for gpu1
# intent sha256:c7a368a7a6fb5a43f783ee2173cc16b1a462a7763263bb8b7f2c776876dcaf3c
# shellcheck shell=bash disable=SC2034 # read by the scripts of the kit, and by rocec-qos at boot as /etc/rocec/host.sh
host=gpu1
tool=dcb
ports=(rail0 rail1)
programs=(ip netplan systemctl systemd-escape flock ethtool dcb python3 rdma)
packages=(ethtool ibverbs-providers ibverbs-utils iproute2 kmod mstflint netplan.io perftest procps rdma-core rdmacm-utils)
parts=(rdma mlx5)
links=(rail0 rail1)
made=()
owns=('rail0=10.64.0.11/24' 'rail1=10.64.1.11/24')
rules=()
files=(
	'netplan/60-rocec.yaml|/etc/netplan/60-rocec.yaml|600'
	'systemd/network/05-rocec-rail0.link|/etc/systemd/network/05-rocec-rail0.link|644'
	'systemd/network/05-rocec-rail1.link|/etc/systemd/network/05-rocec-rail1.link|644'
	'sysctl.d/60-rocec.conf|/etc/sysctl.d/60-rocec.conf|644'
	'env/rdma.env|/etc/rocec/env/rdma.env|644'
	'host.sh|/etc/rocec/host.sh|644'
)

qos1() {
	# class rdma carries rdma over roce_v2, priority 3, DSCP 26, ECN-capable, congestion control dcqcn
	# class cnp carries cnp, priority 6, DSCP 48
	# class default, priority 0, default
	pause=off
	trust=dscp
	dscp_prio='26:3 48:6'
	dscp_rest=0
	prio_tc='0 0 0 3 0 0 6 0'
	tsa='ets strict strict ets strict strict strict strict'
	bw='20 - - 80 - - - -'
	pfc='0 0 0 0 0 0 0 0'
	roce_tos=106
	dcqcn=3
	cnp_dscp=48
	cnp_prio=6
	:
}
want() {
	case $1 in
	rail0)
		model='nvidia/connectx-7, adapter 0000:1a:00'
		driver=mlx5
		pci=0000:1a:00.0
		speed=400000
		fec=rs
		mtu=9000
		untagged=100
		dcbx=host
		cable=20
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	rail1)
		model='nvidia/connectx-7, adapter 0000:3c:00'
		driver=mlx5
		pci=0000:3c:00.0
		speed=400000
		fec=rs
		mtu=9000
		untagged=101
		dcbx=host
		cable=20
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	*) return 1 ;;
	esac
}

check_network() {
	check_rdma rail0
	check_rdma_mtu rail0 4096
	check_rdma rail1
	check_rdma_mtu rail1 4096
	check_address rail0 10.64.0.11/24 rail0
	check_gid rail0
	check_address rail1 10.64.1.11/24 rail1
	check_gid rail1
	check_arp rail0
	check_arp rail1
}
