package session_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/rocec/rocec/deploy/session"
)

func TestJump(t *testing.T) {
	leakFree(t)
	near := (&server{}).start(t)
	far := (&server{keys: one(ed25519Key(t, 2))}).start(t)
	device := (&server{keys: one(ed25519Key(t, 3))}).start(t)
	way := func(s *server, name string, jump ...session.Spec) session.Spec {
		to := s.spec(t)
		to.Device, to.Jump = name, jump
		return to
	}
	c := client(t)
	to := way(device, "leaf1", way(near, "bastion"), way(far, "inner"))
	var open []session.Session
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			s, err := c.Dial(t.Context(), to)
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := s.Run(t.Context(), "x", nil); err != nil || string(out.Stdout) != "x|" {
				t.Errorf("%q, %v", out.Stdout, err)
			}
			mu.Lock()
			defer mu.Unlock()
			open = append(open, s)
		})
	}
	all.Wait()
	if near.logins != 1 || far.logins != 1 || device.logins != 20 {
		t.Errorf("logins: %d, %d, %d", near.logins, far.logins, device.logins)
	}
	// A jump host of a jump host is the same way, written otherwise.
	nested := way(device, "leaf1", way(far, "inner", way(near, "bastion")))
	open = append(open, dial(t, c, nested))
	for _, s := range open {
		s.Close()
	}
	waitFor(t, func() bool { return near.open() == 0 && far.open() == 0 && device.open() == 0 })
	dial(t, c, to).Close() // it begins anew
}

func TestJumpFails(t *testing.T) {
	near := (&server{}).start(t)
	device := (&server{keys: one(ed25519Key(t, 3))}).start(t)
	down := (&server{}).start(t)
	down.stop()
	for _, c := range []struct {
		name string
		edit func(to *session.Spec)
		kind session.Kind
		want string
	}{
		{"unknown key", func(to *session.Spec) { to.Jump[0].KnownHosts = []string{write(t, "k", "")} }, session.KindHostKey, "jump host bastion: the key of 127.0.0.1:"},
		{"wrong password", func(to *session.Spec) { to.Jump[0].PasswordEnv = "OTHER" }, session.KindAuth, "jump host bastion: "},
		{"no variable", func(to *session.Spec) { to.Jump[0].PasswordEnv = "NONE" }, session.KindLocal, "jump host bastion: the variable NONE"},
		{"down", func(to *session.Spec) { to.Jump[0].Port = uint16(down.addr.Port) }, session.KindUnreachable, "jump host bastion: "},
		{"the device is down", func(to *session.Spec) { to.Port = uint16(down.addr.Port) }, session.KindUnreachable, "no route"},
		{"the device shows another key", func(to *session.Spec) { to.HostKey = "SHA256:" + strings.Repeat("A", 43) }, session.KindHostKey, "leaf1: connect: the key of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			leakFree(t)
			to := device.spec(t)
			jump := near.spec(t)
			jump.Device = "bastion"
			to.Jump = []session.Spec{jump}
			c.edit(&to)
			cl := client(t, "OTHER=wr0ng")
			for range 2 { // the failure is not kept
				_, err := cl.Dial(t.Context(), to)
				if err == nil || kindOf(t, err) != c.kind || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %s: %s", err, c.kind, c.want)
				}
			}
			waitFor(t, func() bool { return near.open() == 0 && device.open() == 0 })
		})
	}
}

// What goes through a jump host that is lost is lost, and the next one connects anew.
func TestJumpLost(t *testing.T) {
	near := (&server{}).start(t)
	device := (&server{keys: one(ed25519Key(t, 3)), exec: func(c *call) int {
		if c.command == "cut" {
			near.cut()
		}
		return echo(c)
	}}).start(t)
	to := device.spec(t)
	jump := near.spec(t)
	jump.Device = "bastion"
	to.Jump = []session.Spec{jump}
	c := client(t)
	s := dial(t, c, to)
	if _, err := s.Run(t.Context(), "cut", nil); err == nil || kindOf(t, err) != session.KindLost {
		t.Error(err)
	}
	waitFor(t, func() bool { return near.open() == 0 })
	if out, err := dial(t, c, to).Run(t.Context(), "x", nil); err != nil || string(out.Stdout) != "x|" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}
