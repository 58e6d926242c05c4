// Package cumulus is a simulated switch with NVIDIA Cumulus Linux: NVUE's
// revisions and the command nv over them, on a machine with a POSIX shell. It
// starts with the configuration of a new installation. It knows the shape of
// configurations and not NVUE's schema. No packets are switched. The commands are
// those of the user guides 5.9 to 5.15 (CumulusNetworks/docs: NVUE CLI, NVUE
// command reference, Config Commands), where also the form of nv config revision
// is from; --confirm-yes, --confirm-no and the state "confirm" are as NAPALM's
// driver and the NVUE labs use them.
//
// No document says what becomes of a revision that waits for its confirmation
// when the switch reboots: here the switch starts from startup.yaml, which that
// revision has not reached, and waits no more.
package cumulus

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// Machine is one switch.
type Machine struct {
	*posix.Host
	disk   *lab.Disk
	device *intent.Device
	faults *lab.Faults

	mu      sync.Mutex
	revs    []*revision // by number, from 1
	applied int
	pending *tree
	waits   *waiting
}

// revision is a configuration that was applied, or is to be.
type revision struct {
	tree    *tree
	state   string // "applied_and_saved", "confirm", "undone", "detached"
	applies int
	at      time.Time
	user    string
	message string
}

// waiting is a revision that waits for its confirmation.
type waiting struct {
	number, before int
	until          time.Duration // of the clock
	stop           func() bool
}

const startup = "/etc/nvue.d/startup.yaml"

// New starts the switch of an intent. Scripts may be shared with other machines.
func New(d *intent.Device, e lab.Environment, scripts *posix.Scripts) *Machine {
	m := &Machine{
		disk:   posix.NewDisk(e.Clock),
		device: d, faults: e.Faults,
	}
	_ = m.disk.MkdirAll("/etc/nvue.d", 0o755)
	_ = m.disk.WriteFile(startup, []byte(asFound(d).yaml("set")), 0o644)
	m.Host = posix.NewHost(posix.Options{
		Name: d.Name, Disk: m.disk, Clock: e.Clock, User: e.User, Faults: e.Faults, Scripts: scripts, Changes: changes,
		Programs: map[string]posix.Program{"nv": m.nv}, Boot: func(_ context.Context, h *posix.Host) { m.boot(h) },
	})
	m.Units.Fixed("nvue-startup.service", true)
	return m
}

// asFound is a switch that was just installed.
func asFound(d *intent.Device) *tree {
	t := object()
	put := func(value string, path ...string) {
		at := t
		for _, p := range path {
			if at.kids[p] == nil {
				at.kids[p] = object()
			}
			at = at.kids[p]
		}
		if value != "" {
			*at = tree{text: value}
		}
	}
	put("eth", "interface", "eth0", "type")
	put("", "interface", "eth0", "ip", "address", "dhcp")
	put("mgmt", "interface", "eth0", "ip", "vrf")
	put(d.Name, "system", "hostname")
	return t
}

func (m *Machine) boot(h *posix.Host) {
	t := asFound(m.device)
	if b, err := m.disk.ReadFile(startup); err == nil {
		if c, err := readChange(b); err == nil {
			t = c.set
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waits != nil {
		m.waits.stop()
		m.revs[m.waits.number-1].state = "undone"
	}
	m.waits, m.pending = nil, nil
	if m.applied == 0 || !m.revs[m.applied-1].tree.equal(t) {
		m.applied = m.numbered(t, h.Clock().Now(), "root", "Config update by boot")
	}
	m.revs[m.applied-1].state = "applied_and_saved"
}

// numbered enters a revision, or finds one that was applied and is the same.
func (m *Machine) numbered(t *tree, at time.Time, user, message string) int {
	for i := len(m.revs) - 1; i >= 0; i-- {
		if r := m.revs[i]; strings.HasPrefix(r.state, "applied") && r.tree.equal(t) {
			return i + 1
		}
	}
	m.revs = append(m.revs, &revision{tree: t, state: "applied", applies: 1, at: at, user: user, message: message})
	return len(m.revs)
}

// changes tells the commands that set something.
func changes(line string) bool {
	for _, c := range []string{"nv config patch", "nv config replace", "nv config apply", "nv config save", "nv set", "nv unset"} {
		if strings.HasPrefix(line, c) && !strings.Contains(line, "--confirm-status") {
			return true
		}
	}
	return false
}

// named is the configuration of a word that commands take.
func (m *Machine) named(word string) (*tree, error) {
	switch word {
	case "applied", "operational":
		return m.revs[m.applied-1].tree, nil
	case "startup":
		b, err := m.disk.ReadFile(startup)
		if err != nil {
			return nil, fmt.Errorf("startup.yaml cannot be read")
		}
		c, err := readChange(b)
		if err != nil {
			return nil, err
		}
		return c.set, nil
	case "pending":
		if m.pending == nil {
			return nil, fmt.Errorf("there is no pending revision")
		}
		return m.pending, nil
	case "empty":
		return object(), nil
	}
	if n := m.number(word); n > 0 {
		return m.revs[n-1].tree, nil
	}
	return nil, fmt.Errorf("revision %q does not exist", word)
}

func (m *Machine) number(word string) int {
	n := 0
	if _, err := fmt.Sscanf(word, "%d", &n); err != nil || n < 1 || n > len(m.revs) || fmt.Sprint(n) != word {
		return 0
	}
	return n
}
