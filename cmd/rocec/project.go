package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/all"
	"github.com/rocec/rocec/targets/emit"
	"github.com/spf13/cobra"
)

// inputs are the flags by which a configuration is read.
type inputs struct {
	vars, varFiles orderedVars
	asOf           string
}

// orderedVars keeps --var and --var-file in the order of the command line.
type orderedVars struct {
	list *[]lang.Var
	file bool
}

func (o orderedVars) String() string { return "" }
func (o orderedVars) Type() string {
	if o.file {
		return "FILE"
	}
	return "NAME=VALUE"
}

// Set takes one flag. A file is only named here; it is read with the rest.
func (o orderedVars) Set(s string) error {
	if o.file {
		*o.list = append(*o.list, lang.Var{From: s})
		return nil
	}
	name, text, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("write it as NAME=VALUE")
	}
	*o.list = append(*o.list, lang.Var{Name: name, From: "--var", Text: text})
	return nil
}

func (in *inputs) flags(c *cobra.Command) {
	list := &[]lang.Var{}
	in.vars, in.varFiles = orderedVars{list, false}, orderedVars{list, true}
	c.Flags().Var(in.vars, "var", "set a variable (repeatable)")
	c.Flags().Var(in.varFiles, "var-file", "read variables from a file (repeatable)")
	c.Flags().StringVar(&in.asOf, "as-of", "", "`DATE` by which end dates of overrides are judged; pipelines pass the commit's")
}

// project is a configuration that was read, and what came of it.
type project struct {
	cfg   *lang.Config
	res   *compiler.Result
	view  *source.View
	diags diag.List
	made  apply.Source // what the artifacts are made from
	steps func(what string, total int) steps
}

// load reads and compiles the configuration of the working folder. Source that
// does not load ends the command with what is wrong.
func (a *app) load(in *inputs, keep bool) (*project, error) {
	if _, err := time.Parse(time.DateOnly, in.asOf); in.asOf != "" && err != nil {
		return nil, fmt.Errorf("as-of is a date such as 2027-01-31, not %q", in.asOf)
	}
	p := &project{steps: a.progress}
	// A root keeps links in the tree from leading out of it.
	root, err := os.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	opt := lang.Options{FS: root.FS(), Packs: packs.Files(), Headroom: headroomOf, Keep: keep, Workers: runtime.GOMAXPROCS(0)}
	for k, v := range a.env {
		if name, ok := strings.CutPrefix(k, "ROCEC_VAR_"); ok {
			opt.Env = append(opt.Env, lang.Var{Name: name, From: k, Text: v})
		}
	}
	slices.SortFunc(opt.Env, func(x, y lang.Var) int { return strings.Compare(x.From, y.From) })
	for _, v := range *in.vars.list {
		if v.Name == "" {
			text, err := readFile(v.From)
			if err != nil {
				return nil, fmt.Errorf("read variables: %w", err)
			}
			v.File = text
		}
		opt.Vars = append(opt.Vars, v)
	}
	cfg, diags := lang.Load(opt)
	p.cfg = cfg
	p.view = &source.View{Files: cfg.Files, Read: func(name string) ([]byte, error) {
		if f, ok := strings.CutPrefix(name, "pack:"); ok {
			return fs.ReadFile(packs.Files(), f)
		}
		return readFile(name)
	}}
	if p.diags = a.requireVersion(p, version()); p.diags.HasErrors() {
		return p, nil
	}
	if p.diags = append(p.diags, diags...); p.diags.HasErrors() {
		return p, nil
	}
	p.res = compiler.Compile(cfg, compiler.Options{AsOf: in.asOf, Rows: packs.HeadroomRows})
	p.diags = append(p.diags, p.res.Diags...)
	p.made = p.source() // captures, read later, are no part of it
	return p, nil
}

// maxFileBytes bounds what is read as one file of text, as the language does.
const maxFileBytes = 256 << 20

// readFile reads a file of text. Pipes and devices, which may never end, are
// refused.
func readFile(name string) ([]byte, error) {
	name = filepath.FromSlash(name)
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > maxFileBytes:
		return nil, fmt.Errorf("%s is larger than %d MiB, which is the most that is read", name, maxFileBytes>>20)
	}
	return os.ReadFile(name)
}

// headroomOf is the formula behind headroom(): that of the ports themselves.
func headroomOf(x funcs.HeadroomArgs) (int64, error) {
	h, err := headroom.Reference(headroom.Link{
		Mbps: x.Mbps, CableMm: x.CableMm, LocalMTUBytes: x.MTURx, PeerMTUBytes: x.MTUTx, ExtraBytes: x.ExtraBytes, Quanta: x.Quanta,
	})
	if err != nil || x.CellBytes == 0 {
		return h, err
	}
	return headroom.CellRound(h, x.CellBytes)
}

