package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// Rules on uniformity compare what should be alike with the most frequent value
// among its kind. A deviation that is written in an except block has a reason,
// and is none of theirs.

// alikeKey says which rows should be alike: those that share it.
type alikeKey struct {
	kind  fabric.DeviceKind
	role  fabric.Str  // of the device, as written
	tier  fabric.Tier // of a generated one without
	model uint32
	os    fabric.Str
	port  fabric.PortRole
	mbps  uint32
	class fabric.Str
}

// roleKey is the key of a device.
func (p *Pass) roleKey(d *fabric.Device) alikeKey {
	k := alikeKey{kind: d.Kind, role: d.Role}
	switch {
	case d.Role != 0:
	case d.Tier != fabric.NoTier:
		k.tier = d.Tier
	default: // one model and OS count as one role
		k.model, k.os = uint32(d.Model), d.OSName
	}
	return k
}

// roleName is what the devices of a key are called in messages.
func (p *Pass) roleName(d *fabric.Device) string {
	switch {
	case d.Role != 0:
		return "role " + p.Fabric.Text(d.Role)
	case d.Tier != fabric.NoTier:
		return "tier " + d.Tier.String()
	case d.Model != 0:
		return "model " + p.Fabric.Text(p.Fabric.Models[d.Model].Name)
	}
	return "os " + p.Fabric.Text(d.OSName)
}

// apart ends the help on a deviation: devices that nothing but the model makes one
// role may be two.
func apart(d *fabric.Device) string {
	if d.Role == 0 && d.Tier == fabric.NoTier {
		return ", or give each kind of switch a role of its own"
	}
	return ""
}

// excepted reports whether an except block or an override wrote an attribute of
// a row: the deviation is meant.
func (p *Pass) excepted(l fabric.LayersID, attrs ...schema.Attr) bool {
	for _, x := range p.Fabric.Layers[l].Before {
		for _, a := range attrs {
			if _, ok := p.Fabric.Spans.Find(x.By, a); ok {
				return true
			}
		}
	}
	return false
}

// uneven reports rows of one key that do not have one value. With a majority,
// each row that differs from it; without, the group, by one row of each value.
func uneven[V comparable, R any](t *tally[V, R], report func(row R, v V, most counted[V, R]), tie func(values []counted[V, R])) {
	if len(t.values) < 2 {
		return
	}
	most, ok := t.most()
	if !ok {
		tie(t.values)
		return
	}
	for _, v := range t.values {
		if v.value == most.value {
			continue
		}
		for _, row := range v.rows {
			report(row, v.value, most)
		}
	}
}

// tallies are the tallies of many keys, in the order in which keys were met.
type tallies[V comparable, R any] struct {
	at   map[alikeKey]*tally[V, R]
	list []*tally[V, R]
}

func (t *tallies[V, R]) of(k alikeKey) *tally[V, R] {
	if t.at == nil {
		t.at = map[alikeKey]*tally[V, R]{}
	}
	if t.at[k] == nil {
		t.at[k] = &tally[V, R]{}
		t.list = append(t.list, t.at[k])
	}
	return t.at[k]
}

// tally counts the values of the rows of one key. There are few values.
type tally[V comparable, R any] struct {
	values []counted[V, R]
	of     int
}

// counted is a value with the rows that have it.
type counted[V comparable, R any] struct {
	value V
	rows  []R
}

// add counts a row, and returns the index of its value.
func (t *tally[V, R]) add(v V, row R) int {
	i := slices.IndexFunc(t.values, func(c counted[V, R]) bool { return c.value == v })
	if i < 0 {
		i = len(t.values)
		t.values = append(t.values, counted[V, R]{value: v})
	}
	t.again(i, row)
	return i
}

// again counts a row of a value that is known by its index.
func (t *tally[V, R]) again(i int, row R) {
	t.values[i].rows = append(t.values[i].rows, row)
	t.of++
}

// most is the value that more than half of three or more have.
func (t *tally[V, R]) most() (c counted[V, R], ok bool) {
	if t.of < 3 {
		return c, false
	}
	c = slices.MaxFunc(t.values, func(a, b counted[V, R]) int { return cmp.Compare(len(a.rows), len(b.rows)) })
	return c, 2*len(c.rows) > t.of
}

var roce416 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE416", Name: "ecn_role", Severity: diag.Warning, Fixable: true,
		Title:  "a port marks a class otherwise than the ports of its role",
		Why:    "the port that marks later than its peers is where the queue grows; the one that marks earlier slows its own senders only",
		Fix:    "align ECN, or write the deviation in an except block with its reason",
		Source: "Guo et al., SIGCOMM 2016, section 6.2: one setting that differed on one model of switch",
		Bad:    fourNodes(`ecn = { min = "300KB", max = "3MB", probability = 5 }`, ``),
		Good:   fourNodes(``, ``),
	},
	Run:   ecnRole,
	mends: drop("ecn"),
}

