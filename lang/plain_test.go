package lang

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/tools/txtar"
)

// tree prints what a tree says and where, without what only the library fills in.
func tree(b *strings.Builder, n any) {
	at := func(r hcl.Range) string { return fmt.Sprintf("@%d-%d", r.Start.Byte, r.End.Byte) }
	switch n := n.(type) {
	case *hclsyntax.Body:
		for _, a := range sortedAttrs(n.Attributes) {
			fmt.Fprintf(b, "%s%s%s%s = ", a.Name, at(a.NameRange), at(a.EqualsRange), at(a.SrcRange))
			tree(b, a.Expr)
			b.WriteByte('\n')
		}
		for _, k := range n.Blocks {
			fmt.Fprintf(b, "%s%s %q", k.Type, at(k.TypeRange), k.Labels)
			for _, r := range k.LabelRanges {
				b.WriteString(at(r))
			}
			fmt.Fprintf(b, " %s {%s\n", at(k.OpenBraceRange), at(k.Body.SrcRange))
			tree(b, k.Body)
			fmt.Fprintf(b, "}%s\n", at(k.CloseBraceRange))
		}
	case *hclsyntax.TemplateExpr:
		text, ok := plainText(n)
		fmt.Fprintf(b, "%q %v %s", text, ok, at(n.SrcRange))
	case *hclsyntax.LiteralValueExpr:
		fmt.Fprintf(b, "%s %s", n.Val.GoString(), at(n.SrcRange))
	case *hclsyntax.ScopeTraversalExpr:
		for _, t := range n.Traversal {
			switch t := t.(type) {
			case hcl.TraverseRoot:
				b.WriteString(t.Name + at(t.SrcRange))
			case hcl.TraverseAttr:
				b.WriteString("." + t.Name + at(t.SrcRange))
			case hcl.TraverseIndex:
				b.WriteString("[" + t.Key.GoString() + "]" + at(t.SrcRange))
			default:
				fmt.Fprintf(b, "%T", t)
			}
		}
		b.WriteString(at(n.SrcRange))
	case *hclsyntax.TupleConsExpr:
		fmt.Fprintf(b, "[%s%s", at(n.OpenRange), at(n.SrcRange))
		for _, e := range n.Exprs {
			tree(b, e)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case *hclsyntax.ObjectConsExpr:
		fmt.Fprintf(b, "{%s%s", at(n.OpenRange), at(n.SrcRange))
		for _, it := range n.Items {
			tree(b, it.KeyExpr)
			b.WriteString(" = ")
			tree(b, it.ValueExpr)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case *hclsyntax.ObjectConsKeyExpr:
		fmt.Fprintf(b, "key %v ", n.ForceNonLiteral)
		tree(b, n.Wrapped)
	default:
		fmt.Fprintf(b, "%T", n)
	}
}

// samePlain holds the quick parser against the library. It reports whether the quick one read the file.
func samePlain(t *testing.T, src []byte) bool {
	t.Helper()
	if checkText(src) != nil {
		return false
	}
	quick, ok := parsePlain(src, "f", 0)
	if !ok {
		return false
	}
	parsed, diags := hclsyntax.ParseConfig(src, "f", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%q: read, and the library refuses it: %v", src, diags)
	}
	var want, got strings.Builder
	tree(&want, parsed.Body.(*hclsyntax.Body))
	tree(&got, quick)
	if d := cmp.Diff(want.String(), got.String()); d != "" {
		t.Fatalf("%q: -library +quick\n%s", src, d)
	}
	return true
}

var plainSeeds = []string{
	"",
	"a = 1\n",
	"node \"n\" {\n  slot = 7 # here\n  nic \"r[0-3]\" { mtu = 9000 }\n  nic x {}\n}",
	"link \"l\" {\r\n  ends  = [node.n.nic[\"a\"], switch.s.port[\"b\"],\r\n  ]\r\n  cable = { media = \"dac\", length = \"3m\" }\r\n}\r\n",
	"a = {\n  x = 1 // one\n  \"y\" : 0.5,\n  3 = [true, null, false]\n}\nb = a[0].c[\"d\"] /* e */\n",
	"qos \"x\" { from = qos.y }\n/* a */ a = \"\"\n",
	"a = \"$x %y\"\nb = []\nc = {}\n",
}

// TestPlain: these files take the quick way, those do not, and both read as the library reads them.
func TestPlain(t *testing.T) {
	for _, s := range plainSeeds {
		if !samePlain(t, []byte(s)) {
			t.Errorf("%q takes the slow way", s)
		}
	}
	files, _ := writtenOut(3)
	for name, f := range files {
		if !samePlain(t, f.Data) {
			t.Errorf("%s takes the slow way", name)
		}
	}
	for _, s := range []string{
		"a = 1 + 2\n", "a = f(x)\n", "a = \"${x}\"\n", "a = \"\\n\"\n", "a = -1\n", "a = <<E\nx\nE\n", "a = x[*]\n", "a = x.0\n", "a = [for x in y : x]\n", "a = 1e3\n", "a = 1.2.3\n",
		"a = 1\na = 2\n", "a = \"ä\"\n", "b \"x\" { a = 1, b = 2 }\n", "a = 1 b = 2\n", "a =\n 1\n", "a = {x = \n1}\n", "b {", "}", "a = x::y()\n", "a = (1)\n", "a = !x\n", "a = x ? 1 : 2\n", "a == 1\n", "b { # c }\n",
	} {
		if _, ok := parsePlain([]byte(s), "f", 0); ok {
			t.Errorf("%q takes the quick way", s)
		}
	}
}

// fuzzFrom adds texts, and the sources in testdata, to what a fuzz target begins with.
func fuzzFrom(f *testing.F, texts []string) {
	f.Helper()
	for _, s := range texts {
		f.Add([]byte(s))
	}
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if strings.HasSuffix(file.Name, ".hcl") {
				f.Add(file.Data)
			}
		}
	}
}

func FuzzPlain(f *testing.F) {
	fuzzFrom(f, plainSeeds)
	f.Fuzz(func(t *testing.T, src []byte) { samePlain(t, src) })
}
