# A pod of 32 GPU nodes with eight rails: NIC i of every node lands on leaf i,
# eight leaves and four spines carry the rest. The cables follow from the
# topology; the list from NetBox says what was built, and must agree.

rocec {
  language = 1
}

qos "roce" {
  trust = "dscp"

  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 90
    ecn       = { min = "auto", max = "auto", probability = 20 }
  }
  class "cnp" {
    carries  = "cnp" # in a strict queue
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 10
    default   = true
  }
}

locals {
  slots = ["18", "40", "4f", "5e", "9a", "c0", "ce", "dc"] # PCI buses of the adapters, rail by rail
}

node "gpu" {
  for_each = rows("inventory/nodes.csv", "name")
  os       = "ubuntu/24.04"
  mgmt     = each.value.mgmt
  rack     = each.value.rack
  slot     = each.value.slot # position on every leaf

  nic "rail[0-7]" {
    model = "nvidia/connectx-7"
    pci   = "0000:${local.slots[nic.index]}:00.0" # found there and renamed
    speed = "400G"
    mtu   = 9000
  }
}

topology "rail_optimized" "pod1" {
  nodes = node.gpu
  qos   = qos.roce

  leaf {
    count         = 8
    model         = "nvidia/sn5600"
    os            = "cumulus-linux/5.14" # ports of a written speed negotiate it since then, as Spectrum-4 must with its like
    node_ports    = "swp[1-32]"
    up_ports      = "swp[33-64]"
    loopback      = cidrsubnet("10.254.0.0/24", 8, 11 + leaf.index)
    vrf           = "gpu"
    subnet        = cidrsubnet("10.64.0.0/13", 8, leaf.rail)
    fabric_subnet = "10.253.0.0/22"
    addressing    = "per_port" # a /31 for each NIC: nothing is bridged

    link {
      speed = "400G"
      cable = { media = "dac", length = "3m" }
    }
  }
  spine {
    count    = 4
    ports    = "swp[1-64]"
    loopback = cidrsubnet("10.254.0.0/24", 8, 101 + spine.index)
    vrf      = "gpu"

    link {
      speed = "400G"
      cable = { media = "dr", length = "40m" }
    }
  }
}

cabling "as_built" {
  file   = "inventory/netbox-cables.csv"
  format = "netbox"
  mode   = "verify"
}

check "rails_do_not_mix" {
  assert {
    condition     = alltrue([for l in links("node", "leaf") : l.a.index == l.b.switch.index])
    error_message = "A NIC is cabled to the leaf of another rail."
  }
}