func ecnRole(p *Pass) {
	f := p.Fabric
	value := func(e End, c *fabric.Class, on fabric.ClassOn) (fabric.ECN, bool) {
		// A queue that does not mark at all is ROCE404, a class of other marks another class.
		if c.Carries != fabric.CarriesRDMA || on.Queue > 7 || !p.marksECN(e, on) {
			return fabric.ECN{}, false
		}
		v := e.Profile.ECN[on.Queue]
		v.Unmarked = 0 // ROCE405
		return v, true
	}
	unevenClasses(p, schema.AECN, value, func(e End, c *fabric.Class, v fabric.ECN, most counted[fabric.ECN, fabric.PortID], of int) {
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("port %s marks class %s %s, and %d of %d ports of its role mark it %s",
				p.Name(e), f.Text(c.Name), ecnWords(v), len(most.rows), of, ecnWords(most.value)),
			Address: f.PortAddress(e.ID), Labels: []diag.Label{p.AtContract(e, schema.AECN, c, schema.AECN, "")},
			Help: "align it, or write the deviation in an except block with its reason",
		})
	})
}

// unevenClasses reports the switch ports on which a class has another value than on most ports of their role and speed. An except
// block that writes the attribute, or the qos, says that it is meant; two ways in equal parts are a design, and nobody deviates.
func unevenClasses[V comparable](p *Pass, n schema.Attr, value func(End, *fabric.Class, fabric.ClassOn) (V, bool),
	report func(e End, c *fabric.Class, v V, most counted[V, fabric.PortID], of int),
) {
	f := p.Fabric
	type valued struct {
		t *tally[V, fabric.PortID]
		i int // of the value in it
	}
	type port struct {
		device  fabric.DeviceID
		profile fabric.ProfileID
		role    fabric.PortRole
		mbps    uint32
	}
	var all tallies[V, fabric.PortID]
	var last port // neighbours are mostly alike
	var values []valued
	classOf := map[*tally[V, fabric.PortID]]fabric.Str{}
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		e := p.End(id)
		if e.Port.Profile == 0 || e.Device.Kind != fabric.Switch || e.Port.Link == 0 || p.excepted(e.Port.Layers, n, schema.AQoS) {
			continue
		}
		now := port{e.Port.Device, e.Port.Profile, e.Port.Role, e.Port.Mbps}
		if now == last {
			for _, x := range values {
				x.t.again(x.i, id)
			}
			continue
		}
		last, values = now, values[:0]
		k := p.roleKey(e.Device)
		k.port, k.mbps = e.Port.Role, e.Port.Mbps
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if v, ok := value(e, c, on); ok {
				k.class = c.Name
				t := all.of(k)
				classOf[t] = c.Name
				values = append(values, valued{t, t.add(v, id)})
			}
		})
	}
	for _, t := range all.list {
		uneven(t, func(id fabric.PortID, v V, most counted[V, fabric.PortID]) {
			e := p.End(id)
			report(e, p.namedClass(e, classOf[t]), v, most, t.of)
		}, func([]counted[V, fabric.PortID]) {})
	}
}

// ecnWords shows a marking.
func ecnWords(e fabric.ECN) string {
	if e.Mode == fabric.Auto {
		return `"auto"`
	}
	size := func(n uint32) string {
		if n == 0 {
			return "auto"
		}
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("from %s to %s at %d %%", size(e.MinBytes), size(e.MaxBytes), e.Probability)
}

var roce504 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE504", Name: "buffer_alpha_role", Severity: diag.Warning, Fixable: true,
		Title:  "switches of one role share their buffer by different alphas",
		Why:    "the switch with the smaller alpha pauses long before its peers do: one rack is slow under load that the others take, and its pauses spread",
		Fix:    "align alpha, or write the deviation in an except block with its reason",
		Source: "Guo et al., SIGCOMM 2016, 6.2: alpha 1/64 in place of 1/16",
		Bad:    threeToRs("1/32"),
		Good:   threeToRs("1/8"),
	},
	Run: alphaRole,
}

// threeToRs is twoNodes with two more switches; alpha is that of the first.
func threeToRs(alpha string) string {
	return twoNodesEdit(`switch "tor" {`, `switch "spare" {
  for_each = toset(["tor2", "tor3"])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  buffer   = { alpha = "1/8" }
}
switch "tor" {
  buffer = { alpha = "`+alpha+`" }`) + `link "spare" {
  ends  = [switch.spare["tor2"].port["Ethernet0"], switch.spare["tor3"].port["Ethernet0"]]
  cable = { media = "dac", length = "3m" }
}
`
}

