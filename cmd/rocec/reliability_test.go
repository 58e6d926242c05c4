package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/targets/targettest"
)

var everyFault = flag.Bool("reliability", false, "meet every fault of docs/reliability.md, not only a few")

// reliabilityPage is the page that the table of TestReliability stands in.
const reliabilityPage = "../../docs/reliability.md"

// Marks around what the tests write: that of the table goes into the first.
const (
	tableBegin = "<!-- %s, made by go test ./cmd/rocec -run Reliability -update -->\n"
	tableEnd   = "<!-- end -->\n"
)

// danger is one thing that goes wrong while three hosts are changed: s1 in a wave
// of its own, then s2 and s3 in step. It happens to s2 unless it says otherwise.
type danger struct {
	what    string
	quick   bool // met without being asked for
	fault   *lab.Fault
	run     func(s *liveSite) outcome // nil: apply
	confirm string                    // of the rollout, where the way back waits for it; "" = 1h
}

// outcome is what came of a run.
type outcome struct {
	exit    int
	message string
	named   []string // devices that somebody has to look at
}

func struck(kind lab.FaultKind, match string, nth, times int) *lab.Fault {
	f := &lab.Fault{Kind: kind, Nth: nth, Times: times, Delay: 40 * time.Millisecond}
	if match != "" {
		f.Match = regexp.MustCompile(match)
	}
	return f
}

// dangers are the faults that a rollout has to survive.
func dangers() []danger {
	list := []danger{
		{what: "nothing"},
		{what: "the connection is lost before the change", fault: struck(lab.FaultDropBefore, `\bchange\b`, 1, 1)},
		{what: "the connection is lost during the change", quick: true, fault: struck(lab.FaultDrop, `\bchange\b`, 1, 1)},
		{what: "the connection is lost after the change", fault: struck(lab.FaultDropAfter, `\bchange\b`, 1, 1)},
		{what: "the connection is lost during the confirmation", fault: struck(lab.FaultDrop, `\bconfirm\b`, 1, 1)},
		{what: "the connection is lost after the confirmation", fault: struck(lab.FaultDropAfter, `\bconfirm\b`, 1, 1)},
		{what: "the connection is lost at every change", fault: struck(lab.FaultDropBefore, `\bchange\b`, 1, -1)},
		{what: "it refuses a command in the middle of the change", quick: true, fault: struck(lab.FaultRefuse, `^dcb`, 2, 1)},
		{what: "it refuses every command from the middle of the change on, and on the way back", fault: struck(lab.FaultRefuse, `^dcb`, 2, -1)},
		{what: "it reboots in the middle of the change", fault: struck(lab.FaultReboot, `^dcb`, 2, 1)},
		{what: "it shows the wrong host key", fault: struck(lab.FaultHostKey, "", 0, 0)},
		{what: "it never prompts", fault: struck(lab.FaultMute, "", 0, 0)},
		{what: "it is slow", fault: struck(lab.FaultSlow, "", 0, 0)},
		{what: "it says yes and does nothing", fault: struck(lab.FaultLie, `^dcb`, 1, -1)},
		{what: "its disk is full", fault: struck(lab.FaultFull, "", 0, 0)},
		{what: "nobody reaches it", fault: struck(lab.FaultDown, "", 0, 0)},
		{what: "it lets in, and answers nothing from the middle of the change on", fault: struck(lab.FaultHang, `\bchange\b`, 1, 1), confirm: "24s"},
		{what: "it lets in, and answers nothing from the middle of the change until it is taken back", run: silent, confirm: "80s"},
	}
	list = append(list, kills()...)
	list = append(list,
		danger{what: `kill -9 of rocec after it wrote "changed", then rollback`, run: killedAt("changed", "rollback", "--auto-approve")},
		danger{what: "it disappears while it is changed, and comes back", run: vanished, confirm: "80s"},
		danger{what: "the clocks of all hosts jump a year ahead while it is changed", run: jumped(365 * 24 * time.Hour)},
		danger{what: "the clocks of all hosts jump a year back while it is changed", run: jumped(-365 * 24 * time.Hour)},
		danger{what: "two applies at once, with one record", run: twoAtOnce},
		danger{what: "two applies at once, with two records", run: twoRecords},
		danger{what: powerless, run: restarted},
		danger{what: "all hosts have a change open under another journal", run: openElsewhere},
		danger{what: "rollback, and another journal has changed all hosts since", run: refusedBack},
		danger{what: `kill -9 of rocec after it wrote "changed", its entry in the journal is damaged, then apply again`, run: damagedEntry},
		danger{what: "rollback to an apply that the hosts keep no more", run: keptNoMore},
	)
	return list
}

