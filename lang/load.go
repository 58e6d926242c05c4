package lang

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// Options is everything that Load takes. It reads nothing else.
type Options struct {
	// FS is the tree that modules and data files are read from.
	FS fs.FS
	// Dir is the folder of the root module in FS, "." unless given.
	Dir string
	// Files are the files of configuration to read, relative to FS, in place of
	// those found in Dir.
	Files []string
	// Env are variables from the environment, below all files. A name that no
	// variable has is ignored.
	Env []Var
	// Vars are variables from the command line in its order, above all files.
	Vars []Var
	// Packs is the tree of capability data with an index.json that gives the
	// file of each model. Nil: none.
	Packs fs.FS
	// Headroom is the formula behind the function headroom(). Nil: the function
	// fails.
	Headroom func(funcs.HeadroomArgs) (int64, error)
	// Workers is the number of files parsed at a time, at least 1.
	Workers int
	// MaxFileBytes bounds a file of configuration; 0 means 256 MiB.
	MaxFileBytes int
	// Keep keeps what Console needs. Checks keep it too.
	Keep bool
	// Run is the run of a test that the configuration is loaded for: it sets
	// variables, above all others. It takes Keep to ask what else it says.
	Run *Run
	// MaxLateSteps bounds one evaluation: an expression of the source, or, over the
	// compiled fabric, a condition of a check or test, or what a console is asked. A
	// step is an element that a `for` or a splat goes over, or a row that the fabric
	// answers with; 0 means 2,000,000.
	MaxLateSteps int
}

// Var is one value of a variable, or a file of them, from outside.
type Var struct {
	Name string // of the variable
	From string // "ROCEC_VAR_x" or "--var"; of a file its name
	Text string // an expression; for a variable of a plain type just the text
	File []byte // content of a --var-file, in place of Name and Text; JSON if From ends in .json
}

// Limits of what one configuration may become.
const (
	defaultMaxFile = 256 << 20
	maxInstances   = 2 << 20
	maxModules     = 16      // nested in each other
	maxCalls       = 100_000 // of modules, those inside counted
	maxKeys        = 1 << 18 // of one for_each, unless it reads a table
	maxFrames      = 1000    // references that wait for each other
)

// Load reads the configuration of a folder and evaluates it. The Config is
// complete only if no diagnostic is an error; it is never nil.
func Load(o Options) (*Config, diag.List) {
	ld := newLoader(o)
	ld.load()
	return ld.finish()
}

// loader is the state of one Load. Files are parsed in parallel; everything
// after that is one thread that evaluates what is asked for, once.
type loader struct {
	Options
	tables
	cfg       *Config
	test      *underTest // nil without Options.Run
	steps     int        // of the evaluation over the fabric under way
	late      bool       // the fabric is there: what is evaluated now is bounded
	files     *source.Files
	diags     diag.List
	bound     diag.Bound          // of diags
	said      map[source.Span]int // index+1 in diags of the first error at a place
	units     map[string]*unit
	mods      []*modinst
	insts     []inst // index = instID
	eaches    []*eachVal
	kidIx     map[kidKey]instID
	kidHas    map[instID]bool
	kidSeen   map[famKey]instID // room for the names inside one block
	memo      map[attrKey]*cell
	trees     map[treeKey]*expr
	stack     []frame
	deep      bool // the stack has been full
	tabs      map[string]*rowTable
	rowFiles  map[*funcs.Rows]source.FileID // the files of tabs
	eachUses  map[unitDecl][]eachUse        // what blocks take of their for_each
	packs     *packs
	limit     int      // of instances
	full      bool     // it, or that of calls, was reached, and that was said
	scopes    []*scope // that are free
	tiers     map[tierKey]*tier
	plans     map[instID]*topoPlan
	pairVals  map[instID][]Value
	pairCount int              // pairs of switches whose cable was evaluated
	pairOf    map[instID]Value // of the topology at hand: cable by the switch below, where the upper end does not matter
	podIx     map[instID]int   // place of a topology among the pods of a clos3
	wants     []want
	wanted    map[famKey]bool
	asked     map[famKey]bool       // hardware of the source that a list of cables or capability() names
	extern    bool                  // some port is external
	ways      []BlockID             // the connections
	sizes     map[source.FileID]int // of files of configuration
	drafts    map[int32]*cableDraft // of the root, by decl: lists that are being read
	converted converted             // the attribute whose value is evaluated last
	stepped   *schema.AttrDef       // what the last step of a reference named by a former name
	formerAt  map[source.Span]bool  // words of earlier editions that evaluating has met
	refAt     source.Span           // the reference at hand, which a port that it implies is shown at
}

