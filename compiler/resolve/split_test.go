package resolve

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
)

func TestParseMode(t *testing.T) {
	for text, want := range map[string]splitMode{
		"4x25G[10G]":          {count: 4, mbps: 25000, also: []uint32{10000}, lanes: 8},
		"1x100G(4)":           {count: 1, mbps: 100000, lanes: 4},
		"4x25G(4)[10G,1G]":    {count: 4, mbps: 25000, also: []uint32{10000, 1000}, lanes: 4},
		"2x200G[100G,40G](8)": {count: 2, mbps: 200000, also: []uint32{100000, 40000}, lanes: 8},
		"2x5000":              {count: 2, mbps: 5000, lanes: 8},
	} {
		want.text = text
		got, ok := parseMode(text, 8)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(splitMode{})); !ok || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", text, ok, diff)
		}
	}
	for _, text := range []string{"", "x", "4x", "0x25G", "4xG", "4x25G[", "4x25G(a)", "2x25G(2)+1x50G(2)", "4x25G]10G["} {
		if m, ok := parseMode(text, 8); ok {
			t.Errorf("%q is read as %+v", text, m)
		}
	}
}

// splitSwitch is a switch of a model of 8 lanes per port, two of which are split.
func splitSwitch(first, second, modes string) string {
	return `
asic "x/chip" {
  family = "chip"
  source = "test"
}
switch_model "x/box" {
  asic      = "x/chip"
  ports     = { sonic = "Ethernet[0-24:8]" }
  lanes     = 8
  breakouts = {
    "Ethernet[0-16:8]" = {
      lanes = "[41-48,1-16]"
      index = "[1-3]"
      modes = { ` + modes + ` }
    }
  }
  source = "test"
}
switch "s" {
  model = "x/box"
  os    = "sonic/202411"
  port "Ethernet[0-8:8]" { breakout = "` + first + `" }
  port "Ethernet24" { breakout = "` + second + `" }
}
`
}

const someModes = `"2x200G[100G]" = "etp[1-3][a-b]", "2x100G(4)" = "low[1-3][a-b]", "4x100G[50G]" = ["one[a-d]", "two[a-d]", "three[a-d]"]`

func TestPlatform(t *testing.T) {
	type part struct{ Mode, Name, Lanes, Alias string }
	parts := func(f *fabric.Fabric) []part {
		var list []part
		for p := 1; p < len(f.Ports); p++ {
			b, n := f.SplitOf(fabric.PortID(p))
			if b == nil {
				continue
			}
			x := part{Name: f.PortName(fabric.PortID(p)), Mode: f.Text(b.Mode)}
			if b.Mode != 0 {
				x.Lanes, x.Alias = f.Text(b.Parts[n].Lanes), f.Text(b.Parts[n].Alias)
			}
			list = append(list, x)
		}
		return list
	}
	for first, want := range map[string][]part{
		"2x200G": { // a mode of that speed
			{"2x200G[100G]", "s/Ethernet0", "41,42,43,44", "etp1a"},
			{"2x200G[100G]", "s/Ethernet4", "45,46,47,48", "etp1b"},
			{"2x200G[100G]", "s/Ethernet8", "1,2,3,4", "etp2a"},
			{"2x200G[100G]", "s/Ethernet12", "5,6,7,8", "etp2b"},
		},
		"2x100G": { // one that leaves half of the lanes idle is nearer than another speed
			{"2x100G(4)", "s/Ethernet0", "41,42", "low1a"},
			{"2x100G(4)", "s/Ethernet2", "43,44", "low1b"},
			{"2x100G(4)", "s/Ethernet8", "1,2", "low2a"},
			{"2x100G(4)", "s/Ethernet10", "3,4", "low2b"},
		},
		"4x50G": { // another speed of a mode
			{"4x100G[50G]", "s/Ethernet0", "41,42", "onea"},
			{"4x100G[50G]", "s/Ethernet2", "43,44", "oneb"},
			{"4x100G[50G]", "s/Ethernet4", "45,46", "onec"},
			{"4x100G[50G]", "s/Ethernet6", "47,48", "oned"},
			{"4x100G[50G]", "s/Ethernet8", "1,2", "twoa"},
			{"4x100G[50G]", "s/Ethernet10", "3,4", "twob"},
			{"4x100G[50G]", "s/Ethernet12", "5,6", "twoc"},
			{"4x100G[50G]", "s/Ethernet14", "7,8", "twod"},
		},
	} {
		t.Run(first, func(t *testing.T) {
			got := parts(load(t, splitSwitch(first, "2x50G", someModes)))
			// The data do not have Ethernet24: its children are named by the model's lanes.
			want = append(want, part{Name: "s/Ethernet24"}, part{Name: "s/Ethernet28"})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlatformRefused(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"no mode": {splitSwitch("8x10G", "2x50G", someModes), "port Ethernet0 of x/box cannot be split 8x10G"},
		"aliases": {splitSwitch("2x50G", "2x50G", `"2x50G" = "etp[1-3]"`), "mode 2x50G of switch_model x/box has 3 aliases for 3 ports split in 2"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(c.src)}}})
			if diags.HasErrors() {
				t.Fatalf("load: %+v", diags)
			}
			_, diags = Fabric(cfg)
			if !diags.HasErrors() || diags[0].Summary != c.want || len(diags[0].Labels) == 0 {
				t.Errorf("got %+v, want %q", diags, c.want)
			}
		})
	}
}

// TestReplacedPorts: what a switch says of its ports is said of the children of a
// split port and not of the whole, which is not there; what its own block says of
// the whole port stays, for the target to refuse.
func TestReplacedPorts(t *testing.T) {
	for _, c := range []struct{ block, whole string }{
		{`breakout = "4x100G"`, ""},
		{`name = "swp1"
    breakout = "4x100G"`, ""},
		{`breakout = "4x100G"
    mtu      = 9000`, "swp1"},
		{`breakout = "4x100G"
    address  = ["10.0.0.0/31"]`, "swp1"},
	} {
		f := load(t, contract+`
switch "leaf" {
  model = "nvidia/sn4700"
  os    = "cumulus-linux/5.15"
  qos   = qos.q
  port "swp1" {
    `+c.block+`
  }
  port "swp1s[0-3]" { admin = "up" }
}
`)
		var managed []string
		for p := 1; p < len(f.Ports); p++ {
			if row := &f.Ports[p]; row.Manage == fabric.Full && row.Flags&fabric.Implicit == 0 && f.Profiles[row.Profile].PFC != 0 {
				managed = append(managed, f.Text(row.Name))
			}
		}
		if want := strings.Fields(c.whole + " swp1s0 swp1s1 swp1s2 swp1s3"); !slices.Equal(managed, want) {
			t.Errorf("%s: %v are told something, want %v", c.block, managed, want)
		}
	}
}
