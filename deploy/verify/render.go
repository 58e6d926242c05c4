package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// FormatVersion is that of the results as JSON. Minor versions only add keys.
const FormatVersion = "1.0"

// TextOptions say how results are printed for people.
type TextOptions struct {
	Style    plan.Style
	Detailed bool         // devices in sync, and every object by itself
	View     *source.View // of the sources, for the lines of what differs; may be nil
}

// Text prints what differs, what could not be seen, and one line of counts.
// Findings about the captures are printed by whoever has their text.
func Text(w io.Writer, results []*Result, o TextOptions) error {
	var b strings.Builder
	for i := 0; i < len(results); i++ {
		r := results[i]
		if last := alike(results, i); last > i && !o.Detailed { // not captured, most often
			fmt.Fprintf(&b, "%s to %s (%d devices): unknown, %s\n\n", diag.Printable(r.Address), diag.Printable(results[last].Address), last-i+1, diag.Printable(r.unnamed()))
			i = last
			continue
		}
		r.text(&b, o)
	}
	for _, part := range plan.UnseenParts(unseen(results), o.Detailed) {
		b.WriteString(part.Title + "\n")
		for _, l := range part.Lines {
			fmt.Fprintf(&b, "  %s\n", diag.Printable(l))
		}
		b.WriteByte('\n')
	}
	b.WriteString(Tally(results) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// alike is the last of the unknown devices from i on of which the same is unknown.
func alike(results []*Result, i int) int {
	last := i
	for last+1 < len(results) && results[i].Status == Unknown && results[last+1].Status == Unknown && results[last+1].unnamed() == results[i].unnamed() {
		last++
	}
	return last
}

// unnamed is the reason without the name of the device.
func (r *Result) unnamed() string {
	return strings.ReplaceAll(r.Reason, "/"+r.Device+";", "/<device>;")
}

func (r *Result) text(b *strings.Builder, o TextOptions) {
	address := diag.Printable(r.Address)
	switch {
	case r.Status == Unknown:
		fmt.Fprintf(b, "%s: unknown, %s\n\n", address, diag.Printable(r.Reason))
	case r.Status == InSync && o.Detailed:
		s := "in sync"
		if r.Confirmed {
			s += ", recorded as applied"
		}
		fmt.Fprintf(b, "%s: %s\n\n", address, s)
	case r.Status == Drift:
		fmt.Fprintf(b, "%s: drift, expected -> found\n", address)
		for _, l := range r.lines(o) {
			fmt.Fprintf(b, "  %s %s\n", paint(o.Style.Change, "~"), l)
		}
		if slices.ContainsFunc(r.Differences, func(x intent.Difference) bool { _, stored := x.Path.Running(); return stored }) {
			b.WriteString("  what is stored is what the device starts with: it runs as it should, and a reboot would undo that; apply stores it again\n")
		}
		if r.Armed != nil {
			fmt.Fprintf(b, "  %s\n", r.Armed)
		}
		b.WriteByte('\n')
	}
}

func paint(f func(string) string, s string) string {
	if f == nil {
		return s
	}
	return f(s)
}

// lines are the differences, equal ones of several objects as one, and the
// first place where the value was written:
// `port["swp[1-4]"].mtu = 9000 -> 1500 (fabric.hcl:12)`. Fields of an object
// that is missing are left out, the object itself is enough.
func (r *Result) lines(o TextOptions) []string {
	type kind struct {
		object               intent.Object
		field, before, after string
	}
	names, places := map[kind][]string{}, map[kind]string{}
	var order []kind
	missing := map[intent.Path]bool{}
	for i, x := range r.Differences {
		at := intent.Path{Object: x.Path.Object, Name: x.Path.Name}
		if x.Creates() {
			missing[at] = true
		} else if missing[at] {
			continue
		}
		k := kind{x.Path.Object, x.Path.Field, x.Before, x.After}
		if o.Detailed {
			k.field += "\x00" + x.Path.Name
		}
		if _, ok := names[k]; !ok {
			order = append(order, k)
			if w := written(o.View, r.span(i)); w != "" {
				places[k] = " (" + w + ")"
			}
		}
		names[k] = append(names[k], x.Path.Name)
	}
	var out []string
	for _, k := range order {
		field, _, _ := strings.Cut(k.field, "\x00")
		for _, n := range plan.Ranges(names[k]) {
			where := plan.Address("", r.Kind, k.object, n)
			if k.object != intent.OfDevice {
				where = strings.TrimPrefix(where, ".")
			}
			if field == "" {
				out = append(out, diag.Printable(where+" is missing"+places[k]))
				continue
			}
			found := k.before
			if found == "" {
				found = "nothing"
			}
			out = append(out, diag.Printable(strings.TrimPrefix(where+"."+field, ".")+" = "+k.after+" -> "+found+places[k]))
		}
	}
	return out
}

// written is a place in the sources, "fabric.hcl:12"; "" where it is not known.
func written(v *source.View, s source.Span) string {
	name := v.Name(s.File)
	if name == "" {
		return ""
	}
	if start, _, ok := v.Range(s); ok {
		name += ":" + strconv.Itoa(start.Line)
	}
	return name
}

// Changed are the results that are not as they were, device by device.
func Changed(before, now []*Result) []*Result {
	was := map[string]string{}
	text := func(r *Result) string {
		var b strings.Builder
		r.text(&b, TextOptions{Detailed: true})
		for _, u := range r.Unseen {
			fmt.Fprintf(&b, "%s %v\n", u.Address, u.Fields)
		}
		return strings.ReplaceAll(b.String(), ", recorded as applied", "")
	}
	for _, r := range before {
		was[r.Device] = text(r)
	}
	var list []*Result
	for _, r := range now {
		if was[r.Device] != text(r) {
			list = append(list, r)
		}
	}
	return list
}

// News prints the results that changed, and the counts of all.
func News(w io.Writer, changed, all []*Result, o TextOptions) error {
	var b strings.Builder
	for _, r := range changed {
		r.text(&b, o)
	}
	b.WriteString(Tally(all) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Tally is the line of counts: "Verify: 3 in sync, 1 drift, 0 unknown."
func Tally(results []*Result) string {
	counts := map[Status]int{}
	confirmed := 0
	for _, r := range results {
		counts[r.Status]++
		if r.Confirmed {
			confirmed++
		}
	}
	s := fmt.Sprintf("Verify: %d in sync, %d drift, %d unknown.", counts[InSync], counts[Drift], counts[Unknown])
	if confirmed > 0 {
		s += fmt.Sprintf(" Recorded as applied: %d.", confirmed)
	}
	return s
}

func unseen(results []*Result) []plan.Unseen {
	var list []plan.Unseen
	for _, r := range results {
		list = append(list, r.Unseen...)
	}
	return list
}

type reportJSON struct {
	FormatVersion string                `json:"format_version"`
	RocecVersion  string                `json:"rocec_version"`
	Devices       []resultJSON          `json:"devices"`
	Findings      []diag.JSONDiagnostic `json:"diagnostics"` // of no device
	Unseen        []plan.Unseen         `json:"unseen"`
	Summary       struct {
		InSync    int `json:"in_sync"`
		Drift     int `json:"drift"`
		Unknown   int `json:"unknown"`
		Confirmed int `json:"confirmed"`
	} `json:"summary"`
}

type resultJSON struct {
	Address   string                `json:"address"`
	Device    string                `json:"device"`
	Status    Status                `json:"status"`
	Reason    string                `json:"reason,omitempty"`
	Confirmed bool                  `json:"confirmed"`
	Drift     []differenceJSON      `json:"drift"`
	Findings  []diag.JSONDiagnostic `json:"diagnostics"`
}

type differenceJSON struct {
	Address  string        `json:"address"`
	Object   intent.Object `json:"object"`
	Name     string        `json:"name"`
	Field    string        `json:"field"`
	Expected string        `json:"expected"`
	Found    string        `json:"found"`
	Source   string        `json:"source,omitempty"` // where the expected value was written: "fabric.hcl:12"
}

// JSON writes the results as one object and a line feed, with the findings of
// Strays. The view shows the
// captures that findings point into, and the sources; it may be nil.
func JSON(w io.Writer, results []*Result, strays diag.List, rocecVersion string, view *source.View) error {
	report := reportJSON{
		FormatVersion: FormatVersion, RocecVersion: rocecVersion, Devices: []resultJSON{}, Findings: diag.JSON(strays, view, nil),
		Unseen: append([]plan.Unseen{}, unseen(results)...),
	}
	for _, r := range results {
		j := resultJSON{
			Address: r.Address, Device: r.Device, Status: r.Status, Reason: r.Reason, Confirmed: r.Confirmed,
			Drift: []differenceJSON{}, Findings: diag.JSON(r.Findings, view, nil),
		}
		for i, x := range r.Differences {
			j.Drift = append(j.Drift, differenceJSON{
				plan.Address(r.Address, r.Kind, x.Path.Object, x.Path.Name), x.Path.Object, x.Path.Name, x.Path.Field, x.After, x.Before, written(view, r.span(i)),
			})
		}
		report.Devices = append(report.Devices, j)
		switch r.Status {
		case InSync:
			report.Summary.InSync++
		case Drift:
			report.Summary.Drift++
		default:
			report.Summary.Unknown++
		}
		if r.Confirmed {
			report.Summary.Confirmed++
		}
	}
	return json.NewEncoder(w).Encode(report)
}
