package lint

import (
	"maps"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang/diag"
)

var roce726 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE726", Name: "role_setting", Severity: diag.Warning,
		Title: "one of many alike is told otherwise",
		Why:   "RoCE fails when one port differs from the others, late and far from the cause: what one of many was told otherwise, or was not told, is a slip more often than a plan",
		Fix:   "align it; what is meant stands in an except block with its reason, or on a device with a role of its own",
		Source: "Guo et al., SIGCOMM 2016, 6.2: alpha of one switch type; a house rule, measured: no false word on 20,000 random " +
			"fabrics that are right, and 99 % of single changes named first",
		Bad:  edit(fourNodes(``, ``), "    fec      = \"rs\"\n", ``),
		Good: fourNodes(``, ``),
	},
	Run:    oddOnes,
	yields: true,
}

// oddOnes compares every field of the intents of what should be alike: ports, LAGs,
// interfaces and devices. They are counted by what they are told, as far as that is
// theirs to say, and only where that differs are intents made, of one device for each
// way: cost follows variety.
func oddOnes(p *Pass) {
	o := &odds{p: p, read: map[fabric.DeviceID]map[intent.Path]intent.Value{}, seen: map[oddWord]bool{}}
	o.roles()
	o.addressed()
	o.ports()
	o.lags()
	o.ifaces()
	o.wholes()
	o.report()
}

// odds is the state of one look.
type odds struct {
	p        *Pass
	devices  []kindID // by DeviceID: those of one role
	nets     []kindID // by SegmentID: segments that mean the same to who is in them
	sets     []kindID // by VLANSetID, likewise
	compared []kindID // by PortID, 0 for those that are compared with none
	mtus     []uint16 // by PortID, of those that are compared
	nicHas   []bool   // by PortID: an interface on it has an address
	lagHas   []bool   // by LAGID
	read     map[fabric.DeviceID]map[intent.Path]intent.Value
	seen     map[oddWord]bool
	found    []oddOne
}

// oddWord is an attribute of something on a device.
type oddWord struct {
	device fabric.DeviceID
	word   string
}

// oddRow is a port, LAG, interface or device by its number.
type oddRow uint32

// oddRole says which rows should be alike: those that share it.
type oddRole struct {
	device, peer kindID     // role of the device, and of the one at the other end of the cable
	name         fabric.Str // of the NIC, at whichever end; else of the host's own LAG or interface
	other        fabric.Str // then, of the NIC
	nic          fabric.NICModelID
	port         fabric.PortRole
	iface        fabric.IfaceKind
	member       bool  // of a LAG
	split        uint8 // ports that its own was split into
}

// oddShare is what a row carries. Rows of one role that carry different things have
// different duties and are not compared; one that carries less than most has lost it.
type oddShare struct {
	qos            fabric.QoSID
	native, tagged kindID
}

// lacks reports whether a row carries a part only of what another one does.
func (s oddShare) lacks(of oddShare) bool {
	part := func(own, other uint32) bool { return own == 0 || own == other }
	return s != of && part(uint32(s.qos), uint32(of.qos)) &&
		part(uint32(s.native), uint32(of.native)) && part(uint32(s.tagged), uint32(of.tagged))
}

// oddKind is a kind of rows: ports, LAGs, interfaces, devices.
type oddKind struct {
	object intent.Object
	word   string               // for many of them
	of     []kindID             // role by what a row itself says; 0 for what is compared with nothing
	role   func(oddRow) oddRole // with what is at the other end, which takes longer
	told   []kindID             // and carry
	device func(oddRow) fabric.DeviceID
	name   func(oddRow) string // in the intent
	text   func(oddRow) string // in messages
	at     func(oddRow) string // address
	layers func(oddRow) fabric.LayersID
	link   func(oddRow) fabric.LinkID
	share  func(oddRow) oddShare
}

// oddOne is one setting of one row that differs from most of its role.
type oddOne struct {
	kind           *oddKind
	row, most      oddRow // the one that differs, and one of those that do not
	path           intent.Path
	value, typical intent.Value
	have, of       int
	lost           bool // not a setting but what the row carries
	meant          bool // an except block or an override says so
	label, example diag.Label
}

// judge looks at the roles of a kind whose rows are not all told one thing.
func (o *odds) judge(k *oddKind) {
	if o.p.everyRow {
		for row := range k.told {
			k.told[row] = kindID(row)
		}
	}
	last := slices.Max(append([]kindID{0}, k.of...))
	first := make([]oddRow, last+1) // of each role
	varied := make([]bool, last+1)
	any := false
	for row, of := range k.of {
		switch r := oddRow(row); {
		case of == 0 || varied[of]:
		case first[of] == 0:
			first[of] = r
		case k.told[row] != k.told[first[of]]:
			varied[of], any = true, true
		}
	}
	if !any {
		return
	}
	rows := make([][]oddRow, last+1)
	for row, of := range k.of {
		if varied[of] {
			rows[of] = append(rows[of], oddRow(row))
		}
	}
	for _, list := range rows {
		roles := interned[oddRole]{}
		var fine [][]oddRow
		for _, r := range list {
			id := int(roles.of(k.role(r)))
			if id > len(fine) {
				fine = append(fine, nil)
			}
			fine[id-1] = append(fine[id-1], r)
		}
		for _, list := range fine {
			if len(list) >= oddLeast {
				o.role(k, list)
			}
		}
	}
}

