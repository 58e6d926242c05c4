package lang

import (
	"testing"
	"testing/fstest"
)

// TestOnlyNamedModelsAreParsed: what else stands in a pack file is not looked
// at, and places in the named block are those of the whole file.
func TestOnlyNamedModelsAreParsed(t *testing.T) {
	const pack = `# a file of two
nic_model "acme/broken" {
  vendor = [[[
}

nic_model "acme/good" {
  vendor = "acme"
  driver = "mlx5"
}
`
	fsys := fstest.MapFS{"f.roce.hcl": {Data: []byte("node \"n\" {\n  os = \"ubuntu/24.04\"\n  nic \"p\" {\n    model = \"acme/good\"\n  }\n}\n")}}
	packs := fstest.MapFS{
		"index.json":    {Data: []byte(`{"nic_model": {"acme/good": "nics.roce.hcl", "acme/broken": "nics.roce.hcl"}}`)},
		"nics.roce.hcl": {Data: []byte(pack)},
	}
	cfg, diags := Load(Options{FS: fsys, Packs: packs, Workers: 1})
	if len(diags) > 0 {
		t.Fatalf("findings: %+v", diags)
	}
	for _, b := range cfg.Top {
		if cfg.String(cfg.Blocks[b].Name) != "acme/good" {
			continue
		}
		at := cfg.Decls[cfg.Blocks[b].Decl].Span
		if got := pack[at.Start:at.End()]; got != `nic_model "acme/good"` {
			t.Errorf("the block stands at %q", got)
		}
		return
	}
	t.Error("the model is not there")
}
