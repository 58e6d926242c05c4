package lang

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/source"
)

// modCall is a module block.
type modCall struct {
	mod    *modinst
	file   *file
	prog   *prog
	what   string
	span   source.Span
	done   bool
	failed bool
	single bool
	keys   []string
	insts  []*modinst
}

// expandCall makes the instances of a module block.
func (ld *loader) expandCall(c *modCall) *mistake {
	if c.done {
		if c.failed {
			return silent
		}
		return nil
	}
	if !ld.enter(c, c.what, c.span) {
		return silent
	}
	c.failed = !ld.callInstances(c)
	c.done = true
	ld.leave()
	if c.failed {
		return silent
	}
	return nil
}

func (ld *loader) callInstances(c *modCall) bool {
	u, ok := ld.callUnit(c)
	if !ok {
		return false
	}
	s := &scope{ld: ld, mod: c.mod}
	c.single = c.prog.arg("for_each") == nil
	if c.prog.arg("enabled") != nil && !ld.flag(c.mod, c.file, c.prog, "enabled") {
		return true
	}
	if c.single {
		if !ld.callsFit(1, c.span) {
			return false
		}
		c.insts = append(c.insts, ld.callModule(c, u, s, ""))
		return true
	}
	a := c.prog.arg("for_each")
	list, ok := ld.forEach(s, c.file, a.expr, a.at)
	if !ok {
		return false
	}
	if !ld.callsFit(len(list), a.at.in(c.file.id)) {
		return false
	}
	for _, e := range list {
		c.keys = append(c.keys, e.key)
		c.insts = append(c.insts, ld.callModule(c, u, &scope{ld: ld, mod: c.mod, each: e}, e.key))
	}
	return true
}

// callsFit reports whether there is room for so many more calls.
func (ld *loader) callsFit(n int, at source.Span) bool {
	if len(ld.mods)+n <= maxCalls {
		return true
	}
	if !ld.full { // what comes after it has no room either
		ld.full = true
		ld.fail(at, "the configuration has more than "+itoa(maxCalls)+" calls of modules", "modules that call modules multiply: call the inner ones once, or divide the fabric")
	}
	return false
}

// callUnit finds and reads the folder of a module block.
func (ld *loader) callUnit(c *modCall) (*unit, bool) {
	a := c.prog.arg("source")
	if a == nil {
		return nil, false
	}
	v, ok := (&scope{ld: ld, mod: c.mod}).eval(c.file, &c.file.exprs[a.expr-1])
	if !ok {
		return nil, false
	}
	at := a.at.in(c.file.id)
	v, _ = v.Unmark()
	if v.Type() != cty.String || v.IsNull() {
		ld.fail(at, "source takes text in quotes", "write a path like \"./modules/pod\"")
		return nil, false
	}
	src := v.AsString()
	if !strings.HasPrefix(src, "./") && !strings.HasPrefix(src, "../") {
		ld.fail(at, "module source "+quoteWord(src)+" is not a local path: remote sources come later", "write a path that begins with ./ or ../")
		return nil, false
	}
	dir := path.Join(c.mod.unit.dir, src)
	if dir == ".." || strings.HasPrefix(dir, "../") || !fs.ValidPath(dir) {
		ld.fail(at, "module source "+quoteWord(src)+" leads out of the configuration", "keep modules in folders below the root, or name the folder above both by --chdir")
		return nil, false
	}
	for m := c.mod; m != nil; m = m.parent {
		if m.unit.dir == dir {
			ld.fail(at, "module "+quoteWord(c.prog.name)+" calls the folder it stands in", "name another folder as its source")
			return nil, false
		}
	}
	if c.mod.depth+1 > maxModules {
		ld.fail(at, "modules are nested more than "+itoa(maxModules)+" deep", "call the inner ones from further out")
		return nil, false
	}
	names, err := ld.discover(dir)
	if err != nil || len(names) == 0 {
		ld.fail(at, "folder "+quoteWord(dir)+" of module "+quoteWord(c.prog.name)+" holds no configuration", "files of configuration end in .roce.hcl or .roce.json")
		return nil, false
	}
	u := ld.unit(dir, names)
	return u, u != nil && !u.broken
}

// moduleHelp says what stands in place of an argument that other languages have.
func moduleHelp(arg string) string {
	if arg == "count" {
		return "write for_each = toset(expand_range(\"pod[1-4]\"))"
	}
	return "leave it out"
}

// callModule makes one instance and hands the arguments in.
func (ld *loader) callModule(c *modCall, u *unit, s *scope, key string) *modinst {
	addr := c.mod.addr + "module." + c.prog.name
	if key != "" {
		addr += "[" + quoteKey(key) + "]"
	}
	m := ld.newModule(u, c.mod, addr+".")
	for i := range c.prog.args {
		a := &c.prog.args[i]
		switch a.name {
		case "source", "for_each", "enabled":
			continue
		case "version":
			ld.fail(a.nmAt.in(c.file.id), "a local module has no `version`: remote sources come later", "leave it out")
			continue
		case "depends_on", "providers", "count":
			ld.fail(a.nmAt.in(c.file.id), "`"+a.name+"` is not in this version of rocec", moduleHelp(a.name))
			continue
		}
		v, ok := m.variables[a.name]
		if !ok {
			ld.fail(a.nmAt.in(c.file.id), "module "+quoteWord(c.prog.name)+" has no variable "+quoteWord(a.name), listHelp(a.name, m.varNames))
			continue
		}
		e := &c.file.exprs[a.expr-1]
		v.given = &given{at: a.at.in(c.file.id), next: &provenance{c.mod, e.tree}, compute: func(*variable) (cty.Value, bool) {
			return s.eval(c.file, e)
		}}
	}
	return m
}

// stepModule is a step on var, local, module and what follows.
func (ld *loader) stepModule(v val, name string) (val, *mistake) {
	m := v.mod
	switch v.form {
	case isVars:
		if c, ok := m.vars[name]; ok {
			return ld.ask(c)
		}
		return val{}, ld.noSuch("there is no variable "+quoteWord(name), name, m.varNames)
	case isLocals:
		if c, ok := m.locals[name]; ok {
			return ld.ask(c)
		}
		return val{}, ld.noSuch("there is no local "+quoteWord(name), name, m.localNames)
	case isModules:
		c, ok := m.calls[name]
		if !ok {
			return val{}, ld.noSuch("there is no module "+quoteWord(name), name, m.callNames)
		}
		if bad := ld.expandCall(c); bad != nil {
			return val{}, bad
		}
		if !c.single {
			return val{form: isCall, ld: ld, call: c}, nil
		}
		if len(c.insts) == 0 {
			return val{}, &mistake{"module " + quoteWord(name) + " is not there: its `enabled` is false", "refer to it only where it is enabled: try(..., null)"}
		}
		return val{form: isModule, ld: ld, mod: c.insts[0]}, nil
	case isCall:
		if i := slices.Index(v.call.keys, name); i >= 0 {
			return val{form: isModule, ld: ld, mod: v.call.insts[i]}, nil
		}
		return val{}, ld.noSuch("`"+v.call.what+"` has no "+quoteWord(name), name, v.call.keys)
	case isModule:
		if c, ok := m.outs[name]; ok {
			return ld.ask(c)
		}
		return val{}, ld.noSuch("`"+strings.TrimSuffix(m.addr, ".")+"` has no output "+quoteWord(name), name, m.outNames)
	}
	return val{}, &mistake{"there is nothing called " + quoteWord(name) + " here", ""}
}
