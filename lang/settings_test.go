package lang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

const settingsText = `# how we work
lint {
  preset         = "recommended"
  format         = "compact"
  baseline       = "known.json"
  require_reason = true
}

rule "link_speed" {
  enabled   = false
  severity  = "warning"
  ignorable = false
}
rule "ROCE312" {}
rule "ROCE223" {
  options = { share = 10, other = -3 }
}
`

func TestSettings(t *testing.T) {
	files := source.NewFiles()
	got, diags := ReadSettings(files, ".rocec.hcl", []byte(settingsText))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	at := func(text string) source.Span {
		return source.Span{File: 1, Start: uint32(strings.Index(settingsText, text)), Len: uint32(len(text))}
	}
	no, warning := false, diag.Warning
	want := &Settings{
		Preset: Setting{"recommended", at(`"recommended"`)}, Format: Setting{"compact", at(`"compact"`)}, Baseline: Setting{"known.json", at(`"known.json"`)}, RequireReason: true,
		Rules: []RuleSetting{
			{Name: Setting{"link_speed", at(`"link_speed"`)}, Enabled: &no, Severity: &warning, SeverityAt: at(`"warning"`), Ignorable: &no},
			{Name: Setting{"ROCE312", at(`"ROCE312"`)}},
			{Name: Setting{"ROCE223", at(`"ROCE223"`)}, Options: []OptionSetting{
				{Name: Setting{"share", at("share")}, Value: 10, At: at("10")}, {Name: Setting{"other", at("other")}, Value: -3, At: at("-3")},
			}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSettingsMistakes: each is one message, at the text that causes it.
func TestSettingsMistakes(t *testing.T) {
	for _, c := range []struct{ src, at, want, help string }{
		{`preset = "all"`, "preset", "settings have no attribute `preset` outside of blocks", "the blocks are lint and rule"},
		{`lnt {}`, "lnt", "settings have no block `lnt`", `did you mean "lint"?`},
		{`switch "a" {}`, "switch", "settings have no block `switch`", ".roce.hcl"},
		{`lint "x" {}`, `"x"`, "block `lint` takes no label", ""},
		{"lint {}\nlint {}", "lint", "block `lint` is written twice", ""},
		{"lint {\n  presets = \"all\"\n}", "presets", "`lint` has no attribute `presets`", `did you mean "preset"?`},
		{"lint {\n  preset = \"some\"\n}", `"some"`, "`preset` is \"recommended\", \"all\" or \"none\", not \"some\"", ""},
		{"lint {\n  preset = \"reccomended\"\n}", `"reccomended"`, "not \"reccomended\"", `did you mean "recommended"?`},
		{"lint {\n  baseline = \"\"\n}", `""`, "`baseline` is empty", "leave it out"},
		{"lint {\n  baseline = [1]\n}", `[1]`, "`baseline` is text", ""},
		{"lint {\n  baseline = null\n}", `null`, "`baseline` is text", ""},
		{"lint {\n  baseline = var.x\n}", `var.x`, "settings hold plain values; there is nothing to refer to", "quotes"},
		{"lint {\n  baseline = file(\"x\")\n}", `file("x")`, "unction", ""},
		{"lint {\n  require_reason = \"maybe\"\n}", `"maybe"`, "`require_reason` is true or false", ""},
		{"lint {\n  require_reason = true\n  require_reason = true\n}", "require_reason", "attribute `require_reason` is written twice", ""},
		{"lint {\n  rule {}\n}", "rule", "`lint` has no block `rule`", ""},
		{`rule {}`, "rule", "block `rule` takes one label", "rule \"link_speed\""},
		{`rule "a" "b" {}`, "rule", "block `rule` takes one label", ""},
		{"rule \"a\" {}\nrule \"a\" {}", `"a"`, "rule \"a\" is set twice", ""},
		{"rule \"a\" {\n  severity = \"loud\"\n}", `"loud"`, "`severity` is \"error\", \"warning\" or \"notice\", not \"loud\"", ""},
		{"rule \"a\" {\n  limit = 3\n}", "limit", "`rule` has no attribute `limit`", ""},
		{"rule \"a\" {\n  options = 3\n}", "3", "`options` is an object of numbers", "share"},
		{"rule \"a\" {\n  options = { (var.x) = 3 }\n}", "(var.x)", "the name of an option is a plain word", ""},
		{"rule \"a\" {\n  options = { b = \"many\" }\n}", `"many"`, "`b` is a whole number", ""},
		{"rule \"a\" {\n  options = { b = 1.5 }\n}", "1.5", "`b` is a whole number", ""},
		{"rule \"a\" {\n  options = { b = 1e30 }\n}", "1e30", "`b` is a whole number", ""},
		{"rule \"a\" {\n  options = { b = var.c }\n}", "var.c", "nothing to refer to", ""},
		{"rule \"a\" {\n  options = { b = 1, b = 2 }\n}", "b", "option \"b\" is written twice", ""},
		{"lint {", "{", "", ""},
		{"\x00", "\x00", "not text", ""},
		{"lint {\n  preset = " + strings.Repeat("(", 600) + "1" + strings.Repeat(")", 600) + "\n}", "", "", ""},
		{strings.Repeat("#\n", maxSettingsBytes), "", "bytes, at most", ""},
	} {
		files := source.NewFiles()
		_, diags := ReadSettings(files, ".rocec.hcl", []byte(c.src))
		if len(diags) != 1 || diags[0].Severity != diag.Error {
			t.Errorf("%.60q: %d findings: %+v", c.src, len(diags), diags)
			continue
		}
		d := diags[0]
		s := d.Labels[0].Span
		if !strings.Contains(d.Summary, c.want) || !strings.Contains(d.Help, c.help) {
			t.Errorf("%.60q: %q, help %q; want %q, %q", c.src, d.Summary, d.Help, c.want, c.help)
		}
		if int(s.End()) > len(c.src) || c.at != "" && c.src[s.Start:s.End()] != c.at {
			t.Errorf("%.60q: points at %d+%d", c.src, s.Start, s.Len)
		}
	}
}

// FuzzSettings: no text makes it panic, point outside of the file, or leave a
// file with mistakes without one that says so.
func FuzzSettings(f *testing.F) {
	f.Add([]byte(settingsText))
	f.Add([]byte("rule \"a\" {\n  severity = \"${\"x\"}\"\n  enabled = !true\n}\n"))
	f.Add([]byte("lint {\n  baseline = <<EOT\nx\nEOT\n  format = [for x in [1] : x][0]\n}\n"))
	f.Add([]byte("\xef\xbb\xbflint {}\r\n"))
	f.Add([]byte("lint {\n preset = 1 / 0\n}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, diags := ReadSettings(source.NewFiles(), ".rocec.hcl", src)
		for _, d := range diags {
			if d.Summary == "" || len(d.Labels) == 0 {
				t.Fatalf("%+v says nothing", d)
			}
			for _, l := range d.Labels {
				if int(l.Span.End()) > len(src) {
					t.Fatalf("%q points at %d+%d of %d bytes", d.Summary, l.Span.Start, l.Span.Len, len(src))
				}
			}
		}
		for _, w := range []Setting{s.Preset, s.Format, s.Baseline} {
			if (w.Text == "") != w.At.IsZero() || int(w.At.End()) > len(src) {
				t.Fatalf("setting %+v", w)
			}
		}
		for _, r := range s.Rules {
			if r.Name.At.IsZero() || (r.Severity == nil) != r.SeverityAt.IsZero() {
				t.Fatalf("rule %+v", r)
			}
		}
	})
}
