package linux

import "encoding/json"

// Keep is what the firmware of adapters keeps: whether it runs LLDP, for those of ice.
func (m *Machine) Keep() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	agents := map[string]bool{}
	for _, n := range m.nics {
		if n.driver == ice {
			agents[n.pci] = n.agent
		}
	}
	return json.Marshal(agents)
}

// Restore gives adapters what Keep said; those that are not there any more are left
// out.
func (m *Machine) Restore(state []byte) error {
	var agents map[string]bool
	if err := json.Unmarshal(state, &agents); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.nics {
		if on, ok := agents[n.pci]; ok && n.driver == ice {
			n.agent = on
		}
	}
	return nil
}
