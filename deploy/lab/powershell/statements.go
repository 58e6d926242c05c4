package powershell

import (
	"slices"
)

// bind gives the parameters of a script or function their values.
func (r *Runner) bind(s *signature, given map[string]any) {
	for _, p := range s.params {
		v, ok := given[p.name]
		switch {
		case ok && p.typ != "":
			v = r.argument(p, v)
		case !ok && p.mandatory:
			r.mistake("Cannot process command because of one or more missing mandatory parameters: %s.", p.name)
		case !ok && p.value != nil:
			v = r.eval(p.value)
		case !ok:
			v = unset(p.typ)
		}
		r.scope.vars[p.name] = v
	}
	for name, v := range given {
		switch {
		case slices.ContainsFunc(s.params, func(p parameter) bool { return p.name == name }):
		case name == "whatif" && s.asks:
			r.scope.vars["whatifpreference"] = v
		default:
			r.mistake("A parameter cannot be found that matches parameter name '%s'.", name)
		}
	}
}

// argument is a value as a parameter of a type takes it. Neither a text nor $null
// stands for a boolean there, as they do in a cast.
func (r *Runner) argument(p parameter, v any) any {
	if p.typ != "switch" && p.typ != "bool" {
		return convert(p.typ, v)
	}
	switch v.(type) {
	case bool, int64:
		return True(v)
	}
	r.mistake("Cannot process argument transformation on parameter '%s'. Cannot convert value \"%s\" to type \"System.Boolean\".", p.name, String(v))
	return nil
}

// unset is what a parameter without a value has.
func unset(typ string) any {
	switch typ {
	case "string":
		return ""
	case "switch", "bool":
		return false
	}
	if _, number := integers[typ]; number {
		return int64(0)
	}
	return nil
}

func (r *Runner) in(f func()) {
	r.scope = &scope{vars: map[string]any{}, up: r.scope}
	was := r.scope.up
	defer func() { r.scope = was }()
	f()
}

// call runs a function or a script block in a scope of its own and collects
// what it puts out.
func (r *Runner) call(b *Block, given map[string]any) (out []any) {
	if r.depth++; r.depth > deepestCall {
		panic(thrown{message: "The script failed due to call depth overflow.", id: "CallDepthOverflow"})
	}
	defer func() { r.depth-- }()
	r.in(func() {
		r.bind(&b.signature, given)
		out = r.whole(b)
	})
	return out
}

// whole runs a block to its end, or to where it returns.
func (r *Runner) whole(b *Block) (out []any) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case returned:
			out = x.out
		default:
			panic(x)
		}
	}()
	return r.body(b.Body)
}

func (r *Runner) body(list []Node) (out []any) {
	for _, n := range list {
		r.catching(&out, n)
	}
	return out
}

// catching keeps what a body had put out before it returned.
func (r *Runner) catching(out *[]any, n Node) {
	defer func() {
		if x := recover(); x != nil {
			switch end := x.(type) {
			case returned:
				x = returned{append(slices.Clone(*out), end.out...)}
			case exited:
				x = exited{end.code, append(slices.Clone(*out), end.out...)}
			}
			panic(x)
		}
	}()
	*out = append(*out, r.statement(n)...)
}

// quiet is for output that goes somewhere: it is gone when the script exits.
func (r *Runner) quiet(f func() any) any {
	defer func() {
		if x := recover(); x != nil {
			if end, ok := x.(exited); ok {
				x = exited{code: end.code}
			}
			panic(x)
		}
	}()
	return f()
}

