# Four pods of four rails under one core, 64 hosts and 32 switches. The pods are one block.

node "gpu" {
  for_each = { for i, n in expand_range("gpu[01-64]") : n => i }
  os       = "ubuntu/24.04"
  slot     = 1 + each.value % 16
  cluster  = "pod${floor(each.value / 16)}"

  nic "rail[0-3]" {
    model = "nvidia/connectx-7"
    speed = "400G"
    mtu   = 9000
  }
}

topology "rail_optimized" "pod" {
  for_each = { p0 = 0, p1 = 1, p2 = 2, p3 = 3 }
  nodes    = [for n in node.gpu : n if n.cluster == "pod${each.value}"]
  qos      = qos.nvidia_roce

  leaf {
    count      = 4
    model      = "nvidia/sn5400"
    os         = "sonic/202505"
    node_ports = "Ethernet[0-120:8]"
    up_ports   = "Ethernet[256-376:8]"
    subnet     = cidrsubnet("10.64.0.0/16", 8, 16 * each.value + leaf.index)
    link { cable = { media = "dac", length = "3m" } }
  }
  spine {
    count      = 2
    up_ports   = "Ethernet[256-504:8]"
    down_ports = "Ethernet[0-248:8]"
    hash       = { function = "XOR" }
    link { cable = { media = "dr", length = "40m" } }
  }
}

topology "clos3" "all" {
  pods = topology.pod
  qos  = qos.nvidia_roce

  core {
    count = 8
    model = "nvidia/sn5400"
    os    = "sonic/202505"
    ports = "Ethernet[0-248:8]"
    link { cable = { media = "dr", length = "100m" } }
  }
}
