# Two hyper-converged Windows Server 2025 clusters on one pair of switches. Each
# node has one switch embedded team of two NICs that carries VMs and, on two host
# vNICs, SMB Direct. The four nodes of hv are set by scripts, the two of edge by
# Network ATC, which owns a whole cluster; the switches are told the same for both.

rocec {
  language = 1
}

qos "hci" {
  trust = "pcp" # tagged layer-2 storage is classified by its VLAN tag

  class "SMB_Direct" {
    carries   = "rdma"
    priority  = 3
    bandwidth = 50
    match     = { netdirect_port = 445 }
    ecn       = "auto"
  }
  class "Cluster" {
    carries   = "cluster"
    priority  = 7
    bandwidth = 1
  }
  class "Default" {
    priority  = 0
    bandwidth = 49
    default   = true
  }
}

segment "smb" {
  for_each = { 1 = 711, 2 = 712 }
  vlan     = each.value
  subnet   = cidrsubnet("10.71.0.0/16", 8, each.value - 710)
  qos      = qos.hci
  isolated = true
  mtu      = 9000
}

switch "tor" {
  for_each = toset(["a", "b"])
  name     = "tor-${each.key}"
  model    = "dell/s5248f-on"
  os       = "sonic/202505"
  role     = "hci-tor"

  # A vNIC may move when its member fails: every port carries both VLANs, and
  # so do the cables between the switches.
  port "Ethernet[0-5]" {
    admin  = "up"
    speed  = "25G"
    fec    = "rs" # the NICs follow
    tagged = segment.smb
  }
  port "Ethernet[48-52:4]" {
    admin  = "up"
    speed  = "100G"
    fec    = "rs"
    tagged = segment.smb
  }
}

link "isl" {
  for_each = toset(["48", "52"])
  ends     = [switch.tor["a"].port["Ethernet${each.key}"], switch.tor["b"].port["Ethernet${each.key}"]]
  cable    = { media = "dac", length = "1m" }
}

node "hv" {
  for_each = { hv1 = 1, hv2 = 2, hv3 = 3, hv4 = 4 }
  os       = "windows-server/2025"
  slot     = each.value
  cluster  = "hv"

  nic "smb[1-2]" {
    model = "nvidia/connectx-6-dx"
    at    = switch.tor[["a", "b"][nic.index]].port["Ethernet${self.slot - 1}"]
    speed = "25G"
    cable = { media = "dac", length = "3m" }
  }
  bond "team" {
    mode    = "set"
    members = "smb[1-2]"
  }
  interface "vSMB[1-2]" {
    on      = "team"
    pin     = "smb${interface.key}"
    segment = segment.smb[interface.key]
  }
}

node "edge" {
  for_each = { edge1 = 5, edge2 = 6 }
  os       = "windows-server/2025"
  slot     = each.value
  cluster  = "edge"

  nic "smb[1-2]" {
    model = "nvidia/connectx-6-dx"
    at    = switch.tor[["a", "b"][nic.index]].port["Ethernet${self.slot - 1}"]
    speed = "25G"
    cable = { media = "dac", length = "3m" }
  }
  bond "team" {
    mode    = "set"
    members = "smb[1-2]"
  }
  interface "vSMB[1-2]" {
    on      = "team"
    pin     = "smb${interface.key}"
    segment = segment.smb[interface.key]
  }
}

target "netqos" {
  select = node.hv
}

target "network-atc" {
  select = node.edge
}
