package oracle

import (
	"os"
	"path/filepath"
	"testing"
)

// Graphviz lays a graph out. It fails t with the message when the text is no graph or Graphviz warns of something in it, and else
// returns the graph as Graphviz writes it.
func Graphviz(t testing.TB, graph []byte) string {
	t.Helper()
	Need(t, "dot")
	dir := t.TempDir()
	path := filepath.Join(dir, "graph.dot")
	if err := os.WriteFile(path, graph, 0o600); err != nil {
		t.Fatal(err)
	}
	laid := filepath.Join(dir, "laid.dot")
	said, err := run(dir, nil, "dot", "-Tdot", "-o", laid, path)
	if err != nil || said != "" {
		t.Fatalf("Graphviz on the graph: %v\n%s", err, said)
	}
	out, err := os.ReadFile(laid)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
