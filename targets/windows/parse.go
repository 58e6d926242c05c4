package windows

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// parse turns a capture into what could be observed of a device. The device as
// it should be says which adapters, classes and queue numbers are looked for;
// what a capture cannot show of them (a class's word, its transport) is taken
// from it.
func parse(d *intent.Device, c targets.Captured) (*intent.Device, diag.List) {
	o, list := observe(d, captureOf{c, readBack})
	if o == nil {
		return nil, list
	}
	o.options()
	return o.got, list
}

// captureOf is one file of a capture.
type captureOf struct {
	targets.Captured
	file string
}

// observe reads what both targets have in common. It returns nil where the
// capture cannot be read.
func observe(d *intent.Device, c captureOf) (*observer, diag.List) {
	var list diag.List
	b, ok := c.Files[c.file]
	if !ok {
		list.Add(c.finding(0, 0, diag.Error, fmt.Sprintf("no %s of node %q", c.file, d.Name),
			"run "+captureFile+" on the node and keep what it prints as "+c.file))
		return nil, list
	}
	s, err := decode(b)
	if err != nil {
		var syntax *json.SyntaxError
		at := 0
		if errors.As(err, &syntax) {
			at = min(max(int(syntax.Offset)-1, 0), max(len(b)-1, 0))
		}
		list.Add(c.finding(at, min(1, len(b)), diag.Error, fmt.Sprintf("%s of node %q cannot be read: %v", c.file, d.Name, err),
			"keep exactly what "+captureFile+" prints"))
		return nil, list
	}
	o := &observer{want: d, s: s, atc: c.file == atcReadBack, got: &intent.Device{Version: intent.Version, Name: d.Name, Kind: d.Kind, OS: d.OS}}
	if !sameName(s.Computer, d.Name) && !sameName(s.Computer+"."+s.Domain, d.Name) {
		list.Add(c.finding(0, 0, diag.Warning, fmt.Sprintf("%s of node %q was read on computer %q", c.file, d.Name, string(s.Computer)), "check that it is this node's"))
	}
	for i := range d.Ports {
		if !o.port(&d.Ports[i]) {
			list.Add(c.finding(0, 0, diag.Warning, fmt.Sprintf("node %q has no adapter %q", d.Name, d.Ports[i].Name), "apply, or check the name, pci or mac of the nic"))
		}
	}
	o.teams()
	o.ifaces()
	return o, append(list, o.more(c)...)
}

func (c captureOf) finding(offset, length int, severity diag.Severity, summary, help string) diag.Diagnostic {
	f := diag.Diagnostic{Severity: severity, Summary: summary, Help: help}
	if c.Label != nil {
		f.Labels = []diag.Label{c.Label(c.file, offset, length)}
	}
	return f
}

type observer struct {
	want, got *intent.Device
	s         *state
	atc       bool // switches and vNICs have the names that Network ATC gives
}

// adapter is the row of a port: by its name, else by PCI address or MAC, under
// which it has another name still.
func (o *observer) adapter(p *intent.Port) *adapterRow {
	for i := range o.s.Adapters {
		if sameName(o.s.Adapters[i].Name, p.Name) {
			return &o.s.Adapters[i]
		}
	}
	if p.NIC == nil {
		return nil
	}
	for i := range o.s.Adapters {
		a := &o.s.Adapters[i]
		if pci := pciAddress(p.NIC.PCI); pci != "" && o.pci(a.Name) == pci {
			return a
		}
		if mac := macDigits(p.NIC.MAC); mac != "" && macDigits(string(a.PermanentAddress)) == mac {
			return a
		}
	}
	return nil
}

func (o *observer) pci(adapter text) string {
	for _, h := range o.s.Hardware {
		if sameName(h.Name, string(adapter)) {
			return fmt.Sprintf("%04x:%02x:%02x.%x", uint16(h.SegmentNumber), uint8(h.BusNumber), uint8(h.DeviceNumber), uint8(h.FunctionNumber))
		}
	}
	return ""
}

// keyword is the value of an advanced property as a number.
func (o *observer) keyword(adapter text, keyword string) (int64, bool) {
	for _, p := range o.s.Properties {
		if !sameName(p.Name, string(adapter)) || !sameName(p.RegistryKeyword, keyword) || len(p.RegistryValue) != 1 {
			continue
		}
		n, err := strconv.ParseInt(string(p.RegistryValue[0]), 10, 32)
		return n, err == nil
	}
	return 0, false
}

