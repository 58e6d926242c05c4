# Two Windows nodes, one switch: what the scripts of the commands work on.

variable "smb_share" {
  type    = number
  default = 50
}

qos "smb_direct" {
  trust = "pcp"

  class "SMB_Direct" {
    carries   = "rdma"
    priority  = 3
    bandwidth = var.smb_share
    match     = { netdirect_port = 445 }
    ecn       = "auto"
  }
  class "Cluster" {
    carries   = "cluster"
    priority  = 7
    bandwidth = 1
  }
  class "Default" {
    priority  = 0
    bandwidth = 99 - var.smb_share
    default   = true
  }
}

segment "smb" {
  for_each = { a = 711, b = 712 }
  vlan     = each.value
  subnet   = cidrsubnet("10.71.0.0/16", 8, each.value - 710)
  qos      = qos.smb_direct
  isolated = true
  mtu      = 9000
}

switch "tor" {
  model = "dell/s5224f-on"
  os    = "sonic/202505"

  port "Ethernet[0-3]" {
    speed  = "25G"
    fec    = "rs"
    tagged = segment.smb
  }
}
