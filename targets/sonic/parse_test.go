package sonic

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

func captured(b []byte) targets.Captured {
	return targets.Captured{Files: map[string][]byte{running: b}}
}

// seen is what is left to compare: what an intent leaves open, the capture may say.
func seen(want, got *intent.Device) *intent.Device {
	c := *got
	c.Ports = slices.Clone(got.Ports)
	for i := range c.Ports {
		p := &c.Ports[i]
		if i >= len(want.Ports) {
			break
		}
		w := &want.Ports[i]
		open(w.Enabled, &p.Enabled)
		open(w.Mbps, &p.Mbps)
		open(w.FEC, &p.FEC)
		open(w.Autoneg, &p.Autoneg)
		open(w.MTU, &p.MTU)
		open(w.Native, &p.Native)
		open(w.Tagged, &p.Tagged)
		open(w.Deny, &p.Deny)
		open(w.CableMm, &p.CableMm)
		p.Headroom = slices.DeleteFunc(slices.Clone(p.Headroom), func(h intent.Headroom) bool { return !h.Written })
	}
	c.VLANs = slices.Clone(got.VLANs)
	for i := range c.VLANs {
		if i < len(want.VLANs) {
			open(want.VLANs[i].MTU, &c.VLANs[i].MTU)
		}
	}
	c.LAGs = slices.Clone(got.LAGs)
	for i := range c.LAGs {
		if i < len(want.LAGs) {
			open(want.LAGs[i].MTU, &c.LAGs[i].MTU)
			open(want.LAGs[i].Native, &c.LAGs[i].Native)
			open(want.LAGs[i].Tagged, &c.LAGs[i].Tagged)
			open(want.LAGs[i].Deny, &c.LAGs[i].Deny)
		}
	}
	c.Ifaces = slices.Clone(got.Ifaces)
	for i := range c.Ifaces {
		if i < len(want.Ifaces) {
			open(want.Ifaces[i].Addresses, &c.Ifaces[i].Addresses)
		}
	}
	c.QoS = slices.Clone(got.QoS)
	for i := range c.QoS {
		q := &c.QoS[i]
		w := want.QoSNamed(q.Name)
		if w == nil {
			continue
		}
		open(w.Trust, &q.Trust)
		open(w.DSCP, &q.DSCP)
		open(w.PCP, &q.PCP)
		open(w.TC, &q.TC)
		open(w.Group, &q.Group)
		open(w.PFC, &q.PFC)
		open(w.PFCQueue, &q.PFCQueue)
		open(w.Sched, &q.Sched)
		open(w.ECN, &q.ECN)
		open(w.Watchdog, &q.Watchdog)
		open(w.Rewrite, &q.Rewrite)
		q.Pause, q.DCBX = w.Pause, w.DCBX // not observable
	}
	open(want.Buffer.SharedBytes, &c.Buffer.SharedBytes)
	open(want.Buffer.HeadroomBytes, &c.Buffer.HeadroomBytes)
	open(want.Buffer.AlphaExponent, &c.Buffer.AlphaExponent)
	open(want.Hash.Function, &c.Hash.Function)
	return &c
}

func open[T any](want intent.Opt[T], got *intent.Opt[T]) {
	if !want.IsSet() {
		*got = want
	}
}

// stated drops the headroom that an image computes, and puts the lists in the
// order that Parse has them in.
func stated(d *intent.Device) *intent.Device {
	c := *d
	c.Ports = slices.Clone(d.Ports)
	for i := range c.Ports {
		c.Ports[i].Headroom = slices.DeleteFunc(slices.Clone(c.Ports[i].Headroom), func(h intent.Headroom) bool { return !h.Written })
	}
	c.Ifaces = slices.Clone(d.Ifaces)
	slices.SortStableFunc(c.Ifaces, func(a, b intent.Iface) int {
		ta, na := place(&a)
		tb, nb := place(&b)
		if x := kindOrder[ta] - kindOrder[tb]; x != 0 {
			return x
		}
		return intent.Natural(na, nb)
	})
	return &c
}

var kindOrder = map[string]int{"LOOPBACK_INTERFACE": 0, "INTERFACE": 1, "PORTCHANNEL_INTERFACE": 2, "VLAN_INTERFACE": 3}

