package document_test

import (
	"encoding/csv"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/cmd/rocec/internal/document"
	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/targets/targettest"
)

const source = `
qos "roce" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26, 24]
    priority  = 3
    bandwidth = 50
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}
segment "s" {
  vlan   = 100
  subnet = "10.0.0.0/24"
  qos    = qos.roce
  mtu    = 9000
}
switch "tor" {
  model = "nvidia/sn2100"
  os    = "sonic/202505"
  role  = "a|b*<i>\u0060x\u0060"
  port "Ethernet[0-12:4]" {
    untagged = segment.s
    speed    = "100G"
  }
}
node "host" {
  for_each = { h1 = 1, h2 = 2, h10 = 10 }
  os       = "ubuntu/24.04"
  slot     = each.value
  rack     = "r${each.value > 1 ? 10 : 9}"
  nic "p0" {
    model    = "nvidia/connectx-6-dx"
    untagged = segment.s
    speed    = "100G"
  }
}
link "host" {
  for_each = { h1 = 0, h2 = 4, h10 = 8 }
  ends     = [node.host[each.key].nic["p0"], switch.tor.port["Ethernet${each.value}"]]
  cable    = { media = "dac", length = each.key == "h10" ? "2.5m" : "1m" }
}
cabling "site" {
  format  = "csv"
  file    = "site.csv"
  columns = { a_device = "a", a_port = "ap", b_device = "b", b_port = "bp" }
  mode    = "verify"
}
`

const siteList = `a,ap,b,bp
h1,p0,tor,Ethernet0
h2,p0,tor,Ethernet4
h10,p0,tor,Ethernet8
elsewhere1,eth0,elsewhere2,eth0
elsewhere1,eth1,elsewhere2,eth1
`

func compiled(t *testing.T) *compiler.Result {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(source)}, "site.csv": {Data: []byte(siteList)}}, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	res := compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows})
	if res.Fabric == nil {
		t.Fatal(res.Diags)
	}
	return res
}

func TestGoldens(t *testing.T) {
	res := compiled(t)
	var fabric, list, table strings.Builder
	err := errors.Join(document.Fabric(&fabric, res.Fabric, res.Facts), document.CablesMarkdown(&list, res.Fabric), document.CablesCSV(&table, res.Fabric))
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"fabric.md": fabric.String(), "cables.md": list.String(), "cables.csv": table.String()} {
		targettest.Golden(t, filepath.Join("testdata", name), got)
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestTables: whatever a name holds, every line of a table has the cells of its
// head.
func TestTables(t *testing.T) {
	var b strings.Builder
	res := compiled(t)
	if err := document.Fabric(&b, res.Fabric, res.Facts); err != nil {
		t.Fatal(err)
	}
	want := 0
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "|") {
			want = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if want == 0 {
			want = n
		}
		if n != want {
			t.Errorf("%d bars, %d in the head: %s", n, want, line)
		}
	}
}
