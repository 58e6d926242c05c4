qos "roce" {
  trust = "dscp"

  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}

segment "rdma" {
  vlan   = 100
  subnet = "10.100.0.0/24"
  qos    = qos.roce
  mtu    = 9000
}

switch "tor" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"

  port "Ethernet[0-8:4]" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.rdma
  }
}

node "s" {
  for_each = { s1 = 1, s2 = 2, s3 = 3 }
  os       = "ubuntu/24.04"
  slot     = each.value

  nic "rdma0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.rdma
    observed = { gid_index = 3 }
  }
}

link "rack" {
  for_each = { s1 = "Ethernet0", s2 = "Ethernet4", s3 = "Ethernet8" }
  ends     = [node.s[each.key].nic["rdma0"], switch.tor.port[each.value]]
  cable    = { media = "dac", length = "3m" }
}