var equal = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}),
	cmpopts.SortSlices(func(a, b intent.QoS) bool { return a.Name < b.Name }),
}

// bare is the image without the rows its templates make, as a fragment meets
// them on a switch that was never told to qos reload.
func bare(t testing.TB, d *intent.Device) map[string]any {
	db := image(t, d)
	for _, table := range []string{"BUFFER_PG", "BUFFER_QUEUE", "PORT_QOS_MAP", "CABLE_LENGTH", breakoutTable} {
		delete(db, table)
	}
	for _, p := range d.Ports {
		if p.Split != nil {
			delete(db["PORT"].(map[string]any), p.Name)
		}
	}
	return db
}

func roundTrip(t targettest.Failer, tb testing.TB, d *intent.Device) {
	t.Helper()
	c := build(d)
	got, list := parse(d, captured(loaded(tb, bare(tb, d), c.breakouts, c.normal, c.maintenance)))
	if len(list) > 0 {
		t.Fatalf("parse: %v", list)
	}
	if diff := cmp.Diff(stated(d), seen(stated(d), got), equal); diff != "" {
		t.Fatalf("Parse(Emit(x)) differs from x (-x +got):\n%s", diff)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, device := range fixtures {
		roundTrip(t, t, device())
	}
}

// TestRoundTripGenerated: any intent that passes Check comes back as it was,
// and a patch made from it has nothing left to do.
func TestRoundTripGenerated(t *testing.T) {
	taken := 0
	rapid.Check(t, func(r *rapid.T) {
		d := generated(r)
		if list := targets.Check(&Target, d, nil); list.HasErrors() {
			r.Fatalf("the generator made a device that is refused:\n%s", targettest.Refusals(list))
		}
		taken++
		roundTrip(r, t, d)
		c := build(d)
		patch, loads, rest, list := Patch(loaded(t, bare(t, d), c.breakouts, c.normal, c.maintenance), d)
		if patch != nil || loads != nil || rest != nil || len(list) > 0 {
			r.Fatalf("a switch that is as wanted gets a patch %s, a maintenance part %s, findings %v", patch, rest, list)
		}
	})
	if taken == 0 {
		t.Fatal("nothing was generated")
	}
}

func TestYangGenerated(t *testing.T) {
	for seed := range 3 {
		d := rapid.Custom(generated).Example(seed)
		accepted(t, d)
		c := build(d)
		oracle.Yang(t, loaded(t, image(t, d), c.normal, c.maintenance))
	}
}

// generated is a random device that the target takes.
func generated(r *rapid.T) *intent.Device {
	asic := rapid.SampledFrom([]string{"trident3", "tomahawk4", "spectrum-2", "spectrum-4", "tofino2", "teralynx-10"}).Draw(r, "asic")
	d := &intent.Device{
		Version: intent.Version, Name: "sw", Kind: intent.Switch, ASIC: asic,
		OS: intent.OS{Name: "sonic", Version: rapid.SampledFrom([]string{"202305", "202405", "202511", "202605", "master", ""}).Draw(r, "os")},
	}
	if rapid.Bool().Draw(r, "model") {
		d.Options = map[string]string{optionModel: rapid.SampledFrom([]string{traditional, dynamic}).Draw(r, "buffer model")}
	}
	trust := rapid.SampledFrom([]intent.Trust{intent.TrustDSCP, intent.TrustPCP}).Draw(r, "trust")
	for i := range rapid.IntRange(1, 3).Draw(r, "qos") {
		d.QoS = append(d.QoS, generatedQoS(r, d, "class"+decimal(i), trust))
	}
	for _, id := range rapid.SliceOfNDistinct(rapid.Uint16Range(2, 4094), 0, 4, rapid.ID).Draw(r, "vlans") {
		d.VLANs = append(d.VLANs, intent.VLAN{ID: id, MTU: targettest.Maybe(r, rapid.Uint16Range(1280, 9216))})
	}
	slices.SortFunc(d.VLANs, func(a, b intent.VLAN) int { return int(a.ID) - int(b.ID) })
	used := map[string]bool{}
	for i := range rapid.IntRange(len(d.QoS), 9).Draw(r, "ports") {
		q := d.QoS[i%len(d.QoS)]
		p := intent.Port{
			Name: "Ethernet" + decimal(4*i), Enabled: targettest.Maybe(r, rapid.Bool()), Mbps: targettest.Maybe(r, rapid.SampledFrom([]uint32{25000, 100000, 400000})),
			FEC: targettest.Maybe(r, rapid.SampledFrom([]intent.FEC{intent.FECNone, intent.FECRS, intent.FECFC})), Autoneg: targettest.Maybe(r, rapid.Bool()),
			MTU: targettest.Maybe(r, rapid.Uint16Range(1280, 9216)), CableMm: targettest.Maybe(r, rapid.Uint32Range(1, 2_000_000)), QoS: q.Name,
		}
		p.Native, p.Tagged = targettest.VLANs(r, d)
		p.Deny = targettest.Maybe(r, denials)
		if bufferModel(d) == dynamic && rapid.Bool().Draw(r, "headroom") {
			for _, g := range losslessGroups(&q) {
				a := rapid.Int8Range(-8, 7).Draw(r, "alpha")
				p.Headroom = append(p.Headroom, intent.Headroom{
					Group: g, XoffBytes: rapid.Uint32Range(1, 1<<20).Draw(r, "xoff"), SizeBytes: rapid.Uint32Range(1, 1<<20).Draw(r, "size"),
					XonBytes: rapid.Uint32Range(0, 1<<16).Draw(r, "xon"), Alpha: &a, Written: true,
				})
			}
		}
		used[q.Name] = true
		d.Ports = append(d.Ports, p)
	}
	if n := len(d.Ports); n > 4 && rapid.Bool().Draw(r, "lag") {
		member := &d.Ports[n-1]
		member.Native, member.Tagged, member.Deny = intent.Opt[uint16]{}, intent.Opt[[]uint16]{}, intent.Opt[[]intent.RDMA]{}
		g := intent.LAG{Name: "PortChannel7", ID: 7, Mode: "lacp", Members: []string{member.Name}, MTU: targettest.Maybe(r, rapid.Uint16Range(1280, 9216))}
		g.Rate = rapid.SampledFrom([]string{"", "fast", "slow"}).Draw(r, "rate")
		g.Native, g.Tagged = targettest.VLANs(r, d)
		g.Deny = targettest.Maybe(r, denials)
		d.LAGs = append(d.LAGs, g)
	}
	for _, v := range d.VLANs {
		if rapid.Bool().Draw(r, "svi") {
			d.Ifaces = append(d.Ifaces, intent.Iface{
				Name: vlanName(v.ID), Kind: intent.SVI, Unique: d.MLAG != nil && rapid.Bool().Draw(r, "unique"), VLAN: v.ID, VRF: rapid.SampledFrom([]string{"", "Vrf-a", "Vrf_b"}).Draw(r, "vrf"),
				Addresses: intent.Some([]netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(v.ID >> 8), byte(v.ID), 1}), 24)}),
			})
		}
	}
	if bufferModel(d) == dynamic {
		d.Buffer.AlphaExponent = targettest.Maybe(r, rapid.Int8Range(-8, 7))
	}
	d.Buffer.SharedBytes = targettest.Maybe(r, rapid.Uint64Range(1<<20, 1<<28))
	d.Buffer.HeadroomBytes = targettest.Maybe(r, rapid.Uint64Range(1<<20, 1<<28))
	if compare(d.OS.Version, "202405") >= 0 {
		d.Hash.Function = targettest.Maybe(r, rapid.SampledFrom(hashFunctions))
	}
	return d
}

