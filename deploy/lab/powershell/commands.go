package powershell

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
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
			panic(thrown{"Expressions are only allowed as the first element of a pipeline.", "ParserError"})
		}
		if stream == nil {
			stream = []any{}
		}
		stream = r.command(c, stream)
	}
	return stream
}

// each runs a block for every item, as $_, in the scope it stands in.
func (r *Runner) each(b *Block, items []any, keep func(item any, out []any)) {
	old, had := r.scope.vars["_"]
	for _, item := range items {
		r.scope.vars["_"] = item
		keep(item, r.body(b.Body))
	}
	delete(r.scope.vars, "_")
	if had {
		r.scope.vars["_"] = old
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
			panic(thrown{"The expression after '&' in a pipeline element produced an object that was not valid. It must result in a command name, a script block, or a CommandInfo object.", "BadExpression"})
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
	if r.Command != nil && r.Command(call) {
		return nil
	}
	out = f(call)
	r.well = true
	return out
}

// arguments are those of a cmdlet, a function or a script.
func (r *Runner) arguments(c *command, name string, input []any) *Call {
	call := &Call{Name: name, r: r, Named: map[string]any{}, Input: input}
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a.splat != "":
			o, ok := r.lookup("", strings.ToLower(a.splat)).(*Object)
			if !ok {
				r.mistake("%s: only tables are splatted", name)
			}
			for _, k := range o.keys {
				call.Named[strings.ToLower(k)] = o.values[strings.ToLower(k)]
			}
		case a.name == "":
			call.Rest = append(call.Rest, r.eval(a.value))
		case a.value != nil:
			call.Named[a.name] = r.eval(a.value)
		case i+1 < len(c.args) && c.args[i+1].name == "" && c.args[i+1].splat == "" && !r.isSwitch(name, a.name):
			i++
			call.Named[a.name] = r.eval(c.args[i].value)
		default:
			call.Named[a.name] = true
		}
	}
	return call
}