// kills are an end of rocec at every step of its journal.
func kills() (list []danger) {
	for _, step := range []string{"begin", "begun", "change", "changed", "confirm"} {
		list = append(list, danger{what: fmt.Sprintf("kill -9 of rocec after it wrote %q, then apply again", step), run: killedAt(step, "apply")})
	}
	return list
}

var applyHosts = []string{"apply", "--auto-approve", "--exclude=switch.tor"}

// apply runs apply, and takes its message from the stream.
func (s *liveSite) apply(args ...string) outcome {
	code, out, errOut := rocec(s.t, s.dir, s.env, append(slices.Clone(args), "--json")...)
	return ended(code, out+errOut)
}

// ended reads the stream of an apply: why it did not go through, and whom it names.
func ended(code int, text string) outcome {
	end := outcome{exit: code}
	for l := range strings.Lines(text) {
		var x struct {
			Type    string `json:"type"`
			Level   string `json:"@level"`
			Message string `json:"@message"`
			Failure string `json:"failure"`
			Devices []struct {
				Device  string `json:"device"`
				Outcome string `json:"outcome"`
				Manual  string `json:"manual"`
			} `json:"devices"`
		}
		if json.Unmarshal([]byte(l), &x) != nil {
			continue
		}
		switch {
		case x.Failure != "":
			end.message = x.Failure
		case x.Type == "diagnostic" && x.Level == "error" && end.message == "":
			end.message = strings.TrimPrefix(x.Message, "Error: ")
		}
		for _, d := range x.Devices {
			if d.Manual != "" {
				end.named = append(end.named, d.Device)
			}
		}
	}
	return end
}

// underWay is a rocec that runs, until it has ended.
type underWay struct {
	site *liveSite
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan error
	goOn func() // lets a device go on that was held
}

// start starts rocec and lets it run.
func (s *liveSite) start(args []string) *underWay {
	s.t.Helper()
	p := &underWay{site: s, done: make(chan error, 1), goOn: func() {}, cmd: exec.Command("rocec", append(slices.Clone(args), "--json")...)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = s.dir, append(os.Environ(), s.env...), &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	return p
}

// kill ends it on the spot.
func (p *underWay) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
	p.goOn()
}

// end waits for its end.
func (p *underWay) end() outcome {
	p.goOn()
	<-p.done
	return ended(p.cmd.ProcessState.ExitCode(), p.out.String())
}

func (s *liveSite) journals() []string {
	list, _ := filepath.Glob(filepath.Join(s.dir, ".rocec", "journal", "*", "*.ndjson"))
	return list
}

// wrote tells whether a journal of this run has a step of the device that things happen to.
func (s *liveSite) wrote(step string) bool {
	mark := fmt.Sprintf(`{"event":%q,`, step)
	for _, f := range s.journals() {
		if slices.Contains(s.old, f) {
			continue
		}
		text, _ := os.ReadFile(f)
		for l := range strings.Lines(string(text)) {
			if strings.HasPrefix(l, mark) && strings.Contains(l, `"device":"`+s.victim+`"`) {
				return true
			}
		}
	}
	return false
}

