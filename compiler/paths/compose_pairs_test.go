package paths

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/fabric"
)

// over is an MLAG pair a, b below switches s and r, whose peer link has no PFC, and
// switches x and y below, each with a node. lag joins the cables of x to a and b.
// Link 1 is the peer link, then come s-a, s-b, r-a, r-b, x-a, x-b, y-b, and those of
// nodes on x, s, r and more.
func over(lag bool, by fabric.Routing, peer bool, nodes ...string) *plot {
	m := newPlot(func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<26, 3) })
	f := m.Fabric
	f.MLAGs = append(f.MLAGs, fabric.MLAG{})
	f.LAGs = append(f.LAGs, fabric.LAG{Mode: fabric.LACP})
	for i, s := range []string{"a", "b", "s", "r", "x", "y"} {
		m.device(s, fabric.Switch, 8)
		m.Devices[m.at[s]].Tier = []fabric.Tier{fabric.SpineTier, fabric.CoreTier, fabric.LeafTier}[i/2]
	}
	f.MLAGs[1].Switches = [2]fabric.DeviceID{m.at["a"], m.at["b"]}
	f.Devices[m.at["a"]].MLAG, f.Devices[m.at["b"]].MLAG = 1, 1
	sound := m.profile(1, false, nil)
	for _, c := range []string{"ab", "sa", "sb", "ra", "rb", "xa", "xb", "yb"} {
		p, q := m.cable(c[:1], c[1:])
		f.Ports[p].Profile, f.Ports[q].Profile = sound, sound
		if lag && c[0] == 'x' {
			f.Ports[p].LAG, f.LAGs[1].Device, f.LAGs[1].Members = 1, m.at["x"], append(f.LAGs[1].Members, p)
		}
	}
	lossy := m.profile(1, false, func(p *fabric.Profile) { p.PFC = 0 })
	f.Ports[f.Links[1].A].Profile, f.Ports[f.Links[1].B].Profile = lossy, lossy
	if f.Links[1].PeerLink, f.MLAGs[1].Links = 1, []fabric.LinkID{1}; !peer {
		f.Ports[f.Links[1].A].Flags |= fabric.ShutDown
	}
	for _, s := range append([]string{"x", "s", "r"}, nodes...) {
		m.node("n"+s, s)
	}
	f.Routings = append(f.Routings, by)
	return m
}

// node adds one with a cable to each of some switches, all in one bond.
func (m *plot) node(name string, on ...string) {
	f := m.Fabric
	m.device(name, fabric.Node, len(on))
	for _, s := range on {
		p, q := m.cable(name, s)
		f.Ports[p].Profile, f.Ports[q].Profile = m.profile(1, true, nil), m.profile(1, false, nil)
		if len(on) > 1 {
			f.Ports[p].LAG = fabric.LAGID(len(f.LAGs))
		}
	}
	if first, end := m.PortsOf(m.at[name]); len(on) > 1 {
		lag := fabric.LAG{Device: m.at[name], Mode: fabric.LACP}
		for p := first; p < end; p++ {
			lag.Members = append(lag.Members, p)
		}
		f.LAGs = append(f.LAGs, lag)
	}
}

// way names the devices of a way.
func (m *plot) way(hops []Hop) string {
	name := ""
	for i, h := range hops {
		if i == 0 {
			name = m.Text(m.Devices[m.Ports[h.Out].Device].Name)
		}
		name += " " + m.Text(m.Devices[m.Ports[h.To].Device].Name)
	}
	return name
}

