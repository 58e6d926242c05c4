package lang

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// linkWord reports whether an attribute of a tier stands in its `link` block.
func linkWord(name string) bool { return schema.Lookup(schema.TierLink, name) != nil }

// tierLinks makes what the `link` block of a tier says attributes of the tier: they
// speak of the links below it. Written beside the block, as in the edition before,
// they mean the same.
func (r *reducer) tierLinks(b *hclsyntax.Block, d *decl) {
	var beside []string
	var labels []diag.Label
	for _, a := range sortedAttrs(b.Body.Attributes) {
		if linkWord(a.Name) {
			beside, labels = append(beside, a.Name), append(labels, diag.Label{Span: r.spanOf(a), Where: r.where()})
		}
	}
	if len(beside) > 0 {
		r.beside = append(r.beside, diag.Diagnostic{
			Severity: diag.Warning, Summary: "a " + d.of.String() + " writes " + quotedPlain(beside) + " beside its `link` block",
			Help:   "write link { " + beside[0] + " = ... }, as it is said of the links below; `rocec fmt --fix` does it",
			Labels: labels,
		})
	}
	for _, in := range b.Body.Blocks {
		if in.Type == schema.Def(schema.TierLink).Word {
			r.tierLink(b, in)
		}
	}
}

func (r *reducer) tierLink(b, link *hclsyntax.Block) {
	def := schema.Def(schema.TierLink)
	if len(link.Labels) > 0 {
		r.fail(placeOf(link.LabelRanges[0]), "`link` of a tier has a label, it takes none",
			"write `link { }`: it speaks of all links below the tier")
	}
	for _, in := range link.Body.Blocks {
		r.unknownBlock(in, schema.TierLink, schema.TierLink)
	}
	for _, a := range sortedAttrs(link.Body.Attributes) {
		first := b.Body.Attributes[a.Name]
		switch {
		case !linkWord(a.Name):
			r.fail(placeOf(a.NameRange), "`link` of a tier has no attribute `"+clipName(a.Name)+"`",
				attrHelp(a.Name, &decl{kind: def.Kind, of: def.Kind}, def))
		case first != nil:
			r.say(diag.Diagnostic{
				Summary: "attribute `" + a.Name + "` is written twice", Help: "leave one of them out",
				Labels: []diag.Label{{Span: r.spanOf(a), Where: r.where()}, {Span: r.spanOf(first), Text: "first written"}},
			})
		default:
			b.Body.Attributes[a.Name] = a
		}
	}
}

func (r *reducer) spanOf(a *hclsyntax.Attribute) source.Span { return placeOf(a.NameRange).in(r.id) }

// besideLinks are the findings on what tiers write beside their `link` blocks, as they
// did before there were any.
func (ld *loader) besideLinks() (list diag.List) {
	for _, dir := range slices.Sorted(maps.Keys(ld.units)) {
		for _, f := range ld.units[dir].files {
			list = append(list, f.beside...)
		}
	}
	return list
}
