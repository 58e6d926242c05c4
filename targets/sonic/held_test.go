package sonic

import (
	"encoding/csv"
	"os"
	"slices"
	"testing"
)

// TestHeld: the facts that a simulated switch holds values against, which a test there compares with SONiC's models leaf by leaf, are
// those of every table that is written.
func TestHeld(t *testing.T) {
	f, err := os.Open("../../deploy/lab/sonic/models.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	facts, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range order {
		if !slices.ContainsFunc(facts, func(f []string) bool { return f[0] == table && f[1] != "" }) {
			t.Errorf("models.csv holds no field of %s", table)
		}
	}
}
