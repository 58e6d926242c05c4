package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawn is a schedule as text: waves, then batches of names.
func drawn(p *Plan) string {
	var b strings.Builder
	for _, x := range p.schedule() {
		var names []string
		for _, i := range x.devices {
			names = append(names, p.Devices[i].Name)
		}
		fmt.Fprintf(&b, "%d%s: %s\n", x.wave, x.part, strings.Join(names, " "))
	}
	return b.String()
}

// devices reads "name wave group rank role peer,peer" lines.
func devices(text string) []Device {
	var list []Device
	for l := range strings.Lines(text) {
		var d Device
		var peers string
		if _, err := fmt.Sscan(l, &d.Name, &d.Wave, &d.Group, &d.Rank, &d.Role, &peers); err != nil {
			panic(err)
		}
		d.Address, d.Group = d.Name, strings.Trim(d.Group, "-")
		d.Peers = strings.Split(strings.Trim(peers, "-"), ",")
		list = append(list, d)
	}
	return list
}

// TestSchedule shows orders of plans.
func TestSchedule(t *testing.T) {
	const rack = "h1 0 - 0 host t1\nh2 0 - 0 host t2\nh3 0 - 0 host t1\nh4 0 - 0 host t2\nt1 0 - 0 tor h1,h3,s1\nt2 0 - 0 tor h2,h4,s1\ns1 0 - 0 spine t1,t2\n"
	ranked := strings.NewReplacer("t1 0 - 0", "t1 0 - 1", "t2 0 - 0", "t2 0 - 1", "s1 0 - 0", "s1 0 - 2").Replace(rack)
	for _, c := range []struct {
		name, devices string
		parallelism   int
		share         int
		waves         int
		want          string
		apart         int
	}{
		{"all together", rack, 10, 0, 0, "0: h1 t1 h3 s1 t2 h2 h4\n", 0},
		{"what a link joins stands together", rack, 3, 0, 0, "0: h1 t1 h3\n0: s1 t2 h2\n0: h4\n", 2},
		{"downstream first", ranked, 10, 0, 0, "0: h1 h2 h3 h4\n0: t1 t2\n0: s1\n", 6},
		{"half of a role", rack, 10, 50, 0, "0: h1 t1 h3 s1\n0: t2 h2 h4\n", 1},
		{"waves, and none last", "a 0 - 0 r -\nb 2 - 0 r -\nc 1 - 0 r -\n", 10, 0, 2, "1: c\n2: b\n0: a\n", 0},
		{"groups one after the other", "a 1 rail10 0 r b\nb 1 rail2 0 r a\nc 1 rail10 0 r -\n", 10, 0, 1, "1rail2: b\n1rail10: a c\n", 1},
		{"no parallelism is one", "a 0 - 0 r -\nb 0 - 0 r -\n", 0, 0, 0, "0: a\n0: b\n", 0},
	} {
		p := &Plan{Devices: devices(c.devices), Parallelism: c.parallelism, MaxSharePercent: c.share, Roles: map[string]int{}, Waves: make([]Wave, c.waves)}
		for _, d := range p.Devices {
			p.Roles[d.Role]++
		}
		if d := cmp.Diff(c.want, drawn(p)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if n := len(p.Apart()); n != c.apart {
			t.Errorf("%s: %d pairs apart, expected %d: %v", c.name, n, c.apart, p.Apart())
		}
	}
}

// TestApart: for how long the ends of a link differ is what is watched between them.
func TestApart(t *testing.T) {
	p := &Plan{
		Devices:     devices("a 1 rail10 0 r b,c\nb 1 rail2 0 r a\nc 2 - 0 r a\nd 2 - 1 r c\ne 0 - 0 r b\n"),
		Parallelism: 10, Waves: []Wave{{Name: "one", Soak: time.Minute}, {Name: "two", Gates: Gates{NoDiscards: true}}},
	}
	p.Devices[3].Peers, p.Devices[4].Peers = []string{"c"}, []string{"b"}
	p.Devices[1].Peers = append(p.Devices[1].Peers, "e")
	p.Devices[2].Peers = append(p.Devices[2].Peers, "d")
	want := []Apart{
		{"b", "a", "one", "one", time.Minute},
		{"b", "e", "one", "", 2*time.Minute + counterSoak},
		{"a", "c", "one", "two", time.Minute},
		{"c", "d", "two", "two", 0},
	}
	if d := cmp.Diff(want, p.Apart()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestScheduleHoldsAll schedules random plans: every device once, in the order of
// waves, parts and ranks, no more at once than is allowed.
func TestScheduleHoldsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "devices")
		p := &Plan{
			Parallelism: rapid.IntRange(1, 9).Draw(t, "parallelism"), MaxSharePercent: rapid.IntRange(0, 100).Draw(t, "share"),
			Waves: make([]Wave, rapid.IntRange(0, 3).Draw(t, "waves")), Roles: map[string]int{},
		}
		small := rapid.IntRange(0, 3)
		for i := range n {
			d := Device{
				Name: fmt.Sprint("d", i), Address: fmt.Sprint("d", i), Wave: rapid.IntRange(0, len(p.Waves)).Draw(t, "wave"),
				Group: fmt.Sprint(small.Draw(t, "group")), Rank: small.Draw(t, "rank"), Role: fmt.Sprint(small.Draw(t, "role")),
				Peers: []string{fmt.Sprint("d", rapid.IntRange(0, n).Draw(t, "peer"))},
			}
			p.Roles[d.Role]++
			p.Devices = append(p.Devices, d)
		}
		seen := map[int]bool{}
		last := ""
		for _, b := range p.schedule() {
			if len(b.devices) == 0 || len(b.devices) > p.Parallelism {
				t.Fatalf("%d devices together, at most %d may be", len(b.devices), p.Parallelism)
			}
			roles := map[string]int{}
			for _, i := range b.devices {
				d := &p.Devices[i]
				wave := d.Wave
				if wave == 0 {
					wave = 9
				}
				key := fmt.Sprint(wave, d.Group, d.Rank)
				if seen[i] || key < last {
					t.Fatalf("%s comes again, or after %s", key, last)
				}
				seen[i], last = true, key
				roles[d.Role]++
			}
			for role, taken := range roles {
				if taken > 1 && p.MaxSharePercent > 0 && taken*100 > p.Roles[role]*p.MaxSharePercent {
					t.Fatalf("%d of %d of role %s together, %d %% may be", taken, p.Roles[role], role, p.MaxSharePercent)
				}
			}
		}
		if len(seen) != n {
			t.Fatalf("%d of %d devices are scheduled", len(seen), n)
		}
	})
}
