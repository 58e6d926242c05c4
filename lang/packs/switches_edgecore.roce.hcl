# Edgecore (Accton) switches. Images have neither QoS tables nor headroom tables
# for them, so neither a vendor default nor a table is stated.

switch_model "edgecore/as7326-56x" {
  asic = "broadcom/trident3"
  ports = {
    sonic = ["Ethernet[0-47]", "Ethernet[48-76:4]"]
  }
  speeds = {
    "Ethernet[0-47]"    = "25G"
    "Ethernet[48-76:4]" = "100G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  source       = "sonic-net/sonic-buildimage device/accton/x86_64-accton_as7326_56x-r0/Accton-AS7326-56X"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

switch_model "edgecore/as7712-32x" {
  asic = "broadcom/tomahawk"
  ports = {
    sonic = "Ethernet[0-124:4]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  source       = "sonic-net/sonic-buildimage device/accton/x86_64-accton_as7712_32x-r0/Accton-AS7712-32X"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

switch_model "edgecore/as7726-32x" {
  asic = "broadcom/trident3"
  ports = {
    sonic = "Ethernet[0-124:4]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  source       = "sonic-net/sonic-buildimage device/accton/x86_64-accton_as7726_32x-r0/Accton-AS7726-32X"
  sources = {
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
  source       = "sonic-net/sonic-buildimage device/accton/x86_64-accton_as7816_64x-r0/Accton-AS7816-64X"
  sources = {
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
