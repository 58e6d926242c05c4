package lang

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestLanguage: an edition that is not known is all that is said of a folder, whatever else stands in it, in either syntax.
func TestLanguage(t *testing.T) {
	const two = "the source is in language 2, and this version of rocec reads language 1"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
		at    string
	}{
		"known":      {map[string]string{"a.roce.hcl": "rocec {\n  language = 1\n}\n"}, nil, ""},
		"known JSON": {map[string]string{"a.roce.json": `{"rocec": {"language": 1}}`}, nil, ""},
		"later":      {map[string]string{"a.roce.hcl": "rocec {\n  language = 2\n}\n"}, []string{two}, "2"},
		"later, in words that nobody knows": {
			map[string]string{"a.roce.hcl": "fabric \"x\" {\n  uses <=> 3\n}\nrocec {\n  required_version = \">= 9\"\n  language=2 # soon\n}\n", "b.roce.hcl": "switch {\n  colour = \"red\"\n"},
			[]string{two},
			"2",
		},
		"later, in JSON": {
			map[string]string{"a.roce.json": `{"fabric": [{"language": 3}], "rocec": [{"record": {"language": 4}, "language": 2}], "nodes": 1}`, "b.roce.hcl": "noed \"x\" {}\n"}, []string{two}, "2",
		},
		"zero": {map[string]string{"a.roce.hcl": "rocec { language = 0 }\n"}, []string{"the source is in language 0, and this version of rocec reads language 1"}, "0"},
		"in a module": {
			map[string]string{"a.roce.hcl": "module \"m\" {\n  source = \"./m\"\n}\n", "m/a.roce.hcl": "rocec {\n  language = 2\n}\npod \"x\" {}\n"}, []string{two}, "2",
		},
		"elsewhere": {map[string]string{"a.roce.hcl": "locals {\n  language = 2\n  a = { rocec = { language = 2 } }\n}\n"}, nil, ""},
		"computed":  {map[string]string{"a.roce.hcl": "locals {\n  n = 1\n}\nrocec {\n  language = local.n\n}\n"}, []string{"language takes a plain number: it is read before anything is evaluated"}, "local.n"},
		"text":      {map[string]string{"a.roce.hcl": "rocec {\n  language = \"one\"\n}\n"}, []string{`language does not take "one"`}, `"one"`},
	} {
		fs := fstest.MapFS{}
		for n, text := range c.files {
			fs[n] = &fstest.MapFile{Data: []byte(text)}
		}
		_, diags := Load(Options{FS: fs, Workers: 2})
		var got []string
		for _, d := range diags {
			got = append(got, d.Summary)
			span := d.Labels[0].Span
			for n, text := range c.files {
				if c.at != "" && strings.Contains(text, "language") && !strings.Contains(text, "module") && text[span.Start:span.End()] != c.at {
					t.Errorf("%s: it points to %q of %s", name, text[span.Start:span.End()], n)
				}
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: it says %q, and should say %q", name, got, c.want)
		}
	}
}