// vlan is the VLAN of an adapter's tags, 0 for none: where its driver tags no VLAN,
// VlanID is not in force.
func (o *observer) vlan(adapter text) (uint16, bool) {
	v, ok := o.keyword(adapter, "VlanID")
	if !ok || v < 0 || v > 4094 {
		return 0, false
	}
	if tags, listed := o.keyword(adapter, vlanTag); listed && tags != 2 && tags != tagsBoth {
		return 0, true
	}
	return uint16(v), true
}

func (o *observer) port(want *intent.Port) bool {
	a := o.adapter(want)
	if a == nil {
		return false
	}
	p := intent.Port{Name: string(a.Name), Verify: want.Verify}
	if sameName(a.Name, want.Name) {
		p.Name = want.Name // Windows keeps names without regard to case
	}
	if a.InterfaceAdminStatus > 0 {
		p.Enabled = intent.Some(a.InterfaceAdminStatus == 1)
	}
	if mbps := int64(a.ReceiveLinkSpeed) / 1_000_000; mbps > 0 && mbps < 1<<32 {
		p.Mbps = intent.Some(uint32(mbps))
	}
	if v, ok := o.keyword(a.Name, "*JumboPacket"); ok && v > ethernetHeader && v-ethernetHeader <= 65535 {
		p.MTU = intent.Some(uint16(v - ethernetHeader))
	}
	if v, ok := o.vlan(a.Name); ok && !teamMember(o.want, want.Name) {
		p.Tagged = intent.Some([]uint16(nil))
		if v > 0 {
			p.Tagged = intent.Some([]uint16{v})
		}
	}
	if want.NIC != nil {
		p.NIC = o.nic(a, want.NIC)
	}
	if i := slices.IndexFunc(o.s.AdapterQos, func(r adapterQosRow) bool { return sameName(r.Name, string(a.Name)) && r.Enabled }); i >= 0 {
		p.QoS = o.qos(want, a, &o.s.AdapterQos[i])
	}
	o.got.Ports = append(o.got.Ports, p)
	return true
}

func (o *observer) nic(a *adapterRow, want *intent.NIC) *intent.NIC {
	n := &intent.NIC{Model: want.Model, Driver: want.Driver, Adapter: want.Adapter, Facts: want.Facts, DriverV: string(a.DriverVersionString)}
	if want.PCI != "" {
		n.PCI = o.pci(a.Name)
		if n.PCI == pciAddress(want.PCI) {
			n.PCI = want.PCI
		}
	}
	if want.MAC != "" {
		n.MAC = colons(macDigits(string(a.PermanentAddress)))
	}
	kind, known := o.keyword(a.Name, "*NetworkDirectTechnology")
	for _, r := range o.s.AdapterRdma {
		if !sameName(r.Name, string(a.Name)) {
			continue
		}
		n.RDMA = intent.Some(r.Enabled)
		if r.RdmaTechnology > 0 && (!known || kind == 0) {
			kind = int64(r.RdmaTechnology)
		}
	}
	switch kind {
	case 1:
		n.IWARP = true
	case 3:
		n.RoCE = intent.Some("v1")
	case 4:
		n.RoCE = intent.Some("v2")
	}
	n.RDMAMTU = o.frameSize(a.Name, want)
	for _, r := range o.s.Dcbx {
		if sameName(r.InterfaceAlias, string(a.Name)) {
			mode := "off"
			if r.Willing {
				mode = "willing"
			}
			n.DCBX = intent.Some(intent.DCBX{Mode: mode, Owner: want.DCBX.Value.Owner})
		}
	}
	return n
}

// frameSize is the MTU of RoCE by the first keyword for it that the driver lists,
// 0 where that makes no sense. Where it lists none, nothing shows it.
func (o *observer) frameSize(adapter text, want *intent.NIC) uint16 {
	for _, k := range []string{frameSize, frameSizes[want.Driver]} {
		if v, ok := o.keyword(adapter, k); ok {
			return uint16(min(max(v, 0), 65535))
		}
	}
	return want.RDMAMTU
}

func colons(digits string) string {
	var parts []string
	for len(digits) >= 2 {
		parts, digits = append(parts, digits[:2]), digits[2:]
	}
	return strings.Join(parts, ":")
}

