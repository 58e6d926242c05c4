rollout {
  order   = "downstream_first"
  confirm = "1h"
  wave "canary" {
    select = [node.s["s1"]]
    gate   = ["verify"]
  }
  wave "rest" {}
}
