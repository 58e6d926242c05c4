package plan

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// MarkupOptions say how a plan is written for a browser.
type MarkupOptions struct {
	Verbose  bool // every object by itself
	MaxBytes int  // groups of changes are left out to stay below; 0: none
}

// Markdown writes the plan as GitHub and GitLab show it, for a comment on a change
// of the source: the summary first, then what interrupts traffic or destroys,
// then the rest. Below MaxBytes whole groups are left out, from the end, and how
// many is said; no group is cut.
func (p *Plan) Markdown(w io.Writer, o MarkupOptions) error {
	items := p.items(o.Verbose)
	fence := fenceOf(items)
	return p.markup(w, o, items, &form{
		head: p.markdownHead(fence),
		open: func(title string, n int) string {
			return fmt.Sprintf("<details open>\n<summary>%s (%d)</summary>\n\n%sdiff\n", html.EscapeString(title), n, fence)
		},
		item: func(lines []string) string { return strings.Join(lines, "\n") + "\n" },
		end:  fence + "\n\n</details>\n\n",
		left: func(n, of int) string {
			return fmt.Sprintf("_%d of %s left out, to stay below %d bytes._\n", n, plural(of, "group"), o.MaxBytes)
		},
	})
}

// markdownHead is what a reader has to see whatever is left out.
func (p *Plan) markdownHead(fence string) string {
	s := "**" + p.headline() + "**\n\n"
	if len(p.Changes) > 0 {
		s += p.Summary.Impact() + "\n\n"
	}
	if line := strings.TrimSpace(waveLine(p.Waves)); line != "" { // names of waves are the user's
		s += fence + "\n" + printable(line) + "\n" + fence + "\n\n"
	}
	return s
}

// headline is the line that says what there is to do.
func (p *Plan) headline() string {
	if !p.RefreshOnly && len(p.Changes) == 0 {
		return p.nothing()
	}
	return p.Line()
}

// fenceOf is a line of backticks that is longer than any in what it encloses.
func fenceOf(items []item) string {
	longest := 2
	for i := range items {
		for _, l := range items[i].lines {
			n := 0
			for _, r := range l {
				if r == '`' {
					n++
					longest = max(longest, n)
				} else {
					n = 0
				}
			}
		}
	}
	return strings.Repeat("`", longest+1)
}

// form is a language that a plan is written in for a browser.
type form struct {
	head string
	open func(title string, n int) string // of a section of so many items
	item func(lines []string) string
	end  string // of a section
	left func(n, of int) string
	tail string
}

// markup writes the plan in a form.
func (p *Plan) markup(w io.Writer, o MarkupOptions, items []item, f *form) error {
	size := func(i *item) int { return len(f.item(i.lines)) + 1 }
	fits, left := make([]bool, len(items)), 0
	titles := p.titles()
	if o.MaxBytes == 0 {
		for i := range fits {
			fits[i] = true
		}
	} else {
		room := o.MaxBytes - len(f.head) - len(f.tail) - len(f.left(len(items), len(items)))
		for i, last := 0, -1; i < len(items); i++ {
			if s := items[i].section; s != last { // as if each section had something
				room -= len(f.open(titles[s], len(items))) + len(f.end)
				last = s
			}
		}
		if room < 0 && len(items) > 0 || o.MaxBytes < len(f.head)+len(f.tail) {
			return fmt.Errorf("a plan does not fit into %d bytes: its summary alone takes %d", o.MaxBytes, o.MaxBytes-min(room, 0))
		}
		fits, left = chosen(items, room, size)
	}
	var b strings.Builder
	b.WriteString(f.head)
	for s := range sections {
		var parts []string
		for i := range items {
			if items[i].section == s && fits[i] {
				parts = append(parts, f.item(items[i].lines))
			}
		}
		if len(parts) == 0 {
			continue
		}
		between := "\n"
		if s == awaiting || s == unseen { // one line each
			between = ""
		}
		b.WriteString(f.open(titles[s], len(parts)) + strings.Join(parts, between) + f.end)
	}
	if left > 0 {
		b.WriteString(f.left(left, len(items)))
	}
	b.WriteString(f.tail)
	_, err := io.WriteString(w, b.String())
	return err
}
