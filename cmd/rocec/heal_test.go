package main

import (
	"strings"
	"testing"
)

// TestHealOne: one host that somebody has changed by hand is healed by an apply of it
// alone, also where its wave sends RDMA for its gate: another host of its network that is
// as wanted answers, and is not changed. One that is not as wanted does not answer.
func TestHealOne(t *testing.T) {
	s := onLab(t, "live")
	s.run(0, []string{"apply", "--auto-approve"})
	s.editIn("rollout.roce.hcl", `["verify"]`, `["rdma_ping"]`)
	heal := []string{"apply", "--auto-approve", `--target=node.s["s1"]`}
	const drift = "sudo dcb pfc set dev rdma0 prio-pfc all:off 5:on"
	s.exec("s1", drift)
	s.exec("s2", drift)
	s.run(0, heal, "1 applied")
	s.run(2, []string{"verify"}, `node.s["s2"]: drift`, "3 in sync")
	s.exec("s1", drift)
	s.exec("s3", drift)
	out := s.run(1, heal, "no other is as wanted", `node.s["s3"]`)
	if strings.Contains(out, "NEED YOU") {
		t.Error(out)
	}
}