// oddLeast is how many there are at least of what has a majority, which is two thirds:
// what more than every third has otherwise is a design of two kinds.
const oddLeast = 3

func mostOf(have, of int) bool { return of >= oddLeast && 3*have >= 2*of }

// role looks at the rows of one role.
func (o *odds) role(k *oddKind, rows []oddRow) {
	shares := map[oddShare][]oddRow{}
	for _, r := range rows {
		s := k.share(r)
		shares[s] = append(shares[s], r)
	}
	if len(shares) > 1 {
		for _, s := range rows {
			most := k.share(s)
			if !mostOf(len(shares[most]), len(rows)) {
				continue
			}
			for lost, list := range shares {
				if lost.lacks(most) {
					for _, r := range list {
						o.lose(k, r, lost, most, shares[most], len(rows))
					}
				}
			}
			break
		}
	}
	for _, r := range rows {
		s := k.share(r)
		if list := shares[s]; len(list) >= oddLeast && list[0] == r {
			o.fields(k, list)
		}
	}
}

// lose notes a row that lacks what most of its role carry.
func (o *odds) lose(k *oddKind, r oddRow, own, most oddShare, have []oddRow, of int) {
	word := "qos"
	if own.native != most.native || own.tagged != most.tagged {
		word = "segment"
	}
	o.note(oddOne{
		kind: k, row: r, path: intent.Path{Object: k.object, Name: k.name(r), Field: word},
		have: len(have), of: of, lost: true, most: o.firstOf(k, have),
	})
}

// fields compares the fields of rows that carry the same.
func (o *odds) fields(k *oddKind, rows []oddRow) {
	var order []string
	ways := map[kindID]map[string]intent.Value{} // by what rows are told
	for _, r := range rows {
		if ways[k.told[r]] != nil {
			continue
		}
		way := o.way(k, r)
		ways[k.told[r]] = way
		for field := range way {
			if !slices.Contains(order, field) {
				order = append(order, field)
			}
		}
	}
	if len(ways) < 2 {
		return
	}
	slices.Sort(order)
	values := make([]intent.Value, len(rows))
	for _, field := range order {
		same := true
		for i, r := range rows {
			values[i] = ways[k.told[r]][field]
			same = same && values[i] == values[0]
		}
		if !same {
			o.field(k, rows, field, values)
		}
	}
}

// field finds the rows that have a value of their own.
func (o *odds) field(k *oddKind, rows []oddRow, field string, values []intent.Value) {
	all := majorityOf(values)
	if !mostOf(all.have, len(rows)) {
		for _, span := range o.spans(k, rows) {
			if most := majorityOf(values[span[0]:span[1]]); mostOf(most.have, span[1]-span[0]) {
				o.deviants(k, rows[span[0]:span[1]], field, values[span[0]:span[1]], most)
			}
		}
		return
	}
	// A switch on which all of a role have one value is one that differs from other
	// switches, not so many ports that differ from theirs.
	uniform := map[fabric.DeviceID]bool{}
	votes, have := 0, 0
	for _, span := range o.spans(k, rows) {
		own := majorityOf(values[span[0]:span[1]])
		votes++
		if own.value == all.value {
			have++
		} else if n := span[1] - span[0]; n > 1 && own.have == n {
			uniform[k.device(rows[span[0]])] = true
		}
	}
	if len(uniform) > 0 && !mostOf(have, votes) {
		var other []oddRow
		var left []intent.Value
		for i, r := range rows {
			if !uniform[k.device(r)] {
				other, left = append(other, r), append(left, values[i])
			}
		}
		rows, values = other, left
	}
	if all.of = len(rows); mostOf(all.have, all.of) {
		o.deviants(k, rows, field, values, all)
	}
}

// oddMost is the most frequent of some values.
type oddMost struct {
	value    intent.Value
	have, of int
}

func majorityOf(values []intent.Value) (most oddMost) {
	counts := map[intent.Value]int{}
	for _, v := range values {
		counts[v]++
		if counts[v] > most.have {
			most = oddMost{v, counts[v], len(values)}
		}
	}
	return most
}

// spans are the runs of rows of one device: rows stand by device.
func (o *odds) spans(k *oddKind, rows []oddRow) (spans [][2]int) {
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && k.device(rows[j]) == k.device(rows[i]) {
			j++
		}
		spans = append(spans, [2]int{i, j})
		i = j
	}
	return spans
}

func (o *odds) deviants(k *oddKind, rows []oddRow, field string, values []intent.Value, most oddMost) {
	var typical []oddRow
	for i, r := range rows {
		if values[i] == most.value {
			typical = append(typical, r)
		}
	}
	example := o.firstOf(k, typical)
	for i, r := range rows {
		if values[i] == most.value || o.otherMedium(k, r, example, field, values[i]) {
			continue
		}
		o.note(oddOne{
			kind: k, row: r, most: example, path: intent.Path{Object: k.object, Name: k.name(r), Field: field},
			value: values[i], typical: most.value, have: most.have, of: most.of,
		})
	}
}

