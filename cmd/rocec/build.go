package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/lang/source"
	"github.com/spf13/cobra"
)

// choice is which devices a command is about.
type choice struct {
	target, exclude, targetFile, excludeFile []string

	some bool // others were left out by other means
}

func (c *choice) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.target, "target", nil, "only the device of this `ADDRESS` or name (repeatable; globs, quotes around keys may be left out)")
	cmd.Flags().StringArrayVar(&c.exclude, "exclude", nil, "without the device of this `ADDRESS` or name (repeatable)")
	cmd.Flags().StringArrayVar(&c.targetFile, "target-file", nil, "only the addresses in `FILE`, one a line, # begins a comment (repeatable)")
	cmd.Flags().StringArrayVar(&c.excludeFile, "exclude-file", nil, "without the addresses in `FILE` (repeatable)")
}

func (c *choice) all() bool {
	return !c.some && len(c.target)+len(c.exclude)+len(c.targetFile)+len(c.excludeFile) == 0
}

// read takes the addresses of files in. A file without any chooses nothing, which
// is not to choose all.
func (c *choice) read() error {
	for _, list := range []struct {
		flag  string
		files []string
		to    *[]string
	}{{"target-file", c.targetFile, &c.target}, {"exclude-file", c.excludeFile, &c.exclude}} {
		for _, name := range list.files {
			text, err := readFile(name)
			if err != nil {
				return fmt.Errorf("%s: %w", list.flag, err)
			}
			any := false
			for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
				line, _, _ = strings.Cut(line, "#")
				if line = strings.TrimSpace(line); line != "" {
					*list.to, any = append(*list.to, line), true
				}
			}
			if !any && list.flag == "target-file" {
				return fmt.Errorf("target-file: %s has no address", name)
			}
		}
	}
	c.targetFile, c.excludeFile = nil, nil
	return nil
}

// pick keeps the chosen devices. A pattern that fits none is a mistake.
func (c *choice) pick(f *fabric.Fabric, devices []served) ([]served, error) {
	if err := c.read(); err != nil {
		return nil, err
	}
	hit := map[string]bool{}
	fits := func(patterns []string, d *served) bool {
		any := false
		for _, p := range patterns {
			if named(p, d.address, d.name) {
				hit[p], any = true, true
			}
		}
		return any
	}
	var out []served
	for i := range devices {
		in := len(c.target) == 0 || fits(c.target, &devices[i])
		if in && !fits(c.exclude, &devices[i]) {
			out = append(out, devices[i])
		}
	}
	for _, p := range append(append([]string(nil), c.target...), c.exclude...) {
		if !hit[p] {
			return nil, fmt.Errorf("%q matches no device of this fabric%s", p, meant(f, p))
		}
	}
	return out, nil
}

func (a *app) buildCommand() *cobra.Command {
	var in inputs
	var pick choice
	var outDir, archive string
	var check bool
	c := &cobra.Command{
		Use: "build", Aliases: []string{"compile"}, Short: "Write every device's files", Args: cobra.NoArgs,
		Example: "  rocec build --out-dir=out\n  rocec build --check          # exit 2 when the files on disk are stale",
		RunE: func(*cobra.Command, []string) error {
			p, devices, err := a.compiled(&in, &pick)
			if err != nil {
				return err
			}
			if check && archive != "" {
				return errors.New("--check compares a folder: it does not go with --archive")
			}
			progress := p.steps("Writing", len(devices))
			defer progress.end()
			tree, err := apply.NewTree(p.made, counted(p.deliveries(devices, false, plain), progress.one))
			if err != nil {
				return err
			}
			if archive != "" {
				return a.writeArchive(archive, tree)
			}
			if err := within(outDir); err != nil {
				return err
			}
			if !pick.all() {
				tree.Keep = p.managed()
			}
			if check {
				return a.checkTree(outDir, tree)
			}
			return a.writeTree(outDir, tree)
		},
	}
	in.flags(c)
	pick.flags(c)
	c.Flags().StringVar(&outDir, "out-dir", "out", "`DIR` for the files")
	c.Flags().StringVar(&archive, "archive", "", "write a tar `FILE` instead of a folder")
	c.Flags().BoolVar(&check, "check", false, "write nothing; exit 2 if the files on disk are not these")
	return c
}

// compiled loads, compiles and checks, and stops at errors.
func (a *app) compiled(in *inputs, pick *choice) (*project, []served, error) {
	p, err := a.load(in, false)
	if err != nil {
		return nil, nil, err
	}
	devices := p.devices()
	p.checks()
	if err := a.stopOnErrors(p); err != nil {
		return nil, nil, err
	}
	devices, err = pick.pick(p.res.Fabric, devices)
	return p, devices, err
}

// managed tells the names of the devices that rocec writes.
func (p *project) managed() func(device string) bool {
	there := map[string]bool{}
	f := p.res.Fabric
	for id := 1; id < len(f.Devices); id++ {
		there[f.Text(f.Devices[id].Name)] = f.Devices[id].Manage == fabric.Full
	}
	return func(device string) bool { return there[device] }
}

