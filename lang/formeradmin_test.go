package lang

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// TestAdmin: `enabled` of a port is a former name of `admin` in folders that do not say their edition, in each form of a value and of source,
// and says whether the block exists in those that do.
func TestAdmin(t *testing.T) {
	const around = "locals {\n  off = false\n}\nswitch \"w\" {\n  os = \"sonic/202505\"\n  port \"p\" {\n    mtu = 9000\n    #LINE\n  }\n}\n"
	const edition = "rocec {\n  language = 1\n}\n"
	for _, c := range []struct{ name, text, admin, says string }{
		{"down", strings.Replace(around, "#LINE", `admin = "down"`, 1), "down", ""},
		{"kept", edition + strings.Replace(around, "#LINE", `admin = "keep"`, 1), "keep", ""},
		{"former", strings.Replace(around, "#LINE", `enabled = false`, 1), "down", "`enabled` of a port is called `admin`"},
		{"former, up", strings.Replace(around, "#LINE", `enabled = true`, 1), "up", "`enabled` of a port is called `admin`"},
		{"former, computed", strings.Replace(around, "#LINE", `enabled = local.off`, 1), "down", "`enabled` of a port is called `admin`"},
		{"former, left out", strings.Replace(around, "#LINE", `enabled = null`, 1), "", ""},
		{"former, of an exception", strings.Replace(around, "#LINE", "except \"p\" {\n      enabled = false\n      reason  = \"r\"\n    }", 1), "", "`enabled` of a port is called `admin`"},
		{"both", strings.Replace(around, "#LINE", "enabled = false\n    admin = \"up\"", 1), "no port", "attribute `admin` is written twice"},
		{"exists", edition + strings.Replace(around, "#LINE", `enabled = true`, 1), "", ""},
		{"does not exist", edition + strings.Replace(around, "#LINE", `enabled = local.off`, 1), "no port", ""},
		{"of an exception", edition + strings.Replace(around, "#LINE", "except \"p\" {\n      enabled = false\n      reason  = \"r\"\n    }", 1), "", "an exception of a port takes no `enabled`"},
	} {
		cfg, diags := Load(Options{FS: fstest.MapFS{"a.roce.hcl": {Data: []byte(c.text)}}})
		checkAdmin(t, c.name, c.text, cfg, append(diags, cfg.Former...), c.admin, c.says)
	}
	json := `{"switch": {"w": {"os": "sonic/202505", "port": {"p": {"enabled": false}}}}}`
	cfg, diags := Load(Options{FS: fstest.MapFS{"a.roce.json": {Data: []byte(json)}}})
	checkAdmin(t, "JSON", json, cfg, append(diags, cfg.Former...), "down", "`enabled` of a port is called `admin`")
}

func checkAdmin(t *testing.T, name, text string, cfg *Config, diags diag.List, admin, says string) {
	t.Helper()
	got := "no port"
	for id := range cfg.Blocks {
		if cfg.Blocks[id].Kind == schema.Port {
			got = cfg.Text(cfg.Attr(BlockID(id), schema.AAdmin))
		}
	}
	if got != admin {
		t.Errorf("%s: admin is %q, not %q", name, got, admin)
	}
	said := ""
	for _, d := range diags {
		said += d.Summary + "\n"
	}
	if says == "" && said != "" || !strings.Contains(said, says) {
		t.Errorf("%s: it says %q, not %q", name, said, says)
	}
	for _, d := range cfg.Former {
		for _, e := range d.Edits {
			mended := text[:e.Span.Start] + e.New + text[e.Span.End():]
			after, diags := Load(Options{FS: fstest.MapFS{"a.roce.hcl": {Data: []byte(mended)}}})
			if diags.HasErrors() || len(after.Former) > 0 {
				t.Errorf("%s: mended, it is refused or not new:\n%s%v", name, mended, diags)
			}
		}
	}
}
