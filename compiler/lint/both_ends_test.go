package lint_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
)

// lineOf is the source line that a label points at.
func lineOf(text string, l diag.Label) string {
	start := strings.LastIndexByte(text[:l.Span.Start], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return strings.Join(strings.Fields(line), " ")
}

// TestBothEnds: wherever one host of four is given something else than the others, the finding is about that host, its first label is the line
// that makes the host so, and the second one the line that makes the other end what it is: by a condition, an exception or an override, for
// one key or for a block of its own, in another contract or in the NIC.
func TestBothEnds(t *testing.T) {
	const segment = "segment \"other\" {\n  vlan = 300\n  subnet = \"10.30.0.0/24\"\n  qos = qos.roce\n}\n"
	carriers := func(attr, value, top string) map[string]string {
		host := func(nic, node, top string) string {
			return lint.Edit(lint.FourNodes("", nic), "}\nlink \"", node+"}\n"+top+"link \"")
		}
		own := lint.Edit(host("", "", top), "n2 = 2, ", "", "link \"tor\"", `node "m" {
  os   = "ubuntu/24.04"
  slot = 2
  nic "rail0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
    #SAID
  }
}
link "m" {
  ends  = [node.m.nic["rail0"], switch.tor.port["Ethernet4"]]
  cable = { media = "dac", length = "3m" }
}
link "tor"`, `n2 = "Ethernet4", `, "")
		own = strings.Replace(own, "#SAID", attr+" = "+value, 1)
		if before := "    " + attr + "  = "; strings.Contains(own, before) || attr == "untagged" || attr == "speed" || attr == "fec" {
			own = "" // the block writes it already
		}
		all := map[string]string{
			"except":   host("", "  except \"n2\" {\n    reason = \"x\"\n    nic \"rail0\" {\n      "+attr+" = "+value+"\n    }\n  }\n", top),
			"override": host("", "", top+"override {\n  on = node.n[\"n2\"].nic[\"rail0\"]\n  set = { "+attr+" = "+value+" }\n  reason = \"x\"\n  expires = \"2027-01-01\"\n}\n"),
		}
		if own != "" {
			all["a block of its own"] = own
			all["condition"] = host(attr+" = self.name == \"n2\" ? "+value+" : null", "", top)
		}
		return all
	}
	contract := func(class string) string {
		return "qos \"old\" {\n  from = qos.roce\n  class \"rdma\" {\n    " + class + "\n  }\n}\n"
	}
	for _, x := range []struct {
		name, rule, attr, value, top string
		here, there                  string // in the line of the host, and in that of the switch
	}{
		{"DSCP of another contract", "ROCE205", "qos", "qos.old", contract("dscp = [46]"), "dscp = [46]", "dscp = [26]"},
		{"priority of another contract", "ROCE205", "qos", "qos.old", contract("priority = 4"), "priority = 4", "priority = 3"},
		{"PFC of another contract", "ROCE301", "qos", "qos.old", contract("priority = 4"), "priority = 4", "priority = 3"},
		{"lossy in another contract", "ROCE301", "qos", "qos.old", contract("lossless = false"), "lossless = false", "priority = 3"},
		{"share of another contract", "ROCE225", "qos", "qos.old", contract("bandwidth = 20"), "bandwidth = 20", "bandwidth = 50"},
		{"share inherited by another contract", "ROCE225", "qos", "qos.old", contract("bandwidth = 20") + "qos \"older\" {\n  from = qos.old\n  class \"rdma\" {\n    latency_budget = \"1ms\"\n  }\n}\n", "bandwidth = 20", "bandwidth = 50"},
		{"map", "ROCE205", "dscp_map", "{ 26 = 5 }", "", "dscp_map", "priority = 3"},
		{"PFC", "ROCE301", "pfc", "[4]", "", "pfc = ", "priority = 3"},
		{"FEC", "ROCE102", "fec", `"none"`, "", `fec = "none"`, `fec = "rs"`},
		{"speed", "ROCE101", "speed", `"25G"`, "", `speed = "25G"`, `speed = "100G"`},
		{"native VLAN", "ROCE602", "untagged", "segment.other", segment, "untagged = segment.other", "untagged = segment.storage"},
		{"MTU", "ROCE806", "mtu", "1500", "", "1500", "mtu = 9000"},
		{"address", "ROCE614", "address", `"10.100.0.11/24"`, "", `"10.100.0.11/24"`, "n1 = 1"},
		{"shut", "ROCE831", "admin", `"down"`, "", `"down"`, `port "Ethernet[4-12:4]"`},
	} {
		all := carriers(x.attr, x.value, x.top)
		if x.name == "share inherited by another contract" {
			all = carriers(x.attr, "qos.older", x.top)
		}
		for _, by := range slices.Sorted(maps.Keys(all)) {
			t.Run(x.name+" by "+by, func(t *testing.T) {
				t.Parallel()
				text := all[by]
				found := compiled(t, text).All()
				i := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Rule == x.rule })
				if i < 0 || len(found[i].Labels) < 2 {
					t.Fatalf("%s is not told of two places:\n%v", x.rule, found)
				}
				d := &found[i]
				if who, _, _ := strings.Cut(d.Address, "]."); who != `node.n["n2"` && !strings.HasPrefix(d.Address, "node.m.") {
					t.Errorf("it is about %s", d.Address)
				}
				for k, want := range []string{x.here, x.there} {
					if got := lineOf(text, d.Labels[k]); !strings.Contains(got, want) {
						t.Errorf("label %d is at %q, which does not say %s", k+1, got, want)
					}
				}
				if x.attr == "qos" && (len(d.Labels) < 3 || !strings.Contains(lineOf(text, d.Labels[2]), "qos.old")) {
					t.Error("what gives the host that contract is not shown")
				}
				if d.Labels[0].Span == d.Labels[1].Span {
					t.Errorf("both labels are at %q", lineOf(text, d.Labels[0]))
				}
			})
		}
	}
}

