package rocec_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// oddValues are two values of each attribute that says what a device is told: the
// first is right for any fabric that writes it everywhere, the second is another.
// "" stands for an attribute that is left out. What is not here is in oddApart.
var oddValues = map[string]func(s *site) [][2]string{
	"speed": func(s *site) [][2]string {
		own := quote(fmt.Sprintf("%dG", s.mbps))
		return [][2]string{{own, ""}, {own, quote("10G")}}
	},
	"fec": func(s *site) [][2]string {
		return [][2]string{{quote("rs"), ""}, {quote("rs"), quote("off")}, {quote("rs"), quote("auto")}}
	},
	"autoneg": pairs("false", "", "true", "", "", "true", "", "false"),
	"mtu": func(s *site) [][2]string {
		most := "9000"
		if len(s.segments) > 0 {
			most = s.segments[0].get("mtu")
		}
		return [][2]string{{most, ""}, {most, "1500"}, {most, "2500"}}
	},
	"untagged":     written(""),
	"tagged":       written(""),
	"segment":      written(""),
	"qos":          pairs("qos.q", quote("keep")),
	"global_pause": pairs("false", "true", "", "true"),
	"trust":        pairs("", quote("none")),
	"pfc":          pairs("", "[]", "", "[1]"),
	"dscp_map":     pairs("", "{ 9 = 5 }"),
	"pcp_map":      pairs("", "{ 1 = 2 }"),
	"queue_map":    pairs("", "{ 1 = 2 }"),
	"group_map":    pairs("", "{ 1 = 2 }"),
	"pfc_queue_map": func(s *site) [][2]string {
		return [][2]string{{"", "{ " + s.rdma.get("priority") + " = 5 }"}}
	},
	"ets":         pairs("", "{ 0 = 60, 3 = 40 }"),
	"ecn":         pairs("", quote("off"), "", `{ min = "200KB", max = "900KB", probability = 10 }`),
	"dcbx":        pairs("", quote("advertise")),
	"watchdog":    pairs("", quote("off"), "", `{ detect = "600ms", restore = "900ms" }`),
	"headroom":    pairs("", quote("400KB")),
	"deny":        pairs("", `["roce_v1"]`),
	"roce_mode":   pairs(quote("v2"), "", "", quote("v1")),
	"firmware":    pairs(quote("28.43.1014"), "", quote("28.43.1014"), quote("28.42.1000")),
	"driver":      pairs(quote("24.10"), "", quote("24.10"), quote("23.10")),
	"vfs":         pairs("{ count = 4 }", "", "{ count = 4 }", "{ count = 8 }"),
	"buffer":      pairs("", `{ alpha = "1/8" }`, "", `{ headroom = "2MB" }`),
	"hash":        pairs("", `{ function = "CRC" }`),
	"arp_timeout": pairs("", quote("30m"), quote("1h"), ""),
	"mac_timeout": pairs("", quote("20m"), quote("2h"), ""),
	"rate":        pairs(quote("fast"), "", "", quote("slow"), quote("fast"), quote("slow")),
	"mode":        written(quote("static")),
	"rdma":        pairs("", "false", "true", "false"),
	"vrf":         pairs("", quote("Vrf_x")),
	"address":     pairs("", quote("none")),
	"slot":        written(""),
	"spare_ports": pairs("", quote("shut"), quote("shut"), ""),
	"admin":       pairs(quote("up"), "", quote("up"), quote("down"), "", quote("down")),

	"pause_storm_timeout": pairs(quote("auto"), "", "", quote("off"), quote("auto"), quote("2s")),
}

// oddApart are the attributes of ports, NICs, interfaces, bonds, LAGs, nodes and
// switches that this test leaves alone, by reason.
var oddApart = map[string][]string{
	"names and places, which are everyone's own": {
		"name", "description", "ifname", "pci", "mac", "adapter", "subnet", "gateway", "rack", "site", "id", "vars", "at", "on", "pin", "members", "place", "gpu", "pcie_switch", "rail", "plane",
	},
	"what makes a role": {"model", "os", "role", "facing", "cluster", "tenant", "manage", "external", "trusted", "link_layer"},
	"nothing is emitted": {
		"mgmt", "connection", "acs", "virtualised", "persistent", "consumers", "memlock", "modules", "tos", "dcqcn", "pcie", "driver_origin", "gid_index", "receive_buffer", "pxe", "macsec",
		"remark", "pfc_direction", "stp", "pools", "semi_lossless", "external_gateway", "observed", "ecn_colors",
	},
	"of cables":                            {"cable", "breakout"},
	"of the words of one operating system": {"hash_policy"},
}

func pairs(values ...string) func(*site) [][2]string {
	var list [][2]string
	for i := 0; i+1 < len(values); i += 2 {
		list = append(list, [2]string{values[i], values[i+1]})
	}
	return func(*site) [][2]string { return list }
}

