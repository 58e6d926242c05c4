package compiler

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets/targettest"
)

// compileText compiles one file of configuration, and the files that may follow
// it as a txtar archive, and returns its findings.
func compileText(t *testing.T, text string) (*Result, diag.List, *source.View) {
	t.Helper()
	a := txtar.Parse([]byte(text))
	fsys := fstest.MapFS{"fabric.roce.hcl": {Data: a.Comment}}
	for _, f := range a.Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	cfg, diags := lang.Load(lang.Options{FS: fsys, Packs: packs.Files()})
	view := &source.View{Files: cfg.Files, Read: func(name string) ([]byte, error) {
		if p, ok := strings.CutPrefix(name, "pack:"); ok {
			return fs.ReadFile(packs.Files(), p)
		}
		return fs.ReadFile(fsys, name)
	}}
	if diags.HasErrors() {
		return nil, diags, view
	}
	res := Compile(cfg, Options{Rows: packs.HeadroomRows, AsOf: "2026-01-01", Pedantic: true})
	return res, append(diags, res.Diags...), view
}

func shown(list diag.List, view *source.View) string {
	var b bytes.Buffer
	diag.Text(&b, list, view, diag.TextOptions{Width: 100, Rules: func(id string) *diag.Rule {
		if r := lint.Find(id); r != nil {
			return &r.Rule
		}
		return nil
	}})
	return b.String()
}

// asked are findings without those of pedantic rules other than r.
func asked(list diag.List, r *lint.Rule) diag.List {
	return slices.DeleteFunc(list, func(d diag.Diagnostic) bool {
		other := lint.Find(d.Rule)
		return other != nil && other.Pedantic && other != r
	})
}

// TestPedantic: what a pedantic rule finds is in the result where it is asked
// for and nowhere else, and a comment that silences it is of use in both.
func TestPedantic(t *testing.T) {
	i := slices.IndexFunc(lint.All, func(r *lint.Rule) bool { return r.Pedantic })
	if i < 0 {
		t.Fatal("no rule is pedantic")
	}
	r := lint.All[i]
	for _, pedantic := range []bool{true, false} {
		for comment, want := range map[string]bool{"": pedantic, "# rocec-ignore-file: " + r.Name + " # known\n": false} {
			cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"fabric.roce.hcl": {Data: []byte(comment + r.Bad)}}, Packs: packs.Files()})
			if diags.HasErrors() {
				t.Fatal(diags[0].Summary)
			}
			res := Compile(cfg, Options{Rows: packs.HeadroomRows, AsOf: "2026-01-01", Pedantic: pedantic})
			if got := slices.ContainsFunc(res.Diags, func(d diag.Diagnostic) bool { return d.Rule == r.ID }); got != want {
				t.Errorf("pedantic %v, comment %q: found %v", pedantic, comment, got)
			}
			for _, d := range res.Diags {
				if d.Rule == "" {
					t.Errorf("pedantic %v, comment %q: %s", pedantic, comment, d.Summary)
				}
			}
		}
	}
}

// TestRules runs every rule's examples: the bad one gives exactly that rule,
// the good one gives nothing. The text of the bad one is kept as a golden.
func TestRules(t *testing.T) {
	for i, r := range lint.All {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			for what, text := range map[string]string{"Title": r.Title, "Why": r.Why, "Fix": r.Fix, "Source": r.Source, "Name": r.Name, "Bad": r.Bad, "Good": r.Good} {
				if text == "" {
					t.Errorf("%s is empty", what)
				}
			}
			if i > 0 && lint.All[i-1].ID >= r.ID {
				t.Errorf("%s stands after %s", r.ID, lint.All[i-1].ID)
			}
			if r.Pedantic && r.Severity == diag.Error {
				t.Error("a pedantic rule finds errors")
			}
			_, good, view := compileText(t, r.Good)
			good = asked(good, r)
			if len(good) > 0 {
				t.Errorf("the good example has findings:\n%s", shown(good, view))
			}
			_, bad, view := compileText(t, r.Bad)
			bad = asked(bad, r)
			if !slices.ContainsFunc(bad, func(d diag.Diagnostic) bool { return d.Rule == r.ID }) {
				t.Errorf("the bad example does not yield %s:\n%s", r.ID, shown(bad, view))
			}
			if slices.ContainsFunc(bad, func(d diag.Diagnostic) bool { return d.Rule != r.ID }) {
				t.Errorf("the bad example yields more than %s:\n%s", r.ID, shown(bad, view))
			}
			for _, d := range bad {
				if d.Address == "" && !r.Hard {
					t.Errorf("no override can accept this, as it has no address: %s", d.Summary)
				}
			}
			targettest.Golden(t, "testdata/rules/"+r.ID+".txt", shown(bad, view))
		})
	}
}

// TestRecordsOfAClass: what nobody wrote of how a class is run is one finding, and each of its rules
// can be asked for by itself.
func TestRecordsOfAClass(t *testing.T) {
	records := []string{"ROCE905", "ROCE910", "ROCE914"}
	text := strings.Replace(lint.Find("ROCE905").Good, "observed =", "# observed =", 1)
	_, list, view := compileText(t, text)
	of := func(list diag.List) (codes []string) {
		for _, d := range list {
			if slices.Contains(records, d.Rule) {
				codes = append(codes, d.Rule)
			}
			for _, f := range d.Follows {
				codes = append(codes, "and "+f.Rule)
			}
		}
		return codes
	}
	if got := strings.Join(of(list), " "); got != "ROCE905 and ROCE910 and ROCE914" {
		t.Errorf("%s\n%s", got, shown(list, view))
	}
	for _, code := range records {
		if got := strings.Join(of(list.Keep(func(d *diag.Diagnostic) bool { return d.Rule == code })), " "); !strings.HasPrefix(got, code) {
			t.Errorf("asked for %s alone: %s", code, got)
		}
	}
}

