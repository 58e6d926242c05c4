package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/observe"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/rollout"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// live steers how devices are changed over sessions.
type live struct {
	confirm     time.Duration
	hold        bool // --confirm was given: a person confirms
	noRollback  bool
	parallelism int
}

// ledger is the record as a rollout writes it, under its lock.
type ledger struct{ *record.Lock }

// Get reads an entry.
func (l ledger) Get(device string) (*record.Entry, string, error) { return l.Store().Get(device) }

// journals is the folder of the journals of a workspace.
func (a *app) journals(s *record.Store) string {
	return filepath.Join(a.dataDir(), "journal", s.Workspace())
}

// claimed runs f while nobody else on this machine writes journals of a workspace.
func (a *app) claimed(s *record.Store, f func() error) (err error) {
	release, err := rollout.Claim(a.journals(s), false)
	if err != nil {
		return err
	}
	a.claim = release
	defer func() {
		if a.claim != nil {
			err = errors.Join(err, a.claim())
		}
		a.claim = nil
	}()
	return f()
}

// clock is the time that is written down.
func (a *app) clock() time.Time {
	if a.now != nil {
		return a.now()
	}
	return time.Now()
}

// environment is what a rollout reaches devices, record and people by.
func (a *app) environment(j *rollout.Journal, lock *record.Lock, parallelism int, tell func(rollout.Event)) *rollout.Env {
	return &rollout.Env{Dialer: a.dial(parallelism), Observe: observe.Read, Journal: j, Record: ledger{lock}, Now: a.clock, Tell: tell}
}

// liveDevices are devices of a plan as a rollout takes them.
func (p *project) liveDevices(list []served) ([]rollout.Device, diag.List) {
	f := p.res.Fabric
	byID := make(map[fabric.DeviceID]int, len(list))
	devices := make([]rollout.Device, 0, len(list))
	var found diag.List
	before := map[string]bool{}
	for i := range list {
		s := &list[i]
		d, findings := p.liveDevice(s)
		if findings.HasErrors() {
			found = append(found, unsaid(findings, before)...)
			continue
		}
		byID[s.id] = len(devices)
		devices = append(devices, d)
	}
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		a, b := f.Ports[f.Links[l].A].Device, f.Ports[f.Links[l].B].Device
		i, one := byID[a]
		j, other := byID[b]
		if one && other && i != j {
			devices[i].Peers = append(devices[i].Peers, devices[j].Name)
			devices[j].Peers = append(devices[j].Peers, devices[i].Name)
		}
	}
	return devices, found
}

// liveDevice is a device of a plan as a rollout takes it, without its peers.
func (p *project) liveDevice(s *served) (rollout.Device, diag.List) {
	f := p.res.Fabric
	out := &f.Rollout
	spec, findings := p.spec(s.id)
	d := rollout.Device{
		Name: s.name, Address: s.address, Target: s.target, Session: spec, Role: p.roleOf(s.id),
		Intent: func() *intent.Device { return p.lower(s).intent },
		Make: func(seen targets.Captured) (*apply.Device, error) {
			return p.made1(s, func(c *compiled) (*emit.Out, error) { return rebased(c, &seen) })
		},
		Entry: func() (*record.Entry, error) {
			made, err := p.made1(s, plain)
			if err != nil {
				return nil, err
			}
			return made.Entry(record.Applied, p.digest()), nil
		},
	}
	if out.Decl != 0 {
		if d.Wave = out.Of[s.id]; d.Wave > 0 {
			d.Group = f.WaveGroup(&out.Waves[d.Wave-1], s.id)
		}
		d.Rank = rankOf(f, s.id)
	}
	return d, findings
}

// partners are the devices of a list that have RDMA addresses in a network and are
// changed over sessions, as a rollout takes them. Which they are is looked up once.
func (p *project) partners(list []served) func(netip.Prefix) iter.Seq[*rollout.Device] {
	byNetwork := sync.OnceValue(func() map[netip.Prefix][]*served {
		f := p.res.Fabric
		byID := make(map[fabric.DeviceID]*served, len(list))
		for i := range list {
			byID[list[i].id] = &list[i]
		}
		in := map[netip.Prefix][]*served{}
		for i := range f.Ifaces {
			iface := &f.Ifaces[i]
			s := byID[iface.Device]
			if s == nil || !iface.RDMA {
				continue
			}
			for _, a := range f.Addresses(iface) {
				if hosts := in[a.Masked()]; !slices.Contains(hosts[max(0, len(hosts)-1):], s) {
					in[a.Masked()] = append(hosts, s)
				}
			}
		}
		return in
	})
	return func(network netip.Prefix) iter.Seq[*rollout.Device] {
		return func(yield func(*rollout.Device) bool) {
			for _, s := range byNetwork()[network] {
				if p.delivery(s.id) != fabric.SSH {
					continue
				}
				if d, findings := p.liveDevice(s); !findings.HasErrors() && !yield(&d) {
					return
				}
			}
		}
	}
}

