# NVIDIA Spectrum switch chips.
#
# The headroom formula is that of SONiC's buffer manager (sonic-net/sonic-swss
# cfgmgr/buffer_headroom_mellanox.lua); its constants stand in the image's ASIC
# table. There mac_phy_delay is 0.8 KiB, which is 819.2 bytes.
#
# buffer is the largest pool of an image, so the part of the packet buffer that
# ports can use, not the nominal size.

asic "nvidia/spectrum-1" {
  vendor           = "nvidia"
  family           = "spectrum-1"
  cell             = 96
  buffer           = 13945824
  queues           = 8
  formula          = "spectrum"
  pipeline_latency = "19KiB"
  mac_phy_delay    = 819
  tile             = false
  has_pfc          = true
  has_ecn          = true
  has_ets          = true
  dscp_pfc         = true
  has_watchdog     = true
  max_mtu          = 9216
  speeds           = ["10G", "25G", "40G", "50G", "100G"]
  autoneg          = { sonic = false, "cumulus-linux" = true }
  facts = {
    default_alpha_exponent = 0
    lane_gbps              = 25
    peer_response_kib      = 3.8
    roce_ecn_min           = 150000
    roce_ecn_max           = 1500000
    roce_ecn_probability   = 100
  }
  source = "sonic-net/sonic-buildimage platform/mellanox/asic_table.j2 (cell, latencies); sonic-swss cfgmgr/buffer_headroom_mellanox.lua (formula)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it; cumulus-linux: CumulusNetworks/docs Switch Port Attributes: NVUE enables it (5.14)"
    speeds       = "sonic-net/sonic-buildimage device/mellanox and device/nvidia of its switches, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn2700-r0/ACS-MSN2700/buffers_defaults_t1.j2, egress_lossless_pool_size"
    queues       = "sonic-net/sonic-buildimage files/build_templates/qos_config.j2: queues 0 to 7"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
    facts        = "roce_ecn: CumulusNetworks/docs Quality of Service, RoCE mode (150000 and 1500000 B, 100 %), as Onyx `roce`; default_alpha_exponent: DEFAULT_LOSSLESS_BUFFER_PARAMETER of buffers_dynamic.json.j2; lane_gbps: platform.json of SN2700, 100G on 4 lanes"
  }
}

asic "nvidia/spectrum-2" {
  vendor           = "nvidia"
  family           = "spectrum-2"
  cell             = 144
  buffer           = 34287552
  queues           = 8
  formula          = "spectrum"
  pipeline_latency = "19KiB"
  mac_phy_delay    = 819
  tile             = false
  has_pfc          = true
  has_ecn          = true
  has_ets          = true
  dscp_pfc         = true
  has_watchdog     = true
  max_mtu          = 9216
  speeds           = ["1G", "10G", "25G", "40G", "50G", "100G", "200G"]
  autoneg          = { sonic = false, "cumulus-linux" = true }
  facts = {
    default_alpha_exponent = 0
    lane_gbps              = 50
    peer_response_kib      = 3.8
    roce_ecn_min           = 150000
    roce_ecn_max           = 1500000
    roce_ecn_probability   = 100
  }
  source = "sonic-net/sonic-buildimage platform/mellanox/asic_table.j2 (cell, latencies); sonic-swss cfgmgr/buffer_headroom_mellanox.lua (formula)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it; cumulus-linux: CumulusNetworks/docs Switch Port Attributes: NVUE enables it (5.14)"
    speeds       = "sonic-net/sonic-buildimage device/mellanox and device/nvidia of its switches, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn3700-r0/ACS-MSN3700, egress_lossless_pool_size"
    queues       = "sonic-net/sonic-buildimage files/build_templates/qos_config.j2: queues 0 to 7"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
    facts        = "roce_ecn: CumulusNetworks/docs Quality of Service, RoCE mode (150000 and 1500000 B, 100 %), as Onyx `roce`; default_alpha_exponent: DEFAULT_LOSSLESS_BUFFER_PARAMETER of buffers_dynamic.json.j2; lane_gbps: platform.json of SN3700, 200G on 4 lanes"
  }
}

asic "nvidia/spectrum-3" {
  vendor           = "nvidia"
  family           = "spectrum-3"
  cell             = 144
  buffer           = 60817392
  queues           = 8
  formula          = "spectrum"
  pipeline_latency = "19KiB"
  mac_phy_delay    = 819
  tile             = false
  has_pfc          = true
  has_ecn          = true
  has_ets          = true
  dscp_pfc         = true
  has_watchdog     = true
  max_mtu          = 9216
  speeds           = ["1G", "10G", "25G", "40G", "50G", "100G", "200G", "400G"]
  autoneg          = { sonic = false, "cumulus-linux" = true }
  facts = {
    default_alpha_exponent = 0
    lane_gbps              = 50
    peer_response_kib      = 3.8
    roce_ecn_min           = 150000
    roce_ecn_max           = 1500000
    roce_ecn_probability   = 100
  }
  source = "sonic-net/sonic-buildimage platform/mellanox/asic_table.j2 (cell, latencies); sonic-swss cfgmgr/buffer_headroom_mellanox.lua (formula)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it; cumulus-linux: CumulusNetworks/docs Switch Port Attributes: NVUE enables it (5.14)"
    speeds       = "sonic-net/sonic-buildimage device/mellanox and device/nvidia of its switches, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn4700-r0/ACS-MSN4700, egress_lossless_pool_size"
    queues       = "sonic-net/sonic-buildimage files/build_templates/qos_config.j2: queues 0 to 7"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
    facts        = "roce_ecn: CumulusNetworks/docs Quality of Service, RoCE mode (150000 and 1500000 B, 100 %), as Onyx `roce`; default_alpha_exponent: DEFAULT_LOSSLESS_BUFFER_PARAMETER of buffers_dynamic.json.j2; lane_gbps: platform.json of SN4700, 400G on 8 lanes"
  }
}