// denials are the lists of RDMA that a port can drop.
var denials = rapid.SampledFrom(append(slices.Clone(kinds), []intent.RDMA{}))

func generatedQoS(r *rapid.T, d *intent.Device, name string, trust intent.Trust) intent.QoS {
	lossless := rapid.SampledFrom([]uint8{3, 4}).Draw(r, "lossless")
	if familyOf(d.ASIC) == mellanox {
		lossless = rapid.Uint8Range(1, 6).Draw(r, "lossless")
	}
	q := intent.QoS{Name: name, Trust: intent.Some(trust), Lossless: 1 << lossless, PFC: intent.Some(intent.PrioritySet(1 << lossless))}
	var dscp [64]uint8
	for i := range dscp {
		dscp[i] = rapid.SampledFrom([]uint8{0, lossless, 7}).Draw(r, "priority")
	}
	var tc, group [8]uint8
	tc[lossless], group[lossless], tc[7] = lossless, lossless, 7
	q.DSCP, q.PCP = intent.Some(dscp), intent.Some([8]uint8(dscp[:8]))
	q.TC, q.Group = intent.Some(tc), intent.Some(group)
	q.PFCQueue = intent.Some([8]uint8{0, 1, 2, 3, 4, 5, 6, 7})
	share := rapid.Uint8Range(1, 99).Draw(r, "share")
	var sched [8]intent.Sched
	sched[0], sched[lossless] = intent.Sched{Kind: intent.SchedETS, Percent: share}, intent.Sched{Kind: intent.SchedETS, Percent: 100 - share}
	sched[7] = intent.Sched{Kind: intent.SchedStrict}
	q.Sched = intent.Some(sched)
	var ecn [8]intent.ECN
	if rapid.Bool().Draw(r, "ecn") {
		low := rapid.Uint32Range(0, 1<<20).Draw(r, "min")
		ecn[lossless] = intent.ECN{On: true, MinBytes: low, MaxBytes: low + rapid.Uint32Range(1, 1<<22).Draw(r, "width"), Probability: rapid.Uint8Range(0, 100).Draw(r, "probability")}
	}
	q.ECN = intent.Some(ecn)
	w := intent.Watchdog{On: rapid.Bool().Draw(r, "watchdog")}
	if w.On && rapid.Bool().Draw(r, "times") {
		w.DetectMs = rapid.Uint32Range(400, 5000).Draw(r, "detect")
		w.RestoreMs = rapid.Uint32Range(400, 60000).Draw(r, "restore")
		w.Action = "drop" // one for the switch
		if familyOf(d.ASIC) != broadcom {
			w.Action = rapid.SampledFrom([]string{"drop", "forward", "alert"}).Draw(r, "action")
		}
	}
	q.Watchdog = intent.Some(w)
	if compare(d.OS.Version, "202411") >= 0 && rapid.Bool().Draw(r, "remap") {
		var marks [8]uint8
		marks[lossless] = rapid.Uint8Range(0, 63).Draw(r, "dscp")
		q.Rewrite = intent.Some(marks)
	}
	return q
}

