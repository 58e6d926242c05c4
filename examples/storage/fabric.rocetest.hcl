# The two storage fabrics share nothing, and multipath survives either of them.

run "nothing_to_say" {
  command = lint
}

run "fabrics_stay_apart" {
  assert {
    condition     = alltrue([for l in links("node", "storage-tor") : endswith(l.a.name, trimprefix(l.b.device, "tor-"))])
    error_message = "Port a of each adapter goes to tor-a, and port b to tor-b."
  }
  assert {
    condition     = length(paths("stor01/nvme_a", "stor02/nvme_b")) == 0
    error_message = "There is a way from fabric A to fabric B."
  }
}

run "either_switch_may_fail" {
  fail = [switch.tor["a"]]
  assert {
    condition     = length(paths("stor01/nvme_a", "stor02/nvme_a")) == 0 && length(paths("stor01/nvme_b", "stor02/nvme_b")) == 1
    error_message = "Fabric B has to carry on without tor-a."
  }
}

# Not both: this is what the loss looks like.
run "both_switches_may_not" {
  fail            = switch.tor
  expect_failures = ["no_path"]
}

run "marks_and_pauses_agree" {
  command = build
  expect_artifact "stor0?/host.sh" {
    contains = "roce_tos=106" # DSCP 26, ECN-capable
  }
  assert {
    condition     = jsondecode(artifact("tor-a/rocec-qos.json")).DSCP_TO_TC_MAP.rocec_nvme["26"] == "3"
    error_message = "The switch takes what the hosts mark for another class."
  }
}
