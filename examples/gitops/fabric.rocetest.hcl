run "every_node_reaches_every_other" {
  assert {
    condition     = length(paths("gpu1", "gpu2")) > 0
    error_message = "No way leads from gpu1 to gpu2."
  }
}

run "rdma_is_marked" {
  command = build
  expect_artifact "gpu1/*.sh" {
    excludes = "FABRIC_PASSWORD"
  }
}