func alphaRole(p *Pass) {
	f := p.Fabric
	var all tallies[fabric.Ratio, fabric.DeviceID]
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Kind == fabric.Switch && dev.Manage != fabric.HandsOff && !p.excepted(dev.Layers, schema.ABuffer) {
			all.of(p.roleKey(dev)).add(dev.Buffer.Alpha, d)
		}
	}
	for _, t := range all.list {
		uneven(t, func(d fabric.DeviceID, v fabric.Ratio, most counted[fabric.Ratio, fabric.DeviceID]) {
			dev := &f.Devices[d]
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("alpha of %s is %s, %d of %d switches of %s have %s", f.Text(dev.Name), alphaWords(v), len(most.rows), t.of, p.roleName(dev), alphaWords(most.value)), Address: f.Text(dev.Address),
				Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.ABuffer, ""), p.atDevice(most.rows[0], schema.ABuffer, "the others")}, Help: "align it, or write the deviation in an except block with its reason" + apart(dev),
				Edits: setAt(f.Label(dev.Decl, dev.Layers, schema.ABuffer, ""), "buffer.alpha", alphaWritten(most.value)),
			})
		}, func(values []counted[fabric.Ratio, fabric.DeviceID]) {
			p.Report(tied(p, values, "alpha", alphaWords, schema.ABuffer))
		})
	}
}

var roce520 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE520", Name: "class_alpha_role", Severity: diag.Warning,
		Title:  "ports of one role give a class different shares of the buffer",
		Why:    "the port with the smaller alpha pauses long before its peers do, and the one with the larger takes the buffer that they count on",
		Fix:    "align alpha in the contracts, or write the deviation in an except block with its reason",
		Source: "Guo et al., SIGCOMM 2016, 6.2: alpha 1/64 in place of 1/16",
		Bad:    otherAlpha("1/32"),
		Good:   otherAlpha("1/8"),
	},
	Run: classAlphaRole,
}

// otherAlpha is fourNodes with a contract of its own on the first port, in which the class has some alpha.
func otherAlpha(alpha string) string {
	return edit(fourNodes("qos = qos.copy", ``), "    ecn       = \"auto\"\n", "    ecn       = \"auto\"\n    buffer    = { alpha = \"1/8\" }\n",
		`segment "storage" {`, "qos \"copy\" {\n  from = qos.roce\n  class \"rdma\" {\n    buffer = { alpha = \""+alpha+"\" }\n  }\n}\nsegment \"storage\" {")
}

func classAlphaRole(p *Pass) {
	f := p.Fabric
	if !slices.ContainsFunc(f.QoS, func(q fabric.QoS) bool {
		return slices.ContainsFunc(q.Classes, func(c fabric.Class) bool { return c.Alpha.Den != 0 })
	}) {
		return
	}
	value := func(_ End, c *fabric.Class, on fabric.ClassOn) (fabric.Ratio, bool) {
		return c.Alpha, c.Lossless && !Displaced(c, on)
	}
	unevenClasses(p, schema.ABuffer, value, func(e End, c *fabric.Class, v fabric.Ratio, most counted[fabric.Ratio, fabric.PortID], of int) {
		other := p.End(most.rows[0])
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("alpha of class %s on port %s is %s, and %d of %d ports of its role have %s",
				f.Text(c.Name), p.Name(e), alphaWords(v), len(most.rows), of, alphaWords(most.value)),
			Address: f.PortAddress(e.ID), Labels: []diag.Label{
				p.AtContract(e, 0, c, schema.ABuffer, ""), p.AtContract(other, 0, p.namedClass(other, c.Name), schema.ABuffer, "as on "+p.Name(other)),
			},
			Help: "align it, or write the deviation in an except block with its reason",
		})
	})
}

// alphaWritten is an alpha as it stands in the source, "" for that of the model.
func alphaWritten(r fabric.Ratio) string {
	switch {
	case r.Den == 0:
		return ""
	case r.Den == 1:
		return fmt.Sprint(r.Num)
	}
	return fmt.Sprintf(`"%d/%d"`, r.Num, r.Den)
}

func alphaWords(r fabric.Ratio) string {
	switch {
	case r.Den == 0:
		return "the default of its model"
	case r.Den == 1:
		return fmt.Sprint(r.Num)
	}
	return fmt.Sprintf("%d/%d", r.Num, r.Den)
}

func (p *Pass) atDevice(d fabric.DeviceID, n schema.Attr, text string) diag.Label {
	dev := &p.Fabric.Devices[d]
	return p.Fabric.Label(dev.Decl, dev.Layers, n, text)
}

