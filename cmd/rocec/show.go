package main

import (
	"encoding/json"
	"fmt"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/spf13/cobra"
)

func (a *app) showCommand() *cobra.Command {
	var in inputs
	var form planForm
	c := &cobra.Command{
		Use: "show [FILE]", Short: "Print a saved plan, a manifest or the record", Args: cobra.MaximumNArgs(1),
		Long: `show prints a saved plan as rocec plan does, and a manifest or an entry of the record as
it is. Without FILE it prints the record of the workspace: what was last handed over to
each device, or seen applied on it. With --json that is the object of rocec record export.
The forms markdown and html, --summary and --tree are for plans.`,
		Example: "  rocec show change.rocplan\n  rocec show --json            # the record",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := form.check(); err != nil {
				return err
			}
			a.json = a.json || form.format == "json"
			if len(args) == 0 {
				if err := form.ofPlans("the record"); err != nil {
					return err
				}
				return a.showRecord(&in)
			}
			return a.showFile(args[0], &form)
		},
	}
	in.flags(c)
	form.flags(c)
	return c
}

// showRecord prints the record of the workspace.
func (a *app) showRecord(in *inputs) error {
	s, err := a.openRecord(in)
	if err != nil {
		return err
	}
	if a.wantsJSON() {
		if err := a.exportRecord(s, ""); err != nil || a.json {
			return err
		}
	}
	entries, err := s.All()
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	if len(entries) == 0 {
		_, err := fmt.Fprintf(a.out, "The record of workspace %q is empty.\n", s.Workspace())
		return err
	}
	fmt.Fprintf(a.out, "The record of workspace %q, %s:\n\n", s.Workspace(), count(len(entries), "device"))
	return a.recordText(entries)
}

// showFile prints a file that rocec wrote.
func (a *app) showFile(path string, form *planForm) error {
	text, err := readFile(path)
	if err != nil {
		return err
	}
	var head struct {
		Kind    string          `json:"kind"`
		Version string          `json:"format_version"`
		Intent  string          `json:"intent_digest"`    // of an entry
		Changes json.RawMessage `json:"resource_changes"` // of a plan in JSON
	}
	if err := record.Unmarshal(text, &head); err != nil {
		return fmt.Errorf("%s is no plan, manifest or record: %w", path, err)
	}
	switch {
	case head.Kind == plan.SavedKind:
		saved, err := plan.DecodeSaved(text)
		if err != nil {
			return fmt.Errorf("read plan %s: %w", path, err)
		}
		return a.object(saved.Plan, func() error { return a.printPlan(saved.Plan, form) })
	case head.Kind == apply.ManifestKind:
		_, err = apply.DecodeManifest(text)
	case head.Kind == record.Kind, head.Kind == "" && head.Intent != "":
		err = record.CheckFormat(head.Version, record.FormatVersion)
	case head.Kind == "" && head.Changes != nil:
		err = record.CheckFormat(head.Version, plan.FormatVersion)
	default:
		return fmt.Errorf("%s is no plan, manifest or record", path)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if err := form.ofPlans(path); err != nil {
		return err
	}
	var any map[string]any
	if err := record.Unmarshal(text, &any); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	pretty, err := record.Canonical(any)
	if err != nil {
		return err
	}
	_, err = a.out.Write(pretty)
	return err
}
