package report

import (
	"fmt"
	"io"
	"strings"
)

// GitHub writes workflow commands, which a runner of GitHub Actions shows at the
// lines of a pull request. They are quoted as its toolkit quotes them
// (actions/toolkit, packages/core/src/command.ts): data must not hold % or line
// ends, properties neither : nor a comma besides.
func GitHub(w io.Writer, r *Report) error {
	var b strings.Builder
	for i := range r.Findings {
		d := &r.Findings[i].JSONDiagnostic
		var props []string
		add := func(name, value string) { props = append(props, name+"="+githubProperty.Replace(value)) }
		if file, at, ok := r.place(d.Range); ok {
			add("file", file)
			if at != nil {
				add("line", fmt.Sprint(at.Start.Line))
				add("endLine", fmt.Sprint(at.End.Line))
				if at.Start.Line == at.End.Line { // columns of two lines are refused
					add("col", fmt.Sprint(at.Start.Column))
					add("endColumn", fmt.Sprint(max(at.End.Column, at.Start.Column)))
				}
			}
		}
		if l := label(d); l != "" {
			add("title", l)
		}
		message := text(d)
		for i := range d.Related {
			message += "\n" + other(&d.Related[i])
		}
		fmt.Fprintf(&b, "::%s", d.Severity) // error, warning and notice are their words as well
		if len(props) > 0 {
			b.WriteString(" " + strings.Join(props, ","))
		}
		b.WriteString("::" + githubData.Replace(message) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var (
	// An older form of commands, ##[group], is looked for anywhere in a line.
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", "##[", `\u0023#[`, "##vso[", `\u0023#vso[`)
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
