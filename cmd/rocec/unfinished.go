package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/rollout"
	"github.com/rocec/rocec/lang/diag"
)

// unfinished settles the rollouts that died or stopped with devices between two
// states: it asks each device, says what is done, undone and in doubt, and brings
// it to an end when that is approved. Nothing new begins before.
func (a *app) unfinished(ctx context.Context, p *project, devices []served, approved bool, lock *record.Lock) error {
	list, err := rollout.Journals(a.journals(lock.Store()))
	a.unreadable(err)
	for _, h := range slices.Backward(list) { // the oldest first
		if !h.Open() {
			continue
		}
		if err := a.settle(ctx, p, devices, h, approved, lock); err != nil {
			return err
		}
	}
	return nil
}

// unreadable names journals of which not even the head can be read. They stop nothing: a
// change that one of them left open goes back by itself, and every reading of the
// device names it until then.
func (a *app) unreadable(err error) {
	if err == nil {
		return
	}
	text := fmt.Sprintf("%v: what that apply was about cannot be told; rocec verify names devices on which a change is open; move the file away when that is done", err)
	if a.stream != nil {
		a.stream.put("warn", "log", text, nil)
	}
	if !a.json {
		fmt.Fprintf(a.err, "Warning: %s\n", diag.Printable(text))
	}
}

// settle brings one rollout to an end.
func (a *app) settle(ctx context.Context, p *project, devices []served, h *rollout.History, approved bool, lock *record.Lock) error {
	todo, err := a.earlierPlan(p, devices, h)
	if err != nil {
		return err
	}
	standing := rollout.Look(ctx, h, todo, a.environment(nil, lock, todo.Parallelism, nil))
	if until, armed := waiting(h, standing, a.clock()); armed {
		return waits(h, until)
	}
	a.standing(h, standing)
	if !approved {
		then := "confirmed"
		if h.Hold {
			then = "wait for rocec confirm"
		}
		if err := a.ask("Do you want to finish it? Devices that are changed are read back and " + then + ", the others go back. (rocec rollback takes all of them back.)"); err != nil {
			return err
		}
	}
	rep, err := a.goOn(h, todo, lock, func(env *rollout.Env) *rollout.Report {
		rep := rollout.Settle(ctx, h, todo, env)
		late := rollout.Confirm(ctx, h, todo, env) // their time is over: they have gone back
		rep.Results = append(rep.Results, late.Results...)
		if rep.Failure == "" {
			rep.Failure = late.Failure
		}
		return rep
	})
	if err != nil {
		return err
	}
	a.results(rep, "Resume", true)
	if rep.Exit() == 3 {
		return exit(3)
	}
	if i := slices.IndexFunc(rep.Results, func(r rollout.Result) bool { return r.Outcome == rollout.Pending }); i >= 0 {
		return waits(h, rep.Results[i].Until)
	}
	return nil
}

// waits is the error of who would go on while devices are armed.
func waits(h *rollout.History, until time.Time) error {
	return fmt.Errorf("apply %s waits to be confirmed until %s: run rocec confirm, or rocec rollback", h.ID, until.Local().Format(time.DateTime))
}

// waiting reports whether devices of a rollout are armed still, as it should be.
func waiting(h *rollout.History, list []rollout.Standing, now time.Time) (until time.Time, waits bool) {
	for _, x := range list {
		if x.Outcome != rollout.Pending {
			continue
		}
		if d := h.Past(x.Device); d.Until.After(now) && (x.State == nil || x.State.Left > 0) && (until.IsZero() || d.Until.Before(until)) {
			until, waits = d.Until, true
		}
	}
	return until, waits
}

// earlierPlan is how the devices of an earlier rollout are reached.
func (a *app) earlierPlan(p *project, devices []served, h *rollout.History) (*rollout.Plan, error) {
	patience, err := a.patience()
	if err != nil {
		return nil, err
	}
	var list []served
	for _, s := range devices {
		if h.Past(s.name) != nil && s.target.Live != nil {
			list = append(list, s)
		}
	}
	known, found := p.liveDevices(list)
	if len(known) == 0 && found.HasErrors() {
		return nil, errors.New(found[0].Summary)
	}
	return &rollout.Plan{ID: h.ID, Workspace: h.Workspace, RocecVersion: version(), Devices: known, Confirm: h.Confirm, Patience: patience, Parallelism: rollout.DefaultParallelism}, nil
}

// standing prints how the devices of a rollout stand.
func (a *app) standing(h *rollout.History, list []rollout.Standing) {
	done, undone, doubt := 0, 0, 0
	for _, x := range list {
		switch x.Outcome {
		case rollout.Applied:
			done++
		case rollout.Unchanged, rollout.RolledBack:
			undone++
		default:
			doubt++
		}
	}
	summary := fmt.Sprintf("Apply %s of %s did not come to its end: %d done, %d undone, %d in doubt.", h.ID, h.At.Local().Format(time.DateTime), done, undone, doubt)
	if a.stream != nil {
		rows := []map[string]any{}
		for _, x := range list {
			row := map[string]any{"device": x.Device, "address": x.Address, "outcome": x.Outcome}
			if x.State != nil {
				row["state"] = x.State
			}
			if x.Err != nil {
				row["error"] = x.Err.Error()
			}
			rows = append(rows, row)
		}
		a.stream.put("warn", "log", summary, map[string]any{"apply": h.ID, "devices": rows})
	}
	if a.json {
		return
	}
	fmt.Fprintln(a.out, summary)
	for _, x := range list {
		if text := stands(&x); text != "" {
			fmt.Fprintf(a.out, "  %s: %s\n", diag.Printable(x.Address), diag.Printable(text))
		}
	}
}

// stands says how a device stands, "" for one that nothing was begun on.
func stands(x *rollout.Standing) string {
	switch {
	case x.Outcome == rollout.Unchanged:
		return ""
	case x.Err != nil:
		return "it does not answer: " + x.Err.Error()
	case x.State == nil:
		return inWords(x.Outcome)
	}
	text := "says that it is " + string(x.State.Phase)
	if x.State.Left > 0 {
		text += fmt.Sprintf(", and goes back by itself in %s", (time.Duration(x.State.Left) * time.Second).String())
	}
	if x.State.Message == string(x.State.Phase) {
		return text
	}
	return text + because(x.State.Message)
}