// saysOnly compiles a fabric of which a rule says this, with both ends, or "" and
// nothing, and in which no other rule sees an error.
func saysOnly(t *testing.T, fabric, rule, want string) {
	t.Helper()
	_, list, view := compileText(t, fabric)
	var got []string
	for _, d := range list {
		if d.Rule == rule {
			got = append(got, d.Summary)
			if len(d.Labels) != 2 || d.Labels[0].Span == d.Labels[1].Span {
				t.Errorf("both ends are not shown:\n%s", shown(list, view))
			}
		} else if d.Severity == diag.Error {
			t.Error(shown(list, view))
		}
	}
	if strings.Join(got, "\n") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestForcedLinks: what a written speed does before Cumulus Linux 5.14, and two
// Spectrum-4 switches, which come up at 200G and more only where both negotiate.
func TestForcedLinks(t *testing.T) {
	const fabric = `switch "a" {
  model = "nvidia/sn5600"
  os    = "cumulus-linux/5.13"
  port "swp1" {
    speed = "400G"
  }
}
switch "b" {
  model = "nvidia/sn5600"
  os    = "cumulus-linux/5.13"
  port "swp1" {
    speed = "400G"
  }
}
link "ab" {
  ends  = [switch.a.port["swp1"], switch.b.port["swp1"]]
  cable = { media = "dac", length = "2m" }
}
`
	const forced = "port a/swp1 is forced, and with its peer b/swp1 it comes up at 400G only where both negotiate"
	for name, c := range map[string]struct {
		edits []string
		want  string
	}{
		"speeds before 5.14":  {nil, forced},
		"splits before 5.14":  {[]string{`speed = "400G"`, `breakout = "2x400G"`, `"swp1"]`, `"swp1s0"]`}, strings.ReplaceAll(forced, "swp1", "swp1s0")},
		"speeds since 5.14":   {[]string{"5.13", "5.14"}, ""},
		"forced since 5.14":   {[]string{"5.13", "5.14", `speed = "400G"`, `autoneg = false`}, strings.Replace(forced, "400G", "800G", 1)},
		"one end since 5.14":  {[]string{"5.13\"\n  port \"swp1\" {\n    speed = \"400G\"\n  }\n}\nswitch", "5.14\"\n  port \"swp1\" {\n    speed = \"400G\"\n    autoneg = true\n  }\n}\nswitch"}, "port a/swp1 negotiates, its peer b/swp1 is forced"},
		"100G may be NRZ":     {[]string{`speed = "400G"`, "speed = \"100G\"\n    fec = \"rs\""}, ""},
		"another ASIC":        {[]string{"a\" {\n  model = \"nvidia/sn5600\"", "a\" {\n  model = \"nvidia/sn4700\""}, ""},
		"no speed is written": {[]string{`    speed = "400G"` + "\n", ""}, ""},
		"SONiC":               {[]string{"cumulus-linux/5.13", "sonic/202505", `speed = "400G"`, `autoneg = false`, `"swp1"`, `"Ethernet0"`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			saysOnly(t, strings.NewReplacer(c.edits...).Replace(fabric), "ROCE103", c.want)
		})
	}
}

// TestLanesOfChildren: children of one lane and of two do not come up with each other.
func TestLanesOfChildren(t *testing.T) {
	const fabric = `switch "a" {
  model = "nvidia/sn5600"
  os    = "cumulus-linux/5.14"
  port "swp1" {
    breakout = "4x25G"
  }
}
switch "b" {
  model = "nvidia/sn3700"
  os    = "cumulus-linux/5.13"
  port "swp9" {
    breakout = "4x25G"
  }
}
link "ab" {
  ends  = [switch.b.port["swp9s3"], switch.a.port["swp1s2"]]
  cable = { media = "dac", length = "2m" }
}
`
	const down = "port a/swp1s2 has two of the eight lanes of its cage, its peer b/swp9s3 one of four: the link stays down"
	for name, c := range map[string]struct {
		edits []string
		want  string
	}{
		"two and one":      {nil, down},
		"both of eight":    {[]string{"nvidia/sn3700", "nvidia/sn5600"}, ""},
		"like a whole one": {[]string{`link "ab" {`, "link \"aa\" {\n  ends  = [switch.b.port[\"swp9s0\"], switch.a.port[\"swp65\"]]\n  cable = { media = \"dac\", length = \"2m\" }\n}\nlink \"ab\" {"}, down},
		"split into 8":     {[]string{"cumulus-linux/5.14\"\n  port \"swp1\" {\n    breakout = \"4x25G\"", "cumulus-linux/5.14\"\n  port \"swp1\" {\n    breakout = \"8x25G\""}, ""},
		"the whole port":   {[]string{"    breakout = \"4x25G\"\n  }\n}\nlink", "    speed = \"25G\"\n  }\n}\nlink", "swp9s3", "swp9"}, ""},
		"others allocate":  {[]string{"cumulus-linux/5.14", "sonic/202505", `"swp1"`, `"Ethernet0"`, `"4x25G"`, `"4x25G"`, "swp1s2", "Ethernet4"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			saysOnly(t, strings.NewReplacer(c.edits...).Replace(fabric), "ROCE105", c.want)
		})
	}
}
