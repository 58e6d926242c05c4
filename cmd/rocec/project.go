package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets/emit"
	"github.com/spf13/cobra"
)

// inputs are the flags by which a configuration is read.
type inputs struct {
	vars, varFiles orderedVars
	asOf           string
	instead        map[string][]byte // texts to read in place of files, by name
	pedantic       bool              // with the findings of pedantic rules
	each           bool              // with a finding for each port of those that are alike
	limits         lint.Limits       // of rules, in place of their own
	run            *lang.Run         // of a test; nil: none
	failures       int               // instead of what the analysis of the source says, 0 = that
	properties     fabric.PropertySet
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
	dir   string // its folder, "." unless a path was given
	cfg   *lang.Config
	res   *compiler.Result
	view  *source.View
	diags diag.List
	made  apply.Source // what the artifacts are made from
	steps func(what string, total int) steps
	memo  *emit.Memo              // files that devices have alike
	room  sync.Pool               // of *[]byte, for keys of devices
	last  origins                 // that somebody asked for
	lab   map[string]session.Spec // simulated devices, by name; nil: the real ones

	varFiles []string // of --var-file
	in       *inputs
	trust    trust

	descriptions map[string]string // in the source, by address, once somebody has asked
}

// load reads and compiles the configuration of the working folder. Source that
// does not load ends the command with what is wrong.
func (a *app) load(in *inputs, keep bool) (*project, error) { return a.loadFrom(".", in, keep) }

// loadFrom does so for another folder, whose files are then shown by their paths
// from the working folder.
func (a *app) loadFrom(dir string, in *inputs, keep bool) (*project, error) {
	if _, err := time.Parse(time.DateOnly, in.asOf); in.asOf != "" && err != nil {
		return nil, fmt.Errorf("as-of is a date such as 2027-01-31, not %q", in.asOf)
	}
	p := &project{dir: dir, in: in, trust: a.trust, steps: a.progress, memo: emit.NewMemo()}
	if file := a.env[labVariable]; file != "" {
		err := ownData(file)
		if err == nil {
			p.lab, err = lab.Load(file)
		}
		if err != nil {
			return nil, err
		}
	}
	// A root keeps links in the tree from leading out of it. It stays open, for what checks and a
	// console read later; the collector closes it.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	opt := lang.Options{FS: instead(root.FS(), in.instead), Packs: packs.Files(), Headroom: headroomOf, Keep: keep, Workers: runtime.GOMAXPROCS(0), Run: in.run}
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
			v.File, p.varFiles = text, append(p.varFiles, v.From)
		}
		opt.Vars = append(opt.Vars, v)
	}
	cfg, diags := lang.Load(opt)
	p.cfg = cfg
	p.view = &source.View{Files: cfg.Files, Read: func(name string) ([]byte, error) {
		if f, ok := strings.CutPrefix(name, "pack:"); ok {
			return fs.ReadFile(packs.Files(), f)
		}
		if text, ok := in.instead[name]; ok {
			return text, nil
		}
		return readFile(p.shown(name))
	}, Shown: p.shown}
	if p.diags = a.requireVersion(p, version()); p.diags.HasErrors() {
		return p, nil
	}
	if p.diags = append(append(p.diags, diags...), cfg.Former...); p.diags.HasErrors() {
		return p, nil
	}
	p.res = compiler.Compile(cfg, compiler.Options{AsOf: in.asOf, Rows: packs.HeadroomRows, Pedantic: in.pedantic, Each: in.each, Limits: in.limits, Failures: in.failures, Properties: in.properties, Elsewhere: elsewhere})
	p.diags = append(p.diags, p.res.Diags...)
	p.made = p.source() // captures, read later, are no part of it
	return p, nil
}

// shown is the path of a file of the configuration from the working folder. What
// the command line named is there already.
func (p *project) shown(name string) string {
	if outside(name) || p.dir == "." || slices.Contains(p.varFiles, name) {
		return name
	}
	return path.Join(filepath.ToSlash(p.dir), name)
}

// outside reports whether a name is of no file of the configuration: data of a
// pack, or a value from the environment or the command line.
func outside(name string) bool {
	return strings.HasPrefix(name, "pack:") || strings.HasPrefix(name, "--var ") || strings.HasPrefix(name, "ROCEC_VAR_")
}

// maxFileBytes bounds what is read as one file of text, as the language does.
const maxFileBytes = 256 << 20

// readFile reads a file of text. Pipes and devices, which may never end, are
// refused, and links that lead out of the checkout.
func readFile(name string) ([]byte, error) {
	name = filepath.FromSlash(name)
	if err := within(name); err != nil {
		return nil, err
	}
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

// origins are those of one device: whoever asks for one asks for its next.
type origins struct {
	mu sync.Mutex
	id fabric.DeviceID
	of func(intent.Path) []diag.Label
}

// origin says where the fields of a device were written.
func (p *project) origin(id fabric.DeviceID) func(intent.Path) []diag.Label {
	return func(at intent.Path) []diag.Label {
		p.last.mu.Lock()
		defer p.last.mu.Unlock()
		if p.last.id != id {
			p.last.id, p.last.of = id, p.res.Origins(id)
		}
		return p.last.of(at)
	}
}
