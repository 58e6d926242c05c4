package powershell

import (
	"slices"
)

func (r *Runner) bind(params []parameter, given map[string]any) {
	for _, p := range params {
		v, ok := given[p.name]
		switch {
		case ok && p.typ != "" && p.typ != "switch":
			v = convert(p.typ, v)
		case !ok && p.value != nil:
			v = r.eval(p.value)
		case !ok && p.typ == "string":
			v = ""
		case !ok && (p.typ == "switch" || p.typ == "bool"):
			v = false
		case !ok && p.typ == "int":
			v = int64(0)
		}
		r.scope.vars[p.name] = v
	}
	for name := range given {
		if name != "whatif" && !slices.ContainsFunc(params, func(p parameter) bool { return p.name == name }) {
			r.mistake("A parameter cannot be found that matches parameter name '%s'.", name)
		}
	}
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
		panic(thrown{"The script failed due to call depth overflow.", "CallDepthOverflow"})
	}
	defer func() { r.depth-- }()
	r.in(func() {
		defer func() {
			if x := recover(); x != nil {
				ret, ok := x.(returned)
				if !ok {
					panic(x)
				}
				out = ret.out
			}
		}()
		r.bind(b.params, given)
		out = r.body(b.Body)
	})
	return out
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
			if equal(v, r.eval(c)) {
				out = append(out, r.body(n.bodies[i])...)
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
	return Spread(r.eval(n))
}

func (r *Runner) loop(next func() bool, body []Node, out *[]any) {
	for next() {
		r.Killed()
		if r.once(body, out) {
			return
		}
	}
}

func (r *Runner) once(body []Node, out *[]any) (stop bool) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case jumped:
			stop = x.word == "break"
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
		defer func() { r.body(n.finally) }()
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
		r.scope.vars["_"] = NewObject("Exception", NewObject("Message", t.message))
		out = r.body(n.catch)
	}()
	return r.body(n.body)
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
		panic(thrown{message: String(v)})
	case "exit":
		panic(exited{code: int(Int(v))})
	}
	panic(jumped{n.word})
}
