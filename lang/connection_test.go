package lang

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/schema"
)

// reached evaluates the connection of every device that writes one, and prints
// it and what is wrong with it.
func reached(c *Config, files fstest.MapFS) string {
	var b strings.Builder
	for id := BlockID(1); int(id) < len(c.Blocks); id++ {
		v := c.Attr(id, schema.AConnection)
		if v.Kind != Handle || !c.Block(id).Kind.Device() {
			continue
		}
		way, ds := c.Connection(BlockID(v.N), id)
		fmt.Fprintf(&b, "%s %s\n", c.Address(id), showConnection(c, &way))
		b.WriteString(showDiags(c, ds, files))
	}
	return b.String()
}

func showConnection(c *Config, w *Connection) string {
	s := c.Address(w.Block) + ":"
	for _, f := range []struct {
		name string
		v    any
	}{
		{"address", w.Address},
		{"port", w.Port},
		{"user", w.User},
		{"identity", w.Identity},
		{"agent", w.Agent},
		{"password_env", w.PasswordEnv},
		{"password_command", w.PasswordCommand},
		{"enable_env", w.EnableEnv},
		{"known_hosts", w.KnownHosts},
		{"host_key", w.HostKey},
	} {
		if text := fmt.Sprint(f.v); text != "" && text != "0" && text != "false" && text != "[]" {
			s += " " + f.name + "=" + text
		}
	}
	for i := range w.Jump {
		s += " jump{" + showConnection(c, &w.Jump[i]) + "}"
	}
	return s
}

// withConnection is a fabric of n nodes whose addresses depend on them, with the
// connection and without.
func withConnection(n int, with bool) fstest.MapFS {
	text := ""
	if with {
		text = "connection \"oob\" {\n  address = \"${self.name}.oob.example.net\"\n  user = \"rocec-${self.os}\"\n}\n"
	}
	text += fmt.Sprintf("node \"n\" {\n  for_each = toset(expand_range(\"n[1-%d]\"))\n  os = \"ubuntu/24.04\"\n", n)
	if with {
		text += "  connection = connection.oob\n"
	}
	text += "}\n"
	return fstest.MapFS{"a.roce.hcl": {Data: []byte(text)}}
}

// TestConnectionLater: who contacts no device pays nothing for connections. Per
// device, loading takes no more memory with one than without.
func TestConnectionLater(t *testing.T) {
	const n = 2000
	load := func(with bool) (*Config, float64) {
		files := withConnection(n, with)
		var c *Config
		allocs := testing.AllocsPerRun(3, func() { c = mustLoad(t, Options{FS: files, Workers: 1}) })
		return c, allocs
	}
	_, without := load(false)
	c, with := load(true)
	if more := with - without; more > n/10 {
		t.Errorf("a connection costs %.0f allocations of %.0f when %d devices are loaded", more, with, n)
	}
	before := len(c.strings)
	for id := range c.Blocks {
		if c.Blocks[id].Kind != schema.Node {
			continue
		}
		w, ds := c.Connection(c.Top[0], BlockID(id))
		if name := c.String(c.Blocks[id].Name); ds.HasErrors() || w.Address != name+".oob.example.net" || w.User != "rocec-ubuntu/24.04" {
			t.Fatalf("%s: %+v, %v", name, w, ds)
		}
	}
	if len(c.late.strs) != before {
		t.Errorf("evaluating connections adds %d strings to those of the configuration, which others read", len(c.late.strs)-before)
	}
}

// TestConnectionOfNothing: numbers that no connection has give a finding.
func TestConnectionOfNothing(t *testing.T) {
	c := mustLoad(t, Options{FS: withConnection(2, true)})
	for _, block := range []BlockID{0, c.Top[1], BlockID(len(c.Blocks))} {
		if _, ds := c.Connection(block, c.Top[1]); !ds.HasErrors() {
			t.Errorf("block %d is taken for a connection", block)
		}
	}
	if _, ds := mustLoad(t, Options{FS: withConnection(2, false)}).Connection(1, 1); !ds.HasErrors() {
		t.Error("a connection is found where none is written")
	}
}

func BenchmarkConnection(b *testing.B) {
	c := mustLoad(b, Options{FS: withConnection(1000, true)})
	b.ReportAllocs()
	for b.Loop() {
		c.Connection(c.Top[0], c.Top[1])
	}
}
