package sonicent

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// access is an access list that keeps one kind of RDMA out: a rule that drops
// it, and one that lets all else in, since a list ends with a deny of all.
// [grammar acl.xml and macro/acl_macro.xml; ansible sonic_l3_acls.py,
// sonic_l2_acls.py; spytest qos/acl.py. 0x8915 is ETHERTYPE_ROCE of the
// collection's l2_acls.py]
type access struct {
	drops        intent.RDMA
	kind, name   string
	deny, permit string
}

var accesses = []access{
	{intent.RoCEv2, "ip", prefix + "deny_ipv4", "deny udp any any eq 4791", "permit ip any any"},
	{intent.RoCEv2, "ipv6", prefix + "deny_ipv6", "deny udp any any eq 4791", "permit ipv6 any any"},
	{intent.RoCEv1, "mac", prefix + "deny_mac", "deny any any 0x8915", "permit any any"},
}

// Numbers of the two rules.
const denyRule, permitRule = 10, 20

func (a *access) made() string { return a.kind + " access-list " + a.name }

func (a *access) rules() map[int]string {
	return map[int]string{denyRule: a.deny, permitRule: a.permit}
}

// edges calls do for each written port and LAG of which it is managed what it drops.
func edges(d *intent.Device, do func(name string, deny []intent.RDMA, from intent.Path)) {
	for i := range d.LAGs {
		if g := &d.LAGs[i]; g.Deny.IsSet() {
			do(g.Name, g.Deny.Value, intent.Path{Object: intent.OfLAG, Name: g.Name, Field: "deny"})
		}
	}
	for i := range d.Ports {
		if p := &d.Ports[i]; p.Deny.IsSet() && !p.Verify {
			do(p.Name, p.Deny.Value, intent.Path{Object: intent.OfPort, Name: p.Name, Field: "deny"})
		}
	}
}

// edge makes the lists that ports are bound to. A rule is not replaced by one of
// its number: it has to go first.
func (b *builder) edge() {
	for i := range accesses {
		a := &accesses[i]
		var from *intent.Path
		edges(b.device, func(name string, deny []intent.RDMA, at intent.Path) {
			if from == nil && slices.Contains(deny, a.drops) && b.drop.foreign(name, a.kind) == "" {
				from = &at
			}
		})
		if from == nil {
			continue
		}
		l := line{text: a.made(), from: *from}
		for _, n := range b.drop.rules(a) {
			l.add(*from, "no seq "+strconv.Itoa(n))
		}
		l.add(*from, "seq "+strconv.Itoa(denyRule)+" "+a.deny)
		l.add(*from, "seq "+strconv.Itoa(permitRule)+" "+a.permit)
		b.put(l)
	}
}

// deny binds a port or LAG to the lists of what it drops.
func (b *builder) deny(l *line, name string, deny intent.Opt[[]intent.RDMA], from intent.Path) {
	if !deny.IsSet() {
		return
	}
	for i := range accesses {
		a := &accesses[i]
		switch {
		case !slices.Contains(deny.Value, a.drops):
			if b.drop.iface(name).lists[a.kind] == a.name {
				l.add(from, "no "+a.kind+" access-group "+a.name+" in")
			}
		case b.drop.foreign(name, a.kind) == "":
			l.add(from, a.kind+" access-group "+a.name+" in")
		}
	}
}

// foreign is the list of another that a port or LAG is known to have inbound.
func (x *drops) foreign(port, kind string) string {
	name := x.iface(port).lists[kind]
	if slices.ContainsFunc(accesses, func(a access) bool { return a.kind == kind && a.name == name }) {
		return ""
	}
	return name
}

// rules are the numbers of what stands in a list of rocec's and should not.
func (x *drops) rules(a *access) []int {
	if x == nil {
		return nil
	}
	want := a.rules()
	var gone []int
	for _, n := range slices.Sorted(maps.Keys(x.seen.lists[a.made()])) {
		if x.seen.lists[a.made()][n] != want[n] {
			gone = append(gone, n)
		}
	}
	return gone
}

// occupied are the ports and LAGs that have a list of somebody else's, which does
// not drop what it should: a second one of its kind has no place [grammar
// macro/acl_macro.xml: one of a type for an interface and a direction].
func occupied(d *intent.Device, seen *config) diag.List {
	var list diag.List
	x := &drops{seen}
	edges(d, func(name string, deny []intent.RDMA, _ intent.Path) {
		for i := range accesses {
			a := &accesses[i]
			other := x.foreign(name, a.kind)
			if other == "" || !slices.Contains(deny, a.drops) || seen.keepsOut(a, other) {
				continue
			}
			list.Add(diag.Diagnostic{
				Severity: diag.Error,
				Summary:  fmt.Sprintf("%s has the %s access-list %s inbound, which does not begin with %q, and takes no second one", name, a.kind, strconv.Quote(other), a.deny),
				Help:     "put that rule first in it, or take the list off",
			})
		}
	})
	return list
}

// keepsOut reports whether a list drops what it should: rocec's own as it was
// made, another where no rule before the one that drops lets anything in.
func (c *config) keepsOut(a *access, name string) bool {
	rules := c.lists[a.kind+" access-list "+name]
	if name == a.name {
		return maps.Equal(rules, a.rules())
	}
	for _, n := range slices.Sorted(maps.Keys(rules)) {
		switch {
		case rules[n] == a.deny:
			return true
		case !strings.HasPrefix(rules[n], "deny "):
			return false
		}
	}
	return false
}

// denied reads what a port or LAG drops as it comes in, by whichever lists: RoCEv2
// only if it does so over IPv4 and IPv6.
func (p *parser) denied(f *iface) intent.Opt[[]intent.RDMA] {
	list := []intent.RDMA{}
	for _, kind := range []intent.RDMA{intent.RoCEv2, intent.RoCEv1} {
		all := true
		for i := range accesses {
			a := &accesses[i]
			all = all && (a.drops != kind || p.keepsOut(a, f.lists[a.kind]))
		}
		if all {
			list = append(list, kind)
		}
	}
	return intent.Some(list)
}

// newList enters an access list.
func (r *reader) newList(made string) {
	if r.lists[made] == nil {
		r.lists[made] = map[int]string{}
	}
	r.list = r.lists[made]
}

// inList takes the rules of an access list.
func (r *reader) inList(w []string) bool {
	if len(w) < 3 || w[0] != "seq" {
		return false
	}
	n, err := strconv.ParseUint(w[1], 10, 16)
	if err != nil {
		r.strange("a rule of an access list")
		return true
	}
	words := w[2:]
	if i := slices.Index(words, "remark"); i > 0 {
		words = words[:i] // what somebody thought of it
	}
	r.list[int(n)] = strings.Join(words, " ")
	return true
}
