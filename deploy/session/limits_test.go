package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocec/rocec/deploy/session"
)

// hangs answers a command "hang" with a part, and then nothing.
func hangs(c *call) int {
	if c.command == "hang" {
		io.WriteString(c.stdout, "part")
		<-c.over
	}
	return echo(c)
}

// Whatever ends a call under way ends the session with it, at once, and leaves
// nothing behind.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(s *server, sess session.Session, cancel context.CancelFunc, k *clock)
		kind session.Kind
		is   error
	}{
		{"cancelled", func(_ *server, _ session.Session, cancel context.CancelFunc, _ *clock) { cancel() }, session.KindLost, context.Canceled},
		{"too slow", func(_ *server, _ session.Session, _ context.CancelFunc, k *clock) { k.expire(opTime) }, session.KindTimeout, nil},
		{"closed", func(_ *server, s session.Session, _ context.CancelFunc, _ *clock) { s.Close() }, session.KindLost, nil},
		{"cut", func(s *server, _ session.Session, _ context.CancelFunc, _ *clock) { s.cut() }, session.KindLost, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			leakFree(t)
			for _, what := range []struct {
				name string
				run  func(ctx context.Context, s session.Session) error
			}{
				{"run", func(ctx context.Context, s session.Session) error {
					_, err := s.Run(ctx, "hang", nil)
					return err
				}},
				{"copy", func(ctx context.Context, s session.Session) error {
					_, err := s.Configure(ctx, session.Change{Folder: "/r", Files: []session.File{{Path: "a", Bytes: []byte("x")}}})
					return err
				}},
			} {
				reached := make(chan bool, 1)
				s := (&server{
					exec: func(c *call) int {
						reached <- true
						return hangs(c)
					},
					sftp: func(ch io.ReadWriteCloser) error { // takes all and answers nothing
						reached <- true
						_, err := io.Copy(io.Discard, ch)
						return err
					},
				}).start(t)
				cl, k := timed(t)
				sess := dial(t, cl, s.spec(t))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error, 1)
				go func() { done <- what.run(ctx, sess) }()
				<-reached
				c.end(s, sess, cancel, k)
				err := <-done
				if err == nil || kindOf(t, err) != c.kind || c.is != nil && !errors.Is(err, c.is) {
					t.Errorf("%s: %v, want %s", what.name, err, c.kind)
				}
				if _, err := sess.Run(t.Context(), "after", nil); err == nil || kindOf(t, err) == session.KindRefused {
					t.Errorf("the session goes on: %v", err)
				}
				waitFor(t, func() bool { return s.open() == 0 })
			}
		})
	}
}

// A host that takes the connection and says nothing is given up.
func TestDialEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(cancel context.CancelFunc, k *clock)
		kind session.Kind
	}{
		{"too slow", func(_ context.CancelFunc, k *clock) { k.expire(dialTime) }, session.KindTimeout},
		{"cancelled", func(cancel context.CancelFunc, _ *clock) { cancel() }, session.KindUnreachable},
	} {
		for _, mute := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, mute %v", c.name, mute), func(t *testing.T) {
				leakFree(t)
				cl, k := timed(t)
				reached := make(chan bool, 1)
				cl.DialNet = func(ctx context.Context, _, _ string) (net.Conn, error) {
					reached <- true
					if mute {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					here, there := net.Pipe()
					go io.Copy(io.Discard, there)
					return here, nil
				}
				s := (&server{}).start(t)
				to := s.spec(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan error, 1)
				go func() {
					_, err := cl.Dial(ctx, to)
					done <- err
				}()
				<-reached
				c.end(cancel, k)
				if err := <-done; err == nil || kindOf(t, err) != c.kind {
					t.Error(err)
				}
			})
		}
	}
}

// A device that is gone without a word is noticed.
func TestKeepalive(t *testing.T) {
	leakFree(t)
	reached := make(chan bool, 1)
	s := (&server{deaf: true, exec: func(c *call) int {
		reached <- true
		return hangs(c)
	}}).start(t)
	cl, k := timed(t)
	sess := dial(t, cl, s.spec(t))
	done := make(chan error, 1)
	go func() {
		_, err := sess.Run(t.Context(), "hang", nil)
		done <- err
	}()
	<-reached
	waitFor(t, func() bool { return k.expire(pauseTime) })
	waitFor(t, func() bool { return k.expire(3 * pauseTime) })
	if err := <-done; err == nil || kindOf(t, err) != session.KindLost || !strings.Contains(err.Error(), "no longer answers") {
		t.Error(err)
	}
}

// One that answers is asked again and again.
func TestKeepaliveAnswered(t *testing.T) {
	s := (&server{}).start(t)
	cl, k := timed(t)
	sess := dial(t, cl, s.spec(t))
	for range 5 {
		waitFor(t, func() bool { return k.expire(pauseTime) })
	}
	if _, err := sess.Run(t.Context(), "x", nil); err != nil {
		t.Error(err)
	}
}

