package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/deploy/observe"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// looked is what devices showed of their health at one time, by name.
type looked map[string]*targets.Vitals

// vitals asks devices how they are. Of captures it reads the folder health of each
// device, with earlier as a prefix ("before/").
func (a *app) vitals(ctx context.Context, p *project, devices []served, r *reading, earlier string) (looked, diag.List) {
	var mu sync.Mutex
	seen, found := looked{}, diag.List{}
	take := func(s *served, c targets.Captured, err error) {
		var v *targets.Vitals
		var list diag.List
		if err == nil && len(c.Files) > 0 {
			v, list = s.target.Health.Read(p.lower(s).intent, c)
		}
		mu.Lock()
		defer mu.Unlock()
		found = append(found, list...)
		switch {
		case err != nil:
			found.Add(diag.Diagnostic{
				Severity: diag.Warning, Address: s.address, Help: "its settings were compared all the same",
				Summary: fmt.Sprintf("the health of %s is not known: %s", s.address, diag.Printable(strings.TrimPrefix(err.Error(), "read "+s.name+": "))),
			})
		case v != nil && !list.HasErrors():
			seen[s.name] = v
		}
	}
	var live []observe.Device
	var of []*served
	before := map[string]bool{}
	for i := range devices {
		s := &devices[i]
		if s.target.Health == nil {
			continue
		}
		ask := s.target.Asking(s.target.Health.Capture, s.target.Health.Probes...)
		if r.from != "" {
			then := slices.Clone(ask.Probes)
			for i := range then {
				then[i].File = earlier + then[i].File
			}
			c, err := verify.Files(r.from, p.lower(s).intent, s.target.Asking("", then...), p.cfg.Files)
			for name, text := range c.Files {
				delete(c.Files, name)
				c.Files[strings.TrimPrefix(name, earlier)] = text
			}
			take(s, c, err)
			continue
		}
		spec, findings := p.spec(s.id)
		if len(findings) > 0 {
			found = append(found, unsaid(findings, before)...)
			continue
		}
		live = append(live, observe.Device{Spec: spec, Target: ask, Intent: func() *intent.Device { return p.lower(s).intent }})
		of = append(of, s)
	}
	observe.All(ctx, live, a.readers(r.parallelism), r.parallelism, func(i int, c targets.Captured, err error) { take(of[i], c, err) })
	return seen, diag.Sort(found, p.cfg.Files)
}

// health is what is wrong with devices, by what they show now and what has grown.
func (p *project) health(devices []served, before, after looked, f *verifyFlags) diag.List {
	gap := f.sample
	if f.interval > 0 {
		gap = f.interval
	}
	var found diag.List
	for i := range devices {
		s := &devices[i]
		now := after[s.name]
		if now == nil {
			continue
		}
		list := verify.Health(s.address, p.lower(s).intent, p.expects(s.id, f.in.limits), before[s.name], now, gap)
		found = append(found, p.labelled(s, list)...)
	}
	return found
}

// expects is what the source says of a device beside its settings.
func (p *project) expects(id fabric.DeviceID, limits lint.Limits) *verify.Expect {
	f := p.res.Fabric
	x := &verify.Expect{Ports: map[string]verify.ExpectPort{}, Limits: limits}
	for i := range f.GPUs {
		x.GPUDirect = x.GPUDirect || f.GPUs[i].Device == id && !f.Devices[id].Virtualised
	}
	first, end := f.PortsOf(id)
	for port := first; port < end; port++ {
		e := verify.ExpectPort{GID: -1, Mbps: f.Ports[port].Mbps}
		if n := f.Ports[port].NIC; n != 0 {
			e.PCIeGen, e.PCIeLanes, e.GID = f.NICs[n].PCIeGen, f.NICs[n].PCIeLanes, int(f.NICs[n].GIDIndex)
		}
		profile := &f.Profiles[f.Ports[port].Profile]
		if f.Ports[port].Profile != 0 && f.Ports[port].NIC != 0 {
			for i := range f.QoS[profile.QoS].Classes {
				c := &f.QoS[profile.QoS].Classes[i]
				if c.Carries != fabric.CarriesRDMA {
					continue
				}
				x.RDMA = true
				if c.Congestion != fabric.Receiver && (c.ECN.Mode == fabric.Auto || c.ECN.Mode == fabric.Written) {
					e.Marked = e.Marked.With(profile.On[i].Priority & 7)
				}
			}
		}
		x.Ports[f.Text(f.Ports[port].Name)] = e
	}
	return x
}

// liveLimits reads the options of rules that the settings put elsewhere, for rules that
// a device decides.
func (a *app) liveLimits(f *verifyFlags) error {
	if !f.health {
		return nil
	}
	s, err := (&linter{app: a, flags: &lintFlags{}, settings: map[string]*settings{}}).settingsOf(".")
	if err != nil {
		return err
	}
	if s.diags.HasErrors() {
		a.print(&project{view: s.view}, s.diags)
		return exit(1)
	}
	f.in.limits = s.limits()
	return nil
}
