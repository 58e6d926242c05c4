package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/targets/emit"
	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	var in inputs
	c := &cobra.Command{
		Use: "explain WHAT", Short: "Explain a rule, an attribute, a device, port or link by address or name, who writes ADDRESS.ATTRIBUTE, or FILE:LINE of an artifact", Args: cobra.ExactArgs(1),
		Example: `  rocec explain ROCE301
  rocec explain link_pfc_priorities
  rocec explain 'switch.tor.port[Ethernet0]'
  rocec explain tor/Ethernet0
  rocec explain tor/Ethernet0.mtu
  rocec explain class.bandwidth
  rocec explain out/n1/host.psd1:20`,
		ValidArgsFunction: ruleNames,
		RunE: func(_ *cobra.Command, args []string) error {
			what := args[0]
			if r := ruleOf(what); r != nil {
				return a.explainRule(r)
			}
			if done, err := a.explainAttribute(what); done {
				return err
			}
			unknown := func(near string) error {
				return fmt.Errorf("%q is no rule, no attribute of the language, no address and no name of this fabric%s", what, near)
			}
			p, err := a.load(&in, false)
			if err != nil {
				return err
			}
			near := wordMeant(what)
			if !p.loaded() && near != "" {
				return unknown(near)
			}
			if !p.loaded() {
				return a.stopOnErrors(p)
			}
			// Names of ports may end as places in files do: et-0/0/1:2.
			if done, err := a.explainNamed(p, what); done {
				return err
			}
			if done, err := a.explainChain(p, what); done {
				return err
			}
			if file, line, ok := fileLine(what); ok {
				return a.explainArtifact(p, file, line)
			}
			return unknown(cmp.Or(meant(p.res.Fabric, what), near))
		},
	}
	in.flags(c)
	return c
}

