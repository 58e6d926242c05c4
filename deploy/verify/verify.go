// Package verify compares devices with what they shall be, from output that
// was captured on them, into a folder or over a session. It takes captures, the
// intent of a device and its target, and returns what differs, what could not be seen, and what
// the target found odd in the captures. A device that was handed over and shows
// everything as wanted can be recorded as applied (Confirm). It runs no
// commands and contacts nothing.
package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets"
)

// MaxCaptureBytes is the size above which a captured file is refused.
const MaxCaptureBytes = 64 << 20

// Status says how a device compares.
type Status string

// InSync: everything that can be seen is as wanted. Drift: something differs.
// Unknown: there are no captures, or they could not be read.
const (
	InSync  Status = "in_sync"
	Drift   Status = "drift"
	Unknown Status = "unknown"
)

// Result is one device compared.
type Result struct {
	Address     string
	Device      string
	Kind        intent.Kind
	Status      Status
	Reason      string         // of Unknown
	Armed       *targets.Armed // a change that is open: what was read does not stay
	Differences []intent.Difference
	Unseen      []plan.Unseen
	Observed    *intent.Device // nil if Unknown
	Findings    diag.List      // of the target about the captures
	Confirmed   bool           // the record was marked as applied
	wanted      string         // digest of what it was compared with
	spans       []source.Span  // where the wanted values of Differences were written
}

// Locate finds where the values that differ were written, by the origin of a
// field as the compiler knows it.
func (r *Result) Locate(origin func(intent.Path) []diag.Label) {
	r.spans = make([]source.Span, len(r.Differences))
	for i, x := range r.Differences {
		at, _ := x.Path.Running()
		if labels := origin(at); len(labels) > 0 {
			r.spans[i] = labels[0].Span
		}
	}
}

// span is the place of a difference, zero where it is not known.
func (r *Result) span(i int) source.Span {
	if i < len(r.spans) {
		return r.spans[i]
	}
	return source.Span{}
}

// Files reads dir/<device>/<file> for every probe of the target. Nothing there is
// no error.
func Files(dir string, d *intent.Device, t *targets.Target, files *source.Files) (targets.Captured, error) {
	captured, err := read(dir, d, t, files)
	if err != nil {
		return captured, fmt.Errorf("read captures of %s: %w", d.Name, err)
	}
	return captured, nil
}

// NoCaptures says that a device has no captures in a folder, and what they would be.
func NoCaptures(dir string, d *intent.Device, t *targets.Target) string {
	return fmt.Sprintf("no captured output in %s; its files are %s", filepath.ToSlash(filepath.Join(dir, d.Name)), strings.Join(fileNames(t), ", "))
}

// Unread is a device that could not be read, and why.
func Unread(address string, d *intent.Device, reason string) *Result {
	return &Result{Address: address, Device: d.Name, Kind: d.Kind, Status: Unknown, Reason: reason, wanted: intent.Digest(d)}
}

// Compare compares the device as it was captured, by hand or over a session, with
// the intent.
func Compare(address string, d *intent.Device, t *targets.Target, captured targets.Captured) *Result {
	if t.Parse == nil {
		return Unread(address, d, "target "+t.Name+" reads no captures")
	}
	r := Unread(address, d, "")
	r.Observed, r.Findings = t.Parse(d, captured)
	if r.Observed == nil || r.Findings.HasErrors() {
		r.Observed, r.Reason = nil, "the captured output could not be read"
		return r
	}
	var boots []intent.Difference
	if t.Stored != nil {
		var odd diag.List
		boots, odd = t.Stored(d, captured)
		r.Findings = append(r.Findings, odd...)
	}
	r.compare(d, t, boots)
	if r.Armed = captured.Armed; r.Armed != nil && r.Status == InSync {
		r.Status, r.Reason = Unknown, "as wanted now, and "+r.Armed.String()
	}
	return r
}

