package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/all"
	"github.com/rocec/rocec/targets/emit"
	"golang.org/x/sync/errgroup"
)

// served is a device that an emitter serves. Its intent and its files are made
// when they are needed, and dropped: a fabric has more of them than memory.
type served struct {
	id      fabric.DeviceID
	name    string
	address string
	target  *targets.Target
	chosen  lower.Chosen
	kind    *kind // nil: none other is alike
}

// compiled is a device with its intent.
type compiled struct {
	*served
	intent *intent.Device // shares lists with those of other devices: not to be changed
	like   *emit.Like     // what it has in common with others; may be nil
	memo   *emit.Memo     // of the project
}

// lower makes the intent of a device.
func (p *project) lower(s *served) *compiled {
	dev, like := s.kind.like(s, p)
	return &compiled{s, dev, like, p.memo}
}

// alone makes the intent of a device without asking for others of its kind.
func (p *project) alone(s *served) *intent.Device {
	dev := p.res.Intent(s.id)
	dev.Options = s.chosen.Options
	return dev
}

// emit makes the files of the device.
func (c *compiled) emit(trace bool) *emit.Out {
	out := &emit.Out{Trace: trace, Memo: c.memo, Like: c.like}
	c.target.Write(c.intent, out)
	return out
}

// parallel does work 0 to n-1 on every core, a few neighbours at a time.
func parallel(n int, do func(i int)) {
	const chunk = 16
	var next atomic.Int64
	var work errgroup.Group
	for range min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk) {
		work.Go(func() error {
			for {
				first := int(next.Add(chunk)) - chunk
				if first >= n {
					return nil
				}
				for i := first; i < min(first+chunk, n); i++ {
					do(i)
				}
			}
		})
	}
	_ = work.Wait() // nothing in it can fail
}

// devices lists every device that an emitter serves, and checks each intent
// against what its emitter can say. Refusals join the project's findings, whatever
// else was found, so that all is said in one run; after errors no device is listed.
func (p *project) devices() []served {
	return p.devicesBy(&judge{project: p, kinds: map[string]*kind{}})
}

func (p *project) devicesBy(judge *judge) []served {
	if !p.loaded() {
		return nil
	}
	wrong := p.diags.HasErrors()
	n := len(p.res.Fabric.Devices)
	list, found := make([]*served, n), make([]diag.List, n)
	progress := p.steps("Checking", n-1)
	defer progress.end()
	parallel(n-1, func(i int) {
		id := fabric.DeviceID(i + 1)
		if list[id] = p.serve(id, &found[id]); list[id] != nil {
			found[id] = append(found[id], judge.refusals(list[id])...)
		}
		progress.one()
	})
	var out []served
	for _, s := range list {
		if s != nil {
			out = append(out, *s)
		}
	}
	if all := slices.Concat(p.unknownTargets(), slices.Concat(found...), p.clusters(out)); len(all) > 0 {
		p.diags = diag.Fold(lint.Consequences(append(p.diags, diag.Sort(diag.Fold(all), p.cfg.Files)...)))
	}
	if wrong {
		return nil
	}
	return out
}

// serve finds the emitter of a device, nil if rocec never touches the device or
// the source does not say what it needs to.
func (p *project) serve(id fabric.DeviceID, found *diag.List) *served {
	f := p.res.Fabric
	dev := &f.Devices[id]
	if dev.Manage == fabric.HandsOff {
		return nil
	}
	chosen := lower.Selected(f, id)
	switch {
	case len(chosen) == 0:
		found.Add(diag.Diagnostic{
			Summary: fmt.Sprintf("no emitter serves %s: its os is %s", f.Text(dev.Name), f.Text(dev.OSName)),
			Address: f.Text(dev.Address), Labels: []diag.Label{f.DeclLabel(dev.Decl, "")},
			Help: `use an os that a target serves (rocec capabilities), or manage = "none"`,
		})
		return nil
	case len(chosen) > 1:
		// ROCE917 sees what select names. What every emitter of a device writes
		// lies in one folder and stands in one entry of the record.
		found.Add(diag.Diagnostic{
			Summary: fmt.Sprintf("two target blocks take %s: %s and %s", f.Text(dev.Name), chosen[0].Emitter, chosen[1].Emitter), Address: f.Text(dev.Address),
			Labels: []diag.Label{f.DeclLabel(chosen[1].Decl, ""), f.DeclLabel(chosen[0].Decl, "the other")}, Help: "let one of them select it",
		})
		return nil
	}
	if lower.Undecided(f, id) {
		found.Add(diag.Diagnostic{
			Summary: fmt.Sprintf("nothing says who owns the adapters of %s, a node of Windows Server 2025 cluster %s", f.Text(dev.Name), f.Text(dev.Cluster)),
			Address: f.Text(dev.Address), Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.ACluster, "")},
			Help: `select the node in a target "netqos" block; Network ATC would undo what NetQos writes`,
		})
	}
	s := &served{id: id, name: f.Text(dev.Name), address: f.Text(dev.Address), target: all.Find(chosen[0].Emitter), chosen: chosen[0]}
	if s.target == nil {
		return nil // unknownTargets says so
	}
	p.deliverable(s, found)
	return s
}

