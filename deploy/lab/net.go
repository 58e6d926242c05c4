package lab

import (
	"context"
	"errors"
	"iter"
	"net/netip"
	"slices"
	"sync"
)

// End is the end of a cable: a port of a device. What comes in at a port of a switch
// goes out at its others.
type End struct {
	Device, Port string
	Switch       bool
}

// Cable joins two ports.
type Cable [2]End

// Wired is a machine that tells by which of its ports an address of it is reached over
// RDMA, none where it has none there, or they are down.
type Wired interface {
	RDMA(at netip.Addr) (ports []string)
}

// Net is what joins the machines of a lab: cables, and who listens where. It carries
// no packets; it tells programs what would become of theirs. VLANs and routes are left
// out. It is safe for concurrent use.
type Net struct {
	cables func() []Cable // may be nil
	hosts  iter.Seq2[string, Machine]
	faults func(device string) *Faults

	wire  sync.Once
	peers map[End]End
	ports map[string][]End // of switches

	mu        sync.Mutex
	listeners map[listening]*listener
}

type listening struct {
	device string
	at     netip.AddrPort
}

type listener struct {
	calls chan int
	gone  chan struct{}
}

// What becomes of those who listen or call.
var (
	ErrTaken   = errors.New("somebody listens there already")
	ErrNobody  = errors.New("nobody that cables lead to has the address")
	ErrLost    = errors.New("messages are lost on the way")
	ErrRefused = errors.New("nobody listens there")
)

// Listen waits for one caller of an address of a device, and returns how many messages
// it sends.
func (n *Net) Listen(ctx context.Context, device string, at netip.AddrPort) (messages int, err error) {
	who, l := listening{device, at}, &listener{make(chan int), make(chan struct{})}
	n.mu.Lock()
	if n.listeners[who] != nil {
		n.mu.Unlock()
		return 0, ErrTaken
	}
	if n.listeners == nil {
		n.listeners = map[listening]*listener{}
	}
	n.listeners[who] = l
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, who)
		close(l.gone)
	}()
	select {
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case messages := <-l.calls:
		return messages, nil
	}
}

// Call sends messages from ports of a device to an address.
func (n *Net) Call(ctx context.Context, device string, ports []string, to netip.AddrPort, messages int) error {
	failure := ErrNobody
	for name, m := range n.hosts {
		w, ok := m.(Wired)
		if !ok || name == device {
			continue
		}
		theirs := w.RDMA(to.Addr())
		if len(theirs) == 0 || !n.reaches(device, ports, name, theirs, func(string) bool { return true }) {
			continue
		}
		if !n.reaches(device, ports, name, theirs, func(d string) bool { _, lost := n.faults(d).Has(FaultLost); return !lost }) {
			return ErrLost
		}
		n.mu.Lock()
		l := n.listeners[listening{name, to}]
		n.mu.Unlock()
		if failure = ErrRefused; l == nil {
			continue
		}
		select {
		case l.calls <- messages:
			return nil
		case <-l.gone:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return failure
}

// reaches reports whether cables lead from one of some ports to one of others, over
// switches, through devices that pass.
func (n *Net) reaches(from string, ports []string, to string, theirs []string, pass func(device string) bool) bool {
	n.wire.Do(n.wired)
	if !pass(from) || !pass(to) {
		return false
	}
	var queue []End
	for _, p := range ports {
		queue = append(queue, End{Device: from, Port: p})
	}
	seen := map[string]bool{} // switches
	for len(queue) > 0 {
		next, ok := n.peers[queue[0]]
		queue = queue[1:]
		switch {
		case !ok:
		case next.Device == to && slices.Contains(theirs, next.Port):
			return true
		case next.Switch && !seen[next.Device] && pass(next.Device):
			seen[next.Device] = true
			queue = append(queue, n.ports[next.Device]...)
		}
	}
	return false
}

// wired lays the cables.
func (n *Net) wired() {
	n.peers, n.ports = map[End]End{}, map[string][]End{}
	if n.cables == nil {
		return
	}
	for _, c := range n.cables() {
		for i, end := range c {
			own := End{Device: end.Device, Port: end.Port}
			n.peers[own] = c[1-i]
			if end.Switch {
				n.ports[end.Device] = append(n.ports[end.Device], own)
			}
		}
	}
}