// tied is the finding that devices of one role have several values and no
// majority: it blames none of them.
func tied[V comparable](p *Pass, values []counted[V, fabric.DeviceID], what string, show func(V) string, n schema.Attr) diag.Diagnostic {
	f := p.Fabric
	first := &f.Devices[values[0].rows[0]]
	has := make([]string, len(values))
	d := diag.Diagnostic{Address: f.Text(first.Address), Help: "align them, or write the deviation in an except block with its reason" + apart(first)}
	for i, v := range values {
		row := v.rows[0]
		has[i] = show(v.value) + " on " + f.Text(f.Devices[row].Name)
		if i < 3 {
			d.Labels = append(d.Labels, p.atDevice(row, n, [...]string{"", "the other", "and here"}[i]))
		}
		if i > 0 {
			d.Concerns = append(d.Concerns, f.Text(f.Devices[row].Address))
		}
	}
	d.Summary = fmt.Sprintf("%s differs between switches of %s: %s", what, p.roleName(first), list(has))
	return d
}

var roce709 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE709", Name: "firmware_role", Severity: diag.Warning,
		Title: "devices of one role run different firmware",
		Why:   "firmware decides how a NIC reacts to congestion and how a switch counts its buffer: the one that differs is slow, or the one that pauses, and nothing in its settings shows why",
		Fix:   "write one version, and an except block with its reason for what waits for its upgrade",
		Source: "Bai et al., NSDI 2023, 7.2: NIC generations and firmware that react otherwise; Guo et al., SIGCOMM 2016, 6.2: " +
			"one switch type with another default",
		Bad:  fourNodes(``, `firmware = self.name == "n1" ? "22.39.1002" : "22.43.2026"`),
		Good: fourNodes(``, `firmware = "22.43.2026"`),
	},
	Run: firmwareRole,
}

func firmwareRole(p *Pass) {
	f := p.Fabric
	var switches tallies[fabric.Str, fabric.DeviceID]
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Kind != fabric.Switch || dev.Firmware == 0 || p.excepted(dev.Layers, schema.AFirmware) {
			continue
		}
		k := p.roleKey(dev)
		k.model = uint32(dev.Model) // two models of one role have firmware of their own
		switches.of(k).add(dev.Firmware, d)
	}
	for _, t := range switches.list {
		uneven(t, func(d fabric.DeviceID, v fabric.Str, most counted[fabric.Str, fabric.DeviceID]) {
			dev := &f.Devices[d]
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("firmware of %s is %s, %d of %d switches of %s have %s", f.Text(dev.Name), f.Text(v), len(most.rows), t.of, p.roleName(dev), f.Text(most.value)), Address: f.Text(dev.Address),
				Labels: []diag.Label{f.Label(dev.Decl, dev.Layers, schema.AFirmware, ""), p.atDevice(most.rows[0], schema.AFirmware, "the others")}, Help: "write one version" + apart(dev),
			})
		}, func(values []counted[fabric.Str, fabric.DeviceID]) {
			p.Report(tied(p, values, "firmware", f.Text, schema.AFirmware))
		})
	}
	p.nicFirmware()
}

func (p *Pass) nicFirmware() {
	f := p.Fabric
	var all tallies[fabric.Str, fabric.PortID]
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		port := &f.Ports[id]
		if port.NIC == 0 || f.NICs[port.NIC].Firmware == 0 || p.excepted(port.Layers, schema.AFirmware) {
			continue
		}
		all.of(alikeKey{kind: fabric.Node, role: f.Devices[port.Device].Role, model: uint32(f.NICs[port.NIC].Model)}).add(f.NICs[port.NIC].Firmware, id)
	}
	for _, t := range all.list {
		uneven(t, func(id fabric.PortID, v fabric.Str, most counted[fabric.Str, fabric.PortID]) {
			e := p.End(id)
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("firmware of nic %s is %s, %d of %d NICs of model %s have %s", p.Name(e), f.Text(v), len(most.rows), t.of, p.nicModel(e), f.Text(most.value)), Address: f.PortAddress(id),
				Labels: []diag.Label{p.AtPort(e, schema.AFirmware, ""), p.AtPort(p.End(most.rows[0]), schema.AFirmware, "the others")}, Help: "write one version",
			})
		}, func(values []counted[fabric.Str, fabric.PortID]) {
			has := make([]string, len(values))
			for i, v := range values {
				has[i] = f.Text(v.value) + " on " + f.PortName(v.rows[0])
			}
			a, b := p.End(values[0].rows[0]), p.End(values[1].rows[0])
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("firmware differs between NICs of model %s: %s", p.nicModel(a), list(has)), Address: f.PortAddress(a.ID), Concerns: []string{f.PortAddress(b.ID)},
				Labels: []diag.Label{p.AtPort(a, schema.AFirmware, ""), p.AtPort(b, schema.AFirmware, "the other")}, Help: "write one version",
			})
		})
	}
}

func (p *Pass) nicModel(e End) string {
	return p.Fabric.Text(p.Fabric.NICModels[p.Fabric.NICs[e.Port.NIC].Model].Name)
}