// made1 makes one device.
func (p *project) made1(s *served, make func(*compiled) (*emit.Out, error)) (*apply.Device, error) {
	d, err := p.deliveries([]served{*s}, true, make).Make(0)
	var bad *refused
	if errors.As(err, &bad) {
		for _, x := range bad.findings {
			return nil, fmt.Errorf("%w: %s", err, x.Summary)
		}
	}
	return d, err
}

// rankOf is the place of a device inside of its wave, where the rollout has an order.
func rankOf(f *fabric.Fabric, id fabric.DeviceID) (rank int) {
	if dev := &f.Devices[id]; dev.Kind == fabric.Switch {
		rank = 1 + int(dev.Tier)
	}
	switch {
	case !f.Rollout.OrderSet:
		return 0
	case f.Rollout.UpstreamFirst:
		return -rank
	}
	return rank
}

// roleOf is the role of a device, of which the rollout may bound how many change
// together: the one that is written, its tier, else its model and system.
func (p *project) roleOf(id fabric.DeviceID) string {
	f := p.res.Fabric
	dev := &f.Devices[id]
	switch {
	case dev.Role != 0:
		return fmt.Sprintf("%d role %s", dev.Kind, f.Text(dev.Role))
	case dev.Tier != fabric.NoTier:
		return "tier " + dev.Tier.String()
	}
	return fmt.Sprintf("%d model %d os %s", dev.Kind, dev.Model, f.Text(dev.OSName))
}

// livePlan is the rollout of devices that change over sessions.
func (p *project) livePlan(list []served, o *live, now time.Time, store *record.Store) (*rollout.Plan, diag.List) {
	f := p.res.Fabric
	out := &f.Rollout
	devices, found := p.liveDevices(list)
	pl := &rollout.Plan{
		ID: rollout.NewID(now), Workspace: store.Workspace(), RocecVersion: version(), Devices: devices,
		Confirm: o.confirm, Hold: o.hold, KeepFailed: o.noRollback, Stop: out.Stop, Parallelism: o.parallelism,
		MaxSharePercent: int(out.MaxSharePercent), Roles: map[string]int{},
	}
	if !o.hold {
		pl.Confirm = rollout.DefaultConfirm
		if out.ConfirmMs > 0 {
			pl.Confirm = time.Duration(out.ConfirmMs) * time.Millisecond
		}
	}
	pl.Confirm = max(pl.Confirm.Truncate(time.Second), time.Second)
	for id := fabric.DeviceID(1); int(id) < len(f.Devices); id++ {
		if f.Devices[id].Manage == fabric.Full {
			pl.Roles[p.roleOf(id)]++
		}
	}
	for i := range out.Waves {
		w := &out.Waves[i]
		pl.Waves = append(pl.Waves, rollout.Wave{Name: f.Text(w.Name), Soak: time.Duration(w.SoakMs) * time.Millisecond, Gates: rollout.Gates{
			Verify: w.Gates&fabric.GateVerify != 0, NoPauseStorm: w.Gates&fabric.GateNoPauseStorm != 0,
			NoDiscards: w.Gates&fabric.GateNoDiscards != 0, RDMAPing: w.Gates&fabric.GateRDMAPing != 0,
		}})
	}
	return pl, found
}

// patience is that of rollouts, from the environment.
func (a *app) patience() (time.Duration, error) {
	text := a.env["ROCEC_PATIENCE"]
	if text == "" {
		return rollout.DefaultPatience, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		return 0, fmt.Errorf("ROCEC_PATIENCE is a time such as 5m, at least a second, not %q", text)
	}
	return d, nil
}

// soaks refuses to leave devices armed for less than their waves are watched.
func soaks(pl *rollout.Plan) error {
	var all time.Duration
	seen := map[rollout.Part]bool{}
	for _, d := range pl.Devices {
		if d.Wave == 0 {
			continue
		}
		if part := (rollout.Part{Wave: pl.Waves[d.Wave-1].Name, Name: d.Group}); !seen[part] {
			seen[part] = true
			all += pl.Waves[d.Wave-1].Watched()
		}
	}
	if pl.Hold && all >= pl.Confirm {
		return fmt.Errorf("the waves are watched for %s, and --confirm=%s leaves devices armed for no longer than that: give more time, or one wave with --wave=NAME", lint.Millis(uint64(all.Milliseconds())), pl.Confirm)
	}
	return nil
}