// oddAsIs stands for the value that the fabric has.
const oddAsIs = "as it is"

func written(other string) func(*site) [][2]string {
	return func(*site) [][2]string { return [][2]string{{oddAsIs, other}} }
}

// TestOddValues: each attribute of what can be odd is in one of the tables.
func TestOddValues(t *testing.T) {
	apart := slices.Concat(slices.Collect(maps.Values(oddApart))...)
	for _, k := range []schema.Kind{schema.Port, schema.NIC, schema.Interface, schema.Bond, schema.LAG, schema.Node, schema.Switch} {
		for _, a := range schema.Def(k).Attrs {
			if name := a.Num.Name(); oddValues[name] == nil && !slices.Contains(apart, name) {
				t.Errorf("%s of %s: nothing is known of it", name, k)
			}
		}
	}
}

// oddBlock is a block with the addresses by which findings may name it.
type oddBlock struct {
	*block
	kind  schema.Kind
	where []string
}

// oddBlocks are the groups of four blocks or more of a site that are alike.
func (s *site) oddBlocks() [][]oddBlock {
	groups := map[string][]oddBlock{}
	var order []string
	add := func(key string, b oddBlock) {
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], b)
	}
	for _, n := range s.nodes {
		node := "node." + label(n)
		add("nodes", oddBlock{n, schema.Node, []string{node}})
		for _, k := range n.kids {
			word, _, _ := strings.Cut(k.head, " ")
			kind := map[string]schema.Kind{"nic": schema.NIC, "bond": schema.Bond, "interface": schema.Interface}[word]
			add(k.head, oddBlock{k, kind, []string{node}})
		}
	}
	for _, e := range s.ends {
		if !e.host {
			key := label(e.device) + " to " + label(e.peer.block)
			if !e.peer.host {
				key = "between switches"
				if e.device == s.switches[0] {
					key += ", from the first"
				}
			}
			add(key, oddBlock{e.block, schema.Port, []string{e.address}})
		}
	}
	for _, sw := range s.switches {
		if s.kind == "trunk" && sw != s.switches[0] {
			add("leaves", oddBlock{sw, schema.Switch, []string{"switch." + label(sw)}})
		}
	}
	var list [][]oddBlock
	for _, key := range order {
		if len(groups[key]) >= 4 {
			list = append(list, groups[key])
		}
	}
	return list
}

// told is what all devices of a fabric are told, without what follows from the length
// of a cable.
func told(m made) map[string]string {
	all := map[string]string{}
	for _, d := range m.Devices {
		for p, v := range d.Intent.Fields {
			if w := p.Word(); w != "headroom" && w != "cable" {
				all[fmt.Sprint(d.Intent.Name, p)] = fmt.Sprint(v.State, v.Text)
			}
		}
	}
	return all
}

// oddRuns is how many fabrics are tried: each takes two compilations and more.
func oddRuns() int { return max(1, *runsFlag/8) }

// oddShareNamed is the least share of odd ones that are named first, in thousandths.
const oddShareNamed = 980

// TestRandomOdd: one attribute of one block among four or more that are alike is changed
// or left out. Where that changes what a device is told, the first finding of the
// highest severity names what differs.
func TestRandomOdd(t *testing.T) {
	var mu sync.Mutex
	put, named, findings := 0, 0, 0
	each := map[string][2]int{}
	misses := map[string]string{}
	runs := oddRuns()
	seedsOf(runs, func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 31))
		for range 40 {
			s := largerSite(r, 4)
			if r.IntN(4) == 0 {
				s = teamSite(r)
			}
			groups := s.oddBlocks()
			if len(groups) == 0 {
				continue
			}
			group := pick(r, groups...)
			var names []string
			for _, a := range schema.Def(group[0].kind).Attrs {
				if oddValues[a.Num.Name()] != nil {
					names = append(names, a.Num.Name())
				}
			}
			if group[0].kind == schema.Port {
				names = append(names, "admin")
			}
			name := pick(r, names...)
			values := pick(r, oddValues[name](s)...)
			if values[0] == oddAsIs {
				if values[0] = group[0].get(name); values[0] == "" {
					continue
				}
			} else {
				for _, b := range group {
					b.set(name, values[0])
				}
			}
			before := buildText(s.String())
			if len(before.Devices) == 0 || strings.Contains("\n"+before.Findings, "\nError: ") || strings.Contains(before.Findings, "ROCE726") {
				continue // not a right one
			}
			one := pick(r, group...)
			one.set(name, values[1])
			m := buildText(s.String())
			stopped := strings.Contains("\n"+m.Findings, "\nError: ")
			if !stopped && maps.Equal(told(before), told(m)) {
				continue
			}
			new := slices.DeleteFunc(slices.Clone(m.Diags), func(d diag.Diagnostic) bool {
				return slices.ContainsFunc(before.Diags, func(b diag.Diagnostic) bool { return b.Rule == d.Rule && b.Summary == d.Summary })
			})
			slices.SortStableFunc(new, func(a, b diag.Diagnostic) int { return cmp.Compare(oddOrder(a), oddOrder(b)) })
			ok := len(new) > 0 && namesOne(new[0], one.where)
			what := fmt.Sprintf("%s of %s", name, group[0].kind)
			mu.Lock()
			defer mu.Unlock()
			n := each[what]
			put, n[0], findings = put+1, n[0]+1, findings+len(new)
			if ok {
				named, n[1] = named+1, n[1]+1
			} else if len(misses) < 10 {
				misses[fmt.Sprint(what, seed)] = fmt.Sprintf("seed %d (%s): %s of %v is %q, not %q: %s\n%s", seed, s.kind, name, one.where, values[1], values[0], m.Findings, numbered(s.String()))
			}
			each[what] = n
			return
		}
	})
	for _, what := range slices.Sorted(maps.Keys(each)) {
		t.Logf("%-30s %d of %d named first", what, each[what][1], each[what][0])
	}
	t.Logf("%d of %d named first, %d findings", named, put, findings)
	if put < runs*8/10 {
		t.Errorf("%d changes were made to %d fabrics", put, runs)
	}
	if named*1000 < put*oddShareNamed {
		for _, text := range misses {
			t.Error(text)
		}
		t.Errorf("%d of %d named first", named, put)
	}
}

