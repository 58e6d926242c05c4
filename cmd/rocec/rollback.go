package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/rollout"
	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

func (a *app) rollbackCommand() *cobra.Command {
	var in inputs
	var to, only string
	var status, approve bool
	var timeout time.Duration
	c := &cobra.Command{
		Use: "rollback", Short: "Take back what the last apply changed on live devices", Args: cobra.NoArgs,
		Long: `rollback takes the devices that the last rocec apply changed back to what they were
before it, those that changed last first, reads them back to make sure, and puts their
entries of the record back. --to=ID takes back every apply after that one, the newest
first; --apply=ID takes back that one, and does nothing where it was taken back before;
--status lists them, and asks the devices of those that did not come to their end. What
is known of an apply stands in .rocec/journal, and what a device was before its last five
changes is kept on the device: going back further is refused before any device moves. It
exits 3 when a device did not go back, and names it. One that cannot be asked before it
is told to go back, or on which somebody made a later change, stays as applied, and the
exit code is 1.`,
		Example: "  rocec rollback --status\n  rocec rollback\n  rocec rollback --apply=20270131t120000abcdefgh --auto-approve\n  rocec rollback --to=20270131t120000abcdefgh",
		RunE: func(c *cobra.Command, _ []string) error {
			if to != "" && only != "" {
				return errors.New("--to and --apply do not go together")
			}
			if err := a.startStream(); err != nil {
				return err
			}
			p, devices, err := a.compiled(&in, &choice{})
			if err != nil {
				return err
			}
			store, err := a.store(p)
			if err != nil {
				return err
			}
			if status {
				list, err := rollout.Journals(a.journals(store))
				return errors.Join(a.applies(c.Context(), p, devices, list, err == nil), err)
			}
			// Held from before the journals are read: an apply may be writing one.
			return a.lockedLive(c.Context(), store, "rollback", timeout, func(lock *record.Lock) error {
				list, err := rollout.Journals(a.journals(store))
				a.unreadable(err)
				back, err := toTakeBack(list, to, only)
				switch {
				case err != nil:
					return err
				case len(back) == 0:
					return errors.Join(a.nothing("Nothing to take back."), a.openChanges(c.Context(), p, devices))
				case !back[0].Changed(): // a process died when it had taken all of it back
					return a.backBefore(back[0])
				}
				return a.takeBack(c.Context(), p, devices, back, approve, lock)
			})
		},
	}
	in.flags(c)
	c.Flags().StringVar(&to, "to", "", "take back every apply after the one with this `ID`")
	c.Flags().StringVar(&only, "apply", "", "take back the apply with this `ID`, for scripts: to repeat it does no more")
	c.Flags().BoolVar(&status, "status", false, "list what was applied to live devices, and how it stands")
	c.Flags().BoolVar(&approve, "auto-approve", false, "do not ask")
	c.Flags().DurationVar(&timeout, "lock-timeout", 0, "wait this `LONG` for the record's lock")
	return c
}

// nothing says that there is nothing to do.
func (a *app) nothing(text string) error {
	if a.stream != nil {
		a.stream.put("info", "log", text, nil)
	}
	if a.json {
		return nil
	}
	_, err := fmt.Fprintln(a.out, text)
	return err
}

// toTakeBack are the applies to be taken back, the newest first: those after one, one
// alone, or the last that is there. One that was taken back when its rollback died, and
// has nothing left to take back, is that last one: to repeat a rollback takes nothing else back.
func toTakeBack(list []*rollout.History, to, only string) (back []*rollout.History, err error) {
	later := map[string]string{} // the apply that changed a device last, by its name
	for _, h := range list {
		switch {
		case h.ID == to:
			return back, nil
		case h.ID == only:
			for _, d := range h.Devices {
				if by := later[d.Name]; by != "" && h.Changed() {
					return nil, fmt.Errorf("apply %s changed %s after it: take that one back first, or both with --to", by, d.Address)
				}
			}
			return []*rollout.History{h}, nil
		case !h.Changed() && (!h.Reverting || to != "" || only != ""):
			continue
		}
		for _, d := range h.Devices {
			if o := d.Outcome(); o != rollout.Unchanged && o != rollout.RolledBack && later[d.Name] == "" {
				later[d.Name] = h.ID
			}
		}
		back = append(back, h)
		if to == "" && only == "" {
			return back, nil
		}
	}
	if wanted := to + only; wanted != "" {
		return nil, fmt.Errorf("no apply has the ID %q: rocec rollback --status lists them", wanted)
	}
	return back, nil
}

// backBefore ends a rollback that had taken everything back when its process died.
func (a *app) backBefore(h *rollout.History) error {
	if h.Reverting {
		if err := h.End(a.clock); err != nil {
			return err
		}
	}
	return a.nothing(fmt.Sprintf("Apply %s was taken back before; nothing more was done.", h.ID))
}

