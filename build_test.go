package rocec_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/all"
	"github.com/rocec/rocec/targets/emit"
)

// made is what a configuration came to: its findings as text and its files.
type made struct {
	Findings string
	Diags    diag.List
	Devices  []device // in the order of the fabric
}

// device is one device with the files of its emitter.
type device struct {
	Address string
	Intent  *intent.Device
	Target  *targets.Target
	Files   []emit.Artifact
	Kits    []*emit.Kit
}

// build takes the files of a folder through every stage, as `rocec build` does,
// and stops where that stops.
func build(fsys fs.FS, asOf string, vars ...lang.Var) made {
	return buildWith(fsys, compiler.Options{AsOf: asOf, Rows: packs.HeadroomRows}, vars...)
}

// buildWith is build with other options of the compiler.
func buildWith(fsys fs.FS, options compiler.Options, vars ...lang.Var) made {
	cfg, diags := lang.Load(lang.Options{FS: fsys, Packs: packs.Files(), Vars: vars})
	view := &source.View{Files: cfg.Files, Read: func(name string) ([]byte, error) {
		if p, ok := strings.CutPrefix(name, "pack:"); ok {
			return fs.ReadFile(packs.Files(), p)
		}
		b, err := fs.ReadFile(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("a finding names a file that is no input: %w", err)
		}
		return b, err
	}}
	var m made
	if !diags.HasErrors() {
		res := compiler.Compile(cfg, options)
		diags = append(diags, res.Diags...)
		if res.Facts != nil {
			devices, refused := emitted(res)
			if !diags.HasErrors() {
				m.Devices = devices
			}
			diags = diag.Fold(lint.Consequences(append(diags, diag.Sort(diag.Fold(refused), cfg.Files)...)))
		}
	}
	var text bytes.Buffer
	diag.Text(&text, diags, view, diag.TextOptions{Width: 100, Rules: rule})
	m.Findings, m.Diags = text.String(), diags
	return m
}

// emitted lowers every device, checks it against its emitter and, where that
// has nothing against it, writes its files.
func emitted(res *compiler.Result) ([]device, diag.List) {
	var devices []device
	var refused diag.List
	for id := 1; id < len(res.Fabric.Devices); id++ {
		d := fabric.DeviceID(id)
		whole := res.Intent(d)
		if whole == nil {
			continue
		}
		for _, chosen := range lower.Selected(res.Fabric, d) {
			mine := *whole
			mine.Options = chosen.Options
			one := device{Address: res.Fabric.Text(res.Fabric.Devices[d].Address), Intent: &mine, Target: all.Find(chosen.Emitter)}
			list := targets.Check(one.Target, &mine, func(at intent.Path) []diag.Label { return res.Origin(d, at) })
			refused = append(refused, list...)
			if !list.HasErrors() && !res.Diags.HasErrors() {
				var out emit.Out
				one.Target.Write(&mine, &out)
				one.Files, one.Kits = out.Artifacts, out.Kits
			}
			devices = append(devices, one)
		}
	}
	return devices, refused
}

func rule(id string) *diag.Rule {
	for _, r := range targets.Refusals {
		if r.ID == id {
			return r
		}
	}
	if r := lint.Find(id); r != nil {
		return &r.Rule
	}
	return nil
}
