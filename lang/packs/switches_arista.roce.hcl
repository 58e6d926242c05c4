# Arista switches, as SONiC runs them.

switch_model "arista/7050cx3-32s" {
  asic = "broadcom/trident3"
  ports = {
    sonic = ["Ethernet[0-124:4]", "Ethernet[128-132:4]"]
  }
  speeds = {
    "Ethernet[0-124:4]"   = "100G"
    "Ethernet[128-132:4]" = "10G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-arista_7050cx3_32s"
  hwsku        = "Arista-7050CX3-32S-C32/BALANCED"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  facts        = { image_pool_bytes = 32732160 }
  source       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7050cx3_32s/Arista-7050CX3-32S-C32"
  sources = {
    facts        = "the largest pool of its buffers_defaults_t0.j2"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2 unless the switch is of a dual-ToR pair"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

switch_model "arista/7050cx3-32c" {
  asic = "broadcom/trident3"
  ports = {
    sonic = ["Ethernet[0-124:4]", "Ethernet[128-132:4]"]
  }
  speeds = {
    "Ethernet[0-124:4]"   = "100G"
    "Ethernet[128-132:4]" = "10G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-arista_7050cx3_32s"
  hwsku        = "Arista-7050CX3-32S-C32/BALANCED"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  facts        = { image_pool_bytes = 32732160 }
  source       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7050cx3_32c/Arista-7050CX3-32C-C32"
  sources = {
    facts        = "the largest pool of its buffers_defaults_t0.j2"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2 unless the switch is of a dual-ToR pair"
    platform     = "its Arista-7050CX3-32C-C32/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

# Its WRED thresholds are its own, so no default is stated.
switch_model "arista/7060cx-32s" {
  asic = "broadcom/tomahawk"
  ports = {
    sonic = "Ethernet[0-124:4]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "common/profiles/th"
  hwsku        = "gen/BALANCED"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  source       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7060_cx32s/Arista-7060CX-32S-C32"
  sources = {
    platform     = "its Arista-7060CX-32S-C32/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

# The SONiC image has neither QoS tables nor a headroom table for this switch.
switch_model "arista/7060dx4-32" {
  asic = "broadcom/tomahawk3"
  ports = {
    sonic = ["Ethernet[0-248:8]", "Ethernet[256-260:4]"]
  }
  speeds = {
    "Ethernet[0-248:8]"   = "400G"
    "Ethernet[256-260:4]" = "10G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  breakouts = {
    "Ethernet[0-248:8]" = {
      lanes = "[1-256]"
      index = "[1-32]"
      modes = {
        "2x200G[100G,50G,40G,25G,10G]" = "Ethernet[1-32]/[1,5]"
        "4x100G[50G,40G,25G,10G]"      = "Ethernet[1-32]/[1,3,5,7]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7060dx4_32/Arista-7060DX4-32"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

# The SONiC image has neither QoS tables nor a headroom table for this switch.
switch_model "arista/7060dx5-64s" {
  asic = "broadcom/tomahawk4"
  ports = {
    sonic = ["Ethernet[0-504:8]", "Ethernet[512-513]"]
  }
  speeds = {
    "Ethernet[0-504:8]" = "400G"
    "Ethernet[512-513]" = "10G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  breakouts = {
    "Ethernet[0-504:8]" = {
      lanes = "[17-24,9-16,49-56,33-40,81-88,65-72,113-120,97-104,145-152,129-136,177-184,161-168,209-216,193-200,241-248,233-240,281-288,257-264,305-312,289-296,337-344,321-328,369-376,353-360,401-408,385-392,433-440,417-424,465-472,449-456,481-488,505-512,1-8,25-32,57-64,41-48,89-96,73-80,121-128,105-112,153-160,137-144,185-192,169-176,217-224,201-208,249-256,225-232,273-280,265-272,313-320,297-304,345-352,329-336,377-384,361-368,409-416,393-400,441-448,425-432,473-480,457-464,497-504,489-496]"
      index = "[1-64]"
      modes = {
        "2x200G[100G,50G,40G,25G,10G]" = "Ethernet[1-64]/[1,5]"
        "4x100G[50G,40G,25G,10G]"      = "Ethernet[1-64]/[1,3,5,7]"
        "8x50G[40G,25G,10G]"           = "Ethernet[1-64]/[1-8]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7060dx5_64s/Arista-7060DX5-64S"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

# Its WRED thresholds are its own, so no default is stated.
switch_model "arista/7260cx3-64" {
  asic = "broadcom/tomahawk2"
  ports = {
    sonic = ["Ethernet[0-252:4]", "Ethernet[256-260:4]"]
  }
  speeds = {
    "Ethernet[0-252:4]"   = "100G"
    "Ethernet[256-260:4]" = "10G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "common/profiles/th2"
  hwsku        = "7260/BALANCED"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  source       = "sonic-net/sonic-buildimage device/arista/x86_64-arista_7260cx3_64/Arista-7260CX3-C64"
  sources = {
    platform     = "its Arista-7260CX3-C64/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}