asic "nvidia/spectrum-4" {
  vendor           = "nvidia"
  family           = "spectrum-4"
  cell             = 192
  buffer           = 158229504
  queues           = 8
  formula          = "spectrum"
  pipeline_latency = "19KiB"
  mac_phy_delay    = 819
  tile             = true
  has_pfc          = true
  has_ecn          = true
  has_ets          = true
  dscp_pfc         = true
  has_watchdog     = true
  max_mtu          = 9216
  speeds           = ["10G", "25G", "40G", "50G", "100G", "200G", "400G", "800G"]
  autoneg          = { sonic = false, "cumulus-linux" = true }
  facts = {
    default_alpha_exponent = 0
    lane_gbps              = 100
    peer_response_kib      = 3.8
    roce_ecn_min           = 150000
    roce_ecn_max           = 1500000
    roce_ecn_probability   = 100
  }
  source = "sonic-net/sonic-buildimage platform/mellanox/asic_table.j2 (cell, latencies); sonic-swss cfgmgr/buffer_headroom_mellanox.lua (formula)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it; cumulus-linux: CumulusNetworks/docs Switch Port Attributes: NVUE enables it (5.14)"
    speeds       = "sonic-net/sonic-buildimage device/mellanox and device/nvidia of its switches, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600, egress_lossless_pool_size"
    queues       = "sonic-net/sonic-buildimage files/build_templates/qos_config.j2: queues 0 to 7"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
    facts        = "roce_ecn: CumulusNetworks/docs Quality of Service, RoCE mode (150000 and 1500000 B, 100 %), as Onyx `roce`; default_alpha_exponent: DEFAULT_LOSSLESS_BUFFER_PARAMETER of buffers_dynamic.json.j2; lane_gbps: platform.json of SN5600, 800G on 8 lanes"
  }
}

asic "nvidia/spectrum-5" {
  vendor           = "nvidia"
  family           = "spectrum-5"
  cell             = 192
  buffer           = 136209408
  queues           = 8
  formula          = "spectrum"
  pipeline_latency = "19KiB"
  mac_phy_delay    = 819
  tile             = true
  has_pfc          = true
  has_ecn          = true
  has_ets          = true
  dscp_pfc         = true
  has_watchdog     = true
  max_mtu          = 9216
  speeds           = ["10G", "25G", "50G", "100G", "200G", "400G"]
  autoneg          = { sonic = false, "cumulus-linux" = true }
  facts = {
    default_alpha_exponent = 0
    peer_response_kib      = 3.8
    roce_ecn_min           = 150000
    roce_ecn_max           = 1500000
    roce_ecn_probability   = 100
  }
  source = "sonic-net/sonic-buildimage platform/mellanox/asic_table.j2 (cell, latencies); sonic-swss cfgmgr/buffer_headroom_mellanox.lua (formula)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it; cumulus-linux: CumulusNetworks/docs Switch Port Attributes: NVUE enables it (5.14)"
    speeds       = "sonic-net/sonic-buildimage device/mellanox and device/nvidia of its switches, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/mellanox/x86_64-nvidia_sn5640-r0/Mellanox-SN5640-C512S2, egress_lossless_pool_size"
    queues       = "sonic-net/sonic-buildimage files/build_templates/qos_config.j2: queues 0 to 7"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
    facts        = "roce_ecn: CumulusNetworks/docs Quality of Service, RoCE mode (150000 and 1500000 B, 100 %), as Onyx `roce`; default_alpha_exponent: DEFAULT_LOSSLESS_BUFFER_PARAMETER of buffers_dynamic.json.j2"
  }
}

asic "nvidia/spectrum-6" {
  vendor           = "nvidia"
  family           = "spectrum-6"
  cell             = 256
  buffer           = 226492416
  queues           = 8
  formula          = "spectrum"
  pipeline_latency = "42KiB"
  mac_phy_delay    = 819
  tile             = false
  compensation     = "18KiB"
  has_pfc          = true
  has_ecn          = true
  has_ets          = true
  dscp_pfc         = true
  has_watchdog     = true
  max_mtu          = 9216
  speeds           = ["100G", "200G", "400G", "800G"]
  autoneg          = { sonic = false, "cumulus-linux" = true }
  facts = {
    default_alpha_exponent = 0
    peer_response_kib      = 3.8
    roce_ecn_min           = 150000
    roce_ecn_max           = 1500000
    roce_ecn_probability   = 100
  }
  source = "sonic-net/sonic-buildimage platform/mellanox/asic_table.j2 (cell, latencies); sonic-swss cfgmgr/buffer_headroom_mellanox.lua (formula)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it; cumulus-linux: CumulusNetworks/docs Switch Port Attributes: NVUE enables it (5.14)"
    speeds       = "sonic-net/sonic-buildimage device/mellanox and device/nvidia of its switches, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/mellanox/x86_64-nvidia_sn6600_ld-r0/ACS-SN6600_LD, egress_lossless_pool_size"
    queues       = "sonic-net/sonic-buildimage files/build_templates/qos_config.j2: queues 0 to 7"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
    facts        = "roce_ecn: CumulusNetworks/docs Quality of Service, RoCE mode (150000 and 1500000 B, 100 %), as Onyx `roce`; default_alpha_exponent: DEFAULT_LOSSLESS_BUFFER_PARAMETER of buffers_dynamic.json.j2"
  }
}
