# Edgecore (Accton) switches. Images have neither QoS tables nor headroom tables
# for them, so neither a vendor default nor a table is stated.

switch_model "edgecore/as7326-56x" {
  asic = "broadcom/trident3"
  ports = {
    sonic              = ["Ethernet[0-47]", "Ethernet[48-76:4]"]
    "sonic-enterprise" = ["Ethernet[0-47]", "Ethernet[48-76:4]"]
  }
  speeds = {
    "Ethernet[0-47]"    = "25G"
    "Ethernet[48-76:4]" = "100G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic", "sonic-enterprise"]
  source       = "sonic-net/sonic-buildimage device/accton/x86_64-accton_as7326_56x-r0/Accton-AS7326-56X"
  sources = {
    ports        = "sonic-enterprise: githedgehog/fabric pkg/ctrl/switchprofile/p_bcm_edgecore_dcs203.go, BaseNOSName"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

switch_model "edgecore/as7712-32x" {
  asic = "broadcom/tomahawk"
  ports = {
    sonic              = "Ethernet[0-124:4]"
    "sonic-enterprise" = "Ethernet[0-124:4]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic", "sonic-enterprise"]
  source       = "sonic-net/sonic-buildimage device/accton/x86_64-accton_as7712_32x-r0/Accton-AS7712-32X"
  sources = {
    ports        = "sonic-enterprise: githedgehog/fabric pkg/ctrl/switchprofile/p_bcm_edgecore_dcs501.go, BaseNOSName"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

switch_model "edgecore/as7726-32x" {
  asic = "broadcom/trident3"
  ports = {
    sonic              = "Ethernet[0-124:4]"
    "sonic-enterprise" = "Ethernet[0-124:4]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic", "sonic-enterprise"]
  source       = "sonic-net/sonic-buildimage device/accton/x86_64-accton_as7726_32x-r0/Accton-AS7726-32X"
  sources = {
    ports        = "sonic-enterprise: githedgehog/fabric pkg/ctrl/switchprofile/p_bcm_edgecore_dcs204.go, BaseNOSName"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

switch_model "edgecore/as7816-64x" {
  asic = "broadcom/tomahawk2"
  ports = {
    sonic = "Ethernet[0-252:4]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  breakouts = {
    "Ethernet[0-120:8]" = {
      lanes = "[73-76,81-84,105-108,113-116,41-44,49-52,137-140,145-148,173-176,181-184,13-16,29-32,205-208,213-216,229-232,245-248]"
      index = "[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31]"
      modes = {
        "2x50G" = [
          "Eth1/[1-2](Port1)", "Eth3/[1-2](Port3)", "Eth5/[1-2](Port5)", "Eth7/[1-2](Port7)", "Eth9/[1-2](Port9)", "Eth11/[1-2](Port11)",
          "Eth13/[1-2](Port13)", "Eth15/[1-2](Port15)", "Eth17/[1-2](Port17)", "Eth19/[1-2](Port19)", "Eth21/[1-2](Port21)", "Eth23/[1-2](Port23)",
          "Eth25/[1-2](Port25)", "Eth27/[1-2](Port27)", "Eth29/[1-2](Port29)", "Eth31/[1-2](Port31)",
        ]
        "4x25G" = [
          "Eth1/[1-4](Port1)", "Eth3/[1-4](Port3)", "Eth5/[1-4](Port5)", "Eth7/[1-4](Port7)", "Eth9/[1-4](Port9)", "Eth11/[1-4](Port11)",
          "Eth13/[1-4](Port13)", "Eth15/[1-4](Port15)", "Eth17/[1-4](Port17)", "Eth19/[1-4](Port19)", "Eth21/[1-4](Port21)", "Eth23/[1-4](Port23)",
          "Eth25/[1-4](Port25)", "Eth27/[1-4](Port27)", "Eth29/[1-4](Port29)", "Eth31/[1-4](Port31)",
        ]
        "4x10G" = [
          "Eth1/[1-4](Port1)", "Eth3/[1-4](Port3)", "Eth5/[1-4](Port5)", "Eth7/[1-4](Port7)", "Eth9/[1-4](Port9)", "Eth11/[1-4](Port11)",
          "Eth13/[1-4](Port13)", "Eth15/[1-4](Port15)", "Eth17/[1-4](Port17)", "Eth19/[1-4](Port19)", "Eth21/[1-4](Port21)", "Eth23/[1-4](Port23)",
          "Eth25/[1-4](Port25)", "Eth27/[1-4](Port27)", "Eth29/[1-4](Port29)", "Eth31/[1-4](Port31)",
        ]
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/accton/x86_64-accton_as7816_64x-r0/Accton-AS7816-64X"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

switch_model "edgecore/as9716-32d" {
  asic = "broadcom/tomahawk3"
  ports = {
    sonic = "Ethernet[0-248:8]"
  }
  speeds       = { "*" = "400G" }
  lanes        = 8
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  source       = "sonic-net/sonic-buildimage device/accton/x86_64-accton_as9716_32d-r0/Accton-AS9716-32D"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}
