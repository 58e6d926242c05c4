package rollout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/record"
)

// History is what the journal of a run says.
type History struct {
	ID           string
	Workspace    string
	RocecVersion string
	Plan         string // digest of what was approved
	At           time.Time
	Confirm      time.Duration
	Hold         bool
	Devices      []*Past // in the order of the plan
	Ended        bool    // the run came to its end, or was settled
	Exit         int
	Damaged      []int  // numbers of lines that are not as they were written: their devices are asked
	By           string // who ran it, user@host; "" = not known
	// Reverting says that something was being taken back when a process died in it: to
	// take the run back again is to finish that.
	Reverting bool

	path    string
	size    int64 // of the whole lines
	byName  map[string]*Past
	watched map[Part]bool
}

// Past is one device of a journal.
type Past struct {
	Name, Address string
	Target        string
	Intent        string // digest of what it was to be
	Wave, Part    string
	Observed      string // digest of what it was before; "" = not known
	Message       string
	Until         time.Time

	at       int // number of its line "device"
	step     step
	begun    bool   // a transaction was begun, or about to be, and did not go back
	answered bool   // it has said that it began, or a step came after that
	recorded bool   // its entry of the record was about to be written
	watched  bool   // by a later run, to the end
	found    []byte // what the device was before, packed
	next     []byte // the entry of the record to come, packed
	entry    []byte // the one that was there before, packed
}

// Outcome is what the journal alone says of a device. Doubt is what only the
// device can tell.
func (p *Past) Outcome() Outcome {
	switch p.step {
	case stepDevice, stepClear:
		return Unchanged
	case stepLeft:
		return Left
	case stepNoted:
		return Applied
	case stepPending:
		return Pending
	case stepKept:
		return Kept
	case stepBack, stepClean:
		return RolledBack
	case stepStuck:
		return Stuck
	}
	return Doubt
}

// settled reports whether nothing is left to be done about a device but to take
// it back.
func (p *Past) settled() bool {
	switch p.step {
	case stepDevice, stepClear, stepLeft, stepNoted, stepClean:
		return true
	case stepBack:
		return !p.recorded
	}
	return false
}

// Open reports whether a device of the run may be between two states.
func (h *History) Open() bool {
	return slices.ContainsFunc(h.Devices, func(p *Past) bool { return !p.settled() })
}

// Past is the device of a name, nil if the run has none.
func (h *History) Past(name string) *Past { return h.byName[name] }

// Unwatched reports whether a device was changed, and the run did not watch its part
// of its wave to the end: it died or was interrupted before, or a gate did not hold and
// the device was left as it is.
func (h *History) Unwatched(p *Past) bool {
	return p.Wave != "" && p.Outcome() == Applied && !p.watched && !h.watched[Part{p.Wave, p.Part}] && !h.watched[Part{Wave: p.Wave}]
}

// NoteWatched writes down which devices of the run were watched to the end since, in
// whatever wave they are by now.
func (h *History) NoteWatched(devices []string, now func() time.Time) error {
	j, err := h.Continue(now)
	if err != nil {
		return err
	}
	var lines []line
	for _, name := range devices {
		lines = append(lines, line{Step: stepWatched, Device: name})
	}
	return errors.Join(j.write(lines...), j.Close())
}

// End writes down that a run came to its end: what was being done to it is done.
func (h *History) End(now func() time.Time) error {
	j, err := h.Continue(now)
	if err != nil {
		return err
	}
	return errors.Join(j.write(line{Step: stepEnd}), j.Close())
}

// maxJournalBytes bounds what is read of a journal.
const maxJournalBytes = 1 << 30

// ReadJournal reads the journal of a run. A last line that was not written to its
// end is passed over, as a process dies in it; what is broken before that is an
// error.
func ReadJournal(path string) (*History, error) {
	b, err := disk.ReadFile(path, maxJournalBytes)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	h, err := decodeJournal(b)
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	if id := strings.TrimSuffix(filepath.Base(path), JournalSuffix); h.ID != "" && h.ID != id {
		return nil, fmt.Errorf("journal %s: it is of run %s", path, h.ID)
	}
	h.path = path
	return h, nil
}