func TestTooMuch(t *testing.T) {
	for _, stream := range []string{"stdout", "stderr"} {
		t.Run(stream, func(t *testing.T) {
			leakFree(t)
			s := (&server{exec: func(c *call) int {
				w := c.stdout
				if stream == "stderr" {
					w = c.stderr
				}
				if c.command == "fits" {
					w.Write(make([]byte, 1<<20))
					return 0
				}
				for { // as long as anybody listens
					if _, err := w.Write(make([]byte, 1<<16)); err != nil {
						return 1
					}
				}
			}}).start(t)
			cl := client(t)
			cl.MaxOutput = 1 << 20
			sess := dial(t, cl, s.spec(t))
			if out, err := sess.Run(t.Context(), "fits", nil); err != nil || len(out.Stdout)+len(out.Stderr) != 1<<20 {
				t.Errorf("%d bytes, %v", len(out.Stdout)+len(out.Stderr), err)
			}
			_, err := sess.Run(t.Context(), "yes", nil)
			if err == nil || kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "too much output: a stream is longer than 1048576 bytes") {
				t.Error(err)
			}
			waitFor(t, func() bool { return s.open() == 0 })
		})
	}
}

// What all commands say together is bounded too, and room is given back.
func TestTooMuchTogether(t *testing.T) {
	half := make(chan bool)
	var mute sync.WaitGroup
	s := (&server{exec: func(c *call) int {
		c.stdout.Write(make([]byte, 600))
		if c.command == "wait" {
			half <- true
			<-half
		}
		return 0
	}}).start(t)
	to, cl := s.spec(t), client(t)
	cl.MaxHeld = 1000
	first, second := dial(t, cl, to), dial(t, cl, to)
	mute.Go(func() {
		if _, err := first.Run(t.Context(), "wait", nil); err != nil {
			t.Error(err)
		}
	})
	<-half
	// The server has sent it; that it has come is seen by the second one's failure.
	for {
		_, err := second.Run(t.Context(), "x", nil)
		if err == nil {
			continue
		}
		if kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "all commands under way have said more than 1000 bytes") {
			t.Error(err)
		}
		break
	}
	half <- true
	mute.Wait()
	third := dial(t, cl, to)
	for range 5 {
		if _, err := third.Run(t.Context(), "x", nil); err != nil {
			t.Error(err)
		}
	}
}

func TestBadEnds(t *testing.T) {
	s := (&server{exec: func(c *call) int {
		switch c.command {
		case "none":
			return noStatus
		case "odd":
			return sigodd
		}
		c.conn.Close()
		return 0
	}}).start(t)
	for _, command := range []string{"none", "odd", "cut"} {
		sess := dial(t, client(t), s.spec(t))
		if _, err := sess.Run(t.Context(), command, nil); err == nil || kindOf(t, err) != session.KindLost {
			t.Errorf("%s: %v", command, err)
		}
	}
	deny := (&server{noRun: true}).start(t)
	sess := dial(t, client(t), deny.spec(t))
	if _, err := sess.Run(t.Context(), "s3cret", nil); err == nil || kindOf(t, err) != session.KindRefused || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
}

// Bytes that are no text come through as they are.
func TestHostileBytes(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	s := (&server{exec: func(c *call) int {
		in, _ := io.ReadAll(c.stdin)
		c.stderr.Write([]byte(c.command))
		c.stdout.Write(in)
		return 0
	}}).start(t)
	sess := dial(t, client(t), s.spec(t))
	out, err := sess.Run(t.Context(), string(all), all)
	if err != nil || !bytes.Equal(out.Stdout, all) || !bytes.Equal(out.Stderr, all) {
		t.Errorf("%q %q %v", out.Stdout, out.Stderr, err)
	}
}

func TestOneCallAtATime(t *testing.T) {
	reached := make(chan bool)
	s := (&server{exec: func(c *call) int {
		if c.command == "first" {
			reached <- true
			<-reached
		}
		return 0
	}}).start(t)
	sess := dial(t, client(t), s.spec(t))
	done := make(chan error, 1)
	go func() {
		_, err := sess.Run(t.Context(), "first", nil)
		done <- err
	}()
	<-reached
	if _, err := sess.Run(t.Context(), "second", nil); err == nil || kindOf(t, err) != session.KindLocal {
		t.Error(err)
	}
	reached <- true
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := sess.Run(t.Context(), "third", nil); err != nil {
		t.Error(err)
	}
}

// Sessions beyond the limit wait their turn, and stop waiting with their context.
func TestMaxSessions(t *testing.T) {
	s := (&server{}).start(t)
	to, cl := s.spec(t), client(t)
	cl.MaxSessions = 3
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			sess, err := cl.Dial(t.Context(), to)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := sess.Run(t.Context(), "x", nil); err != nil {
				t.Error(err)
			}
			sess.Close()
			sess.Close() // gives back nothing twice
		})
	}
	all.Wait()
	if s.logins != 12 {
		t.Errorf("%d logins", s.logins)
	}
	for range 3 {
		dial(t, cl, to)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cl.Dial(ctx, to); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestManySessions(t *testing.T) {
	leakFree(t)
	const many = 300
	s := (&server{}).start(t)
	to, cl := s.spec(t), client(t)
	cl.MaxSessions = many
	var all sync.WaitGroup
	var open atomic.Int32
	ready := make(chan bool)
	for i := range many {
		all.Go(func() {
			sess, err := cl.Dial(t.Context(), to)
			if open.Add(1) == many {
				close(ready) // all are open
			}
			if err != nil {
				t.Error(err)
				return
			}
			<-ready
			want := fmt.Sprintf("%d|", i)
			if out, err := sess.Run(t.Context(), fmt.Sprint(i), nil); err != nil || string(out.Stdout) != want {
				t.Errorf("%q, %v", out.Stdout, err)
			}
			sess.Close()
		})
	}
	all.Wait()
	if s.most != many {
		t.Errorf("%d sessions at once, want %d", s.most, many)
	}
}
