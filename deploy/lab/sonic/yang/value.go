package yang

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// position is a schema node with its ancestors below the top container, and the module whose names its types use.
type position struct {
	mod  *module
	path []*stmt
}

func (p position) last() *stmt { return p.path[len(p.path)-1] }

func (p position) child(s *stmt) position {
	return position{p.mod, append(p.path[:len(p.path):len(p.path)], s)}
}

// value encodes the text of one leaf, or of one element of a leaf-list, as RFC 7951 section 6 wants it for the leaf's type. Text that
// the type does not take stays a string: yanglint then rejects it with the model's own message.
func (ms *models) value(at position, text string) (any, error) {
	typ := at.last().one("type")
	if typ == nil {
		return nil, fmt.Errorf("%s has no type in the models", at.last().arg)
	}
	v, _, err := ms.encode(at, typ, text)
	return v, err
}

// encode returns the encoded text and whether the type takes text of that form, which picks the member of a union.
func (ms *models) encode(at position, typ *stmt, text string) (any, bool, error) {
	switch typ.arg {
	case "int8", "int16", "int32", "uint8", "uint16", "uint32":
		if canonicalInteger(text) {
			return json.Number(text), true, nil
		}
		return text, false, nil
	case "boolean":
		switch text {
		case "true", "false":
			return text == "true", true, nil
		}
		return text, false, nil
	case "enumeration":
		for _, e := range typ.sub {
			if e.keyword == "enum" && e.arg == text {
				return text, true, nil
			}
		}
		return text, false, nil
	case "string":
		return text, matches(typ, text), nil
	case "int64", "uint64", "decimal64":
		return text, true, nil
	case "leafref":
		target, err := ms.target(at, typ.argOf("path"))
		if err != nil {
			return nil, false, err
		}
		return ms.encode(target, target.last().one("type"), text)
	case "union":
		for _, m := range typ.sub {
			if m.keyword != "type" {
				continue
			}
			v, ok, err := ms.encode(at, m, text)
			if ok || err != nil {
				return v, ok, err
			}
		}
		return text, false, nil
	}
	return ms.derived(at, typ, text)
}

// derived encodes for a typedef. The two ietf modules are built into libyang, so theirs are known here by name.
func (ms *models) derived(at position, typ *stmt, text string) (any, bool, error) {
	prefix, name, imported := strings.Cut(typ.arg, ":")
	mod := at.mod
	if imported {
		owner := at.mod.imports[prefix]
		if owner == "ietf-inet-types" || owner == "ietf-yang-types" {
			switch name {
			case "as-number", "port-number":
				return ms.encode(at, &stmt{keyword: "type", arg: "uint32"}, text)
			case "ip-address", "ipv4-address", "ipv6-address", "ip-prefix", "mac-address":
				return text, true, nil
			}
			return nil, false, fmt.Errorf("type %s of %s is not known here", name, owner)
		}
		mod = ms.modules[owner]
	} else {
		name = typ.arg
	}
	if mod == nil || mod.typedefs[name] == nil {
		return nil, false, fmt.Errorf("%s line %d: no type %s", at.mod.name, typ.line, typ.arg)
	}
	return ms.encode(position{mod, at.path}, mod.typedefs[name].one("type"), text)
}

// target finds the leaf a leafref points at. Predicates do not occur in the vendored models and are an error.
func (ms *models) target(at position, path string) (position, error) {
	steps := strings.Split(path, "/")
	if steps[0] == "" { // absolute: /prefix:module/prefix:TABLE/...
		prefix, top := qualified(steps[1])
		mod := at.mod
		if prefix != "" {
			mod = ms.modules[at.mod.imports[prefix]]
		}
		if mod == nil || top != mod.name {
			return position{}, fmt.Errorf("leafref path %s leads nowhere in the models", path)
		}
		return ms.fromTable(steps[2:], path)
	}
	for len(steps) > 0 && steps[0] == ".." {
		steps = steps[1:]
		if len(at.path) == 1 { // above a table is the module's container, whose children are the tables
			return ms.fromTable(steps, path)
		}
		at.path = at.path[:len(at.path)-1]
	}
	return ms.descend(at, steps, path)
}

// fromTable follows steps whose first is a table's name.
func (ms *models) fromTable(steps []string, path string) (position, error) {
	if len(steps) == 0 {
		return position{}, fmt.Errorf("leafref path %s names no table", path)
	}
	_, name := qualified(steps[0])
	tab, ok := ms.tables[name]
	if !ok {
		return position{}, fmt.Errorf("leafref path %s: no table %s", path, name)
	}
	return ms.descend(position{tab.mod, []*stmt{tab.node}}, steps[1:], path)
}

// descend follows the names of steps down from a node to a leaf.
func (ms *models) descend(from position, steps []string, path string) (position, error) {
	for _, step := range steps {
		_, name := qualified(step)
		nodes, err := from.mod.nodes(from.last())
		if err != nil {
			return position{}, err
		}
		var next *stmt
		for _, n := range nodes {
			if n.arg == name {
				next = n
			}
		}
		if next == nil {
			return position{}, fmt.Errorf("leafref path %s: no node %s below %s", path, name, from.last().arg)
		}
		from = from.child(next)
	}
	if from.last().one("type") == nil {
		return position{}, fmt.Errorf("leafref path %s ends at %s, which is no leaf", path, from.last().arg)
	}
	return from, nil
}

// qualified splits prefix:name; a name alone has no prefix.
func qualified(s string) (prefix, name string) {
	if prefix, name, ok := strings.Cut(s, ":"); ok {
		return prefix, name
	}
	return "", s
}

// canonicalInteger says whether text is a JSON integer: no sign but minus, no leading zero.
func canonicalInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}

// matches says whether text fits every pattern of a string type. XSD patterns are anchored; those that Go's regexp does not
// understand are taken to match, and yanglint decides.
func matches(typ *stmt, text string) bool {
	for _, p := range typ.sub {
		if p.keyword != "pattern" {
			continue
		}
		re, err := regexp.Compile("^(?:" + p.arg + ")$")
		if err == nil && !re.MatchString(text) {
			return false
		}
	}
	return true
}
