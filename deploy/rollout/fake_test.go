package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// What a fault does to a machine. Drops lose the session: before the machine has
// heard of the verb, while it is at work, or with its answer.
const (
	refuse     = "refuse"      // the verb is not done, and the machine says so
	dropBefore = "drop before" //
	dropDuring = "drop during" //
	dropAfter  = "drop after"  //
	slow       = "slow"        // takes three times the time to confirm
	lie        = "lie"         // exit code 0, and nothing done
	pretend    = "pretend"     // says it is done in its status too, and is as before
	reboot     = "reboot"      // in the middle
	restart    = "restart"     // likewise, and what is open stays so until its time is over
	silent     = "silent"      // never answers, never does it
	dead       = "dead"        // gone for good
	stranger   = "stranger"    // shows another host key from then on
	full       = "full"        // no room for files
	garbage    = "garbage"     // what it prints as status is none
)

// fault is what goes wrong at one verb, once or each time.
type fault struct {
	kind string
	verb targets.Verb // "dial" is that of sessions, "read" that of reading
	each bool
}

const (
	dial targets.Verb = "dial"
	read targets.Verb = "read"
)

// machine is a device that keeps its word, but for its faults.
type machine struct {
	name string

	mu      sync.Mutex
	running intent.Device
	stored  intent.Device
	files   map[string][]byte
	open    string
	tx      map[string]*transaction
	faults  []fault
	down    time.Time // until then nobody reaches it
	gone    bool
	odd     bool // shows another host key
	verbs   []string
	boots   int
	stores  bool   // what is changed is stored at once, as on a host
	last    string // ID of the last change that was confirmed
}

type transaction struct {
	last    string // machine.last before it
	phase   targets.Phase
	message string
	before  intent.Device
	until   time.Time
	timer   *time.Timer
}

const (
	verbTakes = 2 * time.Second
	bootTakes = 50 * time.Second
)

func newMachine(d *intent.Device) *machine {
	return &machine{name: d.Name, running: *d, stored: *d, files: map[string][]byte{}, tx: map[string]*transaction{}}
}

// strike takes the fault of a verb, if there is one.
func (m *machine) strike(v targets.Verb) string {
	for i, f := range m.faults {
		if f.verb == v {
			if !f.each {
				m.faults = append(m.faults[:i:i], m.faults[i+1:]...)
			}
			return f.kind
		}
	}
	return ""
}

func (m *machine) reach() error {
	switch {
	case m.gone || time.Now().Before(m.down):
		return &session.Error{Device: m.name, Op: "connect", Kind: session.KindUnreachable, Err: errors.New("no route to host")}
	case m.odd:
		return &session.Error{Device: m.name, Op: "connect", Kind: session.KindHostKey, Err: errors.New("the host key is another one")}
	}
	return nil
}

// lose is what befalls whoever is in a session.
func (m *machine) lose() error {
	return &session.Error{Device: m.name, Op: "run", Kind: session.KindLost, Err: errors.New("the session ended in the middle")}
}

// restarts is a loss of power: what is not stored is gone, and the time to confirm begins anew.
func (m *machine) restarts() {
	m.down = time.Now().Add(bootTakes)
	m.running = m.stored
	m.boots++
}

func (m *machine) boot() string { return "boot" + strconv.Itoa(m.boots) }

// power is a loss of power on a machine that takes back what was begun when it starts.
func (m *machine) power() {
	m.restarts()
	for _, t := range m.tx {
		switch t.phase {
		case targets.PhaseBegun, targets.PhaseChanging, targets.PhaseChanged, targets.PhaseFailed, targets.PhaseReverting:
			m.back(t)
		}
	}
}

func (t *transaction) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

func (m *machine) back(t *transaction) {
	t.stop()
	m.running, m.stored, m.open = t.before, t.before, ""
	t.phase, t.until = targets.PhaseReverted, time.Time{}
}