// loaded reports whether the source could be read at all.
func (p *project) loaded() bool { return p.res != nil && p.res.Fabric != nil }

// compiled is a device with its intent and the emitter that serves it.
type compiled struct {
	id      fabric.DeviceID
	address string
	intent  *intent.Device
	target  *targets.Target
	chosen  lower.Chosen
	made    []emit.Artifact // what to deliver, where a plan made it already
}

// devices lowers every device that an emitter serves, and checks each intent
// against what its emitter can say. Refusals join the project's findings.
func (p *project) devices() []compiled {
	if !p.loaded() || p.diags.HasErrors() {
		return nil
	}
	f := p.res.Fabric
	var list []compiled
	var found diag.List
	progress := p.steps("Checking", len(f.Devices)-1)
	defer progress.end()
	for id := 1; id < len(f.Devices); id++ {
		progress.one()
		d := fabric.DeviceID(id)
		dev := p.res.Intent(d)
		if dev == nil {
			continue
		}
		for _, chosen := range lower.Selected(f, d) {
			t := p.emitter(chosen, &found)
			if t == nil {
				continue
			}
			mine := *dev
			mine.Options = chosen.Options
			refused := targets.Check(t, &mine, func(at intent.Path) []diag.Label { return p.res.Origin(d, at) })
			for i := range refused {
				refused[i].Address = address(&mine, f.Text(f.Devices[id].Address), refused[i].Address)
			}
			found = append(found, refused...)
			list = append(list, compiled{id: d, address: f.Text(f.Devices[id].Address), intent: &mine, target: t, chosen: chosen})
		}
		if lower.Undecided(f, d) {
			found.Add(diag.Diagnostic{
				Summary: fmt.Sprintf("nothing says who owns the adapters of %s, a node of Windows Server 2025 cluster %s", f.Text(f.Devices[id].Name), f.Text(f.Devices[id].Cluster)),
				Address: f.Text(f.Devices[id].Address), Labels: []diag.Label{f.Label(f.Devices[id].Decl, f.Devices[id].Layers, schema.ACluster, "")},
				Help: `select the node in a target "netqos" block; Network ATC would undo what NetQos writes`,
			})
		}
		if len(lower.Selected(f, d)) == 0 {
			found.Add(diag.Diagnostic{
				Summary: fmt.Sprintf("no emitter serves %s: its os is %s", f.Text(f.Devices[id].Name), f.Text(f.Devices[id].OSName)),
				Address: f.Text(f.Devices[id].Address), Labels: []diag.Label{f.DeclLabel(f.Devices[id].Decl, "")},
				Help: `use an os that a target serves (rocec capabilities), or manage = "none"`,
			})
		}
	}
	p.diags = append(p.diags, diag.Sort(diag.Fold(found), p.cfg.Files)...)
	return list
}

// address is the address of a finding in the words of the source: an intent
// knows its device by name only.
func address(d *intent.Device, device, finding string) string {
	if rest, ok := strings.CutPrefix(finding, targets.Address(d, intent.Path{Object: intent.OfDevice})); ok {
		return device + rest
	}
	return finding
}

func (p *project) emitter(c lower.Chosen, found *diag.List) *targets.Target {
	f := p.res.Fabric
	t := all.Find(c.Emitter)
	if t == nil {
		found.Add(diag.Diagnostic{
			Summary: fmt.Sprintf("target %s is not one of this version", c.Emitter), Labels: []diag.Label{f.DeclLabel(c.Decl, "")},
			Help: "use one of " + strings.Join(all.Names(), ", "),
		})
	}
	return t
}

// made are the artifacts to deliver to a device. Against captured output a
// target may write less: only what differs on that device.
func (a *app) made(p *project, c *compiled, from string) ([]emit.Artifact, error) {
	if from == "" || c.target.Rebase == nil {
		return artifacts(c, false), nil
	}
	files, err := a.captured(c, from)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return artifacts(c, false), nil
	}
	out := &emit.Out{}
	found := c.target.Rebase(c.intent, targets.Captured{Files: files}, out)
	if found.HasErrors() {
		a.print(p, found)
		return nil, exit(1)
	}
	return out.Artifacts, nil
}

// captured reads the captures of a device that do not depend on its ports.
func (a *app) captured(c *compiled, from string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, probe := range c.target.Probes {
		if probe.PerPort {
			continue
		}
		text, err := readFile(filepath.Join(from, c.intent.Name, probe.File))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read captures: %w", err)
		default:
			files[probe.File] = text
		}
	}
	return files, nil
}

// artifacts emits the files of one device.
func artifacts(c *compiled, trace bool) []emit.Artifact {
	out := &emit.Out{Trace: trace}
	c.target.Emit(c.intent, out)
	return out.Artifacts
}
