package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rows prints all that a file was reduced to, numbers of strings included.
func rows(f *file) string {
	var b strings.Builder
	fmt.Fprintf(&b, "broken %v\nstrs %q\nlists %v\nmaps %v\nratios %v\ndecls %+v\nattrs %+v\nrefs %v\nsteps %+v\nprogs %+v\nignores %+v\noutside %+v\n",
		f.broken, f.strs, f.lists, f.maps, f.ratios, f.decls, f.attrs, f.refs, f.steps, f.progs, f.ignores, f.outside)
	for i := range f.exprs {
		e := &f.exprs[i]
		fmt.Fprintf(&b, "expr %v %v ", e.deps, e.at)
		tree(&b, e.tree)
		b.WriteByte('\n')
	}
	for i := range f.diags {
		fmt.Fprintf(&b, "%+v\n", f.diags[i])
	}
	return b.String()
}

// sameReduced holds the way without trees against the one with them. It reports whether a file takes it.
func sameReduced(t *testing.T, src []byte) bool {
	t.Helper()
	if checkText(src) != nil {
		return false
	}
	read := func() *reducer {
		f := &file{name: "f.roce.hcl", id: 1, src: src, part: place{0, uint32(len(src))}, tables: newTables()}
		return &reducer{file: f}
	}
	quick := read()
	if !quick.quickFile() {
		if empty := read(); rows(quick.file) != rows(empty.file) || !slices.Equal(quick.sums(), empty.sums()) || len(quick.stack) > 0 {
			t.Fatalf("%q: refused, and something was kept\n%s", src, rows(quick.file))
		}
		return false
	}
	slow := read()
	body, _ := slow.parse()
	if body == nil {
		t.Fatalf("%q: read, and the library refuses it: %v", src, slow.diags)
	}
	slow.top(body)
	if d := cmp.Diff(rows(slow.file), rows(quick.file)); d != "" {
		t.Fatalf("%q: -tree +quick\n%s", src, d)
	}
	return true
}

// observedSeed is what an importer writes most of.
const observedSeed = "node \"n\" {\n  observed = { acs = true }\n  nic \"a\" {\n    observed = {\n      tos = 106 # seen\n    }\n  }\n}\n"

var quickSeeds = []string{
	"",
	"# nothing\n",
	"node \"n\" {\n  slot = 7 # here\n  rack = \"r\"\n  nic \"r[0-3]\" { mtu = 9000 }\n  nic x {}\n}\n",
	"link \"l\" {\r\n  ends  = [node.n.nic[\"a\"], switch.s.port[\"b\"],\r\n  ]\r\n  cable = { media = \"dac\", length = \"3m\" }\r\n}\r\n",
	"node \"n\" {\n  nic \"r\" {\n    mtu = 9000\n  }\n  slot = 7\n}\n",                                    // an attribute behind a block
	"switch \"s\" {\n  qos = qos.roce\n  port \"p\" {\n    qos = qos.roce\n    speed = \"400G\"\n  }\n}\n", // references
	"switch \"s\" {\n  qos = qos[\"a b\"]\n  for_each = toset([\"a\"])\n}\n",                               // a tree in the middle of the file
	"switch \"s\" {\n  for_each = \"x\"\n  name = \"a\"\n  enabled = false\n  mtu = null\n}\n",
	"segment \"a\" {\n  vlan = 5000\n  mtu = \"x\"\n  speed = true\n}\nsegment \"a\" {\n  vlan = 5000\n  mtu = \"x\"\n}\n", // wrong values, twice
	"defaults \"node\" {\n  os = \"ubuntu/24.04\"\n}\ndefaults \"x\" {\n  os = 1\n}\n",
	"switch \"s\" {\n  port \"a[1-3]\" {\n    mtu = 9000\n    except \"a2\" {\n      mtu = 1500\n      admin = \"up\"\n    }\n  }\n}\n",
	"variable \"x\" {\n  default = 1\n}\nlocals {\n  a = [1, \"b\", c.d]\n}\nnode \"n\" {\n  mgmt = \"10.0.0.1\"\n}\n",
	"node \"n\" {\n  lag = 1\n}\nnode \"m\" {\n  mgmt = \"10.0.0.1\"\n  mgmt = \"10.0.0.2\"\n}\n",
	"node \"n\" { mgmt = \"10.0.0.1\" }\nnode \"m\" { nic \"a\" {} }\n",
	"connection \"c\" {\n  password_env = \"a secret!\"\n  user = \"u\"\n  user = \"v\"\n}\n",
	"node \"n\" {\n  observed = { acs = true, modules = [\"a\"] }\n  nic \"a\" {\n    observed = {\n      tos       = 106 # seen\n      pxe       = null\n      gid_index = 3\n    }\n  }\n}\n",
	"node \"n\" {\n  observed = { tos = 1, toss = 2 }\n}\nnode \"m\" {\n  tos = 4\n  observed = { acs = true, tos = 1, acs = 1 }\n}\n", // wrong
	"node \"n\" {\n  observed = null\n  nic \"a\" { observed = {} }\n  nic \"b\" { observed = local.a }\n  nic \"c\" { observed = 7 }\n}\n",
	"defaults \"nic\" {\n  observed = { tos = 1 }\n}\nswitch \"s\" {\n  port \"a[1-3]\" {\n    deny = []\n    except \"a2\" { observed = { macsec = \"on\" } }\n  }\n}\n",
	"nosuch \"x\" {}\nnode {}\nnode \"a\" \"b\" {}\nnode \"\" {}\n",
}

// TestQuick: what is read without trees is what trees say, number by number.
func TestQuick(t *testing.T) {
	for _, s := range quickSeeds {
		sameReduced(t, []byte(s))
	}
	if !sameReduced(t, []byte(quickSeeds[2])) || !sameReduced(t, []byte(quickSeeds[5])) || !sameReduced(t, []byte(observedSeed)) {
		t.Error("a plain file takes the way of trees")
	}
	files, _ := writtenOut(3)
	for name, f := range files {
		if !sameReduced(t, f.Data) {
			t.Errorf("%s takes the way of trees", name)
		}
	}
	all := 0
	paths, _ := filepath.Glob("../examples/*/*.roce.hcl")
	packs, _ := filepath.Glob("packs/*.roce.hcl")
	for _, p := range append(paths, packs...) {
		src, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		sameReduced(t, src)
		all++
	}
	if all < 20 {
		t.Errorf("only %d files to compare", all)
	}
}

func FuzzQuick(f *testing.F) {
	fuzzFrom(f, append(quickSeeds, plainSeeds...))
	f.Fuzz(func(t *testing.T, src []byte) { sameReduced(t, src) })
}
