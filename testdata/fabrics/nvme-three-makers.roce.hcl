# NVMe over RDMA between hosts with adapters of three makers and an array of two
# controllers, which rocec does not write, on a pair of Cumulus switches. Hosts whose
# adapter does RDMA over a bond have both paths on one over the pair.

qos "nvme" {
  trust = "dscp"

  class "nvme" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
    ecn       = "auto"
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}

segment "path" {
  for_each = { a = 3101, b = 3102 }
  vlan     = each.value
  subnet   = "10.31.${each.value - 3100}.0/24"
  qos      = qos.nvme
  isolated = true
  mtu      = 9000
}

switch "tor" {
  for_each = { a = 1, b = 2 }
  name     = "tor-${each.key}"
  model    = "nvidia/sn3700c"
  os       = "cumulus-linux/5.11"

  port "swp[1-10,31-32]" {
    admin = "up"
    fec   = "rs"
  }
  interface "lo" {
    on      = "loopback"
    address = "192.0.2.${each.value}/32"
  }
}

mlag "rack" {
  switches  = switch.tor
  peer_link = "swp[31-32]"
  keepalive = { addresses = { "tor-a" = "192.0.2.1", "tor-b" = "192.0.2.2" } }
}

defaults "link" {
  speed = "100G"
  fec   = "rs"
  cable = { media = "dac", length = "3m" }
}

node "bonded" {
  for_each = { m1 = 1, m2 = 2, m3 = 3, m4 = 4 }
  os       = "ubuntu/24.04"
  slot     = each.value

  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
    at    = switch.tor[["a", "b"][nic.index]].port["swp${self.slot}"]
    pci   = "0000:3b:00.${nic.index}"
  }
  bond "bond0" {
    mode    = "lacp"
    members = "p[0-1]"
  }
  interface "nvme_[a-b]" {
    on      = "bond0"
    segment = segment.path[interface.key]
  }
}

node "single" {
  for_each = { e1 = [5, "intel/e810"], e2 = [6, "intel/e810"], b1 = [7, "broadcom/bcm575xx"], b2 = [8, "broadcom/bcm575xx"] }
  os       = "ubuntu/24.04"
  slot     = each.value[0]

  nic "p_[a-b]" {
    model    = each.value[1]
    at       = switch.tor[nic.key].port["swp${self.slot}"]
    pci      = "0000:5e:00.${nic.index}"
    untagged = segment.path[nic.key]
  }
}

node "array" {
  for_each = { ctl1 = 9, ctl2 = 10 }
  manage   = "none"
  slot     = each.value

  nic "p_[a-b]" {
    at       = switch.tor[nic.key].port["swp${self.slot}"]
    untagged = segment.path[nic.key]
  }
}
