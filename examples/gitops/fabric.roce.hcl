# A rack that a pipeline takes care of: a pull request shows the plan, a merge
# applies it over SSH, a nightly run looks for drift. The workflows stand in
# .github/workflows; rocec lab up starts the devices of this folder for a try.

rocec {
  language = 1
  # What was applied last, on a branch of its own: the work tree is left alone.
  record = {
    backend = "git"
    push    = true
    branch  = "rocec-record"
  }
}

variable "rdma_share" {
  description = "bandwidth that RDMA is promised, in percent"
  type        = number
  default     = 60
}

connection "oob" {
  address      = "${self.name}.oob.example.net"
  user         = "rocec"
  password_env = "ROCEC_FABRIC_PASSWORD" # the pipeline's secret
  known_hosts  = "known_hosts"           # committed: a device that shows another key is not talked to
}

defaults "switch" {
  connection = connection.oob
}

defaults "node" {
  connection = connection.oob
}

qos "roce" {
  trust = "dscp"

  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = var.rdma_share
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 100 - var.rdma_share
    default   = true
  }
}

segment "rdma" {
  vlan   = 100
  subnet = "10.100.0.0/24"
  qos    = qos.roce
  mtu    = 9000
}

switch "tor" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"

  port "Ethernet[0-4:4]" {
    admin = "up" # a fresh switch leaves its ports down
    speed = "100G"
    fec   = "rs" # the VLAN is that of the NIC
  }
}

node "gpu" {
  for_each = { gpu1 = 1, gpu2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value

  nic "rdma0" {
    model    = "nvidia/connectx-6-dx"
    at       = switch.tor.port["Ethernet${4 * (self.slot - 1)}"]
    speed    = "100G"
    fec      = "rs"
    cable    = { media = "dac", length = "3m" }
    untagged = segment.rdma
    observed = { gid_index = 3 }
  }
}

rollout {
  wave "canary" {
    select = [node.gpu["gpu1"]]
    gate   = ["verify"]
  }
  wave "rest" {
    drain = true
  }
}
