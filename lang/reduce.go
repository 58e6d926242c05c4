package lang

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// reduceFile parses a file and reduces it. It needs no other file and may run
// beside others; the tree is dropped when it returns.
func reduceFile(name string, id source.FileID, src []byte, maxBytes int) *file {
	return reducePart(name, id, src, place{0, uint32(min(len(src), maxBytes))}, maxBytes)
}

// reducePart is reduceFile for a part of a native file that holds whole blocks.
// Places are those of the file.
func reducePart(name string, id source.FileID, src []byte, part place, maxBytes int) *file {
	f := &file{name: name, id: id, src: src, part: part, tables: tablesFor(int(part.length))}
	f.json = strings.HasSuffix(name, ".json")
	base := name[strings.LastIndexByte(name, '/')+1:]
	if stem, _, _ := strings.Cut(base, ".roce."); stem == "override" || strings.HasSuffix(stem, "_override") {
		f.refuse(&problem{summary: "files are not laid over each other: what " + base + " changes stands in the block that it changes", help: "write `except` in that block for one member, or `override` with a reason and an end date, and give the file another name"})
		return f
	}
	if len(src) > maxBytes {
		f.refuse(&problem{0, 0, "file has " + strconv.Itoa(len(src)) + " bytes, at most " + strconv.Itoa(maxBytes) + " are read", "split it, or use for_each with rows()"})
		return f
	}
	if p := checkText(f.text()); p != nil {
		f.refuse(p)
		return f
	}
	if f.otherLanguage() {
		return f
	}
	r := reducer{file: f}
	if !f.json && r.quickFile() {
		return f
	}
	body, comments := f.parse()
	if body == nil {
		f.broken = true
		return f
	}
	said, bound := len(f.diags), f.bound
	r.size(body)
	r.top(body)
	f.findIgnores(body, comments)
	if f.broken {
		f.diags, f.bound = f.diags[:said], bound // what is missing from half a tree is no finding
	}
	return f
}

// text is the part of the file that is read.
func (f *file) text() []byte { return f.src[f.part.start : f.part.start+f.part.length] }

// say adds a finding of this file, as long as there is room.
func (f *file) say(d diag.Diagnostic) {
	if f.bound.Take(d.Severity) {
		f.diags.Add(d)
	}
}

func (f *file) refuse(p *problem) {
	f.broken = true
	f.say(diag.Diagnostic{Summary: p.summary, Help: p.help, Labels: []diag.Label{{Span: source.Span{File: f.id, Start: uint32(p.start), Len: uint32(p.length)}}}})
}

// parse returns the native tree of either syntax, nil if there is none.
func (f *file) parse() (*hclsyntax.Body, []jsonComment) {
	if f.json {
		return f.parseJSON(nil)
	}
	src, start := f.start()
	if body, ok := parsePlain(src, f.name, start.Byte); ok {
		return body, nil
	}
	if manyMarks(src) {
		f.refuse(marksProblem(start.Byte))
		return nil, nil
	}
	if p := checkDepth(src); p != nil {
		f.refuse(p)
		return nil, nil
	}
	parsed, diags := hclsyntax.ParseConfig(src, f.name, start)
	body, _ := parsed.Body.(*hclsyntax.Body)
	diags = slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool { return f.redefined(body, d) })
	f.syntax(diags)
	return body, nil
}

// start is the text to parse and where it begins, behind a byte order mark.
func (f *file) start() ([]byte, hcl.Pos) {
	src, start := f.text(), hcl.Pos{Line: 1, Column: 1, Byte: int(f.part.start)}
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		src, start.Byte = src[3:], start.Byte+3
	}
	return src, start
}

// parseJSON is parse for JSON, whose words are those of a shape; nil: of the language.
func (f *file) parseJSON(shape jsonShape) (*hclsyntax.Body, []jsonComment) {
	src, start := f.start()
	if manyMarks(src) {
		f.refuse(marksProblem(start.Byte))
		return nil, nil
	}
	if p := checkJSONDepth(src); p != nil {
		f.refuse(p)
		return nil, nil
	}
	body, r, diags := parseJSON(src, f.name, start, shape)
	f.syntax(diags)
	for _, d := range r.wrong {
		f.say(fromHCL(d, placeOf(*d.Subject).in(f.id)))
	}
	return body, r.comments
}