func (m *machine) transaction(id string) *transaction {
	if m.tx[id] == nil {
		m.tx[id] = &transaction{phase: targets.PhaseNone}
	}
	return m.tx[id]
}

// do does a verb. It is called with the lock held, and gives it up while it works.
func (m *machine) do(v targets.Verb, id, boot string, confirm time.Duration, takes time.Duration, want []byte) (code int, said string) {
	t := m.transaction(id)
	work := func() {
		m.mu.Unlock()
		time.Sleep(takes)
		m.mu.Lock()
	}
	switch v {
	case targets.VerbBegin:
		if m.open != "" && m.open != id {
			return targets.ExitRefused, "transaction " + m.open + " is open"
		}
		if t.phase == targets.PhaseNone {
			t.before, t.last, m.open = m.running, m.last, id
			t.phase, t.until = targets.PhaseBegun, time.Now().Add(confirm)
			t.timer = time.AfterFunc(confirm, func() {
				m.mu.Lock()
				defer m.mu.Unlock()
				if t.phase != targets.PhaseConfirmed && t.phase != targets.PhaseReverted {
					m.back(t)
				}
			})
		}
	case targets.VerbChange:
		if t.phase != targets.PhaseBegun {
			break
		}
		t.phase = targets.PhaseChanging
		work()
		if t.phase != targets.PhaseChanging {
			return targets.ExitFailed, "it was taken back meanwhile"
		}
		var next intent.Device
		if err := json.Unmarshal(want, &next); err != nil {
			t.phase, t.message = targets.PhaseFailed, err.Error()
			return targets.ExitFailed, t.message
		}
		m.running, t.phase = next, targets.PhaseChanged
		if m.stores {
			m.stored = next
		}
	case targets.VerbConfirm:
		if t.phase == targets.PhaseChanged && boot != m.boot() {
			return targets.ExitRefused, "it was started again since it was read"
		}
		switch t.phase {
		case targets.PhaseChanged:
			t.timer.Stop()
			t.phase, t.until, m.stored, m.open, m.last = targets.PhaseConfirmed, time.Time{}, m.running, "", id
		case targets.PhaseConfirmed:
		default:
			return targets.ExitRefused, "there is nothing to confirm"
		}
	case targets.VerbRevert:
		if t.phase == targets.PhaseNone || t.phase == targets.PhaseReverted {
			break
		}
		if t.phase == targets.PhaseConfirmed && m.last != id {
			return targets.ExitRefused, "change " + m.last + " came after " + id + ": undo that one first"
		}
		if m.last == id {
			m.last = t.last
		}
		t.phase = targets.PhaseReverting
		work()
		m.back(t)
	}
	return targets.ExitDone, ""
}