// TestParseForeign reads a configuration that rocec did not make: old
// references, ranges, missing tables.
func TestParseForeign(t *testing.T) {
	const text = `{
 "PORT": {"Ethernet0": {"lanes": "0,1,2,3", "speed": "40000", "mtu": "9100", "fec": "rs"}, "Ethernet4": {"lanes": "4", "speed": "40000"}},
 "CABLE_LENGTH": {"AZURE": {"Ethernet0": "300m"}},
 "DSCP_TO_TC_MAP": {"AZURE": {"0": "1", "3": "3"}},
 "TC_TO_QUEUE_MAP": {"AZURE": {"0":"0","1":"1","2":"2","3":"3","4":"4","5":"5","6":"6","7":"7"}},
 "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "25"}, "scheduler.1": {"type": "STRICT"}},
 "WRED_PROFILE": {"AZURE_LOSSLESS": {"ecn": "ecn_all", "green_min_threshold": "1048576", "green_max_threshold": "2097152", "green_drop_probability": "5"}},
 "QUEUE": {"Ethernet0|0-1": {"scheduler": "[SCHEDULER|scheduler.0]"}, "Ethernet0|3-4": {"scheduler": "scheduler.1", "wred_profile": "[WRED_PROFILE|AZURE_LOSSLESS]"}},
 "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "[DSCP_TO_TC_MAP|AZURE]", "tc_to_queue_map": "[TC_TO_QUEUE_MAP|AZURE]", "pfc_enable": "3,4", "pfcwd_sw_enable": "3,4"}},
 "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}, "Ethernet0": {"action": "drop", "detection_time": "400", "restoration_time": "600"}},
 "BUFFER_PROFILE": {"pg_lossless_40000_300m_profile": {"xon": "18432", "size": "56368", "xoff": "55120", "dynamic_th": "-3", "pool": "ingress_lossless_pool"}},
 "BUFFER_PG": {"Ethernet0|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless_40000_300m_profile]"}},
 "SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["SRC_IP", "DST_IP"], "ecmp_hash_algorithm": "CRC_XOR"}},
 "bgpraw": "frr version 8"
}`
	got, list := parse(nil, captured([]byte("admin@sonic:~$ sudo sonic-cfggen -d --print-data\n"+text)))
	if len(list) > 0 {
		t.Fatalf("findings: %v", list)
	}
	if want := intent.Some("CRC_XOR"); got.Hash.Function != want {
		t.Errorf("hash function %+v, want %+v", got.Hash.Function, want)
	}
	alpha := int8(-3)
	mark := intent.ECN{On: true, MinBytes: 1 << 20, MaxBytes: 2 << 20, Probability: 5}
	azure := intent.QoS{
		Name: "AZURE", Trust: intent.Some(intent.TrustDSCP),
		PCP: intent.Opt[[8]uint8]{State: intent.Default}, TC: intent.Some([8]uint8{0, 1, 2, 3, 4, 5, 6, 7}),
		Group: intent.Opt[[8]uint8]{State: intent.Default}, PFCQueue: intent.Opt[[8]uint8]{State: intent.Default},
		Rewrite: intent.Opt[[8]uint8]{State: intent.Default}, PFC: intent.Some(intent.PrioritySet(0x18)), Lossless: 0x18,
		Sched: intent.Some([8]intent.Sched{
			0: {Kind: intent.SchedETS, Percent: 25}, 1: {Kind: intent.SchedETS, Percent: 25}, 3: {Kind: intent.SchedStrict}, 4: {Kind: intent.SchedStrict},
		}),
		ECN:      intent.Some([8]intent.ECN{3: mark, 4: mark}),
		Watchdog: intent.Some(intent.Watchdog{On: true, DetectMs: 400, RestoreMs: 600, PollMs: 200, Action: "drop"}),
	}
	if diff := cmp.Diff(azure, *got.QoSNamed("AZURE"), equal); diff != "" {
		t.Errorf("QoS (-want +got):\n%s", diff)
	}
	p := got.Ports[0]
	want := intent.Port{
		Name: "Ethernet0", Enabled: intent.Opt[bool]{State: intent.Default}, Mbps: intent.Some(uint32(40000)), FEC: intent.Some(intent.FECRS),
		Autoneg: intent.Opt[bool]{State: intent.Default}, MTU: intent.Some(uint16(9100)), Native: intent.Opt[uint16]{State: intent.Default},
		Tagged: intent.Some([]uint16{}), Deny: intent.Some([]intent.RDMA{}), QoS: "AZURE", CableMm: intent.Some(uint32(300_000)),
		Headroom: []intent.Headroom{
			{Group: 3, XoffBytes: 55120, XonBytes: 18432, SizeBytes: 56368, Alpha: &alpha},
			{Group: 4, XoffBytes: 55120, XonBytes: 18432, SizeBytes: 56368, Alpha: &alpha},
		},
	}
	if diff := cmp.Diff(want, p, equal); diff != "" {
		t.Errorf("port (-want +got):\n%s", diff)
	}
	if got.Ports[1].QoS != unset || got.QoSNamed(unset).Trust.State != intent.Default {
		t.Errorf("a port without QoS has %q", got.Ports[1].QoS)
	}
}

