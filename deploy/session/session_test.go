package session_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/session"
)

func TestRun(t *testing.T) {
	s := (&server{exec: func(c *call) int {
		switch c.command {
		case "code":
			fmt.Fprint(c.stdout, "out")
			fmt.Fprint(c.stderr, "err")
			return 7
		case "term":
			return sigterm
		case "ignores":
			return 0
		}
		return echo(c)
	}}).start(t)
	sess := dial(t, client(t), s.spec(t))
	for _, c := range []struct {
		command string
		stdin   []byte
		want    session.Output
	}{
		{"uname -a", nil, session.Output{Stdout: []byte("uname -a|")}},
		{"cat", []byte("a\x00b"), session.Output{Stdout: []byte("cat|a\x00b")}},
		{"code", nil, session.Output{Stdout: []byte("out"), Stderr: []byte("err"), Exit: 7}},
		{"term", nil, session.Output{Exit: 143}},
		{"ignores", make([]byte, 5<<20), session.Output{}},
	} {
		got, err := sess.Run(t.Context(), c.command, c.stdin)
		if err != nil {
			t.Fatalf("%s: %v", c.command, err)
		}
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) })); diff != "" {
			t.Errorf("%s: %s", c.command, diff)
		}
	}
	if s.logins != 1 {
		t.Errorf("%d logins for the commands of one session", s.logins)
	}
}

var _ io.Reader
