# Broadcom StrataXGS switch chips.
#
# SONiC looks headroom up in a table of the platform, so there is no formula.
# buffer is the largest pool of an image, so the part of the packet buffer that
# ports can use, not the nominal size; a model whose image sets up less says so
# in its image_pool_bytes. Tomahawk's is in four slices, and a queue cannot use
# more than its own.

asic "broadcom/trident2" {
  vendor       = "broadcom"
  family       = "trident2"
  cell         = 208
  buffer       = 12766208
  queues       = 8
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  dscp_pfc     = true
  has_watchdog = true
  max_mtu      = 9216
  autoneg      = { sonic = false }
  source       = "sonic-net/sonic-mgmt tests/qos/files/qos_params.td2.yaml (cell); sonic-net/sonic-buildimage files/build_templates/qos_config.j2 (queues, PFC, ECN, ETS)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it"
    buffer       = "sonic-net/sonic-buildimage device/common/profiles/td2/gen/BALANCED/buffers_defaults_t1.j2"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
  }
}

asic "broadcom/trident3" {
  vendor       = "broadcom"
  family       = "trident3"
  cell         = 256
  buffer       = 32822528
  queues       = 8
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  dscp_pfc     = true
  has_watchdog = true
  max_mtu      = 9216
  speeds       = ["10G", "25G", "40G", "50G", "100G"]
  autoneg      = { sonic = false }
  source       = "sonic-net/sonic-mgmt tests/qos/files/qos_params.td3.yaml (cell); sonic-net/sonic-buildimage files/build_templates/qos_config.j2 (queues, PFC, ECN, ETS)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it"
    speeds       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7050cx3_32s, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_s5212f_c3538-r0/DellEMC-S5212f-P-25G/buffers_defaults_t1.j2"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
  }
}

asic "broadcom/trident4" {
  vendor       = "broadcom"
  family       = "trident4"
  buffer       = 84219120
  queues       = 8
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  dscp_pfc     = true
  has_watchdog = true
  max_mtu      = 9216
  speeds       = ["10G", "100G", "400G"]
  autoneg      = { sonic = false }
  source       = "sonic-net/sonic-buildimage files/build_templates/qos_config.j2 (queues, PFC, ECN, ETS)"
  sources = {
    speeds       = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_s5448f-r0/DellEMC-S5448f-C48O8/port_config.ini"
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it"
    buffer       = "sonic-net/sonic-buildimage device/nokia/x86_64-nokia_ixr7220_d4-r0/Nokia-IXR7220-D4-36D/buffers_defaults_t1.j2"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
  }
}

asic "broadcom/tomahawk" {
  vendor       = "broadcom"
  family       = "tomahawk"
  cell         = 208
  buffer       = 15982720
  queues       = 8
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  dscp_pfc     = true
  has_watchdog = true
  max_mtu      = 9216
  speeds       = ["10G", "25G", "40G", "50G", "100G"]
  autoneg      = { sonic = false }
  source       = "sonic-net/sonic-mgmt tests/qos/files/qos_params.th.yaml (cell); sonic-net/sonic-buildimage files/build_templates/qos_config.j2 (queues, PFC, ECN, ETS)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it"
    speeds       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7060_cx32s, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/dell/x86_64-dell_z9100_c2538-r0/Force10-Z9100-C32/buffers_defaults_t1.j2"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
  }
}

asic "broadcom/tomahawk2" {
  vendor       = "broadcom"
  family       = "tomahawk2"
  cell         = 208
  buffer       = 43481152
  queues       = 8
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  dscp_pfc     = true
  has_watchdog = true
  max_mtu      = 9216
  speeds       = ["10G", "25G", "40G", "50G", "100G"]
  autoneg      = { sonic = false }
  source       = "sonic-net/sonic-mgmt tests/qos/files/qos_params.th2.yaml (cell); sonic-net/sonic-buildimage files/build_templates/qos_config.j2 (queues, PFC, ECN, ETS)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it"
    speeds       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7260cx3_64, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7260cx3_64/Arista-7260CX3-C64/buffers_defaults_t1.j2"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
  }
}

asic "broadcom/tomahawk3" {
  vendor       = "broadcom"
  family       = "tomahawk3"
  cell         = 254
  buffer       = 66394076
  queues       = 8
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  dscp_pfc     = true
  has_watchdog = true
  max_mtu      = 9216
  speeds       = ["10G", "25G", "40G", "50G", "100G", "200G", "400G"]
  autoneg      = { sonic = false }
  source       = "sonic-net/sonic-mgmt tests/qos/files/qos_params.th3.yaml (cell); sonic-net/sonic-buildimage files/build_templates/qos_config.j2 (queues, PFC, ECN, ETS)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it"
    speeds       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7060dx4_32, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_z9332f_d1508-r0/DellEMC-Z9332f-O32/buffers_defaults_t1.j2"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
  }
}

asic "broadcom/tomahawk4" {
  vendor       = "broadcom"
  family       = "tomahawk4"
  cell         = 254
  buffer       = 113620296
  queues       = 8
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  dscp_pfc     = true
  has_watchdog = true
  max_mtu      = 9216
  speeds       = ["10G", "25G", "40G", "50G", "100G", "200G", "400G"]
  autoneg      = { sonic = false }
  source       = "sonic-net/sonic-buildimage files/build_templates/qos_config.j2 (queues, PFC, ECN, ETS)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it"
    speeds       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7060dx5_64s, platform.json, breakout_modes"
    cell         = "sonic-net/sonic-buildimage device/dell/x86_64-dell_z9664f-r0/DellEMC-Z9664f-O64/pg_profile_lookup.ini: all sizes are whole numbers of it; docs.habana.ai, Expected Switch Configuration"
    buffer       = "sonic-net/sonic-buildimage device/dell/x86_64-dell_z9664f-r0/DellEMC-Z9664f-O64/buffers_defaults_t1.j2"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
  }
}

asic "broadcom/tomahawk5" {
  vendor       = "broadcom"
  family       = "tomahawk5"
  cell         = 254
  buffer       = 162539680
  queues       = 8
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  dscp_pfc     = true
  has_watchdog = true
  max_mtu      = 9216
  speeds       = ["10G", "25G", "50G", "100G", "200G", "400G", "800G"]
  autoneg      = { sonic = false }
  source       = "sonic-net/sonic-mgmt tests/qos/files/qos_params.th5.yaml (cell); sonic-net/sonic-buildimage files/build_templates/qos_config.j2 (queues, PFC, ECN, ETS)"
  sources = {
    autoneg      = "sonic-net/SONiC doc/port_auto_neg/port-auto-negotiation-design.md: SAI_PORT_ATTR_AUTO_NEG_MODE is false where nobody sets it"
    speeds       = "sonic-net/sonic-buildimage device/dell/x86_64-dell_z9864f-r0, platform.json, breakout_modes"
    buffer       = "sonic-net/sonic-buildimage device/dell/x86_64-dell_z9864f-r0/Dell-Z9864f-O64/buffers_defaults_t1.j2"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    max_mtu      = "sonic-net/sonic-buildimage src/sonic-yang-models/yang-models/sonic-port.yang, leaf mtu"
  }
}
