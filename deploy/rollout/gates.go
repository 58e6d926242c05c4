package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/targets"
)

// counterSoak is how long a wave is watched that has a gate on counters and no soak:
// they are read twice, and tell only of the time between.
const counterSoak = 10 * time.Second

// Watched is how long a wave is watched before its gates are asked.
func (w *Wave) Watched() time.Duration {
	if w.Soak == 0 && w.Gates.counters() {
		return counterSoak
	}
	return w.Soak
}

// Asks reports whether a wave is watched, or has a gate.
func (w *Wave) Asks() bool { return w.Soak > 0 || w.Gates.Any() }

// counters reports whether a gate is about counters.
func (g Gates) counters() bool { return g.NoDiscards || g.NoPauseStorm }

// watch lets a part of a wave soak and asks its gates. Where nothing comes after it,
// nothing waits for the soak but a gate.
func (r *run) watch(ctx context.Context, number int, part string, done []*unit, at stage) error {
	w := &r.plan.Waves[number-1]
	gone := func(u *unit) bool { return u.outcome != Applied && u.outcome != Pending }
	list := slices.DeleteFunc(slices.Clone(done), gone)
	if len(list) == 0 || !at.more && !w.Gates.Any() {
		return nil
	}
	defer func() {
		for _, u := range list {
			u.release()
		}
	}()
	before := map[*unit]*targets.Vitals{}
	if w.Gates.counters() {
		seen, err := r.counted(ctx, w, list)
		if err != nil {
			return err
		}
		before = seen
	}
	if soak := w.Watched(); soak > 0 {
		r.env.Tell(Event{Kind: Soaking, Wave: w.Name, Part: part, Soak: soak})
		if wait(ctx, soak) != nil {
			return errInterrupted
		}
	}
	if w.Gates.Verify {
		if err := r.gate(list, "verify", func(u *unit) error { return u.drift(ctx) }); err != nil {
			return err
		}
	}
	if w.Gates.counters() {
		now, err := r.counted(ctx, w, list)
		if err != nil {
			return err
		}
		err = r.gate(list, "counters", func(u *unit) error {
			if what := worse(u.intent(), w.Gates, before[u], now[u]); what != "" {
				return errors.New(what)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if w.Gates.RDMAPing {
		return r.pings(ctx, number, list, slices.DeleteFunc(slices.Clone(at.before), gone), at.last)
	}
	return nil
}

// gate asks every device of a wave something, a few at a time.
func (r *run) gate(list []*unit, name string, ask func(*unit) error) error {
	var first error
	for part := range slices.Chunk(list, max(r.plan.Parallelism, 1)) {
		failed, errs := each(part, func(u *unit) error {
			defer u.hangUp()
			return ask(u)
		})
		for i, u := range failed {
			u.failed = true
			u.say(fmt.Errorf("gate %s: %w", name, errs[i]))
			u.tell(Event{Kind: Errored, Message: u.message})
			if first == nil {
				first = fmt.Errorf("gate %s: %s: %w", name, u.device.Address, errs[i])
			}
		}
	}
	return first
}

// drift reads a device back again.
func (u *unit) drift(ctx context.Context) error {
	_, have, err := u.reread(ctx, time.Now().Add(u.within(firstPatience)))
	if err != nil {
		return err
	}
	if what := unlike(u.device.Address, u.intent(), have, u.device.Target); what != "" && !u.windowed {
		return errors.New(what)
	}
	return nil
}

// counted reads the counters of a wave.
func (r *run) counted(ctx context.Context, w *Wave, list []*unit) (map[*unit]*targets.Vitals, error) {
	seen := make([]*targets.Vitals, len(list))
	index := make(map[*unit]int, len(list))
	for i, u := range list {
		index[u] = i
	}
	err := r.gate(list, "counters", func(u *unit) (err error) {
		seen[index[u]], err = u.vitals(ctx, w.Gates)
		return err
	})
	out := make(map[*unit]*targets.Vitals, len(list))
	for i, u := range list {
		out[u] = seen[i]
	}
	return out, err
}

// vitals reads how a device is. One that shows nothing of what a gate is about is an
// error: nobody can tell then.
func (u *unit) vitals(ctx context.Context, g Gates) (*targets.Vitals, error) {
	h := u.device.Target.Health
	if h == nil {
		return nil, fmt.Errorf("target %s shows no counters that tell", u.device.Target.Name)
	}
	if err := u.connect(ctx); err != nil {
		return nil, err
	}
	want := u.intent()
	ctx, cancel := context.WithTimeout(ctx, u.within(observeWithin))
	defer cancel()
	c, err := u.env.Observe(ctx, u.session, want, u.device.Target.Asking(h.Capture, h.Probes...))
	if err != nil {
		u.hangUp()
		return nil, callError(err)
	}
	v, found := h.Read(want, c)
	if v == nil || found.HasErrors() {
		return nil, errUnreadable
	}
	for _, kind := range []struct {
		asked bool
		of    targets.Count
		what  string
	}{{g.NoDiscards, targets.Discarded, "discards in lossless queues"}, {g.NoPauseStorm, targets.Storms, "storms of pauses"}} {
		if kind.asked && !shows(want, v, kind.of) {
			return nil, fmt.Errorf("it shows no counters of %s", kind.what)
		}
	}
	return v, nil
}

// shows reports whether vitals have a count of some port that must not lose a
// packet, if the device has such a port.
func shows(d *intent.Device, v *targets.Vitals, of targets.Count) bool {
	none := true
	for i := range d.Ports {
		p := &d.Ports[i]
		if lossless(d, p) == 0 {
			continue
		}
		none = false
		if seen := v.Ports[p.Name]; seen != nil {
			for c := range seen.Counters {
				if counts(c, of, lossless(d, p)) {
					return true
				}
			}
		}
	}
	return none
}

// counts reports whether a counter is of what a gate asks for, on a priority that
// must not lose a packet. Storms are of queues, or of the port.
func counts(c targets.Counter, of targets.Count, lossless intent.PrioritySet) bool {
	if of == targets.Storms && c.Of == targets.Stalls { // a storm that the adapter has ended
		return true
	}
	return c.Of == of && (of == targets.Storms || c.Priority >= 0 && lossless.Has(uint8(c.Priority)))
}

// lossless are the priorities of a port that must not lose a packet.
func lossless(d *intent.Device, p *intent.Port) intent.PrioritySet {
	q := d.QoSNamed(p.QoS)
	switch {
	case q == nil:
		return 0
	case q.PFC.IsSet():
		return q.PFC.Value
	}
	return q.Lossless
}

// worse says what happened between two looks, "" if nothing did: what was counted
// meanwhile, and storms that are there now.
func worse(d *intent.Device, g Gates, before, now *targets.Vitals) string {
	var list []string
	for i := range d.Ports {
		p := &d.Ports[i]
		then, seen := before.Ports[p.Name], now.Ports[p.Name]
		if seen == nil || lossless(d, p) == 0 {
			continue
		}
		if then != nil {
			for c, n := range verify.Grown(then, seen) {
				if n > 0 && (g.NoDiscards && counts(c, targets.Discarded, lossless(d, p)) || g.NoPauseStorm && counts(c, targets.Storms, lossless(d, p))) {
					list = append(list, fmt.Sprintf("%s: %s%s grew by %d", p.Name, c.Of, ofPriority(c.Priority), n))
				}
			}
		}
		if g.NoPauseStorm && seen.Stormed != 0 {
			list = append(list, fmt.Sprintf("%s: the watchdog holds back %s", p.Name, seen.Stormed))
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	what := list[0]
	if more := len(list) - 1; more > 0 {
		what += fmt.Sprintf(", and %d more", more)
	}
	return short(what)
}

func ofPriority(n int8) string {
	if n == targets.NoPriority {
		return ""
	}
	return fmt.Sprintf(" on priority %d", n)
}

// show runs a read-only command.
func (u *unit) show(ctx context.Context, command string) ([]byte, error) {
	if err := u.connect(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, u.within(observeWithin))
	defer cancel()
	out, err := u.session.Run(ctx, command, nil)
	if err != nil {
		u.hangUp()
		return nil, callError(err)
	}
	if out.Exit != 0 {
		return nil, fmt.Errorf("%s: exit code %d%s", command, out.Exit, because(lastLine(out.Stderr, out.Stdout)))
	}
	return out.Stdout, nil
}

// Pings between hosts: rping sends messages over a reliable RDMA connection and
// ends with 0 when all came back [rping(1) of librdmacm]. The server is given no
// longer than the client takes to come.
const (
	pingServer = "timeout 60 rping -s -a %s -p %d -C 10 -v"
	pingClient = "timeout 30 rping -c -a %s -p %d -C 10 -v"
	pingTries  = 5
)

// pingPort is the port of a run, which no packet has: it is in the service ID of the
// connection. A server whose client did not come outlives its session, and would be in
// the way of the next run's.
func pingPort(run string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(run))
	return 7174 + int(h.Sum32()%4096)
}

// pings sends RDMA from each host of a part to the one before it in the same network,
// of the parts before too, and where there is none, to any other that is as wanted. A
// wave in whose parts no two such hosts are cannot tell.
func (r *run) pings(ctx context.Context, number int, list, before []*unit, last bool) error {
	seen := map[netip.Prefix]pair{}
	var pairs []pair
	var alone []netip.Prefix // networks in which a host of the part has none before it
	for i, u := range slices.Concat(before, list) {
		if u.device.Target.Name != "linux" {
			continue
		}
		for _, at := range rdmaAddresses(u.intent()) {
			net := at.Masked()
			p, ok := seen[net]
			switch {
			case !ok:
				alone = append(alone, net)
			case p.server != u && i >= len(before):
				pairs = append(pairs, pair{p.server, u, p.at})
				alone = slices.DeleteFunc(alone, func(x netip.Prefix) bool { return x == net })
			}
			seen[net] = pair{server: u, at: at.Addr()}
		}
	}
	var partners []*unit
	defer func() {
		for _, u := range slices.Concat(before, partners) {
			u.release()
		}
	}()
	var odd error // of the last that could have been a partner
	for _, net := range alone {
		u := seen[net].server
		if slices.Contains(before, u) {
			continue
		}
		p, err := r.partner(ctx, net, u)
		if err != nil {
			odd = err
		}
		if p != nil {
			pairs, partners = append(pairs, *p), append(partners, p.server)
		}
	}
	switch {
	case len(pairs) > 0:
		r.pinged = number
	case last && r.pinged != number && odd != nil:
		return fmt.Errorf("gate rdma_ping: the wave has no two Linux hosts with RDMA addresses in one network, and no other is as wanted: %w", odd)
	case last && r.pinged != number:
		return errors.New("gate rdma_ping: the wave has no two Linux hosts with RDMA addresses in one network, nor has the network another")
	}
	for _, p := range pairs {
		if err := ping(ctx, p.server, p.client, p.at, pingPort(r.plan.ID)); err != nil {
			for _, u := range []*unit{p.server, p.client} {
				u.failed = true
				u.say(fmt.Errorf("gate rdma_ping: from %s to %s: %w", p.client.device.Address, p.server.device.Address, err))
			}
			return fmt.Errorf("gate rdma_ping: from %s to %s: %w", p.client.device.Address, p.server.device.Address, err)
		}
	}
	return nil
}

// pair is two hosts, and the address of the first in the network that they share.
type pair struct {
	server, client *unit
	at             netip.Addr
}

// partnerTries bounds how many hosts of a network are read to find one that is as wanted.
const partnerTries = 4

// partner finds a host that a client can send RDMA to in a network: one that this run
// has changed before, or that is read as wanted now with nothing open on it. It is only
// asked, never changed. An error says why the last one was none.
func (r *run) partner(ctx context.Context, net netip.Prefix, client *unit) (found *pair, err error) {
	if r.plan.Partners == nil {
		return nil, nil
	}
	tries := 0
	for d := range r.plan.Partners(net) {
		at := slices.IndexFunc(r.plan.Devices, func(x Device) bool { return x.Name == d.Name })
		changed := at >= 0 && r.units[at] != nil && (r.units[at].outcome == Applied || r.units[at].outcome == Pending)
		if d.Name == client.device.Name || d.Target.Name != "linux" || at >= 0 && !changed {
			continue
		}
		u := newUnit(r.env, r.plan, d)
		for _, a := range rdmaAddresses(u.intent()) {
			if a.Masked() == net && found == nil {
				found = &pair{server: u, client: client, at: a.Addr()}
			}
		}
		if found != nil && !changed {
			err = u.asWanted(ctx)
		}
		if found != nil && err == nil {
			return found, nil
		}
		u.release()
		if found != nil {
			err = fmt.Errorf("%s: %w", d.Address, err)
			if tries++; tries == partnerTries {
				break
			}
		}
		found = nil
	}
	return nil, err
}

// asWanted reads a device that is not changed: an error says what is not as wanted, or
// that somebody's change is open on it.
func (u *unit) asWanted(ctx context.Context) error {
	st, err := u.status(ctx)
	if err == nil && st.Open != "" {
		err = errors.New((&targets.Armed{ID: st.Open, Left: time.Duration(st.OpenLeft) * time.Second}).String())
	}
	if err != nil {
		return err
	}
	_, have, err := u.read(ctx)
	if err != nil {
		return err
	}
	if what := unlike(u.device.Address, u.intent(), have, u.device.Target); what != "" {
		return errors.New(what)
	}
	return nil
}

// rdmaAddresses are the addresses of a host that carry RDMA.
func rdmaAddresses(d *intent.Device) []netip.Prefix {
	var list []netip.Prefix
	for i := range d.Ifaces {
		if f := &d.Ifaces[i]; f.RDMA && f.Addresses.IsSet() {
			list = append(list, f.Addresses.Value...)
		}
	}
	return list
}

// ping sends messages from one host to another and waits for both.
func ping(ctx context.Context, server, client *unit, at netip.Addr, port int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer server.hangUp()
	defer client.hangUp()
	served := make(chan error, 1)
	go func() {
		_, err := server.show(ctx, fmt.Sprintf(pingServer, at, port))
		served <- err
	}()
	var err error
	for range pingTries {
		if e := wait(ctx, time.Second); e != nil { // until the server listens
			err = e
			break
		}
		if len(served) > 0 {
			e := <-served
			if e != nil { // what a client says of a server that is gone tells nothing
				return cmp.Or(err, e)
			}
			served <- nil
		}
		if _, err = client.show(ctx, fmt.Sprintf(pingClient, at, port)); err == nil {
			break
		}
	}
	if err != nil {
		cancel()
		<-served
		return err
	}
	return <-served
}
