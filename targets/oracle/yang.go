package oracle

import (
	"context"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/lab/sonic/yang"
)

// Yang fails t unless the SONiC YANG models accept configDB, the text of a config_db.json: every table and field is known, every
// value has its type, range and pattern, every reference leads to a row, every must and when holds.
func Yang(t testing.TB, configDB []byte) {
	t.Helper()
	c := NewYang(t)
	defer c.Close() // not only at the end of a test that asks often
	ctx, cancel := context.WithTimeout(context.Background(), checkSeconds*time.Second)
	defer cancel()
	if err := c.Valid(ctx, configDB); err != nil {
		t.Errorf("config_db.json is not what the SONiC models accept: %v", err)
	}
}

// NewYang is what Yang asks, for simulated switches to ask: it is there until t ends. It skips t, as Need does, without yanglint.
func NewYang(t testing.TB) *yang.Check {
	t.Helper()
	Need(t, yang.Program)
	c, err := yang.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