// otherMedium reports whether a port is set as its other kind of cable, or another speed of both of its ends, asks for: its
// other end differs from those of the others too, or, on another kind of cable, leaves it to the device.
func (o *odds) otherMedium(k *oddKind, r, example oddRow, field string, v intent.Value) bool {
	f := o.p.Fabric
	a, b := k.link(r), k.link(example)
	if a == 0 || b == 0 || field != "fec" && field != "autoneg" && field != "speed" {
		return false
	}
	port := &f.Ports[r]
	medium := f.Links[a].Media != f.Links[b].Media
	speed := port.Mbps != f.Ports[example].Mbps && port.Mbps == f.Ports[port.Peer].Mbps
	if !medium && !speed {
		return false
	}
	farEnd := func(r oddRow) intent.Value {
		peer := f.Ports[r].Peer
		return o.settings(f.Ports[peer].Device)[intent.Path{Object: intent.OfPort, Name: lower.PortName(f, peer), Field: field}]
	}
	far := farEnd(r)
	return far != farEnd(example) || medium && v.State != intent.Unmanaged && far.State == intent.Unmanaged
}

// firstOf is the first of some rows, by address.
func (o *odds) firstOf(k *oddKind, rows []oddRow) oddRow {
	return slices.MinFunc(rows, func(a, b oddRow) int { return intent.Natural(k.at(a), k.at(b)) })
}

// settings are the fields of a device's intent.
func (o *odds) settings(d fabric.DeviceID) map[intent.Path]intent.Value {
	if all, ok := o.read[d]; ok {
		return all
	}
	all := map[intent.Path]intent.Value{}
	if dev := lower.Device(o.p.Fabric, o.p.Facts, d); dev != nil {
		maps.Insert(all, dev.Fields)
	}
	o.read[d] = all
	return all
}

// way is what a row is told, field by field, without what is free.
func (o *odds) way(k *oddKind, r oddRow) map[string]intent.Value {
	way := map[string]intent.Value{}
	name := k.name(r)
	for path, v := range o.settings(k.device(r)) {
		if path.Object != k.object || path.Name != name || path.Field == "" {
			continue
		}
		switch free := oddFreeOf(path); {
		case free == nil:
			way[path.Field] = v
		case free.given:
			way[path.Field] = oddGiven
		}
	}
	if k.object == intent.OfPort && way["ecn"].State == intent.Set {
		way["ecn"] = intent.Value{State: intent.Set, Text: o.derived(o.p.Facts.Port(fabric.PortID(r))).marking(way["ecn"].Text)}
	}
	switch port := k.object == intent.OfPort; {
	case port && o.p.Fabric.Ports[r].Headroom != 0:
		way["headroom"] = intent.Value{State: intent.Set, Text: "written"}
	case port && o.p.Fabric.Ports[r].NIC != 0 && o.nicHas[r], k.object == intent.OfLAG && o.lagHas[r]:
		way["address"] = oddGiven
	case k.object == intent.OfDevice && o.p.Fabric.Devices[r].ShutSpare: // which the intent has port by port
		way["spare_ports"] = intent.Value{State: intent.Set, Text: "shut"}
	}
	return way
}

// oddGiven stands for the value of a field that everyone has one of their own in.
var oddGiven = intent.Value{State: intent.Set, Text: "given"}

// oddFree is a field in which rows of one role may differ.
type oddFree struct {
	field  string // or a word of fields
	given  bool   // but all of them have one, or none
	reason string
}

var oddFrees = []oddFree{
	{"cable", false, "cables have the length that they need"},
	{"headroom", false, "follows from cable, speed and MTU; one that is written counts as such"},
	{"breakout", false, "stands at the first child of a split"},
	{"native", true, "each place may have a VLAN of its own; the ends of a cable are compared by ROCE601 and ROCE602"},
	{"segments", true, "likewise"},
	{"segment", true, "likewise"},
	{"vfs.segment", true, "likewise"},
	{"address", true, "everyone has its own"},
	{"gateway", true, "each subnet has its own"},
	{"on", true, "a name"},
	{"pin", true, "a name"},
	{"id", false, "a number"},
	{"members", false, "names"},
	{"pcp_map of an interface", false, "its port has it"},
	{"unique", false, "follows from the addresses of a pair"},
	{"gpu", false, "each NIC is beside a GPU of its own"},
	{"hash.seed", false, "switches on one path need different ones: ROCE812"},
	{"mlag.domain", false, "a number of the pair"},
	{"mlag.peer", false, "a name"},
	{"mlag.peer_link", false, "a name"},
	{"mlag.source", true, "an address"},
	{"mlag.peer_address", true, "an address"},
}

func oddFreeOf(p intent.Path) *oddFree {
	i := slices.IndexFunc(oddFrees, func(f oddFree) bool {
		return f.field == p.Field || f.field == p.Word() || p.Object == intent.OfIface && f.field == p.Field+" of an interface"
	})
	if i < 0 {
		return nil
	}
	return &oddFrees[i]
}
