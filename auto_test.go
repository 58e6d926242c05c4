package rocec_test

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
)

// firstPort is a port of every switch under an OS, with the version to test.
var firstPort = map[string]struct{ version, port string }{
	"sonic":            {"202505", "Ethernet0"},
	"sonic-enterprise": {"4.4", "Ethernet0"},
	"cumulus-linux":    {"5.14", "swp1"},
}

var (
	listOfOS   = regexp.MustCompile(`\n  os +=.*`)
	quotedName = regexp.MustCompile(`"([^"]+)"`)
	speedOf    = regexp.MustCompile(`"([0-9]+G)"`)
)

// TestAutoIsNeverRefused: what rocec chooses by itself, its emitters can say: two switches of every model that rocec ships, under
// every OS that it is for, with one cable at every speed of theirs, and no value in the contract that an operator has to choose.
func TestAutoIsNeverRefused(t *testing.T) {
	right, models := map[string]int{}, packs.Index()["switch_model"]
	for _, model := range slices.Sorted(maps.Keys(models)) {
		text, err := fs.ReadFile(packs.Files(), models[model])
		if err != nil {
			t.Fatal(err)
		}
		_, block, _ := strings.Cut(string(text), fmt.Sprintf("switch_model %q {", model))
		block, _, _ = strings.Cut(block, "\n}")
		speeds := map[string]bool{}
		for _, s := range speedOf.FindAllStringSubmatch(block, -1) {
			speeds[s[1]] = true
		}
		for _, name := range quotedName.FindAllStringSubmatch(listOfOS.FindString(block), -1) {
			on, served := firstPort[name[1]]
			if !served {
				continue
			}
			for _, speed := range slices.Sorted(maps.Keys(speeds)) {
				for _, lossless := range []bool{true, false} {
					m := build(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(autoPair(model, name[1]+"/"+on.version, on.port, speed, lossless))}}, "2026-06-01")
					if !m.Diags.HasErrors() {
						right[name[1]]++
					}
					if i := slices.IndexFunc(m.Diags, func(d diag.Diagnostic) bool { return slices.Contains(lint.Refusals, d.Rule) }); i >= 0 {
						t.Errorf("%s with %s at %s, lossless: %v: %s", model, name[1], speed, lossless, m.Diags[i].Summary)
					}
				}
			}
		}
	}
	for os := range firstPort {
		if right[os] == 0 {
			t.Errorf("no fabric of %s was built", os)
		}
	}
	t.Log(right)
}

// autoPair is two switches with a cable, and a contract that leaves every figure to rocec.
func autoPair(model, os, port, speed string, lossless bool) string {
	return fmt.Sprintf(`
qos "roce" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
    lossless  = %[5]v
    ecn       = "auto"
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
switch "s" {
  for_each = toset(["a", "b"])
  model    = %[1]q
  os       = %[2]q
  port %[3]q {
    admin  = "up"
    speed   = %[4]q
    qos     = qos.roce
    address = each.key == "a" ? "10.0.0.0/31" : "10.0.0.1/31"
  }
}
link "ab" {
  ends  = [switch.s["a"].port[%[3]q], switch.s["b"].port[%[3]q]]
  cable = { media = "dac", length = "2m" }
}
`, model, os, port, speed, lossless)
}