// call is a verb over a session.
func (m *machine) call(ctx context.Context, v targets.Verb, id, boot string, confirm time.Duration, want []byte) (session.Output, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.reach(); err != nil {
		return session.Output{}, m.lose() // the session was there before
	}
	m.verbs = append(m.verbs, string(v))
	takes := verbTakes
	hit := m.strike(v)
	switch hit {
	case refuse:
		t := m.transaction(id)
		switch v {
		case targets.VerbBegin:
			return session.Output{Exit: targets.ExitRefused, Stderr: []byte("note\nno room for a snapshot\n")}, nil
		case targets.VerbRevert:
			t.phase, t.message = targets.PhaseStuck, "line 3 was refused"
			t.stop()
			return session.Output{Exit: targets.ExitStuck, Stderr: []byte("line 3 was refused")}, nil
		case targets.VerbChange:
			t.phase, t.message = targets.PhaseFailed, "line 3 was refused"
		}
		return session.Output{Exit: targets.ExitFailed, Stderr: []byte("line 3 was refused")}, nil
	case dropBefore:
		return session.Output{}, m.lose()
	case dropDuring:
		go func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.do(v, id, boot, confirm, takes, want)
		}()
		return session.Output{}, m.lose()
	case slow:
		takes = 3 * confirm
	case lie:
		return session.Output{}, nil
	case pretend:
		t := m.transaction(id)
		switch v {
		case targets.VerbChange:
			t.phase = targets.PhaseChanged
		case targets.VerbRevert:
			t.stop()
			t.phase, m.open = targets.PhaseReverted, ""
		}
		return session.Output{}, nil
	case reboot:
		if v == targets.VerbChange {
			m.transaction(id).phase = targets.PhaseChanging
		}
		m.power()
		return session.Output{}, m.lose()
	case restart:
		m.restarts()
		return session.Output{}, m.lose()
	case silent:
		m.mu.Unlock()
		<-ctx.Done()
		m.mu.Lock()
		return session.Output{}, &session.Error{Device: m.name, Op: "run", Kind: session.KindTimeout, Err: ctx.Err()}
	case dead:
		m.gone = true
		m.power()
		return session.Output{}, m.lose()
	case stranger:
		m.odd = true
		return session.Output{}, m.lose()
	}
	type answer struct {
		code int
		said string
	}
	done := make(chan answer, 1)
	go func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		code, said := m.do(v, id, boot, confirm, takes, want)
		done <- answer{code, said}
	}()
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-ctx.Done():
		return session.Output{}, &session.Error{Device: m.name, Op: "run", Kind: session.KindTimeout, Err: ctx.Err()}
	case a := <-done:
		if hit == dropAfter {
			return session.Output{}, m.lose()
		}
		return session.Output{Exit: a.code, Stderr: []byte(a.said)}, nil
	}
}

// network is all machines, as a dialer.
type network struct {
	mu       sync.Mutex
	machines map[string]*machine
	cut      bool // whoever dials is dead
	open     int
	most     int
}

var errCut = &session.Error{Device: "here", Op: "connect", Kind: session.KindLocal, Err: errors.New("killed")}

func (n *network) dead() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut
}

