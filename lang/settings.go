package lang

import (
	"math/big"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// Settings are what a `.rocec.hcl` says: how one works with configurations, and
// nothing of any fabric. Words that it leaves out are "".
type Settings struct {
	Preset        Setting // recommended, all or none
	Format        Setting // of findings; the command knows which there are
	Baseline      Setting // path of the findings that are known, from the folder of the file
	RequireReason bool    // comments that silence rules say why
	Rules         []RuleSetting
}

// Setting is a word and where it is written.
type Setting struct {
	Text string
	At   source.Span
}

// RuleSetting is a `rule` block. What it leaves out is as without the block.
type RuleSetting struct {
	Name       Setting // as written: a code or a name, which the command knows
	Enabled    *bool
	Severity   *diag.Severity
	SeverityAt source.Span
	Ignorable  *bool // false: comments do not silence it
	Options    []OptionSetting
}

// OptionSetting is a limit of a rule that settings put elsewhere. The command
// knows which there are.
type OptionSetting struct {
	Name  Setting
	Value int64
	At    source.Span // of the value
}

// SettingsName is the file of settings of a folder and those below it.
const SettingsName = ".rocec.hcl"

// maxSettingsBytes bounds a settings file, which people write.
const maxSettingsBytes = 1 << 20

// ReadSettings reads the text of a settings file and enters the file into the
// table. The settings are as good as the file is: with errors, what is sound is
// there still.
func ReadSettings(files *source.Files, name string, src []byte) (*Settings, diag.List) {
	f := &file{name: name, id: files.Add(name, src), src: src, part: place{0, uint32(min(len(src), maxSettingsBytes))}, tables: newTables()}
	s := &Settings{}
	if len(src) > maxSettingsBytes {
		f.refuse(&problem{summary: "file has " + itoa(len(src)) + " bytes, at most " + itoa(maxSettingsBytes) + " of settings are read"})
		return s, f.diags
	}
	if p := checkText(src); p != nil {
		f.refuse(p)
		return s, f.diags
	}
	body, _ := f.parse()
	if body == nil || f.broken {
		return s, f.diags
	}
	r := settingsReader{file: f, into: s}
	r.top(body)
	return s, f.diags
}

type settingsReader struct {
	*file
	into *Settings
	lint *hclsyntax.Block // the first of its kind
}

func (r *settingsReader) fail(at hcl.Range, summary, help string, more ...diag.Label) {
	r.diags.Add(diag.Diagnostic{Summary: summary, Help: help, Labels: append([]diag.Label{{Span: placeOf(at).in(r.id)}}, more...)})
}

func (r *settingsReader) top(body *hclsyntax.Body) {
	for _, a := range sortedAttrs(body.Attributes) {
		r.fail(a.NameRange, "settings have no attribute `"+clipName(a.Name)+"` outside of blocks", "the blocks are lint and rule")
	}
	for _, b := range body.Blocks {
		switch b.Type {
		case "lint":
			r.lintBlock(b)
		case "rule":
			r.ruleBlock(b)
		default:
			help := choiceHelp(b.Type, "what describes a fabric stands in files that end in .roce.hcl; the blocks of settings are ", []string{"lint", "rule"})
			r.fail(b.TypeRange, "settings have no block `"+clipName(b.Type)+"`", help)
		}
	}
}

func (r *settingsReader) lintBlock(b *hclsyntax.Block) {
	if len(b.Labels) > 0 {
		r.fail(b.LabelRanges[0], "block `lint` takes no label", "write `lint { }`; a rule has a block of its own, `rule \"NAME\" { }`")
	}
	if r.lint != nil {
		r.fail(b.TypeRange, "block `lint` is written twice", "join them", diag.Label{Span: placeOf(r.lint.TypeRange).in(r.id), Text: "first written"})
		return
	}
	r.lint = b
	r.noBlocks(b)
	for _, a := range sortedAttrs(b.Body.Attributes) {
		switch a.Name {
		case "preset":
			r.word(a, &r.into.Preset, "recommended", "all", "none")
		case "format":
			r.word(a, &r.into.Format)
		case "baseline":
			r.word(a, &r.into.Baseline)
		case "require_reason":
			if v := r.truth(a); v != nil {
				r.into.RequireReason = *v
			}
		default:
			r.unknown(a, "lint", "preset", "format", "baseline", "require_reason")
		}
	}
}

func (r *settingsReader) ruleBlock(b *hclsyntax.Block) {
	if len(b.Labels) != 1 {
		r.fail(b.TypeRange, "block `rule` takes one label, the code or the name of a rule", `rule "link_speed" { }`)
		return
	}
	name := Setting{b.Labels[0], placeOf(b.LabelRanges[0]).in(r.id)}
	if i := slices.IndexFunc(r.into.Rules, func(x RuleSetting) bool { return x.Name.Text == name.Text }); i >= 0 {
		r.fail(b.LabelRanges[0], "rule "+quoteWord(name.Text)+" is set twice", "join them", diag.Label{Span: r.into.Rules[i].Name.At, Text: "first written"})
		return
	}
	r.noBlocks(b)
	s := RuleSetting{Name: name}
	for _, a := range sortedAttrs(b.Body.Attributes) {
		switch a.Name {
		case "enabled":
			s.Enabled = r.truth(a)
		case "ignorable":
			s.Ignorable = r.truth(a)
		case "severity":
			var w Setting
			r.word(a, &w, "error", "warning", "notice")
			for _, v := range []diag.Severity{diag.Error, diag.Warning, diag.Notice} {
				if v.String() == w.Text {
					s.Severity, s.SeverityAt = &v, w.At
				}
			}
		case "options":
			s.Options = r.options(a)
		default:
			r.unknown(a, "rule", "enabled", "severity", "ignorable", "options")
		}
	}
	r.into.Rules = append(r.into.Rules, s)
}

// options reads an object of whole numbers.
func (r *settingsReader) options(a *hclsyntax.Attribute) []OptionSetting {
	o, ok := a.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		r.fail(a.Expr.Range(), "`options` is an object of numbers", "options = { share = 10 }")
		return nil
	}
	var list []OptionSetting
	for _, item := range o.Items {
		name := hcl.ExprAsKeyword(item.KeyExpr)
		if name == "" {
			r.fail(item.KeyExpr.Range(), "the name of an option is a plain word", "options = { share = 10 }")
			continue
		}
		at := placeOf(item.KeyExpr.Range()).in(r.id)
		if i := slices.IndexFunc(list, func(x OptionSetting) bool { return x.Name.Text == name }); i >= 0 {
			r.fail(item.KeyExpr.Range(), "option "+quoteWord(name)+" is written twice", "leave one out", diag.Label{Span: list[i].Name.At, Text: "first written"})
			continue
		}
		v, ok := r.value(&hclsyntax.Attribute{Name: name, Expr: item.ValueExpr}, cty.Number, "a whole number")
		if !ok {
			continue
		}
		n, acc := v.AsBigFloat().Int64()
		if acc != big.Exact {
			r.fail(item.ValueExpr.Range(), "`"+clipName(name)+"` is a whole number", "write "+clipName(name)+" = 10")
			continue
		}
		list = append(list, OptionSetting{Name: Setting{name, at}, Value: n, At: placeOf(item.ValueExpr.Range()).in(r.id)})
	}
	return list
}