// qos adds the QoS that is in force on an adapter, and returns its name: that
// of the wanted one, unless another adapter differs from it.
func (o *observer) qos(want *intent.Port, a *adapterRow, runs *adapterQosRow) string {
	wanted := o.want.QoSNamed(want.QoS)
	if wanted == nil {
		wanted = hostQoS(o.want, false)
	}
	if wanted == nil {
		wanted = &intent.QoS{Name: "observed"}
	}
	q := o.tables(wanted)
	// What the NIC runs outranks what Windows was told.
	if classes := runs.classes(defaultPriority(wanted)); classes != nil {
		o.scheduling(&q, wanted, classes)
	}
	if len(runs.PriorityFlowControlEnableArray) == 8 {
		set := intent.PrioritySet(0)
		for p, on := range runs.PriorityFlowControlEnableArray {
			if on {
				set = set.With(uint8(p))
			}
		}
		q.PFC = intent.Some(set)
	}
	q.Lossless = q.PFC.Value
	if v, ok := o.keyword(a.Name, "*FlowControl"); ok {
		q.Pause = intent.Some(v != 0)
	}
	for i := range o.got.QoS {
		other := o.got.QoS[i]
		name := other.Name
		other.Name = q.Name
		if equalQoS(&other, &q) {
			return name
		}
	}
	if len(o.got.QoS) > 0 {
		q.Name += "@" + strings.Map(qosRune, want.Name)
	}
	o.got.QoS = append(o.got.QoS, q)
	return q.Name
}

func qosRune(r rune) rune {
	if r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' && r < 128 || strings.ContainsRune("._-", r) {
		return r
	}
	return '_'
}

func equalQoS(a, b *intent.QoS) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// tables are the host's tables as a QoS.
func (o *observer) tables(want *intent.QoS) intent.QoS {
	q := intent.QoS{Name: want.Name, Trust: want.Trust, DSCP: want.DSCP}
	if len(o.s.FlowControl) > 0 {
		set := intent.PrioritySet(0)
		for _, r := range o.s.FlowControl {
			if r.Enabled && r.Priority >= 0 && r.Priority <= 7 {
				set = set.With(uint8(r.Priority))
			}
		}
		q.PFC = intent.Some(set)
	}
	o.scheduling(&q, want, o.s.TrafficClasses)
	o.marks(&q, want)
	return q
}

// classes are the traffic classes that an adapter runs, as the module NetAdapter reads
// them (MSFT_NetAdapterQos.Format.Helper.psm1): [Default] has the default priority. It
// is nil where the driver does not show them.
func (r *adapterQosRow) classes(def uint8) []classRow {
	if len(r.PriorityAssignmentTable) != 8 || len(r.BandwidthAssignmentTable) != 8 || len(r.TsaAssignmentTable) != 8 {
		return nil
	}
	list := make([]classRow, 8)
	for p, class := range r.PriorityAssignmentTable {
		if class < 0 || class > 7 {
			return nil
		}
		c := &list[class]
		c.Algorithm = text(strconv.FormatInt(int64(r.TsaAssignmentTable[class]), 10))
		c.BandwidthPercentage = r.BandwidthAssignmentTable[class]
		c.Priority = append(c.Priority, number(p))
		if uint8(p) == def {
			c.Name = "[Default]"
		}
	}
	return list
}

// scheduling numbers the classes of Windows, which have names only, as the
// wanted queue map numbers their priorities.
func (o *observer) scheduling(q *intent.QoS, want *intent.QoS, classes []classRow) {
	if len(classes) == 0 {
		return
	}
	var tc [8]uint8
	var sched [8]intent.Sched
	holder := [8]int{-1, -1, -1, -1, -1, -1, -1, -1} // row that holds each priority
	taken := map[uint8]bool{}
	rows := slices.Clone(classes)
	slices.SortStableFunc(rows, func(a, b classRow) int { return cmp.Compare(len(a.Priority), len(b.Priority)) })
	for i, r := range rows {
		var held []uint8
		for _, p := range r.Priority {
			if p >= 0 && p <= 7 {
				held = append(held, uint8(p))
				holder[p] = i
			}
		}
		if len(held) == 0 {
			continue
		}
		slices.Sort(held)
		n := queueOf(want, held[0])
		if r.Name == "[Default]" && slices.Contains(held, defaultPriority(want)) {
			n = defaultQueue(want)
		}
		for taken[n] {
			n = (n + 1) & 7
		}
		taken[n] = true
		for _, p := range held {
			tc[p] = n
		}
		share := uint8(min(max(r.BandwidthPercentage, 0), 100))
		switch r.Algorithm {
		case "Strict", "0":
			sched[n] = intent.Sched{Kind: intent.SchedStrict}
		case "ETS", "2": // MSFT_NetQosTrafficClassSettingData
			sched[n] = intent.Sched{Kind: intent.SchedETS, Percent: share}
		}
		if len(taken) == 8 {
			break
		}
	}
	q.TC, q.Sched = intent.Some(tc), intent.Some(sched)
	if !want.TC.IsSet() {
		q.TC = intent.Opt[[8]uint8]{}
	}
	if want.PCP.IsSet() {
		pcp := want.PCP.Value
		for p := range pcp {
			if holder[p] != holder[pcp[p]&7] {
				pcp[p] = uint8(p)
			}
		}
		q.PCP = intent.Some(pcp)
	}
}

