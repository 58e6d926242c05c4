# Both ways to cable the two nodes, and what their scripts must say.

run "nothing_to_say" {
  command = lint
}

run "through_the_switch" {
  assert {
    condition     = length(links("node", "switch")) == 4 && length(links("node", "node")) == 0
    error_message = "Each of the four NICs has one cable, to the switch."
  }
  assert {
    condition     = length(paths("n1/smb_a", "n2/smb_b")) == 0
    error_message = "The two rails meet: SMB Multichannel would use one for both."
  }
}

run "without_the_switch" {
  command   = build
  variables = { switchless = true }
  assert {
    condition     = length(links("node", "node")) == 2
    error_message = "Each NIC has a cable to the same NIC of the other node."
  }
  expect_artifact "n[12]/host.psd1" {
    contains = "Match = 'NetDirect'; Port = 445; Priority = 3"
  }
}

# One rail may be lost: the other carries both.
run "a_cable_may_fail" {
  fail = [node.s2d["n1"].nic["smb_a"]]
  assert {
    condition     = length(paths("n1/smb_a", "n2/smb_a")) == 0 && length(paths("n1/smb_b", "n2/smb_b")) == 1
    error_message = "Rail b has to stay when a cable of rail a is out."
  }
}
