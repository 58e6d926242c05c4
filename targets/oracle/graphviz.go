package oracle

import (
	"os"
	"path/filepath"
	"testing"
)

// Graphviz reads a graph with Graphviz's own parser, which lays nothing out. It fails t with its message when the text is no graph, and
// else returns the graph as Graphviz writes it.
func Graphviz(t testing.TB, graph []byte) string {
	t.Helper()
	Need(t, "dot")
	dir := t.TempDir()
	path := filepath.Join(dir, "graph.dot")
	if err := os.WriteFile(path, graph, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run(dir, nil, "dot", "-Tcanon", "-q", path)
	if err != nil {
		t.Fatalf("Graphviz refuses the graph: %v", err)
	}
	return out
}