// rollOut changes devices over sessions, watches what an earlier rollout did not watch
// to its end, and reports. An error is the exit code, or why nothing was begun.
func (a *app) rollOut(ctx context.Context, pl *planned, list []served, o *live, approved string, lock *record.Lock) error {
	p := pl.project
	todo, found := p.livePlan(list, o, a.clock(), pl.store)
	a.print(p, found)
	if found.HasErrors() {
		return exit(1)
	}
	if err := soaks(todo); err != nil {
		return err
	}
	var err error
	if todo.Patience, err = a.patience(); err != nil {
		return err
	}
	todo.Digest, todo.By = approved, lock.Holder.Who
	if lock.Holder.Host != "" {
		todo.By += "@" + lock.Holder.Host
	}
	prints := pl.snapshot().Devices
	for i := range todo.Devices {
		if was := prints[todo.Devices[i].Name]; was.From == plan.FromDevice {
			todo.Devices[i].Base = was.Observed
		}
	}
	todo.Partners = p.partners(pl.all)
	before, err := a.again(p, pl, todo)
	if err != nil || len(todo.Devices)+len(todo.Again) == 0 {
		return err
	}
	return a.write(func() error { // a signal ends the rollout where nothing is under way, and then the process
		dir := a.journals(pl.store)
		j, err := a.newJournal(dir, todo.ID)
		if err != nil {
			return err
		}
		defer j.Close()
		view := a.rolling()
		view.apart(todo)
		rep, err := rollout.Run(ctx, todo, a.environment(j, lock, todo.Parallelism, view.event))
		view.end()
		if err != nil {
			return err
		}
		watched := map[*rollout.History][]string{}
		for i := range todo.Again {
			if d := &todo.Again[i]; slices.Contains(rep.Watched, rollout.Part{Wave: todo.Waves[d.Wave-1].Name, Name: d.Group}) {
				watched[before[i]] = append(watched[before[i]], d.Name)
			}
		}
		for h, devices := range watched {
			if err := h.NoteWatched(devices, a.clock); err != nil {
				return err
			}
		}
		return a.reported(rep, "Apply", todo.Hold)
	})
}

// again adds devices to a rollout that are to be watched by it: those of its waves that
// an earlier apply has changed without watching them to the end. It returns the apply of
// each. And it tells the rollout which transactions are over.
func (a *app) again(p *project, pl *planned, todo *rollout.Plan) (before []*rollout.History, err error) {
	waves := p.res.Fabric.Rollout.Of
	after := func(last, wave int) int { // the later one: what is in none comes last
		if wave == 0 {
			wave = len(todo.Waves) + 1
		}
		return max(last, wave)
	}
	changes, asked := 0, 0 // the last waves that change devices now, and that apply was asked for
	seen := map[string]bool{}
	for i := range todo.Devices {
		seen[todo.Devices[i].Name] = true
		changes = after(changes, todo.Devices[i].Wave)
	}
	byName := make(map[string]*served, len(pl.all))
	for i := range pl.all {
		byName[pl.all[i].name] = &pl.all[i]
	}
	if len(todo.Waves) > 0 {
		for i := range pl.devices {
			asked = after(asked, waves[pl.devices[i].id])
		}
	}
	list, _ := rollout.Journals(a.journals(pl.store)) // those that cannot be read were named
	over := map[string]*rollout.History{}
	todo.Over = func(device, transaction string) bool {
		h := over[transaction]
		return h != nil && h.Past(device) != nil && !h.Open()
	}
	var left []served
	for _, h := range list {
		over[h.ID] = h
		for _, d := range h.Devices {
			if seen[d.Name] || d.Outcome() == rollout.Unchanged {
				continue
			}
			seen[d.Name] = true
			s := byName[d.Name]
			if s == nil || !h.Unwatched(d) || len(todo.Waves) == 0 || waves[s.id] == 0 {
				continue
			}
			// Where nothing comes after it, nothing waits for a wave but its gates.
			n := waves[s.id]
			if w := &todo.Waves[n-1]; n <= changes && w.Asks() || n <= asked && w.Gates.Any() {
				left, before = append(left, *s), append(before, h)
			}
		}
	}
	var findings diag.List
	todo.Again, findings = p.liveDevices(left)
	a.print(p, findings)
	if findings.HasErrors() {
		return nil, exit(1)
	}
	return before, nil
}

// goOn does something to an earlier rollout, with its journal and in sight of whoever
// watches.
func (a *app) goOn(h *rollout.History, todo *rollout.Plan, lock *record.Lock, do func(*rollout.Env) *rollout.Report) (rep *rollout.Report, err error) {
	err = a.write(func() error {
		j, err := h.Continue(a.clock)
		if err != nil {
			return err
		}
		defer j.Close()
		view := a.rolling()
		rep = do(a.environment(j, lock, todo.Parallelism, view.event))
		view.end()
		return nil
	})
	return rep, err
}

// newJournal makes a journal, and lets go of those that nobody will ask for.
func (a *app) newJournal(dir, id string) (*rollout.Journal, error) {
	if a.claim == nil {
		release, err := rollout.Claim(dir, true)
		if err != nil {
			return nil, err
		}
		a.claim = release
	}
	j, err := rollout.CreateJournal(dir, id, a.clock)
	if err != nil {
		return nil, err
	}
	if err := leaveToGit(dir); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	const kept = 20
	_ = rollout.Prune(dir, kept) // what cannot be read is shown by rocec rollback --status
	return j, nil
}
