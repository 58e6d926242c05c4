package lang

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// TestForeignWords: words of other tools are answered with ours.
func TestForeignWords(t *testing.T) {
	for _, c := range [][2]string{
		{"host \"h\" {\n}\n", "write `node \"NAME\" { ... }`"},
		{"server \"h\" {\n}\n", "write `node \"NAME\" { ... }`"},
		{"vlan \"v\" {\n}\n", "write `segment \"NAME\" { vlan = 100 }`"},
		{"device \"d\" {\n}\n", "write `switch \"NAME\" { ... }` or `node \"NAME\" { ... }`"},
		{"resource \"a\" \"b\" {\n}\n", "blocks have no types of resources"},
		{"bridge \"b\" {\n}\n", "write tagged and untagged on them"},
		{"network \"n\" {\n}\n", "`segment \"NAME\" { ... }`"},
		{"interface \"i\" {\n}\n", "the port of a switch is `port`"},
		{"nic \"i\" {\n}\n", "write it inside of its host"},
		{"port \"i\" {\n}\n", "write it inside of its switch"},
		{"node \"n\" {\n  port \"p\" {\n  }\n}\n", "the adapter of a host is `nic \"NAME\" { ... }`"},
		{"node \"n\" {\n  except \"n\" {\n    port \"p\" {\n    }\n  }\n}\n", "the adapter of a host is `nic \"NAME\" { ... }`"},
		{"switch \"s\" {\n  nic \"p\" {\n  }\n}\n", "the port of a switch is `port \"NAME\" { ... }`"},
		{"switch \"s\" {\n  bond \"p\" {\n  }\n}\n", "`lag \"NAME\" { members = ... }`"},
		{"node \"n\" {\n  lag \"p\" {\n  }\n}\n", "`bond \"NAME\""},
		{"switch \"s\" {\n  port \"p\" {\n    untagged_vlan = 1\n  }\n}\n", "it is called `untagged` here"},
		{"switch \"s\" {\n  port \"p\" {\n    vlan = 1\n  }\n}\n", "it is called `untagged` here"},
		{"switch \"s\" {\n  port \"p\" {\n    trunk = [1]\n  }\n}\n", "it is called `tagged` here"},
		{"segment \"s\" {\n  vlan_id = 1\n}\n", "it is called `vlan` here"},
		{"defaults \"nic\" {\n  interface_name = \"x\"\n}\n", "it is called `ifname` here"},
		{"qos \"q\" {\n  class \"c\" {\n    max-rate = \"1G\"\n  }\n}\n", "it is called `max_rate` here"},
		{"locals {\n  a = md5(\"x\")\n}\n", "no attribute takes its result"},
		{"rocec {\n  experiments = [\"x\"]\n}\n", "leave it out"},
		{"hosts \"h\" {\n}\n", "blocks here are"},
	} {
		_, diags := Load(Options{FS: fstest.MapFS{"a.roce.hcl": &fstest.MapFile{Data: []byte(c[0])}}, Workers: 1})
		if !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return strings.Contains(d.Help, c[1]) }) {
			t.Errorf("%s\n%q is not said: %v", c[0], c[1], diags)
		}
	}
}

// TestForeignRows: no row stands for a word that the language has where it would be said, and each offers a word that it has.
func TestForeignRows(t *testing.T) {
	for _, f := range foreignBlocks {
		for _, w := range f.words {
			for _, k := range f.in {
				if schema.ByWord(k, w) != schema.None {
					t.Errorf("%s stands in %s", w, k)
				}
			}
			if f.in == nil && schema.ByWord(schema.None, w) != schema.None {
				t.Errorf("%s stands at the top", w)
			}
		}
	}
	for _, f := range foreignAttrs {
		found := false
		for k := schema.None + 1; k < schema.KindCount; k++ {
			found = found || schema.Lookup(k, f.ours) != nil || schema.Def(k).Each && f.ours == "enabled"
		}
		if !found && f.ours != "admin" {
			t.Errorf("no block has %s", f.ours)
		}
	}
}
