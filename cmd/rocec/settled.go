package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
)

// settledFrom is how many devices a fabric has at least for what a plan found to
// be kept for the next one: a smaller one is planned in less time than it saves.
const settledFrom = 256

// maxSettledBytes bounds what is kept of one record: some 300,000 devices.
const maxSettledBytes = 256 << 20

// settling keeps what the plan of one record found, between runs.
type settling struct {
	file  string
	own   bool              // nobody else has anything in its folder
	tool  [sha256.Size]byte // of the program
	store *record.Store
	known *plan.Settled
	now   func() time.Time
	at    []knownBy // of the devices of this plan
}

// knownBy is what one device is known by.
type knownBy struct {
	key   plan.Key
	stamp disk.Stamp
	ok    bool // both are known
	found bool // it was settled
}

// settling reads what earlier plans found. It is nil where nothing is kept. What
// cannot be read is not there: nothing of it is needed.
func (a *app) settling(store *record.Store, devices int) *settling {
	dir := a.cacheDir()
	from := settledFrom
	if a.settledFrom != 0 {
		from = a.settledFrom
	}
	if dir == "" || devices < from || store.Dir() == "" {
		return nil
	}
	tool, err := programDigest()
	if err != nil {
		return nil
	}
	of, err := filepath.Abs(store.Dir())
	if err != nil {
		return nil
	}
	name := fmt.Sprintf("plan-%x", sha256.Sum256([]byte(of)))[:len("plan-")+16]
	s := &settling{
		file: filepath.Join(dir, name), own: a.env["ROCEC_CACHE_DIR"] == "", tool: tool, store: store, known: &plan.Settled{}, now: time.Now, at: make([]knownBy, devices),
	}
	if a.now != nil {
		s.now = a.now
	}
	if text, err := disk.ReadFile(s.file, maxSettledBytes); err == nil {
		if known, err := plan.DecodeSettled(text); err == nil {
			s.known = known
		}
	}
	return s
}

// cacheDir is the folder of what is kept to make later runs faster, "" for none.
func (a *app) cacheDir() string {
	switch dir := a.env["ROCEC_CACHE_DIR"]; dir {
	case "":
		return filepath.Join(a.dataDir(), "cache")
	case "off":
		return ""
	default:
		return dir
	}
}

// programDigest is of the program that runs, as every change of it may change
// what it writes.
var programDigest = sync.OnceValues(func() (sum [sha256.Size]byte, err error) {
	name, err := os.Executable()
	if err != nil {
		return sum, err
	}
	f, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	h.Sum(sum[:0])
	return sum, err
})

// foresee takes that digest while the configuration is compiled, where an earlier
// plan has left something that it will be asked for.
func (a *app) foresee() {
	if _, err := os.Stat(a.cacheDir()); err == nil {
		go func() { _, _ = programDigest() }()
	}
}

// find is the part of device i in the plan, if an earlier plan found it settled.
// The stamp is taken before anybody reads the entry.
func (s *settling) find(p *project, i int, d *served) *plan.Part {
	if s == nil || d.kind == nil {
		return nil
	}
	stamp, err := s.store.Stamp(d.name)
	if err != nil {
		return nil
	}
	s.at[i] = knownBy{key: p.key(d, s.tool), stamp: stamp, ok: true}
	part := s.known.Find(d.name, d.address, s.at[i].key, stamp)
	s.at[i].found = part != nil
	return part
}

// key is a digest of what the intent and the files of a device of a kind are
// made from.
func (p *project) key(d *served, tool [sha256.Size]byte) plan.Key {
	d.kind.bare.Do(func() {
		whole := p.lower(d).intent
		d.kind.skeleton = sha256.Sum256(intent.Sorted(lower.Skeleton(whole)))
	})
	room, ok := p.room.Get().(*[]byte)
	if !ok {
		room = &[]byte{}
	}
	defer p.room.Put(room)
	b := append(append((*room)[:0], tool[:]...), d.kind.skeleton[:]...)
	b = append(append(b, d.target.Name...), 0)
	*room = lower.Values(p.res.Fabric, p.res.Facts, d.id, b)
	return sha256.Sum256(*room)
}

// keep enters what this plan found and writes it down if it is news. Devices are
// those of the plan, parts what was found of each; all says that no others exist.
func (s *settling) keep(devices []served, parts []*plan.Part, all bool) {
	if s == nil {
		return
	}
	now, news := s.now(), false
	there := make(map[string]bool, len(devices))
	for i := range devices {
		there[devices[i].name] = true
		if at := &s.at[i]; at.ok && !at.found && parts[i] != nil && at.stamp.Settled(now) {
			news = s.known.Keep(parts[i], at.key, at.stamp) || news
		}
	}
	if all {
		news = s.known.Drop(func(name string) bool { return !there[name] }) || news
	}
	if !news {
		return
	}
	if text := s.known.Encode(); len(text) <= maxSettledBytes {
		_ = s.write(text) // the next plan takes longer, and nothing else
	}
}

// write puts the file in place. Of two runs at once the last one wins; both are right.
func (s *settling) write(text []byte) error {
	dir := filepath.Dir(s.file)
	if err := disk.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if s.own {
		if err := leaveToGit(dir); err != nil {
			return err
		}
	}
	return disk.WriteFile(s.file, text, 0o644)
}

// leaveToGit keeps a folder out of repositories.
func leaveToGit(dir string) error {
	name, text := filepath.Join(dir, ".gitignore"), []byte("*\n")
	if there, err := os.ReadFile(name); err == nil && bytes.Equal(there, text) {
		return nil
	}
	return disk.WriteFile(name, text, 0o644)
}