// TestOrderOfEnds: which of two ends comes first follows from what is said, not from the order of the blocks. In a tie it is the end that
// deviates from its own contract, by its own words or by having another contract than its segment.
func TestOrderOfEnds(t *testing.T) {
	node, rest, _ := strings.Cut(lint.TwoNodes("")[strings.Index(lint.TwoNodes(""), `node "n" {`):], "link \"tor\"")
	before := lint.TwoNodes("")[:strings.Index(lint.TwoNodes(""), `switch "tor" {`)]
	tor := lint.TwoNodes("")[len(before):strings.Index(lint.TwoNodes(""), `node "n" {`)]
	link := "link \"tor\"" + rest
	old := "qos \"old\" {\n  from = qos.roce\n  class \"rdma\" {\n    priority = 4\n  }\n}\n"
	for name, x := range map[string]struct{ tor, node, rule, first string }{
		"by address":            {tor, strings.Replace(strings.Replace(node, `"100G"`, `"25G"`, 1), `"rs"`, `"rs"`, 1), "ROCE101", "node."},
		"its own map":           {strings.ReplaceAll(tor, "untagged =", "dscp_map = { 26 = 5 }\n    untagged ="), node, "ROCE205", "switch."},
		"another contract":      {strings.ReplaceAll(tor, "untagged =", "qos      = qos.old\n    untagged ="), node, "ROCE205", "switch."},
		"another contract, PFC": {strings.ReplaceAll(tor, "untagged =", "qos      = qos.old\n    untagged ="), node, "ROCE301", "switch."},
		"of the hosts":          {tor, strings.Replace(node, "untagged =", "qos    = qos.old\n    untagged =", 1), "ROCE205", "node."},
		"one port of two":       {strings.Replace(tor, `"100G"`, `"25G"`, 1), node, "ROCE101", "switch."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, text := range []string{before + old + x.tor + x.node + link, before + old + x.node + x.tor + link, link + x.node + x.tor + old + before} {
				found := compiled(t, text).All()
				at := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Rule == x.rule })
				if at < 0 {
					t.Fatalf("nothing is told of %s:\n%v", x.rule, found)
				}
				if got := found[at].Address; !strings.HasPrefix(got, x.first) {
					t.Errorf("order %d: %s is first", i, got)
				}
			}
		})
	}
}

