package lang

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// Connection is a connection block, evaluated for one device. What is not
// written is zero. Files that were written by a relative path are named from the
// folder of the root module.
type Connection struct {
	Block           BlockID
	Address         string
	Port            uint16
	User            string
	Identity        []string
	Agent           bool
	PasswordEnv     string
	PasswordCommand []string
	EnableEnv       string
	KnownHosts      []string
	HostKey         string
	Legacy          bool         // legacy_algorithms
	Jump            []Connection // in the order written, each with its own
}

// ofDevice reports whether an attribute of a connection says something of the
// device that it is evaluated for, and so waits for one.
func ofDevice(d *udecl, a *attr, f *file) bool {
	return d.kind == schema.Connection && a.expr() != 0 && f.exprs[a.expr()-1].deps&needsSelf != 0
}

// Connection evaluates a connection block for a device. That is not done when a
// configuration is loaded: what waits for a device is asked for by those who go
// there. It is for one goroutine at a time.
func (c *Config) Connection(block, device BlockID) (Connection, diag.List) {
	ld := c.late
	if ld == nil || int(block) >= len(c.insts) || int(device) >= len(c.insts) || c.Blocks[block].Kind != schema.Connection {
		return Connection{}, diag.List{{Summary: "the configuration has no such connection"}}
	}
	ld.fresh()
	e := reach{ld: ld, blocks: c, device: c.insts[device]}
	out, _ := e.connection(c.insts[block], source.Span{})
	return out, ld.sorted()
}

// reach evaluates connections for one device.
type reach struct {
	ld     *loader
	blocks *Config
	device instID
	on     []hop // the connections that lead here, by jump
}

// hop is a connection on the way, and where it is named.
type hop struct {
	id instID
	at source.Span
}

// connection evaluates one block; false if something in it is wrong, which was
// said. At is the `jump` that names it.
func (e *reach) connection(id instID, at source.Span) (Connection, bool) {
	for i := range e.on {
		if e.on[i].id == id {
			e.loop(e.on[i:], at)
			return Connection{}, false
		}
	}
	e.on = append(e.on, hop{id, at})
	defer func() { e.on = e.on[:len(e.on)-1] }()
	in := e.ld.insts[id]
	m := e.ld.mods[in.mod]
	d := &m.unit.decls[in.decl]
	out, ok := Connection{Block: e.number(id)}, true
	s := &scope{ld: e.ld, mod: m, inst: id, self: e.device}
	for i := range m.unit.attrsOf(d) {
		a := m.unit.attr(d, i)
		if a.bad {
			ok = false
			continue
		}
		if a.num == schema.AForEach || a.num == schema.AEnabled {
			continue
		}
		ok = e.attr(&out, s, d, a) && ok
	}
	return out, ok
}

// number is the block of a connection.
func (e *reach) number(id instID) BlockID {
	for _, b := range e.ld.ways {
		if e.blocks.insts[b] == id {
			return b
		}
	}
	return 0
}

// loop reports connections that lead through each other.
func (e *reach) loop(ring []hop, at source.Span) {
	name := func(h hop) string { return "`" + e.ld.addrOf(h.id) + "`" }
	var via []string
	var labels []diag.Label
	for _, h := range ring[1:] {
		via = append(via, name(h))
		labels = append(labels, diag.Label{Span: h.at, Where: e.ld.whereIs(h.at), Text: "leads to " + name(h)})
	}
	summary := name(ring[0]) + " is reached through itself"
	if len(via) > 0 {
		summary += ", by way of " + strings.Join(via, ", ")
	}
	e.ld.fail(at, summary, "one of them is reached directly: leave its jump out", labels...)
}

// attr evaluates one attribute of a connection.
func (e *reach) attr(out *Connection, s *scope, d *udecl, a *attr) bool {
	if a.num == schema.AJump {
		return e.jumps(out, s, d, a)
	}
	words, ok := e.words(s, d, a)
	if !ok || words == nil {
		return ok
	}
	switch a.num {
	case schema.AAddress:
		out.Address = words[0].text
	case schema.APort:
		out.Port = uint16(words[0].number)
	case schema.AUser:
		out.User = words[0].text
	case schema.AAgent:
		out.Agent = words[0].number == 1
	case schema.ALegacyAlgorithms:
		out.Legacy = words[0].number == 1
	case schema.APasswordEnv:
		out.PasswordEnv = words[0].text
	case schema.AEnableEnv:
		out.EnableEnv = words[0].text
	case schema.AHostKey:
		out.HostKey = words[0].text
	case schema.APasswordCommand:
		out.PasswordCommand = texts(words)
	case schema.AIdentity:
		out.Identity = e.files(s.mod, words)
	case schema.AKnownHosts:
		out.KnownHosts = e.files(s.mod, words)
	}
	return true
}

// plainWord is a plain value of a connection.
type plainWord struct {
	text   string
	number int64
}

