package plan

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rocec/rocec/compiler/intent"
)

// TextOptions say how a plan is printed for people.
type TextOptions struct {
	Style   Style
	Verbose bool // every object by itself, and every setting of new devices
}

// NoChanges is the line of a plan without changes.
const NoChanges = "No changes. Your fabric matches the configuration."

// NotSettled is the line of a plan that finds nothing to change while a change is open.
const NotSettled = "Nothing to change now, and a change is open on a device that may go back."

// nothing is the line of a plan without changes. What is open may go back: then the
// fabric is not as the configuration has it.
func (p *Plan) nothing() string {
	if len(p.Open) > 0 {
		return NotSettled
	}
	return NoChanges
}

// NotMoved is the line of a plan that only compares devices with the record, and
// finds them so.
const NotMoved = "No changes. Your devices match the record."

// Refreshed is the last line of a plan that finds devices moved away from the record.
func (p *Plan) Refreshed() string {
	devices := map[string]bool{}
	for i := range p.Drift {
		devices[p.Drift[i].Owner] = true
	}
	return fmt.Sprintf("Refresh: %s of %s differ from the record.", plural(len(p.Drift), "object"), plural(len(devices), "device"))
}

// Line is the one line that says what there is to do.
func (p *Plan) Line() string {
	switch {
	case p.RefreshOnly && len(p.Drift) > 0:
		return p.Refreshed()
	case p.RefreshOnly:
		return NotMoved
	}
	return p.Summary.String()
}

// longBody is the number of lines above which destroys and interrupting changes
// are named again under the summary.
const longBody = 60

// Widths at which columns stop growing, and range addresses a heading shows.
const (
	maxNameWidth  = 32
	maxValueWidth = 48
	maxRanges     = 3
)

// Text prints the plan.
func (p *Plan) Text(w io.Writer, o TextOptions) error {
	t := &text{style: o.Style, verbose: o.Verbose}
	switch {
	case p.RefreshOnly && len(p.Drift) == 0:
		t.line("%s", NotMoved)
	case p.RefreshOnly:
		t.line("rocec compared the devices with the record and plans no change:")
	case len(p.Changes) == 0:
		t.line("%s", p.nothing())
	default:
		p.body(t)
	}
	p.others(t)
	if p.RefreshOnly && len(p.Drift) > 0 {
		t.line("")
		t.line("%s", p.Refreshed())
	}
	_, err := io.WriteString(w, t.String())
	return err
}

type text struct {
	strings.Builder
	style   Style
	verbose bool
	lines   int
}

func (t *text) line(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
	t.lines++
}

func (p *Plan) body(t *text) {
	t.line("rocec will perform the following actions:")
	list := blocks(p.Changes)
	if t.verbose {
		list = each(p.Changes)
	}
	for i := range list {
		t.line("")
		t.block(p.Changes, &list[i])
	}
	long := t.lines > longBody
	t.line("")
	t.line("%s", p.Summary)
	t.line("%s%s", p.Summary.Impact(), waveLine(p.Waves))
	if long {
		t.again(p.Changes, list)
	}
	if p.Summary.Destroy > 0 {
		t.line("")
		t.line("%s", paint(t.style.Faint, "Destroy means that rocec no longer manages it: what was written to a device stays there until it is removed there."))
	}
}

// String is the summary line that programs look for.
func (s Summary) String() string {
	return fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", s.Add, s.Change, s.Destroy)
}

// Impact is the line that says what is interrupted.
func (s Summary) Impact() string {
	var parts []string
	for _, o := range []intent.Object{intent.OfPort, intent.OfLAG, intent.OfIface, intent.OfVLAN, intent.OfDevice} {
		if n := s.Interrupted[o]; n > 0 {
			parts = append(parts, plural(n, string(o)))
		}
	}
	if len(parts) == 0 {
		return "Impact: no interruption known."
	}
	return "Impact: " + strings.Join(parts, ", ") + " interrupted on " + plural(s.Devices, "device") + "."
}

// block prints one group of equal changes.
func (t *text) block(list []Change, b *block) {
	t.heading(list, b)
	rows := t.rows(list, b)
	names, values := 0, 0
	for _, r := range rows {
		if r.value != "" {
			names = max(names, min(utf8.RuneCountInString(r.name), maxNameWidth))
		}
	}
	for i := range rows {
		rows[i].left = rows[i].name
		if rows[i].value != "" {
			rows[i].left = pad(rows[i].name, names) + " = " + rows[i].value
		}
		values = max(values, min(utf8.RuneCountInString(rows[i].left), names+3+maxValueWidth))
	}
	for _, r := range rows {
		mark := " "
		if r.interrupts {
			mark = paint(t.style.Interrupt, "!")
		}
		s := mark + " " + r.symbol + " " + r.left
		if r.comment != "" {
			s = mark + " " + r.symbol + " " + pad(r.left, values) + "  " + paint(t.style.Faint, "# "+r.comment)
		}
		t.line("%s", s)
	}
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
}

