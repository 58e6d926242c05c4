# Celestica switches.

# Its WRED thresholds are its own, so no default is stated.
switch_model "celestica/dx010" {
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
  source       = "sonic-net/sonic-buildimage device/celestica/x86_64-cel_seastone-r0/Celestica-DX010-C32"
  sources = {
    platform     = "its Celestica-DX010-C32/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

# Its image sets up less than half of the chip's buffer.
switch_model "celestica/ds3000" {
  asic = "broadcom/trident3"
  ports = {
    sonic = ["Ethernet[0-124:4]", "Ethernet128"]
  }
  speeds = {
    "Ethernet[0-124:4]" = "100G"
    "Ethernet128"       = "10G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-cel_ds3000-r0"
  hwsku        = "DS3000"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  facts        = { image_pool_bytes = 12766208 }
  source       = "sonic-net/sonic-buildimage device/celestica/x86_64-cel_ds3000-r0/DS3000"
  sources = {
    facts        = "the largest pool of its buffers_defaults_t1.j2"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

# Its image sets up less than half of the chip's buffer.
switch_model "celestica/seastone2" {
  asic = "broadcom/trident3"
  ports = {
    sonic = ["Ethernet[0-124:4]", "Ethernet128"]
  }
  speeds = {
    "Ethernet[0-124:4]" = "100G"
    "Ethernet128"       = "10G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-cel_seastone_2-r0"
  hwsku        = "Seastone_2"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  facts        = { image_pool_bytes = 12766208 }
  source       = "sonic-net/sonic-buildimage device/celestica/x86_64-cel_seastone_2-r0/Seastone_2"
  sources = {
    facts        = "the largest pool of its buffers_defaults_t1.j2"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

# The SONiC image has neither QoS tables nor a headroom table for this switch.
switch_model "celestica/silverstone" {
  asic = "broadcom/tomahawk3"
  ports = {
    sonic = "Ethernet[0-248:8]"
  }
  speeds       = { "*" = "400G" }
  lanes        = 8
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  breakouts = {
    "Ethernet[0-248:8]" = {
      lanes = "[33-96,1-32,97-160,225-256,161-224]"
      index = "[1-32]"
      modes = {
        "2x100G"   = "Eth[1-32]/[1,5]"
        "2x40G"    = "Eth[1-32]/[1,5]"
        "4x100G"   = "Eth[1-32]/[1,3,5,7]"
        "4x25G(4)" = "Eth[1-32]/[1-4]"
        "4x10G(4)" = "Eth[1-32]/[1-4]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/celestica/x86_64-cel_silverstone-r0/Silverstone"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}