func (a *app) explainRule(r *diag.Rule) error {
	return a.object(jsonOf(r), func() error {
		fmt.Fprintf(a.out, "%s %s (%s)\n\n  %s\n\n", r.ID, r.Name, r.Severity, r.Title)
		for _, s := range ruleSentences(r) {
			fmt.Fprintln(a.out, s)
		}
		what, later := "A fabric", elsewhere(r.ID) != nil
		if later {
			what = "An example"
		}
		switch {
		case r.Hard:
			fmt.Fprintln(a.out, "Neither a comment nor an override silences it.")
		case later:
			fmt.Fprintln(a.out, "It is found on devices, or while something is done to them: nothing in the source silences it.")
		}
		fmt.Fprintf(a.out, "\n%s that breaks it:\n\n%s\n", what, indent(strings.TrimSpace(laidOut(r.Bad))))
		return nil
	})
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// word is a block or an attribute of the language for programs.
type word struct {
	Block     string `json:"block"`
	Attribute string `json:"attribute,omitempty"`
	Type      string `json:"type,omitempty"`
	Doc       string `json:"doc"`

	Places  []string `json:"places,omitempty"`   // where it can be written
	LeftOut string   `json:"left_out,omitempty"` // what happens where it is not
	Special []string `json:"special,omitempty"`  // the special values that it takes
	Example string   `json:"example,omitempty"`
	Proofs  []string `json:"proofs,omitempty"` // properties that rest on it
	Former  []string `json:"former,omitempty"` // names in earlier editions of the language
}

func (w *word) called(name string) bool {
	return w.Attribute != "" && (w.Attribute == name || slices.Contains(w.Former, name))
}

// explainAttribute explains a block, block.attribute, or an attribute in every
// block that has it.
func (a *app) explainAttribute(what string) (bool, error) {
	block, name, _ := strings.Cut(what, ".")
	var list []word
	for k := schema.None + 1; k < schema.KindCount; k++ {
		def := schema.Def(k)
		switch {
		case def.Word == block && name == "":
			list = append([]word{{Block: def.Word, Doc: def.Doc}}, wordsOf(def)...)
			return true, a.explainWords(list)
		case def.Word == block || name == "":
			for _, w := range wordsOf(def) {
				short := strings.TrimPrefix(w.Attribute, schema.AObserved.Name()+".")
				if w.called(name) || short == name || name == "" && (w.called(block) || short == block) {
					list = append(list, w)
				}
			}
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	return true, a.explainWords(list)
}

// wordMeant ends a message on a name that nothing has: with the rule, the block or the
// attribute that was likely meant.
func wordMeant(what string) string {
	block, attribute, dotted := strings.Cut(what, ".")
	var names, own []string // own: attributes of that block
	for _, r := range rules() {
		names = append(names, r.Name)
	}
	for k := schema.None + 1; k < schema.KindCount; k++ {
		def := schema.Def(k)
		names = append(names, def.Word)
		for i := range def.Attrs {
			names = append(names, def.Attrs[i].Num.Name())
			if def.Word == block {
				own = append(own, def.Attrs[i].Num.Name())
			}
		}
	}
	if near := lang.Nearest(what, names); !dotted && near != "" {
		return didYouMean(near)
	}
	if near := lang.Nearest(attribute, own); dotted && near != "" {
		return didYouMean(block + "." + near)
	}
	return ""
}

func wordsOf(def *schema.BlockDef) []word {
	var list []word
	for _, at := range inOrder(def) {
		list = append(list, word{
			Block: def.Word, Attribute: attrWord(&at), Type: typeText(at.Type), Doc: docOf(&at), Proofs: restsOn(at.Num), Former: at.Former,
			Places: placesOf(def, &at), LeftOut: schema.LeftOutOf(def.Kind, &at).Text(), Special: specialOf(&at), Example: at.Num.Name() + " = " + schema.Example(at.Num, at.Type),
		})
	}
	return list
}

// placesOf are the places that an attribute of a block can be written in.
func placesOf(def *schema.BlockDef, at *schema.AttrDef) []string {
	places := []string{def.Word}
	for _, l := range schema.Def(schema.Defaults).Labels {
		if slices.Contains(l.Enum, def.Word) && at.Num != schema.AName {
			places = append(places, fmt.Sprintf("defaults %q", def.Word))
		}
	}
	if slices.Contains(def.Blocks, schema.Except) && at.Num != schema.AName {
		places = append(places, "except")
	}
	if on := schema.Lookup(schema.Override, schema.AOn.Name()); slices.Contains(on.Type.Refs, def.Kind) && at.Num != schema.AName {
		places = append(places, "override { set }")
	}
	return places
}

// specialOf are the special values that a type takes, and what they mean.
func specialOf(at *schema.AttrDef) []string {
	list, t := []string{"null: left out"}, at.Type
	for _, s := range [][2]string{
		{"auto", "rocec computes it, and writes it"}, {"off", "switched off, which is written"}, {"keep", "left as the device has it, even where something around writes it"},
	} {
		if at.Num == schema.AFEC && s[0] == "auto" {
			s[1] = "a mode of the device, which finds out by itself"
		}
		if slices.Contains(t.Words, s[0]) || slices.Contains(t.Enum, s[0]) {
			list = append(list, fmt.Sprintf("%q: %s", s[0], s[1]))
		}
	}
	return list
}

func (a *app) explainWords(list []word) error {
	return a.object(list, func() error {
		if list[0].Attribute == "" {
			fmt.Fprintf(a.out, "%s: %s\n\n", list[0].Block, list[0].Doc)
			for _, w := range list[1:] {
				fmt.Fprintf(a.out, "  %-18s %s\n", w.Attribute, w.Doc)
			}
			return nil
		}
		for _, w := range list {
			fmt.Fprintf(a.out, "%s.%s (%s): %s\n", w.Block, w.Attribute, w.Type, w.Doc)
			fmt.Fprintf(a.out, "  Written in: %s.\n  Left out: %s.\n", strings.Join(w.Places, ", "), w.LeftOut)
			for _, special := range w.Special {
				fmt.Fprintf(a.out, "  %s.\n", special)
			}
			fmt.Fprintf(a.out, "  Example: %s\n", w.Example)
			if len(w.Proofs) > 0 {
				fmt.Fprintf(a.out, "  What is proven by it: %s.\n", strings.Join(w.Proofs, ", "))
			}
		}
		return nil
	})
}

func fileLine(what string) (file string, line int, ok bool) {
	i := strings.LastIndexByte(what, ':')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(what[i+1:])
	return filepath.ToSlash(what[:i]), n, err == nil
}

// setting is one value of the fabric, and where it was written.
type setting struct {
	Name   string  `json:"name"`
	Value  string  `json:"value,omitempty"`
	Places []place `json:"places,omitempty"`
}

type place struct {
	File   string   `json:"file"`
	Line   int      `json:"line"`
	In     string   `json:"in"`
	Values []string `json:"values,omitempty"`
}

// places are where values come from.
func (p *project) places(labels []diag.Label) []place {
	var list []place
	for _, l := range labels {
		if l.Span.IsZero() {
			continue
		}
		pos, _, _ := p.view.Range(l.Span)
		list = append(list, place{p.view.Name(l.Span.File), pos.Line, l.Where, l.Values})
	}
	return list
}

// artifactLine is a line of an artifact for programs.
type artifactLine struct {
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Address string   `json:"address"`
	Emitter string   `json:"emitter"`
	Setting *setting `json:"setting"` // null: what the emitter always writes
}

// explainArtifact says which setting a line of an artifact came from, and where
// that stands in the source. The artifact is emitted again: a file on disk must
// be the one that this source gives.
func (a *app) explainArtifact(p *project, file string, line int) error {
	devices := p.devices()
	if err := a.stopOnErrors(p); err != nil {
		return err
	}
	for i := range devices {
		if !strings.Contains("/"+file, "/"+devices[i].name+"/") {
			continue
		}
		d := p.lower(&devices[i])
		for _, art := range d.emit(true).Artifacts {
			if !strings.HasSuffix("/"+file, "/"+d.name+"/"+art.Path) {
				continue
			}
			if err := lineOf(&art, file, line); err != nil {
				return err
			}
			return a.explainLine(p, d, file, line, art.Lines)
		}
	}
	for i := range devices {
		// What devices share depends on none of them.
		for _, k := range p.lower(&devices[i]).emit(false).Kits {
			for _, art := range k.Artifacts {
				if !strings.HasSuffix("/"+file, "/"+emit.KitFolder+"/"+k.Name+"/"+art.Path) {
					continue
				}
				if err := lineOf(&art, file, line); err != nil {
					return err
				}
				shared := devices[i]
				shared.address = ""
				return a.explainLine(p, &compiled{served: &shared}, file, line, nil)
			}
		}
	}
	return fmt.Errorf("no device has an artifact %s", file)
}

// lineOf refuses a line that an artifact does not have, and a file that is not it.
func lineOf(art *emit.Artifact, file string, line int) error {
	if text, err := readFile(file); err == nil && !bytes.Equal(text, art.Bytes) {
		return fmt.Errorf("%s is not what this source gives; run rocec build", file)
	}
	if n := bytes.Count(art.Bytes, []byte("\n")); line < 1 || line > n {
		return fmt.Errorf("%s has %s", file, count(n, "line"))
	}
	return nil
}

func (a *app) explainLine(p *project, d *compiled, file string, line int, lines []emit.Line) error {
	x := artifactLine{File: file, Line: line, Address: d.address, Emitter: d.target.Name}
	at, found := sort.Find(len(lines), func(i int) int { return line - lines[i].Number })
	if found {
		path := lines[at].Path
		x.Setting = &setting{Name: path.String(), Places: p.places(p.res.Origin(d.id, path))}
	}
	if found {
		for path, v := range d.intent.Fields {
			if path == lines[at].Path {
				x.Setting.Value = v.Text
			}
		}
	}
	return a.object(x, func() error {
		if x.Setting == nil {
			fmt.Fprintf(a.out, "%s:%d belongs to no single setting: it is part of what %s always writes\n", file, line, x.Emitter)
			return nil
		}
		fmt.Fprintf(a.out, "%s:%d is %s of %s\n", file, line, x.Setting.Name, x.Address)
		for _, at := range x.Setting.Places {
			fmt.Fprintf(a.out, "  from %s line %d, in %s\n", at.File, at.Line, at.In)
			for _, v := range at.Values {
				fmt.Fprintf(a.out, "    %s\n", v)
			}
		}
		return nil
	})
}

// thing is a device or a port of the fabric: what it is, and why.
type thing struct {
	Address   string     `json:"address"`
	About     string     `json:"description,omitempty"`
	Peer      string     `json:"peer,omitempty"`
	Link      string     `json:"link,omitempty"`
	LinkAbout string     `json:"link_description,omitempty"`
	Emitters  []string   `json:"emitters,omitempty"`
	Reached   *reached   `json:"reached,omitempty"` // of a device that is not taken as declared
	Settings  []setting  `json:"settings"`
	Headroom  []reserved `json:"headroom,omitempty"`
	Proofs    []proven   `json:"proofs,omitempty"`
}

// reserved is the headroom of one priority, beside what it is judged by.
type reserved struct {
	Priority  int    `json:"priority"`
	Xoff      int64  `json:"xoff_bytes"`
	Source    string `json:"source"`
	Reference int64  `json:"reference_bytes"`
	Minimum   int64  `json:"minimum_bytes"`
}

// explainNamed shows every port that is meant, or else both ends of every link,
// or else every device; false if there is none.
func (a *app) explainNamed(p *project, what string) (bool, error) {
	f := p.res.Fabric
	ports := portsNamed(f, what)
	if len(ports) == 0 {
		for _, l := range linksNamed(f, what) {
			ports = append(ports, f.Links[l].A, f.Links[l].B)
		}
	}
	var list []thing
	if len(ports) > 0 {
		x := p.prover()
		for _, id := range ports {
			t := p.port(id)
			t.Proofs = x.port(id)
			list = append(list, t)
		}
	} else {
		for _, id := range devicesNamed(f, what) {
			list = append(list, p.device(id))
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	return true, a.object(list, func() error {
		for i := range list {
			list[i].text(a.out)
		}
		return nil
	})
}

func (p *project) port(id fabric.PortID) thing {
	f := p.res.Fabric
	port := &f.Ports[id]
	t := thing{Address: f.PortAddress(id), About: p.described()[f.PortAddress(id)], Settings: []setting{}}
	if port.Peer != 0 {
		t.Peer, t.Link = f.PortAddress(port.Peer), f.LinkAddress(port.Link)
		t.LinkAbout = p.described()[t.Link]
	}
	if dev := p.res.Intent(port.Device); dev != nil {
		name := portIntentName(f, id)
		for path, v := range dev.Fields {
			if path.Object == intent.OfPort && path.Name == name && v.State != intent.Unmanaged && path.Field != "" {
				t.Settings = append(t.Settings, setting{path.Field, v.Text, p.places(p.res.Origin(port.Device, path))})
			}
		}
	}
	for priority, h := range p.res.Facts.Port(id).Headroom {
		if h.Source != 0 {
			t.Headroom = append(t.Headroom, reserved{priority, int64(h.Xoff), sourceName(h.Source), int64(h.Reference), int64(h.Minimum)})
		}
	}
	return t
}

// described are the descriptions in the source, by address. Those of exceptions and overrides stand above them.
func (p *project) described() map[string]string {
	if p.descriptions != nil {
		return p.descriptions
	}
	p.descriptions = map[string]string{}
	if !slices.ContainsFunc(p.cfg.Attrs, func(a lang.Attr) bool { return a.Num == schema.ADescription }) {
		return p.descriptions
	}
	for id := lang.BlockID(1); int(id) < len(p.cfg.Blocks); id++ {
		if p.cfg.Block(id).Kind == schema.Except {
			continue
		}
		v := p.cfg.Attr(id, schema.ADescription)
		first, end := p.cfg.Kids(id)
		for kid := first; kid < end; kid++ {
			if x := p.cfg.Attr(kid, schema.ADescription); p.cfg.Block(kid).Kind == schema.Except && x.Kind != lang.Absent {
				v = x
			}
		}
		if v.Kind != lang.Absent {
			p.descriptions[p.cfg.Address(id)] = p.cfg.Text(v)
		}
	}
	return p.descriptions
}

// portIntentName is a port's name in its device's intent: hosts use the name
// in the operating system.
func portIntentName(f *fabric.Fabric, id fabric.PortID) string {
	port := &f.Ports[id]
	if port.NIC != 0 {
		return f.Text(f.NICs[port.NIC].Device)
	}
	return f.Text(port.Name)
}

func (p *project) device(id fabric.DeviceID) thing {
	f := p.res.Fabric
	t := thing{Address: f.Text(f.Devices[id].Address), About: f.Text(f.Devices[id].About), Settings: []setting{}}
	for _, c := range lower.Selected(f, id) {
		t.Emitters = append(t.Emitters, c.Emitter)
	}
	t.Reached = p.reached(id)
	if dev := p.res.Intent(id); dev != nil {
		for path, v := range dev.Fields {
			if v.State != intent.Unmanaged {
				t.Settings = append(t.Settings, setting{Name: path.String(), Value: v.Text})
			}
		}
	}
	return t
}

func (t *thing) text(w io.Writer) {
	fmt.Fprintln(w, diag.Printable(t.Address))
	if t.About != "" {
		fmt.Fprintf(w, "  %s\n", diag.Printable(t.About))
	}
	if t.Peer != "" {
		by := ""
		if t.Link != t.Address && t.Link != t.Peer { // else the cable has no block: a NIC, topology or list says it
			by = " by " + t.Link
		}
		fmt.Fprintf(w, "  peer: %s\n", diag.Printable(t.Peer+by))
	}
	if t.LinkAbout != "" {
		fmt.Fprintf(w, "    %s\n", diag.Printable(t.LinkAbout))
	}
	for _, e := range t.Emitters {
		fmt.Fprintf(w, "  emitter: %s\n", e)
	}
	t.Reached.text(w)
	if len(t.Settings) == 0 {
		fmt.Fprintln(w, "  rocec never touches it")
	}
	for _, s := range t.Settings {
		fmt.Fprintf(w, "  %-18s = %s\n", diag.Printable(s.Name), diag.Printable(s.Value))
		for _, at := range s.Places {
			fmt.Fprintf(w, "    %s:%d, in %s\n", diag.Printable(at.File), at.Line, diag.Printable(at.In))
			for _, v := range at.Values {
				fmt.Fprintf(w, "      %s\n", diag.Printable(v))
			}
		}
	}
	for _, h := range t.Headroom {
		fmt.Fprintf(w, "  headroom of priority %d: xoff %d B, by %s (the reference formula gives %d B, the physical minimum is %d B)\n", h.Priority, h.Xoff, h.Source, h.Reference, h.Minimum)
	}
	for i := range t.Proofs {
		t.Proofs[i].text(w)
	}
}