// marks are the policies, in the order of the wanted classes, then others.
func (o *observer) marks(q *intent.QoS, want *intent.QoS) {
	used := map[int]bool{}
	for i := range want.Marks {
		m := want.Marks[i]
		if len(matches(&m)) == 0 {
			q.Marks = append(q.Marks, m) // marked by the application
			continue
		}
		at := slices.IndexFunc(o.s.Policies, func(r policyRow) bool {
			seen, ok := policyMark(r)
			return ok && seen.NetDirectPort == m.NetDirectPort && seen.TCPPort == m.TCPPort && seen.UDPPort == m.UDPPort &&
				seen.Default == m.Default && (seen.Carries == "cluster") == (m.Carries == "cluster")
		})
		if at < 0 {
			continue
		}
		used[at] = true
		seen, _ := policyMark(o.s.Policies[at])
		m.Priority, m.DSCP = seen.Priority, seen.DSCP
		q.Marks = append(q.Marks, m)
	}
	for i, r := range o.s.Policies {
		if m, ok := policyMark(r); ok && !used[i] {
			q.Marks = append(q.Marks, m)
		}
	}
}

// policyMark is a policy as a class, where it is of a kind that is emitted.
func policyMark(r policyRow) (intent.Mark, bool) {
	m := intent.Mark{Class: string(r.Name), Carries: "other"}
	port := r.IPPortMatchCondition // as the source or as the destination
	switch {
	case len(r.OtherMatchConditions) > 0 || r.PriorityValue8021Action < 0 || r.PriorityValue8021Action > 7:
		return m, false
	case r.NetDirectPortMatchCondition > 0 && r.NetDirectPortMatchCondition <= 65535:
		m.Carries, m.NetDirectPort = "rdma", uint16(r.NetDirectPortMatchCondition)
	case r.Template == "Cluster":
		m.Carries = "cluster"
	case r.Template == "Default":
		m.Carries, m.Default = "", true
	case port > 0 && port <= 65535 && r.IPProtocolMatchCondition == "TCP":
		m.TCPPort = uint16(port)
	case port > 0 && port <= 65535 && r.IPProtocolMatchCondition == "UDP":
		m.UDPPort = uint16(port)
	default:
		return m, false
	}
	m.Priority = uint8(r.PriorityValue8021Action)
	if r.DSCPAction >= 0 && r.DSCPAction <= 63 {
		m.DSCP = intent.Some(uint8(r.DSCPAction))
	}
	return m, true
}

// options shows the two that the host keeps, in the form in which they were
// written where they agree.
func (o *observer) options() {
	if want := liveMigrationBytes(o.want); want > 0 {
		value := "0"
		for _, r := range o.s.SmbLimits {
			if r.Category != "LiveMigration" {
				continue
			}
			value = strconv.FormatInt(int64(r.BytesPerSecond), 10) + " bytes/s"
			if r.BytesPerSecond >= 0 && uint64(r.BytesPerSecond) == want {
				value = option(o.want, optionLiveMigration)
			}
		}
		o.option(optionLiveMigration, value)
	}
	if transportWords[option(o.want, optionTransport)] != "" && o.s.MigrationOption != "" {
		o.option(optionTransport, strings.ToLower(string(o.s.MigrationOption)))
	}
}

func (o *observer) option(name, value string) {
	if o.got.Options == nil {
		o.got.Options = map[string]string{}
	}
	o.got.Options[name] = value
}
