package lang

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// dump writes a Config so that it can be compared: one line for each block, by
// address, with its attributes. Blocks keep the order of the Config unless
// sorted is asked for.
func dump(c *Config, sorted bool) string {
	var lines []string
	var walk func(id BlockID)
	walk = func(id BlockID) {
		b := c.Block(id)
		var s strings.Builder
		s.WriteString(c.Address(id))
		if n := c.String(b.Name); n != c.String(b.Label) {
			fmt.Fprintf(&s, " name=%s", n)
		}
		if b.Key != 0 {
			fmt.Fprintf(&s, " key=%s index=%d", c.String(b.Key), b.Index)
		}
		if b.Kind == schema.Topology {
			s.WriteString(" kind=" + c.TopologyKind(id))
		}
		for _, a := range c.AttrsOf(id) {
			fmt.Fprintf(&s, " %s=%s", a.Num.Name(), show(c, a.Val()))
		}
		for i, v := range c.pairs[id] {
			fmt.Fprintf(&s, " cable%d=%s", i, show(c, v))
		}
		lines = append(lines, s.String())
		first, end := c.Kids(id)
		for k := first; k < end; k++ {
			if c.Block(k).Parent != id {
				panic("a child does not know its parent")
			}
			walk(k)
		}
	}
	for _, id := range c.Top {
		walk(id)
	}
	if sorted {
		slices.Sort(lines)
	}
	for _, l := range c.Cables {
		lines = append(lines, fmt.Sprintf("cables %s %s define=%t %s", c.Address(l.Block), l.Format, l.Define, c.Files.Name(l.File)))
		for _, r := range l.Rows {
			s := fmt.Sprintf("  %s %s - %s %s media=%s label=%s panels=%d", c.String(r.ADevice), c.String(r.APort), c.String(r.BDevice), c.String(r.BPort), c.String(r.Media), c.String(r.Label), r.Panels)
			if r.HasLength {
				s += fmt.Sprintf(" %dmm", r.LengthMm)
			}
			lines = append(lines, s)
		}
	}
	for _, l := range c.Routes {
		lines = append(lines, fmt.Sprintf("routes %s %s", c.Address(l.Block), c.Files.Name(l.File)))
		for _, r := range l.Rows {
			lines = append(lines, fmt.Sprintf("  at %s: %s > %s via %s priority=%d", c.String(r.At), c.String(r.From), c.String(r.To), c.String(r.Next), r.Priority))
		}
	}
	for _, o := range c.Outputs {
		lines = append(lines, "output "+o.Name+" = "+o.JSON+map[bool]string{true: "(sensitive)"}[o.Sensitive])
	}
	for _, ch := range c.Checks {
		lines = append(lines, "check "+ch.Name)
	}
	return strings.Join(lines, "\n") + "\n"
}

func show(c *Config, v Value) string {
	switch v.Kind {
	case Absent:
		return "-"
	case Int:
		return strconv.FormatInt(v.N, 10)
	case Percent:
		return strconv.FormatInt(v.N, 10) + "%"
	case Text:
		return strconv.Quote(c.Text(v))
	case Word:
		return c.Text(v)
	case Ratio_:
		r := c.Fraction(v)
		return fmt.Sprintf("%d/%d", r.Num, r.Den)
	case Handle:
		return "&" + c.Address(BlockID(v.N))
	case List:
		var parts []string
		for _, el := range c.List(v) {
			parts = append(parts, show(c, el))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case Map, Object:
		var parts []string
		for _, p := range c.Pairs(v) {
			key := show(c, p.Key)
			if v.Kind == Object {
				key = schema.Attr(p.Key.N).Name()
			}
			parts = append(parts, key+":"+show(c, p.Val))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprintf("?%d", v.Kind)
}

// showDiags writes findings with the text that each label points to.
func showDiags(c *Config, ds diag.List, fsys fs.FS) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s: %s", d.Severity, d.Summary)
		if d.Count > 1 {
			fmt.Fprintf(&b, " (%d times)", d.Count)
		}
		b.WriteByte('\n')
		for _, l := range d.Labels {
			if l.Span.IsZero() {
				continue
			}
			name := c.Files.Name(l.Span.File)
			b.WriteString("  at " + name)
			if src, err := fs.ReadFile(fsys, name); err == nil && int(l.Span.End()) <= len(src) {
				text := string(src[l.Span.Start:l.Span.End()])
				if i := strings.IndexByte(text, '\n'); i >= 0 {
					text = text[:i] + "..."
				}
				if len(text) > 80 {
					text = text[:77] + "..."
				}
				line := 1 + strings.Count(string(src[:l.Span.Start]), "\n")
				fmt.Fprintf(&b, ":%d: %s", line, text)
			}
			if l.Where != "" {
				b.WriteString("  (in " + l.Where + ")")
			}
			if l.Text != "" {
				b.WriteString("  <- " + l.Text)
			}
			b.WriteByte('\n')
		}
		for _, n := range d.Notes {
			b.WriteString("  note: " + n + "\n")
		}
		if d.Help != "" {
			b.WriteString("  help: " + d.Help + "\n")
		}
	}
	return b.String()
}