// TestQueueMaps: what a port's own queue map does is told at that map, and a class that switches the marking of a queue off is blamed for it, not
// its neighbour. A line that writes a map for one key and null for the others is no map of those.
func TestQueueMaps(t *testing.T) {
	bulk := func(queue, ecn string) []string {
		return []string{`  class "cnp" {`, "  class \"bulk\" {\n    carries   = \"other\"\n    lossless  = true\n    dscp      = [10]\n    priority  = 4\n    bandwidth = 10\n" +
			"    queue     = " + queue + "\n    ecn       = " + ecn + "\n  }\n  class \"cnp\" {", "bandwidth = 50", "bandwidth = 40"}
	}
	with := func(port string, edits ...string) string { return lint.Edit(lint.TwoNodes(port), edits...) }
	for name, x := range map[string]struct {
		text, rule string
		lines      []string // nil: the rule is silent
	}{
		"a share":                                 {with("queue_map = { 3 = 5 }"), "ROCE202", []string{"queue_map = { 3 = 5 }", "bandwidth = 50"}},
		"a pause":                                 {with("queue_map = { 3 = 5 }"), "ROCE310", []string{"queue_map = { 3 = 5 }"}},
		"a marking":                               {with("queue_map = { 3 = 5 }"), "ROCE404", []string{"queue_map = { 3 = 5 }", `ecn = "auto"`}},
		"the marking of a neighbour":              {with("queue_map = { 3 = 4 }\n    pfc_queue_map = { 3 = 4 }", bulk("4", `"off"`)...), "ROCE404", []string{"queue_map = { 3 = 4 }", `ecn = "off"`}},
		"the marking of a neighbour by contract":  {with("", bulk("3", `"off"`)...), "ROCE404", nil},
		"and who switches it off":                 {with("", bulk("3", `"off"`)...), "ROCE230", []string{`ecn = "off"`, `ecn = "auto"`}},
		"CNPs in another queue":                   {with("queue_map = { 6 = 1 }"), "ROCE220", []string{"queue_map = { 6 = 1 }"}},
		"a lossy class beside it":                 {with("queue_map = { 6 = 3 }"), "ROCE227", []string{"queue_map = { 6 = 3 }"}},
		"a queue map of another key of the block": {lint.FourNodes("", `queue_map = self.name == "n2" ? { 3 = 5 } : null`+"\n    pfc_queue_map = self.name == \"n1\" ? { 3 = 5 } : self.name == \"n2\" ? { 3 = 5 } : null"), "ROCE310", []string{`pfc_queue_map = self.name == "n1" ? { 3 = 5 } : self.name == "n2" ? { 3 = 5 } : null`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := compiled(t, x.text).All()
			at := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Rule == x.rule })
			if (at < 0) != (x.lines == nil) {
				t.Fatalf("%s:\n%v", x.rule, found)
			}
			for k, want := range x.lines {
				if len(found[at].Labels) <= k {
					t.Fatalf("it has no label %d: %v", k+1, found[at])
				}
				if got := lineOf(x.text, found[at].Labels[k]); !strings.Contains(got, want) {
					t.Errorf("label %d is at %q, which does not say %s", k+1, got, want)
				}
			}
		})
	}
}

// TestOverlaySwitch: a link under an overlay whose MTU is too small at one end is told of that end.
func TestOverlaySwitch(t *testing.T) {
	for port, address := range map[string]string{`port "Ethernet0" {
    speed   = "100G"
    fec     = "rs"
    mtu     = 9050`: "switch.spine.port[\"Ethernet0\"]", `port "Ethernet8" {
    speed   = "100G"
    fec     = "rs"
    mtu     = 9050`: "switch.tor.port[\"Ethernet8\"]"} {
		text := lint.Edit(lint.Overlaid("9050"), port, strings.Replace(port, "9050", "9000", 1))
		found := compiled(t, text).All()
		at := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Rule == "ROCE826" })
		if at < 0 {
			t.Fatalf("nothing is told:\n%v", found)
		}
		if got := found[at].Address; got != address {
			t.Errorf("%s is told of %s", address, got)
		}
	}
}

// TestShutCable: a port that is shut and has a cable is told as that, not as a buffer that could be freed.
func TestShutCable(t *testing.T) {
	found := compiled(t, swap(t, lint.FourNodes(`admin = "down"`, ``), "nvidia/sn3700", "dell/s5232f-on"))
	told := func(rule string) bool {
		return slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule == rule })
	}
	if !told("ROCE831") || told("ROCE515") {
		t.Errorf("it is told as\n%v", found)
	}
}
