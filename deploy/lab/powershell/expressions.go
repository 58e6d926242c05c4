package powershell

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

func (r *Runner) assign(to Node, v any) {
	switch n := to.(type) {
	case *Var:
		s := r.scope
		switch n.Scope {
		case "script":
			s = r.script
		case "global":
			s = r.global
		}
		s.vars[n.Name] = v
	case *member:
		o := r.object(n.of)
		if n.dyn != nil {
			n = &member{of: n.of, name: String(r.eval(n.dyn))}
		}
		if _, known := o.values[strings.ToLower(n.name)]; !known && !o.table {
			Throw("The property '%s' cannot be found on this object. Verify that the property exists and can be set.", n.name)
		}
		o.Set(n.name, v)
	case *index:
		r.object(n.of).Set(String(r.eval(n.at)), v)
	default:
		panic(thrown{message: "The assignment expression is not valid.", id: "InvalidLeftHandSide"})
	}
}

func (r *Runner) lookup(in, name string) any {
	if in == "env" {
		if v, ok := r.Env[name]; ok {
			return v
		}
		return nil
	}
	switch name {
	case "pscmdlet":
		return r
	case "?":
		return r.well
	}
	s := r.scope
	switch in {
	case "script":
		s = r.script
	case "global":
		s = r.global
	}
	for ; s != nil; s = s.up {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	if v, ok := r.global.vars[name]; ok {
		return v
	}
	panic(thrown{message: fmt.Sprintf("The variable '$%s' cannot be retrieved because it has not been set.", name), id: "VariableIsUndefined"})
}

// object is what an assignment changes.
func (r *Runner) object(n Node) *Object {
	o, ok := r.eval(n).(*Object)
	if !ok {
		Throw("The property cannot be found on this object. Verify that the property exists and can be set.")
	}
	return o
}

// longestRange is how many numbers a .. b may make.
const longestRange = 100_000

func pattern(text string) *regexp.Regexp {
	p, err := regexp.Compile("(?i)" + text)
	if err != nil {
		Throw("parsing \"%s\": %v", text, err)
	}
	return p
}

func (r *Runner) eval(n Node) any {
	switch n := n.(type) {
	case *Literal:
		return n.Value
	case *Var:
		return r.lookup(n.Scope, n.Name)
	case *Block:
		return n
	case *paren:
		return r.quiet(func() any { return collect(r.body(n.body)) })
	case *Array:
		out := r.body(n.Body)
		if out == nil {
			out = []any{}
		}
		return out
	case *Comma:
		out := make([]any, len(n.Items))
		for i, x := range n.Items {
			out[i] = r.eval(x)
		}
		return out
	case *Hash:
		o := NewObject()
		o.table = true
		for i, k := range n.Keys {
			key := String(r.eval(k))
			if _, twice := o.values[strings.ToLower(key)]; twice {
				panic(thrown{message: fmt.Sprintf("Duplicate keys '%s' are not allowed in hash literals.", key), id: "DuplicateKeyInHashLiteral", ends: true})
			}
			o.Set(key, r.eval(n.Values[i]))
		}
		return o
	case *cast:
		return convert(n.typ, r.eval(n.x))
	case *Unary:
		v := r.eval(n.X)
		if n.op == "-not" {
			return !True(v)
		}
		return -Int(v)
	case *binary:
		return r.binary(n)
	case *index:
		return element(r.eval(n.of), r.eval(n.at))
	case *member:
		return r.member(n)
	case *static:
		return r.static(n)
	}
	return collect(r.statement(n))
}

func (r *Runner) binary(n *binary) any {
	a := r.eval(n.a)
	switch n.op {
	case "-and":
		return True(a) && True(r.eval(n.b))
	case "-or":
		return True(a) || True(r.eval(n.b))
	}
	b := r.eval(n.b)
	if holds := comparison(n.op); holds != nil {
		list, ok := a.([]any)
		if !ok {
			return holds(a, b)
		}
		out := []any{} // those of a list that it holds for
		for _, x := range list {
			if holds(x, b) {
				out = append(out, x)
			}
		}
		return out
	}
	switch n.op {
	case "-contains", "-notcontains":
		return slices.ContainsFunc(Spread(a), func(x any) bool { return equal(x, b) }) == (n.op == "-contains")
	case "-replace":
		pair := append(slices.Clone(Spread(b)), "")
		return pattern(String(pair[0])).ReplaceAllString(String(a), String(pair[1]))
	case "-join":
		var words []string
		for _, x := range Spread(a) {
			words = append(words, String(x))
		}
		return strings.Join(words, String(b))
	case "-is":
		return is(a, String(b))
	case "-f":
		return format(String(a), Spread(b))
	case "+", "-", "/", "*", "%":
		return arithmetic(n.op, a, b)
	case "..":
		from, to := Int(a), Int(b)
		if to-from > longestRange || from-to > longestRange {
			Throw("the range is too long")
		}
		step := int64(1)
		if to < from {
			step = -1
		}
		out := []any{from}
		for i := from; i != to; {
			i += step
			out = append(out, i)
		}
		return out
	}
	panic(thrown{message: "unknown operator " + n.op, id: "ParserError"})
}

// is tells whether a value is of a type, as -is does.
func is(v any, typ string) bool {
	found := ""
	switch v.(type) {
	case []any:
		found = "array"
	case string:
		found = "string"
	case bool:
		found = "bool"
	case char:
		found = "char"
	case *Object, *Block, nil:
	default:
		typ = "" // a number: of which width is not kept here
	}
	switch typ {
	case "array", "string", "bool", "char":
		return found == typ
	case "object[]":
		return found == "array"
	}
	Throw("-is [%s] is not known", typ)
	return false
}

// comparison is an operator that compares, nil for another one.
func comparison(op string) func(a, b any) bool {
	switch op {
	case "-eq":
		return equal
	case "-ne":
		return func(a, b any) bool { return !equal(a, b) }
	case "-gt":
		return func(a, b any) bool { return order(a, b) > 0 }
	case "-ge":
		return func(a, b any) bool { return order(a, b) >= 0 }
	case "-lt":
		return func(a, b any) bool { return order(a, b) < 0 }
	case "-le":
		return func(a, b any) bool { return order(a, b) <= 0 }
	case "-like":
		return func(a, b any) bool { return Like(String(a), String(b)) }
	case "-match":
		return func(a, b any) bool { return pattern(String(b)).MatchString(String(a)) }
	case "-notmatch":
		return func(a, b any) bool { return !pattern(String(b)).MatchString(String(a)) }
	}
	return nil
}

func element(of, at any) any {
	switch of := of.(type) {
	case []any:
		i := int(Int(at))
		if i < 0 {
			i += len(of)
		}
		if i < 0 || i >= len(of) {
			Throw("Index was outside the bounds of the array.")
		}
		return of[i]
	case *Object:
		if of.table {
			return of.values[strings.ToLower(String(at))] // a missing key is $null
		}
	case properties:
		v, known := of.of.values[strings.ToLower(String(at))]
		if !known {
			return nil
		}
		return NewObject("Value", v)
	case nil:
		Throw("Cannot index into a null array.")
	}
	Throw("Unable to index into an object of type %T.", of)
	return nil
}

func (r *Runner) member(n *member) any {
	of, name := r.eval(n.of), n.name
	if n.dyn != nil {
		name = String(r.eval(n.dyn))
	}
	var args []any
	for _, a := range n.args {
		args = append(args, r.eval(a))
	}
	name = strings.ToLower(name)
	switch of := of.(type) {
	case nil:
		Throw("The property '%s' cannot be found on this object. Verify that the property exists.", name)
	case *Runner:
		if name == "shouldprocess" {
			return !True(r.lookup("", "whatifpreference"))
		}
	case *Object:
		switch {
		case name == "psobject":
			return NewObject("Properties", properties{of})
		case n.call && name == "containskey" && len(args) == 1:
			_, ok := of.values[strings.ToLower(String(args[0]))]
			return ok
		case !n.call:
			if v, ok := of.values[name]; ok {
				return v
			}
			if v, ok := of.tableMember(name); ok {
				return v
			}
		}
	case []any:
		if name == "count" || name == "length" {
			return int64(len(of))
		}
		if name == "psobject" {
			return NewObject("Properties", properties{NewObject("Count", int64(len(of)), "Length", int64(len(of)))})
		}
		// Of every element; strict mode wants one.
		if len(of) == 0 {
			Throw("The property '%s' cannot be found on this object. Verify that the property exists.", name)
		}
		out := make([]any, 0, len(of))
		for _, x := range of {
			out = append(out, r.member(&member{of: &Literal{x}, name: name}))
		}
		return collect(out)
	case string:
		if v, ok := stringMember(of, name, args); ok {
			return v
		}
	case Members:
		if v, ok := of.Member(name, args); ok {
			return v
		}
	}
	Throw("The property '%s' cannot be found on this object. Verify that the property exists.", name)
	return nil
}

// tableMember is what a hashtable has besides its keys.
func (o *Object) tableMember(name string) (any, bool) {
	if !o.table {
		return nil, false
	}
	out := []any{}
	switch name {
	case "count":
		return int64(len(o.keys)), true
	case "keys":
		for _, k := range o.shown() {
			out = append(out, k)
		}
		return out, true
	case "values":
		for _, k := range o.shown() {
			out = append(out, o.values[strings.ToLower(k)])
		}
		return out, true
	}
	return nil, false
}
