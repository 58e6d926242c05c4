package lang

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/rocec/rocec/lang/source"
)

// inputs hands the values from outside to the variables of the root, from the
// lowest precedence to the highest: environment, fabric.rocevars,
// *.auto.rocevars, command line.
func (ld *loader) inputs(m *modinst) {
	for _, v := range ld.Env {
		if decl, ok := m.variables[v.Name]; ok {
			ld.give(decl, v, v.From)
		}
	}
	for _, name := range ld.varFiles() {
		src, err := readLimited(ld.FS, name, ld.MaxFileBytes)
		id := ld.files.Add(name, src)
		if err != nil {
			ld.fail(source.Span{File: id}, "file cannot be read: "+pathError(err), "files of values are read without being named: make it readable, or give it a name that ends otherwise")
			continue
		}
		ld.varFile(m, name, id, src)
	}
	for _, v := range ld.Vars {
		if v.File != nil || v.Name == "" {
			ld.varFile(m, v.From, ld.files.Add(v.From, v.File), v.File)
			continue
		}
		decl, ok := m.variables[v.Name]
		if !ok {
			ld.fail(source.Span{}, v.From+" sets "+quoteWord(v.Name)+", and there is no such variable", listHelp(v.Name, m.varNames))
			continue
		}
		ld.give(decl, v, v.From+" "+v.Name)
	}
}

// give sets a variable from text.
func (ld *loader) give(decl *variable, v Var, name string) {
	id := ld.files.Add(name, []byte(v.Text))
	at := source.Span{File: id, Len: uint32(len(v.Text))}
	i := slices.IndexFunc(ld.cfg.Inputs, func(in Input) bool { return in.Name == v.Name })
	in := Input{Name: v.Name, From: v.From, Digest: ld.files.Digest(id), Secret: decl.sensitive}
	if i < 0 {
		ld.cfg.Inputs = append(ld.cfg.Inputs, in)
	} else {
		ld.cfg.Inputs[i] = in
	}
	decl.given = &given{at: at, compute: func(decl *variable) (cty.Value, bool) {
		if decl.typ.IsPrimitiveType() {
			return cty.StringVal(v.Text), true
		}
		return ld.givenText(decl, v, name, at)
	}}
}

func (ld *loader) givenText(decl *variable, v Var, name string, at source.Span) (cty.Value, bool) {
	src := []byte(v.Text)
	if checkText(src) != nil || depthOfTokens(src, false) != nil {
		ld.fail(at, "the value for "+quoteWord(v.Name)+" does not read", "write it as in a file of values: '"+v.Name+"=[\"a\", \"b\"]'")
		return cty.DynamicVal, false
	}
	e, diags := hclsyntax.ParseExpression(src, name, hcl.InitialPos)
	if !diags.HasErrors() {
		var val cty.Value
		if val, diags = e.Value(nil); !diags.HasErrors() {
			return val, true
		}
	}
	// A bare word is what a shell leaves of a quoted one.
	if decl.typ == cty.DynamicPseudoType && hclsyntax.ValidIdentifier(v.Text) {
		return cty.StringVal(v.Text), true
	}
	ld.fail(at, v.From+" gives "+quoteWord(v.Name)+" a value that is not a plain one", "write it as in a file of values: '"+v.Name+"=[\"a\", \"b\"]'")
	return cty.DynamicVal, false
}

// varFiles lists the files of values that are read without being named.
func (ld *loader) varFiles() []string {
	entries, err := fs.ReadDir(ld.FS, ld.Dir)
	if err != nil {
		return nil
	}
	var first, auto []string
	for _, e := range entries {
		n := e.Name()
		switch {
		case e.IsDir():
		case n == "fabric.rocevars.hcl", n == "fabric.rocevars.json", n == "fabric.rocevars.hcl.json":
			first = append(first, joinPath(ld.Dir, n))
		case strings.HasSuffix(n, ".auto.rocevars.hcl"), strings.HasSuffix(n, ".auto.rocevars.json"), strings.HasSuffix(n, ".auto.rocevars.hcl.json"):
			auto = append(auto, joinPath(ld.Dir, n))
		}
	}
	slices.Sort(first)
	slices.Sort(auto)
	return append(first, auto...)
}

// varFile reads name = value lines.
func (ld *loader) varFile(m *modinst, name string, id source.FileID, src []byte) {
	p := checkText(src)
	if p == nil && len(src) > ld.MaxFileBytes {
		p = &problem{0, 0, "file has more than " + byteSize(ld.MaxFileBytes), ""}
	}
	if p == nil && manyMarks(src) {
		p = marksProblem(0)
	}
	var parsed *hcl.File
	var diags hcl.Diagnostics
	switch {
	case p != nil:
	case strings.HasSuffix(name, ".json"):
		if p = checkJSONDepth(src); p == nil {
			parsed, diags = hcljson.Parse(src, name)
		}
	default:
		if p = checkDepth(src); p == nil {
			parsed, diags = hclsyntax.ParseConfig(src, name, hcl.InitialPos)
		}
	}
	if p != nil {
		ld.fail(source.Span{File: id, Start: uint32(p.start), Len: uint32(p.length)}, p.summary, p.help)
		return
	}
	if diags.HasErrors() {
		for _, d := range syntaxErrors(diags, src, id) {
			ld.say(d)
		}
		return
	}
	if body, ok := parsed.Body.(*hclsyntax.Body); ok {
		for _, b := range body.Blocks {
			ld.fail(placeOf(b.TypeRange).in(id), "a file of values holds no blocks, and `"+clipName(b.Type)+"` is one", "blocks stand in files that end in .roce.hcl")
		}
		if len(body.Blocks) > 0 {
			return
		}
	}
	attrs, diags := parsed.Body.JustAttributes()
	if !ld.report(diags, source.Span{File: id}) {
		return
	}
	names := make([]string, 0, len(attrs))
	for n := range attrs {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		a := attrs[n]
		if n == "//" {
			continue
		}
		decl, ok := m.variables[n]
		if !ok {
			ld.warn(placeOf(a.NameRange).in(id), "there is no variable "+quoteWord(n), listHelp(n, m.varNames))
			continue
		}
		at := placeOf(a.Expr.Range()).in(id)
		if decl.sensitive {
			ld.cfg.SecretFiles = append(ld.cfg.SecretFiles, id)
		}
		decl.given = &given{at: at, compute: func(*variable) (cty.Value, bool) {
			v, diags := a.Expr.Value(nil)
			if diags.HasErrors() {
				ld.fail(at, "the value of "+quoteWord(n)+" is not a plain one", "files of values hold no references and no calls")
				return cty.DynamicVal, false
			}
			return v, true
		}}
		ld.cfg.Inputs = slices.DeleteFunc(ld.cfg.Inputs, func(in Input) bool { return in.Name == n })
	}
}
