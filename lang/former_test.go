package lang

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// formerValues are values of the attributes that have former names, in the native syntax and in JSON.
var formerValues = map[schema.Attr][2]string{
	schema.APriorityGroup: {`3`, `3`}, schema.ACap: {`"10G"`, `"10G"`}, schema.AMark: {`"host"`, `"host"`}, schema.ACongestion: {`"dcqcn"`, `"dcqcn"`},
	schema.APause: {`true`, `true`}, schema.AFacing: {`"node"`, `"node"`}, schema.AHashPolicy: {`"layer3+4"`, `"layer3+4"`}, schema.APaths: {`"ecmp"`, `"ecmp"`},
	schema.AWithFirmware: {`true`, `true`}, schema.ASegments: {`[segment.s]`, `["${segment.s}"]`}, schema.ANative: {`segment.s`, `"${segment.s}"`},
	schema.AIfname: {`"eth9"`, `"eth9"`},
}

// formerPlaces are the places in which a block of a kind takes attributes: "@" is where one is to stand. Those of JSON begin with a brace.
var formerPlaces = map[schema.Kind][]string{
	schema.Class: {
		"qos \"q\" {\n  trust = \"dscp\"\n  class \"c\" {\n    carries = \"other\"\n    @\n  }\n}",
		`{"qos": {"q": {"trust": "dscp", "class": {"c": {"carries": "other", @}}}}, "segment": {"s": {"vlan": 7}}}`,
	},
	schema.Switch: {
		"switch \"t\" {\n  @\n}", "switch \"t\" { @ }", "switch \"t\" {\n  for_each = toset([\"a\", \"b\"])\n  @\n}", "defaults \"switch\" {\n  @\n}",
		"switch \"t\" {\n  for_each = toset([\"a\", \"b\"])\n  except \"a\" {\n    @\n  }\n}",
		"switch \"t\" {\n}\noverride {\n  on      = switch.t\n  reason  = \"r\"\n  expires = \"2030-01-01\"\n  set     = { @ }\n}",
		`{"switch": {"t": {@}}, "segment": {"s": {"vlan": 7}}}`,
	},
	schema.Port: {
		"switch \"t\" {\n  port \"p[0-3]\" {\n    @\n  }\n}", "switch \"t\" {\n  port \"p[0-3]\" {\n    mtu = 9000 # so\n    @\n    vrf = \"x\"\n  }\n}",
		"defaults \"port\" {\n  @\n}", "switch \"t\" {\n  port \"p[0-3]\" {\n    except \"p1\" {\n      @\n    }\n  }\n}",
		"switch \"t\" {\n  for_each = toset([\"a\", \"b\"])\n  port \"p[0-3]\" {\n    @\n  }\n  except \"a\" {\n    port \"p0\" {\n      vrf = \"x\"\n    }\n  }\n}",
		"switch \"t\" {\n  for_each = toset([\"a\", \"b\"])\n  port \"p0\" {\n  }\n  except \"a\" {\n    port \"p0\" {\n      @\n    }\n  }\n}",
		"switch \"t\" {\n  port \"p0\" {\n  }\n}\noverride {\n  on      = switch.t.port[\"p0\"]\n  reason  = \"r\"\n  expires = \"2030-01-01\"\n  set = {\n    @\n  }\n}",
		"locals {\n  v = { a = 1 }\n}\nswitch \"t\" {\n  port \"p0\" {\n    mtu = local.v.a + 9000\n    @\n  }\n}",
		`{"switch": {"t": {"port": {"p[0-3]": {@}}}}, "segment": {"s": {"vlan": 7}}}`,
		`{"switch": {"t": {"port": {"p0": {}}}}, "segment": {"s": {"vlan": 7}}, "override": {"on": "switch.t.port[\"p0\"]", "reason": "r", "expires": "2030-01-01", "set": {@}}}`,
	},
	schema.LAG: {
		"switch \"t\" {\n  lag \"l\" {\n    members = [\"a\", \"b\"]\n    @\n  }\n}", `{"switch": {"t": {"lag": {"l": {"members": "a", @}}}}, "segment": {"s": {"vlan": 7}}}`,
	},
	schema.Interface: {
		"switch \"t\" {\n  interface \"v[1-2]\" {\n    on = \"p0\"\n    @\n    except \"v1\" {\n      vrf = \"x\"\n    }\n  }\n}",
		"switch \"t\" {\n  interface \"v[1-2]\" {\n    on = \"p0\"\n    except \"v1\" {\n      @\n    }\n  }\n}",
		`{"switch": {"t": {"interface": {"v": {"on": "p0", @}}}}, "segment": {"s": {"vlan": 7}}}`,
	},
	schema.Node: {"node \"n\" {\n  @\n}", "defaults \"node\" {\n  @\n}", `{"node": {"n": {@}}, "segment": {"s": {"vlan": 7}}}`},
	schema.NIC: {
		"node \"n\" {\n  nic \"e[0-1]\" {\n    @\n  }\n}", "node \"n\" {\n  nic \"e0\" { @ }\n}", "defaults \"nic\" {\n  @\n}",
		"node \"n\" {\n  nic \"e[0-1]\" {\n    except \"e1\" {\n      @\n    }\n  }\n}",
		"node \"n\" {\n  nic \"e0\" {\n  }\n}\noverride {\n  on      = \"node.n.nic[*]\"\n  reason  = \"r\"\n  expires = \"2030-01-01\"\n  set     = { @ }\n}",
		`{"node": {"n": {"nic": {"e0": {@}}}}, "segment": {"s": {"vlan": 7}}}`,
	},
	schema.Bond: {
		"node \"n\" {\n  bond \"b\" {\n    members = [\"e0\"]\n    mode = \"lacp\"\n    @\n  }\n}",
		`{"node": {"n": {"bond": {"b": {"members": "e0", "mode": "lacp", @}}}}, "segment": {"s": {"vlan": 7}}}`,
	},
	schema.Leaf: {
		"topology \"leaf_spine\" \"f\" {\n  leaf {\n    count = 2\n    @\n  }\n  spine {\n    count = 1\n  }\n}",
		"topology \"leaf_spine\" \"f\" {\n  leaf {\n    count = 2\n    except \"0\" {\n      @\n    }\n  }\n  spine {\n    count = 1\n  }\n}",
	},
	schema.Spine:   {"topology \"leaf_spine\" \"f\" {\n  leaf {\n    count = 2\n  }\n  spine {\n    count = 1\n    @\n  }\n}"},
	schema.Core:    {"topology \"clos3\" \"f\" {\n  leaf {\n    count = 2\n  }\n  spine {\n    count = 1\n  }\n  core {\n    count = 1\n    @\n  }\n}"},
	schema.Routing: {"routing \"r\" {\n  @\n}", `{"routing": {"r": {@}}, "segment": {"s": {"vlan": 7}}}`},
	schema.Wave:    {"rollout {\n  wave \"w\" {\n    @\n  }\n}", `{"rollout": {"wave": {"w": {@}}}, "segment": {"s": {"vlan": 7}}}`},
}