// redefinedTitle is what the library calls an attribute that is written twice.
const redefinedTitle = "Attribute redefined"

// redefined reports an attribute that is written twice, which leaves the rest
// of the file as good as it is.
func (f *file) redefined(body *hclsyntax.Body, d *hcl.Diagnostic) bool {
	if d.Summary != redefinedTitle || body == nil || d.Subject == nil {
		return false
	}
	at := placeOf(*d.Subject)
	if int(at.start+at.length) > len(f.src) {
		return false
	}
	name := string(f.src[at.start : at.start+at.length])
	out := diag.Diagnostic{Summary: "attribute `" + name + "` is written twice", Help: "leave one of them out", Labels: []diag.Label{{Span: at.in(f.id)}}}
	for b := body; b != nil; {
		if first, ok := b.Attributes[name]; ok && first.NameRange.Start.Byte < int(at.start) {
			out.Labels = append(out.Labels[:1], diag.Label{Span: placeOf(first.NameRange).in(f.id), Text: "first written"})
		}
		b = innerBody(b, int(at.start))
	}
	f.say(out)
	return true
}

func innerBody(b *hclsyntax.Body, at int) *hclsyntax.Body {
	for _, in := range b.Blocks {
		if in.TypeRange.Start.Byte < at && at < in.CloseBraceRange.End.Byte {
			return in.Body
		}
	}
	return nil
}

func (f *file) syntax(diags hcl.Diagnostics) {
	if !diags.HasErrors() {
		return
	}
	f.broken = true
	for _, d := range syntaxErrors(diags, f.src, f.id) {
		f.say(d)
	}
}

// takenAttr is an attribute of the block at hand with its tree.
type takenAttr struct {
	attr
	tree     hclsyntax.Expression
	observed bool // it stands in `observed`
}

type reducer struct {
	*file
	stack  []int32     // the blocks around
	taken  []takenAttr // of the block at hand
	args   []*hclsyntax.Attribute
	refKey []byte  // room of noteRef
	own    mention // of the variable at hand
	large  bool    // the file is too large for the library as a whole
}

// size reserves the tables for what the tree holds.
func (r *reducer) size(body *hclsyntax.Body) {
	blocks, attrs := 0, 0
	var count func(*hclsyntax.Body)
	count = func(b *hclsyntax.Body) {
		blocks += len(b.Blocks)
		attrs += len(b.Attributes)
		for _, in := range b.Blocks {
			count(in.Body)
		}
	}
	count(body)
	r.decls = make([]decl, 0, blocks)
	r.attrs = make([]attr, 0, attrs)
}

func (r *reducer) fail(at place, summary, help string) {
	if r.bound.Full(diag.Error) { // as where a million blocks are wrong
		r.say(diag.Diagnostic{})
		return
	}
	r.say(diag.Diagnostic{Summary: summary, Help: help, Labels: []diag.Label{{Span: at.in(r.id), Where: r.where()}}})
}

func (r *reducer) where() string {
	var b strings.Builder
	for i, d := range r.stack {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(r.strs[r.decls[d].head])
	}
	return b.String()
}

func (r *reducer) top(body *hclsyntax.Body) {
	for _, a := range sortedAttrs(body.Attributes) {
		help := "attributes stand in blocks; named values stand in `locals`"
		if schema.ByWord(schema.None, a.Name) != schema.None {
			help = "it is a block: write `" + a.Name + " ... { }` without the equals sign"
		}
		r.fail(placeOf(a.NameRange), "attribute `"+a.Name+"` stands outside of any block", help)
	}
	for _, b := range body.Blocks {
		r.block(b, schema.None, schema.None, -1)
	}
}

func sortedAttrs(m hclsyntax.Attributes) []*hclsyntax.Attribute {
	out := make([]*hclsyntax.Attribute, 0, len(m))
	for _, a := range m {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b *hclsyntax.Attribute) int { return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte) })
	return out
}

