// Package compiler takes a configuration to a proven fabric: resolve, derive,
// lint, and the intent of each device on demand. It does no I/O and calls
// nothing back; the same configuration gives the same result on any machine.
package compiler

import (
	"slices"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/compiler/resolve"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
)

// Options steer a compilation. They are inputs like the files.
type Options struct {
	AsOf  string       // YYYY-MM-DD, judges end dates; "" = not judged
	Rules []*lint.Rule // nil = all
	// Pedantic keeps the findings of pedantic rules. They run in any case, so that
	// comments and overrides about them are known to be of use.
	Pedantic bool
	// Failures and Properties take the place of what the source's analysis says; 0
	// leaves it.
	Failures   int
	Properties fabric.PropertySet
	// Each gives a finding for each port of those that are alike, and Limits put the
	// limits of rules elsewhere: see lint.How.
	Each   bool
	Limits lint.Limits
	// Elsewhere finds, by code or name, rules that are decided later than here: by
	// targets, plans and devices. Nothing in the source takes their findings out.
	Elsewhere func(codeOrName string) *diag.Rule
	// Rows returns the headroom tables of shipping platforms; nil: none.
	Rows func(platforms ...string) []headroom.Row
}

// Result is a compiled fabric. Fabric is nil when resolve failed; Facts is nil
// when there was nothing to derive from.
type Result struct {
	Fabric *fabric.Fabric
	Facts  *derive.Facts
	Diags  diag.List // of every stage: folded, silenced, sorted
	Exempt []Exempt  // what the source takes out of them

	ways ways // to devices, for Connection
}

// Compile runs the stages. It stops after resolve if that found errors, so that
// one mistake gives one message.
func Compile(cfg *lang.Config, opt Options) *Result {
	f, diags := resolve.Fabric(cfg)
	if diags.HasErrors() {
		return &Result{Diags: diag.Sort(Lines(cfg, diag.Fold(diags)), cfg.Files)}
	}
	if opt.Failures > 0 {
		f.Analysis.Failures = uint8(opt.Failures)
	}
	if opt.Properties != 0 {
		f.Analysis.Properties = opt.Properties
	}
	tables(f, opt.Rows)
	facts, more := derive.Compute(f, derive.Options{})
	diags = append(diags, more...)
	rules := opt.Rules
	if rules == nil {
		rules = lint.All
	}
	ways := waysOf(cfg)
	found := append(ways.check(f), lint.RunAs(f, facts, lint.How{AsOf: opt.AsOf, Each: opt.Each, Limits: opt.Limits}, rules)...)
	found, exempt := accept(f, found, &opt, len(rules) == len(lint.All))
	found, silent := silence(f, found, &opt, len(rules) == len(lint.All))
	if !opt.Pedantic {
		found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool {
			r := lint.Find(d.Rule)
			return r != nil && r.Pedantic
		})
	}
	diags = append(diags, found...)
	exempt = append(exempt, silent...)
	diags = append(diags, unreached(f)...)
	diags = append(diags, RecordFaults(cfg)...)
	for i := range exempt {
		exempt[i].Findings = diag.Sort(Lines(cfg, diag.Fold(exempt[i].Findings)), cfg.Files)
	}
	return &Result{Fabric: f, Facts: facts, Diags: diag.Sort(Lines(cfg, diag.Fold(lint.Consequences(diags))), cfg.Files), Exempt: exempt, ways: ways}
}

// tables enters the headroom rows of the platforms that the fabric has.
func tables(f *fabric.Fabric, rows func(platforms ...string) []headroom.Row) {
	if rows == nil {
		return
	}
	var platforms []string
	for i := range f.Models {
		if p := f.Text(f.Models[i].Platform); p != "" && !slices.Contains(platforms, p) {
			platforms = append(platforms, p)
		}
	}
	for _, r := range rows(platforms...) {
		row := fabric.HeadroomRow{
			Platform: f.Names.Add(r.Platform), SKU: f.Names.Add(r.SKU), Mbps: uint32(r.Mbps), CableMm: uint32(r.CableMm),
			SizeBytes: uint32(r.SizeBytes), XonBytes: uint32(r.XonBytes), XonOffsetBytes: uint32(r.XonOffsetBytes), XoffBytes: uint32(r.XoffBytes),
		}
		// Static thresholds are bytes and say nothing of a dynamic one.
		if r.Threshold >= -8 && r.Threshold <= 7 {
			row.AlphaExponent = int8(r.Threshold)
		}
		f.HeadroomRows = append(f.HeadroomRows, row)
	}
}

// Intent is what one device should be, nil if rocec never touches it.
func (r *Result) Intent(d fabric.DeviceID) *intent.Device {
	return lower.Device(r.Fabric, r.Facts, d)
}

// Shape appends to b all that the intent of a device says but for its name and
// addresses; false if the device has to be looked at by itself (lower.Shape).
func (r *Result) Shape(d fabric.DeviceID, b []byte) ([]byte, bool) {
	return lower.Shape(r.Fabric, r.Facts, d, b)
}

// Origin is where a field of a device's intent comes from.
func (r *Result) Origin(d fabric.DeviceID, p intent.Path) []diag.Label {
	return lower.Origin(r.Fabric, r.Facts, d, p)
}

// Origins is Origin for many fields of one device.
func (r *Result) Origins(d fabric.DeviceID) func(intent.Path) []diag.Label {
	return lower.Origins(r.Fabric, r.Facts, d)
}