// refusals are what the emitter of a device cannot say of it.
func (p *project) refusals(c *compiled) diag.List {
	list := targets.Check(c.target, c.intent, func(at intent.Path) []diag.Label { return p.res.Origin(c.id, at) })
	for i := range list {
		list[i].Address = address(c.intent, c.address, list[i].Address)
	}
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

// unknownTargets are target blocks of emitters that nobody has, whether they select a device or not.
func (p *project) unknownTargets() (found diag.List) {
	f := p.res.Fabric
	for i := range f.Selections {
		name := f.Text(f.Selections[i].Emitter)
		if all.Find(name) != nil {
			continue
		}
		help := "use one of " + strings.Join(all.Names(), ", ")
		if near := lang.Nearest(name, all.Names()); near != "" {
			help = fmt.Sprintf("did you mean %q?", near)
		}
		found.Add(diag.Diagnostic{
			Summary: fmt.Sprintf("there is no target %q", name), Address: fmt.Sprintf("target.%s", name),
			Labels: []diag.Label{f.DeclLabel(f.Selections[i].Decl, "")}, Help: help,
		})
	}
	return found
}

// deliveries are the devices that rocec writes, to be made one by one. What is
// made of a device is what make says; derived asks for the inputs of computed
// values as well, which the record keeps.
func (p *project) deliveries(list []served, derived bool, make func(*compiled) (*emit.Out, error)) apply.Devices {
	list = slices.DeleteFunc(slices.Clone(list), func(s served) bool { return !p.written(s.id) })
	d := apply.Devices{Make: func(i int) (*apply.Device, error) {
		c := p.lower(&list[i])
		out, err := make(c)
		if err != nil {
			return nil, err
		}
		if !targets.Returns(out) {
			return nil, fmt.Errorf("%s: %s changes it and writes nothing to go back with. Rule: %s %s", c.name, c.target.Name, targets.ROCE908.ID, targets.ROCE908.Name)
		}
		device := &apply.Device{
			Name: c.name, Address: c.address, Emitter: c.target.Name, Output: c.chosen.Output,
			Intent: c.intent, Digest: out.Digest(c.intent), Artifacts: out.Artifacts, Kits: out.Kits,
		}
		if c.target.Capture == "" {
			device.Captures = c.target.Runs(c.intent)
		}
		if derived {
			device.Inputs = p.derived(c.id)
		}
		return device, nil
	}}
	for i := range list {
		d.Places = append(d.Places, apply.Place{Name: list[i].name, Output: list[i].chosen.Output})
	}
	return d
}

// counted are devices whose making is counted.
func counted(d apply.Devices, one func()) apply.Devices {
	make := d.Make
	d.Make = func(i int) (*apply.Device, error) {
		defer one()
		return make(i)
	}
	return d
}

// plain makes a device from its intent alone.
func plain(c *compiled) (*emit.Out, error) { return c.emit(false), nil }

// refused is an error of captures, with what is wrong in them.
type refused struct {
	findings diag.List // those that were not told before
	why      string    // the first of all
}

func (r *refused) Error() string { return "the captured output could not be read" }

// rebased makes a device to fit what was read of it: a target may then write less,
// only what differs there. Without captures it is plain.
func rebased(c *compiled, captured *targets.Captured) (*emit.Out, error) {
	if captured == nil || c.target.Rebase == nil || c.intent.Verify {
		return plain(c)
	}
	// What depends on ports is not asked for: a patch is made from the whole.
	whole := targets.Captured{Files: map[string][]byte{}, Label: captured.Label}
	for _, probe := range c.target.Probes {
		if text, ok := captured.Files[probe.File]; ok && !probe.PerPort {
			whole.Files[probe.File] = text
		}
	}
	if len(whole.Files) == 0 {
		return c.emit(false), nil
	}
	out := &emit.Out{}
	if found := c.target.Rebase(c.intent, whole, out); found.HasErrors() {
		return nil, &refused{found, found[0].Summary}
	}
	return out, nil
}