// compare is the verdict on an observed device and on what it starts with.
func (r *Result) compare(want *intent.Device, t *targets.Target, boots []intent.Difference) {
	var unseen []intent.Path
	r.Differences, unseen = intent.Compare(want, r.Observed)
	r.Differences = append(r.Differences, boots...)
	for _, p := range unseen {
		r.Unseen = plan.AddUnseen(r.Unseen, r.Address, t, want, p)
	}
	wanted := 0
	for p, v := range want.Fields {
		if v.State == intent.Set && p.Field != "" {
			wanted++
		}
	}
	switch {
	case len(r.Differences) > 0:
		r.Status = Drift
	case wanted > 0 && len(unseen) == wanted:
		r.Reason = "the captured output shows none of the settings"
	default:
		r.Status = InSync
	}
}

func fileNames(t *targets.Target) []string {
	var list []string
	for _, p := range t.Probes {
		list = append(list, strings.ReplaceAll(p.File, "%s", "<port>"))
	}
	return list
}

// read takes the files that the probes name, and no others. Captures come from
// devices and strangers: nothing outside the device's folder is opened, be it
// by a name or by a link.
func read(dir string, d *intent.Device, t *targets.Target, files *source.Files) (targets.Captured, error) {
	c := targets.Captured{Files: map[string][]byte{}}
	if err := disk.CheckName(d.Name); err != nil {
		return c, err
	}
	folder := filepath.Join(dir, d.Name)
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return c, err
		}
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer root.Close()
	folders := folders{root: root, path: folder, open: map[string]*folderOf{}}
	defer folders.close()
	changed := map[string]bool{} // an offset in it is none in the file on the disk
	for _, name := range probeFiles(d, t) {
		b, err := folders.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", filepath.Join(folder, filepath.FromSlash(name)), err)
		}
		if c.Files[name] = Plain(b); len(c.Files[name]) != len(b) {
			changed[name] = true
		}
	}
	if files != nil {
		// A file enters the table when something is found in it: of a whole fabric
		// that would be a million digests and names, for nothing.
		ids := map[string]source.FileID{}
		c.Label = func(file string, offset, length int) diag.Label {
			id, entered := ids[file]
			if !entered {
				text, ok := c.Files[file]
				if !ok || changed[file] {
					return diag.Label{Where: file}
				}
				id = files.Add(path.Join(filepath.ToSlash(folder), file), text)
				ids[file] = id
			}
			return diag.Label{Span: source.Span{File: id, Start: uint32(max(offset, 0)), Len: uint32(max(length, 0))}}
		}
	}
	return c, nil
}

// probeFiles are the names of the files, those of each port included.
func probeFiles(d *intent.Device, t *targets.Target) []string {
	var list []string
	for _, p := range t.Runs(d) {
		list = append(list, p.File)
	}
	return list
}

// decisive are the fields that RoCE stands on: a device on which one of them can
// be captured, and was not, is not known to be as it shall be.
var decisive = []string{"pfc", "trust", "dscp_map", "pcp_map", "ets", "mtu"}

// Partial reports whether the captures lack a decisive field that some output of
// such a device shows.
func (r *Result) Partial() bool {
	return slices.ContainsFunc(r.Unseen, func(u plan.Unseen) bool {
		return !u.Never && slices.ContainsFunc(u.Fields, func(f string) bool { return slices.Contains(decisive, f) })
	})
}

// Confirm records devices as applied that were handed over, are in sync with
// everything decisive seen, and shall still be what was handed over. It marks
// each in its result.
func Confirm(results []*Result, lock *record.Lock) error {
	for _, r := range results {
		if r.Status != InSync || r.Partial() {
			continue
		}
		e, version, err := lock.Store().Get(r.Device)
		if err != nil {
			return fmt.Errorf("confirm %s: %w", r.Device, err)
		}
		if e == nil || e.Status != record.HandedOver || e.IntentDigest != r.wanted {
			continue
		}
		e.Status, e.Observed = record.Applied, nil
		if _, err := lock.Put(e, version); err != nil {
			return fmt.Errorf("confirm %s: %w", r.Device, err)
		}
		r.Confirmed = true
	}
	return nil
}

// Exit is the exit code of verify: 0 when every device is in sync, 1 when one
// could not be compared, else 2 for drift.
func Exit(results []*Result) int {
	code := 0
	for _, r := range results {
		switch r.Status {
		case Unknown:
			return 1
		case Drift:
			code = 2
		}
	}
	return code
}
