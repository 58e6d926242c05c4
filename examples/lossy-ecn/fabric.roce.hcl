# RoCE without PFC: four GPU hosts with two rails on one leaf. No frame is ever
# paused; switches mark ECN early, the adapters slow down by DCQCN and repair
# what was lost all the same. Every adapter of the class has to be able to do
# that, which rocec checks (ROCE409).

rocec {
  language = 1
}

qos "resilient" {
  trust = "dscp"

  class "rdma" {
    carries            = "rdma"
    dscp               = [26]
    priority           = 3
    lossless           = false # the one line that makes the difference
    bandwidth          = 80
    ecn                = "auto"
    congestion_control = "dcqcn" # nothing else slows a sender here: hosts prove that it runs
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 20
    default   = true
  }
}

segment "rail" {
  for_each = { 0 = 100, 1 = 101 }
  vlan     = each.value
  subnet   = cidrsubnet("10.64.0.0/16", 8, each.value - 100)
  qos      = qos.resilient
  mtu      = 9000
}

switch "leaf" {
  model = "nvidia/sn5400"
  os    = "sonic/202505"

  port "Ethernet[0-56:8]" {
    admin = "up"
    speed = "400G"
    fec   = "rs" # the VLAN is that of the NIC
  }
}

node "gpu" {
  for_each     = { gpu1 = 1, gpu2 = 2, gpu3 = 3, gpu4 = 4 }
  os           = "ubuntu/24.04"
  slot         = each.value
  global_pause = false # adapters come with 802.3x pause on, which would stop all traffic at once

  nic "rail[0-1]" {
    model    = "nvidia/connectx-7"
    at       = switch.leaf.port["Ethernet${8 * (4 * nic.index + self.slot - 1)}"]
    pci      = ["0000:1a:00.0", "0000:3c:00.0"][nic.index]
    rail     = nic.index
    speed    = "400G"
    fec      = "rs"
    cable    = { media = "dr", length = "20m" }
    untagged = segment.rail[nic.key]
  }
}
