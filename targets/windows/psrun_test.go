package windows

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// psRunner runs a script against a model of a host (device_test.go) in strict
// mode: a missing property, variable or element is an error, as it is under
// Set-StrictMode -Version 3.0. Values are nil, bool, int64, string, []any,
// *psObject and *psBlock.
type psRunner struct {
	cmdlets map[string]func(*psCall) []any
	funcs   map[string]*psBlock
	files   map[string]string // of the host, kept between runs
	data    string            // of host.psd1, in the current folder
	now     int64             // seconds
	lines   []string          // what Write-Host said
	out     []any             // what went to the pipeline
	scope   *psScope          // the innermost
	script  *psScope
}

type psScope struct {
	vars map[string]any
	up   *psScope
}

// psObject is a hashtable, a custom object or a CIM instance. Names are found
// without regard to case, and keep their order.
type psObject struct {
	keys   []string
	values map[string]any
	table  bool // a hashtable: indexable, any key may be asked for by index
	self   any  // what a cmdlet made it of
}

func newObject(pairs ...any) *psObject {
	o := &psObject{values: map[string]any{}}
	for i := 0; i < len(pairs); i += 2 {
		o.set(pairs[i].(string), pairs[i+1])
	}
	return o
}

func (o *psObject) set(key string, v any) {
	k := strings.ToLower(key)
	if _, known := o.values[k]; !known {
		o.keys = append(o.keys, key)
	}
	o.values[k] = v
}

// MarshalJSON writes the members in order.
func (o *psObject) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		x, err := json.Marshal(o.values[strings.ToLower(k)])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", k, x)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