// Dial opens a session.
func (n *network) Dial(ctx context.Context, to session.Spec) (session.Session, error) {
	if n.dead() {
		return nil, errCut
	}
	m := n.machines[to.Device]
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.strike(dial) {
	case dead:
		m.gone = true
	case stranger:
		m.odd = true
	case dropBefore:
		return nil, m.lose()
	case silent:
		m.mu.Unlock()
		err := wait(ctx, 30*time.Second)
		m.mu.Lock()
		if err == nil {
			err = errors.New("no prompt")
		}
		return nil, &session.Error{Device: m.name, Op: "connect", Kind: session.KindTimeout, Err: err}
	}
	if err := m.reach(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open++
	n.most = max(n.most, n.open)
	return &line1{n, m}, nil
}

// line1 is a session with a machine.
type line1 struct {
	n *network
	m *machine
}

// Run takes the status and what reads.
func (l *line1) Run(_ context.Context, command string, _ []byte) (session.Output, error) {
	if l.n.dead() {
		return session.Output{}, errCut
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if err := l.m.reach(); err != nil {
		return session.Output{}, l.m.lose()
	}
	verb, id, _ := strings.Cut(command, " ")
	switch targets.Verb(verb) {
	case targets.VerbStatus:
		switch l.m.strike(targets.VerbStatus) {
		case dropBefore:
			return session.Output{}, l.m.lose()
		case dead:
			l.m.gone = true
			return session.Output{}, l.m.lose()
		case garbage:
			return session.Output{Stdout: []byte("Last login: never\n\x00{\n")}, nil
		case reboot:
			l.m.power()
			return session.Output{}, l.m.lose()
		case restart:
			l.m.restarts()
			return session.Output{}, l.m.lose()
		}
		t := l.m.transaction(id)
		left := 0
		if !t.until.IsZero() {
			left = int(time.Until(t.until) / time.Second)
		}
		openLeft := 0
		if o := l.m.tx[l.m.open]; o != nil && !o.until.IsZero() {
			openLeft = int(time.Until(o.until) / time.Second)
		}
		since := ""
		if (t.phase == targets.PhaseConfirmed || t.phase == targets.PhaseReverted) && l.m.last != id && l.m.last != t.last {
			since = l.m.last
		}
		b, err := json.Marshal(targets.State{
			ID: id, Phase: t.phase, Left: left, Open: l.m.open, OpenLeft: openLeft, Since: since, Message: t.message, Boot: l.m.boot(),
		})
		return session.Output{Stdout: append([]byte("a banner\n"), b...)}, err
	case read:
		switch l.m.strike(read) {
		case dropBefore:
			return session.Output{}, l.m.lose()
		case dead:
			l.m.gone = true
			return session.Output{}, l.m.lose()
		case garbage:
			return session.Output{Stdout: []byte("<html>")}, nil
		case reboot:
			l.m.power()
			return session.Output{}, l.m.lose()
		case restart:
			l.m.restarts()
			return session.Output{}, l.m.lose()
		}
		b, err := json.Marshal(l.m.running)
		return session.Output{Stdout: b}, err
	}
	return session.Output{Exit: 127, Stderr: []byte("not found")}, nil
}

// Configure takes the verbs.
func (l *line1) Configure(ctx context.Context, c session.Change) (session.Output, error) {
	if l.n.dead() {
		return session.Output{}, errCut
	}
	l.m.mu.Lock()
	if len(c.Files) > 0 && l.m.strike("files") == full {
		l.m.mu.Unlock()
		return session.Output{}, &session.Error{Device: l.m.name, Op: "copy files", Kind: session.KindRefused, Err: errors.New("no space left on device")}
	}
	for _, f := range c.Files {
		l.m.files[path.Join(c.Folder, f.Path)] = f.Bytes
	}
	want := l.m.files[path.Join(c.Folder, c.Dir, "intent.json")]
	l.m.mu.Unlock()
	words := strings.Fields(c.Command)
	seconds, err := strconv.Atoi(words[2])
	if err != nil {
		return session.Output{}, err
	}
	boot := ""
	if len(words) > 3 {
		boot = words[3]
	}
	return l.m.call(ctx, targets.Verb(words[0]), words[1], boot, time.Duration(seconds)*time.Second, want)
}

// Close ends the session.
func (l *line1) Close() error {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	l.n.open--
	return nil
}

// fakeTarget is the target of machines: what is captured and what is written is
// the intent as JSON.
var fakeTarget = &targets.Target{
	Name: "fake",
	Live: &targets.Live{
		Shell: targets.POSIX, Root: "/var/lib/rocec", Confirms: "a timer",
		Command: func(v targets.Verb, tx targets.Transaction) string {
			if v == targets.VerbStatus {
				return "status " + tx.ID
			}
			return fmt.Sprintf("%s %s %d %s", v, tx.ID, int(tx.Confirm/time.Second), tx.Boot)
		},
		Manual: func(tx targets.Transaction) string { return "go back " + tx.ID + " on " + tx.Device.Name },
	},
	Parse: func(_ *intent.Device, c targets.Captured) (*intent.Device, diag.List) {
		d := &intent.Device{}
		if err := json.Unmarshal(c.Files["all"], d); err != nil {
			return nil, diag.List{{Summary: "it is no JSON"}}
		}
		return d, nil
	},
}

func observeFake(ctx context.Context, s session.Session, d *intent.Device, t *targets.Target) (targets.Captured, error) {
	if len(t.Probes) > 0 { // others than those of the settings
		c := targets.Captured{Files: map[string][]byte{}}
		for _, p := range t.Runs(d) {
			out, err := s.Run(ctx, p.Command, nil)
			if err != nil {
				return c, err
			}
			c.Files[p.File] = out.Stdout
		}
		return c, nil
	}
	out, err := s.Run(ctx, string(read), nil)
	if err != nil {
		return targets.Captured{}, err
	}
	return targets.Captured{Files: map[string][]byte{"all": out.Stdout}}, nil
}

// memory is a record in memory.
type memory struct {
	mu      sync.Mutex
	entries map[string]*record.Entry
	version map[string]int
	broken  bool
}

func (m *memory) Get(device string) (*record.Entry, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[device] == nil {
		return nil, "", nil
	}
	return m.entries[device], strconv.Itoa(m.version[device]), nil
}

func (m *memory) Put(e *record.Entry, expected string) (string, error) {
	if err := m.move(e.Device, expected); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.FormatVersion, e.Workspace = record.FormatVersion, "lab"
	m.entries[e.Device] = e
	return strconv.Itoa(m.version[e.Device]), nil
}

func (m *memory) Delete(device, expected string) error {
	if err := m.move(device, expected); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, device)
	return nil
}

func (m *memory) move(device, expected string) error {
	_, v, _ := m.Get(device)
	m.mu.Lock()
	defer m.mu.Unlock()
	if v != expected || m.broken {
		return &record.LostError{ID: "abc"}
	}
	m.version[device]++
	return nil
}

// settingsOf is a device of one port whose MTU tells its settings.
func settingsOf(name string, mtu uint16) *intent.Device {
	return &intent.Device{Version: intent.Version, Name: name, Kind: intent.Switch, Ports: []intent.Port{{Name: "p1", MTU: intent.Some(mtu)}}}
}

const (
	mtuBefore = 1500
	mtuAfter  = 9000
)

// site is machines, the plan that changes all of them, and what a run of it needs.
type site struct {
	t      testing.TB
	net    *network
	plan   *Plan
	record *memory
	dir    string
	events []Event
	clock  func() time.Time
	syncs  int
}

func newSite(t testing.TB, names ...string) *site {
	s := &site{
		t: t, net: &network{machines: map[string]*machine{}}, dir: t.TempDir(), clock: time.Now,
		record: &memory{entries: map[string]*record.Entry{}, version: map[string]int{}},
		plan:   &Plan{ID: "tx1", Workspace: "lab", RocecVersion: "0", Digest: "sha256:plan", Confirm: 5 * time.Minute, Parallelism: 4},
	}
	for _, n := range names {
		s.net.machines[n] = newMachine(settingsOf(n, mtuBefore))
		s.plan.Devices = append(s.plan.Devices, fakeDevice(n))
	}
	for i, n := range names {
		if i%2 == 0 { // every other one was applied before
			s.record.entries[n] = entryOf(settingsOf(n, mtuBefore))
		}
	}
	return s
}

// entryOf is what the record holds of a device.
func entryOf(d *intent.Device) *record.Entry {
	digest := intent.Digest(d)
	return &record.Entry{
		FormatVersion: record.FormatVersion, Workspace: "lab", Device: d.Name, Address: "switch." + d.Name, Emitter: "fake", Status: record.Applied,
		IntentDigest: digest, SourcesDigest: digest, Intent: d,
	}
}

// recorded reports whether the record has a device as applied by the plan, or as
// it was before.
func (s *site) recorded(name string) (applied, before bool) {
	e, _, _ := s.record.Get(name)
	if e == nil {
		return false, s.plan.index(name)%2 == 1
	}
	return mtuOf(e.Intent) == mtuAfter, mtuOf(e.Intent) == mtuBefore && s.plan.index(name)%2 == 0
}

func (p *Plan) index(name string) int {
	return slices.IndexFunc(p.Devices, func(d Device) bool { return d.Name == name })
}

func fakeDevice(name string) Device {
	want := settingsOf(name, mtuAfter)
	return Device{
		Name: name, Address: "switch." + name, Target: fakeTarget, Session: session.Spec{Device: name}, Base: intent.Digest(settingsOf(name, mtuBefore)),
		Intent: func() *intent.Device { return want },
		Make: func(targets.Captured) (*apply.Device, error) {
			b, err := json.Marshal(want)
			return &apply.Device{Name: name, Intent: want, Artifacts: []emit.Artifact{{Path: "intent.json", Mode: 0o644, Step: emit.Data, Bytes: b}}}, err
		},
		Entry: func() (*record.Entry, error) {
			return entryOf(want), nil
		},
	}
}

func (s *site) env(j *Journal) *Env {
	return &Env{Dialer: s.net, Observe: observeFake, Journal: j, Record: s.record, Now: func() time.Time { return s.clock() }, Tell: func(e Event) { s.events = append(s.events, e) }}
}

func (s *site) journal() *Journal {
	s.t.Helper()
	j, err := CreateJournal(s.dir, s.plan.ID, func() time.Time { return s.clock() })
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = j.Close() })
	j.sync = func(*os.File) error { s.syncs++; return nil } // there is no time for a disk
	return j
}

