package main

import (
	"testing"

	"github.com/rocec/rocec/targets/oracle"
)

// TestStored: a switch that runs as it shall and would start with something else is
// no switch without changes: plan and verify say so, apply stores, and a loss of
// power changes nothing any more.
func TestStored(t *testing.T) {
	for _, c := range []struct{ system, stored, note string }{
		{"SONiC switch", "/etc/sonic/config_db.json", "config save stores the whole running configuration"},
		{"Cumulus switch", "/etc/nvue.d/startup.yaml", "nv config save stores the whole applied configuration"},
	} {
		t.Run(c.system, func(t *testing.T) {
			t.Parallel()
			for _, y := range systems {
				if y.name != c.system {
					continue
				}
				for _, program := range y.needs {
					oracle.Need(t, program)
				}
				s := onLab(t, y.folder, y.replace...)
				target := "--target=" + y.address
				s.exec(y.device, "cp "+c.stored+" /var/tmp/old")
				s.run(0, []string{"apply", "--auto-approve", target})
				s.run(0, []string{"plan", "--detailed-exitcode", target}, "No changes.")
				s.exec(y.device, "sudo cp /var/tmp/old "+c.stored)
				s.run(2, []string{"plan", "--detailed-exitcode", target}, "stored.pfc ", "[] -> [3]", c.note, "fabric.roce.hcl:", "Plan: 0 to add,", "Impact: no interruption known.")
				s.run(2, []string{"verify", target}, ".stored.pfc = [3] -> []", "ROCE904", "1 drift")
				s.run(0, []string{"apply", "--auto-approve", target}, "1 applied")
				s.run(0, []string{"plan", "--detailed-exitcode", target}, "No changes.")
				m, err := s.lab.Machine(y.device)
				if err != nil {
					t.Fatal(err)
				}
				m.Reboot()
				s.run(0, []string{"verify", target}, "1 in sync")
				s.run(0, []string{"rollback", "--auto-approve"})
				s.run(2, []string{"verify", target}, ".stored.pfc = [3] -> []")
			}
		})
	}
}