// formerLoad loads a source and returns the dump of what it became and what was found.
func formerLoad(text string) (string, diag.List, diag.List) {
	name := "a.roce.hcl"
	if text[0] == '{' {
		name = "a.roce.json"
	}
	c, diags := Load(Options{FS: fstest.MapFS{name: &fstest.MapFile{Data: []byte(text)}}, Workers: 1})
	return dump(c, false), diags, c.Former
}

// formerText puts an attribute, or a field of an object, into a place.
func formerText(at, name string, value [2]string) string {
	if at[0] == '{' {
		return strings.Replace(at, "@", fmt.Sprintf("%q: %s", name, value[1]), 1)
	}
	return strings.Replace(at, "@", name+" = "+value[0], 1) + "\nsegment \"s\" {\n  vlan = 7\n}\n"
}

// mended makes the edits of a finding.
func mended(text string, d diag.Diagnostic) string {
	edits := slices.Clone(d.Edits)
	slices.SortFunc(edits, func(a, b diag.Edit) int { return int(b.Span.Start) - int(a.Span.Start) })
	for _, e := range edits {
		text = text[:e.Span.Start] + e.New + text[e.Span.End():]
	}
	return text
}

// TestFormerNames: each attribute and field that had another name is taken under it in each place, comes to the same, and gives one warning whose
// edit writes the name of today. Both names together are refused.
func TestFormerNames(t *testing.T) {
	tried := 0
	try := func(what, at, name, old string, value [2]string) {
		tried++
		now, was := formerText(at, name, value), formerText(at, old, value)
		want, diags, found := formerLoad(now)
		if diags.HasErrors() || len(found) > 0 {
			t.Errorf("%s:\n%s\nunder its name: %v %v", what, now, diags, found)
			return
		}
		got, diags, found := formerLoad(was)
		if diags.HasErrors() || got != want {
			t.Errorf("%s:\n%s\nunder a former name it comes to %v\n%s\nand not to\n%s", what, was, diags, got, want)
		}
		if len(found) != 1 || found[0].Severity != diag.Warning || found[0].Summary != "`"+old+"` is called `"+name+"` since language 1" {
			t.Errorf("%s:\n%s\nit is said: %v", what, was, found)
		} else if text := mended(was, found[0]); text != now {
			t.Errorf("%s: the edits make it\n%s\nand not\n%s", what, text, now)
		}
		both := strings.Replace(now, name, old+" = "+value[0]+"\n "+name, 1)
		if at[0] == '{' {
			both = strings.Replace(now, `"`+name+`"`, `"`+old+`": `+value[1]+`, "`+name+`"`, 1)
		} else if strings.Contains(at, "{ @ }") {
			both = strings.Replace(now, "{ "+name, "{ "+old+" = "+value[0]+", "+name, 1)
			if !strings.Contains(at, "= { @ }") {
				return // a block on one line has one attribute
			}
		}
		if _, diags, _ = formerLoad(both); !diags.HasErrors() || !strings.Contains(diags[0].Summary, "twice") {
			t.Errorf("%s:\n%s\nunder both names: %v", what, both, diags)
		}
	}
	for k := schema.None + 1; k < schema.KindCount; k++ {
		for i := range schema.Def(k).Attrs {
			ad := &schema.Def(k).Attrs[i]
			for _, old := range ad.Former {
				value, ok := formerValues[ad.Num]
				if !ok || len(formerPlaces[k]) == 0 {
					t.Errorf("%s.%s: no value or place is known", k, ad.Num.Name())
				}
				for _, at := range formerPlaces[k] {
					try(k.String()+"."+ad.Num.Name(), at, ad.Num.Name(), old, value)
				}
			}
			for j := range ad.Type.Fields {
				f := &ad.Type.Fields[j]
				for _, old := range f.Former {
					value, object := formerValues[f.Num], ad.Num.Name()
					for _, at := range formerPlaces[k] {
						place := strings.Replace(at, "@", object+" = { @ }", 1)
						if at[0] == '{' {
							place = strings.Replace(at, "@", `"`+object+`": {@}`, 1)
						}
						try(k.String()+"."+object+"."+f.Num.Name(), place, f.Num.Name(), old, value)
						if at[0] != '{' && !strings.Contains(at, "override") { // of a value that has to be evaluated
							try(k.String()+"."+object+"."+f.Num.Name(), strings.Replace(at, "@", object+" = [{ @ }][0]", 1), f.Num.Name(), old, value)
						}
					}
				}
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d were tried", tried)
	}
}

// TestFormerReads: references read an attribute by either name, wherever its block wrote it by which, and the word in the reference is found too.
func TestFormerReads(t *testing.T) {
	const base = "node \"h\" {\n  for_each = toset([\"a\", \"b\"])\n  nic \"p\" {\n    %s = \"eth9\"\n  }\n}\nlocals {\n  n = [for k in [\"a\", \"b\"] : node.h[k].nic[\"p\"].%s]\n}\n" +
		"output \"o\" {\n  value = [local.n, node.h[\"a\"].nic[\"p\"].%s, \"${node.h[\"b\"].nic[\"p\"].%s}\"]\n}\nnode \"other\" {\n  nic \"p\" {\n    mac = node.h[\"a\"].nic[\"p\"].%s\n  }\n}\n"
	text := func(written, read string) string { return fmt.Sprintf(base, written, read, read, read, read) }
	outcome := func(s string) (string, diag.List, diag.List) {
		c, diags := Load(Options{FS: fstest.MapFS{"a.roce.hcl": &fstest.MapFile{Data: []byte(s)}}, Workers: 1})
		return dump(c, false) + fmt.Sprint(c.Outputs), diags, c.Former
	}
	want, diags, found := outcome(text("ifname", "ifname"))
	if diags.HasErrors() || len(found) > 0 {
		t.Fatal(diags, found)
	}
	for _, c := range [][2]string{{"device", "ifname"}, {"ifname", "device"}, {"device", "device"}} {
		s := text(c[0], c[1])
		got, diags, found := outcome(s)
		if diags.HasErrors() || got != want {
			t.Errorf("%v: %v\n%s\nand not\n%s", c, diags, got, want)
		}
		if len(found) != 1 {
			t.Errorf("%v: it is said: %v", c, found)
		} else if m := mended(s, found[0]); m != text("ifname", "ifname") {
			t.Errorf("%v: the edits make it\n%s", c, m)
		}
	}
}

// TestFormerFolded: a word that stands in many places of a file is one finding with all its edits.
func TestFormerFolded(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "switch \"t%d\" {\n  port \"p\" {\n    pause = true\n  }\n}\n", i)
	}
	_, _, found := formerLoad(b.String())
	if len(found) != 1 || len(found[0].Edits) != 500 || len(found[0].Notes) != 1 || !strings.Contains(found[0].Notes[0], "499 more places") {
		t.Errorf("%d findings", len(found))
	}
}
