package main

import (
	"strings"
	"testing"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
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

// TestCutOffAtBoot: a host that loses power in the middle of its change, and whose rocec
// died, undoes the change when it is up again, long before the time to confirm is over.
func TestCutOffAtBoot(t *testing.T) {
	s := onLab(t, "live")
	s.victim, s.args = "s2", applyHosts
	s.run(0, applyHosts)
	s.old = s.journals()
	s.edit("priority  = 3", "priority  = 4")
	s.load()
	was := intent.Digest(s.observed("s2"))
	s.inject(struck(lab.FaultStall, `^dcb`, 2, 1))
	p := s.start(s.args)
	p.await("change")
	for end := time.Now().Add(time.Minute); intent.Digest(s.observed("s2")) == was; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the change does not come")
		}
	}
	p.kill()
	m, err := s.lab.Machine("s2")
	if err != nil {
		t.Fatal(err)
	}
	m.Reboot()
	s.heal()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if intent.Digest(s.observed("s2")) == was && !strings.Contains(s.exec("s2", "ls -a /var/lib/rocec/live"), ".open") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it runs what was cut off, and its time to confirm is an hour")
		}
	}
}
