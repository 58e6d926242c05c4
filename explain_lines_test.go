package rocec_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/source"
)

// literalOf are the fields of an intent that an attribute gives its value as it is,
// and what the attribute is called.
var literalOf = map[string]string{
	"speed": "speed", "mtu": "mtu", "fec": "fec", "autoneg": "autoneg", "cable": "length", "enabled": "admin", "firmware": "firmware",
	"roce_mode": "roce_mode", "rate": "rate", "id": "id", "gateway": "gateway", "vrf": "vrf", "hash": "hash", "mac": "mac",
}

var blockHead = regexp.MustCompile(`^[a-z_]+ "`)

// TestExplainedLines: where `explain` names the line of an attribute for a value, the
// line says that value, in every example, and in random fabrics with the same words
// written in each place that takes them.
func TestExplainedLines(t *testing.T) {
	seen := 0
	for _, x := range examples {
		seen += explainedLines(t, x.name, x.files(), x.vars...)
	}
	for seed := uint64(1); seed <= 40; seed++ {
		s := siteOf(seed)
		seen += explainedLines(t, fmt.Sprint("seed ", seed), fstest.MapFS{"fabric.roce.hcl": {Data: []byte(s.String())}})
		for _, sw := range s.switches {
			sw.set("mtu", "1500")
		}
		for _, n := range s.nodes {
			n.set("mtu", "null")
		}
		for i, e := range s.ends {
			if i%2 == 0 {
				e.block.set("cable", `{ length = "2m" }`)
				e.link.set("cable", `{ media = "dac" }`)
			}
			e.block.set("mtu", []string{"null", "4500", ""}[i/2%3])
		}
		seen += explainedLines(t, fmt.Sprint("seed ", seed, " with more words"), fstest.MapFS{"fabric.roce.hcl": {Data: []byte(s.String())}})
	}
	if seen < 1000 {
		t.Errorf("%d lines were compared", seen)
	}
	paths, err := filepath.Glob("testdata/incidents/*/fabric.roce.hcl")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		explainedLines(t, path, os.DirFS(filepath.Dir(path)))
	}
}

func explainedLines(t *testing.T, name string, files fs.FS, vars ...lang.Var) (seen int) {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: files, Packs: packs.Files(), Vars: vars})
	if diags.HasErrors() {
		return 0
	}
	res := compiler.Compile(cfg, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows})
	if res.Facts == nil {
		return 0
	}
	read := func(at source.Span) string {
		file := cfg.Files.Name(at.File)
		text, err := fs.ReadFile(files, file)
		if p, ok := strings.CutPrefix(file, "pack:"); ok {
			text, err = fs.ReadFile(packs.Files(), p)
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(text[at.Start : at.Start+at.Len])
	}
	for id := 1; id < len(res.Fabric.Devices); id++ {
		d := fabric.DeviceID(id)
		dev := res.Intent(d)
		if dev == nil {
			continue
		}
		origin := res.Origins(d)
		for path, v := range dev.Fields {
			if literalOf[path.Field] == "" || v.State == intent.Unmanaged {
				continue
			}
			for _, l := range origin(path)[:1] {
				text := read(l.Span)
				if blockHead.MatchString(text) {
					continue // a block, which yields it
				}
				said, plain := saidBy(text, literalOf[path.Field])
				if !plain {
					continue // an expression
				}
				seen++
				if len(l.Values) > 0 {
					continue // it says why the value is another
				}
				if text == "null" || !sameValue(said, v.Text) {
					t.Errorf("%s: %s of %s is %s, and the line says %s (in %s)", name, path, res.Fabric.Text(res.Fabric.Devices[d].Name), v.Text, text, l.Where)
				}
			}
		}
	}
	return seen
}

// saidBy is the literal of an attribute, or of a field of the object that it is.
func saidBy(text, field string) (string, bool) {
	if strings.HasPrefix(text, "{") {
		_, rest, ok := strings.Cut(text, field+" ")
		if !ok {
			return "", false
		}
		_, rest, _ = strings.Cut(rest, "=")
		text = strings.TrimSpace(rest)
		if end := strings.IndexAny(text, ",}\n"); end >= 0 {
			text = strings.TrimSpace(text[:end])
		}
	}
	if strings.ContainsAny(text, "$?[.") && !strings.HasPrefix(text, `"`) || strings.Contains(text, "${") {
		return "", false
	}
	return strings.Trim(text, `"`), true
}

// sameValue compares a literal with the text of a value of an intent.
func sameValue(said, value string) bool {
	said, value = strings.ToLower(strings.TrimSpace(said)), strings.ToLower(strings.TrimSpace(value))
	norm := strings.NewReplacer("up", "true", "down", "false").Replace
	return norm(said) == norm(value) || strings.HasPrefix(norm(said), norm(value)) || strings.HasPrefix(norm(value), norm(said))
}
