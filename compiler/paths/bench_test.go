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
			{"one-link-repair", Options{Routing: Routing{LocalRepair: true}, Down: &Down{Links: []int{0}}}, Searched},
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
