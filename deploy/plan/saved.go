package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/record"
)

// SavedVersion is the format version of a plan file. Minor versions only add keys.
const SavedVersion = "1.0"

// SavedKind tells a plan file from a manifest and a record.
const SavedKind = "rocec plan"

// maxSavedBytes bounds what is read as a plan.
const maxSavedBytes = 1 << 30

// Saved is a plan and the fingerprints of all that it rests on. It holds
// digests and settings, no credentials.
type Saved struct {
	Kind          string                 `json:"kind"`
	FormatVersion string                 `json:"format_version"`
	RocecVersion  string                 `json:"rocec_version"`
	Workspace     string                 `json:"workspace"`
	SourcesDigest string                 `json:"sources_digest"`
	Devices       map[string]Fingerprint `json:"devices"`        // by name
	Full          bool                   `json:"full,omitempty"` // it shows every setting of new devices
	PlanDigest    string                 `json:"plan_digest"`    // of Plan, which is what people read
	Plan          *Plan                  `json:"plan"`
}

// Fingerprint is what one device was planned from.
type Fingerprint struct {
	Address   string            `json:"address"`
	Intent    string            `json:"intent_digest,omitempty"`   // "" for a device that is destroyed
	Artifacts map[string]string `json:"artifacts,omitempty"`       // path -> digest
	Observed  string            `json:"observed_digest,omitempty"` // of what captures showed
	From      From              `json:"observed_from,omitempty"`   // of Observed
	Record    string            `json:"record_version,omitempty"`
}

// Snapshot joins a plan with the fingerprints of its devices. Sources is the
// digest of everything that was compiled.
func Snapshot(workspace, sources string, parts []*Part, p *Plan) *Saved {
	s := &Saved{
		Kind: SavedKind, FormatVersion: SavedVersion, RocecVersion: p.RocecVersion, Workspace: workspace, SourcesDigest: sources,
		Devices: map[string]Fingerprint{}, Plan: p,
	}
	for _, part := range parts {
		if part.name != "" {
			s.Devices[part.name] = part.fingerprint()
		}
	}
	return s
}

func (p *Part) fingerprint() Fingerprint {
	f := p.print
	if p.artifacts != nil {
		f.Artifacts = p.artifacts()
	}
	return f
}

// fingerprint is what a device is planned from, by its name.
func fingerprint(d *Device) (name string, f Fingerprint) {
	f = Fingerprint{Address: d.Address, Artifacts: d.Artifacts, Record: d.Version}
	if d.Recorded != nil {
		name = d.Recorded.Device
	}
	if d.Want != nil {
		name, f.Intent = d.Want.Name, d.Digest
	}
	if d.Have != nil {
		f.Observed, f.From = intent.Digest(d.Have), d.from()
	}
	return name, f
}

// Save writes a plan file, whole or not at all, for its owner's eyes.
func (s *Saved) Save(path string) error {
	b, err := s.encode()
	if err != nil {
		return fmt.Errorf("save plan: %w", err)
	}
	if err := disk.WriteFile(path, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("save plan: %w", err)
	}
	return nil
}

// encode is the plan as its file holds it.
func (s *Saved) encode() ([]byte, error) {
	shown, err := json.Marshal(s.Plan)
	if err != nil {
		return nil, err
	}
	s.PlanDigest = record.Digest(shown)
	type whole Saved
	return json.Marshal(struct {
		*whole
		Plan json.RawMessage `json:"plan"`
	}{(*whole)(s), shown})
}

// Load reads a plan file. What is no plan, or of an unknown format, is an error.
func Load(path string) (*Saved, error) {
	b, err := disk.ReadFile(path, maxSavedBytes)
	if err != nil {
		return nil, fmt.Errorf("load plan: %w", err)
	}
	s, err := DecodeSaved(b)
	if err != nil {
		return nil, fmt.Errorf("load plan %s: %w", path, err)
	}
	return s, nil
}

// DecodeSaved reads the bytes of a plan file.
func DecodeSaved(b []byte) (*Saved, error) {
	var head struct {
		Kind          string `json:"kind"`
		FormatVersion string `json:"format_version"`
	}
	if err := record.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	if head.Kind != SavedKind {
		return nil, errors.New("it is not a saved plan")
	}
	if err := record.CheckFormat(head.FormatVersion, SavedVersion); err != nil {
		return nil, err
	}
	s := &Saved{}
	if err := record.Unmarshal(b, s); err != nil {
		return nil, err
	}
	if s.Plan == nil {
		return nil, errors.New("it holds no plan")
	}
	digest, err := shownDigest(b)
	if err != nil {
		return nil, err
	}
	// Whoever edits it may edit the digest too: apply compares the plan itself with one made then.
	if digest != s.PlanDigest {
		return nil, fmt.Errorf("what it shows has the digest %s and not %s: it was edited since rocec plan wrote it", digest, cmp.Or(short(s.PlanDigest), "any"))
	}
	for name := range s.Devices {
		if err := disk.CheckName(name); err != nil {
			return nil, fmt.Errorf("device %w", err)
		}
	}
	return s, nil
}

// shownDigest is the digest of the plan in a plan file, of which blanks are no part.
func shownDigest(b []byte) (string, error) {
	var f struct {
		Plan json.RawMessage `json:"plan"`
	}
	if err := record.Unmarshal(b, &f); err != nil {
		return "", err
	}
	var plain bytes.Buffer
	err := json.Compact(&plain, f.Plan)
	return record.Digest(plain.Bytes()), err
}

