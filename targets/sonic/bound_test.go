package sonic

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// TestManyOddRows: of a capture with thousands of odd fields all are counted, and
// the places of the first are looked up.
func TestManyOddRows(t *testing.T) {
	const n = 3 * diag.MostKept
	ports := map[string]any{}
	for i := range n {
		ports[fmt.Sprint("Ethernet", i)] = map[string]string{"speed": "red", "lanes": fmt.Sprint(i)}
	}
	text, err := json.Marshal(map[string]any{"PORT": ports})
	if err != nil {
		t.Fatal(err)
	}
	labels := 0
	d := &intent.Device{Version: intent.Version, Name: "tor", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202505"}}
	_, list := parse(d, targets.Captured{Files: map[string][]byte{running: text}, Label: func(string, int, int) diag.Label {
		labels++
		return diag.Label{Where: running}
	}})
	count := 0
	for _, f := range list {
		count += max(f.Count, 1)
	}
	if count != n || len(list) != diag.MostKept+1 || labels > diag.MostKept {
		t.Errorf("%d findings for %d of %d odd ports, with %d places", len(list), count, n, labels)
	}
}
