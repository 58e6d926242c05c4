# NVIDIA switches. Port names and lanes follow platform.json of the image, table
# rows its pg_profile_lookup.ini, which the image reads only with the traditional
# buffer model; otherwise it computes.

switch_model "nvidia/sn2010" {
  asic = "nvidia/spectrum-1"
  ports = {
    sonic           = ["Ethernet[0-68:4]", "Ethernet[72-84:4]"]
    "cumulus-linux" = "swp[1-22]"
  }
  speeds = {
    "Ethernet[0-68:4]"  = "25G"
    "Ethernet[72-84:4]" = "100G"
    "swp[1-18]"         = "25G"
    "swp[19-22]"        = "100G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn2700-r0"
  hwsku        = "ACS-MSN2700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[72-84:4]" = {
      lanes = "[72-87]"
      index = "[19-22]"
      modes = {
        "2x50G[25G,10G]" = "etp[19-22][a-b]"
        "4x25G[10G]"     = "etp[19-22][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn2010-r0/ACS-MSN2010"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    platform     = "its ACS-MSN2010/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn2100" {
  asic = "nvidia/spectrum-1"
  ports = {
    sonic           = "Ethernet[0-60:4]"
    "cumulus-linux" = "swp[1-16]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn2700-r0"
  hwsku        = "ACS-MSN2700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-60:4]" = {
      lanes = "[0-63]"
      index = "[1-16]"
      modes = {
        "2x50G[25G,10G]" = "etp[1-16][a-b]"
        "4x25G[10G]"     = "etp[1-16][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn2100-r0/ACS-MSN2100"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    platform     = "its ACS-MSN2100/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn2410" {
  asic = "nvidia/spectrum-1"
  ports = {
    sonic           = ["Ethernet[0-188:4]", "Ethernet[192-220:4]"]
    "cumulus-linux" = "swp[1-56]"
  }
  speeds = {
    "Ethernet[0-188:4]"   = "25G"
    "Ethernet[192-220:4]" = "100G"
    "swp[1-48]"           = "25G"
    "swp[49-56]"          = "100G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn2700-r0"
  hwsku        = "ACS-MSN2700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[192-220:4]" = {
      lanes = "[192-223]"
      index = "[49-56]"
      modes = {
        "2x50G[25G,10G]" = "etp[49-56][a-b]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn2410-r0/ACS-MSN2410"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    platform     = "its ACS-MSN2410/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn2700" {
  asic = "nvidia/spectrum-1"
  ports = {
    sonic           = "Ethernet[0-124:4]"
    "cumulus-linux" = "swp[1-32]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn2700-r0"
  hwsku        = "ACS-MSN2700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-124:4]" = {
      lanes = "[0-127]"
      index = "[1-32]"
      modes = {
        "2x50G[25G,10G]" = "etp[1-32][a-b]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn2700-r0/ACS-MSN2700"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn3420" {
  asic = "nvidia/spectrum-2"
  ports = {
    sonic           = ["Ethernet[0-188:4]", "Ethernet[192-236:4]"]
    "cumulus-linux" = "swp[1-60]"
  }
  speeds = {
    "Ethernet[0-188:4]"   = "25G"
    "Ethernet[192-236:4]" = "100G"
    "swp[1-48]"           = "25G"
    "swp[49-60]"          = "100G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn3700-r0"
  hwsku        = "ACS-MSN3700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[192-236:4]" = {
      lanes = "[192-239]"
      index = "[49-60]"
      modes = {
        "2x50G[25G,10G,1G]" = "etp[49-60][a-b]"
        "4x25G[10G,1G]"     = "etp[49-60][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn3420-r0/ACS-MSN3420"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    platform     = "its ACS-MSN3420/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn3700" {
  asic = "nvidia/spectrum-2"
  ports = {
    sonic           = "Ethernet[0-124:4]"
    "cumulus-linux" = "swp[1-32]"
  }
  speeds       = { "*" = "200G" }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn3700-r0"
  hwsku        = "ACS-MSN3700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-124:4]" = {
      lanes = "[0-127]"
      index = "[1-32]"
      modes = {
        "2x100G[50G,25G,10G,1G]" = "etp[1-32][a-b]"
        "4x50G[25G,10G,1G]"      = "etp[1-32][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn3700-r0/ACS-MSN3700"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn3700c" {
  asic = "nvidia/spectrum-2"
  ports = {
    sonic           = "Ethernet[0-124:4]"
    "cumulus-linux" = "swp[1-32]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn3700-r0"
  hwsku        = "ACS-MSN3700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-124:4]" = {
      lanes = "[0-127]"
      index = "[1-32]"
      modes = {
        "2x50G[25G,10G,1G]" = "etp[1-32][a-b]"
        "4x25G[10G,1G]"     = "etp[1-32][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn3700c-r0/ACS-MSN3700C"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    platform     = "its ACS-MSN3700C/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn3800" {
  asic = "nvidia/spectrum-2"
  ports = {
    sonic = "Ethernet[0-252:4]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn3800-r0"
  hwsku        = "ACS-MSN3800"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  facts        = { gearbox_ns = 400 }
  source       = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn3800-r0/ACS-MSN3800"
  sources = {
    facts        = "platform/mellanox/peripheral_table.j2, gearbox_delay"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

# The first 24 ports have eight lanes and carry 2x200G at most; whole, the
# image runs them at 100G.
switch_model "nvidia/sn4410" {
  asic = "nvidia/spectrum-3"
  ports = {
    sonic           = ["Ethernet[0-184:8]", "Ethernet[192-248:8]"]
    "cumulus-linux" = "swp[1-32]"
  }
  speeds = {
    "Ethernet[0-184:8]"   = "100G"
    "Ethernet[192-248:8]" = "400G"
    "swp[1-24]"           = "100G"
    "swp[25-32]"          = "400G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn4700-r0"
  hwsku        = "ACS-MSN4700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[192-248:8]" = {
      lanes = "[192-255]"
      index = "[25-32]"
      modes = {
        "2x200G[100G,50G,40G,25G,10G,1G]" = "etp[25-32][a-b]"
        "4x100G[50G,25G,10G,1G]"          = "etp[25-32][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn4410-r0/ACS-MSN4410"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    platform     = "its ACS-MSN4410/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn4600" {
  asic = "nvidia/spectrum-3"
  ports = {
    sonic           = "Ethernet[0-252:4]"
    "cumulus-linux" = "swp[1-64]"
  }
  speeds       = { "*" = "200G" }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn4700-r0"
  hwsku        = "ACS-MSN4700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-252:4]" = {
      lanes = "[0-3,8-11,16-19,24-27,32-35,40-43,48-51,56-59,64-67,72-75,80-83,88-91,96-99,104-107,112-115,120-123,128-131,136-139,144-147,152-155,160-163,168-171,176-179,184-187,192-195,200-203,208-211,216-219,224-227,232-235,240-243,248-251,256-259,264-267,272-275,280-283,288-291,296-299,304-307,312-315,320-323,328-331,336-339,344-347,352-355,360-363,368-371,376-379,384-387,392-395,400-403,408-411,416-419,424-427,432-435,440-443,448-451,456-459,464-467,472-475,480-483,488-491,496-499,504-507]"
      index = "[1-64]"
      modes = {
        "2x100G[50G,25G,10G,1G]" = "etp[1-64][a-b]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn4600-r0/ACS-MSN4600"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    platform     = "its ACS-MSN4600/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn4600c" {
  asic = "nvidia/spectrum-3"
  ports = {
    sonic           = "Ethernet[0-252:4]"
    "cumulus-linux" = "swp[1-64]"
  }
  speeds       = { "*" = "100G" }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn4700-r0"
  hwsku        = "ACS-MSN4700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-252:4]" = {
      lanes = "[0-3,8-11,16-19,24-27,32-35,40-43,48-51,56-59,64-67,72-75,80-83,88-91,96-99,104-107,112-115,120-123,128-131,136-139,144-147,152-155,160-163,168-171,176-179,184-187,192-195,200-203,208-211,216-219,224-227,232-235,240-243,248-251,256-259,264-267,272-275,280-283,288-291,296-299,304-307,312-315,320-323,328-331,336-339,344-347,352-355,360-363,368-371,376-379,384-387,392-395,400-403,408-411,416-419,424-427,432-435,440-443,448-451,456-459,464-467,472-475,480-483,488-491,496-499,504-507]"
      index = "[1-64]"
      modes = {
        "2x50G[25G,10G,1G]" = ["etp[1-40][a-b]", "etp42[a-b]", "etp[42-64][a-b]"] # the file has etp42 for port 41 too
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn4600c-r0/ACS-MSN4600C"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    platform     = "its ACS-MSN4600C/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn4700" {
  asic = "nvidia/spectrum-3"
  ports = {
    sonic           = "Ethernet[0-248:8]"
    "cumulus-linux" = "swp[1-32]"
  }
  speeds       = { "*" = "400G" }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-mlnx_msn4700-r0"
  hwsku        = "ACS-MSN4700"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-248:8]" = {
      lanes = "[0-255]"
      index = "[1-32]"
      modes = {
        "2x200G[100G,50G,40G,25G,10G,1G]" = "etp[1-32][a-b]"
        "4x100G[50G,25G,10G,1G]"          = "etp[1-32][a-d]"
        "4x25G(4)[10G,1G]"                = "etp[1-32][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-mlnx_msn4700-r0/ACS-MSN4700"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

# The last two ports have one lane: lanes is that of the others.
switch_model "nvidia/sn5400" {
  asic = "nvidia/spectrum-4"
  ports = {
    sonic           = ["Ethernet[0-504:8]", "Ethernet[512-520:8]"]
    "cumulus-linux" = "swp[1-66]"
  }
  speeds = {
    "Ethernet[0-504:8]"   = "400G"
    "Ethernet[512-520:8]" = "25G"
    "swp[1-64]"           = "400G"
    "swp[65-66]"          = "25G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-nvidia_sn5600-r0"
  hwsku        = "ACS-SN5600"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-504:8]" = {
      lanes = "[0-511]"
      index = "[1-64]"
      modes = {
        "2x200G[100G,50G,40G,25G,10G]" = "etp[1-64][a-b]"
        "4x100G[50G,25G,10G]"          = "etp[1-64][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-nvidia_sn5400-r0/ACS-SN5400"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    platform     = "its ACS-SN5400/pg_profile_lookup.ini is a link to the one of that SKU"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn5600" {
  asic = "nvidia/spectrum-4"
  ports = {
    sonic           = ["Ethernet[0-504:8]", "Ethernet512"]
    "cumulus-linux" = "swp[1-65]"
  }
  speeds = {
    "Ethernet[0-504:8]" = "800G"
    "Ethernet512"       = "25G"
    "swp[1-64]"         = "800G"
    "swp65"             = "25G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-nvidia_sn5600-r0"
  hwsku        = "ACS-SN5600"
  has_watchdog = { sonic = true, "cumulus-linux" = true }
  os           = ["sonic", "cumulus-linux"]
  defaults     = { sonic = qos.sonic_default }
  breakouts = {
    "Ethernet[0-504:8]" = {
      lanes = "[0-511]"
      index = "[1-64]"
      modes = {
        "2x400G[200G,100G,50G,40G,25G,10G]" = "etp[1-64][a-b]"
        "4x200G[100G,50G,25G,10G]"          = "etp[1-64][a-d]"
      }
    }
  }
  source = "sonic-net/sonic-buildimage device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600"
  sources = {
    breakouts    = "lanes, index and breakout_modes of its platform.json, in the folder above"
    ports        = "cumulus-linux: CumulusNetworks/docs Switch Port Attributes, breakout tables (5.13)"
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp; cumulus-linux: CumulusNetworks/docs Quality of Service, PFC Watchdog (5.13)"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

# Its default SKU splits every port and has QoS tables of its own, so no
# default is stated.
switch_model "nvidia/sn5610n" {
  asic = "nvidia/spectrum-4"
  ports = {
    sonic = ["Ethernet[0-504:8]", "Ethernet[512-520:8]"]
  }
  speeds = {
    "Ethernet[0-504:8]"   = "800G"
    "Ethernet[512-520:8]" = "25G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-nvidia_sn5610n-r0"
  hwsku        = "Mellanox-SN5610N-C256S2"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  source       = "sonic-net/sonic-buildimage device/mellanox/x86_64-nvidia_sn5610n-r0/Mellanox-SN5610N-C256S2"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

# The image splits ports into 2x400G, 4x200G or 8x100G; whole, they run at
# 400G. Its default SKU has QoS tables of its own, so no default is stated.
switch_model "nvidia/sn5640" {
  asic = "nvidia/spectrum-5"
  ports = {
    sonic = ["Ethernet[0-504:8]", "Ethernet[512-520:8]"]
  }
  speeds = {
    "Ethernet[0-504:8]"   = "400G"
    "Ethernet[512-520:8]" = "25G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-nvidia_sn5640-r0"
  hwsku        = "Mellanox-SN5640-C512S2"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  source       = "sonic-net/sonic-buildimage device/mellanox/x86_64-nvidia_sn5640-r0/Mellanox-SN5640-C512S2"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
  }
}

# The image splits ports into 2x800G; whole, they run at 800G. The last port
# is split into 2x100G.
switch_model "nvidia/sn6600-ld" {
  asic = "nvidia/spectrum-6"
  ports = {
    sonic = ["Ethernet[0-504:8]", "Ethernet512"]
  }
  speeds = {
    "Ethernet[0-504:8]" = "800G"
  }
  lanes        = 8
  jumbo_mtu    = 9216
  platform     = "x86_64-nvidia_sn6600_ld-r0"
  hwsku        = "ACS-SN6600_LD"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  source       = "sonic-net/sonic-buildimage device/mellanox/x86_64-nvidia_sn6600_ld-r0/ACS-SN6600_LD"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}

switch_model "nvidia/sn6810-ld" {
  asic = "nvidia/spectrum-6"
  ports = {
    sonic = ["Ethernet[0-508:4]", "Ethernet[512-513]"]
  }
  speeds = {
    "Ethernet[0-508:4]" = "800G"
    "Ethernet[512-513]" = "100G"
  }
  lanes        = 4
  jumbo_mtu    = 9216
  platform     = "x86_64-nvidia_sn6810_ld-r0"
  hwsku        = "ACS-SN6810_LD"
  has_watchdog = { sonic = true }
  os           = ["sonic"]
  defaults     = { sonic = qos.sonic_default }
  source       = "sonic-net/sonic-buildimage device/mellanox/x86_64-nvidia_sn6810_ld-r0/ACS-SN6810_LD"
  sources = {
    jumbo_mtu    = "largest mtu of src/sonic-yang-models/yang-models/sonic-port.yang"
    has_watchdog = "sonic-net/sonic-swss orchagent/pfcwdorch.cpp"
    defaults     = "its qos.json.j2 is files/build_templates/qos_config.j2"
  }
}
