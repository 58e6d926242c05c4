package yang

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	sonicyang "github.com/rocec/rocec/testdata/oracles/sonic-yang"
)

// example is one form of the worked example that lies beside the models.
func example(t testing.TB, form string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "oracles", "sonic-yang", "example-tor."+form+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTranslate(t *testing.T) {
	ms, err := load(sonicyang.Files())
	if err != nil {
		t.Fatal(err)
	}
	got, err := ms.translate(example(t, "config_db"))
	if err != nil {
		t.Fatal(err)
	}
	want := example(t, "yang")
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("example-tor (-want +got):\n%s", diff)
	}
}

func TestParseRejects(t *testing.T) {
	for _, text := range []string{
		"", "module", "module m", "module m {", "container c { }", "module m { } x", "module m { leaf 'x }", "module m { a + 'x'; }",
		`module m { a "x" + y; }`, "module m { { } }", "module m { /* }",
	} {
		if s, err := parse(text); err == nil {
			t.Errorf("%q parsed as %v", text, s)
		}
	}
}

func TestParse(t *testing.T) {
	s, err := parse("// c\nmodule m { /* x\n*/ path /a:b/c:d; pattern 'a\\d' + \"\\\"\\d\\n\"; description\n\"two\nlines\"; leaf l; }\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []*stmt{
		{keyword: "path", arg: "/a:b/c:d", line: 3},
		{keyword: "pattern", arg: "a\\d\"\\d\n", line: 3},
		{keyword: "description", arg: "two\nlines", line: 3},
		{keyword: "leaf", arg: "l", line: 5},
	}
	if diff := cmp.Diff(want, s.sub, cmp.AllowUnexported(stmt{})); diff != "" {
		t.Error(diff)
	}
}

// The schema's shapes that the transformation does not know must not come in with the next update of the models unseen.
func TestModelsRefuseUnknownShapes(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"augment /x { }", "augment"},
		{"container m { container T { list L { key k; leaf k { type string; } choice c { } } } }", "choice"},
		{"typedef t { type string; } container m { typedef t { type int8; } }", "typedef t is there twice"},
		{"container m { container T { list L { key k; leaf k { type nosuch; } } } }", "nosuch"},
		{"container m { container T { list L { key k; leaf k { type leafref { path /p:m/p:X/p:y; } } } } }", "no table X"},
		{"container m { container T { list A { key k; leaf k { type string; } } list B { key k; leaf k { type string; } } } }", "two lists"},
		{"container m { container T { list L { key k; leaf k { type string; } uses g; } } }", "grouping g"},
		{"container m { container T { list L { key k; leaf k { type string; } list I { key i; leaf i { type string; } } } } }", "not a map"},
	} {
		ms := &models{modules: map[string]*module{}, tables: map[string]table{}}
		err := ms.add("module m { prefix p; " + c.body + " }")
		if err == nil {
			_, err = ms.translate([]byte(`{"T":{"row":{"f":"v"}}}`))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %q", c.body, err, c.want)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	ms, err := load(sonicyang.Files())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"DSCP_TO_TC_MAP":{"R":{"1":"2"}},"PORT":{"E":{"adv_speeds":"1,all"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := ms.translate(text)
		if err == nil && !json.Valid(out) {
			t.Errorf("%q became %q, which is no JSON", text, out)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("module m { a 'b' + \"c\"; /* d */ e; // f\n }")
	f.Fuzz(func(t *testing.T, text string) {
		ms := &models{modules: map[string]*module{}, tables: map[string]table{}}
		if err := ms.add(text); err != nil {
			return
		}
		if len(ms.modules) != 1 {
			t.Errorf("%q gave %d modules", text, len(ms.modules))
		}
	})
}
