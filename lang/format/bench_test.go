package format

import (
	"fmt"
	"strings"
	"testing"
)

// Twice the source must take about twice the time: compare the MB/s.
func BenchmarkSource(b *testing.B) {
	const block = "port \"swp%d\" {\n  speed   = \"100G\"\n  mtu = 9216 # jumbo\n  segments = [segment.a,segment.b]\n  name = \"${ self.name }-x\"\n}\n\n\n"
	for _, n := range []int{100, 1000, 10000} {
		var src strings.Builder
		for i := range n {
			fmt.Fprintf(&src, block, i)
		}
		in := []byte(src.String())
		b.Run(fmt.Sprintf("blocks=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, p := Source("x", in); p != nil {
					b.Fatal(p)
				}
			}
		})
	}
}
