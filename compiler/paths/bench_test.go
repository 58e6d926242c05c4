package paths

import (
	"runtime"
	"testing"
)

// BenchmarkDeadlock proves fabrics of a known size [theory F] in each way: by
// ranks, folded, and by following every flow, with all links up and with one down.
func BenchmarkDeadlock(b *testing.B) {
	for _, n := range []struct {
		name string
		net  *Net
	}{{"fabric-4k", fabric4k()}, {"meta-24k", meta24k()}, {"fabric-100k", fabric100k()}} {
		for _, o := range []struct {
			name string
			o    Options
			want Proof
		}{
			{"rank", Options{}, ByRank},
			{"folded", Options{Search: true}, Folded},
			{"folded-ecmp", Options{Routing: Routing{Base: Shortest}}, Folded},
			{"search", Options{Search: true, Whole: true}, Searched},
			{"search-ecmp", Options{Routing: Routing{Base: Shortest}, Whole: true}, Searched},
			{"one-link", Options{Search: true, Down: &Down{Links: []int{0}}}, Folded},
			{"one-link-repair", Options{Routing: Routing{LocalRepair: true}, Down: &Down{Links: []int{0}}, Brief: true}, Folded},
			{"one-switch-repair", Options{Routing: Routing{LocalRepair: true}, Down: &Down{Switches: []Switch{Switch(n.net.Switches - 1)}}, Brief: true}, Folded},
			{"one-link-repair-whole", Options{Routing: Routing{LocalRepair: true}, Down: &Down{Links: []int{0}}, Whole: true}, Searched},
		} {
			b.Run(n.name+"/"+o.name, func(b *testing.B) {
				b.ReportAllocs()
				var x *Buffers
				for b.Loop() {
					var err error
					if x, err = Deadlock(n.net, o.o); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(x.Edges), "edges")
				if x.Proof != o.want || !x.Acyclic() && o.o.Down == nil {
					b.Errorf("%s, circles of %v", x.Proof, x.Circles)
				}
				runtime.KeepAlive(x)
			})
		}
	}
}

// BenchmarkFailures finds the kinds of single failures of fabrics of a known
// size, and proves each kind while switches go round it, and which ways are left
// when all have learnt of it. kinds is how many there are of how many failures.
func BenchmarkFailures(b *testing.B) {
	for _, n := range []struct {
		name string
		net  *Net
	}{{"fabric-4k", fabric4k()}, {"meta-24k", meta24k()}, {"fabric-100k", fabric100k()}} {
		for _, base := range []Base{UpDown, Shortest} {
			b.Run(n.name+"/"+base.String(), func(b *testing.B) {
				b.ReportAllocs()
				kinds, all := 0, 0
				for b.Loop() {
					o := Options{Routing: Routing{Base: base, LocalRepair: true}, Brief: true, Search: true}
					list, _ := Failures(n.net, &o)
					kinds, all = len(list), 0
					for i := range list {
						all += list[i].Alike
						o.Down = &list[i].Down
						if _, err := Deadlock(n.net, o); err != nil {
							b.Fatal(err)
						}
						learnt := o
						learnt.Routing.LocalRepair = false
						if _, err := Ways(n.net, learnt); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(kinds), "kinds")
				b.ReportMetric(float64(all), "failures")
				if all != len(n.net.Links)+n.net.Switches {
					b.Errorf("%d failures of %d links and %d switches", all, len(n.net.Links), n.net.Switches)
				}
			})
		}
	}
}