// block reduces one block and what is inside. The parent's attributes are
// those of `of`, which differs from its kind in except.
func (r *reducer) block(b *hclsyntax.Block, parent, parentOf schema.Kind, up int32) {
	kind := schema.ByWord(parent, b.Type)
	if parent == schema.Except {
		kind = schema.ByWord(parentOf, b.Type)
		if kind == schema.Except {
			kind = schema.None
		}
	}
	if kind == schema.None {
		r.unknownBlock(b, parent, parentOf)
		return
	}
	def := schema.Def(kind)
	d := decl{kind: kind, of: kind, parent: up, head: r.head(b), at: headPlace(b)}
	me := int32(len(r.decls))
	r.decls = append(r.decls, d)
	r.stack = append(r.stack, me)
	if !r.labels(b, def, &d) {
		d.flags |= hasDynamic // kept, so that references to it do not fail too
	}
	switch kind {
	case schema.Except:
		d.of = parentOf
	case schema.Defaults:
		d.of = defaultsOf(r.strs[d.label])
	}
	if isProg(kind) {
		r.decls[me] = d
		r.prog(b, kind, me)
	} else {
		if d.of.Tier() {
			r.tierLinks(b, &d)
		}
		r.fabric(b, &d)
		r.decls[me] = d
		for _, in := range b.Body.Blocks {
			if d.of.Tier() && in.Type == schema.Def(schema.TierLink).Word {
				continue // read with the tier
			}
			r.block(in, kind, d.of, me)
		}
	}
	r.decls[me].end = int32(len(r.decls))
	r.stack = r.stack[:len(r.stack)-1]
}

func defaultsOf(word string) schema.Kind {
	switch word {
	case "switch":
		return schema.Switch
	case "node":
		return schema.Node
	case "port":
		return schema.Port
	case "nic":
		return schema.NIC
	case "link":
		return schema.Link
	}
	return schema.None
}

func headPlace(b *hclsyntax.Block) place {
	end := b.TypeRange.End.Byte
	if n := len(b.LabelRanges); n > 0 {
		end = max(end, b.LabelRanges[n-1].End.Byte)
	}
	return place{uint32(b.TypeRange.Start.Byte), uint32(end - b.TypeRange.Start.Byte)}
}

// head is the block's word and labels as written.
func (r *reducer) head(b *hclsyntax.Block) Str {
	if !r.json {
		at := headPlace(b)
		return r.bytesStr(r.src[at.start : at.start+at.length])
	}
	s := b.Type
	for _, l := range b.Labels {
		s += " " + strconv.Quote(l)
	}
	return r.str(s)
}

func (r *reducer) unknownBlock(b *hclsyntax.Block, parent, parentOf schema.Kind) {
	at := placeOf(b.TypeRange)
	if r.bound.Full(diag.Error) {
		r.fail(at, "", "")
		return
	}
	where := "at the top of a file"
	if parent != schema.None {
		where = "in `" + parent.String() + "`"
	}
	if what, ok := schema.Later[b.Type]; ok {
		r.fail(at, "block `"+b.Type+"` is not in this version of rocec: "+what+" come later", "leave it out")
		return
	}
	switch b.Type {
	case "run":
		r.fail(at, "there is no block `run` "+where, "tests stand in files that end in "+TestEndings[0])
		return
	case "lint", "rule":
		r.fail(at, "there is no block `"+b.Type+"` "+where, "settings of lint stand in "+SettingsName)
		return
	case "lifecycle":
		r.fail(at, "block `lifecycle` is not in this version of rocec", "leave it out: what rocec does not manage it never removes")
		return
	}
	of := parent
	if parent == schema.Except {
		of = parentOf
	}
	var words []string
	for _, k := range schema.Inside(of) {
		if k != schema.Except || parent != schema.Except {
			words = append(words, schema.Def(k).Word)
		}
	}
	help := foreignBlock(b.Type, of)
	if help == "" {
		help = didYouMean(b.Type, words)
	}
	if help == "" {
		for k := schema.None + 1; k < schema.KindCount; k++ {
			if help == "" && schema.Def(k).Word == b.Type {
				help = placeFor(k)
			}
		}
	}
	if help == "" && of != schema.None && schema.Lookup(of, b.Type) != nil {
		help = "it is an attribute: write `" + b.Type + " = { ... }`"
	}
	if help == "" && len(words) > 0 {
		help = "blocks here are " + quotedPlain(words)
	}
	if len(words) == 0 {
		r.fail(at, "`"+parent.String()+"` takes no blocks, and `"+b.Type+"` stands in it", help)
		return
	}
	r.fail(at, "there is no block `"+b.Type+"` "+where, help)
}

