package machines

import (
	"context"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// TestByHand changes a host on which somebody has set by hand what netplan's file says
// otherwise, and nothing else differs: it is as it should be after the change, and as
// the hand has left it when that is taken back.
func TestByHand(t *testing.T) {
	devices := compiled(t, "storage")
	const name = "stor01"
	m := devices[name]
	l := up(t, map[string]*made{name: m}, lab.Options{})
	s := dial(t, l, name)
	verb := func(id string, v targets.Verb) {
		t.Helper()
		live, tx := m.target.Live, targets.Transaction{ID: id, Device: m.d, Confirm: 10 * time.Minute}
		c := session.Change{Folder: live.Root + "/" + id, Dir: name, Command: live.Command(v, tx)}
		if v == targets.VerbBegin {
			if _, err := s.Run(context.Background(), live.Prepare(tx), nil); err != nil {
				t.Fatal(err)
			}
			c.Files = m.files()
		}
		if out, err := s.Configure(context.Background(), c); err != nil || out.Exit != 0 {
			t.Fatalf("%s %s: %v, exit %d\n%s%s", id, v, err, out.Exit, out.Stdout, out.Stderr)
		}
	}
	shows := func(when, want string) {
		t.Helper()
		out, err := s.Run(context.Background(), `cat /sys/class/net/nvme_a/mtu; ip -o addr show dev nvme_a | grep -o '10[.][^ ]*/[0-9]*'`, nil)
		if err != nil || string(out.Stdout) != want {
			t.Errorf("%s: %q, expected %q: %v %s", when, out.Stdout, want, err, out.Stderr)
		}
	}
	const wanted, byHand = "9000\n10.30.1.11/24\n", "1500\n10.9.9.9/24\n"
	for _, v := range []targets.Verb{targets.VerbBegin, targets.VerbChange, targets.VerbConfirm} {
		verb("a1", v)
	}
	shows("after the first change", wanted)
	out, err := s.Run(context.Background(), "ip link set nvme_a mtu 1500 && ip addr del 10.30.1.11/24 dev nvme_a && ip addr add 10.9.9.9/24 dev nvme_a", nil)
	if err != nil || out.Exit != 0 {
		t.Fatalf("%v %s", err, out.Stderr)
	}
	shows("by hand", byHand)
	verb("a2", targets.VerbBegin)
	verb("a2", targets.VerbChange)
	shows("after the second change", wanted)
	verb("a2", targets.VerbRevert)
	shows("taken back", byHand)
	// A file that changes only in what networkd is not told of hides nothing.
	if _, err := s.Run(context.Background(), "echo '# by hand' >>/etc/netplan/60-rocec.yaml", nil); err != nil {
		t.Fatal(err)
	}
	for _, v := range []targets.Verb{targets.VerbBegin, targets.VerbChange, targets.VerbConfirm} {
		verb("a3", v)
	}
	shows("after the third change", wanted)
}