func fromJSON(x any) any {
	switch x := x.(type) {
	case map[string]any:
		o := newObject()
		for _, k := range slices.Sorted(mapKeys(x)) {
			o.set(k, fromJSON(x[k]))
		}
		return o
	case []any:
		for i := range x {
			x[i] = fromJSON(x[i])
		}
		return x
	case json.Number:
		n, _ := x.Int64()
		return n
	}
	return x
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

type (
	psThrown struct{ message string }
	psExit   struct{ code int }
	psReturn struct{ out []any }
	psLoop   struct{ word string }
)

// run runs a script with parameters and returns its exit code. A panic of the
// runner itself is a defect of the test.
func (r *psRunner) run(src string, params map[string]any) (code int) {
	r.funcs, r.lines, r.out = map[string]*psBlock{}, nil, nil
	r.script = &psScope{vars: map[string]any{"true": true, "false": false, "null": nil, "whatifpreference": false}}
	r.scope = r.script
	defer func() {
		switch x := recover().(type) {
		case nil:
		case psExit:
			code = x.code
		case psThrown:
			r.lines = append(r.lines, "uncaught: "+x.message)
			code = 1
		default:
			panic(x)
		}
	}()
	b := psParse(src)
	r.bind(b.params, params)
	if v, ok := params["whatif"]; ok {
		r.script.vars["whatifpreference"] = v
	}
	for _, n := range b.body {
		r.out = append(r.out, r.statement(n)...)
	}
	return 0
}

func throw(format string, args ...any) { panic(psThrown{fmt.Sprintf(format, args...)}) }

func (r *psRunner) bind(params []psParam, given map[string]any) {
	for _, p := range params {
		v, ok := given[p.name]
		switch {
		case ok && p.typ != "" && p.typ != "switch":
			v = cast(p.typ, v)
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
		if name != "whatif" && !slices.ContainsFunc(params, func(p psParam) bool { return p.name == name }) {
			panic("no parameter " + name)
		}
	}
}

func (r *psRunner) in(f func()) {
	r.scope = &psScope{vars: map[string]any{}, up: r.scope}
	was := r.scope.up
	defer func() { r.scope = was }()
	f()
}

// call runs a function or a script block in a scope of its own and collects
// what it puts out.
func (r *psRunner) call(b *psBlock, given map[string]any) (out []any) {
	r.in(func() {
		defer func() {
			if x := recover(); x != nil {
				ret, ok := x.(psReturn)
				if !ok {
					panic(x)
				}
				out = ret.out
			}
		}()
		r.bind(b.params, given)
		out = r.body(b.body)
	})
	return out
}

func (r *psRunner) body(list []psNode) (out []any) {
	for _, n := range list {
		r.catching(&out, n)
	}
	return out
}

// catching keeps what a body had put out before it returned.
func (r *psRunner) catching(out *[]any, n psNode) {
	defer func() {
		if x := recover(); x != nil {
			if ret, ok := x.(psReturn); ok {
				x = psReturn{append(slices.Clone(*out), ret.out...)}
			}
			panic(x)
		}
	}()
	*out = append(*out, r.statement(n)...)
}

// statement runs a statement and returns what it puts into the pipeline.
func (r *psRunner) statement(n psNode) []any {
	switch n := n.(type) {
	case *psAssign:
		v := r.eval(n.x)
		if n.op != "" {
			v = arithmetic(n.op, r.eval(n.to), v)
		}
		r.assign(n.to, v)
		return nil
	case *psFunc:
		r.funcs[n.name] = n.fn
		return nil
	case *psIf:
		for i, c := range n.conds {
			if truthy(r.eval(c)) {
				return r.body(n.bodies[i])
			}
		}
		return r.body(n.other)
	case *psForeach:
		var out []any
		var items []any
		if in := r.eval(n.in); in != nil {
			items = spread(in)
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
	case *psWhile:
		var out []any
		r.loop(func() bool { return truthy(r.eval(n.cond)) }, n.body, &out)
		return out
	case *psSwitch:
		v := r.eval(n.on)
		var out []any
		for i, c := range n.cases {
			if equal(v, r.eval(c)) {
				out = append(out, r.body(n.bodies[i])...)
			}
		}
		return out
	case *psTry:
		return r.try(n)
	case *psJump:
		r.jump(n)
	case *psPipe:
		return r.pipe(n)
	case *psCommand:
		return r.command(n, nil)
	}
	return spread(r.eval(n))
}

func (r *psRunner) loop(next func() bool, body []psNode, out *[]any) {
	for next() {
		if r.once(body, out) {
			return
		}
	}
}

func (r *psRunner) once(body []psNode, out *[]any) (stop bool) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case psLoop:
			stop = x.word == "break"
		case psReturn:
			panic(psReturn{append(slices.Clone(*out), x.out...)})
		default:
			panic(x)
		}
	}()
	*out = append(*out, r.body(body)...)
	return false
}

func (r *psRunner) try(n *psTry) (out []any) {
	scope := r.scope
	defer func() {
		if x := recover(); x != nil {
			thrown, ok := x.(psThrown)
			if !ok {
				panic(x)
			}
			r.scope = scope
			r.scope.vars["_"] = newObject("Exception", newObject("Message", thrown.message))
			out = r.body(n.catch)
		}
	}()
	return r.body(n.body)
}

func (r *psRunner) jump(n *psJump) {
	var v any
	if n.x != nil {
		v = r.eval(n.x)
	}
	switch n.word {
	case "return":
		if n.x == nil {
			panic(psReturn{})
		}
		panic(psReturn{spread(v)})
	case "throw":
		panic(psThrown{toString(v)})
	case "exit":
		panic(psExit{int(toInt(v))})
	}
	panic(psLoop{n.word})
}

func (r *psRunner) pipe(n *psPipe) []any {
	var stream []any
	for i, part := range n.parts {
		if i == 0 {
			stream = r.statement(part)
			continue
		}
		c, ok := part.(*psCommand)
		if !ok {
			panic("an expression in the middle of a pipeline")
		}
		if stream == nil {
			stream = []any{}
		}
		stream = r.command(c, stream)
	}
	return stream
}

// each runs a block for every item, as $_, in the scope it stands in.
func (r *psRunner) each(b *psBlock, items []any, keep func(item any, out []any)) {
	old, had := r.scope.vars["_"]
	for _, item := range items {
		r.scope.vars["_"] = item
		keep(item, r.body(b.body))
	}
	delete(r.scope.vars, "_")
	if had {
		r.scope.vars["_"] = old
	}
}