// placeFor says where a kind of block belongs.
func placeFor(k schema.Kind) string {
	var in []string
	for p := schema.None; p < schema.KindCount; p++ {
		if slices.Contains(schema.Inside(p), k) {
			if p == schema.None {
				return "it stands at the top of a file"
			}
			in = append(in, "`"+p.String()+"`")
		}
	}
	return "it stands in " + strings.Join(in, " or ")
}

// labels checks the labels of a block and notes the last.
func (r *reducer) labels(b *hclsyntax.Block, def *schema.BlockDef, d *decl) bool {
	want := len(def.Labels)
	if len(b.Labels) != want {
		shape := def.Word
		for _, l := range def.Labels {
			shape += " \"" + strings.ToUpper(l.Name) + "\""
		}
		what := " has " + strconv.Itoa(len(b.Labels)) + " labels, "
		if len(b.Labels) == 1 {
			what = " has a label, "
		}
		if len(b.Labels) == 0 {
			what = " has no label, "
		}
		needs := "it takes " + strconv.Itoa(want)
		if want == 0 {
			needs = "it takes none"
		}
		r.fail(d.at, "block `"+def.Word+"`"+what+needs, "write `"+shape+" { }`")
		if len(b.Labels) > 0 {
			d.label = r.str(b.Labels[len(b.Labels)-1])
		}
		return false
	}
	if want == 0 {
		return true
	}
	label := b.Labels[want-1]
	d.label = r.str(label)
	d.labelP = placeOf(b.LabelRanges[want-1])
	if want > 1 {
		d.first = r.str(b.Labels[0])
	}
	for i, l := range b.Labels {
		if enum := def.Labels[i].Enum; enum != nil && !slices.Contains(enum, l) {
			help := "write " + quoted(enum, "or")
			if n := Nearest(l, enum); n != "" {
				help += "; did you mean " + quoteWord(n) + "?"
			}
			r.fail(placeOf(b.LabelRanges[i]), "`"+def.Word+"` does not take "+quoteWord(l), help)
			return false
		}
	}
	if label == "" {
		r.fail(d.labelP, "label of `"+def.Word+"` is empty", "write a name between the quotes")
		return false
	}
	return r.labelForm(label, def, d)
}

func (r *reducer) labelForm(label string, def *schema.BlockDef, d *decl) bool {
	if def.Ranged && strings.ContainsAny(label, "[]") {
		rg, err := funcs.ParseRange(label)
		if err != nil {
			r.fail(d.labelP, "label "+rangeProblem(label, err), "ranges look like \"swp[1-4,9]\" or \"Ethernet[0-252:4]\"")
			return false
		}
		if rg.Len() > funcs.MaxRange {
			r.fail(d.labelP, "label "+quoteWord(label)+" has more than "+strconv.Itoa(funcs.MaxRange)+" members", rangeHelp(rg, nil))
			return false
		}
		d.flags |= hasRange
		return true
	}
	switch d.kind {
	case schema.Switch, schema.Node, schema.Topology:
		if why := badDeviceName(label); why != "" {
			help := deviceNameHelp
			if strings.ContainsAny(label, "[]") {
				help = "only blocks inside of a device have ranges: write for_each = toset(expand_range(" + quoteWord(label) + "))"
			}
			r.fail(d.labelP, "name "+quoteWord(label)+" of `"+def.Word+"` "+why, help)
			return false
		}
	case schema.Variable, schema.Module, schema.Output, schema.Check:
		if !hclsyntax.ValidIdentifier(label) {
			r.fail(d.labelP, "name "+quoteWord(label)+" of `"+def.Word+"` is not an identifier", "letters, digits, '_' and '-', starting with a letter")
			return false
		}
	case schema.Connection, schema.Class, schema.QoS, schema.Segment, schema.Link, schema.MLAG, schema.LAG, schema.Bond, schema.GPU, schema.Cabling, schema.Routing, schema.Wave:
		if why := badLabel(label); why != "" {
			r.fail(d.labelP, "label "+quoteWord(label)+" of `"+def.Word+"` "+why, labelHelp)
			return false
		}
	}
	return true
}

const deviceNameHelp = "a name has letters, digits, '.', '_' and '-', and starts with a letter or digit"

