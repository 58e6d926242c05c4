// Package fabricgen writes large fabrics out block by block, as an exporter
// from an inventory would: no for_each, no ranges, no variables, one block for
// each node, NIC, switch, port and link, split over many files. It serves tests
// and benchmarks. The same Options give the same bytes.
//
// The fabrics are rail-optimised: 32 nodes share one leaf for each of their
// NICs, and every leaf has as many ports up as down. A fabric that fits four
// spines has two tiers; a larger one has pods of leaves and spines under cores.
// It writes no fabric that is wrong: mistakes are for the examples of the rules.
package fabricgen

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
)

// Options say how large a fabric is. The zero value of a field is its default.
type Options struct {
	Nodes   int // hosts; 32 unless set
	NICs    int // of each host, and so rails; 8 unless set
	PerFile int // blocks in one file, inner ones counted; 1000 unless set
}

// Size counts what was written.
type Size struct {
	Nodes, NICs, Switches, Ports, Links int // Ports: of switches, with a block of their own
	Files, Bytes                        int
}

// EndPorts is the number of ports that a cable joins, NICs included: the
// measure by which costs are compared.
func (s Size) EndPorts() int { return 2 * s.Links }

// Write writes the files of a fabric into a folder, which must exist.
func Write(dir string, o Options) (Size, error) {
	var size Size
	if o.Nodes < 0 || o.NICs < 0 || o.NICs > leafDown || o.PerFile < 0 {
		return size, fmt.Errorf("a fabric of %d nodes with %d NICs is not one that is laid out here: nodes have up to %d", o.Nodes, o.NICs, leafDown)
	}
	if p := layout(o.orDefaults()); p.coresOfPlane > leafDown {
		return size, fmt.Errorf("%d nodes with %d NICs are too many for three tiers of switches with %d ports; a preset has larger ones", p.nodes, p.rails, switchPorts)
	}
	for name, text := range Files(o, &size) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return size, fmt.Errorf("write fabric: %w", err)
		}
	}
	return size, nil
}

func (o Options) orDefaults() Options {
	o.Nodes, o.NICs, o.PerFile = or(o.Nodes, 32), or(o.NICs, 8), or(o.PerFile, 1000)
	return o
}

// Files yields the files of a fabric one by one, and counts them in size. The
// bytes are the caller's.
func Files(o Options, size *Size) iter.Seq2[string, []byte] {
	o = o.orDefaults()
	return func(yield func(string, []byte) bool) {
		*size = Size{}
		w := &writer{plan: layout(o), perFile: o.PerFile, size: size, yield: yield}
		w.contract()
		w.segments()
		w.nodes()
		w.switches()
		w.links()
	}
}

func or(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
