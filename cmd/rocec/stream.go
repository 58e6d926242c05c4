package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
)

// uiVersion is that of the streamed objects. Minor versions only add keys.
const uiVersion = "1.0"

// stream is --json of the commands that take their time: one object a line, in
// the shape that readers of Terraform's know.
type stream struct {
	to   io.Writer
	file *os.File // of --json-into
	err  error

	about map[string]any // what every object carries for now
}

// startStream begins the stream if one is asked for; its first line says the
// version and is there before any work.
func (a *app) startStream() error {
	if !a.wantsJSON() {
		return nil
	}
	s := &stream{to: io.Discard}
	if a.json {
		s.to = a.out
	}
	if a.jsonTo != "" {
		if err := within(a.jsonTo); err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		f, err := os.Create(a.jsonTo)
		if err != nil {
			return fmt.Errorf("write JSON: %w", err)
		}
		s.to, s.file = io.MultiWriter(s.to, f), f
	}
	a.stream = s
	s.put("info", "version", "rocec "+version(), map[string]any{"rocec": version(), "ui": uiVersion})
	return s.err
}

// close ends the file of --json-into and reports what could not be written.
func (s *stream) close() error {
	if s.file != nil {
		s.err = errors.Join(s.err, s.file.Close())
	}
	if s.err != nil {
		return fmt.Errorf("write JSON: %w", s.err)
	}
	return nil
}

func (s *stream) put(level, kind, message string, more map[string]any) {
	line := map[string]any{
		"@level": level, "@message": message, "@module": "rocec.ui", "type": kind,
		"@timestamp": time.Now().Format("2006-01-02T15:04:05.000000Z07:00"),
	}
	maps.Copy(line, s.about)
	maps.Copy(line, more)
	enc := json.NewEncoder(s.to)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil && s.err == nil {
		s.err = err
	}
}

// failure is an error that is no finding: a file that cannot be written, a lock
// that somebody holds.
func (s *stream) failure(err error) {
	s.put("error", "diagnostic", "Error: "+err.Error(), map[string]any{
		"diagnostic": diag.JSONDiagnostic{Severity: diag.Error.String(), Summary: err.Error()},
	})
}

func (s *stream) findings(p *project, list diag.List) {
	for _, d := range diag.JSON(list, p.view, ruleOf) {
		level := map[string]string{"error": "error", "warning": "warn"}[d.Severity]
		if level == "" {
			level = "info"
		}
		s.put(level, "diagnostic", strings.ToUpper(d.Severity[:1])+d.Severity[1:]+": "+d.Summary, map[string]any{"diagnostic": d})
	}
}

// plan puts every change, then the counts.
func (s *stream) plan(pl *plan.Plan, operation string) error {
	text, err := json.Marshal(pl)
	if err != nil {
		return err
	}
	var parts struct {
		Changes []json.RawMessage `json:"resource_changes"`
		Drift   []json.RawMessage `json:"drift"`
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	for i, c := range pl.Drift {
		s.put("info", "resource_drift", c.Address+": drift", map[string]any{"change": parts.Drift[i]})
	}
	for i, c := range pl.Changes {
		s.put("info", "planned_change", fmt.Sprintf("%s: plan to %s", c.Address, c.Action), map[string]any{"change": parts.Changes[i]})
	}
	for i := range pl.Open {
		s.put("warn", "log", pl.Open[i].String(), map[string]any{"open_change": pl.Open[i]})
	}
	s.put("info", "change_summary", pl.Summary.String(), map[string]any{"changes": map[string]any{
		"add": pl.Summary.Add, "change": pl.Summary.Change, "remove": pl.Summary.Destroy, "awaiting": len(pl.Awaiting), "operation": operation,
	}})
	return nil
}

// applied puts what was handed over, device by device.
func (s *stream) applied(d *apply.Delivery) {
	for _, h := range d.Devices {
		steps := []map[string]string{}
		for _, x := range h.Steps {
			steps = append(steps, map[string]string{"step": string(x.Step), "run": x.Run})
		}
		captures := []map[string]string{}
		for _, x := range h.Captures {
			captures = append(captures, map[string]string{"command": x.Command, "file": x.File})
		}
		s.put("info", "apply_complete", h.Address+": handed over", map[string]any{
			"address": h.Address, "device": h.Name, "action": "hand_over", "folder": h.Folder, "written": h.Changed, "steps": steps, "captures": captures, "wave": h.Wave,
		})
	}
	for _, name := range d.Removed {
		s.put("info", "apply_complete", name+": no longer managed", map[string]any{"device": name, "action": "remove"})
	}
	s.put("info", "change_summary", fmt.Sprintf("Apply complete: %d handed over, %d removed.", len(d.Devices), len(d.Removed)), map[string]any{
		"changes": map[string]any{"handed_over": len(d.Devices), "remove": len(d.Removed), "operation": "apply"},
	})
}

// verified puts what differs, then the counts.
func (s *stream) verified(results []*verify.Result, p *project) error {
	var b strings.Builder
	if err := verify.JSON(&b, results, nil, version(), p.view); err != nil {
		return err
	}
	var parts struct {
		Devices []struct {
			Address string `json:"address"`
			Status  string `json:"status"`
		} `json:"devices"`
		Summary map[string]any `json:"summary"`
	}
	var whole struct {
		Devices []json.RawMessage `json:"devices"`
	}
	if err := errors.Join(json.Unmarshal([]byte(b.String()), &parts), json.Unmarshal([]byte(b.String()), &whole)); err != nil {
		return err
	}
	for i, d := range parts.Devices {
		kind := "resource_drift"
		if d.Status != string(verify.Drift) {
			kind = "log"
		}
		s.put("info", kind, d.Address+": "+d.Status, map[string]any{"device": whole.Devices[i]})
	}
	parts.Summary["operation"] = "verify"
	s.put("info", "change_summary", verify.Tally(results), map[string]any{"changes": parts.Summary})
	return nil
}