func newLoader(o Options) *loader {
	if o.Dir == "" {
		o.Dir = "."
	}
	if o.MaxFileBytes == 0 {
		o.MaxFileBytes = defaultMaxFile
	}
	o.Workers = max(o.Workers, 1)
	return &loader{
		Options: o, limit: maxInstances, tables: newTables(), files: source.NewFiles(),
		cfg:   &Config{Blocks: make([]Block, 1), Decls: make([]Decl, 1), Spans: make([]Span, 0)},
		said:  map[source.Span]int{},
		units: map[string]*unit{}, insts: make([]inst, 1), eaches: make([]*eachVal, 1),
		kidIx: map[kidKey]instID{}, kidHas: map[instID]bool{},
		wanted: map[famKey]bool{}, asked: map[famKey]bool{}, sizes: map[source.FileID]int{},
		memo: map[attrKey]*cell{}, formerAt: map[source.Span]bool{}, trees: map[treeKey]*expr{}, tabs: map[string]*rowTable{}, rowFiles: map[*funcs.Rows]source.FileID{},
		tiers: map[tierKey]*tier{}, plans: map[instID]*topoPlan{}, pairVals: map[instID][]Value{}, podIx: map[instID]int{},
	}
}

func (ld *loader) load() {
	ld.cfg.Files = ld.files
	ld.openPacks()
	u := ld.unit(ld.Dir, ld.Files)
	if u == nil || ld.anyBroken() {
		return
	}
	ld.forget(u)
	defer ld.readAhead(u)()
	root := ld.newModule(u, nil, "")
	ld.inputs(root)
	ld.startRun(root)
	ld.evalModule(root)
	ld.evalWants()
	ld.outputs(root)
}

// forget drops the text of files that nobody can ask for: where nothing is an
// expression and no reference goes on to an attribute, nothing reads what another
// block has written, but for data of models, and defaults, which modules inside read.
func (ld *loader) forget(u *unit) {
	if ld.Keep || ld.Run != nil || slices.ContainsFunc(u.files, func(f *file) bool { return len(f.exprs) > 0 }) || ld.attributeRead(u) {
		return
	}
	asked := map[int32]bool{}
	for _, t := range u.top {
		switch d := &u.decls[t]; d.kind {
		case schema.SwitchModel, schema.NICModel, schema.ASIC, schema.Defaults:
			asked[d.file] = true
		}
	}
	for i, f := range u.files {
		if !asked[int32(i)] {
			f.src = nil
		}
	}
}

// attributeRead reports whether a reference may go on to an attribute of the block that it
// names, as `segment.s.vlan` does: a step behind the name that is the word of one, and not of
// blocks inside whose name follows.
func (ld *loader) attributeRead(u *unit) bool {
	words := map[Str]bool{} // of attributes; true for those of blocks too
	for n := schema.Attr(1); n < schema.AttrCount; n++ {
		if id, ok := ld.lookup(n.Name()); ok {
			words[id] = false
		}
	}
	for k := schema.None + 1; k < schema.KindCount; k++ {
		for i := range schema.Def(k).Attrs {
			for _, former := range schema.Def(k).Attrs[i].Former {
				if id, ok := ld.lookup(former); ok {
					words[id] = false
				}
			}
		}
	}
	for k := schema.None + 1; k < schema.KindCount; k++ {
		if id, ok := ld.lookup(k.String()); ok {
			words[id] = true
		}
	}
	for _, f := range u.files {
		for _, ref := range f.refs {
			steps := f.steps[ref.first : ref.first+ref.n]
			for i := 2; i < len(steps); i++ {
				if block, ok := words[f.shift.strs[steps[i].text]]; ok && !steps[i].index && (!block || i == len(steps)-1) {
					return true
				}
			}
		}
	}
	return false
}

// inParts calls f for the parts of a range of rows, one for each worker, at once.
func (ld *loader) inParts(n, least int, f func(from, end int)) {
	parts := min(ld.Workers, n/least+1)
	if parts == 1 {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { f(n*i/parts, n*(i+1)/parts) })
	}
	wg.Wait()
}

