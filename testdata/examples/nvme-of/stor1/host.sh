# made by rocec for stor1
# intent sha256:e88f650c171bde15667281718f08eb5b44f2e3b897797ccc6e6e7ab245577976
# shellcheck shell=bash disable=SC2034 # read by the scripts of the kit, and by rocec-qos at boot as /etc/rocec/host.sh
host=stor1
tool=dcb
ports=(p0 p1)
programs=(ip netplan systemctl systemd-escape flock ethtool dcb python3 rdma)
packages=(ethtool ibverbs-providers ibverbs-utils iproute2 kmod netplan.io perftest procps rdma-core rdmacm-utils)
parts=(rdma mlx5)
links=(p0 p1 bond0 nvme_a nvme_b)
made=(nvme_b nvme_a bond0)
owns=('nvme_a=10.31.1.11/24' 'nvme_b=10.31.2.11/24')
rules=()
files=(
	'netplan/60-rocec.yaml|/etc/netplan/60-rocec.yaml|600'
	'systemd/network/05-rocec-p0.link|/etc/systemd/network/05-rocec-p0.link|644'
	'systemd/network/05-rocec-p1.link|/etc/systemd/network/05-rocec-p1.link|644'
	'systemd/network/10-netplan-nvme_a.netdev.d/qos.conf|/etc/systemd/network/10-netplan-nvme_a.netdev.d/qos.conf|644'
	'systemd/network/10-netplan-nvme_b.netdev.d/qos.conf|/etc/systemd/network/10-netplan-nvme_b.netdev.d/qos.conf|644'
	'sysctl.d/60-rocec.conf|/etc/sysctl.d/60-rocec.conf|644'
	'env/nvme.env|/etc/rocec/env/nvme.env|644'
	'host.sh|/etc/rocec/host.sh|644'
)

qos1() {
	# class nvme carries rdma over roce_v2, priority 3, DSCP 26, ECN-capable
	# class default, priority 0, default
	pause=off
	trust=dscp
	dscp_prio=26:3
	dscp_rest=0
	prio_tc='0 0 0 3 0 0 0 0'
	tsa='ets strict strict ets strict strict strict strict'
	bw='50 - - 50 - - - -'
	pfc='0 0 0 1 0 0 0 0'
	roce_tos=106
	:
}
want() {
	case $1 in
	p0)
		model='nvidia/connectx-6-dx, adapter 0000:3b:00'
		driver=mlx5
		pci=0000:3b:00.0
		bond=bond0
		siblings=p1
		speed=100000
		fec=rs
		mtu=9000
		dcbx=host
		cable=3
		egress='nvme_a=2:3 nvme_b=2:3'
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	p1)
		model='nvidia/connectx-6-dx, adapter 0000:3b:00'
		driver=mlx5
		pci=0000:3b:00.1
		bond=bond0
		siblings=p0
		speed=100000
		fec=rs
		mtu=9000
		dcbx=host
		cable=3
		egress='nvme_a=2:3 nvme_b=2:3'
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	*) return 1 ;;
	esac
}

check_network() {
	check_rdma p0
	check_rdma_mtu p0 4096
	check_rdma p1
	check_rdma_mtu p1 4096
	check_bond bond0 'IEEE 802.3ad Dynamic link aggregation' 'the switch does not bundle them' p0 p1
	check_vlan nvme_a bond0 3101 9000
	check_address nvme_a 10.31.1.11/24 nvme_a
	check_gid nvme_a
	check_vlan nvme_b bond0 3102 9000
	check_address nvme_b 10.31.2.11/24 nvme_b
	check_gid nvme_b
	check_arp nvme_a
	check_arp nvme_b
}