func texts(words []plainWord) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// words are the values of an attribute, one or a list, nil if it is null. They are read into tables of their own: the
// Config's are no longer written to.
func (e *reach) words(s *scope, d *udecl, a *attr) ([]plainWord, bool) {
	f := s.mod.unit.fileOf(d, a)
	if a.expr() == 0 {
		return e.plain(a), true
	}
	v, ok := e.value(s, d, a)
	if !ok || v.IsNull() {
		return nil, ok
	}
	elements := []cty.Value{v}
	if t := v.Type(); t.IsTupleType() || t.IsListType() || t.IsSetType() {
		elements = v.AsValueSlice()
		if !a.def.of().Type.Many {
			e.ld.fail(a.at.in(f.id), a.num.Name()+" does not take a list", "write "+wanted(&a.def.of().Type))
			return nil, false
		}
	}
	tb := newTables()
	out := []plainWord{}
	for _, el := range elements {
		w, bad := word(&tb, &a.def.of().Type, a.num.Name(), el)
		if bad != nil && a.def.of().Type.Base == schema.EnvVar {
			e.ld.fail(s.mod.unit.spanOf(d), bad.summary, bad.help) // where it was written a secret may stand
			return nil, false
		}
		if bad != nil {
			e.ld.fail(a.at.in(f.id), bad.summary, bad.help, e.ld.originLabel(s.mod, f, a)...)
			return nil, false
		}
		out = append(out, w)
	}
	return out, true
}

// word reads one plain value as the type of an attribute.
func word(tb *tables, t *schema.Type, name string, v cty.Value) (plainWord, *mistake) {
	var out Value
	var bad *mistake
	switch {
	case v.IsNull():
		return plainWord{}, &mistake{name + " does not take null in a list", "leave the element out"}
	case v.Type() == cty.String:
		out, bad = leafText(tb, t, name, v.AsString())
	case v.Type() == cty.Number:
		out, bad = leafFloat(tb, t, name, v.AsBigFloat())
	case v.Type() == cty.Bool:
		out, bad = leafBool(tb, t, name, v.True())
	case isHandleType(v.Type()):
		bad = &mistake{name + " takes no reference", "write " + wanted(t)}
	default:
		bad = takes(t, name, "a value of type "+v.Type().FriendlyName(), wanted(t))
	}
	if bad != nil {
		return plainWord{}, bad
	}
	if out.Kind == Text {
		return plainWord{text: tb.strs[out.N]}, nil
	}
	return plainWord{number: out.N}, nil
}

// plain is the value of an attribute that was written plainly.
func (e *reach) plain(a *attr) []plainWord {
	list := []Value{a.value()}
	switch a.kind {
	case Absent:
		return nil
	case List:
		list = e.ld.lists[a.n]
	}
	out := make([]plainWord, len(list))
	for i, v := range list {
		if v.Kind == Text {
			out[i].text = e.ld.strs[v.N]
		} else {
			out[i].number = v.N
		}
	}
	return out
}

// value evaluates the expression of an attribute. A secret is refused: what a
// connection holds is shown.
func (e *reach) value(s *scope, d *udecl, a *attr) (cty.Value, bool) {
	f := s.mod.unit.fileOf(d, a)
	span := a.at.in(f.id)
	if !e.ld.push(frame{key: a, inst: s.inst, head: d.head, at: span}) {
		return cty.DynamicVal, false
	}
	defer e.ld.leave()
	v, ok := s.eval(f, &f.exprs[a.expr()-1])
	if !ok {
		return v, false
	}
	if v.HasMarkDeep(funcs.Sensitive) {
		e.ld.secretValue(span, d, a, v)
		return cty.DynamicVal, false
	}
	v, _ = v.UnmarkDeep()
	return v, true
}

// jumps evaluates the connections on the way.
func (e *reach) jumps(out *Connection, s *scope, d *udecl, a *attr) bool {
	f := s.mod.unit.fileOf(d, a)
	span := a.at.in(f.id)
	var v Value
	ok := true
	switch {
	case a.expr() != 0:
		var x cty.Value
		if x, ok = e.value(s, d, a); ok {
			var bad *mistake
			if v, bad = e.ld.convert(&a.def.of().Type, a.num.Name(), x); bad != nil {
				e.ld.fail(span, bad.summary, bad.help)
				return false
			}
		}
	case pending(a.kind):
		v, ok = e.ld.settle(s.mod, f, a, a.value(), &a.def.of().Type)
	}
	if !ok {
		return false
	}
	for _, h := range e.ld.elements(v) {
		if h.Kind != Handle {
			continue
		}
		next, good := e.connection(instID(h.N), span)
		out.Jump, ok = append(out.Jump, next), ok && good
	}
	return ok
}

// files names files from the folder of the root module, where they were written
// by a path that is relative to their own.
func (e *reach) files(m *modinst, words []plainWord) []string {
	out := texts(words)
	for i, name := range out {
		drive := len(name) > 1 && name[1] == ':'
		if name == "" || drive || strings.ContainsAny(name[:1], `/\~`) || m.unit.dir == e.ld.Dir {
			continue
		}
		out[i] = joinPath(m.unit.dir, name)
	}
	return out
}

// secretValue reports a secret where one may not stand.
func (ld *loader) secretValue(at source.Span, d *udecl, a *attr, v cty.Value) {
	where := "artifacts"
	if d.kind == schema.Connection {
		where = "messages"
	}
	ld.fail(at, "the value of "+a.num.Name()+" is a secret and would land in "+where, "secrets are named, never written: only attributes that name where one is kept take them", secretLabels(v)...)
}
