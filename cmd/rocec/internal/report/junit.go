package report

import (
	"encoding/xml"
	"io"
	"slices"

	"github.com/rocec/rocec/lang/diag"
)

type junitDoc struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Class     string        `xml:"classname,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Skipped   *junitSkipped `xml:"skipped"`
	Failure   *junitFailure `xml:"failure"`
	SystemOut string        `xml:"system-out,omitempty"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes each finding as a test case: failed if it is of the least
// severity that fails, else passed with its text; skipped if something exempts
// it. With nothing to say there is one case that passed, because programs take a
// report without cases for a run that broke.
func JUnit(w io.Writer, r *Report) error {
	suite := junitSuite{Name: "rocec lint"}
	for _, f := range slices.Concat(r.Findings, r.Exempt) {
		d := &f.JSONDiagnostic
		c := junitCase{Name: d.Summary, Class: "rocec"}
		if d.RuleName != "" {
			c.Class += "." + d.RuleName
		}
		body := text(d)
		if d.Range != nil {
			c.File, c.Line = d.Range.Filename, d.Range.Start.Line
			c.Name += " (" + where(d.Range) + ")"
		}
		for i := range d.Related {
			body += "\n" + other(&d.Related[i])
		}
		switch {
		case f.Exemption != nil:
			c.Skipped = &junitSkipped{f.Exemption.Reason}
			suite.Skipped++
		case r.fails(d.Severity):
			c.Failure = &junitFailure{Message: d.Summary, Type: d.Severity, Text: body}
			suite.Failures++
		default:
			c.SystemOut = d.Severity + ": " + body
		}
		suite.Cases = append(suite.Cases, c)
	}
	if len(suite.Cases) == 0 {
		suite.Cases = []junitCase{{Name: "no findings", Class: "rocec"}}
	}
	suite.Tests = len(suite.Cases)
	return writeXML(w, junitDoc{Name: "rocec lint", Tests: suite.Tests, Failures: suite.Failures, Suites: []junitSuite{suite}})
}

func (r *Report) fails(severity string) bool {
	for s := diag.Error; s <= r.Fails; s++ {
		if s.String() == severity {
			return true
		}
	}
	return false
}
