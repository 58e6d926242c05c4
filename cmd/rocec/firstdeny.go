package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// planFirstDeny is the rule of firstDenied.
var planFirstDeny = diag.Rule{
	ID: "ROCE926", Name: "plan_first_deny", Severity: diag.Notice, When: diag.Both,
	Title: "a plan denies RDMA on external ports for the first time",
	Why: "rocec keeps RDMA out where the fabric ends, unless deny is written. Where storage is replicated to another site, or a second fabric lies behind the port, " +
		"connections are still set up over TCP and then every RDMA packet is dropped",
	Fix:        "write deny = [] on the ports over which RDMA is to come in, and apply then",
	Steps:      "first count UDP 4791 on the external ports",
	Interrupts: "RDMA that crosses the edge today",
	Source:     "InfiniBand Architecture Specification, Annex A17 (RoCEv2: UDP destination port 4791)",
	Bad:        edged("external = true"),
	Good:       edged(`untagged = segment.rdma`),
}

// edged is a rack with one more port at its switch.
func edged(port string) string {
	return "-- fabric.roce.hcl --\n" + strings.Replace(rack, `  port "Ethernet[0-4:4]" {`, "  port \"Ethernet8\" {\n    speed = \"100G\"\n    "+port+"\n  }\n"+`  port "Ethernet[0-4:4]" {`, 1) +
		"-- run --\nrocec plan\n"
}

// firstDenied counts the ports on which a plan denies RoCEv2 that nobody denied there before.
func (p *project) firstDenied(pl *plan.Plan) diag.List {
	f := p.res.Fabric
	var of map[string]fabric.DeviceID // by address, made where it is needed
	device := func(owner string) fabric.DeviceID {
		if of == nil {
			of = make(map[string]fabric.DeviceID, len(f.Devices))
			for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
				of[f.Text(f.Devices[d].Address)] = d
			}
		}
		return of[owner]
	}
	n, first, on := 0, "", fabric.DeviceID(0)
	add := func(d fabric.DeviceID, port string) {
		if n++; n == 1 {
			first, on = port, d
		}
	}
	for i := range pl.Changes {
		c := &pl.Changes[i]
		switch {
		case c.Action == plan.Create && c.Object == intent.OfDevice:
			if d := device(c.Owner); d != 0 && f.Devices[d].Kind == fabric.Switch {
				for _, port := range p.deniedBy(d) {
					add(d, fmt.Sprintf("%s.port[%q]", c.Owner, port))
				}
			}
		case c.Object == intent.OfPort && slices.ContainsFunc(c.Fields, deniesFirst):
			add(device(c.Owner), c.Address)
		}
	}
	if n == 0 {
		return nil
	}
	what := first
	if n > 1 {
		what += fmt.Sprintf(" and %d more", n-1)
	}
	found := diag.Diagnostic{
		Rule: planFirstDeny.ID, Severity: planFirstDeny.Severity, Address: first,
		Summary: fmt.Sprintf("this denies RoCEv2 (UDP port 4791) for the first time on %s", what),
		Help:    "write deny = [] where RDMA is to come in; " + planFirstDeny.OnLive(),
	}
	if on != 0 {
		found.Labels = []diag.Label{f.Label(f.Devices[on].Decl, f.Devices[on].Layers, schema.ADeny, "")}
	}
	return diag.List{found}
}

// deniesFirst reports whether a setting of a port denies RoCEv2, and did not before.
func deniesFirst(s plan.Field) bool {
	return s.Name == "deny" && strings.Contains(s.After, string(intent.RoCEv2)) && !strings.Contains(s.Before, string(intent.RoCEv2))
}

// deniedBy are the ports of a switch that deny RoCEv2. An intent is made of those that have a port at the edge only.
func (p *project) deniedBy(d fabric.DeviceID) (ports []string) {
	f := p.res.Fabric
	first, end := f.PortsOf(d)
	edge := false
	for id := first; id < end && !edge; id++ {
		port := &f.Ports[id]
		edge = port.Flags&(fabric.External|fabric.DenySet) != 0 || port.Peer != 0 && !f.Devices[f.Ports[port.Peer].Device].Trusted
	}
	if !edge {
		return nil
	}
	if whole := p.res.Intent(d); whole != nil {
		for i := range whole.Ports {
			if slices.Contains(whole.Ports[i].Deny.Value, intent.RoCEv2) {
				ports = append(ports, whole.Ports[i].Name)
			}
		}
	}
	return ports
}
