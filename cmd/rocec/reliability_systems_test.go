package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/observe"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// system is one device of a system that is no Linux host.
type system struct {
	name     string
	folder   string   // of testdata
	replace  []string // in its configuration
	device   string
	address  string
	from, to string // the change
	middle   string // a command in the middle of it
	nth      int
	saves    string   // the command that makes the change last over a restart, once it is confirmed
	settled  bool     // by a reboot: there is nothing that waits for one when the change begins
	needs    []string // programs that its simulation runs
}

var systems = []system{
	{
		name: "SONiC switch", folder: "live", device: "tor", address: "switch.tor", from: "dscp     = [48]", to: "dscp     = [46]",
		middle: `^config`, nth: 2, saves: `^config save`, needs: []string{"python3"},
	},
	{
		name: "Cumulus switch", folder: "live", device: "tor", address: "switch.tor", from: "dscp     = [48]", to: "dscp     = [46]",
		replace: []string{"sonic/202505", "cumulus-linux/5.11", "Ethernet[0-8:4]", "swp[1-3]", `"Ethernet0"`, `"swp1"`, `"Ethernet4"`, `"swp2"`, `"Ethernet8"`, `"swp3"`},
		middle:  `^nv config apply`, nth: 1, saves: `^nv config apply --confirm-yes`,
	},
	{
		name: "Windows host", folder: "smb", device: "n1", address: `node.s2d["n1"]`, from: "default = 50", to: "default = 60",
		replace: []string{`switch "tor" {`, "rollout {\n  confirm = \"1h\"\n  wave \"all\" {}\n}\n\nswitch \"tor\" {"}, middle: `^set-netqostrafficclass`, nth: 1, settled: true,
	},
}

// harms are the dangers that every system is put in.
func (y *system) harms() []danger {
	list := []danger{
		{what: "nothing"},
		{what: "the connection is lost before the change", fault: struck(lab.FaultDropBefore, `\bchange\b`, 1, 1)},
		{what: "the connection is lost during the change", fault: struck(lab.FaultDrop, `\bchange\b`, 1, 1)},
		{what: "the connection is lost after the change", fault: struck(lab.FaultDropAfter, `\bchange\b`, 1, 1)},
		{what: "the connection is lost during the confirmation", fault: struck(lab.FaultDrop, `\bconfirm\b`, 1, 1)},
		{what: "it refuses a command in the middle of the change", fault: struck(lab.FaultRefuse, y.middle, y.nth, 1)},
		{what: "it says yes and does nothing", fault: struck(lab.FaultLie, y.middle, y.nth, -1)},
		{what: "it reboots in the middle of the change", fault: struck(lab.FaultReboot, y.middle, y.nth, 1)},
		{what: "it shows the wrong host key", fault: struck(lab.FaultHostKey, "", 0, 0)},
		{what: "it never prompts", fault: struck(lab.FaultMute, "", 0, 0)},
		{what: "it lets in, and answers nothing from the middle of the change until it is taken back", run: silent, confirm: "60s"},
		{what: "it is slow", fault: struck(lab.FaultSlow, "", 0, 0)},
		{what: "its disk is full", fault: struck(lab.FaultFull, "", 0, 0)},
		{what: "its clock jumps a year ahead while it is changed", run: jumped(365 * 24 * time.Hour)},
		{what: "two applies at once, with two records", run: twoRecords},
	}
	list = append(list, kills()...)
	list = append(list, danger{what: powerless, run: restarted})
	if y.saves != "" {
		list = append(list, danger{what: "it loses power as it is to save what is confirmed", fault: struck(lab.FaultReboot, y.saves, 1, 1)})
	}
	if y.settled {
		list = append(list, danger{what: overdue, fault: struck(lab.FaultReboot, y.middle, y.nth, 1)})
	}
	return list
}

// overdue is a reboot that does more than to end the change.
const overdue = "it reboots in the middle of the change, and an earlier one waited for a restart"

// TestReliabilitySystems is TestReliability for switches and for Windows.
func TestReliabilitySystems(t *testing.T) {
	if !*everyFault && !targettest.Update() {
		return // TestLive and the tests of the lab's machines meet them too
	}
	var names []string
	var meet []func(t *testing.T) string
	for i := range systems {
		y := &systems[i]
		for _, d := range y.harms() {
			names = append(names, y.name+" | "+d.what)
			meet = append(meet, func(t *testing.T) string { return y.meet(t, &d) })
		}
	}
	rows := make([]string, len(names))
	t.Run("group", func(t *testing.T) {
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				rows[i] = meet[i](t)
			})
		}
	})
	tabled(t, "systems", "| device | what goes wrong | exit code | in the end | message |\n| --- | --- | --- | --- | --- |\n", names, rows)
}

// meet is one fault met, as a row.
func (y *system) meet(t *testing.T, d *danger) string {
	for _, program := range y.needs {
		oracle.Need(t, program)
	}
	confirm := strconv.Quote(cmp.Or(d.confirm, "1h"))
	replace := []string{`"1h"`, confirm}
	for _, r := range y.replace {
		replace = append(replace, strings.ReplaceAll(r, `"1h"`, confirm))
	}
	s := onLab(t, y.folder, replace...)
	s.victim, s.args = y.device, []string{"apply", "--auto-approve", "--target=" + y.address}
	s.env = append(s.env, "ROCEC_PATIENCE=30s")
	s.run(0, s.args)
	s.old = s.journals()
	if y.settled && d.what != overdue {
		m, err := s.lab.Machine(y.device)
		if err != nil {
			t.Fatal(err)
		}
		m.Reboot()
	}
	s.edit(y.from, y.to)
	s.load()
	was := intent.Digest(s.shown(y.device))
	if d.fault != nil {
		s.inject(d.fault)
	}
	var end outcome
	if d.run != nil {
		end = d.run(s)
	} else {
		end = s.apply(s.args...)
	}
	s.heal()
	state := stood(s.project.alone(s.devices[y.device]), s.shown(y.device), was)
	if named := slices.Contains(end.named, y.device); state == between && (!named || end.exit != 3) {
		t.Errorf("it is between two states, exit code %d, named %t", end.exit, named)
	} else if named {
		state += ", named"
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s |\n", y.name, d.what, end.exit, state, steady(end.message))
}

// shown is what a device shows over a session of the test's own.
func (s *liveSite) shown(device string) *intent.Device {
	s.t.Helper()
	spec, err := s.lab.Spec(device)
	if err != nil {
		s.t.Fatal(err)
	}
	d := s.devices[device]
	want := s.project.alone(d)
	client := &session.Client{}
	open, err := client.Dial(s.t.Context(), spec)
	if err != nil {
		s.t.Fatal(err)
	}
	defer open.Close()
	var c targets.Captured
	if c, err = observe.Read(s.t.Context(), open, want, d.target); err != nil {
		s.t.Fatal(err)
	}
	have, found := d.target.Parse(want, c)
	if found.HasErrors() {
		s.t.Fatalf("%s shows what cannot be read: %v", device, found)
	}
	return have
}
