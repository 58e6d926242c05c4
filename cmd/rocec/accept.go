package main

import (
	"fmt"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
)

// accept enters what devices show into the record, where they moved away from it:
// a plan that takes the record for them then knows what they have. What was handed
// over stays in the record beside it.
func (a *app) accept(pl *planned, approved bool, lock *record.Lock) error {
	if a.stream != nil {
		if err := a.stream.plan(pl.plan, "refresh"); err != nil {
			return err
		}
	}
	if !a.json {
		if err := pl.plan.Text(a.out, plan.TextOptions{Style: a.planStyle(), Verbose: a.verbose}); err != nil {
			return err
		}
	}
	if !pl.plan.Moved() {
		return nil
	}
	if !approved {
		if err := a.ask("Do you want to accept what the devices show into the record?"); err != nil {
			return err
		}
	}
	accepted := 0
	err := a.write(func() error {
		for _, part := range pl.parts {
			name, seen := part.Moved()
			if seen == nil {
				continue
			}
			e, at, err := lock.Store().Get(name)
			if err != nil {
				return err
			}
			if e == nil {
				continue // nothing was handed over that it could have moved from
			}
			if e.Observed = seen; len(intent.Diff(e.Intent, seen)) == 0 {
				e.Observed = nil // it is back at what was handed over
			}
			if _, err := lock.Put(e, at); err != nil {
				return err
			}
			accepted++
		}
		return nil
	})
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Refresh complete: %s accepted into the record.", count(accepted, "device"))
	if a.stream != nil {
		a.stream.put("info", "change_summary", message, map[string]any{"changes": map[string]any{"accepted": accepted, "operation": "refresh"}})
	}
	if !a.json {
		fmt.Fprintln(a.out, message)
	}
	return nil
}