func (ld *loader) anyBroken() bool {
	for _, u := range ld.units {
		if u.broken {
			return true
		}
	}
	return false
}

// evalModule expands and evaluates every block of a module instance.
func (ld *loader) evalModule(m *modinst) {
	for _, name := range m.varNames {
		ld.force(m.vars[name])
	}
	for _, name := range m.localNames {
		ld.force(m.locals[name])
	}
	for _, f := range m.families {
		ld.expand(f)
	}
	for _, f := range m.families {
		for _, id := range f.insts {
			ld.evalTree(id)
		}
	}
	ld.checkPods(m)
	ld.pairCables(m)
	ld.cables(m)
	ld.routes(m)
	ld.exceptsHit(m)
	for _, name := range m.callNames {
		c := m.calls[name]
		if ld.expandCall(c) == nil {
			for _, inner := range c.insts {
				ld.evalModule(inner)
			}
		}
	}
	for _, name := range m.outNames {
		ld.force(m.outs[name])
	}
	ld.checks(m)
}

// evalTree evaluates the attributes of a block and of all blocks inside.
func (ld *loader) evalTree(id instID) {
	ld.expandKids(id)
	ld.evalAttrs(id)
	for kid := ld.insts[id].first; kid != 0; kid = ld.insts[kid].next {
		ld.evalTree(kid)
	}
}

// outputs renders the outputs of the root module.
func (ld *loader) outputs(m *modinst) {
	for _, name := range m.outNames {
		c := m.outs[name]
		if !c.ok {
			continue
		}
		sensitive := c.val.HasMarkDeep(funcs.Sensitive)
		if sensitive && !c.sensitive {
			ld.fail(c.span, "output "+quoteWord(name)+" is a secret and is not declared so", "write sensitive = true", secretLabels(c.val)...)
			continue
		}
		out := OutputVal{Name: name, Sensitive: c.sensitive}
		if !c.sensitive {
			v, _ := c.val.UnmarkDeep()
			text, err := json.Marshal(ld.plainGo(v))
			if err != nil {
				ld.fail(c.span, "output "+quoteWord(name)+" cannot be written as JSON: "+err.Error(), "give out texts, numbers, lists and objects of them")
				continue
			}
			out.JSON = string(text)
		}
		ld.cfg.Outputs = append(ld.cfg.Outputs, out)
	}
}

// plainGo turns a value into what encoding/json prints; references become
// addresses.
func (ld *loader) plainGo(v cty.Value) any {
	switch t := v.Type(); {
	case v.IsNull() || !v.IsKnown():
		return nil
	case isHandleType(t):
		return ld.addrOf(handleOf(v))
	case t == cty.String:
		return v.AsString()
	case t == cty.Bool:
		return v.True()
	case t == cty.Number:
		return json.Number(v.AsBigFloat().Text('f', -1))
	case t.IsObjectType() || t.IsMapType():
		m := map[string]any{}
		for it := v.ElementIterator(); it.Next(); {
			k, el := it.Element()
			m[k.AsString()] = ld.plainGo(el)
		}
		return m
	case v.CanIterateElements():
		list := []any{}
		for it := v.ElementIterator(); it.Next(); {
			_, el := it.Element()
			list = append(list, ld.plainGo(el))
		}
		return list
	}
	return nil
}

// discover lists the files of configuration of a folder by name.
func (ld *loader) discover(dir string) ([]string, error) {
	entries, err := fs.ReadDir(ld.FS, dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if n := e.Name(); !e.IsDir() && (strings.HasSuffix(n, ".roce.hcl") || strings.HasSuffix(n, ".roce.json")) && !strings.HasPrefix(n, ".") {
			names = append(names, joinPath(dir, n))
		}
	}
	slices.Sort(names)
	return names, nil
}

func joinPath(dir, name string) string {
	if dir == "." || dir == "" {
		return name
	}
	return dir + "/" + name
}

// unit reads and reduces the files of a folder, once.
func (ld *loader) unit(dir string, names []string) *unit {
	if u, ok := ld.units[dir]; ok {
		return u
	}
	if names == nil {
		var err error
		if names, err = ld.discover(dir); err != nil {
			ld.fail(source.Span{}, "folder "+quoteWord(dir)+" cannot be read: "+pathError(err), "name the folder of the configuration by --chdir")
			return nil
		}
		if len(names) == 0 {
			ld.fail(source.Span{}, "folder "+quoteWord(dir)+" holds no configuration", "files of configuration end in .roce.hcl or .roce.json")
			return nil
		}
	}
	u := ld.joinUnit(dir, ld.reduceAll(ld.FS, names))
	ld.units[dir] = u
	return u
}

