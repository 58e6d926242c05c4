node "s2d" {
  for_each = { n1 = 1, n2 = 2 }
  os       = "windows-server/2025"
  slot     = each.value
  cluster  = "s2d"

  nic "smb_[a-b]" {
    model   = "nvidia/connectx-6-dx"
    speed   = "25G"
    segment = segment.smb[nic.key]
  }
}

target "netqos" {
  select = node.s2d
}

link "tor" {
  for_each = { 0 = ["n1", "smb_a"], 1 = ["n1", "smb_b"], 2 = ["n2", "smb_a"], 3 = ["n2", "smb_b"] }
  ends     = [node.s2d[each.value[0]].nic[each.value[1]], switch.tor.port["Ethernet${each.key}"]]
  cable    = { media = "dac", length = "3m" }
}