func TestParseTrouble(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "the text ends early"},
		"not JSON":         {"% Invalid command", "is not JSON"},
		"cut short":        {`{"PORT": {"Ethernet0": {"speed": "1`, "the text ends early"},
		"table of strings": {`{"PORT": "x"}`, "table PORT of running-config.json does not hold rows"},
		"row of strings":   {`{"QUEUE": {"Ethernet0|3": "x"}}`, "QUEUE|Ethernet0|3 cannot be read"},
		"speed":            {`{"PORT": {"Ethernet0": {"speed": "fast"}}}`, `PORT|Ethernet0 has speed = "fast"`},
		"speed too high":   {`{"PORT": {"Ethernet0": {"speed": "99999999999999999999"}}}`, "speed"},
		"cable":            {`{"PORT": {"Ethernet0": {}}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": "long"}}}`, `CABLE_LENGTH|AZURE has Ethernet0 = "long"`},
		"address":          {`{"INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0": {}}}`, "Ethernet0|10.0.0"},
		"pfc":              {`{"PORT": {"Ethernet0": {}}, "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,9"}}}`, "pfc_enable"},
		"null":             {`{"PORT": {"Ethernet0": {"mtu": null}}}`, `PORT|Ethernet0 has mtu = "None"`},
		"null priorities":  {`{"PORT": {"Ethernet0": {}}, "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": null}}}`, `PORT_QOS_MAP|Ethernet0 has pfc_enable = "None"`},
		"map": {
			`{"PORT": {"Ethernet0": {}}, "PORT_QOS_MAP": {"Ethernet0": {"tc_to_queue_map": "A"}}, "TC_TO_QUEUE_MAP": {"A": {"0": "9"}}}`,
			`TC_TO_QUEUE_MAP|A has 0 = "9"`,
		},
	} {
		label := func(file string, offset, length int) diag.Label {
			if offset < 0 || offset+length > len(c.text) || file != running {
				t.Errorf("%s: label at %d+%d of %d bytes of %s", name, offset, length, len(c.text), file)
			}
			return diag.Label{Where: file}
		}
		_, list := parse(nil, targets.Captured{Files: map[string][]byte{running: []byte(c.text)}, Label: label})
		if len(list) == 0 || !strings.Contains(list[0].Summary, c.want) || len(list[0].Labels) != 1 {
			t.Errorf("%s: findings %+v, want %q with a label", name, list, c.want)
		}
	}
	if _, list := parse(nil, targets.Captured{}); len(list) != 1 {
		t.Errorf("no capture: %v", list)
	}
}

