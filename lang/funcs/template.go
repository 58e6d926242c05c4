package funcs

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/rocec/rocec/lang/format"
)

// Limits on templates that call templates: the depth, and the number rendered
// for one call from outside.
const (
	maxTemplateDepth = 16
	maxTemplates     = 4096
)

func templateFuncs(t *templates) []Func {
	outer := level{templates: t}
	return []Func{
		{"templatefile", "templatefile(path, vars)", "The text of a template file of the module, rendered with the given variables. Templates may call templatefile again, 16 deep.", `templatefile("inventory/motd.tmpl", { name = "leaf01" })`, `"this is leaf01\n"`, "filesystem", outer.file()},
		{"templatestring", "templatestring(template, vars)", "A text rendered as a template with the given variables.", `templatestring("$${name}-$${n}", { name = "leaf", n = 1 })`, `"leaf-1"`, "string", outer.text()},
	}
}

// templates renders templates with the functions of one Table.
type templates struct {
	files *reader
	funcs map[string]function.Function
}

// level is how deep in templates a call stands. The count of renderings is
// shared by all levels below one call from outside.
type level struct {
	*templates
	depth int
	count *atomic.Int64
}

func (l level) file() function.Function {
	params := []function.Parameter{param("path", cty.String), param("vars", dyn)}
	return fn(params, cty.String, func(args []cty.Value) (cty.Value, error) {
		name := args[0].AsString()
		src, err := l.files.text(name)
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		return l.render(name, src, args[1])
	})
}

func (l level) text() function.Function {
	params := []function.Parameter{param("template", cty.String), param("vars", dyn)}
	return fn(params, cty.String, func(args []cty.Value) (cty.Value, error) {
		return l.render("template", args[0].AsString(), args[1])
	})
}

func (l level) render(name, src string, vars cty.Value) (cty.Value, error) {
	if l.depth == maxTemplateDepth {
		return cty.NilVal, fmt.Errorf("templates call each other more than %d deep", maxTemplateDepth)
	}
	if l.count == nil {
		l.count = new(atomic.Int64)
	}
	if l.count.Add(1) > maxTemplates {
		return cty.NilVal, fmt.Errorf("one call renders more than %d templates", maxTemplates)
	}
	if p := format.DeepTemplate([]byte(src)); p != nil {
		return cty.NilVal, fmt.Errorf("%s:%d,%d: %s", name, p.Line, p.Column, p.Message)
	}
	expr, diags := hclsyntax.ParseTemplate([]byte(src), name, hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, firstOf(diags)
	}
	ctx, err := l.context(vars)
	if err != nil {
		return cty.NilVal, err
	}
	for _, use := range expr.Variables() {
		if _, ok := ctx.Variables[use.RootName()]; !ok {
			at := use.SourceRange()
			return cty.NilVal, function.NewArgErrorf(1, "there is no variable %q, which %s:%d,%d uses", use.RootName(), name, at.Start.Line, at.Start.Column)
		}
	}
	v, diags := expr.Value(ctx)
	if diags.HasErrors() {
		return cty.NilVal, firstOf(diags)
	}
	v, err = convert.Convert(v, cty.String)
	if err != nil || v.IsNull() {
		return cty.NilVal, fmt.Errorf("template %q does not give a text", clip(name))
	}
	return v, checkText(v)
}

func (l level) context(vars cty.Value) (*hcl.EvalContext, error) {
	t := vars.Type()
	if !t.IsObjectType() && !t.IsMapType() {
		return nil, function.NewArgErrorf(1, "an object or a map of variables is needed")
	}
	below := level{l.templates, l.depth + 1, l.count}
	ctx := (&hcl.EvalContext{Functions: l.funcs}).NewChild()
	ctx.Functions = map[string]function.Function{"templatefile": below.file(), "templatestring": below.text()}
	ctx.Variables = map[string]cty.Value{}
	for name, v := range vars.AsValueMap() {
		if !hclsyntax.ValidIdentifier(name) {
			return nil, function.NewArgErrorf(1, "%q cannot be the name of a variable", clip(name))
		}
		ctx.Variables[name] = v
	}
	return ctx, nil
}

func firstOf(diags hcl.Diagnostics) error {
	for _, d := range diags {
		if d.Severity != hcl.DiagError {
			continue
		}
		if d.Subject == nil {
			return errors.New(d.Detail)
		}
		return fmt.Errorf("%s:%d,%d: %s", d.Subject.Filename, d.Subject.Start.Line, d.Subject.Start.Column, d.Detail)
	}
	return nil
}
