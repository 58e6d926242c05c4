# A pod of eight rails with two generations of hosts: sixteen with adapters of 400G,
# eight with adapters of 200G. The ports of the leaves follow them.

qos "roce" {
  trust = "dscp"

  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 60
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 40
    default   = true
  }
}

node "gpu" {
  for_each = { for i, n in expand_range("gpu[01-24]") : n => i + 1 }
  os       = "ubuntu/24.04"
  slot     = each.value

  nic "rail[0-7]" {
    model = self.slot <= 16 ? "nvidia/connectx-7" : "nvidia/connectx-6"
    speed = self.slot <= 16 ? "400G" : "200G"
    mtu   = 9000
  }
}

topology "rail_optimized" "pod" {
  nodes = node.gpu
  qos   = qos.roce

  leaf {
    count      = 8
    model      = "nvidia/sn5400"
    os         = "sonic/202505"
    node_ports = "Ethernet[0-184:8]"
    up_ports   = "Ethernet[256-376:8]"
    subnet     = cidrsubnet("10.64.0.0/16", 8, leaf.index)

    link { cable = { media = "dac", length = "3m" } }
  }
  spine {
    count = 4
    ports = "Ethernet[0-248:8]"

    link { cable = { media = "dr", length = "40m" } }
  }
}
