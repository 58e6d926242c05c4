# What must stay so, whoever changes the fabric: the pipeline runs it on every
# pull request.

run "every_node_reaches_every_other" {
  assert {
    condition     = length(paths("gpu1", "gpu2")) > 0
    error_message = "No way leads from gpu1 to gpu2."
  }
}

run "rdma_keeps_its_mark" {
  command = build
  assert {
    condition     = jsondecode(artifact("tor/rocec-qos.json")).DSCP_TO_TC_MAP.rocec_roce["26"] == "3"
    error_message = "The switch takes what the nodes mark for another class."
  }
}

run "no_secret_is_written" {
  command = build
  expect_artifact "*/*" {
    excludes = ["ROCEC_FABRIC_PASSWORD", "oob.example.net"]
  }
}
