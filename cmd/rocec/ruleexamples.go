package main

// Examples of rules that are decided while something is done: files, and under
// `run` what is run beside them, line by line. The finding is that of the last one.

// handedOver is a rack that was handed over with one lossless priority, and is
// planned with another; drain is what the second wave says besides.
func handedOver(drain string) string {
	return "-- fabric.roce.hcl --\n" + rack + `
rollout {
  wave "canary" {
    select = [node.s["s1"]]
  }
  wave "rest" {
    soak = "15m"` + drain + `
  }
}
-- run --
rocec apply --auto-approve
rocec plan --var=priority=4
`
}

// lockedBy is a rack whose record somebody holds; run is what is done then.
func lockedBy(run string) string {
	return "-- fabric.roce.hcl --\n" + rack + `-- record/default/.lock.json --
{"id": "abc123", "operation": "apply", "who": "alice", "host": "far-away", "version": "1.0.0", "created": "2026-01-02T03:04:05Z"}
-- run --
` + run
}

// rack is two nodes below a switch.
const rack = `variable "priority" {
  type    = number
  default = 3
}

qos "roce" {
  trust = "dscp"

  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = var.priority
    bandwidth = 50
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
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

switch "tor" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"

  port "Ethernet[0-4:4]" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.rdma
  }
}

node "s" {
  for_each = { s1 = 1, s2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value

  nic "rdma0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.rdma
    observed = { gid_index = 3 }
  }
}

link "rack" {
  for_each = { s1 = "Ethernet0", s2 = "Ethernet4" }
  ends     = [node.s[each.key].nic["rdma0"], switch.tor.port[each.value]]
  cable    = { media = "dac", length = "3m" }
}
`
