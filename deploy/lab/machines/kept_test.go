package machines

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// TestKept takes from a host, one after the other, everything that makes it start with
// its settings while it runs with them: each is seen, and a change brings all of it
// back.
func TestKept(t *testing.T) {
	t.Parallel()
	x := start(t, "storage", "stor01")
	x.lay("a1")
	x.do("a1", targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
	boots := func() (lines []string) {
		t.Helper()
		list, findings := x.target.Stored(x.d, x.captured(x.machine))
		if len(findings) > 0 {
			t.Error(findings)
		}
		for _, d := range list {
			lines = append(lines, d.Path.String()+": "+d.Before)
		}
		return lines
	}
	sound := func(when string) {
		t.Helper()
		if lines, older := boots(), x.target.Outdated(x.d, x.captured(x.machine)); len(lines)+len(older)+len(x.left(false)) > 0 {
			t.Errorf("%s: %q, %v, %q", when, lines, older, x.left(false))
		}
	}
	sound("confirmed")
	units := strings.Fields(run(t, x.machine, 0, "sed -n 's/^enabled //p' /var/lib/rocec/installed"))
	places := strings.Fields(run(t, x.machine, 0, "sed -n 's,^[0-7]* [0-9a-f]* /,/,p' /var/lib/rocec/installed"))
	if len(units) != len(x.d.Ports) || len(places) < 10 {
		t.Fatalf("installed are %q and %q", units, places)
	}
	all := ""
	for _, p := range places {
		run(t, x.machine, 0, "mv "+p+" /var/tmp/away")
		if got := boots(); len(got) != 1 || got[0] != "stored."+p+": missing" {
			t.Errorf("without %s: %q", p, got)
		}
		run(t, x.machine, 0, "mv /var/tmp/away "+p)
		all += " " + p
	}
	for _, u := range units {
		run(t, x.machine, 0, "systemctl disable '"+u+"'")
		if got := boots(); len(got) != 1 || got[0] != "stored."+u+": disabled" {
			t.Errorf("with %s disabled: %q", u, got)
		}
		run(t, x.machine, 0, "systemctl enable '"+u+"'")
	}
	const netplan = "/etc/netplan/60-rocec.yaml"
	run(t, x.machine, 0, "cp -p "+netplan+" /var/tmp/away && echo '# by hand' >>"+netplan)
	if got := boots(); len(got) != 1 || got[0] != "stored."+netplan+": edited, in comments only" {
		t.Errorf("a comment: %q", got)
	}
	run(t, x.machine, 0, "sed -i s/9000/1500/ "+netplan)
	if got := boots(); len(got) != 1 || got[0] != "stored."+netplan+": edited" {
		t.Errorf("edited: %q", got)
	}
	run(t, x.machine, 0, "cp -p /var/tmp/away "+netplan+" && chmod 755 "+netplan)
	if got := boots(); len(got) != 1 || got[0] != "stored."+netplan+": mode 755" {
		t.Errorf("with another mode: %q", got)
	}

	run(t, x.machine, 0, "ln -s /dev/null '/etc/systemd/system/"+units[0]+"'")
	if got := boots(); len(got) != 2 || got[1] != "stored."+units[0]+": masked" {
		t.Errorf("masked: %q", got)
	}
	x.lay("a2")
	if code, out := x.verb(t, x.machine, targets.VerbBegin, "a2"); code != targets.ExitRefused || !strings.Contains(out, units[0]+" is masked") || !strings.Contains(out, "systemctl unmask '"+units[0]+"'") {
		t.Errorf("begin with a masked unit: exit %d: %s", code, out)
	}
	run(t, x.machine, 0, "rm '/etc/systemd/system/"+units[0]+"'")

	run(t, x.machine, 0, "systemctl disable "+strings.Join(units, " ")+" && rm"+all)
	if got := boots(); len(got) != len(places)+len(units) {
		t.Errorf("without all of it: %q", got)
	}
	if lines := x.left(false); len(lines) > 0 {
		t.Errorf("it does not run as it shall: %q", lines)
	}
	x.lay("a3")
	x.do("a3", targets.VerbBegin, targets.VerbChange)
	sound("mended")
	x.do("a3", targets.VerbConfirm)

	// An address of somebody else: whatever sets the device anew takes it away. A file of which only comments change does not.
	run(t, x.machine, 0, "ip addr add 192.0.2.9/24 dev nvme_a && echo '# by hand' >>"+netplan)
	x.lay("a4")
	x.do("a4", targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
	run(t, x.machine, 0, "ip addr del 192.0.2.9/24 dev nvme_a")
	sound("without the comment")
}

// TestUnitsComeBack: after a second change that is taken back, the units of the first
// start at boot as they did before it, and one that a person had disabled does not.
func TestUnitsComeBack(t *testing.T) {
	t.Parallel()
	x := start(t, "storage", "stor01")
	x.lay("a1")
	x.do("a1", targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
	links := func() string {
		return run(t, x.machine, 0, "ls -d /etc/systemd/system/*.wants/rocec-qos@*.service")
	}
	first := strings.Fields(links())
	if len(first) != len(x.d.Ports) {
		t.Fatalf("after the first change: %q", first)
	}
	run(t, x.machine, 0, "systemctl disable '"+first[0][strings.LastIndexByte(first[0], '/')+1:]+"'")
	before := links()
	x.lay("a2")
	x.do("a2", targets.VerbBegin, targets.VerbChange)
	if got := links(); len(strings.Fields(got)) != len(first) {
		t.Errorf("after the second change: %q", got)
	}
	x.do("a2", targets.VerbRevert)
	if got := links(); got != before {
		t.Errorf("taken back: %q, before it %q", got, before)
	}
}

// TestRemade: a VLAN device that somebody has removed is made anew by a change that has nothing else to do, and is gone again
// when that is taken back.
func TestRemade(t *testing.T) {
	t.Parallel()
	x := start(t, "storage", "stor01")
	v := tagged(x.d.Ports[0].Name)
	with := *x.d
	with.Ifaces = append(slices.Clone(with.Ifaces), v)
	x.d, x.out = &with, emit.Out{}
	x.target.Write(x.d, &x.out)
	there := func() bool {
		return strings.Contains(run(t, x.machine, 0, "ip -o addr show"), " "+v.Name+" ")
	}
	x.lay("a1")
	x.do("a1", targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
	if left := x.left(false); len(left) > 0 || !there() {
		t.Fatalf("left after the first change: %q", left)
	}
	run(t, x.machine, 0, "ip link del dev "+v.Name)
	x.lay("a2")
	x.do("a2", targets.VerbBegin, targets.VerbChange)
	if left := x.left(false); len(left) > 0 || !there() {
		t.Errorf("left after the second change: %q", left)
	}
	x.do("a2", targets.VerbRevert)
	if there() {
		t.Error("taken back, it is there")
	}
}
