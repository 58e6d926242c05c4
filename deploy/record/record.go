// Package record remembers what was last handed over to each device or seen
// applied on it: public settings, digests and the inputs of derived values, one
// JSON file per device in a folder per workspace. It takes entries and returns
// them checked; files are fit for git (sorted keys, no time, no host) and hold
// no secret, as an intent holds none. Whoever writes holds the lock of the
// workspace. The record is not the truth, the device is: it makes plans without
// devices possible. It is kept by a Backend: a folder, a branch of git, a server
// that keeps Terraform's states, or an object store. Backends read secrets from
// the environment, by name.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/disk"
)

// FormatVersion is that of an entry. Minor versions only add keys.
const FormatVersion = "1.0"

// Status says how far a device got.
type Status string

// HandedOver: the artifacts were given out, nobody has seen them on the device.
// Applied: everything that can be read back was seen on the device.
const (
	HandedOver Status = "handed_over"
	Applied    Status = "applied"
)

// Entry is what the record holds of one device.
type Entry struct {
	FormatVersion string            `json:"format_version"`
	Workspace     string            `json:"workspace"`
	Device        string            `json:"device"`            // its name
	Address       string            `json:"address"`           // as the command line takes it: `switch.tor`
	Emitter       string            `json:"emitter"`           // "sonic"
	Output        string            `json:"output,omitempty"`  // folder of the target block
	Status        Status            `json:"status"`            //
	IntentDigest  string            `json:"intent_digest"`     // of Intent
	SourcesDigest string            `json:"sources_digest"`    // of everything that was compiled
	Artifacts     map[string]string `json:"artifacts"`         // path in the device's folder -> "sha256:..."
	Options       map[string]string `json:"options,omitempty"` // of the target block
	Inputs        map[string]string `json:"inputs,omitempty"`  // inputs of derived values, by name
	Intent        *intent.Device    `json:"intent"`
	// Observed is what the device showed when somebody accepted that it had moved
	// (apply --refresh-only); nil once it was handed over or seen applied again.
	Observed *intent.Device `json:"observed,omitempty"`
}

// maxEntryBytes bounds what is read as one entry. A switch of 512 ports, each
// with a QoS of its own, takes about 1 MB.
const maxEntryBytes = 32 << 20

// ErrFormat says that a file is of a format that this rocec does not read.
var ErrFormat = errors.New("its format is not known to this version of rocec")

// CheckFormat compares a format version with the one that is read here, both
// "major.minor": the major numbers must be equal.
func CheckFormat(found, known string) error {
	if found == "" {
		return fmt.Errorf("%w: it has no format_version", ErrFormat)
	}
	a, minor, ok := strings.Cut(found, ".")
	b, _, _ := strings.Cut(known, ".")
	if !ok || minor == "" || a != b {
		return fmt.Errorf("%w: it is %q, known is %q", ErrFormat, short(found), known)
	}
	return nil
}

// Encode is the entry as its file holds it: sorted keys, two spaces, a line
// feed at the end. An entry that Decode would refuse is an error.
func Encode(e *Entry) ([]byte, error) {
	if err := e.check(e.Workspace, e.Device); err != nil {
		return nil, err
	}
	return Canonical(e)
}

// Decode reads an entry and checks that it is the one of this workspace and
// device and that its intent has the digest it states. Unknown keys are passed
// over, as later minor versions may have more.
func Decode(b []byte, workspace, device string) (*Entry, error) {
	var head struct {
		FormatVersion string `json:"format_version"`
	}
	if err := Unmarshal(b, &head); err != nil {
		return nil, err
	}
	if err := CheckFormat(head.FormatVersion, FormatVersion); err != nil {
		return nil, err
	}
	e := &Entry{}
	if err := Unmarshal(b, e); err != nil {
		return nil, err
	}
	if err := e.check(workspace, device); err != nil {
		return nil, err
	}
	return e, nil
}

// Unmarshal is json.Unmarshal whose errors say line and column.
func Unmarshal(b []byte, into any) error {
	err := json.Unmarshal(b, into)
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(b)) {
		return err
	}
	before := b[:offset]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Errorf("line %d, column %d: %w", line, max(column, 1), err)
}

func (e *Entry) check(workspace, device string) error {
	if err := e.checkPlace(workspace, device); err != nil {
		return err
	}
	switch {
	case e.Intent == nil:
		return errors.New("it has no intent")
	case e.Intent.Version != intent.Version:
		return fmt.Errorf("%w: the intent is of version %d, known is %d", ErrFormat, e.Intent.Version, intent.Version)
	case e.Intent.Name != device:
		return fmt.Errorf("its intent is of device %q, not %q", short(e.Intent.Name), device)
	}
	if e.Observed != nil && (e.Observed.Version != intent.Version || e.Observed.Name != device) {
		return fmt.Errorf("what was observed is of device %q, version %d, not %q, version %d", short(e.Observed.Name), e.Observed.Version, device, intent.Version)
	}
	if err := e.checkDigests(); err != nil {
		return err
	}
	digest := intent.Digest(e.Intent)
	if digest != e.IntentDigest {
		return fmt.Errorf("its intent has the digest %s and not %s: it was edited, merged by hand or written by another version", digest, e.IntentDigest)
	}
	return nil
}

func (e *Entry) checkPlace(workspace, device string) error {
	switch {
	case e.Workspace != workspace:
		return fmt.Errorf("it is of workspace %q, not %q", short(e.Workspace), workspace)
	case e.Device != device:
		return fmt.Errorf("it is of device %q, not %q", short(e.Device), device)
	case e.Status != HandedOver && e.Status != Applied:
		return fmt.Errorf("status is %q, known are %q and %q", short(string(e.Status)), HandedOver, Applied)
	}
	return nil
}

func (e *Entry) checkDigests() error {
	for path, digest := range e.Artifacts {
		if err := disk.CheckPath(path); err != nil {
			return fmt.Errorf("artifact: %w", err)
		}
		if !isDigest(digest) {
			return fmt.Errorf("artifact %q has the digest %q, which is not sha256 and 64 hex digits", path, short(digest))
		}
	}
	if !isDigest(e.IntentDigest) {
		return fmt.Errorf("intent_digest is %q, which is not sha256 and 64 hex digits", short(e.IntentDigest))
	}
	return nil
}

func isDigest(s string) bool {
	hex, ok := strings.CutPrefix(s, "sha256:")
	return ok && len(hex) == 64 && !strings.ContainsFunc(hex, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}

// ArtifactPaths are the paths of an entry's artifacts in order.
func (e *Entry) ArtifactPaths() []string {
	paths := make([]string, 0, len(e.Artifacts))
	for p := range e.Artifacts {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// short is a stranger's text for a message.
func short(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
