# Two clusters, set in two ways, on switches that are told the same for both.

run "nothing_to_say" {
  command = lint
}

run "members_on_both_switches" {
  assert {
    condition     = alltrue([for l in links("node", "hci-tor") : (l.a.name == "smb1") == (l.b.device == "tor-a")])
    error_message = "The first member of each team goes to tor-a, the second to tor-b."
  }
}

run "one_switch_may_fail" {
  fail = [switch.tor["a"]]
  assert {
    condition     = length(paths("hv1/smb2", "hv2/smb2")) > 0
    error_message = "The members on tor-b have to carry on."
  }
}

run "who_writes_what" {
  command = build
  assert {
    condition     = length(artifacts("common/netqos-*/*")) > 0 && length(artifacts("common/network-atc-*/*")) > 0
    error_message = "One cluster is set by scripts and the other by Network ATC."
  }
  expect_artifact "hv?/validate-dcb.ps1" {
    contains = "NetDirectPortMatchCondition = 445"
  }
}