// oddOrder is by severity; what targets refuse stands behind what rules say.
func oddOrder(d diag.Diagnostic) int {
	if slices.Contains(lint.Refusals, d.Rule) {
		return int(diag.Notice) + 1
	}
	return int(d.Severity)
}

// namesOne reports whether a finding names one of some addresses or a part of it.
func namesOne(d diag.Diagnostic, where []string) bool {
	if d.Address == "" && len(d.Labels) > 0 { // it is not about an object but about a line
		device, _, _ := strings.Cut(where[0], ".port")
		word, name, _ := strings.Cut(device, ".")
		return strings.HasPrefix(d.Labels[0].Where, fmt.Sprintf("%s %q", word, name))
	}
	f := fault{rules: []string{d.Rule}}
	return f.names(d, where)
}

// TestRandomMixed: fabrics that are right, in which hosts, cables, racks and clusters
// differ by design, and nobody is called odd.
func TestRandomMixed(t *testing.T) {
	var mu sync.Mutex
	words := 0
	seedsOf(oddRuns(), func(seed uint64) {
		s := mixedSite(rand.New(rand.NewPCG(seed, 37)))
		m := buildText(s.String())
		if len(m.Devices) == 0 || strings.Contains("\n"+m.Findings, "\nError: ") || strings.Contains(m.Findings, "ROCE726") {
			mu.Lock()
			defer mu.Unlock()
			if words++; words == 1 {
				t.Errorf("seed %d: %s\n%s", seed, m.Findings, numbered(s.String()))
			}
		}
	})
	if words > 0 {
		t.Errorf("%d of %d fabrics have a false word", words, oddRuns())
	}
}

