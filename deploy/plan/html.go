package plan

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// HTML writes the plan as one page that needs nothing else, in the order of
// Markdown and with its bound.
func (p *Plan) HTML(w io.Writer, o MarkupOptions) error {
	head := pageHead + "<h1>" + html.EscapeString(p.headline()) + "</h1>\n"
	if len(p.Changes) > 0 {
		head += "<p>" + html.EscapeString(p.Summary.Impact()+waveLine(p.Waves)) + "</p>\n"
	}
	return p.markup(w, o, p.items(o.Verbose), &form{
		head: head,
		open: func(title string, n int) string {
			return fmt.Sprintf("<details open><summary>%s (%d)</summary>\n<pre>", html.EscapeString(title), n)
		},
		item: func(lines []string) string {
			var b strings.Builder
			for _, l := range lines {
				b.WriteString(htmlLine(l))
			}
			return b.String()
		},
		end: "</pre></details>\n",
		left: func(n, of int) string {
			return fmt.Sprintf("<p>%d of %s left out, to stay below %d bytes.</p>\n", n, plural(of, "group"), o.MaxBytes)
		},
		tail: "</body>\n</html>\n",
	})
}

const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>rocec plan</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color-scheme: light dark }
h1 { font-size: 1.2em }
pre { font: 13px/1.45 ui-monospace, monospace; overflow-x: auto }
summary { font-weight: 600; cursor: pointer }
.at { font-weight: 600 }
.add { color: #1a7f37 }
.change { color: #9a6700 }
.destroy { color: #cf222e }
.interrupt { background: #cf222e22 }
</style>
</head>
<body>
`

// htmlLine is a line of a block in the colours of its symbols: heading, "! ~ name".
func htmlLine(l string) string {
	class := ""
	switch {
	case strings.HasPrefix(l, "  # "):
		class = "at"
	case len(l) > 2 && strings.HasPrefix(l[2:], "-"):
		class = "destroy"
	case len(l) > 2 && l[2] == '+':
		class = "add"
	case len(l) > 2 && l[2] == '~':
		class = "change"
	}
	if strings.HasPrefix(l, "! ") {
		class += " interrupt"
	}
	text := html.EscapeString(l)
	if class != "" {
		text = `<span class="` + strings.TrimSpace(class) + `">` + text + "</span>"
	}
	return text + "\n"
}