// isSwitch reports whether a parameter takes no value.
func (r *Runner) isSwitch(name, parameter string) bool {
	if fn, ok := r.funcs[name]; ok {
		for _, p := range fn.params {
			if p.name == parameter {
				return p.typ == "switch"
			}
		}
		return false
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

// block is the script block that a cmdlet takes.
func (c *Call) block() *Block {
	if len(c.Rest) == 1 {
		if b, ok := c.Rest[0].(*Block); ok {
			return b
		}
	}
	c.r.mistake("%s wants a script block", c.Name)
	return nil
}

// Builtins are the names of the cmdlets that every host has, in lower case.
func Builtins() []string { return slices.Sorted(maps.Keys(builtins())) }

// builtins are the cmdlets that belong to the language rather than to a host.
func builtins() map[string]func(*Call) []any {
	return map[string]func(*Call) []any{
		"where-object": func(c *Call) (out []any) {
			c.r.each(c.block(), c.Input, func(item any, result []any) {
				if True(collect(result)) {
					out = append(out, item)
				}
			})
			return out
		},
		"foreach-object": func(c *Call) (out []any) {
			c.r.each(c.block(), c.Input, func(_ any, result []any) { out = append(out, result...) })
			return out
		},
		"sort-object": func(c *Call) []any {
			out := slices.Clone(c.Input)
			slices.SortStableFunc(out, order)
			return out
		},
		"select-object": func(c *Call) []any {
			if n, ok := c.Named["first"]; ok {
				return c.Input[:max(0, min(int(Int(n)), len(c.Input)))]
			}
			return c.Input[max(0, len(c.Input)-max(0, int(Int(c.Named["last"])))):]
		},
		"out-null":       func(*Call) []any { return nil },
		"set-strictmode": func(*Call) []any { return nil },
		"write-output": func(c *Call) []any {
			if c.Has("inputobject") {
				return Spread(c.Named["inputobject"])
			}
			return c.Rest
		},
		"write-host": func(c *Call) []any {
			line := String(collect(c.Rest))
			if c.Has("object") {
				line = c.Str("object")
			}
			if n := len(c.r.merged); n > 0 {
				*c.r.merged[n-1] = append(*c.r.merged[n-1], line)
			} else {
				c.r.say(c.r.Say, line)
			}
			return nil
		},
		"start-sleep": func(c *Call) []any {
			d := time.Duration(Int(c.Named["seconds"]))*time.Second + time.Duration(Int(c.Named["milliseconds"]))*time.Millisecond
			if err := c.r.Sleep(c.r.Ctx, d); err != nil {
				panic(ended{err})
			}
			return nil
		},
		"get-date":     func(c *Call) []any { return []any{Time(c.r.Now())} },
		"get-location": func(c *Call) []any { return []any{NewObject("Path", c.r.Dir)} },
		"set-location": func(c *Call) []any {
			to := c.r.Path(c.pathArgument())
			if dir, there := c.r.Files.Stat(to); !there || !dir {
				panic(thrown{"Cannot find path '" + to + "' because it does not exist.", "PathNotFound,Microsoft.PowerShell.Commands.SetLocationCommand"})
			}
			c.r.Dir = to
			return nil
		},
		"join-path": func(c *Call) []any {
			return []any{strings.TrimRight(c.Str("path"), `\`) + `\` + strings.TrimLeft(c.Str("childpath"), `\`)}
		},
		"split-path": func(c *Call) []any {
			if c.Has("leaf") {
				return []any{path.Base(strings.ReplaceAll(c.pathArgument(), `\`, "/"))}
			}
			return []any{parent(c.pathArgument())}
		},
		"test-path": func(c *Call) []any {
			_, there := c.r.Files.Stat(c.r.Path(c.pathArgument()))
			return []any{there}
		},
		"new-item": func(c *Call) []any {
			if !strings.EqualFold(c.Str("itemtype"), "Directory") {
				c.r.mistake("New-Item makes folders only")
			}
			c.r.check(c.r.Files.MkdirAll(c.r.Path(c.Str("path"))), c.Str("path"))
			return nil
		},
		"remove-item": func(c *Call) []any {
			full := c.r.Path(c.pathArgument())
			if dir, there := c.r.Files.Stat(full); !there || dir {
				if c.Silent() {
					return nil
				}
				panic(thrown{"Cannot find path '" + full + "' because it does not exist.", "PathNotFound,Microsoft.PowerShell.Commands.RemoveItemCommand"})
			}
			c.r.check(c.r.Files.Remove(full), full)
			return nil
		},
		"set-content": func(c *Call) []any {
			c.r.check(c.r.Files.WriteFile(c.r.Path(c.pathArgument()), []byte(c.Str("value"))), c.pathArgument())
			return nil
		},
		"get-content": func(c *Call) []any {
			text, err := c.r.Files.ReadFile(c.r.Path(c.pathArgument()))
			c.r.check(err, c.pathArgument())
			return []any{strings.TrimPrefix(string(text), "\ufeff")}
		},
		"import-powershelldatafile": func(c *Call) []any {
			text, err := c.r.Files.ReadFile(c.r.Path(c.pathArgument()))
			c.r.check(err, c.pathArgument())
			b, err := Parse(string(text))
			if err != nil || len(b.Body) != 1 {
				panic(thrown{"The data file '" + c.pathArgument() + "' could not be read.", "CouldNotParseAsPowerShellDataFile"})
			}
			return []any{c.r.eval(b.Body[0])}
		},
		"convertto-json": func(c *Call) []any {
			b, err := json.Marshal(c.Named["inputobject"])
			if err != nil {
				Throw("%v", err)
			}
			return []any{string(b)}
		},
		"convertfrom-json": func(c *Call) []any {
			text := String(c.Named["inputobject"])
			if len(c.Input) > 0 {
				text = String(c.Input[0])
			}
			x, err := FromJSON([]byte(text))
			if err != nil {
				panic(thrown{"Invalid JSON primitive: " + text[:min(len(text), 20)] + ".", "System.ArgumentException,Microsoft.PowerShell.Commands.ConvertFromJsonCommand"})
			}
			return []any{x}
		},
		"set-executionpolicy": func(c *Call) []any {
			if !strings.EqualFold(c.Str("scope"), "Process") {
				c.r.mistake("Set-ExecutionPolicy is known for -Scope Process only")
			}
			return nil
		},
	}
}

func (c *Call) pathArgument() string {
	for _, name := range []string{"literalpath", "path"} {
		if c.Has(name) {
			return c.Str(name)
		}
	}
	if len(c.Rest) > 0 {
		return String(c.Rest[0])
	}
	return ""
}
