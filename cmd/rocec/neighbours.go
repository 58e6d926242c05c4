package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/observe"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/cabling"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// cableRule is the rule of neighbours.
const cableRule = "ROCE119"

// neighbours compares what devices hear of their neighbours with the cables of the
// source. What they say becomes cable lists in verify mode, as an operator would
// write them for captures, and the configuration is compiled again with those: the
// findings are the compiler's own. The project returned shows them.
func (a *app) neighbours(ctx context.Context, p *project, devices []served, f *verifyFlags) (*project, diag.List, error) {
	heard, failed := a.heard(ctx, p, devices, &f.read)
	if len(heard) == 0 && len(failed) == 0 {
		return p, diag.List{{Severity: diag.Error, Summary: "no device says anything of its neighbours", Help: "--lldp asks devices of the targets linux, sonic and cumulus; run an LLDP daemon on them"}}, nil
	}
	in := f.in
	in.instead = map[string][]byte{}
	var blocks strings.Builder
	for i := range devices {
		s := &devices[i]
		text, ok := heard[s.name]
		if !ok {
			continue
		}
		name := identifier(s.name, i)
		file := ".rocec/lldp/" + name + "/" + s.target.Neighbours.File
		in.instead[file] = text
		fmt.Fprintf(&blocks, "cabling \"lldp_of_%s\" {\n  file   = %q\n  format = \"lldp\"\n  mode   = \"verify\"\n  device = %s\n}\n", name, file, quoteHCL(s.name))
	}
	in.instead["rocec_neighbours.roce.hcl"] = []byte(blocks.String())
	with, err := a.loadFrom(p.dir, &in, false)
	if err != nil {
		return nil, nil, err
	}
	old := map[string]bool{}
	for _, d := range p.diags {
		old[d.Rule+d.Summary] = true
	}
	found := failed
	for _, d := range with.diags {
		if d.Rule == cableRule && !old[d.Rule+d.Summary] || d.Severity == diag.Error && d.Rule == "" {
			found.Add(d)
		}
	}
	return with, found, nil
}

// heard is what devices print of their neighbours, by name. A device without a
// command for it is left out.
func (a *app) heard(ctx context.Context, p *project, devices []served, r *reading) (map[string][]byte, diag.List) {
	var mu sync.Mutex
	heard := map[string][]byte{}
	var failed diag.List
	unknown := func(s *served, severity diag.Severity, why, help string) {
		failed.Add(diag.Diagnostic{
			Severity: severity, Rule: cableRule, Address: s.address,
			Summary: fmt.Sprintf("the neighbours of %s are not known: %s", s.address, diag.Printable(why)),
			Help:    help + "; the ports were not checked from this end",
		})
	}
	keep := func(s *served, text []byte, err error) {
		var faults []*cabling.Error
		if err == nil && len(text) > 0 {
			// As a list of the configuration one that cannot be read would stop all others from being compared.
			text = verify.Plain(text)
			faults = cabling.Read(cabling.Options{Format: "lldp", Device: s.name}, text, func(*cabling.Row) {})
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			unknown(s, diag.Warning, strings.TrimPrefix(err.Error(), "read "+s.name+": "), "run an LLDP daemon there")
		case len(text) == 0:
		case len(faults) == 0:
			heard[s.name] = text
		case faults[0].Msg == cabling.NoNeighbour:
			unknown(s, diag.Warning, "it hears none that has a name and a port", "see that the daemons at both ends run, and that its links are up")
		default:
			unknown(s, diag.Error, faults[0].Error(), faults[0].Help)
		}
	}
	var live []observe.Device
	var of []*served
	before := map[string]bool{}
	for i := range devices {
		s := &devices[i]
		probe := s.target.Neighbours
		switch {
		case probe == nil:
		case r.from != "":
			c, err := verify.Files(r.from, &intent.Device{Name: s.name}, s.target.Asking("", *probe), nil)
			keep(s, c.Files[probe.File], err)
		default:
			spec, findings := p.spec(s.id)
			if len(findings) > 0 {
				failed = append(failed, unsaid(findings, before)...)
				continue
			}
			live = append(live, observe.Device{Spec: spec, Target: s.target.Asking("", *probe), Intent: func() *intent.Device { return &intent.Device{Name: s.name} }})
			of = append(of, s)
		}
	}
	observe.All(ctx, live, a.readers(r.parallelism), r.parallelism, func(i int, c targets.Captured, err error) {
		keep(of[i], c.Files[of[i].target.Neighbours.File], err)
	})
	return heard, diag.Sort(failed, p.cfg.Files)
}

// identifier is a name as a block may have it; the number keeps two apart.
func identifier(name string, n int) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
	if clean != name {
		clean += "_" + strconv.Itoa(n)
	}
	return clean
}

// quoteHCL is a name as a string of the language.
func quoteHCL(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(s))
}