// heading prints where the changes are: up to three ranges of addresses.
func (t *text) heading(list []Change, b *block) {
	c := &list[b.members[0]]
	shown := b.ranges[:min(len(b.ranges), maxRanges)]
	for i, r := range shown {
		s := "  # " + printable(r)
		last := i == len(shown)-1
		switch {
		case !last:
			s += ","
		case len(b.ranges) > len(shown):
			s += fmt.Sprintf(", and %d more", len(b.ranges)-len(shown))
		}
		var notes []string
		if n := len(b.members); n > 1 {
			notes = append(notes, plural(n, noun(c))+", identical")
		} else if c.Object == intent.OfDevice && c.Action != Update {
			notes = append(notes, "1 device")
		}
		if c.Action == Update && c.Note != "" {
			notes = append(notes, printable(c.Note)) // it is about every field
		}
		if last && len(notes) > 0 {
			s += "  (" + strings.Join(notes, "; ") + ")"
		}
		t.line("%s", paint(t.style.Heading, s))
	}
}

func noun(c *Change) string {
	if c.Object == intent.OfDevice {
		return "device"
	}
	return strings.TrimPrefix(keyword(c), ".")
}

// row is one line of a block.
type row struct {
	interrupts bool
	symbol     string
	name       string
	value      string
	comment    string
	left       string
}

func (t *text) rows(list []Change, b *block) []row {
	c := &list[b.members[0]]
	// Notes that name the first object speak of all.
	note := func(s string) string {
		if len(b.members) > 1 && c.Name != "" {
			s = rename(s, c.Name, strings.Join(b.names[:min(len(b.names), maxRanges)], ", "))
		}
		return printable(s)
	}
	var rows []row
	whole := c.Action != Update
	if whole {
		rows = append(rows, row{
			interrupts: c.Interrupts > 0,
			symbol:     t.symbol(c.Action), name: verb(c.Action), comment: note(c.Note),
		})
	}
	if whole && c.Object == intent.OfDevice && !t.verbose {
		return rows
	}
	for i := range c.Fields {
		f := &c.Fields[i]
		r := row{interrupts: f.Interrupts, symbol: paint(t.style.Change, "~"), name: printable(f.Name), comment: note(f.Note)}
		switch {
		case f.Before == "":
			r.symbol, r.value = paint(t.style.Add, "+"), printable(f.After)
		case f.After == "":
			r.symbol, r.value = paint(t.style.Destroy, "-"), printable(f.Before)
		default:
			r.value = printable(f.Before) + " -> " + printable(f.After)
		}
		if where := sources(list, b, i); where != "" {
			r.comment = strings.TrimPrefix(r.comment+", "+printable(where), ", ")
		}
		rows = append(rows, r)
	}
	return rows
}

// sources says where a field of the changes of a block was written: the first
// place, and how many others there are.
func sources(list []Change, b *block, field int) string {
	first, seen := "", map[string]bool{}
	for _, m := range b.members {
		if fields := list[m].Fields; field < len(fields) && fields[field].Source != "" {
			if first == "" {
				first = fields[field].Source
			}
			seen[fields[field].Source] = true
		}
	}
	if n := len(seen) - 1; n > 0 {
		return first + " and " + plural(n, "other place")
	}
	return first
}

// verb is the action as people read it; "delete" is the word of the JSON.
func verb(a Action) string {
	if a == Delete {
		return "destroy"
	}
	return string(a)
}

func (t *text) symbol(a Action) string {
	switch a {
	case Create:
		return paint(t.style.Add, "+")
	case Delete:
		return paint(t.style.Destroy, "-")
	case Replace:
		return paint(t.style.Destroy, "-") + "/" + paint(t.style.Add, "+")
	}
	return paint(t.style.Change, "~")
}

