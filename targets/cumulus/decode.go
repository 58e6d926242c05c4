package cumulus

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// maxDepth and maxKeys bound what a capture may hold: NVUE's tree is some 15
// levels deep, and the keys of a switch are counted in thousands.
const maxDepth, maxKeys = 40, 1 << 20

// document is a captured configuration: the tree of its sets, with every key
// that stands for several taken apart, and where each value stood.
type document struct {
	root  *node
	place map[*node]int // offset in the capture
	file  string        // of the capture
	text  []byte
	label func(file string, offset, length int) diag.Label
	lines []int
	list  diag.List
	said  map[string]bool // place and summary of each warning
	// unread is what was not understood, and why.
	unread map[*node]string
	keys   int
}

// decode reads the output of nv config show, as JSON or as YAML: a list with a
// header and a set map, or the set map alone. A shell's prompt before it is
// passed over.
func decode(file string, captured []byte, label func(string, int, int) diag.Label) *document {
	d := &document{root: &node{}, place: map[*node]int{}, said: map[string]bool{}, unread: map[*node]string{}, file: file, text: captured, label: label, lines: []int{0}}
	for i, c := range captured {
		if c == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	var top yamlv3.Node
	if err := yamlv3.Unmarshal(blanked(captured), &top); err != nil {
		d.fail(0, fmt.Sprintf("%s is neither JSON nor YAML: %v", file, err))
		return d
	}
	if len(top.Content) == 0 {
		d.fail(0, file+" is empty")
		return d
	}
	found := false
	switch body := top.Content[0]; body.Kind {
	case yamlv3.SequenceNode:
		for _, part := range body.Content {
			found = d.part(part) || found
		}
	case yamlv3.MappingNode:
		found = d.part(body)
	}
	if !found && len(d.list) == 0 {
		d.fail(0, file+" holds no set of NVUE")
	}
	return d
}

// blanked is a capture with what stands before its first line of data made
// blank: prompts and banners, which hold neither "[" nor "- " at their start.
func blanked(captured []byte) []byte {
	text := slices.Clone(captured)
	for start := 0; start < len(text); {
		end := bytes.IndexByte(text[start:], '\n')
		if end < 0 {
			end = len(text) - start
		}
		line := bytes.TrimSpace(text[start : start+end])
		switch {
		case len(line) == 0 || line[0] == '#' || bytes.HasPrefix(line, []byte("---")):
		case line[0] == '[' || line[0] == '{' || bytes.HasPrefix(line, []byte("- ")) || bytes.Equal(line, []byte("set:")) || bytes.Equal(line, []byte("header:")):
			return text
		default:
			for i := start; i < start+end; i++ {
				text[i] = ' '
			}
		}
		start += end + 1
	}
	return captured
}

// part reads one entry of the list. What is under unset is gone.
func (d *document) part(part *yamlv3.Node) (found bool) {
	if part.Kind != yamlv3.MappingNode {
		return false
	}
	for i := 0; i+1 < len(part.Content); i += 2 {
		if key := part.Content[i].Value; key == "set" {
			found = true
			d.add(d.root, part.Content[i+1], 0)
		}
	}
	return found
}

// add puts a part of the capture under a node.
func (d *document) add(n *node, v *yamlv3.Node, depth int) {
	switch {
	case depth > maxDepth || d.keys > maxKeys:
		if len(d.list) == 0 {
			d.fail(d.offset(v), d.file+" is nested too deep or too long")
		}
	case v.Kind == yamlv3.ScalarNode:
		if v.Tag != "!!null" {
			n.form, n.text = name, v.Value
		}
		d.place[n] = d.offset(v)
	case v.Kind == yamlv3.MappingNode:
		for i := 0; i+1 < len(v.Content); i += 2 {
			d.keyed(n, v.Content[i], v.Content[i+1], depth)
		}
	default:
		d.fail(d.offset(v), d.file+" has a list or an alias where NVUE has keys")
	}
}

// keyed puts a value under each name that a key stands for.
func (d *document) keyed(n *node, key, value *yamlv3.Node, depth int) {
	names := []string{key.Value}
	if ranges(n.key) {
		all, ok := expanded(key.Value)
		if !ok {
			d.place[n.kid(intent.Path{}, key.Value)] = d.offset(key)
			d.pass(n.get(key.Value), fmt.Sprintf("%q stands for no names", key.Value))
			return
		}
		names = all
	}
	for _, one := range names {
		d.keys++
		kid := n.kid(intent.Path{}, one)
		if _, known := d.place[kid]; !known {
			d.place[kid] = d.offset(key)
		}
		d.add(kid, value, depth+1)
	}
}

// ranges reports whether the keys of a collection may stand for several.
func ranges(collection string) bool {
	switch collection {
	case "interface", "vlan", "member", "dscp", "pcp", "traffic-class", "switch-priority":
		return true
	}
	return false
}

func (d *document) offset(v *yamlv3.Node) int {
	if v.Line < 1 || v.Line > len(d.lines) {
		return 0
	}
	return min(d.lines[v.Line-1]+max(v.Column-1, 0), len(d.text))
}

func (d *document) labels(offset int) []diag.Label {
	if d.label == nil {
		return []diag.Label{{Where: d.file}}
	}
	return []diag.Label{d.label(d.file, offset, 0)}
}

func (d *document) fail(offset int, summary string) {
	d.list.Add(diag.Diagnostic{Severity: diag.Error, Summary: summary, Help: "capture the whole output of " + map[string]string{running: capture, stored: captureStored}[d.file], Labels: d.labels(offset)})
}

// warn adds a finding once: a profile is read for every port that it is bound to.
func (d *document) warn(offset int, summary string) { d.helped(offset, summary, "") }

func (d *document) helped(offset int, summary, help string) {
	key := strconv.Itoa(offset) + summary
	if d.said[key] {
		return
	}
	d.said[key] = true
	d.list.Add(diag.Diagnostic{Severity: diag.Warning, Summary: summary, Help: help, Labels: d.labels(offset)})
}