// badDeviceName says what is wrong with the name of a device, "" if nothing.
func badDeviceName(s string) string {
	if s == "" {
		return "is empty"
	}
	if len(s) > 63 {
		return "has " + strconv.Itoa(len(s)) + " characters, at most 63 are allowed"
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		ok := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !ok && (i == 0 || c != '.' && c != '_' && c != '-') {
			return "has a character that a name cannot have at position " + strconv.Itoa(i+1)
		}
	}
	return ""
}

func badLabel(s string) string {
	if len(s) > 128 {
		return "is longer than 128 characters"
	}
	for _, c := range s {
		if c < 0x20 || c == 0x7f {
			return "has a control character"
		}
	}
	return ""
}

// fabric reduces the attributes of a block of the fabric.
func (r *reducer) fabric(b *hclsyntax.Block, d *decl) {
	def := schema.Def(d.kind)
	r.taken = r.taken[:0]
	for name, a := range b.Body.Attributes {
		ad := r.lookup(d, def, name)
		if ad == nil || ad.Num.Name() != name && writtenOf(b.Body.Attributes, ad) != a {
			r.args = append(r.args, a)
			continue
		}
		if ad.Num.Name() != name {
			r.formerWord(placeOf(a.NameRange), ad, name)
		}
		if ad.Num == schema.AObserved && r.observed(d, a.Expr) {
			continue
		}
		r.taken = append(r.taken, takenAttr{attr{def: defOf(d, ad), num: ad.Num, at: placeOf(a.Expr.Range())}, a.Expr, false})
	}
	for _, a := range sortedUnknown(r.args) {
		if ad := r.lookup(d, def, a.Name); ad != nil {
			r.twiceNamed(placeOf(a.NameRange), ad, a.Name, placeOf(writtenOf(b.Body.Attributes, ad).NameRange))
			continue
		}
		r.unknownAttr(a, d, def)
	}
	r.args = r.args[:0]
	slices.SortFunc(r.taken, func(a, b takenAttr) int { return cmp.Compare(a.num, b.num) })
	r.bothPlaces()
	d.attrs = span32{uint32(len(r.attrs)), uint32(len(r.taken))}
	for i := range r.taken {
		r.attrs = append(r.attrs, r.taken[i].attr)
		r.noteMisplaced(r.taken[i].def.of(), r.taken[i].at, r.taken[i].observed)
	}
	for i := range r.taken {
		r.value(&r.attrs[int(d.attrs.first)+i], r.taken[i].tree, d)
	}
}

// writtenOf finds an attribute in a block by its name, or by a former one.
func writtenOf(attrs hclsyntax.Attributes, ad *schema.AttrDef) *hclsyntax.Attribute {
	if a := attrs[ad.Num.Name()]; a != nil {
		return a
	}
	for _, name := range ad.Former {
		if a := attrs[name]; a != nil {
			return a
		}
	}
	return nil
}

func sortedUnknown(as []*hclsyntax.Attribute) []*hclsyntax.Attribute {
	slices.SortFunc(as, func(a, b *hclsyntax.Attribute) int { return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte) })
	return as
}

var (
	forEachDef = schema.AttrDef{Num: schema.AForEach, Type: schema.Type{Base: schema.Any}}
	enabledDef = schema.AttrDef{Num: schema.AEnabled, Type: schema.Type{Base: schema.Bool}}
)

// lookup returns the definition of an attribute of a block, nil if it takes
// none of that name.
func (r *reducer) lookup(d *decl, def *schema.BlockDef, name string) *schema.AttrDef {
	if def.Each {
		switch name {
		case "for_each":
			d.flags |= hasForEach
			return &forEachDef
		case "enabled":
			d.flags |= hasEnabled
			return &enabledDef
		}
	}
	if ad := schema.LookupFormer(d.kind, name); ad != nil {
		if ad.Num == schema.AName {
			d.flags |= hasName
		}
		return ad
	}
	if d.of != d.kind {
		if name == "enabled" && d.kind == schema.Except && (d.of == schema.Port || d.of == schema.NIC) {
			d.flags |= hasEnabled
			return &enabledDef
		}
		if name == "name" || d.kind == schema.Defaults && name == "at" || d.of.Tier() && (name == "count" || name == "switches") {
			return nil
		}
		ad := schema.LookupFormer(d.of, name)
		if d.kind == schema.Defaults && ad != nil && slices.Contains(schema.OwnAlone, ad.Num) {
			return nil // it is read where the block itself writes it
		}
		return ad
	}
	return nil
}