// await waits until the journal has a step, and demands that the process lives until then.
func (p *underWay) await(step string) {
	p.site.t.Helper()
	for !p.site.wrote(step) {
		select {
		case err := <-p.done:
			p.site.t.Fatalf("it ended before it wrote %q of %s: %v\n%s", step, p.site.victim, err, &p.out)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// until starts the apply of the site and returns when its journal has a step of the
// device. What the device is told next waits for goOn.
func (s *liveSite) until(step string) *underWay {
	s.t.Helper()
	reached, goOn := make(chan bool), make(chan bool)
	var met func(device string)
	met = func(device string) {
		if device == s.victim && s.wrote(step) && s.met.CompareAndSwap(&met, nil) {
			close(reached)
			select {
			case <-goOn:
			case <-s.t.Context().Done():
			}
		}
	}
	s.met.Store(&met)
	p := s.start(s.args)
	p.goOn = sync.OnceFunc(func() { close(goOn) })
	select {
	case <-reached:
	case err := <-p.done:
		s.t.Fatalf("it ended before it was told anything after %q of %s: %v\n%s", step, s.victim, err, &p.out)
	}
	return p
}

// killedAt kills rocec when the journal has a step of the device, and runs it again.
func killedAt(step string, next ...string) func(s *liveSite) outcome {
	return func(s *liveSite) outcome {
		s.until(step).kill()
		_, status, _ := rocec(s.t, s.dir, s.env, "rollback", "--status")
		if !strings.Contains(status, "not at its end") {
			s.t.Errorf("killed at %s: the status does not say so:\n%s", step, status)
		}
		if next[0] == "apply" {
			next = s.args
		}
		return s.apply(next...)
	}
}

// inject lets something go wrong on the device that things happen to.
func (s *liveSite) inject(f *lab.Fault) {
	s.t.Helper()
	if err := s.lab.Inject(s.victim, *f); err != nil {
		s.t.Fatal(err)
	}
}

// heal takes back all that went wrong on it.
func (s *liveSite) heal() {
	s.t.Helper()
	if err := s.lab.Heal(s.victim); err != nil {
		s.t.Fatal(err)
	}
}

// vanished takes the device off the network in the middle of its change, until it is
// taken back.
func vanished(s *liveSite) outcome {
	p := s.until("change")
	s.inject(struck(lab.FaultDown, "", 0, 0))
	p.goOn()
	p.await("revert")
	s.heal()
	return p.end()
}

// silent has the device answer nothing from the middle of its change until it is
// taken back.
func silent(s *liveSite) outcome {
	s.inject(struck(lab.FaultHang, `\bchange\b`, 1, 1))
	p := s.start(s.args)
	p.await("revert")
	s.heal()
	return p.end()
}

// jumped sets the clocks of all devices in the middle of the change.
func jumped(by time.Duration) func(s *liveSite) outcome {
	return func(s *liveSite) outcome {
		p := s.until("change")
		s.clock.ahead.Add(int64(by))
		return p.end()
	}
}

// twoAtOnce starts a second apply while the first is at work, which stands still
// meanwhile.
func twoAtOnce(s *liveSite) outcome {
	p := s.until("begin")
	second := s.apply(s.args...)
	if first := p.end(); first.exit != 0 {
		s.t.Errorf("the first apply: %+v", first)
	}
	holder := regexp.MustCompile(`by "[^"]*" on host "[^"]*" for "apply" since .*? \(if`)
	second.message = holder.ReplaceAllString(second.message, "(if")
	second.message = regexp.MustCompile(`force-unlock [a-z0-9]+`).ReplaceAllString(second.message, "force-unlock ID")
	return second
}

// twoRecords does so with a record of its own: nothing but the devices knows.
func twoRecords(s *liveSite) outcome {
	p := s.until("begun")
	code, out, errOut := rocec(s.t, s.dir, append(slices.Clone(s.env), "ROCEC_WORKSPACE=other"), "apply", "--auto-approve", "--target="+s.devices[s.victim].address, "--json")
	if first := p.end(); first.exit != 0 {
		s.t.Errorf("the first apply: %+v", first)
	}
	return ended(code, out+errOut)
}

// powerless is the moment between the look back and the confirmation.
const powerless = "it loses power at the confirmation"

// restarted is a loss of power at that moment.
func restarted(s *liveSite) outcome {
	p := s.until("confirm")
	m, err := s.lab.Machine(s.victim)
	if err != nil {
		s.t.Fatal(err)
	}
	m.Reboot()
	return p.end()
}

// elsewhere runs rocec with data of its own, as another person does, or a new runner.
func (s *liveSite) elsewhere(args ...string) {
	s.t.Helper()
	if code, out, errOut := rocec(s.t, s.dir, append(slices.Clone(s.env), "ROCEC_DATA_DIR="+filepath.Join(s.dir, "elsewhere")), args...); code != 0 {
		s.t.Errorf("elsewhere: exit code %d:\n%s%s", code, out, errOut)
	}
}

// openElsewhere applies what somebody else has begun, who has yet to confirm it.
func openElsewhere(s *liveSite) outcome {
	s.elsewhere(append(slices.Clone(s.args), "--confirm=1h")...)
	return s.apply(s.args...)
}

// refusedBack takes back what somebody else has changed since.
func refusedBack(s *liveSite) outcome {
	s.run(0, s.args)
	s.edit("priority  = 4", "priority  = 5")
	s.load()
	s.elsewhere(s.args...)
	s.run(1, []string{"rollback", "--auto-approve"}, "not taken back: change", "came after")
	end := s.apply("rollback", "--auto-approve")
	s.run(0, s.args) // and nothing is blocked by it
	return end
}

// damagedEntry goes on with a journal in which a character is another one.
func damagedEntry(s *liveSite) outcome {
	s.until("changed").kill()
	for _, f := range s.journals() {
		text, err := os.ReadFile(f)
		if err != nil {
			s.t.Fatal(err)
		}
		mark := []byte(`"device":"` + s.victim + `"`)
		lines := bytes.SplitAfter(text, []byte("\n"))
		for i, l := range lines {
			if !slices.Contains(s.old, f) && bytes.HasPrefix(l, []byte(`{"event":"device"`)) && bytes.Contains(l, mark) {
				lines[i] = bytes.Replace(l, []byte(`"entry":"H4`), []byte(`"entry":"H5`), 1)
			}
		}
		if err := os.WriteFile(f, bytes.Join(lines, nil), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	end := s.apply(s.args...)
	s.run(0, s.args) // and nothing is blocked by it
	return end
}

// keptNoMore goes back to an apply before those that devices keep.
func keptNoMore(s *liveSite) outcome {
	first := strings.TrimSuffix(filepath.Base(s.old[len(s.old)-1]), ".ndjson")
	for i := range 6 {
		s.run(0, s.args)
		s.edit(fmt.Sprintf("priority  = %d", 4+i%2), fmt.Sprintf("priority  = %d", 4+(i+1)%2))
	}
	s.load()
	s.run(0, s.args)
	return s.apply("rollback", "--auto-approve", "--to="+first)
}

// TestReliability meets faults with the program itself, against simulated hosts
// over SSH, and looks at every host afterwards. The table in docs/reliability.md
// says what comes of each.
func TestReliability(t *testing.T) {
	list := dangers()
	rows := make([]string, len(list))
	t.Run("group", func(t *testing.T) {
		for i, d := range list {
			if !d.quick && !*everyFault && !targettest.Update() {
				continue
			}
			t.Run(d.what, func(t *testing.T) {
				t.Parallel()
				rows[i] = d.meet(t)
			})
		}
	})
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = d.what
	}
	tabled(t, "hosts", "| What goes wrong on the second of three hosts | exit code | s1 | s2 | s3 | message |\n| --- | --- | --- | --- | --- | --- |\n", names, rows)
}

// tabled compares the rows that were made with a table of the page, or writes
// them. Rows that were not made are empty, and stay there as they are.
func tabled(t *testing.T, name, head string, names, rows []string) {
	t.Helper()
	page, err := os.ReadFile(reliabilityPage)
	if err != nil {
		t.Fatal(err)
	}
	begin := fmt.Sprintf(tableBegin, name)
	before, rest, ok := strings.Cut(string(page), begin)
	table, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table of %s", reliabilityPage, name)
	}
	if targettest.Update() {
		for i := range names {
			for l := range strings.Lines(table) {
				if rows[i] == "" && strings.HasPrefix(l, "| "+names[i]+" | ") {
					rows[i] = l
				}
			}
		}
		if err := os.WriteFile(reliabilityPage, []byte(before+begin+head+strings.Join(rows, "")+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, r := range rows {
		if !strings.Contains(table, r) {
			t.Errorf("the table of %s has not:\n%s(go test ./cmd/rocec -run Reliability -update rewrites it)", reliabilityPage, r)
		}
	}
}

// meet is one fault met, as a row.
func (d *danger) meet(t *testing.T) string {
	s := onLab(t, "live", `"1h"`, strconv.Quote(cmp.Or(d.confirm, "1h")))
	s.victim, s.args = "s2", applyHosts
	s.env = append(s.env, "ROCEC_PATIENCE=10s")
	s.run(0, applyHosts)
	s.old = s.journals()
	s.edit("priority  = 3", "priority  = 4")
	s.load()
	hosts := []string{"s1", "s2", "s3"}
	was := map[string]string{}
	for _, h := range hosts {
		was[h] = intent.Digest(s.observed(h))
	}
	if d.fault != nil {
		s.inject(d.fault)
	}
	var end outcome
	if d.run != nil {
		end = d.run(s)
	} else {
		end = s.apply(applyHosts...)
	}
	s.heal()
	row := fmt.Sprintf("| %s | %d |", d.what, end.exit)
	for _, h := range hosts {
		state := s.state(h, was[h])
		if named := slices.Contains(end.named, h); state == between && (!named || end.exit != 3) {
			t.Errorf("%s is between two states, exit code %d, named %t", h, end.exit, named)
		} else if named {
			state += ", named"
		}
		row += " " + state + " |"
	}
	return row + " " + steady(end.message) + " |\n"
}

// Parts of messages that differ from run to run.
var (
	anID      = regexp.MustCompile(`\b20\d{6}t\d{6}[a-z0-9]{8}\b`)
	anAddress = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	aDigest   = regexp.MustCompile(`/netqos-[0-9a-f]{12}/`)
	aTime     = regexp.MustCompile(`goes back in [0-9hms]+`)
	aPrint    = regexp.MustCompile(`SHA256:[A-Za-z0-9+/]+`)
)

// steady is a message without what differs from run to run.
func steady(message string) string {
	message = anID.ReplaceAllString(message, "ID")
	message = anAddress.ReplaceAllString(message, "ADDRESS")
	message = aDigest.ReplaceAllString(message, "/netqos-DIGEST/")
	message = aTime.ReplaceAllString(message, "goes back in TIME")
	message = aPrint.ReplaceAllString(message, "SHA256:...")
	return strings.ReplaceAll(message, "|", "\\|")
}

// state says how a host is in the end, whatever it was said to be.
func (s *liveSite) state(host, was string) string {
	return stood(s.project.alone(s.devices[host]), s.observed(host), was)
}

func stood(want, have *intent.Device, was string) string {
	switch {
	case intent.Digest(have) == was:
		return "as before"
	case len(intent.Diff(want, have)) == 0:
		return "as wanted"
	}
	return between
}

const between = "between the two"