// Journals are those of a folder, the newest first. One that died before its first
// line is left out. Journals that cannot be read are joined into the error, the
// others are returned all the same.
func Journals(dir string) ([]*History, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	var out []*History
	var failed []error
	for _, e := range slices.Backward(entries) { // sorted by name, which begins with the time
		if id, ok := strings.CutSuffix(e.Name(), JournalSuffix); !ok || !idForm().MatchString(id) {
			continue
		}
		h, err := ReadJournal(filepath.Join(dir, e.Name()))
		switch {
		case err != nil:
			failed = append(failed, err)
		case h.ID != "":
			out = append(out, h)
		}
	}
	return out, errors.Join(failed...)
}

// Prune removes the journals of runs that are settled, but for the newest ones of those
// that changed something, and of those that did not.
func Prune(dir string, keep int) error {
	list, err := Journals(dir)
	newer := map[bool]int{}
	for _, h := range list {
		if newer[h.Changed()]++; newer[h.Changed()] > keep && h.Ended && !h.Open() {
			err = errors.Join(err, os.Remove(h.path))
		}
	}
	return err
}

func decodeJournal(b []byte) (*History, error) {
	h := &History{byName: map[string]*Past{}, watched: map[Part]bool{}}
	number := 0
	checked := false // the journal has a checksum in every line
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			break // a process died in it
		}
		number++
		var l line
		text, sum := cutSum(b[:end])
		err := json.Unmarshal(text, &l)
		if err != nil && end+1 == len(b) && number > 1 {
			break // likewise, and the file system had made room for it
		}
		checked = checked || sum != ""
		switch {
		case number == 1 && sum != "" && sum != sumOf(text):
			err = errors.New("it is not as it was written")
		case number > 1 && checked && sum != sumOf(text):
			h.damagedLine(number, &l, err == nil)
			err = nil
		case err == nil:
			err = h.add(&l, number)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		h.size += int64(end) + 1
		b = b[end+1:]
	}
	return h, nil
}

// damagedLine passes over a line that is not as it was written. The device that it was
// about, where that can be told, is asked how far it is; so is every device that an
// earlier line left open.
func (h *History) damagedLine(number int, l *line, readable bool) {
	h.Damaged = append(h.Damaged, number)
	if !readable || disk.CheckName(l.Device) != nil {
		return
	}
	if p := h.byName[l.Device]; p != nil {
		p.step, p.begun, p.answered = stepBegun, true, true
		return
	}
	h.lost(l.Device, number)
}

// lost is a device whose line "device" is damaged: what it was to be is not known.
func (h *History) lost(name string, number int) *Past {
	p := &Past{Name: name, Address: name, step: stepDevice, at: number}
	h.byName[name] = p
	h.Devices = append(h.Devices, p)
	return p
}

// damage says where the journal is damaged, and what a person can do.
func (h *History) damage(d *Past, err error) error {
	return fmt.Errorf("journal %s, line %d is damaged (%w)", h.path, d.at, err)
}

