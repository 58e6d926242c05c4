package format

import "testing"

func TestWithoutBlocks(t *testing.T) {
	leave := Leave{
		Word: "topology",
		Refer: func(steps []Step) (string, int) {
			if len(steps) > 2 && steps[2].Index && steps[2].Text == "1" {
				return "switch.b", 3
			}
			if len(steps) > 1 && steps[1].Text == "leaf" {
				return "[switch.a, switch.b]", 2
			}
			return "", 0
		},
		Drop: func(block, attr string) bool {
			return block == "topology" && attr == "" || block == "nic" && attr == "at"
		},
	}
	for name, c := range map[string]struct{ src, want string }{
		"nothing":      {"a =   1\n", "a =   1\n"}, // not even its layout
		"a switch":     {"a = topology.t.leaf[1].port[\"swp1\"]\n", "a = switch.b.port[\"swp1\"]\n"},
		"in an index":  {"a = x[topology.t.leaf[1].index]\n", "a = x[switch.b.index]\n"},
		"a tier":       {"a = [for l in topology.t.leaf : l.name]\n", "a = [for l in [switch.a, switch.b] : l.name]\n"},
		"by a number":  {"a = topology.t.leaf[local.i].name\n", "a = [switch.a, switch.b][local.i].name\n"},
		"in a text":    {"a = \"${topology.t.leaf[1].name}-x\"\n", "a = \"${switch.b.name}-x\"\n"},
		"as a whole":   {"a = topology.t\n", "a = topology.t\n"},
		"another word": {"a = local.topology.leaf[1]\n", "a = local.topology.leaf[1]\n"},
		"an attribute": {"nic \"p\" {\n  at = topology.t.leaf[1].port[\"x\"] # moved\n  b  = 1\n}\n", "nic \"p\" {\n  b = 1\n}\n"},
		"on one line":  {"nic \"p\" { at = x }\n", "nic \"p\" {}\n"},
		"a block":      {"# why\ntopology \"ring\" \"r\" {\n  a = topology.t.leaf\n}\nb = 1\n", "# why\nb = 1\n"},
	} {
		got, problem := Without("f.hcl", []byte(c.src), leave)
		if problem != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s", name, problem, got)
		}
	}
	if _, problem := Without("f.hcl", []byte("a = {"), leave); problem == nil {
		t.Error("what does not read has no problem")
	}
}
