# Bonded hosts and single ones, on a pair of switches.

run "nothing_to_say" {
  command = lint
}

run "cabled_as_the_list_says" {
  assert {
    condition     = alltrue([for l in links("node", "storage-tor") : l.media == "dac" && l.a.speed == "100G"])
    error_message = "Every host has 100G over copper."
  }
}

run "one_switch_may_fail" {
  fail = [switch.tor["b"]]
  assert {
    condition     = length(paths("stor1", "stor2")) > 0
    error_message = "Bonded hosts keep one member."
  }
}

run "one_class_is_lossless" {
  command = build
  expect_artifact "tor-[ab]/rocec-qos.json" {
    matches  = "\"pfc_enable\": \"3\""
    excludes = ["\"pfc_enable\": \"3,4\"", "\"pfc_enable\": \"4\""]
  }
}
