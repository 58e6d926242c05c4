package posix

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestUnheard ends a loop that prints to nobody, and nothing else that goes on when
// the session is gone.
func TestUnheard(t *testing.T) {
	h := newHost(t, Options{})
	ctx, hangUp := context.WithCancel(t.Context())
	in, first := io.Pipe()
	heard := make(chan int, 1)
	go func() {
		heard <- h.Exec(ctx, "x=0123456789; for i in 1 2 3 4 5 6 7 8; do x=$x$x; done; while :; do printf '%s\n' $x; done", strings.NewReader(""), first, io.Discard)
	}()
	if _, err := io.ReadFull(in, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	hangUp()
	in.Close()
	if code := <-heard; code != -1 {
		t.Errorf("exit code %d", code)
	}
	// Whoever waits for all that runs here waits for that loop too.
	h.running.Wait()
	if got := do(h, "(sleep 0; echo done >/tmp/later) & wait; cat /tmp/later"); got != "done\nexit 0\n" {
		t.Error(got)
	}
}
