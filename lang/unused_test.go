package lang

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestUnused: what nothing names is listed, and whatever names something keeps it off
// the list, wherever and in whichever syntax it stands.
func TestUnused(t *testing.T) {
	const all = `
variable "v" {
  default = 5
  validation {
    condition     = var.v > 0
    error_message = "No."
  }
}
locals {
  l = 5
}
qos "q" {
  class "default" {
    priority = 0
    default  = true
  }
}
segment "s" {
  vlan = 7
}
`
	const none = "var.v local.l qos.q segment.s"
	for _, x := range []struct{ name, more, want string }{
		{"nothing names them; a validation is no use", ``, none},
		{"references", "switch \"a\" {\n  os = \"sonic/202505\"\n  qos = qos.q\n  port \"Ethernet0\" {\n    untagged = segment.s\n  }\n}", "var.v local.l"},
		{"references by text", "switch \"a\" {\n  os = \"sonic/202505\"\n  qos = qos[\"q\"]\n  port \"Ethernet0\" {\n    tagged = [segment[\"s\"]]\n  }\n}", "var.v local.l"},
		{"expressions", "output \"o\" {\n  value = [var.v + local.l, qos.q.name, segment.s.vlan]\n}", ""},
		{"texts", "output \"o\" {\n  value = \"${var.v}-${local.l}\"\n}", "qos.q segment.s"},
		{"a block that is not there", "switch \"a\" {\n  for_each = toset([])\n  qos = qos.q\n  role = \"${var.v}\"\n}", "local.l segment.s"},
		{"the side that is not taken", "output \"o\" {\n  value = true ? 1 : var.v + local.l\n}", "qos.q segment.s"},
		{"a name that is computed", "output \"o\" {\n  value = segment[\"${local.l == 5 ? \"s\" : \"t\"}\"].vlan\n}", "var.v qos.q"},
		{"a name of a loop is none of these", "output \"o\" {\n  value = [for var in [{ v = 1 }] : var.v]\n}", none},
		{"all of them", "output \"o\" {\n  value = keys(local)\n}", "var.v qos.q segment.s"},
		{"a name in a check", "check \"c\" {\n  assert {\n    condition     = var.v > local.l\n    error_message = qos.q.name\n  }\n}", "segment.s"},
		{"an argument of a module", "module \"m\" {\n  source = \"./m\"\n  size = var.v\n}", "local.l qos.q segment.s"},
		{"a module that reads none", "module \"m\" {\n  source = \"./idle\"\n  size = var.v\n}", "local.l qos.q segment.s module.m.var.size"},
		{"two of those", "module \"m\" {\n  for_each = toset([\"a\", \"b\"])\n  source = \"./idle\"\n  size = var.v\n}", "local.l qos.q segment.s module.m[\"a\"].var.size"},
		{"one that is switched off", "qos \"off\" {\n  enabled = false\n  class \"default\" {\n    default = true\n  }\n}", none},
		{"a qos as another's base", "qos \"more\" {\n  from = qos.q\n}\nswitch \"a\" {\n  os = \"sonic/202505\"\n  qos = qos.more\n}", "var.v local.l segment.s"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			modules := fstest.MapFS{
				"m/a.roce.hcl":    {Data: []byte("variable \"size\" {}\noutput \"o\" {\n  value = var.size\n}\n")},
				"idle/a.roce.hcl": {Data: []byte("variable \"size\" {}\n")},
			}
			for name, files := range map[string][2]string{
				"one file": {all + x.more + "\n", ""}, "the other way round": {x.more + "\n" + all, ""},
				"two files": {all, x.more + "\n"}, "two files, the other way round": {x.more + "\n", all},
			} {
				fsys := fstest.MapFS{"a.roce.hcl": {Data: []byte(files[0])}, "b.roce.hcl": {Data: []byte(files[1])}}
				for n, f := range modules {
					fsys[n] = f
				}
				if d := cmp.Diff(strings.Fields(x.want), unusedIn(t, fsys)); d != "" {
					t.Errorf("%s (-want +got)\n%s", name, d)
				}
			}
		})
	}
}

