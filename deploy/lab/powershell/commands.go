package powershell

import (
	"maps"
	"path"
	"slices"
	"strings"
)

func (r *Runner) pipe(n *pipe) []any {
	var stream []any
	for i, part := range n.parts {
		if i == 0 {
			r.quiet(func() any { stream = r.statement(part); return nil })
			continue
		}
		c, ok := part.(*command)
		if !ok {
			panic(thrown{message: "Expressions are only allowed as the first element of a pipeline.", id: "ParserError"})
		}
		if stream == nil {
			stream = []any{}
		}
		stream = r.command(c, stream)
	}
	return stream
}

// each runs a block for every item, as $_, in the scope it stands in. To return
// ends the block for one item.
func (r *Runner) each(b *Block, items []any, keep func(item any, out []any)) {
	defer r.with("_", nil)()
	defer func() {
		if x := recover(); x != nil {
			if t, ok := x.(thrown); ok {
				t.ends = true // of the block, and not of the cmdlet that runs it
				x = t
			}
			panic(x)
		}
	}()
	for _, item := range items {
		r.scope.vars["_"] = item
		keep(item, r.whole(b))
	}
}

func (r *Runner) command(c *command, input []any) (out []any) {
	r.Killed()
	if c.merge {
		said := []any{}
		r.merged = append(r.merged, &said)
		defer func() {
			r.merged = r.merged[:len(r.merged)-1]
			out = append(said, out...)
		}()
	}
	name := c.name
	if c.block != nil {
		switch b := r.eval(c.block).(type) {
		case *Block:
			return r.call(b, nil)
		case string:
			name = b
		default:
			panic(thrown{message: "The expression after '&' in a pipeline element produced an object that was not valid. It must result in a command name, a script block, or a CommandInfo object.", id: "BadExpression"})
		}
	}
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, ".exe") {
		return r.native(lower, c)
	}
	call := r.arguments(c, lower, input)
	if strings.HasSuffix(lower, ".ps1") {
		r.depth++
		defer func() { r.depth-- }()
		code, exits := r.runScript(name, call.Named, call.Rest, func(list []any) { out = append(out, list...) })
		r.well = true
		if exits {
			r.global.vars["lastexitcode"], r.well = int64(code), code == 0
		}
		return out
	}
	if fn, ok := r.funcs[lower]; ok {
		if len(call.Rest) > 0 || input != nil {
			r.mistake("%s: positional or piped arguments", name)
		}
		return r.call(fn, call.Named)
	}
	f, ok := r.Cmdlets[lower]
	if !ok {
		f, ok = r.builtins[lower]
	}
	if !ok {
		r.unknown(name)
	}
	return r.invoke(f, call)
}

// invoke runs a cmdlet. What it throws ends the statement where the caller, or
// the preference, says Stop; else it is told, and the script goes on.
func (r *Runner) invoke(f func(*Call) []any, call *Call) (out []any) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case thrown:
			action := call.action()
			if x.ends || action == "stop" {
				panic(x)
			}
			if !call.Silent() {
				r.tell(x)
			}
			out, r.well = nil, false
		default:
			panic(x)
		}
	}()
	if r.Command != nil && r.Command(call) {
		return nil
	}
	out = f(call)
	r.well = true
	for _, name := range slices.Sorted(maps.Keys(call.Named)) {
		if !call.read[name] && !slices.Contains(ofEvery, name) && !slices.Contains(r.Idle[call.Name], name) {
			call.Mistake("-%s of %s is documented, and nothing is simulated for it", name, call.Name)
		}
	}
	return out
}

// ofEvery are parameters that no cmdlet sees.
var ofEvery = []string{"erroraction", "confirm", "whatif"}

// arguments are those of a cmdlet, a function or a script.
func (r *Runner) arguments(c *command, name string, input []any) *Call {
	call := &Call{Name: name, r: r, Named: map[string]any{}, Input: input, read: map[string]bool{}}
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a.splat != "":
			o, ok := r.lookup("", strings.ToLower(a.splat)).(*Object)
			if !ok {
				r.mistake("%s: only tables are splatted", name)
			}
			for _, k := range o.keys {
				call.give(strings.ToLower(k), o.values[strings.ToLower(k)])
			}
		case a.name == "":
			call.Rest = append(call.Rest, r.eval(a.value))
		case a.value != nil:
			call.give(a.name, r.eval(a.value))
		case r.isSwitch(name, a.name):
			call.give(a.name, true)
		case i+1 < len(c.args) && c.args[i+1].name == "" && c.args[i+1].splat == "":
			i++
			call.give(a.name, r.eval(c.args[i].value))
		case strings.HasSuffix(name, ".ps1"):
			call.give(a.name, true) // whether it is a switch is not known yet
		default:
			r.mistake("%s: Missing an argument for parameter '%s'.", name, a.name)
		}
	}
	return call
}

// give is an argument for a parameter, which takes one.
func (c *Call) give(name string, v any) {
	if _, twice := c.Named[name]; twice {
		c.r.mistake("%s: Cannot bind parameter because parameter '%s' is specified more than once.", c.Name, name)
	}
	c.Named[name] = v
}

// isSwitch reports whether a parameter takes no value.
func (r *Runner) isSwitch(name, parameter string) bool {
	if fn, ok := r.funcs[name]; ok {
		for _, p := range fn.params {
			if p.name == parameter {
				return p.typ == "switch"
			}
		}
		return true // or none of the function, which is then said
	}
	return r.Switches != nil && r.Switches(name, parameter)
}

// native runs a program: it takes words and gives lines and a code.
func (r *Runner) native(name string, c *command) (out []any) {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	f, ok := r.Natives[base]
	if !ok {
		r.unknown(name)
	}
	var words []string
	for _, a := range c.args {
		if a.name != "" {
			words = append(words, "-"+a.name)
		}
		if a.name == "" || a.value != nil {
			for _, v := range Spread(r.eval(a.value)) {
				words = append(words, String(v))
			}
		}
	}
	lines, code := f(r, words)
	r.global.vars["lastexitcode"], r.well = int64(code), code == 0
	for _, l := range lines {
		out = append(out, l)
	}
	return out
}