// openChanges is an error where a change is open on a device, begun elsewhere.
func (a *app) openChanges(ctx context.Context, p *project, devices []served) error {
	r := &reading{refresh: true, parallelism: parallelReads}
	var mu sync.Mutex
	var open []string
	var which []int
	for i := range devices {
		if r.live(p, &devices[i]) {
			which = append(which, i)
		}
	}
	a.read(ctx, p, devices, which, r, func(i int, seen sight) {
		mu.Lock()
		defer mu.Unlock()
		if seen.captured != nil && seen.captured.Armed != nil {
			open = append(open, devices[i].address+": "+seen.captured.Armed.String())
		}
	})
	if len(open) == 0 {
		return nil
	}
	slices.Sort(open)
	return errors.New(strings.Join(open, "; "))
}

// takeBack takes applies back, and stops at the first of which a device did not go.
func (a *app) takeBack(ctx context.Context, p *project, devices []served, back []*rollout.History, approved bool, lock *record.Lock) error {
	plans := make([]*rollout.Plan, len(back))
	for i, h := range back {
		by := ""
		if h.By != "" {
			by = ", by " + h.By
		}
		devicesChanged := count(h.Count(rollout.Applied, rollout.Pending, rollout.Doubt, rollout.Stuck, rollout.Kept), "device")
		text := fmt.Sprintf("Apply %s of %s%s: %s", h.ID, h.At.Local().Format(time.DateTime), by, devicesChanged)
		if a.stream != nil {
			a.stream.put("info", "log", text, map[string]any{"apply": h.ID, "by": h.By})
		}
		if !a.json {
			fmt.Fprintln(a.out, diag.Printable(text))
		}
		var err error
		if plans[i], err = a.earlierPlan(p, devices, h); err != nil {
			return err
		}
	}
	// Asked of all before the first goes back.
	for i, h := range back {
		if list := rollout.Forgotten(ctx, h, plans[i], a.environment(nil, lock, plans[i].Parallelism, nil)); len(list) > 0 {
			return fmt.Errorf("apply %s cannot be taken back, and nothing was done: %s keeps it no more (a device keeps what it was before its last five changes)", h.ID, strings.Join(list, ", "))
		}
	}
	if !approved {
		if err := a.ask("Do you want to take this back?"); err != nil {
			return err
		}
	}
	for i, h := range back {
		todo := plans[i]
		rep, err := a.goOn(h, todo, lock, func(env *rollout.Env) *rollout.Report { return rollout.Back(ctx, h, todo, env) })
		if err == nil {
			err = a.reported(rep, "Rollback", false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyJSON is an apply for programs.
type applyJSON struct {
	ID       string       `json:"id"`
	At       time.Time    `json:"at"`
	Ended    bool         `json:"ended"`
	Devices  []deviceJSON `json:"devices"`
	Standing string       `json:"standing"`
}

type deviceJSON struct {
	Device  string          `json:"device"`
	Address string          `json:"address"`
	Outcome rollout.Outcome `json:"outcome"`
	Says    string          `json:"says,omitempty"`
}

// applies lists applies, the newest first, and asks the devices of those that are open.
// Readable says that none is missing in the list.
func (a *app) applies(ctx context.Context, p *project, devices []served, list []*rollout.History, readable bool) error {
	rows := []applyJSON{}
	for _, h := range list {
		row := applyJSON{ID: h.ID, At: h.At, Ended: h.Ended, Standing: standingOf(h)}
		says := map[string]string{}
		if h.Open() {
			todo, err := a.earlierPlan(p, devices, h)
			if err != nil {
				return err
			}
			for _, x := range rollout.Look(ctx, h, todo, a.environment(nil, nil, todo.Parallelism, nil)) {
				if x.State != nil || x.Err != nil {
					says[x.Device] = stands(&x)
				}
			}
		}
		for _, d := range h.Devices {
			row.Devices = append(row.Devices, deviceJSON{d.Name, d.Address, d.Outcome(), says[d.Name]})
		}
		rows = append(rows, row)
	}
	if a.stream != nil {
		for _, r := range rows {
			a.stream.put("info", "log", fmt.Sprintf("apply %s: %s", r.ID, r.Standing), map[string]any{"apply": r})
		}
	}
	if a.json {
		return nil
	}
	if len(rows) == 0 && readable {
		_, err := fmt.Fprintln(a.out, "Nothing was applied to live devices.")
		return err
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.ID, r.At.Local().Format(time.DateTime), count(len(r.Devices), "device"), r.Standing)
		for _, d := range r.Devices {
			if d.Says != "" || a.verbose {
				fmt.Fprintf(w, "  %s\t%s\t%s\n", diag.Printable(d.Address), inWords(d.Outcome), diag.Printable(d.Says))
			}
		}
	}
	return w.Flush()
}

// standingOf says how an apply stands, by its journal.
func standingOf(h *rollout.History) string {
	switch {
	case len(h.Devices) == 0: // it died before it had written them down
		return "changed nothing"
	case h.Count(rollout.Pending) > 0:
		return "waits to be confirmed"
	case h.Open() && !h.Ended:
		return "not at its end"
	case h.Open():
		return "needs you"
	case !h.Changed() && h.Count(rollout.RolledBack) > 0:
		return "taken back"
	}
	n, text := h.Count(rollout.Applied), "applied"
	switch n {
	case 0:
		return "changed nothing"
	case len(h.Devices):
	default:
		text = fmt.Sprintf("applied to %d of %d", n, len(h.Devices))
	}
	if slices.ContainsFunc(h.Devices, h.Unwatched) {
		text += ", not watched to the end"
	}
	return text
}
