package lang

import (
	"testing"
	"testing/fstest"
)

// TestRowOf: what an instance comes of is found by its address, and that of what is inside it.
func TestRowOf(t *testing.T) {
	files := map[string]string{
		"fabric.roce.hcl": `node "table" {
  for_each = rows("hosts.csv", "name")
  os       = "ubuntu/24.04"
}
node "written" {
  for_each = { w1 = 1, "w2" = 2 }
  os       = "ubuntu/24.04"
}
node "set" {
  for_each = toset(["s1"])
  os       = "ubuntu/24.04"
}
locals {
  names = toset(["e1"])
}
node "elsewhere" {
  for_each = local.names
  os       = "ubuntu/24.04"
}
`,
		"hosts.csv": "name,slot\nh1,1\n\"h2\",2\n",
	}
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	cfg, diags := Load(Options{FS: fsys})
	if diags.HasErrors() {
		t.Fatal(diags[0].Summary)
	}
	for address, want := range map[string]string{
		`node.table["h1"]`:             "h1,1",
		`node.table["h2"].nic["rail"]`: `"h2",2`,
		`node.written["w1"]`:           "w1",
		`node.written["w2"].qos["x"]`:  `"w2"`,
		`node.set["s1"]`:               `"s1"`,
		`node.elsewhere["e1"]`:         `"e1"`,
		`node.table["h3"]`:             "",
		`node.tab["h1"]`:               "",
		`node.table`:                   "",
	} {
		at := cfg.RowOf(address)
		got := ""
		if !at.IsZero() {
			got = files[cfg.Files.Name(at.File)][at.Start:at.End()]
		}
		if got != want {
			t.Errorf("%s comes of %q, want %q", address, got, want)
		}
	}
}