func (r *reducer) unknownAttr(a *hclsyntax.Attribute, d *decl, def *schema.BlockDef) {
	at := placeOf(a.NameRange)
	if d.of == schema.None {
		return // the label is wrong, which was said
	}
	if r.bound.Full(diag.Error) {
		r.fail(at, "", "")
		return
	}
	switch a.Name {
	case "depends_on":
		r.fail(at, "attribute `depends_on` is not in this version of rocec: it orders rollouts, which come later", "leave it out")
		return
	case "count":
		if def.Each {
			r.fail(at, "there is no attribute `count`: adding one would renumber the others", "write for_each = toset(expand_range(\"name[1-4]\"))")
			return
		}
	case "experiments", "required_capabilities":
		if d.kind == schema.Rocec {
			r.fail(at, "`"+a.Name+"` did nothing in earlier versions, and the word is kept for later ones", "leave it out")
			return
		}
	case "peer":
		if d.of == schema.NIC {
			r.fail(at, "there is no attribute `peer`: a switch port has the speed and the VLANs of its NIC unless it writes its own",
				"leave `peer` out; what else the port is to have stands in its `port` block")
			return
		}
	case "password", "passphrase", "secret", "enable", "enable_password", "private_key", "key":
		if d.kind == schema.Connection {
			r.fail(d.at, "`connection` has no attribute `"+a.Name+"`: it names secrets and holds none", secretHelp(a.Name))
			return
		}
	}
	r.fail(at, "`"+def.Word+"` has no attribute `"+clipName(a.Name)+"`", attrHelp(a.Name, d, def))
}

// attrHelp says what an attribute that a block does not take may have been meant to
// be: one of its own, a block in it, or that of another block.
func attrHelp(name string, d *decl, def *schema.BlockDef) string {
	names := attrNamesOf(def.Plain())
	if d.of != d.kind {
		names = append(names, attrNamesOf(schema.Def(d.of).Plain())...)
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	if def.Each {
		names = append(names, "for_each", "enabled")
	}
	if help := foreignAttr(name, names); help != "" {
		return help
	}
	for _, k := range schema.Inside(d.of) {
		switch {
		case schema.Def(k).Word == name:
			return "it is a block: write `" + name + " ... { }` without the equals sign"
		case d.kind == schema.Except && Nearest(name, names) == "" && (k == schema.Port || k == schema.NIC) && schema.Lookup(k, name) != nil:
			return "this one changes each `" + d.of.String() + "`: write it inside of the `" + schema.Def(k).Word + "` block whose members it changes"
		}
	}
	var others []string
	for k := schema.None + 1; k < schema.KindCount; k++ {
		if word := "`" + schema.Def(k).Word + "`"; schema.Lookup(k, name) != nil && !slices.Contains(others, word) {
			others = append(others, word)
		}
	}
	help := choiceHelp(name, "it takes ", names)
	if Nearest(name, names) != "" {
		return help
	}
	if near := Nearest(name, attrNamesOf(schema.Def(d.of).Seen())); near != "" {
		return "did you mean `" + near + "` of `" + schema.AObserved.Name() + "`?"
	}
	if len(names) > mostChoices {
		help += " (rocec explain " + schema.Def(d.of).Word + ")"
	}
	const most = 4
	if n := len(others); n > 0 && n <= most {
		help += "; `" + name + "` stands in " + strings.Join(others, ", ")
	}
	return help
}

// secretHelp says how a connection names a secret that somebody tried to write.
func secretHelp(attr string) string {
	switch attr {
	case "enable", "enable_password":
		return "write enable_env = \"NAME\", the environment variable that holds it"
	case "private_key", "key":
		return "write identity = \"FILE\", the file that holds the key"
	case "passphrase":
		return "an encrypted key is used through the agent: write agent = true"
	}
	return "write password_env = \"NAME\", the environment variable that holds it, or password_command = [\"PROGRAM\", ...], which prints it"
}

func clipName(s string) string {
	if len(s) > 60 {
		return s[:57] + "..."
	}
	return s
}

// expr keeps a tree, and returns its index+1.
func (r *reducer) expr(e hclsyntax.Expression) int32 {
	w := rewriter{note: r.mention}
	tree := w.expr(e)
	r.exprs = append(r.exprs, expr{tree: tree, deps: w.deps, at: placeOf(e.Range())})
	return int32(len(r.exprs))
}
