package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/deploy/rollout"
	"github.com/rocec/rocec/lang/diag"
)

// rolling shows a rollout as it goes: a bar for the wave and a line for each device
// on a terminal, lines elsewhere, and objects in the stream.
type rolling struct {
	a     *app
	lines io.Writer
	bars  *mpb.Progress // nil: not on a terminal
	bar   *mpb.Bar      // of the wave
}

func (a *app) rolling() *rolling {
	v := &rolling{a: a, lines: a.out}
	switch {
	case a.json:
		v.lines = io.Discard
	case !a.quiet && terminal(a.err) && terminal(a.out):
		v.bars = mpb.New(mpb.WithOutput(fileOf(a.err)), mpb.WithWidth(40))
		v.lines = v.bars // above the bar
	}
	return v
}

// event takes what happens.
func (v *rolling) event(e rollout.Event) {
	if v.a.stream != nil {
		v.put(&e)
	}
	switch e.Kind {
	case rollout.WaveStart:
		v.begin(&e)
	case rollout.Complete, rollout.ConfirmPending, rollout.Errored:
		if v.bar != nil {
			v.bar.Increment()
		}
	case rollout.WaveComplete:
		v.drop()
	}
	if text := v.text(&e); text != "" {
		fmt.Fprintln(v.lines, diag.Printable(text))
	}
}

// begin starts the bar of a wave.
func (v *rolling) begin(e *rollout.Event) {
	if v.bars == nil {
		return
	}
	name := e.Wave
	if name == "" {
		name = "Changing"
	}
	v.bar = v.bars.AddBar(int64(e.Total), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(diag.Printable(name)+" ")), mpb.AppendDecorators(decor.CountersNoUnit("%d of %d devices")))
}

func (v *rolling) drop() {
	if v.bar != nil {
		v.bar.Abort(true)
		v.bar = nil
	}
}

// end gives the terminal back.
func (v *rolling) end() {
	v.drop()
	if v.bars != nil {
		v.bars.Wait()
	}
}

// text is the line for an event, "" for none. How a device is getting on is told
// to those who ask for more.
func (v *rolling) text(e *rollout.Event) string {
	switch e.Kind {
	case rollout.WaveStart:
		if e.Wave == "" {
			return ""
		}
		if e.Total == 0 {
			return fmt.Sprintf("Wave %s was changed by an earlier apply, and not watched to its end", e.Wave)
		}
		return fmt.Sprintf("Wave %s: %s", e.Wave, count(e.Total, "device"))
	case rollout.Soaking:
		of := e.Wave
		if e.Part != "" {
			of += ", " + e.Part + ","
		}
		return fmt.Sprintf("Wave %s is watched for %s", of, lint.Millis(uint64(e.Soak.Milliseconds())))
	case rollout.Start:
		return e.Address + ": changing"
	case rollout.Progress:
		if v.a.verbose {
			return e.Address + ": " + e.Phase
		}
	case rollout.Complete:
		return e.Address + ": applied" + because(e.Message)
	case rollout.ConfirmPending:
		return fmt.Sprintf("%s: changed, goes back at %s unless it is confirmed", e.Address, e.Until.Format(time.TimeOnly))
	case rollout.Errored:
		return e.Address + ": failed" + because(e.Message)
	case rollout.RollbackStart:
		return e.Address + ": going back"
	case rollout.RollbackComplete:
		return e.Address + ": " + inWords(e.Outcome) + because(e.Message)
	}
	return ""
}

// told is the event in words, also where nothing is printed for it.
func (v *rolling) told(e *rollout.Event) string {
	if text := v.text(e); text != "" {
		return text
	}
	name := "Devices of no wave"
	if e.Wave != "" {
		name = "Wave " + e.Wave
	}
	switch e.Kind {
	case rollout.WaveStart:
		return name + ": " + count(e.Total, "device")
	case rollout.WaveComplete:
		if e.Message != "" {
			return name + " stopped" + because(e.Message)
		}
		return name + ": done"
	}
	return e.Address + ": " + e.Phase
}

