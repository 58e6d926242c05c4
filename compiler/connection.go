package compiler

import (
	"fmt"
	"slices"
	"sync"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/compiler/resolve"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// ways evaluates connections. They are kept as they were written until somebody
// goes to a device: a fabric of 100,000 ports has one connection, and 13,000 ways.
type ways struct {
	cfg *lang.Config // nil where the source has no connection
	*sources
}

type sources struct {
	mu      sync.Mutex // lang evaluates for one at a time
	once    sync.Once
	devices []lang.BlockID // by DeviceID
	ways    []lang.BlockID // by ConnectionID
}

func waysOf(cfg *lang.Config) ways {
	for _, b := range cfg.Top {
		if cfg.Blocks[b].Kind == schema.Connection {
			return ways{cfg, &sources{}}
		}
	}
	return ways{}
}

// Connection is how a device is reached, evaluated now; false if it has no
// connection, is taken as declared, or if something is wrong with its connection,
// which the findings say then. It is safe for several goroutines.
func (r *Result) Connection(d fabric.DeviceID) (fabric.Connection, bool, diag.List) {
	return r.ways.of(r.Fabric, d)
}

// Delivery is how the artifacts of a device get there under one of its target
// blocks: fabric.SSH or fabric.Bundle.
func (r *Result) Delivery(d fabric.DeviceID, c *lower.Chosen) string {
	return lower.Delivery(r.Fabric, d, c)
}

func (w ways) of(f *fabric.Fabric, d fabric.DeviceID) (fabric.Connection, bool, diag.List) {
	dev := &f.Devices[d]
	if w.cfg == nil || dev.Connection == 0 || dev.Manage == fabric.HandsOff {
		return fabric.Connection{}, false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.once.Do(func() { w.devices, w.ways = resolve.Sources(w.cfg) })
	way, diags := w.cfg.Connection(w.ways[dev.Connection], w.devices[d])
	for i := range diags {
		diags[i].Address = f.Text(dev.Address)
	}
	if diags.HasErrors() {
		return fabric.Connection{}, false, diags
	}
	e := wayTo{ways: w, f: f, device: d}
	out := e.connection(&way)
	if out.Address == "" {
		out.Address = e.mgmt()
	}
	e.route(&way)
	out.Jump = e.jump
	return out, !e.diags.HasErrors(), e.diags
}

// wayTo turns one evaluated block, and those on its way, into a connection.
type wayTo struct {
	ways
	f      *fabric.Fabric
	device fabric.DeviceID
	jump   []fabric.Connection
	taken  []lang.BlockID
	diags  diag.List
}

func (e *wayTo) fail(summary, help string, at diag.Label) {
	e.diags.Add(diag.Diagnostic{Summary: summary, Help: help, Address: e.f.Text(e.f.Devices[e.device].Address), Labels: []diag.Label{at}})
}

func (e *wayTo) connection(c *lang.Connection) fabric.Connection {
	decl := fabric.DeclID(e.cfg.Blocks[c.Block].Decl)
	out := fabric.Connection{
		Name: e.cfg.Address(c.Block), Address: c.Address, Port: c.Port, User: c.User, Identity: c.Identity, Agent: c.Agent,
		PasswordEnv: c.PasswordEnv, PasswordCommand: c.PasswordCommand, EnableEnv: c.EnableEnv, KnownHosts: c.KnownHosts, HostKey: c.HostKey, Legacy: c.Legacy, Decl: decl,
	}
	if c.PasswordEnv != "" && len(c.PasswordCommand) > 0 {
		e.fail(out.Name+" has password_env and password_command", "leave one of them out", e.f.Label(decl, 0, schema.APasswordCommand, ""))
	}
	for _, list := range []struct {
		words []string
		attr  schema.Attr
	}{{c.Identity, schema.AIdentity}, {c.KnownHosts, schema.AKnownHosts}, {c.PasswordCommand[:min(len(c.PasswordCommand), 1)], schema.APasswordCommand}} {
		if slices.Contains(list.words, "") {
			e.fail(fmt.Sprintf("%s of %s has an empty text", list.attr.Name(), out.Name), "write "+list.attr.Name()+" = [\"...\"], or leave it out", e.f.Label(decl, 0, list.attr, ""))
		}
	}
	return out
}

// mgmt is the address of a device whose connection writes none.
func (e *wayTo) mgmt() string {
	dev := &e.f.Devices[e.device]
	text := e.f.Text(dev.Mgmt)
	if text == "" {
		return e.f.Text(dev.Name)
	}
	if why := lang.BadHost(text); why != "" {
		e.fail(fmt.Sprintf("mgmt %q of %s %s, and its connection has no other address", text, e.f.Text(dev.Name), why),
			"write a host name or an IP address, or address in the connection", e.f.Label(dev.Decl, dev.Layers, schema.AMgmt, ""))
	}
	return text
}

// route adds the hosts on the way, the nearest first: those that a jump host is
// reached through stand before it.
func (e *wayTo) route(c *lang.Connection) {
	for i := range c.Jump {
		j := &c.Jump[i]
		e.route(j)
		out := e.connection(j)
		at := e.f.Label(fabric.DeclID(e.cfg.Blocks[c.Block].Decl), 0, schema.AJump, "")
		if slices.Contains(e.taken, j.Block) {
			e.fail(fmt.Sprintf("%s is on the way to %s twice", out.Name, e.f.Text(e.f.Devices[e.device].Name)), "name it once: a jump host brings those that it is reached through", at)
			continue
		}
		e.taken = append(e.taken, j.Block)
		if out.Address == "" {
			e.fail(out.Name+" is a jump host and has no address", "the address of a device is no default for it: write address", e.f.DeclLabel(out.Decl, ""))
		}
		e.jump = append(e.jump, out)
	}
}

// check evaluates each connection for the first device that has it, which finds
// what is wrong with all of them, and says which are of no use.
func (w ways) check(f *fabric.Fabric) diag.List {
	if w.cfg == nil {
		return nil
	}
	var found diag.List
	used := make([]bool, len(f.Ways))
	_, blocks := resolve.Sources(w.cfg)
	for d := 1; d < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Manage == fabric.HandsOff || dev.Connection == 0 || used[dev.Connection] {
			continue
		}
		used[dev.Connection] = true
		_, _, diags := w.of(f, fabric.DeviceID(d))
		found = append(found, diags...)
	}
	if !w.jumps(blocks, used) {
		return found // a jump that depends on the device may lead anywhere
	}
	for i := 1; i < len(f.Ways); i++ {
		if !used[i] {
			found.Add(diag.Diagnostic{
				Rule: "ROCE919", Severity: diag.Warning, Summary: fmt.Sprintf("no device is reached by %s", f.Text(f.Ways[i].Address)), Address: f.Text(f.Ways[i].Address),
				Labels: []diag.Label{f.DeclLabel(f.Ways[i].Decl, "")}, Help: fmt.Sprintf("write connection = %s in a device or in defaults, or leave it out", f.Text(f.Ways[i].Address)),
			})
		}
	}
	return found
}

// jumps marks what used connections lead through; false if that is not known.
func (w ways) jumps(blocks []lang.BlockID, used []bool) bool {
	known := true
	var visit func(i int)
	visit = func(i int) {
		b := blocks[i]
		v := w.cfg.Attr(b, schema.AJump)
		if v.Kind == lang.Absent && !w.cfg.SpanOf(w.cfg.Blocks[b].Decl, schema.AJump).IsZero() {
			known = false
		}
		for _, h := range w.cfg.List(v) {
			if h.Kind != lang.Handle {
				continue
			}
			if to := slices.Index(blocks, lang.BlockID(h.N)); to > 0 && !used[to] {
				used[to] = true
				visit(to)
			}
		}
	}
	for i := range used {
		if i > 0 && used[i] {
			visit(i)
		}
	}
	return known
}

// unreached reports devices that a target block sends artifacts to by a
// connection they do not have.
func unreached(f *fabric.Fabric) diag.List {
	if !slices.ContainsFunc(f.Selections, func(s fabric.Selection) bool { return f.Text(s.Delivery) == fabric.SSH }) {
		return nil
	}
	var found diag.List
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Connection != 0 {
			continue
		}
		for _, c := range lower.Selected(f, d) {
			if c.Delivery == fabric.SSH {
				found.Add(diag.Diagnostic{
					Summary: fmt.Sprintf("%s is to be reached over SSH and has no connection", f.Text(dev.Name)), Address: f.Text(dev.Address),
					Labels: []diag.Label{f.Label(c.Decl, 0, schema.ADelivery, ""), f.DeclLabel(dev.Decl, "the device")},
					Help:   `write connection = connection.NAME in the device or in defaults, or delivery = "bundle"`,
				})
			}
		}
	}
	return found
}
