package report

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/rocec/rocec/lang/diag"
)

// TestCase is one run of a test: "pass", "fail", or "error" where it could not
// be carried out.
type TestCase struct {
	File, Name string
	Status     string
	Findings   []diag.JSONDiagnostic // why it did not pass
}

type testsDoc struct {
	XMLName  xml.Name    `xml:"testsuites"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Suites   []testSuite `xml:"testsuite"`
}

type testSuite struct {
	Name     string    `xml:"name,attr"`
	Tests    int       `xml:"tests,attr"`
	Failures int       `xml:"failures,attr"`
	Errors   int       `xml:"errors,attr"`
	Skipped  int       `xml:"skipped,attr"`
	Cases    []testRun `xml:"testcase"`
}

type testRun struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Failure *junitFailure `xml:"failure"`
	Error   *junitFailure `xml:"error"`
}

// Tests writes runs as JUnit's XML, a suite for each file. Cases of one file
// stand next to each other.
func Tests(w io.Writer, cases []TestCase) error {
	doc := testsDoc{Name: "rocec test"}
	for i := range cases {
		c := &cases[i]
		file := diag.Printable(c.File)
		if n := len(doc.Suites); n == 0 || doc.Suites[n-1].Name != file {
			doc.Suites = append(doc.Suites, testSuite{Name: file})
		}
		s := &doc.Suites[len(doc.Suites)-1]
		one := testRun{Name: diag.Printable(c.Name), Class: file, File: file}
		switch c.Status {
		case "fail":
			one.Failure = why(c)
			s.Failures++
			doc.Failures++
		case "error":
			one.Error = why(c)
			s.Errors++
			doc.Errors++
		}
		s.Tests++
		doc.Tests++
		s.Cases = append(s.Cases, one)
	}
	return writeXML(w, doc)
}

// why is what a case says of itself that did not pass: the first finding is its
// message, and all of them its text.
func why(c *TestCase) *junitFailure {
	f := &junitFailure{Type: c.Status}
	var lines []string
	for i := range c.Findings {
		d := &c.Findings[i]
		if i == 0 {
			f.Message = d.Summary
		}
		line := d.Severity + ": " + text(d)
		if at := where(d.Range); at != "" {
			line = at + ": " + line
		}
		lines = append(lines, line)
		for j := range d.Related {
			lines = append(lines, "  "+other(&d.Related[j]))
		}
	}
	f.Text = strings.Join(lines, "\n")
	return f
}
