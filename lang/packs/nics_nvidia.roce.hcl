# NVIDIA (Mellanox) adapters. CNPs leave with DSCP 48 and priority 6 unless the
# firmware is told otherwise. speeds leaves out 1 Gb/s.

nic_model "nvidia/connectx-3" {
  vendor          = "nvidia"
  driver          = "mlx4"
  ports           = 2
  speeds          = ["10G", "40G", "56G"]
  pcie            = { gen = 3, lanes = 8 }
  roce            = ["v1"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = false
  resilient       = false
  reordering      = false
  source          = "community.mellanox.com DOC-2205, comparison of adapters (speeds, ports, PCIe); torvalds/linux drivers/net/ethernet/mellanox/mlx4/en_dcb_nl.c (classes, PFC)"
  sources = {
    roce       = "docs.nvidia.com MLNX_OFED 4.5 RoCE: version 2 needs ConnectX-3 Pro"
    dscp_trust = "docs.nvidia.com MLNX_OFED 4.5 flow control: PFC by VLAN priority only"
    resilient  = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    reordering = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/connectx-3-pro" {
  vendor          = "nvidia"
  driver          = "mlx4"
  ports           = 2
  speeds          = ["10G", "40G", "56G"]
  pcie            = { gen = 3, lanes = 8 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = false
  resilient       = false
  reordering      = false
  source          = "community.mellanox.com DOC-2205, comparison of adapters (speeds, ports, PCIe); torvalds/linux drivers/net/ethernet/mellanox/mlx4/en_dcb_nl.c (classes, PFC)"
  sources = {
    roce       = "docs.nvidia.com MLNX_OFED 4.5 RoCE: version 2 needs ConnectX-3 Pro"
    dscp_trust = "docs.nvidia.com MLNX_OFED 4.5 flow control: PFC by VLAN priority only"
    resilient  = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    reordering = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/connectx-4" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "56G", "100G"]
  pcie            = { gen = 3, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = false
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  source          = "docs.nvidia.com Linux Kernel Upstream Release Notes v5.18: speeds and InfiniBand by adapter"
  sources = {
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    pcie            = "community.mellanox.com DOC-2205, comparison of adapters"
    ports           = "community.mellanox.com DOC-2205, comparison of adapters"
    reordering      = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/connectx-4-lx" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G"]
  pcie            = { gen = 3, lanes = 8 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = false
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = false
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  source          = "docs.nvidia.com Linux Kernel Upstream Release Notes v5.18: speeds and InfiniBand by adapter"
  sources = {
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    pcie            = "community.mellanox.com DOC-2205, comparison of adapters"
    ports           = "community.mellanox.com DOC-2205, comparison of adapters"
    reordering      = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/connectx-5" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "100G"]
  pcie            = { gen = 3, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  source          = "docs.nvidia.com Linux Kernel Upstream Release Notes v5.18: speeds and InfiniBand by adapter"
  sources = {
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    pcie            = "docs.nvidia.com ConnectX-5 user manual, interfaces"
    ports           = "docs.nvidia.com ConnectX-5 user manual, dual-port cards"
    reordering      = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/connectx-5-ex" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "100G"]
  pcie            = { gen = 4, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  source          = "docs.nvidia.com Linux Kernel Upstream Release Notes v5.18: speeds and InfiniBand by adapter"
  sources = {
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    pcie            = "docs.nvidia.com ConnectX-5 user manual, interfaces of ConnectX-5 Ex"
    ports           = "docs.nvidia.com ConnectX-5 user manual, dual-port cards"
    reordering      = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/connectx-6" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "100G", "200G"]
  pcie            = { gen = 4, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  facts           = { congestion_global_from = 45 }
  source          = "docs.nvidia.com Linux Kernel Upstream Release Notes v5.18: speeds and InfiniBand by adapter"
  sources = {
    facts           = "docs.nvidia.com ConnectX-6 Dx Firmware Release Notes v22.45.1020, known issue 4394475: congestion control applies globally, not by priority"
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    pcie            = "docs.nvidia.com ConnectX-6 user manual, introduction"
    ports           = "docs.nvidia.com ConnectX-6 user manual, introduction"
    reordering      = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/connectx-6-dx" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "100G", "200G"]
  pcie            = { gen = 4, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = false
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  facts           = { congestion_global_from = 45 }
  source          = "docs.nvidia.com Linux Kernel Upstream Release Notes v5.18: speeds and InfiniBand by adapter"
  sources = {
    facts           = "docs.nvidia.com ConnectX-6 Dx Firmware Release Notes v22.45.1020, known issue 4394475: congestion control applies globally, not by priority"
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    pcie            = "DPDK/dpdk doc/guides/rel_notes: host interface of tested NICs"
    ports           = "DPDK/dpdk doc/guides/rel_notes: host interface of tested NICs (MCX623106AN 2x100G, MCX623105AN 1x200G)"
    reordering      = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/connectx-6-lx" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G"]
  pcie            = { gen = 4, lanes = 8 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = false
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  facts           = { congestion_global_from = 45 }
  source          = "docs.nvidia.com Linux Kernel Upstream Release Notes v5.18: speeds and InfiniBand by adapter"
  sources = {
    facts           = "docs.nvidia.com ConnectX-6 Dx Firmware Release Notes v22.45.1020, known issue 4394475: congestion control applies globally, not by priority"
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    pcie            = "DPDK/dpdk doc/guides/rel_notes: host interface of tested NICs"
    ports           = "DPDK/dpdk doc/guides/rel_notes: host interface of tested NICs (MCX631102AN 2x25G)"
    reordering      = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/connectx-7" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 4
  speeds          = ["10G", "25G", "40G", "50G", "100G", "200G", "400G"]
  pcie            = { gen = 5, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  source          = "docs.nvidia.com Linux Kernel Upstream Release Notes v5.18: speeds and InfiniBand by adapter"
  sources = {
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    speeds          = "the same and NVIDIA ConnectX-7 datasheet: 400GbE"
    pcie            = "docs.nvidia.com ConnectX-7 user manual, supported interfaces"
    ports           = "NVIDIA ConnectX-7 datasheet: up to four ports"
    reordering      = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

# Its firmware runs 800 Gb/s as two ports of 400GbE: a single port of 800GbE
# is not supported, say the release notes.
nic_model "nvidia/connectx-8" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "100G", "200G", "400G"]
  pcie            = { gen = 6, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  reordering      = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  source          = "docs.nvidia.com ConnectX-8 SuperNIC firmware release notes v40.44: as ConnectX-7, and 2x400GbE"
  sources = {
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    pcie            = "docs.nvidia.com ConnectX-8 SuperNIC firmware release notes and DOCA 2.9.0: PCIe Gen6, or two Gen5 slots"
    reordering      = "docs.nvidia.com MLNX_OFED 23.10, Out-of-Order (OOO) Data Placement: ConnectX-5 and above"
  }
}

nic_model "nvidia/bluefield-2" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "100G", "200G"]
  pcie            = { gen = 4, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  source          = "docs.nvidia.com Linux Kernel Upstream Release Notes v5.18: speeds and InfiniBand by adapter"
  sources = {
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    speeds          = "the same to 100GbE; docs.nvidia.com BlueField-2 DPU user manual, features: up to 200GbE, on cards of one port"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
    pcie            = "docs.nvidia.com DOCA installation guide, supported platforms"
    ports           = "docs.nvidia.com DOCA installation guide, supported platforms"
  }
}

nic_model "nvidia/bluefield-3" {
  vendor          = "nvidia"
  driver          = "mlx5"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "100G", "200G", "400G"]
  pcie            = { gen = 5, lanes = 16 }
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = true
  traffic_classes = 8
  pfc_priorities  = 8
  dscp_trust      = true
  resilient       = true
  autoneg         = true
  max_mtu         = 9978
  cnp_dscp        = 48
  cnp_priority    = 6
  source          = "docs.nvidia.com DOCA 2.9 installation guide, supported platforms; DOCA: network interfaces as ConnectX-7"
  sources = {
    autoneg         = "torvalds/linux commit 52244d960755, net/mlx5e: on by default in hardware"
    traffic_classes = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, ets_cap"
    pfc_priorities  = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, pfc_cap; mlxconfig NUM_OF_PFC 8"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c, IEEE_8021QAZ_APP_SEL_DSCP"
    max_mtu         = "maxmtu of mlx5_core devices in `ip -d link`"
    cnp_dscp        = "mlxconfig CNP_DSCP, default"
    cnp_priority    = "mlxconfig CNP_802P_PRIO, default"
    resilient       = "community.mellanox.com DOC-2499: Resilient RoCE from ConnectX-4 on"
  }
}
