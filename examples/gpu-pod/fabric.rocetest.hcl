# The pod as a whole, and with a part of it down.

run "nothing_to_say" {
  command = lint
}

run "rails" {
  assert {
    condition     = length(links("node", "leaf")) == 256 && length(links("leaf", "spine")) == 256
    error_message = "32 nodes have eight rails each, and each leaf eight cables to each of four spines."
  }
  assert {
    condition     = paths("gpu01/rail0", "gpu02/rail0")[0].links == 2
    error_message = "Equal rails meet on one leaf."
  }
}

run "a_spine_may_fail" {
  fail = ["pod1-spine0"]
  assert {
    condition     = sum([for p in paths("gpu01/rail0", "gpu02/rail1") : p.ways]) == 8 * 3 * 8
    error_message = "Three spines are left, with eight cables up and eight down."
  }
}

run "a_leaf_takes_its_rail_only" {
  fail = ["pod1-leaf0"]
  assert {
    condition     = length(paths("gpu01/rail0", "gpu02/rail0")) == 0 && length(paths("gpu01/rail1", "gpu02/rail1")) == 1
    error_message = "Rail 1 has to carry on without leaf 0."
  }
}