// TestParseNull: a table or a row that is null is none, as for ConfigDB.
func TestParseNull(t *testing.T) {
	const text = `{"PORT": {"Ethernet0": {"mtu": "9100"}%s}, "VLAN": {"Vlan100": {"vlanid": "100"}%s}%s}`
	want, list := parse(nil, captured(fmt.Appendf(nil, text, "", "", "")))
	got, odd := parse(nil, captured(fmt.Appendf(nil, text, `, "Ethernet4": null`, `, "Vlan7": null`, `, "QUEUE": null, "MCLAG_DOMAIN": null`)))
	if diff := cmp.Diff(want, got, equal); diff != "" || len(list)+len(odd) > 0 {
		t.Errorf("with nulls (-without +with):\n%s\n%v %v", diff, list, odd)
	}
}

// FuzzParse: no capture makes Parse or Patch panic, and what is read can be written as JSON.
func FuzzParse(f *testing.F) {
	for _, device := range fixtures {
		d := device()
		c := build(d)
		f.Add(loaded(f, image(f, d), c.normal, c.maintenance))
		f.Add(loaded(f, bare(f, d), c.normal))
	}
	f.Add([]byte(`{"PORT":{"Ethernet0":null,"Ethernet4":{"mtu":null}},"VLAN":null}`))
	f.Add([]byte(`{"QUEUE":{"Ethernet0|9-1":{},"Ethernet0|0-99999999999":{"scheduler":3}},"PORT":{"Ethernet0":{"NULL":"NULL"}},"VLAN":{"Vlan0":{}},"MCLAG_DOMAIN":{"x":{}}}`))
	known, right := []*intent.Device{nil, tor(), leaf(), pair()}, map[*intent.Device][]byte{}
	for _, d := range known[1:] {
		right[d] = asWanted(f, d)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, d := range known {
			got, list := parse(d, captured(text))
			if got == nil && len(list) == 0 {
				t.Fatal("neither a device nor a finding")
			}
			if got != nil {
				if _, err := json.Marshal(got); err != nil {
					t.Fatal(err)
				}
			}
			if d == nil {
				continue
			}
			lost, _ := boots(d, targets.Captured{Files: map[string][]byte{running: right[d], stored: text}})
			for _, x := range lost {
				if _, is := x.Path.Running(); !is {
					t.Fatalf("%v is no path of what is stored", x.Path)
				}
			}
			patch, _, _, list := Patch(text, d)
			if patch != nil && !json.Valid(patch) {
				t.Fatalf("patch is not JSON: %s", patch)
			}
			if list.HasErrors() && patch != nil {
				t.Fatal("a patch beside errors")
			}
		}
	})
}

