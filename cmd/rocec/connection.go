package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/all"
)

// labVariable names the file of a lab: devices are then those that are simulated
// there.
const labVariable = "ROCEC_LAB"

// delivery is how the artifacts of a device get there: fabric.SSH or
// fabric.Bundle. A device that is taken as declared is never contacted.
func (p *project) delivery(id fabric.DeviceID) string {
	f := p.res.Fabric
	if f.Devices[id].Manage == fabric.HandsOff {
		return fabric.Bundle
	}
	chosen := lower.Selected(f, id)
	if len(chosen) != 1 || liveOf(&chosen[0]) == nil {
		return fabric.Bundle
	}
	if p.lab != nil {
		if _, there := p.lab[f.Text(f.Devices[id].Name)]; there {
			return fabric.SSH
		}
		return fabric.Bundle
	}
	return p.res.Delivery(id, &chosen[0])
}

func liveOf(c *lower.Chosen) *targets.Live {
	if t := all.Find(c.Emitter); t != nil {
		return t.Live
	}
	return nil
}

// spec is how a session to a device is opened. Findings say why there is none.
func (p *project) spec(id fabric.DeviceID) (session.Spec, diag.List) {
	f := p.res.Fabric
	dev := &f.Devices[id]
	name := f.Text(dev.Name)
	refuse := func(summary, help string) (session.Spec, diag.List) {
		return session.Spec{}, diag.List{{Summary: summary, Help: help, Address: f.Text(dev.Address), Labels: []diag.Label{f.DeclLabel(dev.Decl, "")}}}
	}
	if dev.Manage == fabric.HandsOff {
		return refuse(name+` has manage = "none" and is never contacted`, "")
	}
	chosen := lower.Selected(f, id)
	if len(chosen) != 1 {
		return refuse("no emitter serves "+name, "")
	}
	live := liveOf(&chosen[0])
	if live == nil {
		return refuse(fmt.Sprintf("%s is written by %s, which has no way over a session", name, chosen[0].Emitter), `write delivery = "bundle" in its target block`)
	}
	if p.lab != nil && !p.trust.untrusted {
		spec, there := p.lab[name]
		if !there {
			return refuse("the lab that "+labVariable+" names has no device "+name, "start it again: rocec lab up")
		}
		spec.Device, spec.Shell = name, live.Shell
		return spec, nil
	}
	way, ok, diags := p.res.Connection(id)
	if !ok {
		if diags.HasErrors() {
			return session.Spec{}, diags
		}
		return refuse(name+" has no connection", "write connection = connection.NAME in the device or in defaults")
	}
	if p.trust.untrusted {
		return refuse("no session to "+name+" is opened with --untrusted", "")
	}
	if found := p.permitted(&way); found.HasErrors() {
		return session.Spec{}, found
	}
	spec := p.specOf(name, &way)
	spec.Shell = live.Shell
	for i := range way.Jump {
		spec.Jump = append(spec.Jump, p.specOf(way.Jump[i].Name, &way.Jump[i]))
	}
	return spec, nil
}

// specOf is one evaluated connection as sessions take it.
func (p *project) specOf(name string, c *fabric.Connection) session.Spec {
	return session.Spec{
		Device: name, Address: c.Address, Port: c.Port, User: c.User, Identity: p.files(c.Identity), Agent: c.Agent,
		PasswordEnv: c.PasswordEnv, PasswordCommand: c.PasswordCommand, EnableEnv: c.EnableEnv,
		KnownHosts: p.files(c.KnownHosts), HostKey: c.HostKey,
	}
}

// files are files that are named from the folder of the configuration. The home
// folder is for sessions to find.
func (p *project) files(names []string) []string {
	var list []string
	for _, n := range names {
		if n != "~" && !strings.HasPrefix(n, "~/") && !filepath.IsAbs(filepath.FromSlash(n)) {
			n = filepath.Join(p.dir, filepath.FromSlash(n))
		}
		list = append(list, n)
	}
	return list
}

// deliverable refuses a target block that sends artifacts over sessions where its
// target has no way to.
func (p *project) deliverable(s *served, found *diag.List) {
	if s.chosen.Delivery != fabric.SSH || s.target.Live != nil {
		return
	}
	f := p.res.Fabric
	found.Add(diag.Diagnostic{
		Summary: fmt.Sprintf("target %s has no way to change %s over SSH", s.target.Name, s.name), Address: s.address,
		Labels: []diag.Label{f.Label(s.chosen.Decl, 0, schema.ADelivery, "")}, Help: `write delivery = "bundle"`,
	})
}