func (r *psRunner) command(c *psCommand, input []any) []any {
	if c.block != nil {
		b, ok := r.eval(c.block).(*psBlock)
		if !ok {
			panic("& wants a script block")
		}
		return r.call(b, nil)
	}
	call := &psCall{name: c.name, r: r, named: map[string]any{}, input: input}
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a.splat != "":
			o := r.lookup("", strings.ToLower(a.splat)).(*psObject)
			for _, k := range o.keys {
				call.named[strings.ToLower(k)] = o.values[strings.ToLower(k)]
			}
		case a.name == "":
			call.rest = append(call.rest, r.eval(a.value))
		case a.value != nil:
			call.named[a.name] = r.eval(a.value)
		case i+1 < len(c.args) && c.args[i+1].name == "" && c.args[i+1].splat == "" && !switches[a.name]:
			i++
			call.named[a.name] = r.eval(c.args[i].value)
		default:
			call.named[a.name] = true
		}
	}
	if fn, ok := r.funcs[c.name]; ok {
		if len(call.rest) > 0 || input != nil {
			panic("positional or piped arguments for " + c.name)
		}
		return r.call(fn, call.named)
	}
	if f, ok := r.cmdlets[c.name]; ok {
		return f(call)
	}
	return r.builtin(call)
}

// switches are parameters that take no value.
var switches = map[string]bool{
	"managementos": true, "norestart": true, "cluster": true, "default": true, "untagged": true, "access": true, "raw": true,
	"force": true, "compress": true, "includemanagementtools": true, "globaloverrides": true,
}

// psCall is one call of a cmdlet.
type psCall struct {
	name  string
	r     *psRunner
	named map[string]any
	rest  []any
	input []any
}

func (c *psCall) str(name string) string { return toString(c.named[name]) }
func (c *psCall) has(name string) bool   { _, ok := c.named[name]; return ok }

