package cumulus

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

func start(t testing.TB, clock lab.Clock) *Machine {
	t.Helper()
	d := &intent.Device{Name: "leaf1", Kind: intent.Switch, OS: intent.OS{Name: "cumulus-linux", Version: "5.11"}, Model: "nvidia/sn5600"}
	m := New(d, lab.Environment{Clock: clock, User: "cumulus"}, &posix.Scripts{})
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func (m *Machine) say(line string) string {
	var b bytes.Buffer
	code := m.Exec(context.Background(), line, nil, &b, &b)
	return fmt.Sprintf("%sexit %d", b.String(), code)
}

func (m *Machine) file(t testing.TB, name, text string) {
	t.Helper()
	if err := m.Disk().WriteFile("/home/cumulus/"+name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRevisions: patches, differences, revisions, and going back by hand.
func TestRevisions(t *testing.T) {
	m := start(t, lab.RealTime{})
	m.file(t, "a.yaml", "- set:\n    interface:\n      swp1-2,swp4:\n        link: {mtu: 9000}\n        type: swp\n")
	m.file(t, "b.yaml", "- unset:\n    interface:\n      swp4: {}\n- set:\n    interface:\n      swp1:\n        link:\n          mtu: 1500\n")
	m.file(t, "bad.yaml", "set: {}\n")
	for _, c := range []struct{ line, want string }{
		{"nv config diff", "exit 0"},
		{"nv config apply -y", "Error: there is no pending revision to apply\nexit 1"},
		{"nv config patch bad.yaml", "Error: bad.yaml:"},
		{"nv config patch nowhere.yaml", "Error: unable to read nowhere.yaml\nexit 1"},
		{"nv config patch a.yaml", "created [rev_id: 2]\nexit 0"},
		{"nv config diff", "- set:\n    interface:\n      swp1:\n        link:\n          mtu: 9000\n        type: swp\n      swp2:"},
		{"nv config apply", "Error: nobody answered\nexit 1"},
		{"nv config apply -y", "applied_and_saved [rev_id: 2]\nexit 0"},
		{"nv config diff 1 2 -o commands", "nv set interface swp1 link mtu 9000\nnv set interface swp1 type swp\n"},
		{"nv config patch b.yaml && nv config diff -o commands", "nv unset interface swp4\nnv set interface swp1 link mtu 1500\nexit 0"},
		{"nv config detach && nv config diff", "detached [rev_id: 3]\nexit 0"},
		{"nv config apply 3 -y", "applied_and_saved [rev_id: 3]"},
		{"nv show interface swp1 link -o json", "{\n  \"mtu\": 1500\n}\nexit 0"},
		{"nv show interface swp4 type --rev 2 -o json", "\"swp\"\nexit 0"},
		{"nv show interface swp4 --rev 99", "Error: revision \"99\" does not exist\nexit 1"},
		{"nv show interface swp4", "Error: The requested item does not exist.\nexit 1"},
		{"nv config revision | grep -c applied_and_saved", "3\nexit 0"},
		{"nv config apply 2 -y && nv config diff 2 applied && nv config diff applied startup", "applied_and_saved [rev_id: 2]\nexit 0"},
		{"nv config apply 99 -y", `Error: revision "99" does not exist`},
		{"nv config show -o commands | head -n 1", "nv set interface eth0 ip address dhcp\n"},
		{"nv config show", "version: Cumulus Linux 5.11\n- set:\n"},
		{"nv config apply --confirm-yes", "Error: no revision waits for its confirmation\nexit 1"},
		{"nv set interface swp1 link mtu 1", "is not simulated"},
		{"nv config history; nv", "exit 1"},
	} {
		if got := m.say(c.line); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwanted %q", c.line, got, c.want)
		}
	}
}

// TestConfirm: what is not confirmed goes back when its time is over, also by a reboot.
func TestConfirm(t *testing.T) {
	for name, c := range map[string]struct {
		then func(m *Machine, clock *lab.ManualTime)
		mtu  string
	}{
		"confirmed": {func(m *Machine, _ *lab.ManualTime) { m.say("nv config apply --confirm-yes") }, "9000"},
		"refused":   {func(m *Machine, _ *lab.ManualTime) { m.say("nv config apply --confirm-no") }, ""},
		"time over": {func(m *Machine, clock *lab.ManualTime) { clock.Advance(2 * time.Minute) }, ""},
		"reboot":    {func(m *Machine, _ *lab.ManualTime) { m.Reboot() }, ""},
		"clock set": {func(m *Machine, clock *lab.ManualTime) { clock.Jump(clock.Now().Add(time.Hour)) }, "9000"},
	} {
		clock := lab.NewManualTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		m := start(t, clock)
		m.file(t, "a.yaml", "- set:\n    interface:\n      swp1:\n        link:\n          mtu: 9000\n")
		if got := m.say("nv config patch a.yaml && nv config apply --confirm 2m -y"); !strings.Contains(got, "confirm [rev_id: 2]") {
			t.Fatal(got)
		}
		clock.Advance(time.Minute)
		if got := m.say("nv config apply --confirm-status"); !strings.Contains(got, "60 seconds left") {
			t.Errorf("%s: %s", name, got)
		}
		c.then(m, clock)
		want := "exit 1"
		if c.mtu != "" {
			want = c.mtu
		}
		if got := m.say("nv show interface swp1 link mtu -o json"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestExpand(t *testing.T) {
	for in, want := range map[string]string{
		"swp1-3": "swp1 swp2 swp3", "swp1-2,5": "swp1 swp2 swp5", "swp1,swp3-4": "swp1 swp3 swp4", "10,20-22": "10 20 21 22", "swp1s0-1": "swp1s0 swp1s1",
		"bond-a": "bond-a", "lo": "lo", "swp3-1": "error", "swp1-99999": "error", "swp2-swp4": "swp2 swp3 swp4",
	} {
		list, err := expand(in)
		got := strings.Join(list, " ")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s is %q, wanted %q", in, got, want)
		}
	}
}

func FuzzReadChange(f *testing.F) {
	f.Add([]byte("- set:\n    a: {b: 'null', c: \"\\t\\n\", \"\\td\\n\": '1'}\n"))
	f.Add([]byte("- header: {a: b}\n- unset:\n    interface:\n      swp1-3: {}\n- set:\n    interface:\n      swp1-2,5:\n        link: {mtu: 9000, state: {up: {}}}\n    qos: {roce: {enable: on}}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := readChange(b)
		if err != nil {
			return
		}
		again, err := readChange([]byte(c.set.yaml("set")))
		if err != nil {
			t.Fatalf("%v:\n%s", err, c.set.yaml("set"))
		}
		if diff := cmp.Diff(c.set.commands("set"), again.set.commands("set")); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
		whole := c.set.clone()
		whole.merge(c.unset)
		whole.remove(c.unset)
	})
}
