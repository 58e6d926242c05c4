package cumulus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/rocec/rocec/compiler/intent"
)

// tree is a configuration of NVUE: objects by key, and values.
type tree struct {
	kids   map[string]*tree // nil: a value
	text   string
	number bool
}

func object() *tree { return &tree{kids: map[string]*tree{}} }

func (t *tree) clone() *tree {
	c := *t
	if t.kids != nil {
		c.kids = make(map[string]*tree, len(t.kids))
		for k, v := range t.kids {
			c.kids[k] = v.clone()
		}
	}
	return &c
}

func (t *tree) equal(o *tree) bool {
	return t.text == o.text && (t.kids == nil) == (o.kids == nil) && maps.EqualFunc(t.kids, o.kids, (*tree).equal)
}

// at is what lies under a path; nil for nothing.
func (t *tree) at(path ...string) *tree {
	for _, p := range path {
		if t == nil {
			return nil
		}
		t = t.kids[p]
	}
	return t
}

func (t *tree) keys() []string {
	return slices.SortedFunc(maps.Keys(t.kids), intent.Natural)
}

// limits of a file: NVUE's own tree is some 15 levels deep.
const (
	maxDepth = 40
	maxNames = 4096
	maxKeys  = 1 << 17 // of a file, ranges taken apart
)

var errShape = errors.New("unable to parse the file: it is not a list of set and unset")

// change is one file for nv config patch.
type change struct{ set, unset *tree }