func (r *settingsReader) noBlocks(b *hclsyntax.Block) {
	for _, in := range b.Body.Blocks {
		r.fail(in.TypeRange, "`"+b.Type+"` has no block `"+clipName(in.Type)+"`", "write `"+clipName(in.Type)+" = ...` if it is an attribute; rules stand beside it, as `rule \"NAME\" { }`")
	}
}

func (r *settingsReader) unknown(a *hclsyntax.Attribute, block string, known ...string) {
	r.fail(a.NameRange, "`"+block+"` has no attribute `"+clipName(a.Name)+"`", choiceHelp(a.Name, "it takes ", known))
}

// word reads an attribute that is a text, of a few if some are given.
func (r *settingsReader) word(a *hclsyntax.Attribute, into *Setting, known ...string) {
	v, ok := r.value(a, cty.String, "text")
	if !ok {
		return
	}
	text := v.AsString()
	switch {
	case len(known) > 0 && !slices.Contains(known, text):
		r.fail(a.Expr.Range(), "`"+a.Name+"` is "+quoted(known, "or")+", not "+quoteWord(text), choiceHelp(text, "write one of ", known))
	case text == "":
		r.fail(a.Expr.Range(), "`"+a.Name+"` is empty", "leave it out")
	default:
		*into = Setting{text, placeOf(a.Expr.Range()).in(r.id)}
	}
}

func (r *settingsReader) truth(a *hclsyntax.Attribute) *bool {
	v, ok := r.value(a, cty.Bool, "true or false")
	if !ok {
		return nil
	}
	b := v.True()
	return &b
}

// value evaluates an attribute, which can refer to nothing.
func (r *settingsReader) value(a *hclsyntax.Attribute, want cty.Type, what string) (cty.Value, bool) {
	if vars := a.Expr.Variables(); len(vars) > 0 {
		r.fail(vars[0].SourceRange(), "settings hold plain values; there is nothing to refer to", "write texts in quotes")
		return cty.NilVal, false
	}
	v, diags := a.Expr.Value(nil)
	if diags.HasErrors() {
		r.diags.Add(fromHCL(diags[0], placeOf(a.Expr.Range()).in(r.id)))
		return cty.NilVal, false
	}
	v, err := convert.Convert(v, want)
	if err != nil || v.IsNull() || !v.IsKnown() || v.IsMarked() {
		r.fail(a.Expr.Range(), "`"+a.Name+"` is "+what, "write it so, or leave it out")
		return cty.NilVal, false
	}
	return v, true
}