// TestObservable: what is said to be observable comes back.
func TestObservable(t *testing.T) {
	d := leaf()
	for _, c := range []struct {
		path intent.Path
		want bool
	}{
		{intent.Path{Object: intent.OfPort, Name: "Ethernet0", Field: "pause"}, false},
		{intent.Path{Object: intent.OfPort, Name: "Ethernet0", Field: "dcbx"}, false},
		{intent.Path{Object: intent.OfDevice, Field: "firmware"}, false},
		{intent.Path{Object: intent.OfDevice, Field: "mlag.peer"}, false},
		{intent.Path{Object: intent.OfDevice, Field: "hash.function"}, true},
		{intent.Path{Object: intent.OfPort, Name: "Ethernet0", Field: "pfc"}, true},
		{intent.Path{Object: intent.OfPort, Name: "Ethernet0", Field: "mtu"}, true},
	} {
		if got := observable(d, c.path); got != c.want {
			t.Errorf("observable(%s) = %t", c.path, got)
		}
	}
}

// Names of QoS values are kept apart whatever they are.
func TestNames(t *testing.T) {
	names := []string{"roce", "roce_q3", "roce_none", "x_pg1", "a.b", "a_b", "A_B", strings.Repeat("n", 21), strings.Repeat("n", 22), "-x", "AZURE"}
	made := map[string]string{}
	for _, n := range names {
		for _, object := range []string{base(n), base(n) + untrustedSuffix, queueName(n, 3)} {
			if len(object) > 32 || !plain.MatchString(object) || !ours(object) {
				t.Errorf("qos %q makes the name %q", n, object)
			}
			if other, ok := made[object]; ok {
				t.Errorf("qos %q and %q share %q", n, other, object)
			}
			made[object] = n
		}
	}
	if got := slices.Collect(maps.Keys(made)); len(got) != 3*len(names) {
		t.Errorf("%d names", len(got))
	}
}

// plain is a name of the characters that every platform takes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// TestParseWatchdogMask: a row of PFC_WD watches the priorities of pfcwd_sw_enable,
// and none without it.
func TestParseWatchdogMask(t *testing.T) {
	for mask, on := range map[string]bool{
		``: false, `, "pfcwd_sw_enable": ""`: false, `, "pfcwd_sw_enable": "4"`: false,
		`, "pfcwd_sw_enable": "3"`: true, `, "pfcwd_sw_enable": "3,4"`: true,
	} {
		seen, list := parse(nil, captured([]byte(`{"PORT": {"Ethernet0": {"speed": "100000"}},
 "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"`+mask+`}},
 "PFC_WD": {"Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "200"}}}`)))
		if len(list) > 0 {
			t.Fatal(list)
		}
		if got := seen.QoS[0].Watchdog.Value.On; got != on {
			t.Errorf("pfc_enable 3%s: the watchdog is on: %t", mask, got)
		}
	}
}

// TestParseOnce: what is wrong in a map is said once, however many ports have it.
func TestParseOnce(t *testing.T) {
	_, list := parse(nil, captured([]byte(`{"PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}},
 "DSCP_TO_TC_MAP": {"UPLINK": {"0": "9"}, "DOWNLINK": {"0": "9"}},
 "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "UPLINK"}, "Ethernet4": {"dscp_to_tc_map": "UPLINK"}, "Ethernet8": {"dscp_to_tc_map": "DOWNLINK"}}}`)))
	if len(list) != 1 || !strings.Contains(list[0].Summary, "UPLINK has 0 = \"9\"") {
		t.Errorf("findings: %v", list)
	}
}
