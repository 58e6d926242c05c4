# Dell PowerSwitch switches.

# Its pg_profile_lookup.ini counts in 208 B where those of the others with this chip
# count in 256 B, and its pools are those of the others: no public document says which
# cell its smaller Trident 3 has, so the asic's stands. Headroom on SONiC is that of
# the table, whatever the cell.
switch_model "dell/s5212f-on" {
  asic = "broadcom/trident3"
  ports = {
    sonic = ["Ethernet[0-11]", "Ethernet[12-20:4]"]
  }
  speeds = {
    "Ethernet[0-11]"    = "25G"
    "Ethernet[12-20:4]" = "100G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-dellemc_s5212f_c3538-r0"
  hwsku        = "DellEMC-S5212f-P-25G"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  source       = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_s5212f_c3538-r0/DellEMC-S5212f-P-25G"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "dell/s5224f-on" {
  asic = "broadcom/trident3"
  ports = {
    sonic = ["Ethernet[0-23]", "Ethernet[24-36:4]"]
  }
  speeds = {
    "Ethernet[0-23]"    = "25G"
    "Ethernet[24-36:4]" = "100G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-dellemc_s5224f_c3538-r0"
  hwsku        = "DellEMC-S5224f-P-25G"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  source       = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_s5224f_c3538-r0/DellEMC-S5224f-P-25G"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "dell/s5232f-on" {
  asic = "broadcom/trident3"
  ports = {
    sonic              = ["Ethernet[0-124:4]", "Ethernet[128-129]"]
    "dell-os10"        = "ethernet1/1/[1-34]"
    "sonic-enterprise" = ["Ethernet[0-124:4]", "Ethernet[128-129]"]
  }
  speeds = {
    "Ethernet[0-124:4]"   = "100G"
    "Ethernet[128-129]"   = "10G"
    "ethernet1/1/[1-32]"  = "100G"
    "ethernet1/1/[33-34]" = "10G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-dellemc_s5232f_c3538-r0"
  hwsku        = "DellEMC-S5232f-C32"
  has_watchdog = { sonic = true }
  os           = ["sonic", "dell-os10", "sonic-enterprise"]
  defaults     = { sonic = qos.sonic_default }
  facts        = { image_pool_bytes = 32575488 }
  breakouts = {
    "Ethernet[0-124:4]" = {
      lanes = "[1-128]"
      index = "[1-32]"
      modes = {
        "2x50G"      = "etp[1-32][a-b]"
        "4x25G[10G]" = "etp[1-32][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_s5232f_c3538-r0/DellEMC-S5232f-C32"
  sources = {
    facts        = "the largest pool of its buffers_defaults_t1.j2"
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "dell-os10: dellhpc/omnia docs/source/InstallationGuides/ConfiguringSwitches/ethernet-s5.rst; sonic-enterprise: githedgehog/fabric pkg/ctrl/switchprofile/p_bcm_dell_s5232f_on.go, BaseNOSName"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

# The SONiC image has no headroom table for this switch and QoS tables of its
# own. Speeds of the QSFP28 ports under OS10 depend on the port group and are
# not stated.
switch_model "dell/s5248f-on" {
  asic = "broadcom/trident3"
  ports = {
    sonic              = ["Ethernet[0-47]", "Ethernet[48-76:4]"]
    "dell-os10"        = "ethernet1/1/[1-56]"
    "sonic-enterprise" = ["Ethernet[0-47]", "Ethernet[48-76:4]"]
  }
  speeds = {
    "Ethernet[0-47]"     = "25G"
    "Ethernet[48-76:4]"  = "100G"
    "ethernet1/1/[1-48]" = "25G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic", "dell-os10", "sonic-enterprise"]
  facts        = { image_pool_bytes = 32744448 }
  breakouts = {
    "Ethernet[48-76:4]" = {
      lanes = "[121-128,69-72,65-68,1-4,33-36,5-8,41-44]"
      index = "[49-56]"
      modes = {
        "2x50G"      = "Eth[49-56]/[1-2]"
        "4x25G[10G]" = "Eth[49-56]/[1-4]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_s5248f_c3538-r0/DellEMC-S5248f-P-25G"
  sources = {
    facts        = "the largest pool of its buffers_defaults_t1.j2"
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "dell-os10: 48 SFP28 ports and eight of 100 Gb/s as in the SONiC image, 49 to 52 being the QSFP28-DD ones; public VxRail ToR set-ups use 49 to 52 and 55, 56; sonic-enterprise: githedgehog/fabric pkg/ctrl/switchprofile/p_bcm_dell_s5248f_on.go, BaseNOSName"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

# The SONiC image has no headroom table for this switch and QoS tables of its
# own.
switch_model "dell/s5296f-on" {
  asic = "broadcom/trident3"
  ports = {
    sonic = ["Ethernet[0-95]", "Ethernet[96-103]"]
  }
  speeds = {
    "Ethernet[0-95]"   = "25G"
    "Ethernet[96-103]" = "100G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  facts        = { image_pool_bytes = 32744448 }
  source       = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_s5296f_c3538-r0/DellEMC-S5296f-P-25G"
  sources = {
    facts        = "the largest pool of its buffers_defaults_t1.j2"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

switch_model "dell/s5448f-on" {
  asic = "broadcom/trident4"
  ports = {
    sonic = ["Ethernet[0-24:8]", "Ethernet[32-126:2]", "Ethernet[128-152:8]", "Ethernet[160-161]"]
  }
  speeds = {
    "Ethernet[0-24:8]"    = "400G"
    "Ethernet[32-126:2]"  = "100G"
    "Ethernet[128-152:8]" = "400G"
    "Ethernet[160-161]"   = "10G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-dellemc_s5448f-r0"
  hwsku        = "DellEMC-S5448f-C48O8"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  facts        = { image_pool_bytes = 82138128 }
  source       = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_s5448f-r0/DellEMC-S5448f-C48O8"
  sources = {
    facts        = "the largest pool of its buffers_defaults_t1.j2"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "dell/z9100-on" {
  asic = "broadcom/tomahawk"
  ports = {
    sonic = "Ethernet[0-124:4]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-dell_z9100_c2538-r0"
  hwsku        = "Force10-Z9100-C32"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  source       = "sonic-net/sonic-buildimage device/dell/x86_64-dell_z9100_c2538-r0/Force10-Z9100-C32"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "dell/z9264f-on" {
  asic = "broadcom/tomahawk2"
  ports = {
    sonic       = ["Ethernet[0-252:4]", "Ethernet[256-257]"]
    "dell-os10" = "ethernet1/1/[1-66]"
  }
  speeds = {
    "Ethernet[0-252:4]"   = "100G"
    "Ethernet[256-257]"   = "10G"
    "ethernet1/1/[1-64]"  = "100G"
    "ethernet1/1/[65-66]" = "10G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-dellemc_z9264f_c3538-r0"
  hwsku        = "DellEMC-Z9264f-C64"
  has_watchdog = { sonic = true }
  os           = ["sonic", "dell-os10"]
  defaults     = { sonic = qos.sonic_default }
  facts        = { image_pool_bytes = 43468672 }
  source       = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_z9264f_c3538-r0/DellEMC-Z9264f-C64"
  sources = {
    facts        = "the largest pool of its buffers_defaults_t1.j2"
    ports        = "dell-os10: dellhpc/omnia docs/source/InstallationGuides/ConfiguringSwitches/ethernet-Z.rst"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "dell/z9332f-on" {
  asic = "broadcom/tomahawk3"
  ports = {
    sonic              = ["Ethernet[0-248:8]", "Ethernet[256-257]"]
    "sonic-enterprise" = ["Ethernet[0-248:8]", "Ethernet[256-257]"]
  }
  speeds = {
    "Ethernet[0-248:8]" = "400G"
    "Ethernet[256-257]" = "10G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-dellemc_z9332f_d1508-r0"
  hwsku        = "DellEMC-Z9332f-O32"
  has_watchdog = { sonic = true }
  os           = ["sonic", "sonic-enterprise"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-248:8]" = {
      lanes = "[33-96,1-32,97-160,225-256,161-224]"
      index = "[1-32]"
      modes = {
        "2x200G[100G,40G]" = "etp[1-32][a-b]"
        "4x100G[50G]"      = "etp[1-32][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_z9332f_d1508-r0/DellEMC-Z9332f-O32"
  sources = {
    ports        = "sonic-enterprise: githedgehog/fabric pkg/ctrl/switchprofile/p_bcm_dell_z9332f_on.go, BaseNOSName"
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

# The SONiC image has no headroom table for this switch and QoS tables of its
# own.
switch_model "dell/z9432f-on" {
  asic = "broadcom/trident4"
  ports = {
    sonic = ["Ethernet[0-248:8]", "Ethernet[256-257]"]
  }
  speeds = {
    "Ethernet[0-248:8]" = "400G"
    "Ethernet[256-257]" = "10G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  source       = "sonic-net/sonic-buildimage device/dell/x86_64-dellemc_z9432f_c3758-r0/DellEMC-Z9432f-O32"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

switch_model "dell/z9664f-on" {
  asic = "broadcom/tomahawk4"
  ports = {
    sonic              = ["Ethernet[0-252:4]", "Ethernet[256-257]"]
    "sonic-enterprise" = "Eth1/[1-66]"
  }
  speeds = {
    "Ethernet[0-252:4]" = "400G"
    "Ethernet[256-257]" = "10G"
    "Eth1/[1-64]"       = "400G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-dell_z9664f-r0"
  hwsku        = "DellEMC-Z9664f-O64"
  has_watchdog = { sonic = true }
  os           = ["sonic", "sonic-enterprise"]
  defaults     = { sonic = qos.sonic_default }
  source       = "sonic-net/sonic-buildimage device/dell/x86_64-dell_z9664f-r0/DellEMC-Z9664f-O64"
  sources = {
    ports        = "sonic-enterprise: AMD Instinct documentation, RoCE cluster network: a Z9664F with interface-naming standard"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "dell/z9864f-on" {
  asic = "broadcom/tomahawk5"
  ports = {
    sonic = ["Ethernet[0-504:8]", "Ethernet[512-513]"]
  }
  speeds = {
    "Ethernet[0-504:8]" = "800G"
    "Ethernet[512-513]" = "25G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-dell_z9864f-r0"
  hwsku        = "Dell-Z9864f-O64"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-504:8]" = {
      lanes = "[1-8,17-24,33-40,49-56,65-72,81-88,97-104,113-120,129-136,145-152,161-168,177-184,193-200,209-216,233-240,249-264,273-280,297-304,313-320,329-336,345-352,361-368,377-384,393-400,409-416,425-432,441-448,457-464,473-480,489-496,505-512,25-32,9-16,57-64,41-48,89-96,73-80,121-128,105-112,153-160,137-144,185-192,169-176,217-224,201-208,241-248,225-232,281-288,265-272,305-312,289-296,337-344,321-328,369-376,353-360,401-408,385-392,433-440,417-424,465-472,449-456,497-504,481-488]"
      index = "[1-64]"
      modes = {
        "2x400G(8)" = "etp[1-64][a-b]"
        "2x200G(8)" = "etp[1-64][a-b]"
        "2x100G(8)" = "etp[1-64][a-b]"
        "2x50G(8)"  = "etp[1-64][a-b]"
        "4x200G"    = "etp[1-64][a-d]"
        "4x100G(8)" = "etp[1-64][a-d]"
        "8x100G"    = "etp[1-64][a-h]"
        "8x50G"     = "etp[1-64][a-h]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/dell/x86_64-dell_z9864f-r0/Dell-Z9864f-O64"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}
