# Nothing is ever paused here, and everything is marked.

run "nothing_to_say" {
  command = lint
}

run "no_port_pauses" {
  command = build
  assert {
    condition     = length(jsondecode(artifact("leaf/rocec-qos.json")).PORT_QOS_MAP) == length(links("node", "switch"))
    error_message = "A port of the leaf is not told what it does."
  }
  assert {
    condition     = alltrue([for p in values(jsondecode(artifact("leaf/rocec-qos.json")).PORT_QOS_MAP) : try(p.pfc_enable, "") == ""])
    error_message = "A port of the leaf has PFC on."
  }
  expect_artifact "leaf/rocec-qos.json" {
    contains = "\"ecn\": \"ecn_all\""
  }
}

run "rails_stay_apart" {
  assert {
    condition     = length(paths("gpu1/rail0", "gpu2/rail1")) == 0 && length(paths("gpu1/rail0", "gpu2/rail0")) == 1
    error_message = "A rail reaches another one."
  }
}
