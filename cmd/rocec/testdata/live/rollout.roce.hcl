rollout {
  order   = "downstream_first"
  confirm = "60s"
  wave "canary" {
    select = [node.s["s1"]]
    gate   = ["verify"]
  }
  wave "rest" {}
}