func pathError(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// reduceAll parses files in parallel. File IDs are given out before, in the
// order of names, so that they do not depend on who is first; so are the numbers of
// what their tables hold, file by file while those behind are parsed.
func (ld *loader) reduceAll(fsys fs.FS, names []string) []*file {
	out := make([]*file, len(names))
	ids := make([]source.FileID, len(names))
	work, done := make(chan int, len(names)), make(chan int, len(names))
	for i, n := range names {
		ids[i] = ld.files.AddDigest(n, source.Digest{}, 0)
		work <- i
	}
	close(work)
	for range min(ld.Workers, len(names)) {
		go func() {
			for i := range work {
				out[i] = ld.reduceOne(fsys, names[i], ids[i])
				done <- i
			}
		}()
	}
	bytes := int64(0)
	for _, n := range names {
		if info, err := fs.Stat(fsys, n); err == nil {
			bytes += min(info.Size(), int64(ld.MaxFileBytes))
		}
	}
	ld.expect(int(bytes / bytesApart))
	there, next := make([]bool, len(names)), 0
	for range names {
		there[<-done] = true
		for ; next < len(names) && there[next]; next++ {
			out[next].shift = ld.tables.number(&out[next].tables)
		}
	}
	return out
}

func (ld *loader) reduceOne(fsys fs.FS, name string, id source.FileID) *file {
	src, err := readLimited(fsys, name, ld.MaxFileBytes)
	if err != nil {
		f := &file{name: name, id: id, tables: newTables()}
		f.refuse(&problem{0, 0, "file cannot be read: " + pathError(err), ""})
		return f
	}
	ld.files.Add(name, src)
	return reduceFile(name, id, src, ld.MaxFileBytes)
}

// readLimited does not read files that will be refused for their size, nor
// pipes and devices, which may never end.
func readLimited(fsys fs.FS, name string, limit int) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > int64(limit) {
		return nil, errors.New("it is larger than " + byteSize(limit) + ", which is the most that is read")
	}
	return fs.ReadFile(fsys, name)
}

func byteSize(n int) string {
	if n >= 1<<20 {
		return itoa(n>>20) + " MiB"
	}
	return itoa(n) + " bytes"
}

// fail adds an error. A second one at the same place is folded into the first:
// instances of one block fail alike.
func (ld *loader) fail(at source.Span, summary, help string, more ...diag.Label) {
	if summary == "" {
		return // said where it arose
	}
	if !at.IsZero() {
		switch i := ld.said[at]; {
		case i < 0: // counted
			return
		case i > 0:
			d := &ld.diags[i-1]
			if d.Summary != summary {
				d.Count = max(d.Count, 1) + 1
			}
			return
		}
		if !ld.bound.Take(diag.Error) {
			ld.said[at] = -1
			return
		}
		ld.said[at] = len(ld.diags) + 1
	}
	labels := more
	if !at.IsZero() {
		labels = append([]diag.Label{{Span: at, Where: ld.whereIs(at)}}, more...)
	}
	ld.diags.Add(diag.Diagnostic{Summary: summary, Help: help, Labels: labels})
}

// say adds a finding, as long as there is room.
func (ld *loader) say(d diag.Diagnostic) {
	if ld.bound.Take(d.Severity) {
		ld.diags.Add(d)
	}
}

func (ld *loader) warn(at source.Span, summary, help string) {
	ld.say(diag.Diagnostic{Severity: diag.Warning, Summary: summary, Help: help, Labels: []diag.Label{{Span: at}}})
}

// whereIs names the blocks around a place.
func (ld *loader) whereIs(at source.Span) string {
	if ld.test != nil && ld.test.file.id == at.File {
		return runWhere(ld.test.run.Name)
	}
	for _, u := range ld.units {
		for fi, f := range u.files {
			if f.id == at.File {
				return u.around(int32(fi), at.Start, ld)
			}
		}
	}
	return ""
}

// want is a name of capability data that the fabric mentions.
type want struct {
	kind schema.Kind
	name Str
	at   source.Span
}
