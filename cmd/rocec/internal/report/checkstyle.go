package report

import (
	"encoding/xml"
	"io"
)

type checkstyleDoc struct {
	XMLName xml.Name         `xml:"checkstyle"`
	Version string           `xml:"version,attr"` // of the form
	Files   []checkstyleFile `xml:"file"`
}

type checkstyleFile struct {
	Name   string            `xml:"name,attr"`
	Errors []checkstyleError `xml:"error"`
}

type checkstyleError struct {
	Line     int    `xml:"line,attr"`
	Column   int    `xml:"column,attr,omitempty"`
	Severity string `xml:"severity,attr"`
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

// Checkstyle writes the XML of the Java linter of that name, which many programs
// read. Findings without a place stand under the folder.
func Checkstyle(w io.Writer, r *Report) error {
	doc := checkstyleDoc{Version: "4.3"}
	index := map[string]int{}
	for i := range r.Findings {
		d := &r.Findings[i].JSONDiagnostic
		name := "."
		if d.Range != nil {
			name = d.Range.Filename
		}
		n, ok := index[name]
		if !ok {
			n = len(doc.Files)
			index[name] = n
			doc.Files = append(doc.Files, checkstyleFile{Name: name})
		}
		e := checkstyleError{Severity: d.Severity, Message: text(d), Source: "rocec"}
		if d.Severity == "notice" {
			e.Severity = "info"
		}
		if d.RuleName != "" {
			e.Source += "." + d.RuleName
		} else if d.Rule != "" {
			e.Source += "." + d.Rule
		}
		if d.Range != nil {
			e.Line, e.Column = d.Range.Start.Line, d.Range.Start.Column
		}
		doc.Files[n].Errors = append(doc.Files[n].Errors, e)
	}
	return writeXML(w, doc)
}

// writeXML writes a document with its header. The encoder quotes what XML needs
// quoted, and puts U+FFFD for what XML cannot hold.
func writeXML(w io.Writer, doc any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