func because(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

// inWords are outcomes for people.
func inWords(o rollout.Outcome) string {
	switch o {
	case rollout.RolledBack:
		return "as it was before"
	case rollout.Pending:
		return "waits to be confirmed"
	case rollout.Kept:
		return "failed, and left as it is"
	case rollout.Stuck:
		return "did not go back"
	case rollout.Doubt:
		return "in doubt"
	case rollout.Left:
		return "left as it is, to be planned anew"
	}
	return string(o)
}

// put is an event in the stream.
func (v *rolling) put(e *rollout.Event) {
	level := "info"
	if e.Kind == rollout.Errored || e.Kind == rollout.WaveComplete && e.Message != "" || e.Outcome == rollout.Stuck || e.Outcome == rollout.Doubt {
		level = "error"
	}
	more := map[string]any{}
	for name, value := range map[string]string{"wave": e.Wave, "part": e.Part, "device": e.Device, "address": e.Address, "phase": e.Phase, "outcome": string(e.Outcome)} {
		if value != "" {
			more[name] = value
		}
	}
	switch e.Kind {
	case rollout.WaveStart:
		more["devices"] = e.Total
	case rollout.WaveComplete:
		if e.Message != "" {
			more["error"] = e.Message
		}
	case rollout.Soaking:
		more["soak_seconds"] = e.Soak.Seconds()
	case rollout.ConfirmPending:
		more["until"] = e.Until.UTC().Format(time.RFC3339)
	case rollout.Errored:
		more["error"] = e.Message
	case rollout.Start, rollout.Complete:
		more["action"] = "change"
	}
	kind := string(e.Kind)
	if e.Kind == rollout.Soaking {
		kind = string(rollout.Progress)
	}
	v.a.stream.put(level, kind, v.told(e), more)
}

// apart says which links have different settings at their ends for a while.
func (v *rolling) apart(p *rollout.Plan) {
	list := p.Apart()
	if len(list) == 0 {
		return
	}
	longest, at := time.Duration(-1), 0
	for i, x := range list {
		if x.Watched > longest {
			longest, at = x.Watched, i
		}
	}
	x := list[at]
	text := fmt.Sprintf("%s and %s are joined by a link, and change one after the other", x.First, x.Second)
	if longest > 0 {
		text += fmt.Sprintf(": its ends differ for %s, and as long as the changes take", lint.Millis(uint64(longest.Milliseconds())))
	} else {
		text += ": its ends differ for as long as the changes take"
	}
	if more := len(list) - 1; more > 0 {
		text += fmt.Sprintf(" (so do %d more)", more)
	}
	if v.a.stream != nil {
		v.a.stream.put("info", "log", text, map[string]any{"first": x.First, "second": x.Second, "soak_seconds": longest.Seconds(), "pairs": len(list)})
	}
	fmt.Fprintln(v.lines, diag.Printable(text))
}

// reported prints what became of a rollout, and is its exit code.
func (a *app) reported(rep *rollout.Report, what string, held bool) error {
	a.results(rep, what, held)
	if code := rep.Exit(); code != 0 {
		return exit(code)
	}
	return nil
}

// results print a report: the devices that somebody has to look at, then the
// counts.
func (a *app) results(rep *rollout.Report, what string, held bool) {
	applied, pending := rep.Count(rollout.Applied), rep.Count(rollout.Pending)
	back, same := rep.Count(rollout.RolledBack), rep.Count(rollout.Unchanged)
	lost := rep.Count(rollout.Stuck, rollout.Doubt, rollout.Kept)
	end := "complete"
	if rep.Exit() != 0 {
		end = "failed"
	}
	tally := fmt.Sprintf("%s %s: %d applied, %d rolled back, %d unchanged.", what, end, applied, back, same)
	if pending > 0 {
		tally = strings.TrimSuffix(tally, ".") + fmt.Sprintf(", %d to be confirmed.", pending)
	}
	if lost > 0 {
		tally = strings.TrimSuffix(tally, ".") + fmt.Sprintf(", %d NEED YOU.", lost)
	}
	if a.stream != nil {
		a.stream.results(rep, tally, strings.ToLower(what))
	}
	uneven := unevenText(rep)
	if a.stream != nil && uneven != "" {
		a.stream.put("warn", "log", uneven, map[string]any{"first": rep.Uneven[0].Changed, "second": rep.Uneven[0].Not, "pairs": len(rep.Uneven)})
	}
	if a.json {
		return
	}
	w := a.out
	fmt.Fprintln(w)
	for i := range rep.Results {
		r := &rep.Results[i]
		switch r.Outcome {
		case rollout.Stuck, rollout.Doubt, rollout.Kept:
			fmt.Fprintf(w, "! %s: %s%s\n", diag.Printable(r.Address), inWords(r.Outcome), diag.Printable(because(r.Message)))
			if !r.Until.IsZero() {
				fmt.Fprintf(w, "    it goes back by itself at %s\n", r.Until.Format(time.DateTime))
			}
			if r.Manual != "" {
				fmt.Fprintf(w, "    to go back, type on the device: %s\n", diag.Printable(r.Manual))
			}
		default:
			if r.Message != "" {
				fmt.Fprintf(w, "%s: %s%s\n", diag.Printable(r.Address), inWords(r.Outcome), diag.Printable(because(r.Message)))
			}
		}
	}
	fmt.Fprintln(w, tally)
	if rep.Failure != "" {
		fmt.Fprintf(w, "Stopped by %s\n", diag.Printable(rep.Failure))
	}
	if uneven != "" {
		fmt.Fprintln(w, diag.Printable(uneven))
	}
	if held && pending > 0 {
		a.hint("To make the changes last, run: rocec confirm\nTo take them back, run: rocec rollback")
	}
	if lost > 0 {
		a.hint("To ask the devices how they stand, run: rocec rollback --status\nTo finish what is left open once they answer, run: rocec apply\nTo take all of it back instead, run: rocec rollback")
	}
}

// unevenText says which links a rollout has left with one end changed, "" for none.
func unevenText(rep *rollout.Report) string {
	if len(rep.Uneven) == 0 {
		return ""
	}
	x := rep.Uneven[0]
	text := fmt.Sprintf("%s is changed and %s, at the other end of a link, is not: the ends differ until rocec apply goes through, or rocec rollback takes the change back", x.Changed, x.Not)
	if more := len(rep.Uneven) - 1; more > 0 {
		text += fmt.Sprintf(" (so do those of %d more)", more)
	}
	return text
}

// results puts what became of each device, then the counts.
func (s *stream) results(rep *rollout.Report, tally, operation string) {
	devices := []map[string]any{}
	for _, r := range rep.Results {
		d := map[string]any{"device": r.Device, "address": r.Address, "outcome": r.Outcome}
		for name, value := range map[string]string{"wave": r.Wave, "message": r.Message, "manual": r.Manual} {
			if value != "" {
				d[name] = value
			}
		}
		if !r.Until.IsZero() {
			d["until"] = r.Until.UTC().Format(time.RFC3339)
		}
		devices = append(devices, d)
	}
	changes := map[string]any{"operation": operation}
	for _, o := range []rollout.Outcome{rollout.Applied, rollout.Pending, rollout.RolledBack, rollout.Unchanged, rollout.Kept, rollout.Stuck, rollout.Doubt} {
		changes[string(o)] = rep.Count(o)
	}
	more := map[string]any{"changes": changes, "apply": rep.ID, "devices": devices, "exit": rep.Exit()}
	if rep.Failure != "" {
		more["failure"] = rep.Failure
	}
	s.put("info", "change_summary", tally, more)
}
