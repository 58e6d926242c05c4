package cumulus

import (
	"encoding/json"
	"fmt"
	"time"
)

// history is what NVUE keeps of its revisions, with what is applied.
type history struct {
	Applied   int
	Revisions []oldRevision
}

type oldRevision struct {
	Set     string // as YAML
	State   string
	Applies int
	At      time.Time
	User    string
	Message string
}

// Keep are the revisions. One that waits for its confirmation is as undone as after
// a loss of power.
func (m *Machine) Keep() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waits != nil {
		m.back()
	}
	h := history{Applied: m.applied}
	for _, r := range m.revs {
		h.Revisions = append(h.Revisions, oldRevision{r.tree.yaml("set"), r.state, r.applies, r.at, r.user, r.message})
	}
	return json.Marshal(h)
}

// Restore takes the revisions that Keep gave.
func (m *Machine) Restore(state []byte) error {
	var h history
	if err := json.Unmarshal(state, &h); err != nil {
		return err
	}
	if h.Applied < 1 || h.Applied > len(h.Revisions) {
		return fmt.Errorf("revision %d of %d is the one that is applied", h.Applied, len(h.Revisions))
	}
	var revs []*revision
	for i, r := range h.Revisions {
		c, err := readChange([]byte(r.Set))
		if err != nil {
			return fmt.Errorf("revision %d: %w", i+1, err)
		}
		revs = append(revs, &revision{tree: c.set, state: r.State, applies: r.Applies, at: r.At, user: r.User, message: r.Message})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revs, m.applied = revs, h.Applied
	return nil
}