// TestUnusedHardware: a block of hardware is used where a device, a cable, another block
// of hardware or capability() names it, in whichever folder.
func TestUnusedHardware(t *testing.T) {
	const hardware = `
switch_model "x/sw" {
  asic  = "x-chip"
  ports = { sonic = "Ethernet[0-3]" }
}
asic "x-chip" {
  family = "x"
}
nic_model "x/nic" {
  vendor = "x"
  driver = "mlx5"
}
media "x-cable" {}
`
	for _, x := range []struct{ name, more, want string }{
		{"nothing names them", "", `media.x-cable nic_model["x/nic"] switch_model["x/sw"]`},
		{"a switch", "switch \"a\" {\n  os = \"sonic/202505\"\n  model = \"x/sw\"\n}", `media.x-cable nic_model["x/nic"]`},
		{"a text that is computed", "switch \"a\" {\n  os = \"sonic/202505\"\n  model = \"${\"x\"}/sw\"\n}", `media.x-cable nic_model["x/nic"]`},
		{"defaults", "defaults \"nic\" {\n  model = \"x/nic\"\n}\ndefaults \"link\" {\n  cable = { media = \"x-cable\" }\n}", `switch_model["x/sw"]`},
		{"a folder below", "module \"m\" {\n  source = \"./m\"\n}", `media.x-cable nic_model["x/nic"]`},
		{"capability", "output \"o\" {\n  value = capability(\"x/nic\", \"driver\")\n}", `media.x-cable switch_model["x/sw"]`},
		{"a list of cables", "cabling \"c\" {\n  file = \"c.csv\"\n  format = \"csv\"\n}", `nic_model["x/nic"] switch_model["x/sw"]`},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c, diags := Load(Options{Workers: 1, FS: fstest.MapFS{
				"a.roce.hcl":   {Data: []byte(hardware + x.more + "\n")},
				"m/a.roce.hcl": {Data: []byte("switch \"a\" {\n  os = \"sonic/202505\"\n  model = \"x/sw\"\n}\n")},
				"c.csv":        {Data: []byte("a_device,a_port,b_device,b_port,media\na,p0,b,p0,X-Cable\n")},
			}})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			var got []string
			for _, u := range c.Unused {
				got = append(got, u.Address)
			}
			slices.Sort(got)
			if d := cmp.Diff(strings.Fields(x.want), got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestUnusedJSON is the same for the other syntax.
func TestUnusedJSON(t *testing.T) {
	const base = `"variable": {"v": {"default": 5}}, "locals": {"l": 5}, "qos": {"q": {"class": {"default": {"default": true}}}}, "segment": {"s": {"vlan": 7}}`
	for _, x := range []struct{ more, want string }{
		{``, "var.v local.l qos.q segment.s"},
		{`, "switch": {"a": {"os": "sonic/202505", "qos": "qos.q", "role": "${var.v}-${local.l}", "port": {"Ethernet0": {"native": "segment.s"}}}}`, ""},
		{`, "switch": {"a": {"os": "sonic/202505", "port": {"Ethernet0": {"segments": ["segment.s"], "qos": "${qos.q}"}}}}`, "var.v local.l"},
	} {
		got := unusedIn(t, fstest.MapFS{"a.roce.json": {Data: []byte("{" + base + x.more + "}")}})
		if d := cmp.Diff(strings.Fields(x.want), got); d != "" {
			t.Errorf("%s (-want +got)\n%s", x.more, d)
		}
	}
}

// unusedIn are the addresses of what a configuration declares and never names, each
// shown at the line that declares it.
func unusedIn(t *testing.T, fsys fstest.MapFS) []string {
	t.Helper()
	c, diags := Load(Options{FS: fsys, Workers: 2})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got := []string{}
	for _, u := range c.Unused {
		got = append(got, u.Address)
		if at := textAt(fsys, c, u.Span); !strings.Contains(at, u.Name) {
			t.Errorf("%s is shown at %q", u.Address, at)
		}
	}
	order := []string{"var.v", "local.l", "qos.q", "segment.s"} // files are read in the order of their names
	slices.SortStableFunc(got, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	if i := slices.IndexFunc(got, func(a string) bool { return slices.Contains(order, a) }); i > 0 {
		got = append(got[i:], got[:i]...)
	}
	return got
}