func (r *psRunner) builtin(c *psCall) []any {
	switch c.name {
	case "where-object":
		var out []any
		r.each(c.rest[0].(*psBlock), c.input, func(item any, result []any) {
			if truthy(collect(result)) {
				out = append(out, item)
			}
		})
		return out
	case "foreach-object":
		var out []any
		r.each(c.rest[0].(*psBlock), c.input, func(_ any, result []any) { out = append(out, result...) })
		return out
	case "sort-object":
		out := slices.Clone(c.input)
		slices.SortStableFunc(out, order)
		return out
	case "select-object":
		if n, ok := c.named["first"]; ok {
			return c.input[:min(int(toInt(n)), len(c.input))]
		}
		return c.input[max(0, len(c.input)-int(toInt(c.named["last"]))):]
	case "out-null":
		return nil
	case "write-host":
		r.lines = append(r.lines, toString(c.rest[0]))
		return nil
	case "set-strictmode":
		return nil
	case "start-sleep":
		r.now += toInt(c.named["seconds"])
		return nil
	case "join-path":
		return []any{c.str("path") + `\` + c.str("childpath")}
	case "test-path":
		name := c.str("literalpath")
		if name == `.\host.psd1` {
			return []any{r.data != ""}
		}
		for f := range r.files {
			if f == name || strings.HasPrefix(f, name+`\`) {
				return []any{true}
			}
		}
		return []any{false}
	case "new-item":
		return nil
	case "set-content":
		r.files[c.str("literalpath")] = c.str("value")
		return nil
	case "get-content":
		return []any{r.files[c.str("literalpath")]}
	case "import-powershelldatafile":
		return []any{r.eval(psParse(r.data).body[0])}
	case "convertto-json":
		b, err := json.Marshal(c.named["inputobject"])
		if err != nil {
			panic(err)
		}
		return []any{string(b)}
	case "convertfrom-json":
		d := json.NewDecoder(strings.NewReader(toString(c.input[0])))
		d.UseNumber()
		var x any
		if err := d.Decode(&x); err != nil {
			throw("%v", err)
		}
		return []any{fromJSON(x)}
	}
	panic("unknown command " + c.name)
}

func (r *psRunner) lookup(scope, name string) any {
	if scope == "env" {
		return map[string]any{"computername": "N1", "programdata": `C:\ProgramData`}[name]
	}
	if name == "pscmdlet" {
		return r
	}
	for s := r.scope; s != nil; s = s.up {
		if scope == "script" {
			s = r.script
		}
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	throw("the variable '$%s' cannot be retrieved because it has not been set", name)
	return nil
}

func (r *psRunner) assign(to psNode, v any) {
	switch n := to.(type) {
	case *psVar:
		s := r.scope
		if n.scope == "script" {
			s = r.script
		}
		s.vars[n.name] = v
	case *psMember:
		o := r.eval(n.of).(*psObject)
		if n.dyn != nil {
			n = &psMember{of: n.of, name: toString(r.eval(n.dyn))}
		}
		if _, known := o.values[strings.ToLower(n.name)]; !known && !o.table {
			throw("the property '%s' cannot be found", n.name)
		}
		o.set(n.name, v)
	case *psIndex:
		r.eval(n.of).(*psObject).set(toString(r.eval(n.at)), v)
	default:
		panic(fmt.Sprintf("assignment to %T", to))
	}
}

func (r *psRunner) eval(n psNode) any {
	switch n := n.(type) {
	case *psLiteral:
		return n.value
	case *psVar:
		return r.lookup(n.scope, n.name)
	case *psBlock:
		return n
	case *psParen:
		return collect(r.body(n.body))
	case *psArray:
		out := r.body(n.body)
		if out == nil {
			out = []any{}
		}
		return out
	case *psComma:
		out := make([]any, len(n.items))
		for i, x := range n.items {
			out[i] = r.eval(x)
		}
		return out
	case *psHash:
		o := newObject()
		o.table = true
		for i, k := range n.keys {
			o.set(toString(r.eval(k)), r.eval(n.values[i]))
		}
		return o
	case *psCast:
		return cast(n.typ, r.eval(n.x))
	case *psUnary:
		v := r.eval(n.x)
		if n.op == "-not" {
			return !truthy(v)
		}
		return -toInt(v)
	case *psBinary:
		return r.binary(n)
	case *psIndex:
		return index(r.eval(n.of), r.eval(n.at))
	case *psMember:
		return r.member(n)
	case *psStatic:
		return r.static(n)
	}
	return collect(r.statement(n))
}

func (r *psRunner) binary(n *psBinary) any {
	a := r.eval(n.a)
	switch n.op {
	case "-and":
		return truthy(a) && truthy(r.eval(n.b))
	case "-or":
		return truthy(a) || truthy(r.eval(n.b))
	}
	b := r.eval(n.b)
	switch n.op {
	case "-eq", "-ne":
		if list, ok := a.([]any); ok {
			var out []any
			for _, x := range list {
				if equal(x, b) == (n.op == "-eq") {
					out = append(out, x)
				}
			}
			return out
		}
		return equal(a, b) == (n.op == "-eq")
	case "-gt":
		return order(a, b) > 0
	case "-ge":
		return order(a, b) >= 0
	case "-lt":
		return order(a, b) < 0
	case "-le":
		return order(a, b) <= 0
	case "-contains", "-notcontains":
		return slices.ContainsFunc(spread(a), func(x any) bool { return equal(x, b) }) == (n.op == "-contains")
	case "-like":
		ok, _ := path.Match(strings.ToLower(toString(b)), strings.ToLower(toString(a)))
		return ok
	case "-match":
		return regexp.MustCompile("(?i)" + toString(b)).MatchString(toString(a))
	case "-replace":
		pair := b.([]any)
		return regexp.MustCompile("(?i)"+toString(pair[0])).ReplaceAllString(toString(a), toString(pair[1]))
	case "-join":
		var words []string
		for _, x := range spread(a) {
			words = append(words, toString(x))
		}
		return strings.Join(words, toString(b))
	case "-is":
		_, list := a.([]any)
		return list
	case "-f":
		return format(toString(a), spread(b))
	case "+", "-", "/", "*":
		return arithmetic(n.op, a, b)
	case "..":
		out := []any{}
		for i := toInt(a); i <= toInt(b); i++ {
			out = append(out, i)
		}
		return out
	}
	panic("operator " + n.op)
}

func arithmetic(op string, a, b any) any {
	if list, ok := a.([]any); ok && op == "+" {
		return append(slices.Clone(list), spread(b)...)
	}
	if s, ok := a.(string); ok {
		return s + toString(b)
	}
	x, y := toInt(a), toInt(b)
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	return x / y
}

var formatItem = regexp.MustCompile(`\{(\d+)(?:,(-?\d+))?(?::(x)(\d*))?\}`)

func format(f string, args []any) string {
	return formatItem.ReplaceAllStringFunc(f, func(item string) string {
		m := formatItem.FindStringSubmatch(item)
		n, _ := strconv.Atoi(m[1])
		if n >= len(args) {
			throw("the format %q wants %d arguments", f, n+1)
		}
		s := toString(args[n])
		if m[3] == "x" {
			width, _ := strconv.Atoi(m[4])
			s = fmt.Sprintf("%0*x", width, toInt(args[n]))
		}
		if m[2] != "" {
			width, _ := strconv.Atoi(m[2])
			s = fmt.Sprintf("%*s", width, s)
		}
		return s
	})
}

func index(of, at any) any {
	switch of := of.(type) {
	case []any:
		i := int(toInt(at))
		if i < 0 || i >= len(of) {
			throw("index %d was outside the bounds of the array", i)
		}
		return of[i]
	case *psObject:
		return of.values[strings.ToLower(toString(at))] // a missing key is $null
	case psProperties:
		v, known := of.of.values[strings.ToLower(toString(at))]
		if !known {
			return nil
		}
		return newObject("Value", v)
	case nil:
		throw("cannot index into a null array")
	}
	panic(fmt.Sprintf("index of %T", of))
}

func (r *psRunner) member(n *psMember) any {
	of, name := r.eval(n.of), n.name
	if n.dyn != nil {
		name = toString(r.eval(n.dyn))
	}
	var args []any
	for _, a := range n.args {
		args = append(args, r.eval(a))
	}
	name = strings.ToLower(name)
	switch of := of.(type) {
	case nil:
		throw("the property '%s' cannot be found on $null", name)
	case *psRunner:
		if name == "shouldprocess" {
			return !truthy(r.lookup("", "whatifpreference"))
		}
	case *psObject:
		switch {
		case name == "psobject":
			return newObject("Properties", psProperties{of})
		case n.call && name == "containskey":
			_, ok := of.values[strings.ToLower(toString(args[0]))]
			return ok
		case !n.call:
			if v, ok := of.values[name]; ok {
				return v
			}
			if of.table && name == "values" {
				out := []any{}
				for _, k := range of.keys {
					out = append(out, of.values[strings.ToLower(k)])
				}
				return out
			}
			if name == "count" && !of.table {
				return int64(1)
			}
		}
	case []any:
		if name == "count" {
			return int64(len(of))
		}
		if name == "psobject" {
			return newObject("Properties", newObject("Count", newObject("Value", int64(len(of)))))
		}
		// Of every element.
		var out []any
		for _, x := range of {
			out = append(out, r.member(&psMember{of: &psLiteral{x}, name: name}))
		}
		return collect(out)
	case string:
		switch name {
		case "tochararray":
			var out []any
			for _, u := range utf16.Encode([]rune(of)) {
				out = append(out, psChar(u))
			}
			return out
		case "tolowerinvariant":
			return strings.ToLower(of)
		case "contains":
			return strings.Contains(of, toString(args[0]))
		case "split":
			var out []any
			for _, s := range strings.Split(of, toString(args[0])) {
				out = append(out, s)
			}
			return out
		}
	case psTime:
		switch name {
		case "tostring":
			return fmt.Sprintf("%010d", int64(of))
		case "addseconds":
			return of + psTime(toInt(args[0]))
		case "tofiletimeutc":
			return int64(of) * 10_000_000
		}
	}
	throw("the property '%s' cannot be found on this object", name)
	return nil
}

// psProperties is PSObject.Properties: by name or one by one, each with its value.
type psProperties struct{ of *psObject }

// psChar is a UTF-16 unit, as [char] is.
type psChar uint16

type psTime int64 // seconds

func (r *psRunner) static(n *psStatic) any {
	var args []any
	for _, a := range n.args {
		args = append(args, r.eval(a))
	}
	switch n.typ + "::" + strings.ToLower(n.name) {
	case "system.management.automation.wildcardpattern::escape":
		return regexp.MustCompile(`[*?\[\]]`).ReplaceAllString(toString(args[0]), "`$0")
	case "math::floor":
		return args[0]
	case "math::abs":
		return int64(math.Abs(float64(toInt(args[0]))))
	case "datetime::utcnow":
		r.now++
		return psTime(r.now)
	case "system.globalization.cultureinfo::invariantculture":
		return "invariant"
	case "system.io.directory::getfiles":
		out := []any{}
		prefix, suffix, _ := strings.Cut(toString(args[1]), "*")
		for f := range r.files {
			name, ok := strings.CutPrefix(f, toString(args[0])+`\`)
			if ok && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) {
				out = append(out, f)
			}
		}
		return out
	}
	panic("static member " + n.typ + "::" + n.name)
}

func cast(typ string, v any) any {
	if elem, ok := strings.CutSuffix(typ, "[]"); ok {
		out := []any{}
		for _, x := range spread(v) {
			out = append(out, cast(elem, x))
		}
		return out
	}
	switch typ {
	case "string":
		return toString(v)
	case "int", "long", "uint32", "uint64":
		return toInt(v)
	case "char":
		return v.(psChar)
	case "bool":
		return truthy(v)
	case "pscustomobject":
		o := v.(*psObject)
		c := *o
		c.table = false
		return &c
	case "ordered", "object", "scriptblock", "parameter":
		return v
	}
	panic("cast to " + typ)
}

func toString(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case psChar:
		return string(rune(v)) // half of a pair is lost
	case []any:
		var words []string
		for _, x := range v {
			words = append(words, toString(x))
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprintf("%T", v)
}

func toInt(v any) int64 {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 1
		}
		return 0
	case int64:
		return v
	case psChar:
		return int64(v)
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			throw("%q is no number", v)
		}
		return n
	}
	throw("%T is no number", v)
	return 0
}

func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int64:
		return v != 0
	case []any:
		switch len(v) {
		case 0:
			return false
		case 1:
			return truthy(v[0])
		}
	}
	return true
}

// equal compares as -eq does: the right side takes the type of the left.
func equal(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	switch a := a.(type) {
	case string:
		return strings.EqualFold(a, toString(b))
	case bool:
		return a == truthy(b)
	case int64:
		if s, ok := b.(string); ok {
			n, err := strconv.ParseInt(s, 10, 64)
			return err == nil && n == a
		}
		return a == toInt(b)
	case *psObject:
		return a == b
	}
	panic(fmt.Sprintf("-eq of %T and %T", a, b))
}

func order(a, b any) int {
	switch a := a.(type) {
	case string:
		return cmp.Compare(strings.ToLower(a), strings.ToLower(toString(b)))
	case psTime:
		return cmp.Compare(a, b.(psTime))
	}
	return cmp.Compare(toInt(a), toInt(b))
}

// spread is a value as the pipeline passes it on: arrays element by element,
// $null as one item.
func spread(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case psProperties:
		var out []any
		for _, k := range v.of.keys {
			out = append(out, newObject("Name", k, "Value", v.of.values[strings.ToLower(k)]))
		}
		return out
	}
	return []any{v}
}

// collect is what an assignment makes of a stream.
func collect(stream []any) any {
	switch len(stream) {
	case 0:
		return nil
	case 1:
		return stream[0]
	}
	return stream
}
