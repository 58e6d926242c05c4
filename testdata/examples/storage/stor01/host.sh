# made by rocec for stor01
# intent sha256:98119a4f6103b57d8f1149bb6d6bf66ef9e8b2817ea6ba7f9f34be983733eb05
# shellcheck shell=bash disable=SC2034 # read by the scripts of the kit, and by rocec-qos at boot as /etc/rocec/host.sh
host=stor01
tool=dcb
ports=(nvme_a nvme_b)
programs=(ip netplan systemctl systemd-escape flock ethtool dcb python3 rdma)
packages=(ethtool ibverbs-providers ibverbs-utils iproute2 kmod netplan.io perftest procps rdma-core rdmacm-utils)
parts=(rdma mlx5)
links=(nvme_a nvme_b)
made=()
owns=('nvme_a=10.30.1.11/24' 'nvme_b=10.30.2.11/24')
rules=()
files=(
	'netplan/60-rocec.yaml|/etc/netplan/60-rocec.yaml|600'
	'systemd/network/05-rocec-nvme_a.link|/etc/systemd/network/05-rocec-nvme_a.link|644'
	'systemd/network/05-rocec-nvme_b.link|/etc/systemd/network/05-rocec-nvme_b.link|644'
	'sysctl.d/60-rocec.conf|/etc/sysctl.d/60-rocec.conf|644'
	'env/nvme.env|/etc/rocec/env/nvme.env|644'
	'host.sh|/etc/rocec/host.sh|644'
)

qos1() {
	# class nvme carries rdma over roce_v2, priority 3, DSCP 26, ECN-capable
	# class cnp carries cnp, priority 6, DSCP 48
	# class default, priority 0, default
	pause=off
	trust=dscp
	dscp_prio='26:3 48:6'
	dscp_rest=0
	prio_tc='0 0 0 3 0 0 6 0'
	tsa='ets strict strict ets strict strict strict strict'
	bw='50 - - 50 - - - -'
	pfc='0 0 0 1 0 0 0 0'
	roce_tos=106
	cnp_dscp=48
	cnp_prio=6
	:
}
want() {
	case $1 in
	nvme_a)
		model='nvidia/connectx-6-dx, adapter 0000:3b:00'
		driver=mlx5
		pci=0000:3b:00.0
		speed=100000
		fec=rs
		mtu=9000
		untagged=3001
		dcbx=host
		cable=3
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	nvme_b)
		model='nvidia/connectx-6-dx, adapter 0000:3b:00'
		driver=mlx5
		pci=0000:3b:00.1
		speed=100000
		fec=rs
		mtu=9000
		untagged=3002
		dcbx=host
		cable=3
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	*) return 1 ;;
	esac
}

check_network() {
	check_rdma nvme_a
	check_rdma_mtu nvme_a 4096
	check_rdma nvme_b
	check_rdma_mtu nvme_b 4096
	check_address nvme_a 10.30.1.11/24 nvme_a
	check_gid nvme_a
	check_address nvme_b 10.30.2.11/24 nvme_b
	check_gid nvme_b
	check_arp nvme_a
	check_arp nvme_b
}
