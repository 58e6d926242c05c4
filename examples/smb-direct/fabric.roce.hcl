# Two Windows Server 2025 nodes for Storage Spaces Direct, two RDMA NICs each.
# One qos drives the NetQos scripts of both nodes and the class maps of the
# switch; the variable swaps the switch for cables from NIC to NIC.

rocec {
  language = 1
}

variable "switchless" {
  description = "storage NICs back to back, without the switch"
  type        = bool
  default     = false
}

qos "smb_direct" {
  trust = "pcp" # tagged layer-2 storage is classified by its VLAN tag

  class "SMB_Direct" {
    carries   = "rdma"
    priority  = 3
    bandwidth = 50
    match     = { netdirect_port = 445 }
    ecn       = "auto" # marking thresholds follow the speed of each switch port
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

# One VLAN and one subnet for each rail: SMB Multichannel uses both.
segment "smb" {
  for_each = { a = 711, b = 712 }
  vlan     = each.value
  subnet   = cidrsubnet("10.71.0.0/16", 8, each.value - 710)
  qos      = qos.smb_direct
  isolated = true
  mtu      = 9000 # IP MTU, as everywhere: Windows is told 9014
}

switch "tor" {
  enabled = !var.switchless
  model   = "dell/s5224f-on"
  os      = "sonic/202505"

  port "Ethernet[0-3]" {
    admin  = "up" # a fresh switch leaves its ports down
    speed  = "25G"
    fec    = "rs"
    tagged = segment.smb
  }
}

node "s2d" {
  for_each = { n1 = 1, n2 = 2 }
  os       = "windows-server/2025"
  slot     = each.value # addresses follow: .11 and .12 in both subnets
  cluster  = "s2d"

  nic "smb_[a-b]" {
    model   = "nvidia/connectx-6-dx"
    at      = var.switchless ? null : switch.tor.port["Ethernet${2 * (self.slot - 1) + nic.index}"]
    speed   = "25G"
    cable   = { media = "dac", length = var.switchless ? "1m" : "3m" }
    segment = segment.smb[nic.key]
  }
}

# Network ATC is off on these nodes: the scripts own the adapters.
target "netqos" {
  select = node.s2d
}

link "direct" {
  for_each = toset(["smb_a", "smb_b"])
  enabled  = var.switchless
  ends     = [node.s2d["n1"].nic[each.key], node.s2d["n2"].nic[each.key]]
}
