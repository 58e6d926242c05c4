# Storage Spaces Direct on four nodes: one switch embedded team of two NICs carries
# management without a tag, twenty VLANs of virtual machines, and SMB Direct.

segment "mgmt" {
  vlan   = 10
  subnet = "10.10.10.0/24"
}

segment "vm" {
  for_each = toset([for n in range(101, 121) : tostring(n)])
  vlan     = each.key
}

segment "smb" {
  for_each = { 1 = 711, 2 = 712 }
  vlan     = each.value
  subnet   = "10.71.${each.key}.0/24"
  qos      = qos.s2d
  isolated = true
  mtu      = 9000
}

switch "tor" {
  for_each = toset(["tor-a", "tor-b"])
  model    = "dell/s5248f-on"
  os       = "sonic/202505"

  port "Ethernet[0-3,48-52:4]" {
    admin = "up"
    fec   = "rs"
  }
  lag "PortChannel1" {
    members  = "Ethernet[48-52:4]"
    untagged = segment.mgmt
    tagged   = concat(values(segment.vm), values(segment.smb))
  }
}

link "isl" {
  for_each = toset(["48", "52"])
  ends     = [for t in ["tor-a", "tor-b"] : switch.tor[t].port["Ethernet${each.key}"]]
  cable    = { media = "dac", length = "1m" }
}

node "hv" {
  for_each = { hv1 = 1, hv2 = 2, hv3 = 3, hv4 = 4 }
  os       = "windows-server/2025"
  slot     = each.value

  nic "p[1-2]" {
    model = "nvidia/connectx-6-dx"
    at    = switch.tor[["tor-a", "tor-b"][nic.index]].port["Ethernet${self.slot - 1}"]
    speed = "25G"
    cable = { media = "dac", length = "3m" }
  }
  bond "SET" {
    mode     = "set"
    members  = "p[1-2]"
    untagged = segment.mgmt
    tagged   = segment.vm
  }
  interface "Mgmt" {
    on       = "SET"
    untagged = segment.mgmt
  }
  interface "SMB[1-2]" {
    on      = "SET"
    pin     = "p${interface.key}"
    segment = segment.smb[interface.key]
  }
}

target "netqos" {
  select = node.hv
}
