package compiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// recordFields are the fields of `record` that each backend takes; the first few
// are needed.
var recordFields = []struct {
	backend string
	needed  int
	fields  []schema.Attr
}{
	{"local", 0, []schema.Attr{schema.ASource}},
	{"git", 0, []schema.Attr{schema.ASource, schema.ARemote, schema.ABranch, schema.APush}},
	{"http", 1, []schema.Attr{
		schema.AAddress, schema.AUpdateMethod, schema.ALockAddress, schema.ALockMethod, schema.AUnlockAddress, schema.AUnlockMethod, schema.AUsernameEnv, schema.APasswordEnv,
		schema.AClientCertificate, schema.AClientKey,
	}},
	{"s3", 1, []schema.Attr{schema.ABucket, schema.ARegion, schema.AEndpoint, schema.APrefix, schema.APathStyle}},
}

// Recorded is what the source says of where the record is kept: the value of
// `record`, and its place. Absent if it says nothing.
func Recorded(cfg *lang.Config) (lang.Value, diag.Label) {
	for _, b := range cfg.Top {
		if cfg.Blocks[b].Kind != schema.Rocec {
			continue
		}
		if v := cfg.Attr(b, schema.ARecord); v.Kind == lang.Object {
			decl := cfg.Blocks[b].Decl
			return v, diag.Label{Span: cfg.SpanOf(decl, schema.ARecord), Where: cfg.String(cfg.Decls[decl].Head)}
		}
	}
	return lang.Value{}, diag.Label{}
}

// RecordFaults reports fields of `record` that its backend does not take or lacks.
func RecordFaults(cfg *lang.Config) diag.List {
	v, at := Recorded(cfg)
	if v.Kind == lang.Absent {
		return nil
	}
	backend := cfg.Text(cfg.Field(v, schema.ABackend))
	if backend == "" {
		backend = "local"
	}
	var found diag.List
	for _, b := range recordFields {
		if b.backend != backend {
			continue
		}
		for _, p := range cfg.Pairs(v) {
			if n := schema.Attr(p.Key.N); n != schema.ABackend && !slices.Contains(b.fields, n) {
				found.Add(diag.Diagnostic{
					Summary: fmt.Sprintf("a record of backend %q has no %s", backend, n.Name()), Labels: []diag.Label{at},
					Help: fmt.Sprintf("it takes %s", fieldNames(b.fields)) + ofOthers(n),
				})
			}
		}
		for _, n := range b.fields[:b.needed] {
			if cfg.Text(cfg.Field(v, n)) == "" {
				found.Add(diag.Diagnostic{Summary: fmt.Sprintf("a record of backend %q needs %s", backend, n.Name()), Labels: []diag.Label{at}, Help: fmt.Sprintf("write %s = \"...\" in `record`", n.Name())})
			}
		}
	}
	return found
}

func fieldNames(list []schema.Attr) string {
	var names []string
	for _, n := range list {
		names = append(names, n.Name())
	}
	return strings.Join(names, ", ")
}

// ofOthers says which backends take a field.
func ofOthers(n schema.Attr) string {
	for _, b := range recordFields {
		if slices.Contains(b.fields, n) {
			return fmt.Sprintf("; %s is of backend %q", n.Name(), b.backend)
		}
	}
	return ""
}
