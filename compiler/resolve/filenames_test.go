package resolve

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// TestFileNames: what becomes a folder is one on every system, or is refused at the
// line with the name, wherever the name comes from.
func TestFileNames(t *testing.T) {
	sw := func(head string) string {
		return head + "\n  model = \"nvidia/sn3700\"\n  os = \"cumulus-linux/5.11\"\n  port \"swp1\" {}\n}\n"
	}
	for name, c := range map[string]struct {
		text, at string // what the finding is at; "": taken
	}{
		"label":              {sw(`switch "con" {`), `switch "con"`},
		"label, extension":   {sw(`switch "Nul.x" {`), `switch "Nul.x"`},
		"label, dot":         {sw(`switch "a." {`), `switch "a."`},
		"name":               {sw("switch \"a\" {\n  name = \"LPT9\""), `"LPT9"`},
		"key":                {sw("switch \"a\" {\n  for_each = toset([\"aux\"])"), `switch "a"`},
		"label, other name":  {sw("switch \"con\" {\n  name = \"leaf\""), ""},
		"almost":             {sw(`switch "com10" {`), ""},
		"without files":      {sw("switch \"prn\" {\n  manage = \"none\""), ""},
		"output":             {sw(`switch "a" {`) + "target \"cumulus\" { output = \"x/con\" }\n", `"x/con"`},
		"output, outside":    {sw(`switch "a" {`) + "target \"cumulus\" { output = \"../x\" }\n", `"../x"`},
		"output, as written": {sw(`switch "a" {`) + "target \"cumulus\" { output = \"x/cumulus\" }\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(c.text)}}, Packs: packs.Files()})
			if diags.HasErrors() {
				t.Fatalf("load: %+v", diags)
			}
			_, diags = Fabric(cfg)
			if c.at == "" {
				if diags.HasErrors() {
					t.Errorf("refused: %+v", diags)
				}
				return
			}
			if !diags.HasErrors() {
				t.Fatal("taken")
			}
			span := diags[0].Labels[0].Span
			if got := c.text[span.Start : span.Start+span.Len]; len(diags) != 1 || !strings.Contains(got, c.at) {
				t.Errorf("at %q, want %q: %+v", got, c.at, diags)
			}
		})
	}
}