// again names what a reader of a long plan must not miss.
func (t *text) again(list []Change, all []block) {
	var interrupting, destroyed []string
	for i := range all {
		b := &all[i]
		c := &list[b.members[0]]
		where := strings.Join(b.ranges, ", ")
		if n := len(b.members); n > 1 {
			where += fmt.Sprintf("  (%s)", plural(n, noun(c)))
		}
		if c.Interrupts > 0 {
			interrupting = append(interrupting, fmt.Sprintf("%s %s %s%s", paint(t.style.Interrupt, "!"), t.symbol(c.Action), printable(where), fieldNames(c)))
		}
		if c.Action == Delete || c.Action == Replace {
			destroyed = append(destroyed, fmt.Sprintf("  %s %s", t.symbol(c.Action), printable(where)))
		}
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"Interrupts traffic:", interrupting}, {"Destroys:", destroyed}} {
		if len(part.lines) == 0 {
			continue
		}
		t.line("")
		t.line("%s", part.title)
		for _, l := range part.lines {
			t.line("%s", l)
		}
	}
}

// fieldNames are the fields of a change that interrupt.
func fieldNames(c *Change) string {
	seen := map[string]bool{}
	for _, f := range c.Fields {
		if f.Interrupts && c.Object != intent.OfDevice {
			seen[f.Name] = true
		}
	}
	if len(seen) == 0 {
		return ""
	}
	return ": " + printable(strings.Join(slices.Sorted(maps.Keys(seen)), ", "))
}

// others prints what is no change: drift, what awaits confirmation, what could
// not be seen.
func (p *Plan) others(t *text) {
	if len(p.Drift) > 0 {
		t.line("")
		if p.RefreshOnly {
			t.line("Differs on the device, recorded -> found:")
		} else {
			t.line("Differs on the device, expected -> found:")
		}
		list := blocks(p.Drift)
		if t.verbose {
			list = each(p.Drift)
		}
		for i := range list {
			t.line("")
			t.block(p.Drift, &list[i])
		}
	}
	if len(p.Awaiting) > 0 {
		t.line("")
		t.line("Awaiting confirmation, handed over and not seen on the device since (rocec verify --from=DIR):")
		var list []string
		for _, a := range p.Awaiting {
			list = append(list, a.Address)
		}
		t.line("")
		for _, s := range t.listed(list) {
			t.line("%s %s", paint(t.style.Read, " <= read"), printable(s))
		}
	}
	if len(p.Open) > 0 {
		t.line("")
		t.line("Not settled, what was read there does not stay:")
		t.line("")
		for i := range p.Open {
			t.line("%s %s", paint(t.style.Interrupt, " !"), printable(p.Open[i].String()))
		}
	}
	for _, part := range UnseenParts(p.Unseen, t.verbose) {
		t.line("")
		t.line("%s", part.Title)
		for _, s := range part.Lines {
			t.line("  %s", printable(s))
		}
	}
}

// listed are addresses of devices, folded unless verbose.
func (t *text) listed(list []string) []string {
	if t.verbose {
		return list
	}
	var out []string
	for _, s := range addresses(list) {
		line := s.text
		if n := len(s.names); n > 1 {
			line += fmt.Sprintf("  (%s)", plural(n, "device"))
		}
		out = append(out, line)
	}
	return out
}

// UnseenPart is a list of what could not be seen, with what stands above it.
type UnseenPart struct {
	Title string
	Lines []string
}

// UnseenParts are what was read, live or as captures, and lacks, and in verbose form also what
// no output of such a device shows.
func UnseenParts(list []Unseen, verbose bool) []UnseenPart {
	var lacking, never []Unseen
	for _, u := range list {
		if u.Never {
			never = append(never, u)
		} else {
			lacking = append(lacking, u)
		}
	}
	var parts []UnseenPart
	if len(lacking) > 0 {
		parts = append(parts, UnseenPart{"could not be seen in what was read of the devices:", unseenLines(lacking, verbose)})
	}
	if len(never) > 0 && verbose {
		parts = append(parts, UnseenPart{"is shown by no output of such a device:", unseenLines(never, verbose)})
	}
	return parts
}

// unseenLines are fields that could not be seen, one line for each range of
// objects that lack the same ones: `switch.tor.port["swp[1-4]"]: pause, dcbx`.
func unseenLines(list []Unseen, verbose bool) []string {
	changes := make([]Change, len(list))
	for i, u := range list {
		changes[i] = Change{Address: u.Address, Device: u.Device, Owner: u.Owner, Object: u.Object, Name: u.Name, Action: Update, Note: strings.Join(u.Fields, ", ")}
	}
	all := blocks(changes)
	if verbose {
		all = each(changes)
	}
	var lines []string
	for _, b := range all {
		for _, r := range b.ranges {
			lines = append(lines, r+": "+changes[b.members[0]].Note)
		}
	}
	return lines
}