// writeTree makes a folder hold the files of every device.
func (a *app) writeTree(outDir string, tree *apply.Tree) error {
	var w *apply.Written
	err := a.write(func() (err error) {
		w, err = apply.WriteTree(outDir, tree)
		return err
	})
	if err != nil {
		return err
	}
	verb := "Wrote"
	if !w.Changed {
		verb = "Nothing changed:"
	}
	return a.wrote(verb, w, "in "+outDir)
}

// wrote says what was written.
func (a *app) wrote(verb string, w *apply.Written, where string) error {
	if a.wantsJSON() {
		if err := a.writeJSON(w.Manifest); err != nil {
			return err
		}
	}
	if !a.quiet && !a.json {
		fmt.Fprintf(a.out, "%s %s of %s %s.\n", verb, count(w.Files, "file"), count(len(w.Manifest.Devices), "device"), where)
	}
	return nil
}

// checkTree compares the files on disk with those that would be written.
func (a *app) checkTree(outDir string, tree *apply.Tree) error {
	differ, err := apply.CheckTree(outDir, tree)
	if err != nil {
		return err
	}
	if a.wantsJSON() {
		if err := a.writeJSON(map[string]any{"in_sync": len(differ) == 0, "differences": differ}); err != nil {
			return err
		}
	}
	if len(differ) == 0 {
		if !a.json && !a.quiet {
			fmt.Fprintf(a.out, "The files in %s are what the source gives.\n", outDir)
		}
		return nil
	}
	if !a.json {
		for _, d := range differ {
			fmt.Fprintf(a.out, "%s: %s\n", d.Kind, d.Path)
		}
		fmt.Fprintf(a.err, "rocec: %s in %s; run rocec build\n", count(len(differ), "stale file"), outDir)
	}
	return exit(2)
}

// writeArchive writes the tree as a tar file, whole or not at all.
func (a *app) writeArchive(name string, tree *apply.Tree) error {
	var w *apply.Written
	err := a.write(func() error {
		return replaceBy(name, 0o644, func(to io.Writer) (err error) {
			b := bufio.NewWriterSize(to, 1<<20)
			if w, err = apply.WriteTar(b, tree); err != nil {
				return err
			}
			return b.Flush()
		})
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return a.wrote("Wrote", w, "to "+name)
}

// source is what the artifacts are made from, for the manifest: the files that
// were read up to now, and the variables. Packs are part of the tool and not
// listed.
func (p *project) source() apply.Source {
	src := apply.Source{RocecVersion: version(), Sources: map[string]string{}, Variables: map[string]string{}}
	for id := 1; id <= p.cfg.Files.Len(); id++ {
		name := p.cfg.Files.Name(source.FileID(id))
		if outside(name) {
			continue
		}
		src.Sources[name] = fmt.Sprintf("sha256:%x", p.cfg.Files.Digest(source.FileID(id)))
		if slices.Contains(p.cfg.SecretFiles, source.FileID(id)) {
			src.Sources[name] = secretDigest
		}
	}
	for _, in := range p.cfg.Inputs {
		src.Variables[in.Name] = fmt.Sprintf("sha256:%x", in.Digest[:])
		if in.Secret {
			src.Variables[in.Name] = secretDigest
		}
	}
	return src
}

// secretDigest stands for the digest of what holds a sensitive value: short ones are guessed from theirs. What such a value
// changes shows in the digests of intents and artifacts.
const secretDigest = "sensitive"

// derived are the inputs of the values that were computed for a device: what
// would move them without anybody writing so.
func (p *project) derived(d fabric.DeviceID) map[string]string {
	f := p.res.Fabric
	in := map[string]string{}
	if m := f.Devices[d].Model; m != 0 {
		in["model"] = f.Text(f.Models[m].Name)
	}
	first, end := f.PortsOf(d)
	for id := first; id < end; id++ {
		x := p.res.Facts.Port(id)
		for priority, h := range x.Headroom {
			if h.Source == 0 {
				continue
			}
			in[fmt.Sprintf("%s.headroom[%d]", f.Text(f.Ports[id].Name), priority)] = fmt.Sprintf("%d B by %s from %d Mb/s, %d mm, MTU %d", h.Xoff, sourceName(h.Source), f.Ports[id].Mbps, x.CableMm, f.Ports[id].MTU)
		}
	}
	return in
}

// sourceName says where a headroom comes from.
func sourceName(s derive.Source) string {
	return map[derive.Source]string{
		derive.SourceOperator: "the operator", derive.SourceTable: "the vendor's table", derive.SourceFormula: "the vendor's formula",
		derive.SourceReference: "the reference formula", derive.SourceKept: "the device itself",
	}[s]
}

// written reports whether rocec writes a device's settings at all.
func (p *project) written(d fabric.DeviceID) bool {
	return p.res.Fabric.Devices[d].Manage == fabric.Full
}