func (s *site) run(ctx context.Context) *Report {
	s.t.Helper()
	rep, err := Run(ctx, s.plan, s.env(s.journal()))
	if err != nil {
		s.t.Fatal(err)
	}
	if len(rep.Results) != len(s.plan.Devices) {
		s.t.Errorf("%d of %d devices are in the report", len(rep.Results), len(s.plan.Devices))
	}
	return rep
}

// history is what the journal says.
func (s *site) history() *History {
	s.t.Helper()
	list, err := Journals(s.dir)
	if err != nil || len(list) == 0 {
		s.t.Fatalf("%d journals: %v", len(list), err)
	}
	return list[0]
}

// again is an environment that goes on with the journal.
func (s *site) again() (*History, *Env) {
	s.t.Helper()
	h := s.history()
	j, err := h.Continue(func() time.Time { return s.clock() })
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = j.Close() })
	j.sync = func(*os.File) error { return nil }
	return h, s.env(j)
}

// soundness is the invariant: no device is between two states without being
// named, and the record says what is.
func (s *site) soundness(rep *Report) error {
	for _, r := range rep.Results {
		m := s.net.machines[r.Device]
		m.mu.Lock()
		now, stored, open := mtuOf(&m.running), mtuOf(&m.stored), m.open
		m.mu.Unlock()
		applied, before := s.recorded(r.Device)
		state := fmt.Sprintf("%s is %s: runs %d, stored %d, open %q, recorded %t, as before %t; %s", r.Device, r.Outcome, now, stored, open, applied, before, r.Message)
		switch r.Outcome {
		case Unchanged, RolledBack:
			if asApplied := now == mtuAfter && stored == mtuAfter && applied; r.Outcome == Unchanged && r.Failed && asApplied && r.Message != "" && open == "" {
				continue // it was not reached to be taken back
			}
			if now != mtuBefore || stored != mtuBefore || open != "" || !before {
				return errors.New(state)
			}
		case Applied:
			if now != mtuAfter || stored != mtuAfter || open != "" || !applied && !r.Failed {
				return errors.New(state)
			}
		case Pending:
			if now != mtuAfter || stored != mtuBefore || open == "" || !before || r.Until.IsZero() {
				return errors.New(state)
			}
		case Left: // for the second time
			if r.Message == "" || open != "" {
				return errors.New(state + ", and is not named")
			}
		case Stuck, Doubt, Kept:
			if r.Message == "" || r.Manual == "" || !r.Failed {
				return errors.New(state + ", and is not named with what to do")
			}
		default:
			return errors.New(state)
		}
	}
	return nil
}

func mtuOf(d *intent.Device) uint16 {
	if len(d.Ports) == 0 {
		return 0
	}
	return d.Ports[0].MTU.Value
}

func sessionOutput(b []byte) session.Output { return session.Output{Stdout: b} }