// TestComposeRound: classes are followed over the peer link of a pair, or round,
// where a switch of it has lost a leg of a LAG, a cable of a bonded node or its
// uplinks, and where a hash takes the switch that has no way of its own.
func TestComposeRound(t *testing.T) {
	down := func(links ...fabric.LinkID) *fabric.Mask {
		m := &fabric.Mask{Links: map[fabric.LinkID]bool{}}
		for _, l := range links {
			m.Links[l] = true
		}
		return m
	}
	const sa, sb, ra, rb, xa, xb, dualA, dualB = 2, 3, 4, 5, 6, 7, 12, 13
	upDown, local := fabric.Routing{Default: true, Model: fabric.UpDown}, fabric.Routing{Default: true, Model: fabric.UpDown, LocalRepair: true}
	dual := func(m *plot) *plot {
		m.node("dual", "a", "b")
		return m
	}
	for _, c := range []struct {
		name string
		m    *plot
		mask *fabric.Mask
		want string // the first way to the peer link, "" = none
	}{
		{"cables of their own", over(false, upDown, true, "y"), down(xa), ""},
		{"a hash, with everything up", over(true, upDown, true, "y"), nil, "nx x a b y ny"},
		{"a leg of a LAG is down", over(true, upDown, true, "y"), down(xa), "ns s a b x nx"},
		{"and so is the peer link", over(true, upDown, true, "y"), down(xa, 1), ""},
		{"the other leg", over(true, upDown, true, "y"), down(xb), "ns s b a x nx"},
		{"uplinks of a, and x goes by b", over(false, upDown, true, "y"), down(sa, ra), ""},
		{"uplinks of b, and y has no other way", over(false, upDown, true, "y"), down(sb, rb), "ny y b a s ns"},
		{"uplinks of a, and switches repair by themselves", over(false, local, true), down(sa, ra), "nx x a b s ns"},
		{"a bonded node", dual(over(false, upDown, true)), nil, ""},
		{"that has lost a cable", dual(over(false, upDown, true)), down(dualA), "nx x a b dual"},
		{"and the other one", dual(over(false, upDown, true)), down(dualB), "nx x b a dual"},
		{"and both", dual(over(false, upDown, true)), down(dualA, dualB), ""},
		{"and all switches know, as there is no peer link", dual(over(false, upDown, false)), down(dualA), ""},
	} {
		got := Compose(c.m.Fabric, c.m.facts(t), c.mask)
		way := ""
		for _, b := range got.Breaks {
			if h := b.Way[b.At]; b.Fault == Unpaused && c.m.Ports[h.Out].Link == 1 {
				way = c.m.way(b.Way)
			}
		}
		if way != c.want {
			t.Errorf("%s: a class is lost on the peer link by %q, want %q", c.name, way, c.want)
		}
	}
}

// TestComposeTwins: pairs that stand alike stand for each other, as packets say.
func TestComposeTwins(t *testing.T) {
	broken := 0
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
		m := newPlot(func(f *fabric.Fabric) fabric.QoS { return contract(f, 1<<26, 3) })
		f := m.Fabric
		sound := m.profile(1, false, nil)
		for s := range 2 {
			m.device(fmt.Sprint("s", s), fabric.Switch, 8)
			m.Devices[m.at[fmt.Sprint("s", s)]].Tier = fabric.SpineTier
		}
		peered, dual, alone := draw("peer link", 0, 1) == 0, draw("bonded", 0, 2), draw("alone", 0, 2)
		pairs := draw("pairs", 2, 3)
		for i := range pairs {
			var of [2]string
			for side := range of {
				of[side] = fmt.Sprint("t", i, side)
				m.device(of[side], fabric.Switch, 8)
				m.Devices[m.at[of[side]]].Tier, m.Devices[m.at[of[side]]].MLAG = fabric.LeafTier, fabric.MLAGID(i+1)
				for s := range 2 {
					p, q := m.cable(fmt.Sprint("s", s), of[side])
					f.Ports[p].Profile, f.Ports[q].Profile = sound, sound
				}
			}
			pair := fabric.MLAG{Switches: [2]fabric.DeviceID{m.at[of[0]], m.at[of[1]]}}
			if peered {
				p, q := m.cable(of[0], of[1])
				f.Ports[p].Profile, f.Ports[q].Profile = sound, sound
				f.Links[f.Ports[p].Link].PeerLink, pair.Links = fabric.MLAGID(i+1), []fabric.LinkID{f.Ports[p].Link}
			}
			f.MLAGs = append(f.MLAGs, pair)
			for h := range dual {
				m.node(fmt.Sprint("d", i, h), of[0], of[1])
			}
			for h := range alone {
				m.node(fmt.Sprint("n", i, h), of[h])
			}
		}
		f.Routings = append(f.Routings, fabric.Routing{Default: true, Model: fabric.RoutingModel(draw("routing", 1, 2)), LocalRepair: draw("repair", 0, 3) == 0})
		lossy := [2]fabric.ProfileID{m.profile(1, false, func(p *fabric.Profile) { p.PFC = 0 }), m.profile(1, true, func(p *fabric.Profile) { p.PFC = 0 })}
		each := len(f.Ports) / pairs
		for range draw("faults", 1, 2) { // on one port, or on that of every pair
			p := fabric.PortID(draw("port", 1, len(f.Ports)-1))
			for all := draw("all", 0, 1) == 1; int(p) < len(f.Ports); p += fabric.PortID(each) {
				f.Ports[p].Profile = lossy[flag(f.Devices[f.Ports[p].Device].Kind == fabric.Node)]
				if !all {
					break
				}
			}
		}
		if _, want := comparePackets(t, m, drawMask(t, f)); len(want) > 0 {
			broken++
		}
	})
	if broken == 0 {
		t.Error("no fabric has breaks: the test shows nothing")
	}
}