// readChange reads YAML: a list of header, set and unset maps.
func readChange(b []byte) (*change, error) {
	var top yaml.Node
	err := yaml.NewDecoder(bytes.NewReader(b)).Decode(&top)
	switch {
	case errors.Is(err, io.EOF):
		return nil, errShape
	case err != nil:
		return nil, err
	case len(top.Content) != 1 || top.Content[0].Kind != yaml.SequenceNode:
		return nil, errShape
	}
	c, left := &change{object(), object()}, maxKeys
	for _, part := range top.Content[0].Content {
		if part.Kind != yaml.MappingNode {
			return nil, errShape
		}
		for i := 0; i+1 < len(part.Content); i += 2 {
			var into *tree
			switch part.Content[i].Value {
			case "header":
				continue
			case "set":
				into = c.set
			case "unset":
				into = c.unset
			default:
				return nil, errShape
			}
			if err := into.read(part.Content[i+1], "", 0, &left); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// collections are those whose keys may stand for several.
var collections = []string{"interface", "vlan", "member", "dscp", "pcp", "traffic-class", "switch-priority"}

func (t *tree) read(n *yaml.Node, key string, depth int, left *int) error {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("line %d: nested too deep", n.Line)
	case n.Kind == yaml.ScalarNode:
		if n.Tag != "!!null" {
			t.kids, t.text, t.number = nil, n.Value, n.Tag == "!!int"
		}
		return nil
	case n.Kind != yaml.MappingNode:
		return fmt.Errorf("line %d: a list or an alias where keys are wanted", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		names := []string{n.Content[i].Value}
		if slices.Contains(collections, key) {
			all, err := expand(names[0])
			if err != nil {
				return fmt.Errorf("line %d: %w", n.Content[i].Line, err)
			}
			names = all
		}
		for _, name := range names {
			if *left--; *left < 0 {
				return fmt.Errorf("line %d: more than %d keys", n.Line, maxKeys)
			}
			kid := t.kids[name]
			if kid == nil || kid.kids == nil {
				kid = object()
			}
			if t.kids == nil {
				t.kids = map[string]*tree{}
			}
			t.kids[name] = kid
			if err := kid.read(n.Content[i+1], name, depth+1, left); err != nil {
				return err
			}
		}
	}
	return nil
}

var span = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*?[A-Za-z_]|[A-Za-z]+|)(\d+)(?:-([A-Za-z][A-Za-z_]*)?(\d+))?$`)

// expand takes a range of names apart: "swp1-2,31-32", "10,20", "swp1s0-3".
func expand(s string) ([]string, error) {
	if !strings.ContainsAny(s, ",-") {
		return []string{s}, nil
	}
	var list []string
	prefix := ""
	for part := range strings.SplitSeq(s, ",") {
		m := span.FindStringSubmatch(part)
		if m == nil {
			if !strings.Contains(s, ",") {
				return []string{s}, nil // a name with a hyphen in it
			}
			list = append(list, part)
			continue
		}
		if m[1] != "" {
			prefix = m[1]
		}
		from, err := strconv.Atoi(m[2])
		to := from
		if err == nil && m[4] != "" {
			to, err = strconv.Atoi(m[4])
		}
		if err != nil || to < from || to-from+len(list) > maxNames {
			return nil, fmt.Errorf("%q is no range", s)
		}
		for n := from; n <= to; n++ {
			list = append(list, prefix+strconv.Itoa(n))
		}
	}
	return list, nil
}

// merge sets what another tree has.
func (t *tree) merge(o *tree) {
	if o.kids == nil {
		*t = *o
		return
	}
	if t.kids == nil {
		t.kids = map[string]*tree{}
	}
	for k, v := range o.kids {
		if t.kids[k] == nil {
			t.kids[k] = object()
		}
		if v.kids == nil {
			t.kids[k] = v.clone()
		} else {
			if t.kids[k].kids == nil {
				t.kids[k] = object()
			}
			t.kids[k].merge(v)
		}
	}
}

// remove takes out what another tree names, down to where that ends.
func (t *tree) remove(o *tree) {
	for k, v := range o.kids {
		switch {
		case t.kids[k] == nil:
		case len(v.kids) == 0:
			delete(t.kids, k)
		default:
			t.kids[k].remove(v)
		}
	}
}

// minus is what t has and o has not, by names; with values, whole and with what
// has another value. Nil for nothing.
func (t *tree) minus(o *tree, values bool) *tree {
	if o == nil {
		if !values {
			return object() // all of it, which its name says
		}
		return t.clone()
	}
	if t.kids == nil || o.kids == nil {
		if values && !t.equal(o) {
			return t.clone()
		}
		return nil
	}
	var out *tree
	for k, v := range t.kids {
		if d := v.minus(o.kids[k], values); d != nil {
			if out == nil {
				out = object()
			}
			out.kids[k] = d
		}
	}
	return out
}

// node is the tree as YAML.
func (t *tree) node(gone bool) *yaml.Node {
	if t.kids == nil {
		if gone {
			return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		}
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: t.text, Tag: "!!str"}
		switch {
		case t.number:
			n.Tag = "!!int"
		case strings.Contains(t.text, "\n"):
			n.Style = yaml.DoubleQuotedStyle // the library writes a block that begins with a tab, and does not read it
		case plain.MatchString(t.text) && !strings.EqualFold(t.text, "null"):
			n.Tag = "" // NVUE writes its words without quotes
		}
		return n
	}
	n := &yaml.Node{Kind: yaml.MappingNode}
	if len(t.kids) == 0 {
		n.Style = yaml.FlowStyle
	}
	for _, k := range t.keys() {
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: k, Tag: "!!str"}
		if !plain.MatchString(k) {
			key.Style = yaml.SingleQuotedStyle
		}
		n.Content = append(n.Content, key, t.kids[k].node(gone))
	}
	return n
}

var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// yaml writes parts as nv config show and diff do.
func (t *tree) yaml(title string) string {
	list := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{{Kind: yaml.MappingNode, Content: []*yaml.Node{
		{Kind: yaml.ScalarNode, Value: title}, t.node(title == "unset"),
	}}}}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(list); err != nil {
		return "" // nodes that were made here
	}
	_ = enc.Close()
	return b.String()
}

// MarshalJSON writes objects, numbers and texts.
func (t *tree) MarshalJSON() ([]byte, error) {
	switch {
	case t.kids != nil:
		return json.Marshal(t.kids)
	case t.number:
		if _, err := strconv.ParseInt(t.text, 10, 64); err == nil {
			return []byte(t.text), nil
		}
	}
	return json.Marshal(t.text)
}

// commands are nv set lines.
func (t *tree) commands(verb string) []string {
	var list []string
	var walk func(t *tree, path string)
	walk = func(t *tree, path string) {
		switch {
		case t.kids == nil && verb == "set":
			list = append(list, path+" "+t.text)
		case len(t.kids) == 0:
			list = append(list, path)
		}
		for _, k := range t.keys() {
			walk(t.kids[k], path+" "+k)
		}
	}
	walk(t, "nv "+verb)
	return list
}
