# A host whose switch classifies by PCP: its VLAN device writes the tags.
qos "roce" {
  trust = "pcp"

  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}

segment "storage" {
  vlan   = 100
  subnet = "10.100.0.0/24"
  qos    = qos.roce
  mtu    = 9000
}

node "s" {
  for_each = { s1 = "full", far = "none" }
  os       = "ubuntu/24.04"
  manage   = each.value
  slot     = each.key == "far" ? 2 : 1

  nic "rdma0" {
    model   = "nvidia/connectx-6-dx"
    speed   = "100G"
    fec     = "rs"
    segment = segment.storage
  }
}

link "direct" {
  ends  = [node.s["s1"].nic["rdma0"], node.s["far"].nic["rdma0"]]
  cable = { media = "dac", length = "3m" }
}
