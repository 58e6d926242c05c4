package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/observe"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/spf13/cobra"
)

// reading says where what devices have is known from.
type reading struct {
	from        string // a folder of captures, for all; "": devices of which delivery is ssh are read
	refresh     bool   // false: none is read, the record speaks for all
	parallelism int    // devices that are read at once
	saved       *plan.Saved
}

// parallelReads is how many devices are read at once unless somebody says otherwise:
// nearly all of the time goes into waiting for them.
const parallelReads = 64

func (r *reading) flags(c *cobra.Command) {
	c.Flags().BoolVar(&r.refresh, "refresh", true, "read the devices whose delivery is ssh; without it the record speaks for them")
	c.Flags().IntVar(&r.parallelism, "parallelism", parallelReads, "read this `NUMBER` of devices at once")
}

// live reports whether a device is read over a session.
func (r *reading) live(p *project, s *served) bool {
	switch {
	case r.from != "" || !r.refresh || p.trust.untrusted:
		return false
	case r.saved != nil: // as it was when the plan was made
		return r.saved.Devices[s.name].From == plan.FromDevice
	}
	return p.delivery(s.id) == fabric.SSH
}

// sight is what was read of a device: nothing where the record speaks for it.
type sight struct {
	captured *targets.Captured
	from     plan.From
	reason   string // why there are no captures
	err      error  // it could not be read
}

// look reads devices, each by its way, and gives what it saw of each, on several
// goroutines at once and in no order.
func (a *app) look(ctx context.Context, p *project, devices []served, r *reading, each func(i int, seen sight)) {
	var live, rest []int
	for i := range devices {
		if r.live(p, &devices[i]) {
			live = append(live, i)
		} else {
			rest = append(rest, i)
		}
	}
	a.read(ctx, p, devices, live, r, each)
	parallel(len(rest), func(n int) {
		i := rest[n]
		if r.from == "" {
			each(i, sight{from: plan.FromRecord})
			return
		}
		each(i, p.taken(&devices[i], r.from))
	})
}

// read reads devices over sessions.
func (a *app) read(ctx context.Context, p *project, devices []served, which []int, r *reading, each func(i int, seen sight)) {
	if len(which) == 0 {
		return
	}
	progress := p.steps("Reading", len(which))
	defer progress.end()
	var list []observe.Device
	var of []int // index in devices
	before := map[string]bool{}
	for _, i := range which {
		s := &devices[i]
		spec, findings := p.spec(s.id)
		if len(findings) > 0 {
			why := findings[0].Summary
			each(i, sight{from: plan.FromDevice, err: &refused{unsaid(findings, before), why}})
			progress.one()
			continue
		}
		list = append(list, observe.Device{Spec: spec, Target: s.target, Intent: func() *intent.Device { return p.lower(s).intent }, Armed: true})
		of = append(of, i)
	}
	observe.All(ctx, list, a.readers(r.parallelism), r.parallelism, func(n int, c targets.Captured, err error) {
		each(of[n], sight{captured: &c, from: plan.FromDevice, err: err})
		progress.one()
	})
}

// dial opens sessions.
func (a *app) dial(atOnce int) session.Dialer {
	if a.dialer != nil {
		return a.dialer
	}
	return &session.Client{MaxSessions: atOnce, PassEnv: a.trust.env}
}

// readWithin is how long a device may take over one answer while it is read: as
// long as a rollout gives it.
const readWithin = 5 * time.Minute

// readers opens sessions that read: a device that lets us in and then says nothing
// does not hold up the others for as long as a change may take.
func (a *app) readers(atOnce int) session.Dialer {
	if a.dialer != nil {
		return a.dialer
	}
	within := readWithin
	if d, err := a.patience(); err == nil && a.env["ROCEC_PATIENCE"] != "" { // apply refuses what is no time
		within = d
	}
	return &session.Client{MaxSessions: atOnce, OpTimeout: within, PassEnv: a.trust.env}
}

// taken are the captures of a device in a folder.
func (p *project) taken(s *served, from string) sight {
	dev := p.lower(s).intent
	seen := sight{from: plan.FromCaptures}
	if s.target.Parse == nil {
		seen.reason = "target " + s.target.Name + " reads no captures"
		return seen
	}
	c, err := verify.Files(from, dev, s.target, p.cfg.Files)
	switch {
	case err != nil:
		seen.err = err
	case len(c.Files) == 0:
		seen.reason = verify.NoCaptures(from, dev, s.target)
	default:
		seen.captured = &c
	}
	return seen
}

// unread is a finding about devices that could not be read, all for one reason.
func (p *project) unread(list []*served, said string) diag.Diagnostic {
	f := p.res.Fabric
	s := list[0]
	who, repeat, exclude := s.address, "it answers, leave it", "--exclude="+shellWord(s.address)
	if more := len(list) - 1; more > 0 {
		who = fmt.Sprintf("%s and %d more", who, more)
		repeat, exclude = "they answer, leave them", "--exclude=DEVICE for each"
	}
	return diag.Diagnostic{
		Severity: diag.Error, Summary: fmt.Sprintf("%s could not be read: %s", who, diag.Printable(said)), Address: s.address,
		Labels: []diag.Label{f.DeclLabel(f.Devices[s.id].Decl, "")},
		Help:   fmt.Sprintf("repeat it when %s out with %s, or take the record for all devices with --refresh=false", repeat, exclude),
	}
}

// shellWord is an address as a command line takes it: quotes around keys may be left out.
func shellWord(address string) string {
	bare := strings.ReplaceAll(address, `"`, "")
	if strings.ContainsAny(bare, "[]*? ") {
		return "'" + bare + "'"
	}
	return bare
}