// StaleError says that what a saved plan rests on has moved.
type StaleError struct {
	Moved []string // "the sources have changed", "the intent of switch.tor has changed"
}

// Error says what moved, the devices to which the same happened as one.
func (e *StaleError) Error() string {
	return "Saved plan is stale: " + strings.Join(e.Moved, "; ")
}

// Stale compares the plan with one made now, nil if nothing moved; else it is a
// *StaleError.
func (s *Saved) Stale(now *Saved) error {
	var moved []string
	put := func(differs bool, format string, args ...any) {
		if differs {
			moved = append(moved, fmt.Sprintf(format, args...))
		}
	}
	put(s.Workspace != now.Workspace, "workspace is %q, was %q", now.Workspace, s.Workspace)
	put(s.SourcesDigest != now.SourcesDigest, "the sources have changed")
	moved = append(moved, s.Variables(now)...)
	put(s.RocecVersion != now.RocecVersion, "rocec is %q, was %q", now.RocecVersion, s.RocecVersion)
	names := slices.AppendSeq(slices.Collect(maps.Keys(s.Devices)), maps.Keys(now.Devices))
	slices.SortFunc(names, intent.Natural)
	devices := map[string][]string{} // by what happened to them
	add := func(differs bool, what, address string) {
		if differs {
			devices[what] = append(devices[what], address)
		}
	}
	for _, n := range slices.Compact(names) {
		a, was := s.Devices[n]
		b, is := now.Devices[n]
		if !was || !is {
			add(!was, isNew, b.Address)
			add(!is, isGone, a.Address)
			continue
		}
		add(a.Address != b.Address, addressMoved, b.Address)
		add(a.Intent != b.Intent, intentMoved, b.Address)
		add(!maps.Equal(a.Artifacts, b.Artifacts), artifactsMoved, b.Address)
		add(a.Observed != b.Observed && b.From == FromDevice, deviceMoved, b.Address)
		add(a.Observed != b.Observed && b.From != FromDevice, observedMoved, b.Address)
		add(a.Record != b.Record, recordMoved, b.Address)
	}
	for _, what := range []string{isNew, isGone, addressMoved, intentMoved, artifactsMoved, deviceMoved, observedMoved, recordMoved} {
		put(len(devices[what]) > 0, what, few(devices[what]))
	}
	if len(moved) == 0 {
		return nil
	}
	return &StaleError{Moved: moved}
}

// Shown compares what the plan shows of its devices with what one made now shows of them, and without part also what it says
// of all together; nil where that is the same, else a *StaleError.
func (s *Saved) Shown(now *Saved, part bool) error {
	a, err := s.shown(s.Plan, part)
	if err != nil {
		return err
	}
	b, err := s.shown(now.Plan, part)
	if err != nil {
		return err
	}
	if a != b {
		return &StaleError{Moved: []string{"it shows other changes than those that would be made"}}
	}
	return nil
}

// shown is a digest of what a plan shows of the devices of this one.
func (s *Saved) shown(p *Plan, part bool) (string, error) {
	other := func(device string) bool {
		_, ok := s.Devices[device]
		return !ok
	}
	of := *p
	for _, list := range []*[]Change{&of.Changes, &of.Drift} {
		*list = slices.DeleteFunc(slices.Clone(*list), func(c Change) bool { return part && other(c.Device) })
		for i := range *list {
			(*list)[i].Group = "" // which other changes are like it
		}
	}
	of.Properties = nil
	of.Open = nil // the seconds that are left are others every time, and apply asks the devices itself
	if part {
		of.Awaiting = slices.DeleteFunc(slices.Clone(of.Awaiting), func(w Awaited) bool { return other(w.Device) })
		of.Unseen = slices.DeleteFunc(slices.Clone(of.Unseen), func(u Unseen) bool { return other(u.Device) })
		of.Read, of.Summary, of.Waves = nil, Summary{}, nil
	}
	text, err := json.Marshal(&of)
	return record.Digest(text), err
}

// short is a stranger's text for a message.
func short(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// Variables says which variables have other values now, sorted. The plan holds their
// digests only.
func (s *Saved) Variables(now *Saved) (moved []string) {
	was, is := s.Plan.Variables, now.Plan.Variables
	names := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		switch {
		case was[name] == is[name]:
		case is[name] == "":
			moved = append(moved, fmt.Sprintf("variable %s is not given", name))
		case was[name] == "":
			moved = append(moved, fmt.Sprintf("variable %s is given, and was not", name))
		default:
			moved = append(moved, fmt.Sprintf("variable %s has another value", name))
		}
	}
	return moved
}

// What can happen to a device of a saved plan.
const (
	isNew          = "new: %s"
	isGone         = "gone: %s"
	addressMoved   = "the address has changed of %s"
	intentMoved    = "the intent has changed of %s"
	artifactsMoved = "the artifacts have changed of %s"
	deviceMoved    = "what the device shows has changed of %s"
	observedMoved  = "what was captured has changed of %s"
	recordMoved    = "the record has changed of %s"
)

// few are the first ten devices, and how many more there are.
func few(addresses []string) string {
	const most = 10
	more := ""
	if n := len(addresses) - most; n > 0 {
		addresses, more = addresses[:most], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(addresses, ", ") + more
}
