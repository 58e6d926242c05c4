# NVMe over RDMA between hosts with NICs of three makers on a pair of SONiC
# switches: paths A and B are a VLAN each. Hosts whose NIC does RDMA over LACP
# bonds have both paths on a bond over the pair, the others one on each port.
# hosts.csv says which host has which NIC, and the export of NetBox is the
# cabling: a row that names another port is another cable.

# No class for CNPs: not every one of these NICs can mark them. They take the
# default queue, which no pause stops.
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
  subnet   = cidrsubnet("10.31.0.0/16", 8, each.value - 3100)
  qos      = qos.nvme
  isolated = true
  mtu      = 9000
}

cabling "racks" {
  file          = "netbox-cables.csv"
  format        = "netbox"
  mode          = "define"
  default_cable = { media = "dac" }
}