// add takes one line.
func (h *History) add(l *line, number int) error {
	if first := number == 1; first != (l.Step == stepOpen) {
		return fmt.Errorf("the event is %q: a journal has %q first, and once", short(string(l.Step)), stepOpen)
	}
	switch l.Step {
	case stepOpen:
		return h.open(l)
	case stepEnd:
		h.Ended, h.Exit, h.Reverting = true, l.Exit, false
		return nil
	case stepWatched:
		if p := h.byName[l.Device]; p != nil {
			p.watched = true
			return nil
		}
		h.watched[Part{l.Wave, l.Part}] = true // all of it where no part is named
		return nil
	case stepDevice:
		if err := disk.CheckName(l.Device); err != nil {
			return fmt.Errorf("device %w", err)
		}
		if h.byName[l.Device] == nil {
			p := &Past{Name: l.Device, Address: l.Address, Target: l.Target, Intent: l.Intent, Wave: l.Wave, Part: l.Part, next: l.Entry, step: stepDevice, at: number}
			h.byName[l.Device] = p
			h.Devices = append(h.Devices, p)
		}
		return nil
	}
	if l.Device == "" {
		return nil // of a later version
	}
	p := h.byName[l.Device]
	if p == nil && len(h.Damaged) > 0 && disk.CheckName(l.Device) == nil {
		p = h.lost(l.Device, h.Damaged[0])
	}
	if p == nil {
		return fmt.Errorf("device %q is none of the run", short(l.Device))
	}
	p.take(l)
	h.Reverting = h.Reverting || l.Step == stepRevert
	return nil
}

func (h *History) open(l *line) error {
	switch {
	case l.Kind != journalKind:
		return errors.New("it is not a journal")
	case !idForm().MatchString(l.ID):
		return fmt.Errorf("the ID is %q, not of [a-z0-9]{1,32}", short(l.ID))
	}
	if err := record.CheckFormat(l.FormatVersion, JournalVersion); err != nil {
		return err
	}
	h.ID, h.Workspace, h.RocecVersion, h.Plan, h.At, h.Hold, h.By = l.ID, l.Workspace, l.RocecVersion, l.Plan, l.At, l.Hold, l.By
	h.Confirm = time.Duration(min(max(l.ConfirmSeconds, 0), 1<<31-1)) * time.Second
	return nil
}

// take brings a device on by one step. Steps of later versions are passed over.
func (p *Past) take(l *line) {
	switch l.Step {
	case stepBegin:
		p.begun, p.Observed, p.found = true, l.Observed, l.Before
	case stepRecord:
		p.recorded, p.entry = true, l.Entry
	case stepPending, stepKept:
		if l.Until != nil {
			p.Until = *l.Until
		}
	case stepBegun, stepChange:
		p.answered = true
	case stepBack, stepClear:
		p.begun = false
	case stepLeft:
		p.begun, p.recorded = false, false
	case stepClean:
		p.recorded, p.entry = false, nil
	case stepChanged, stepConfirm, stepDone, stepNoted, stepRevert, stepRestore, stepStuck, stepDoubt:
	default:
		return
	}
	p.step, p.Message = l.Step, l.Message
}

// before is the entry of the record that was there, nil if none was.
func (p *Past) before(workspace string) (*record.Entry, error) {
	if len(p.entry) == 0 {
		return nil, nil
	}
	return entryIn(p.entry, workspace, p.Name)
}

// after is the entry of the record that is written when the device is confirmed.
func (p *Past) after(workspace string) (*record.Entry, error) {
	return entryIn(p.next, workspace, p.Name)
}

func entryIn(packed []byte, workspace, device string) (*record.Entry, error) {
	b, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("the entry of %s: %w", device, err)
	}
	e, err := record.Decode(b, workspace, device)
	if err != nil {
		return nil, fmt.Errorf("the entry of %s: %w", device, err)
	}
	return e, nil
}

// packEntry is an entry as a journal keeps it.
func packEntry(e *record.Entry, workspace string) ([]byte, error) {
	whole := *e
	whole.FormatVersion, whole.Workspace = record.FormatVersion, workspace
	text, err := record.Encode(&whole)
	if err != nil {
		return nil, fmt.Errorf("the entry of %s: %w", e.Device, err)
	}
	return pack(text)
}

// short is a stranger's text for a message.
func short(s string) string {
	const most = 240
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// Count is how many devices the journal has with one of these outcomes.
func (h *History) Count(outcomes ...Outcome) (n int) {
	for _, d := range h.Devices {
		if slices.Contains(outcomes, d.Outcome()) {
			n++
		}
	}
	return n
}
