# NVMe over Fabrics between eight Ubuntu hosts: two storage fabrics, A and B,
# that share nothing. Port 0 of every adapter is cabled to tor-a and port 1 to
# tor-b, each fabric is one VLAN and one subnet, and multipath joins them at the
# host. hosts.csv is the list of hosts: a new line there is a new host with its
# addresses, its switch ports and its cables.

qos "nvme" {
  trust = "dscp" # untagged access ports: the mark is in the IP header

  class "nvme" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp" # in a strict queue, never paused
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}

segment "storage" {
  for_each = { a = 3001, b = 3002 }
  vlan     = each.value
  subnet   = cidrsubnet("10.30.0.0/16", 8, each.value - 3000)
  qos      = qos.nvme
  isolated = true # no gateway: nothing leaves a storage fabric
  mtu      = 9000
}
