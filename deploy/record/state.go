package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// state is the record of a workspace as one JSON object: what Export writes, and
// a number that grows with each change, as servers of Terraform's states ask for.
type state struct {
	serial  int64
	entries map[string]rawJSON // by device, in any form of JSON
}

type rawJSON = json.RawMessage

// maxStateBytes bounds what is read as the state of a workspace.
const maxStateBytes = 1 << 30

// parseState reads a state; nothing is an empty one.
func parseState(b []byte, workspace string) (*state, error) {
	s := &state{entries: map[string]rawJSON{}}
	if len(b) == 0 {
		return s, nil
	}
	if len(b) > maxStateBytes {
		return nil, fmt.Errorf("it has %d bytes, which is more than is read", len(b))
	}
	var text struct {
		Kind          string             `json:"kind"`
		FormatVersion string             `json:"format_version"`
		Workspace     string             `json:"workspace"`
		Serial        int64              `json:"serial"`
		Devices       map[string]rawJSON `json:"devices"`
	}
	if err := Unmarshal(b, &text); err != nil {
		return nil, err
	}
	switch {
	case text.Kind != Kind:
		return nil, errors.New("it is no record of rocec: something else is kept under this address")
	case text.Workspace != workspace:
		return nil, fmt.Errorf("it is the record of workspace %q, not %q", short(text.Workspace), workspace)
	case text.Serial < 0:
		return nil, errors.New("its serial is below 0")
	}
	if err := CheckFormat(text.FormatVersion, FormatVersion); err != nil {
		return nil, err
	}
	s.serial = text.Serial
	maps.Copy(s.entries, text.Devices)
	return s, nil
}

// encode is the state as it is sent.
func (s *state) encode(workspace string) ([]byte, error) {
	return Canonical(map[string]any{"kind": Kind, "format_version": FormatVersion, "workspace": workspace, "serial": s.serial, "devices": s.entries})
}

// get is an entry in the form of Canonical, nil if there is none.
func (s *state) get(device string) ([]byte, error) {
	raw, ok := s.entries[device]
	if !ok {
		return nil, nil
	}
	if len(raw) > maxEntryBytes {
		return nil, fmt.Errorf("it has %d bytes, which is more than is read", len(raw))
	}
	return Canonical(raw)
}

// put replaces an entry of a version, or deletes it if b is nil.
func (s *state) put(device string, b []byte, version string) error {
	old, err := s.get(device)
	if err != nil {
		return err
	}
	have := ""
	if old != nil {
		have = Digest(old)
	}
	if have != version {
		return &ConflictError{Device: device, Want: version, Have: have}
	}
	if b == nil {
		delete(s.entries, device)
		return nil
	}
	s.entries[device] = b
	return nil
}

func (s *state) names() []string { return slices.Collect(maps.Keys(s.entries)) }
