package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/rollout"
	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

func (a *app) rollbackCommand() *cobra.Command {
	var in inputs
	var to string
	var status, approve bool
	var timeout time.Duration
	c := &cobra.Command{
		Use: "rollback", Short: "Take back what the last apply changed on live devices", Args: cobra.NoArgs,
		Long: `rollback takes the devices that the last rocec apply changed back to what they were
before it, those that changed last first, reads them back to make sure, and puts their
entries of the record back. --to=ID takes back every apply after that one, the newest
first; --status lists them, and asks the devices of those that did not come to their
end. What is known of an apply stands in .rocec/journal, and what a device was before
is kept on the device. It exits 3 when a device did not go back, and names it; one that
cannot be asked before it is told to go back stays as applied, and the exit code is 1.`,
		Example: "  rocec rollback --status\n  rocec rollback\n  rocec rollback --to=20270131t120000abcdefgh",
		RunE: func(c *cobra.Command, _ []string) error {
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
				return errors.Join(a.applies(c.Context(), p, devices, list), err)
			}
			// Held from before the journals are read: an apply may be writing one.
			return a.lockedLive(c.Context(), store, "rollback", timeout, func(lock *record.Lock) error {
				list, err := rollout.Journals(a.journals(store))
				if err != nil {
					return err
				}
				back, err := toTakeBack(list, to)
				if err != nil {
					return err
				}
				if len(back) == 0 {
					return a.nothing("Nothing to take back.")
				}
				return a.takeBack(c.Context(), p, devices, back, approve, lock)
			})
		},
	}
	in.flags(c)
	c.Flags().StringVar(&to, "to", "", "take back every apply after the one with this `ID`")
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

// toTakeBack are the applies to be taken back, the newest first: those after one,
// or the last that is there.
func toTakeBack(list []*rollout.History, to string) (back []*rollout.History, err error) {
	for _, h := range list {
		if h.ID == to {
			return back, nil
		}
		if !h.Changed() {
			continue
		}
		back = append(back, h)
		if to == "" {
			return back, nil
		}
	}
	if to != "" {
		return nil, fmt.Errorf("no apply has the ID %q: rocec rollback --status lists them", to)
	}
	return back, nil
}

// takeBack takes applies back, and stops at the first of which a device did not go.
func (a *app) takeBack(ctx context.Context, p *project, devices []served, back []*rollout.History, approved bool, lock *record.Lock) error {
	if !approved {
		for _, h := range back {
			if a.json {
				break // nobody can be asked
			}
			fmt.Fprintf(a.out, "Apply %s of %s: %s\n", h.ID, h.At.Local().Format(time.DateTime), count(h.Count(rollout.Applied, rollout.Pending, rollout.Doubt, rollout.Stuck, rollout.Kept), "device"))
		}
		if err := a.ask("Do you want to take this back?"); err != nil {
			return err
		}
	}
	for _, h := range back {
		todo, err := a.earlierPlan(p, devices, h)
		if err != nil {
			return err
		}
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
func (a *app) applies(ctx context.Context, p *project, devices []served, list []*rollout.History) error {
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
	if len(rows) == 0 {
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
