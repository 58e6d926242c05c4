package rollout

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/record"
)

// JournalVersion is the format version of a journal. Minor versions only add keys
// and events.
const JournalVersion = "1.1"

// journalKind tells a journal from other files of lines of JSON.
const journalKind = "rocec journal"

// JournalSuffix ends the name of a journal's file, which begins with the ID.
const JournalSuffix = ".ndjson"

// step is what a line of a journal says. A step that changes something outside is
// written before it is done, and its end after that.
type step string

const (
	stepOpen    step = "open"   // the run; the first line
	stepDevice  step = "device" // a device of the run
	stepBegin   step = "begin"
	stepBegun   step = "begun"
	stepChange  step = "change"
	stepChanged step = "changed"
	stepConfirm step = "confirm"
	stepDone    step = "confirmed"
	stepRecord  step = "record" // with the entry of the record that goes
	stepNoted   step = "recorded"
	stepPending step = "pending"
	stepKept    step = "kept"
	stepRevert  step = "revert"
	stepBack    step = "reverted"
	stepRestore step = "restore" // of the entry of the record
	stepClean   step = "restored"
	stepStuck   step = "stuck"
	stepDoubt   step = "in_doubt"
	stepClear   step = "unchanged" // asked again: nothing was ever begun there
	stepLeft    step = "left"      // named before, and open no more: whoever comes next plans it as it is
	stepWatched step = "watched"   // a part of a wave, or a device by a later run, to the end: the gates held
	stepEnd     step = "end"
)

// line is one line of a journal.
type line struct {
	Step   step      `json:"event"`
	At     time.Time `json:"at"`
	Device string    `json:"device,omitempty"`

	// Of open.
	Kind           string `json:"kind,omitempty"`
	FormatVersion  string `json:"format_version,omitempty"`
	ID             string `json:"id,omitempty"`
	Workspace      string `json:"workspace,omitempty"`
	RocecVersion   string `json:"rocec_version,omitempty"`
	Plan           string `json:"plan_digest,omitempty"`
	ConfirmSeconds int    `json:"confirm_seconds,omitempty"`
	Hold           bool   `json:"hold,omitempty"`
	By             string `json:"by,omitempty"`

	// Of device.
	Address string `json:"address,omitempty"`
	Target  string `json:"target,omitempty"`
	Intent  string `json:"intent_digest,omitempty"`
	Wave    string `json:"wave,omitempty"` // and of watched
	Part    string `json:"part,omitempty"` // of the wave, and of watched

	Observed string     `json:"observed_digest,omitempty"` // of begin: what the device was before
	Before   []byte     `json:"observed,omitempty"`        // of begin: that itself, packed
	Until    *time.Time `json:"until,omitempty"`           // of pending and kept
	// Entry is an entry of the record, packed: of device the one to come, of record
	// the one that goes, none if there was none.
	Entry   []byte `json:"entry,omitempty"`
	Message string `json:"message,omitempty"`
	Exit    int    `json:"exit,omitempty"` // of end
}

// Journal is the journal of one run, open for writing. What Append was given is on
// the disk when it returns. It is safe for several goroutines.
type Journal struct {
	path string
	mu   sync.Mutex
	file *os.File
	err  error // of the first write that failed: after it nothing is written
	now  func() time.Time

	sync   func(*os.File) error
	before func(line) error // for tests: called before each write
}

// NewID is a fresh ID of a run: the time, to the microsecond, so that IDs sort by
// it (scripts run one apply after the other, and the last is taken back first),
// and a part that nobody else has.
func NewID(now time.Time) string {
	const digits = "234567abcdefghijklmnopqrstuvwxyz" // of rand.Text, ascending
	var micros [4]byte
	for i, n := len(micros)-1, now.Nanosecond()/1000; i >= 0; i, n = i-1, n/len(digits) {
		micros[i] = digits[n%len(digits)]
	}
	return now.UTC().Format("20060102t150405") + string(micros[:]) + strings.ToLower(rand.Text()[:4])
}

var idForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{1,32}$`) })

// CreateJournal makes the journal of a run in a folder, which is made too.
func CreateJournal(dir, id string, now func() time.Time) (*Journal, error) {
	if !idForm().MatchString(id) {
		return nil, fmt.Errorf("journal: the ID is %q, not of [a-z0-9]{1,32}", id)
	}
	if err := disk.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	path := filepath.Join(dir, id+JournalSuffix)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err == nil {
		err = disk.SyncDir(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &Journal{path: path, file: f, now: now, sync: (*os.File).Sync}, nil
}

// Continue opens the journal of a run that was read, to write on after its last
// whole line.
func (h *History) Continue(now func() time.Time) (*Journal, error) {
	f, err := os.OpenFile(h.path, os.O_WRONLY, 0)
	if err == nil {
		err = f.Truncate(h.size)
	}
	if err == nil {
		_, err = f.Seek(h.size, io.SeekStart)
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &Journal{path: h.path, file: f, now: now, sync: (*os.File).Sync}, nil
}

// write puts lines down and waits until they are on the disk.
func (j *Journal) write(lines ...line) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	var b bytes.Buffer
	var all []byte
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if j.before != nil {
			if j.err = j.before(l); j.err != nil {
				return j.err
			}
		}
		l.At = j.now().UTC()
		b.Reset()
		if j.err = enc.Encode(l); j.err != nil {
			return j.err
		}
		all = appendSum(all, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	}
	if _, j.err = j.file.Write(all); j.err == nil {
		j.err = j.sync(j.file)
	}
	if j.err != nil {
		j.err = fmt.Errorf("journal %s: %w", j.path, j.err)
	}
	return j.err
}

// Every line ends with a checksum of what stands before it: `{...,"sum":"1a2b3c4d"}`.
const sumKey = `,"sum":"`

// sumOf is the checksum of a line without its sum: CRC-32C, in eight hexadecimal digits.
func sumOf(text []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)))
}

// appendSum appends an object as a line with its sum.
func appendSum(to, object []byte) []byte {
	to = append(to, bytes.TrimSuffix(object, []byte("}"))...)
	return append(to, sumKey+sumOf(object)+"\"}\n"...)
}

// cutSum parts a line from its sum, "" if it has none.
func cutSum(line []byte) (object []byte, sum string) {
	end := len(line) - len(`1a2b3c4d"}`)
	if at := end - len(sumKey); at > 0 && bytes.HasSuffix(line, []byte(`"}`)) && string(line[at:end]) == sumKey {
		return append(bytes.Clone(line[:at]), '}'), string(line[end : end+8])
	}
	return line, ""
}

// Close closes the file.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.file.Close(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// maxEntryBytes bounds an entry of the record that a journal keeps.
const maxEntryBytes = 32 << 20

// pack makes an entry small: intents are, for their size, little information.
func pack(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func unpack(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out, err := disk.ReadAll(r, maxEntryBytes)
	return out, errors.Join(err, r.Close())
}

// packDevice is a device as a journal keeps it.
func packDevice(d *intent.Device) ([]byte, error) {
	b, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	return pack(b)
}

func unpackDevice(packed []byte) (*intent.Device, error) {
	b, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	d := &intent.Device{}
	return d, record.Unmarshal(b, d)
}
