# Eleven hosts whose ports hold what a kernel without DCB and RDMA can: addresses, MTU, and ARP per rail. The twelfth wants DCB,
# which its port refuses.

locals {
  hosts = { for i in range(1, 12) : format("h%02d", i) => i }
}

connection "oob" {
  user        = "root"
  identity    = "key"
  known_hosts = "known_hosts"
}

qos "dcb" {
  trust = "dscp"

  class "storage" {
    carries   = "other"
    marked_by = "application"
    dscp      = [40]
    priority  = 5
    bandwidth = 20
  }
  class "default" {
    priority  = 0
    bandwidth = 80
    default   = true
  }
}

segment "rail0" {
  vlan   = 100
  subnet = "10.100.0.0/24"
  mtu    = 9000
}

segment "rail1" {
  vlan   = 101
  subnet = "10.101.0.0/24"
  mtu    = 9000
}

node "h" {
  for_each   = local.hosts
  os         = "debian/12"
  mgmt       = "192.0.2.${each.value}"
  slot       = each.value
  connection = connection.oob

  nic "r0" {
    model    = "linux/rxe"
    untagged = segment.rail0
  }
  nic "r1" {
    model    = "linux/rxe"
    untagged = segment.rail1
  }
}

node "q" {
  os         = "debian/12"
  mgmt       = "192.0.2.12"
  slot       = 12
  connection = connection.oob

  nic "r0" {
    model    = "nvidia/connectx-6-dx"
    untagged = segment.rail0
    qos      = qos.dcb
  }
}

rollout {
  confirm    = "1h"
  on_failure = "stop"

  wave "first" {
    select = [node.h["h01"], node.h["h02"]]
    gate   = ["verify"]
  }
  wave "rest" {
    select = [node.h]
  }
  wave "dcb" {}
}
