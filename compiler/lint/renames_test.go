package lint_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
)

// compiledFiles is compiled for a fabric with other files behind it.
func compiledFiles(t *testing.T, text string) diag.List {
	t.Helper()
	files := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte("-- fabric.roce.hcl --\n" + text)).Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	cfg, diags := lang.Load(lang.Options{FS: files, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatalf("%s\n%s", diags[0].Summary, text)
	}
	return compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows, AsOf: "2026-01-01", Pedantic: true}).Diags
}

// TestRenames: names of the list and of the fabric, and lists of two sites that share a table.
func TestRenames(t *testing.T) {
	bad := lint.Find("ROCE925").Bad
	for _, x := range []struct{ name, text, want string }{
		{"from nowhere", bad, `ROCE925: cabling.as_built renames "HOST3", and no row of the list names it`},
		{"to nowhere", swap(t, bad, `"HOST3" = "n2"`, `"HOST-2" = "nn2"`), `ROCE925: cabling.as_built renames "HOST-2" to "nn2", and no device has that name`},
		{"one more", swap(t, lint.Find("ROCE925").Good, `"n1" }`, `"n1", n9 = "n1" }`), `ROCE925: cabling.as_built renames "n9", and no row of the list names it`},
		{"shared", swap(t, lint.Find("ROCE925").Good, "-- cables.csv --", "cabling \"far\" {\n  file   = \"far.csv\"\n  format = \"csv\"\n  mode   = \"verify\"\n  rename = { \"HOST-1\" = \"n1\" }\n}\n-- far.csv --\na_device,a_port,b_device,b_port\ntor,Ethernet0,n1,rail0\n-- cables.csv --"), ""},
	} {
		if got := strings.Join(findings(compiledFiles(t, x.text), "ROCE925"), "\n"); got != x.want {
			t.Errorf("%s: %q, not %q", x.name, got, x.want)
		}
	}
}
