package session_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/rocec/rocec/deploy/session"
)

// BenchmarkSession is a login, a command and a good-bye; the server takes its
// share of the time.
func BenchmarkSession(b *testing.B) {
	s := (&server{}).start(b)
	to, c := s.spec(b), client(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			sess, err := c.Dial(b.Context(), to)
			if err != nil {
				b.Error(err)
				return
			}
			if _, err := sess.Run(b.Context(), "x", nil); err != nil {
				b.Error(err)
			}
			sess.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sessions/s")
}

// BenchmarkRun is a command of an open session.
func BenchmarkRun(b *testing.B) {
	s := (&server{}).start(b)
	sess := dial(b, client(b), s.spec(b))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sess.Run(b.Context(), "x", nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen is the memory of sessions that are open and have run a command.
// The other end of each is in the same process and counts too.
func BenchmarkOpen(b *testing.B) {
	const many = 200
	s := (&server{}).start(b)
	to, c := s.spec(b), client(b)
	for b.Loop() {
		before := inUse()
		open := make([]session.Session, many)
		var all sync.WaitGroup
		for i := range open {
			all.Go(func() {
				sess, err := c.Dial(b.Context(), to)
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := sess.Run(b.Context(), "x", nil); err != nil {
					b.Error(err)
				}
				open[i] = sess
			})
		}
		all.Wait()
		b.ReportMetric(float64(inUse()-before)/many, "B/session")
		for _, sess := range open {
			sess.Close()
		}
	}
}

// inUse is the memory of the process after a collection: heap and stacks.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
