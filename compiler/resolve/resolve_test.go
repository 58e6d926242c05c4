package resolve

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/schema"
)

func TestHostAddress(t *testing.T) {
	for _, c := range []struct {
		subnet string
		n      uint64
		want   string
	}{
		{"10.71.1.0/24", 11, "10.71.1.11"},
		{"10.71.1.0/24", 254, "10.71.1.254"},
		{"10.71.1.0/24", 255, ""},
		{"10.71.1.0/24", 256, ""},
		{"10.64.0.0/13", 300, "10.64.1.44"},
		{"10.0.0.0/31", 1, "10.0.0.1"},
		{"10.0.0.0/31", 2, ""},
		{"fd00::/64", 1 << 40, "fd00::100:0:0"},
		{"255.255.255.0/24", 1 << 63, ""},
	} {
		got, ok := hostAddress(netip.MustParsePrefix(c.subnet), c.n)
		if c.want == "" && ok || c.want != "" && (!ok || got.String() != c.want) {
			t.Errorf("host %d of %s: %v %v, want %q", c.n, c.subnet, got, ok, c.want)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, address string
		want             bool
	}{
		{`switch.tor`, `switch.tor`, true},
		{`switch.tor.port[Ethernet0]`, `switch.tor.port["Ethernet0"]`, true},
		{`node.gpu[*].nic[rail3]`, `node.gpu["gpu01"].nic["rail3"]`, true},
		{`node.gpu[*].nic[rail3]`, `node.gpu["gpu01"].nic["rail30"]`, false},
		{`module.pod*.node.*`, `module.pod[1].node.gpu["a"]`, true},
		{`*`, `anything`, true},
		{``, `x`, false},
		{`a*b*c`, `a-b-b-c`, true},
		{`a*b*c`, `a-b-b-`, false},
	} {
		if got := Match(c.pattern, c.address); got != c.want {
			t.Errorf("%s on %s: %v", c.pattern, c.address, got)
		}
	}
}

func TestBreakout(t *testing.T) {
	for text, want := range map[string]bool{"4x100G": true, "2x25G": true, "1x100G": false, "4x": false, "x100G": false, "4x100": false, "300x1G": false, "": false} {
		if _, _, ok := parseBreakout(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}

// load builds the fabric of one file.
func load(t *testing.T, text string) *fabric.Fabric {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(text)}}, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatalf("load: %+v", diags)
	}
	f, diags := Fabric(cfg)
	if diags.HasErrors() {
		t.Fatalf("resolve: %+v", diags)
	}
	return f
}

const contract = `
qos "q" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}
`

// TestOverrideOfADevice reaches its ports, and messages point at its set.
func TestOverrideOfADevice(t *testing.T) {
	f := load(t, contract+`
node "n" {
  os = "ubuntu/24.04"
  nic "p0" {
    model = "nvidia/connectx-6-dx"
  }
}
override {
  on      = node.n
  set     = { qos = qos.q, mtu = 4200 }
  reason  = "r"
  expires = "2999-01-01"
}
`)
	p := &f.Ports[1]
	if p.MTU != 4200 || p.Profile == 0 {
		t.Errorf("MTU %d, profile %d", p.MTU, p.Profile)
	}
	if l := f.PortLabel(1, schema.AMTU, ""); l.Where != "override" {
		t.Errorf("the MTU is said to come from %q", l.Where)
	}
}

