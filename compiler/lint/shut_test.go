package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/compiler/paths"
)

// TestShut: what ports that are shut part is told at them.
func TestShut(t *testing.T) {
	rules := "ROCE805 ROCE827"
	bridged := lint.TwoTors("", dac, "")
	for _, x := range []struct {
		name, text string
		want       []string
		labels     int // at enabled
	}{
		{"no port", lint.NetOf("r0 r1", "r0-r1", `model = "ecmp"`), nil, 0},
		{
			"one port of a switch", shutPort(lint.NetOf("r0 r1 r2", "r0-r1 r1-r2", `model = "ecmp"`), "r0", "Ethernet4"),
			[]string{"ROCE805: no path from the nodes of r0 to those of r1: what joins them is shut"},
			1,
		},
		{"a detour is left", shutPort(lint.NetOf("r0 r1 r2", "r0-r1 r1-r2 r0-r2", `model = "ecmp"`), "r0", "Ethernet4"), nil, 0},
		{
			"every NIC", lint.TwoNodesEdit(`model    = "nvidia/connectx-6-dx"`, "model    = \"nvidia/connectx-6-dx\"\n    admin = \"down\""),
			[]string{"ROCE827: all 2 NICs of segment storage that carry class rdma are shut"},
			1,
		},
		{"every port of the switch", lint.TwoNodesEdit(`fec      = "rs"`, "fec      = \"rs\"\n    admin = \"down\"", `port "Ethernet4" {`,
			"port \"Ethernet4\" {\n    admin = \"down\""), []string{"ROCE827: all 2 NICs of segment storage that carry class rdma are shut"}, 1},
		{
			"one of two NICs", lint.TwoNodes("admin = \"down\""),
			[]string{"ROCE827: n2/rail0 is alone with class rdma: 1 of 2 NICs of segment storage are shut"},
			1,
		},
		{"one of four NICs", lint.FourNodes("admin = \"down\"", ""), nil, 0},
		{"a port without a cable", lint.TwoNodes("}\n  port \"Ethernet8\" {\n    admin = \"down\""), nil, 0},
		{"a bridged link", swap(t, bridged, `mtu      = 9216`, "mtu      = 9216\n    admin = \"down\""), nil, 0}, // no node is behind it
	} {
		t.Run(x.name, func(t *testing.T) {
			all := compiled(t, x.text)
			if diff := cmp.Diff(x.want, findings(all, rules)); diff != "" {
				t.Error(diff)
			}
			n := 0
			for _, d := range all {
				if strings.Contains(" "+rules+" ", " "+d.Rule+" ") {
					for _, l := range d.Labels {
						if x.text[l.Span.Start:l.Span.End()] == `"down"` {
							n++
						}
					}
				}
			}
			if n != x.labels {
				t.Errorf("%d labels at what shuts the port, want %d", n, x.labels)
			}
		})
	}
}

func shutPort(text, device, port string) string {
	head, rest, _ := strings.Cut(text, `switch "`+device+`" {`)
	body, rest, _ := strings.Cut(rest, "\n}\n")
	return head + `switch "` + device + `" {` + body[:strings.LastIndex(body,
		"  }")] + "    except \"" + port + "\" {\n      admin = \"down\"\n      reason  = \"test\"\n    }\n  }\n}\n" + rest
}

// TestShutIsDown: a link with a port that is shut, at either end, is to every proof
// what a link is that has failed: ways, classes, circles and fans.
func TestShutIsDown(t *testing.T) {
	for name, text := range map[string]string{
		"ring":   lint.NetOf("r0 r1 r2 r3", "r0-r1 r1-r2 r2-r3 r3-r0", `model = "ecmp"`),
		"line":   lint.NetOf("r0 r1 r2", "r0-r1 r1-r2", `model = "ecmp"`),
		"backup": lint.BackupWay("lossless  = false", ""),
		"plain":  lint.FourNodes("", ""),
		"pair":   lint.PairedLegs(""),
	} {
		t.Run(name, func(t *testing.T) {
			res := compiledResult(t, text)
			f := res.Fabric
			for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
				mask := &fabric.Mask{Links: map[fabric.LinkID]bool{l: true}}
				want := provenOf(t, f, res.Facts, l, mask)
				for _, end := range [2]fabric.PortID{f.Links[l].A, f.Links[l].B} {
					f.Ports[end].Flags |= fabric.ShutDown
					f.NoneShut = false
					if diff := cmp.Diff(want, provenOf(t, f, res.Facts, l, nil)); diff != "" {
						t.Errorf("%s is shut at %s: %s", f.LinkAddress(l), f.PortAddress(end), diff)
					}
					f.Ports[end].Flags &^= fabric.ShutDown
					f.NoneShut = true
				}
			}
		})
	}
}

// proof is what is proven of a fabric, as far as it can be compared.
type proof struct {
	Circles int // parts with one
	Breaks  []fabric.PortID
	Ways    map[[2]fabric.PortID]uint64
}

func provenOf(t *testing.T, f *fabric.Fabric, facts *derive.Facts, l fabric.LinkID, m *fabric.Mask) proof {
	p := proof{Ways: map[[2]fabric.PortID]uint64{}}
	for _, part := range paths.Parts(f) {
		if f.Devices[f.Ports[f.Links[l].A].Device].Kind != f.Devices[f.Ports[f.Links[l].B].Device].Kind {
			break // of a failed cable to a node no proof of circles knows, as it fails with the node
		}
		o := part.Options(0)
		o.Down = part.Down(m)
		b, err := paths.Deadlock(&part.Net, o)
		if err != nil {
			t.Fatal(err)
		}
		if !b.Acyclic() {
			p.Circles++
		}
	}
	composer := paths.NewComposer(f, facts)
	for _, b := range composer.Under(m).Breaks {
		p.Breaks = append(p.Breaks, b.Way[b.At].Out)
	}
	slices.Sort(p.Breaks)
	for a := fabric.PortID(1); int(a) < len(f.Ports); a++ {
		for b := fabric.PortID(1); int(b) < len(f.Ports); b++ {
			if a != b && f.Ports[a].NIC != 0 && f.Ports[b].NIC != 0 {
				if fan, err := composer.Fan(paths.Traffic{From: a, To: b, Class: paths.Class{QoS: f.Profiles[f.Ports[a].Profile].QoS}},
					m); err == nil && fan.Count > 0 {
					p.Ways[[2]fabric.PortID{a, b}] = fan.Count
				}
			}
		}
	}
	return p
}
