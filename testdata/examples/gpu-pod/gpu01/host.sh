# made by rocec for gpu01
# intent sha256:3a349371b4942391fc0fd38218f0a6fedc06828059a1ba53ae63f39282698a86
# shellcheck shell=bash disable=SC2034 # read by the scripts of the kit, and by rocec-qos at boot as /etc/rocec/host.sh
host=gpu01
tool=dcb
ports=(rail0 rail1 rail2 rail3 rail4 rail5 rail6 rail7)
programs=(ip netplan systemctl systemd-escape flock ethtool dcb python3 rdma)
packages=(ethtool ibverbs-providers ibverbs-utils iproute2 kmod netplan.io perftest procps rdma-core rdmacm-utils)
parts=(rdma mlx5)
links=(rail0 rail1 rail2 rail3 rail4 rail5 rail6 rail7)
made=()
owns=('rail0=10.64.0.1/31' 'rail1=10.64.8.1/31' 'rail2=10.64.16.1/31' 'rail3=10.64.24.1/31' 'rail4=10.64.32.1/31' 'rail5=10.64.40.1/31' 'rail6=10.64.48.1/31' 'rail7=10.64.56.1/31')
rules=('1001=10.64.0.1' '1002=10.64.8.1' '1003=10.64.16.1' '1004=10.64.24.1' '1005=10.64.32.1' '1006=10.64.40.1' '1007=10.64.48.1' '1008=10.64.56.1')
files=(
	'netplan/60-rocec.yaml|/etc/netplan/60-rocec.yaml|600'
	'systemd/network/05-rocec-rail0.link|/etc/systemd/network/05-rocec-rail0.link|644'
	'systemd/network/05-rocec-rail1.link|/etc/systemd/network/05-rocec-rail1.link|644'
	'systemd/network/05-rocec-rail2.link|/etc/systemd/network/05-rocec-rail2.link|644'
	'systemd/network/05-rocec-rail3.link|/etc/systemd/network/05-rocec-rail3.link|644'
	'systemd/network/05-rocec-rail4.link|/etc/systemd/network/05-rocec-rail4.link|644'
	'systemd/network/05-rocec-rail5.link|/etc/systemd/network/05-rocec-rail5.link|644'
	'systemd/network/05-rocec-rail6.link|/etc/systemd/network/05-rocec-rail6.link|644'
	'systemd/network/05-rocec-rail7.link|/etc/systemd/network/05-rocec-rail7.link|644'
	'sysctl.d/60-rocec.conf|/etc/sysctl.d/60-rocec.conf|644'
	'env/rdma.env|/etc/rocec/env/rdma.env|644'
	'host.sh|/etc/rocec/host.sh|644'
)

qos1() {
	# class rdma carries rdma over roce_v2, priority 3, DSCP 26, ECN-capable
	# class cnp carries cnp, priority 6, DSCP 48
	# class default, priority 0, default
	pause=off
	trust=dscp
	dscp_prio='26:3 48:6'
	dscp_rest=0
	prio_tc='0 0 0 3 0 0 6 0'
	tsa='ets strict strict ets strict strict strict strict'
	bw='10 - - 90 - - - -'
	pfc='0 0 0 1 0 0 0 0'
	roce_tos=106
	cnp_dscp=48
	cnp_prio=6
	:
}
want() {
	case $1 in
	rail0)
		model='nvidia/connectx-7, adapter 0000:18:00'
		driver=mlx5
		pci=0000:18:00.0
		speed=400000
		mtu=9000
		dcbx=host
		cable=3
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	rail1)
		model='nvidia/connectx-7, adapter 0000:40:00'
		driver=mlx5
		pci=0000:40:00.0
		speed=400000
		mtu=9000
		dcbx=host
		cable=3
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	rail2)
		model='nvidia/connectx-7, adapter 0000:4f:00'
		driver=mlx5
		pci=0000:4f:00.0
		speed=400000
		mtu=9000
		dcbx=host
		cable=3
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	rail3)
		model='nvidia/connectx-7, adapter 0000:5e:00'
		driver=mlx5
		pci=0000:5e:00.0
		speed=400000
		mtu=9000
		dcbx=host
		cable=3
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	rail4)
		model='nvidia/connectx-7, adapter 0000:9a:00'
		driver=mlx5
		pci=0000:9a:00.0
		speed=400000
		mtu=9000
		dcbx=host
		cable=3
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	rail5)
		model='nvidia/connectx-7, adapter 0000:c0:00'
		driver=mlx5
		pci=0000:c0:00.0
		speed=400000
		mtu=9000
		dcbx=host
		cable=3
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	rail6)
		model='nvidia/connectx-7, adapter 0000:ce:00'
		driver=mlx5
		pci=0000:ce:00.0
		speed=400000
		mtu=9000
		dcbx=host
		cable=3
		rdma=roce
		roce_mode='RoCE v2'
		qos1
		;;
	rail7)
		model='nvidia/connectx-7, adapter 0000:dc:00'
		driver=mlx5
		pci=0000:dc:00.0
		speed=400000
		mtu=9000
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
	check_rdma rail0
	check_rdma_mtu rail0 4096
	check_rdma rail1
	check_rdma_mtu rail1 4096
	check_rdma rail2
	check_rdma_mtu rail2 4096
	check_rdma rail3
	check_rdma_mtu rail3 4096
	check_rdma rail4
	check_rdma_mtu rail4 4096
	check_rdma rail5
	check_rdma_mtu rail5 4096
	check_rdma rail6
	check_rdma_mtu rail6 4096
	check_rdma rail7
	check_rdma_mtu rail7 4096
	check_address rail0 10.64.0.1/31 rail0
	check_gid rail0
	check_address rail1 10.64.8.1/31 rail1
	check_gid rail1
	check_address rail2 10.64.16.1/31 rail2
	check_gid rail2
	check_address rail3 10.64.24.1/31 rail3
	check_gid rail3
	check_address rail4 10.64.32.1/31 rail4
	check_gid rail4
	check_address rail5 10.64.40.1/31 rail5
	check_gid rail5
	check_address rail6 10.64.48.1/31 rail6
	check_gid rail6
	check_address rail7 10.64.56.1/31 rail7
	check_gid rail7
	check_rule 10.64.0.1 1001
	check_rule 10.64.8.1 1002
	check_rule 10.64.16.1 1003
	check_rule 10.64.24.1 1004
	check_rule 10.64.32.1 1005
	check_rule 10.64.40.1 1006
	check_rule 10.64.48.1 1007
	check_rule 10.64.56.1 1008
	check_arp rail0
	check_arp rail1
	check_arp rail2
	check_arp rail3
	check_arp rail4
	check_arp rail5
	check_arp rail6
	check_arp rail7
}
