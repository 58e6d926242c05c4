connection "a" {
  address     = "127.0.0.1"
  port        = 2201
  user        = "root"
  identity    = "key"
  known_hosts = "known_hosts"
}

connection "b" {
  address     = "127.0.0.1"
  port        = 2202
  user        = "root"
  identity    = "key"
  known_hosts = "known_hosts"
}

qos "roce" {
  trust = "dscp"

  class "rdma" {
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

segment "rdma" {
  vlan   = 100
  subnet = "10.100.0.0/24"
  qos    = qos.roce
  mtu    = 9000
}

node "a" {
  os         = "debian/12"
  connection = connection.a

  nic "rd0" {
    model    = "nvidia/connectx-6-dx"
    untagged = segment.rdma
    address  = "10.100.0.11/24"
  }
  nic "rd1" {
    model    = "nvidia/connectx-6-dx"
    untagged = segment.rdma
    address  = "10.100.0.12/24"
  }
}

node "b" {
  os         = "debian/12"
  connection = connection.b

  nic "rd2" {
    model    = "nvidia/connectx-6-dx"
    untagged = segment.rdma
    address  = "10.100.0.21/24"
  }
}

rollout {
  confirm = "1h"

  wave "hosts" {
    gate = ["verify", "rdma_ping"]
  }
}