// statement runs a statement and returns what it puts into the pipeline.
func (r *Runner) statement(n Node) []any {
	switch n := n.(type) {
	case *assign:
		v := r.quiet(func() any { return r.eval(n.x) })
		if _, none := v.(Void); none {
			v = nil
		}
		if n.op != "" {
			v = arithmetic(n.op, r.eval(n.to), v)
		}
		r.assign(n.to, v)
		if !runs(n.x) {
			r.well = true
		}
		return nil
	case *function:
		r.funcs[n.name] = n.fn
		return nil
	case *branch:
		for i, c := range n.conds {
			if True(r.eval(c)) {
				return r.body(n.bodies[i])
			}
		}
		return r.body(n.other)
	case *foreach:
		var out []any
		var items []any
		if in := r.eval(n.in); in != nil {
			items = Spread(in)
		}
		r.loop(func() bool {
			if len(items) == 0 {
				return false
			}
			r.scope.vars[n.name] = items[0]
			items = items[1:]
			return true
		}, n.body, &out)
		return out
	case *while:
		var out []any
		r.loop(func() bool { return True(r.eval(n.cond)) }, n.body, &out)
		return out
	case *choice:
		v := r.eval(n.on)
		var out []any
		for i, c := range n.cases {
			// break and continue leave the switch and not the loop around it.
			if equal(v, r.eval(c)) && r.once(n.bodies[i], &out) {
				break
			}
		}
		return out
	case *attempt:
		return r.try(n)
	case *jump:
		r.jump(n)
	case *pipe:
		return r.pipe(n)
	case *command:
		return r.command(n, nil)
	}
	out := Spread(r.eval(n))
	r.well = true
	return out
}

// runs reports whether a statement is a command, which decides $?.
func runs(n Node) bool {
	switch n.(type) {
	case *command, *pipe:
		return true
	}
	return false
}

func (r *Runner) loop(next func() bool, body []Node, out *[]any) {
	for next() {
		r.Killed()
		if r.once(body, out) && r.broken {
			return
		}
	}
}

// once runs a body and reports whether break or continue ended it; broken is
// which of the two.
func (r *Runner) once(body []Node, out *[]any) (jumps bool) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case jumped:
			jumps, r.broken = true, x.word == "break"
		case returned:
			panic(returned{append(slices.Clone(*out), x.out...)})
		case exited:
			panic(exited{x.code, append(slices.Clone(*out), x.out...)})
		default:
			panic(x)
		}
	}()
	*out = append(*out, r.body(body)...)
	return false
}

func (r *Runner) try(n *attempt) (out []any) {
	if n.finally != nil {
		defer func() {
			x := recover()
			if _, killed := x.(ended); killed {
				panic(x) // nobody is there to do it
			}
			last := r.body(n.finally)
			switch x := x.(type) {
			case nil:
				out = append(out, last...)
			case returned:
				panic(returned{append(x.out, last...)})
			default:
				panic(x)
			}
		}()
	}
	at, merged, depth := r.scope, len(r.merged), r.depth
	defer func() {
		x := recover()
		if x == nil {
			return
		}
		t, ok := x.(thrown)
		if !ok || !n.catches {
			panic(x)
		}
		r.scope, r.merged, r.depth = at, r.merged[:merged], depth
		r.caught = append(r.caught, t)
		defer func() { r.caught = r.caught[:len(r.caught)-1] }()
		defer r.with("_", NewObject("Exception", NewObject("Message", t.message)))()
		out = r.body(n.catch)
	}()
	return r.body(n.body)
}

// with gives a variable a value until the function that it returns is called.
func (r *Runner) with(name string, v any) (back func()) {
	vars := r.scope.vars
	old, had := vars[name]
	vars[name] = v
	return func() {
		delete(vars, name)
		if had {
			vars[name] = old
		}
	}
}

func (r *Runner) jump(n *jump) {
	var v any
	if n.x != nil {
		v = r.eval(n.x)
	}
	switch n.word {
	case "return":
		if n.x == nil {
			panic(returned{})
		}
		panic(returned{Spread(v)})
	case "throw":
		if n.x == nil && len(r.caught) > 0 {
			panic(r.caught[len(r.caught)-1]) // once more
		}
		if n.x == nil {
			v = "ScriptHalted"
		}
		panic(thrown{message: String(v)})
	case "exit":
		panic(exited{code: int(Int(v))})
	}
	panic(jumped{n.word})
}