// mixedSite is racks of hosts of two kinds that nothing but their NICs and segments
// tells apart, in clusters of their own settings, on cables of all kinds.
func mixedSite(r *rand.Rand) *site {
	s := &site{kind: "clos3", mbps: 100, least: 1, trust: "dscp", lossless: true, ecn: true} // whose contract is not of tags
	s.contract(r)
	s.tagged = false
	racks := 1 + r.IntN(4)
	for i := range racks {
		s.segments = append(s.segments, s.root.add(fmt.Sprintf("segment \"s%d\"", i), "vlan", fmt.Sprint(100+i), "subnet", quote(fmt.Sprintf("10.%d.0.0/24", 100+i)), "qos", "qos.q", "mtu", "9000"))
	}
	s.root.add(`segment "office"`, "vlan", "50", "subnet", quote("10.50.0.0/22"))
	on := switchTypes[0]
	models := s.models(r)
	slot := 0
	for rack := range racks {
		sw := s.newSwitch(fmt.Sprintf("tor%d", rack), on)
		clusters := 1 + r.IntN(2)
		port := 0
		for c := range clusters {
			mtu, vfs := pick(r, "9000", ""), pick(r, "", "", "{ count = 4 }")
			driver, copper := pick(r, "", quote("24.10")), pick(r, quote("none"), "")
			for range 1 + r.IntN(6) {
				slot++
				node := s.root.add(fmt.Sprintf("node \"n%d\"", slot), "os", quote("ubuntu/24.04"), "slot", fmt.Sprint(slot), "cluster", quote(fmt.Sprintf("c%d-%d", rack, c)))
				s.nodes = append(s.nodes, node)
				media := pick(r, "dac", "sr")
				nic, p := s.nic(node, "rail0", models[0]), s.port(sw, on, port)
				port++
				nic.block.set("mtu", mtu).set("vfs", vfs).set("driver", driver)
				s.carry(nic.block, rack, true)
				s.carry(p.block, rack, false)
				if media == "dac" && s.mbps == 100 { // a cable that gets along without
					p.block.set("fec", quote("none"))
					nic.block.set("fec", copper)
				}
				s.join(fmt.Sprintf("n%d", slot), nic, p, fmt.Sprintf("{ media = %q, length = \"%dm\" }", media, 1+r.IntN(3)))
				if r.IntN(3) > 0 {
					continue
				}
				office, q := s.nic(node, "office", models[0]), s.port(sw, on, port)
				port++
				office.block.set("untagged", "segment.office")
				q.block.set("untagged", "segment.office").set("fec", quote("rs"))
				s.join(fmt.Sprintf("o%d", slot), office, q, `{ media = "sr", length = "20m" }`)
			}
		}
		if r.IntN(2) == 0 { // two that serve something else, of a kind that nobody names
			for range 1 + r.IntN(2) {
				slot++
				node := s.root.add(fmt.Sprintf("node \"n%d\"", slot), "os", quote("ubuntu/24.04"), "slot", fmt.Sprint(slot))
				nic, p := s.nic(node, "rail0", models[0]), s.port(sw, on, port)
				port++
				nic.block.set("untagged", "segment.office")
				p.block.set("untagged", "segment.office").set("admin", quote("up"))
				s.join(fmt.Sprintf("n%d", slot), nic, p, `{ media = "sr", length = "20m" }`)
			}
		}
	}
	return s
}

// teamSite is a cluster of Windows hosts with two host vNICs each.
func teamSite(r *rand.Rand) *site {
	s := &site{trust: "pcp", lossless: true, ecn: true, tagged: true, kind: "team", mbps: 25}
	s.qos = s.root.add(`qos "q"`, "trust", quote("pcp"))
	s.rdma = s.qos.add(`class "rdma"`, "carries", quote("rdma"), "priority", "3", "bandwidth", "50", "match", "{ netdirect_port = 445 }", "ecn", quote("auto"))
	s.qos.add(`class "cluster"`, "carries", quote("cluster"), "priority", "7", "bandwidth", "1")
	s.qos.add(`class "default"`, "priority", "0", "bandwidth", "49", "default", "true")
	for i := range 2 {
		s.segments = append(s.segments, s.root.add(fmt.Sprintf("segment \"s%d\"", i), "vlan", fmt.Sprint(711+i), "subnet", quote(fmt.Sprintf("10.71.%d.0/24", i+1)), "qos", "qos.q", "isolated", "true", "mtu", "9000"))
	}
	on := switchTypes[3] // 25G
	a, b := s.newSwitch("tor-a", on), s.newSwitch("tor-b", on)
	var isl []*end
	for _, sw := range []*block{a, b} {
		p := sw.add(`port "Ethernet48"`, "admin", quote("up"), "speed", quote("100G"), "fec", quote("rs"), "tagged", "[segment.s0, segment.s1]")
		isl = append(isl, &end{block: p, device: sw, address: fmt.Sprintf("switch.%s.port[\"Ethernet48\"]", label(sw)), site: s})
	}
	s.join("isl", isl[0], isl[1], `{ media = "dac", length = "1m" }`)
	for n := range 4 + r.IntN(3) {
		node := s.root.add(fmt.Sprintf("node \"hv%d\"", n), "os", quote("windows-server/2025"), "slot", fmt.Sprint(n+1), "cluster", quote("hv"))
		s.nodes = append(s.nodes, node)
		for i, sw := range []*block{a, b} {
			nic := s.nic(node, fmt.Sprintf("smb%d", i), "nvidia/connectx-6-dx")
			nic.block.set("fec", "") // which no cmdlet sets
			port := s.port(sw, on, n)
			port.block.set("admin", quote("up")).set("tagged", "[segment.s0, segment.s1]")
			s.join(fmt.Sprintf("hv%d-%d", n, i), nic, port, `{ media = "dac", length = "3m" }`)
		}
		node.add(`bond "team"`, "mode", quote("set"), "members", quote("smb[0-1]"))
		for i := range 2 {
			node.add(fmt.Sprintf("interface \"vSMB%d\"", i), "on", quote("team"), "pin", quote(fmt.Sprintf("smb%d", i)), "segment", fmt.Sprintf("segment.s%d", i))
		}
	}
	s.root.add(`target "netqos"`, "select", `"node.hv*"`)
	return s
}