// A glob of ports reaches those that no block speaks of, and one that names
// nothing is refused.
func TestOverrideByGlob(t *testing.T) {
	source := contract + `
switch "s" {
  model = "nvidia/sn2100"
  os    = "sonic/202505"
  port "Ethernet0" {
    speed = "100G"
  }
}
override {
  on      = "switch.s.port[Ethernet*]"
  set     = { mtu = 4200 }
  accept  = "cable_list"
  reason  = "r"
  expires = "2999-01-01"
}
`
	f := load(t, source)
	for p := 1; p < len(f.Ports); p++ {
		if f.Ports[p].MTU != 4200 {
			t.Errorf("%s has MTU %d", f.PortName(fabric.PortID(p)), f.Ports[p].MTU)
		}
	}
	if n := len(f.Overrides[0].Ports); n != len(f.Ports)-1 {
		t.Errorf("accepted on %d ports of %d", n, len(f.Ports)-1)
	}
	want := `"switch.s.port[swp*]" matches nothing | "switch.s.port[swp*]"`
	if got := refused(t, strings.Replace(source, "port[Ethernet*]", "port[swp*]", 1)); !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

// TestBondMakesItsLAG: a bond cabled to a pair of switches makes one LAG on
// each, with one number, and the peer link carries what the pair carries.
func TestBondMakesItsLAG(t *testing.T) {
	f := load(t, contract+`
segment "s" {
  vlan = 5
  qos  = qos.q
}
switch "t" {
  for_each = toset(["a", "b"])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  port "Ethernet8" {
    tagged = segment.s
  }
}
mlag "pair" {
  switches  = switch.t
  peer_link = "Ethernet[120-124:4]"
}
node "n" {
  os = "ubuntu/24.04"
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
  }
  bond "bond0" {
    mode    = "lacp"
    members = "p[0-1]"
    tagged  = segment.s
  }
}
link "up" {
  for_each = { p0 = "a", p1 = "b" }
  ends     = [node.n.nic[each.key], switch.t[each.value].port["Ethernet8"]]
}
`)
	var lags []string
	for i := 1; i < len(f.LAGs); i++ {
		l := &f.LAGs[i]
		lags = append(lags, f.Text(f.Devices[l.Device].Name)+":"+f.Text(l.Name))
		if f.Text(l.Name) == "PortChannel8" && l.MLAG == 0 {
			t.Errorf("%s is not a leg of the pair", lags[len(lags)-1])
		}
	}
	slices.Sort(lags)
	if got := strings.Join(lags, " "); got != "a:PortChannel120 a:PortChannel8 b:PortChannel120 b:PortChannel8 n:bond0" {
		t.Errorf("LAGs: %s", got)
	}
	for id := 1; id < len(f.Ports); id++ {
		if p := &f.Ports[id]; p.Role == fabric.RolePeerLink && len(f.VLANSets[p.VLANs]) != 1 {
			t.Errorf("%s carries %v", f.PortName(fabric.PortID(id)), f.VLANSets[p.VLANs])
		}
	}
}

// TestNothingUndeclaredIsLossless: whatever marks the classes declare, every
// other DSCP and PCP belongs to the default class.
func TestNothingUndeclaredIsLossless(t *testing.T) {
	f := load(t, contract+`
node "n" {
  os  = "ubuntu/24.04"
  qos = qos.q
  nic "p0" {
    model = "nvidia/connectx-6-dx"
  }
}
`)
	p := &f.Profiles[f.Ports[1].Profile]
	for d, priority := range p.DSCP {
		if want := map[bool]uint8{true: 3, false: 0}[d == 26]; priority != want {
			t.Errorf("DSCP %d has priority %d, want %d", d, priority, want)
		}
	}
	if p.PFC != 1<<3 {
		t.Errorf("PFC %b", p.PFC)
	}
}

// TestExpectedVersions: what is neither a version nor a condition is said once
// for each text, where it is written.
func TestExpectedVersions(t *testing.T) {
	source := func(node, sw string) string {
		return box + strings.Replace(nodes(3, 2), `speed = "400G"`, "speed = \"400G\"\n"+node, 1) + `
switch "s" {
  model = "t/x"
  os    = "cumulus-linux/5.11"
  ` + sw + `
}
`
	}
	f := load(t, source(`firmware = "28.43.*"`+"\n"+`driver = ">= 24.10, < 25"`, `firmware = "~> 5.2"`))
	if got := f.Text(f.Devices[1].Firmware) + f.Text(f.NICs[1].Firmware) + f.Text(f.NICs[1].Driver); got != "~> 5.228.43.*>= 24.10, < 25" {
		t.Errorf("read %q", got)
	}
	want := strings.Join([]string{
		`firmware: "any" is neither a version nor a condition on one | "any"`,
		`firmware: "newest" is neither a version nor a condition on one | "newest"`,
		`driver: "28.*.1" is neither a version nor a condition on one | ">= 2, 28.*.1"`,
	}, "\n")
	if diff := cmp.Diff(want, refused(t, source(`firmware = "newest"`+"\n"+`driver = ">= 2, 28.*.1"`, `firmware = "any"`))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
