package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/rocec/rocec/deploy/session"
)

// Whatever goes wrong, the password is in no error, even when a device or a
// program repeats it.
func TestSecretsStayOut(t *testing.T) {
	const word = "s3cr3t \"pa\tss\" \u00e9"
	loud := (&server{auth: ssh.ServerConfig{
		PasswordCallback: func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, errors.New("no") },
		KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			_, err := ask(word, word, []string{"again, " + word + "?"}, []bool{true})
			return nil, err
		},
	}}).start(t)
	good := (&server{
		auth: ssh.ServerConfig{PasswordCallback: password(word)},
		exec: func(c *call) int {
			fmt.Fprintln(c.stderr, "your password is", word)
			switch c.command {
			case "cut":
				c.conn.Close()
			case "none":
				return noStatus
			case "much":
				for {
					if _, err := io.WriteString(c.stdout, word); err != nil {
						return 1
					}
				}
			}
			return 1
		},
	}).start(t)
	kinds := map[session.Kind]bool{}
	check := func(name string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: no error", name)
			return
		}
		kinds[kindOf(t, err)] = true
		for e := err; e != nil; e = errors.Unwrap(e) {
			if said := fmt.Sprintf("%v %+v %q %#v", e, e, e, e); strings.Contains(said, "s3cr3t") {
				t.Errorf("%s: %s", name, said)
			}
		}
	}
	env := "PW=" + word
	reach := func(s *server, edit func(*session.Spec, *session.Client)) (session.Session, error) {
		to, c := s.spec(t), client(t, env, "JUMP="+word)
		c.MaxOutput = 1 << 16
		if edit != nil {
			edit(&to, c)
		}
		return c.Dial(t.Context(), to)
	}
	for name, edit := range map[string]func(*session.Spec, *session.Client){
		"auth": func(*session.Spec, *session.Client) {},
		"host key": func(to *session.Spec, _ *session.Client) {
			to.KnownHosts = []string{write(t, "k", "")}
		},
		"jump host": func(to *session.Spec, _ *session.Client) {
			jump := *to
			jump.Device = "bastion"
			to.Jump = []session.Spec{jump}
		},
		"unreachable": func(_ *session.Spec, c *session.Client) {
			c.DialNet = func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("proxy: password " + word + " is refused")
			}
		},
		"password command": func(to *session.Spec, c *session.Client) {
			to.PasswordEnv, to.PasswordCommand = "", []string{"sh", "-c", "echo '" + word + "'; echo '" + word + "' >&2; exit 3"}
		},
		"no shell": func(to *session.Spec, _ *session.Client) { to.Shell = "x" },
	} {
		_, err := reach(loud, edit)
		check(name, err)
	}
	for _, command := range []string{"cut", "none", "much"} {
		s, err := reach(good, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(t.Context(), command, nil)
		check(command, err)
		s.Close()
	}
	s, err := reach(good, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Configure(t.Context(), session.Change{Folder: "/r", Files: []session.File{{Path: "a"}}})
	check("copy", err) // without SFTP, and the shell says it
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Run(ctx, "x", nil)
	check("cancelled", err)

	mute := (&server{auth: ssh.ServerConfig{PasswordCallback: password(word)}, exec: hangs}).start(t)
	cl, k := timed(t)
	to, lookup := mute.spec(t), client(t, env).LookupEnv
	cl.LookupEnv = lookup
	s = dial(t, cl, to)
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), "hang", nil)
		done <- err
	}()
	waitFor(t, func() bool { return k.expire(opTime) })
	check("timeout", <-done)
	for _, k := range []session.Kind{session.KindUnreachable, session.KindHostKey, session.KindAuth, session.KindTimeout, session.KindLost, session.KindRefused, session.KindLocal} {
		if !kinds[k] {
			t.Errorf("no failure of kind %s was tried", k)
		}
	}
}

// TestPasswordCommandEnvironment: a password command gets what any program needs and what it was allowed, and no secret
// that is somebody else's.
func TestPasswordCommandEnvironment(t *testing.T) {
	for name, value := range map[string]string{"OTHERS_TOKEN": "o", "ROCEC_OTHER_PASSWORD": "r", "VAULT_ADDR": "v", "LC_MESSAGES": "C"} {
		t.Setenv(name, value)
	}
	s := (&server{auth: ssh.ServerConfig{PasswordCallback: password("--v-C-yes")}}).start(t)
	to, cl := s.spec(t), client(t)
	cl.PassEnv = []string{"VAULT_ADDR"}
	to.PasswordEnv, to.PasswordCommand = "", []string{"sh", "-c", `printf %s "$OTHERS_TOKEN-$ROCEC_OTHER_PASSWORD-$VAULT_ADDR-$LC_MESSAGES-${PATH:+yes}"`}
	dial(t, cl, to)
}
