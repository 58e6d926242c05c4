package cumulus

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

func captured(text string) targets.Captured {
	return targets.Captured{Files: map[string][]byte{running: []byte(text)}}
}

// asJSON is a YAML capture as nv config show -o json prints it.
func asJSON(t targettest.Failer, text string) string {
	t.Helper()
	var top any
	if err := yaml.Unmarshal([]byte(text), &top); err != nil {
		t.Fatalf("%v", err)
	}
	b, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(b)
}

// roundTrip reads back what is written, as YAML and as JSON. Nothing may differ
// that either states, apart from what NVUE has no key for.
func roundTrip(t targettest.Failer, d *intent.Device) {
	t.Helper()
	patch := targettest.Text(targettest.Emit(&Target, d), patchFile)
	if patch == "" {
		return
	}
	for _, text := range []string{patch, asJSON(t, patch)} {
		targettest.RoundTrip(t, &Target, d, captured(text))
	}
}

func TestRoundTrip(t *testing.T) {
	for name, device := range fixtures {
		t.Run(name, func(t *testing.T) { roundTrip(t, device()) })
	}
}

// TestShareOfNothing: a class that the profile leaves out has the weight 0.
func TestShareOfNothing(t *testing.T) {
	d := leaf()
	d.QoS[0].TC.Value[1], d.QoS[0].PFCQueue.Value[1], d.QoS[0].DSCP.Value[8] = 1, 1, 1
	d.QoS[0].Sched.Value[1] = intent.Sched{Kind: intent.SchedETS}
	patch := artifact(t, d, patchFile)
	if n := strings.Count(patch, "bw-percent: "); n != 2 || strings.Contains(patch, "bw-percent: 0") {
		t.Errorf("%d classes have a share, not the two that get one:\n%s", n, patch)
	}
	roundTrip(t, d)
}

func TestRoundTripGenerated(t *testing.T) {
	t.Parallel()
	taken := 0
	rapid.Check(t, func(r *rapid.T) {
		d := generated(r)
		if list := targets.Check(&Target, d, nil); list.HasErrors() {
			r.Fatalf("the generator made a device that is refused:\n%s", targettest.Refusals(list))
		}
		taken++
		roundTrip(r, d)
		var out emit.Out
		if list := rebase(d, captured(targettest.Text(targettest.Emit(&Target, d), patchFile)+"- header: {}\n"), &out); len(list) > 0 {
			r.Fatalf("rebase: %v", list)
		}
		if text := targettest.Text(out.Artifacts, patchFile); strings.Contains(text, "- unset:") {
			r.Fatalf("a switch that is as wanted loses something:\n%s", text)
		}
	})
	if taken == 0 {
		t.Fatal("nothing was generated")
	}
}

// denials are the lists of RDMA that a port can drop.
var denials = rapid.SampledFrom([][]intent.RDMA{{intent.RoCEv2}, {}})

// generated is a random device that the target takes.
func generated(r *rapid.T) *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: "sw", Kind: intent.Switch, ASIC: "spectrum-4", Model: "nvidia/sn5600",
		OS: intent.OS{Name: "cumulus-linux", Version: rapid.SampledFrom([]string{"5.9", "5.11.1", "5.14", "5.15"}).Draw(r, "os")},
	}
	lossless := rapid.Uint8Range(1, 6).Draw(r, "lossless")
	times := intent.Watchdog{On: true}
	if rapid.Bool().Draw(r, "times") {
		times.PollMs = rapid.SampledFrom([]uint32{0, 50, 100, 200}).Draw(r, "poll")
		times.DetectMs = max(times.PollMs, defaultPoll) * rapid.Uint32Range(1, 9).Draw(r, "robustness")
	}
	remap := rapid.Bool().Draw(r, "remap")
	for i := range rapid.IntRange(1, 3).Draw(r, "qos") {
		q := generatedQoS(r, "class"+decimal(i), lossless, times)
		if remap {
			var marks [8]uint8
			marks[lossless] = rapid.Uint8Range(0, 63).Draw(r, "dscp")
			q.Rewrite = intent.Some(marks)
		}
		d.QoS = append(d.QoS, q)
	}
	for _, id := range rapid.SliceOfNDistinct(rapid.Uint16Range(2, 3700), 0, 4, rapid.ID).Draw(r, "vlans") {
		d.VLANs = append(d.VLANs, intent.VLAN{ID: id, MTU: targettest.Maybe(r, rapid.Uint16Range(552, 1500))})
	}
	slices.SortFunc(d.VLANs, func(a, b intent.VLAN) int { return int(a.ID) - int(b.ID) })
	fecs := rapid.SampledFrom([]intent.FEC{intent.FECNone, intent.FECRS, intent.FECFC})
	for i := range rapid.IntRange(len(d.QoS), 9).Draw(r, "ports") {
		p := intent.Port{
			Name: "swp" + decimal(i+1), Enabled: targettest.Maybe(r, rapid.Bool()), Mbps: targettest.Maybe(r, rapid.SampledFrom([]uint32{25_000, 100_000, 400_000})),
			FEC: targettest.Maybe(r, fecs), Autoneg: targettest.Maybe(r, rapid.Bool()), MTU: targettest.Maybe(r, rapid.Uint16Range(1500, 9216)),
			CableMm: targettest.Maybe(r, rapid.Uint32Range(1, 2_000_000)), QoS: d.QoS[i%len(d.QoS)].Name,
		}
		switch { // see limit.forced
		case !p.Autoneg.Or(false):
			p.FEC = intent.Some(fecs.Draw(r, "fec"))
		case wordsOf(d.OS.Version).forces:
			p.Mbps = intent.Opt[uint32]{}
		}
		switch rapid.IntRange(0, 3).Draw(r, "kind") {
		case 0:
			p.Name += "s0"
			p.Breakout = rapid.SampledFrom([]string{"2x200G", "4x100G", "8x50G"}).Draw(r, "split")
		case 1:
			d.Ifaces = append(d.Ifaces, intent.Iface{
				Name: "to" + p.Name, Kind: intent.Routed, On: p.Name, VRF: rapid.SampledFrom([]string{"", "red", "on"}).Draw(r, "vrf"),
				Addresses: intent.Some([]netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 9, byte(i), 0}), 31)}),
			})
			d.Ports = append(d.Ports, p)
			continue
		}
		p.Native, p.Tagged = targettest.VLANs(r, d)
		p.Deny = targettest.Maybe(r, denials)
		d.Ports = append(d.Ports, p)
	}
	if last := &d.Ports[len(d.Ports)-1]; len(d.Ports) > 4 && last.Breakout == "" && rapid.Bool().Draw(r, "lag") {
		d.Ifaces = slices.DeleteFunc(d.Ifaces, func(f intent.Iface) bool { return f.On == last.Name })
		last.Native, last.Tagged, last.Deny = intent.Opt[uint16]{}, intent.Opt[[]uint16]{}, intent.Opt[[]intent.RDMA]{}
		last.MTU = intent.Opt[uint16]{}
		g := intent.LAG{Name: "bond7", ID: 7, Mode: "lacp", Members: []string{last.Name}, MTU: targettest.Maybe(r, rapid.Uint16Range(1500, 9216))}
		g.Rate = rapid.SampledFrom([]string{"", "fast", "slow"}).Draw(r, "rate")
		g.Native, g.Tagged = targettest.VLANs(r, d)
		g.Deny = targettest.Maybe(r, denials)
		d.LAGs = append(d.LAGs, g)
	}
	for _, v := range d.VLANs {
		if rapid.Bool().Draw(r, "svi") {
			d.Ifaces = append(d.Ifaces, intent.Iface{
				Name: "Vlan" + decimal(v.ID), Kind: intent.SVI, VLAN: v.ID, VRF: rapid.SampledFrom([]string{"", "red", "blue"}).Draw(r, "vrf"),
				MTU:       targettest.Maybe(r, rapid.Uint16Range(552, 9216)),
				Addresses: intent.Some([]netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(v.ID >> 8), byte(v.ID), 1}), 24)}),
			})
		}
	}
	d.Buffer.AlphaExponent = targettest.Maybe(r, rapid.Int8Range(minAlpha, maxAlpha))
	d.Hash.Seed = targettest.Maybe(r, rapid.Uint32())
	d.Aging.MACSeconds = targettest.Maybe(r, rapid.Uint32Range(0, 65535))
	return d
}

func generatedQoS(r *rapid.T, name string, lossless uint8, times intent.Watchdog) intent.QoS {
	q := intent.QoS{Name: name, Trust: intent.Some(rapid.SampledFrom([]intent.Trust{intent.TrustDSCP, intent.TrustPCP, intent.TrustNone}).Draw(r, "trust"))}
	var dscp [64]uint8
	var pcp [8]uint8
	if q.Trust.Value != intent.TrustNone {
		for i := range dscp {
			dscp[i] = rapid.SampledFrom([]uint8{0, lossless, 7}).Draw(r, "priority")
		}
		pcp = [8]uint8(dscp[20:])
	}
	q.DSCP, q.PCP = intent.Some(dscp), intent.Some(pcp)
	tc := [8]uint8{7: 7}
	tc[lossless] = lossless
	q.TC = intent.Some(tc)
	q.PFCQueue = q.TC
	if rapid.Bool().Draw(r, "pfc") {
		q.Lossless = 1 << lossless
	}
	q.PFC = intent.Some(q.Lossless)
	var group [8]uint8
	for _, p := range q.Lossless.List() {
		group[p] = p
	}
	q.Group, q.Pause = intent.Some(group), intent.Some(false)
	share := rapid.Uint8Range(1, 99).Draw(r, "share")
	var s [8]intent.Sched
	s[0], s[lossless] = intent.Sched{Kind: intent.SchedETS, Percent: share}, intent.Sched{Kind: intent.SchedETS, Percent: 100 - share}
	s[7] = intent.Sched{Kind: intent.SchedStrict, CapMbps: rapid.SampledFrom([]uint32{0, 1000, 40_000}).Draw(r, "cap")}
	q.Sched = intent.Some(s)
	var e [8]intent.ECN
	if rapid.Bool().Draw(r, "ecn") {
		low := rapid.Uint32Range(0, 1<<20).Draw(r, "min")
		e[lossless] = intent.ECN{On: true, MinBytes: low, MaxBytes: low + rapid.Uint32Range(1, 1<<22).Draw(r, "width"), Probability: rapid.Uint8Range(1, 100).Draw(r, "probability")}
	}
	q.ECN = intent.Some(e)
	q.DCBX = intent.Some(intent.DCBX{Mode: rapid.SampledFrom([]string{"off", "advertise"}).Draw(r, "dcbx")})
	if q.Lossless != 0 && rapid.Bool().Draw(r, "watchdog") {
		q.Watchdog = intent.Some(times)
	} else {
		q.Watchdog = intent.Some(intent.Watchdog{})
	}
	return q
}

// TestParseForeign reads a made-up configuration that rocec did not write: ranges in
// keys, the words of other versions, the RoCE mode, default-global profiles, a
// prompt before it.
func TestParseForeign(t *testing.T) {
	const text = `ops@row3-sw2:mgmt:~$ nv config show
- header:
    model: vx
    nvue-api-version: nvue_v1
    rev-id: 1.0
    version: Cumulus Linux 5.11.0
- set:
    bridge:
      domain:
        br_default:
          untagged: 1
          vlan:
            10,20-22: {}
    interface:
      pair8-9:
        bond:
          lacp-rate: slow
          mlag:
            enable: on
        type: bond
      pair8:
        bond:
          member:
            swp13-14: {}
          mlag:
            id: 23
        bridge:
          domain:
            br_default: {}
      eth0:
        ip:
          address:
            dhcp: {}
          vrf: mgmt
        type: eth
      lo:
        ip:
          address:
            198.51.100.7/32: {}
        type: loopback
      peerlink:
        bond:
          member:
            swp49-50: {}
        type: peerlink
      peerlink.4094:
        base-interface: peerlink
        type: sub
        vlan: 4094
      swp1-2,7:
        bridge:
          domain:
            br_default:
              access: 10
        link:
          mtu: 9000
        type: swp
      swp7:
        qos:
          pfc-watchdog: {}
          mapping:
            profile: theirs
      vlan10:
        ip:
          address:
            203.0.113.129/25: {}
          vrf: tenant7
        type: svi
        vlan: 10
    mlag:
      backup:
        198.51.100.8: {}
      enable: on
      mac-address: 44:38:39:FF:03:0B
      peer-ip: linklocal
    qos:
      mapping:
        theirs:
          port-default-sp: 4
          trust: port
      pfc-watchdog:
        polling-interval: 200
      roce:
        enable: on
        mode: lossless
    system:
      aaa:
        user:
          ops:
            hashed-password: x
`
	got, list := parse(nil, captured(text))
	if len(list) > 0 {
		t.Fatalf("findings: %v", list)
	}
	values := map[string]string{}
	for p, v := range got.Fields {
		if v.State == intent.Set {
			values[p.String()] = v.Text
		}
	}
	for path, want := range map[string]string{
		`vlan["10"]`: "present", `vlan["21"]`: "present", `lag["pair8"].members`: "swp13, swp14", `lag["pair8"].id`: "23", `lag["pair8"].rate`: "slow",
		`lag["pair8"].mlag`: "true", `lag["pair8"].segments`: "10, 20, 21, 22", `lag["pair8"].native`: "1", `port["swp2"].native`: "10",
		`port["swp2"].segments`: "none", `port["swp2"].mtu`: "9000", `port["swp2"].trust`: "dscp", `port["swp2"].pfc`: "[3]", `port["swp2"].cable`: "100m",
		`port["swp2"].ets`: "0:50% 3:50% 6:strict", `port["swp2"].ecn`: "0: 150000..1500000 @100%, 3: 150000..1500000 @100%",
		`port["swp2"].dscp_map`: "0-7:0 8-15:1 16-23:2 24-31:3 32-39:4 40-47:5 48-55:6 56-63:7", `port["swp2"].queue_map`: "0-2:0 3:3 4-5:0 6:6 7:0",
		`port["swp2"].watchdog`: "off", `port["swp2"].dcbx`: "advertise", `port["swp7"].watchdog`: "on", `port["swp7"].watchdog.poll`: "200ms",
		`port["swp7"].trust`: "none", `port["swp7"].pcp_map`: "0-7:4", `interface["vlan10"].address`: "203.0.113.129/25", `interface["vlan10"].vrf`: "tenant7",
		`interface["lo"].address`: "198.51.100.7/32", `mlag.domain`: "779", `mlag.peer_address`: "198.51.100.8", `mlag.peer_link`: "peerlink",
	} {
		if values[path] != want {
			t.Errorf("%s is %q, want %q", path, values[path], want)
		}
	}
	for path := range values {
		for _, no := range []string{"eth0", "4094", "swp49"} {
			if strings.Contains(path, no) {
				t.Errorf("%s has no place in an intent", path)
			}
		}
	}
}

// TestDefaults: what a switch without any QoS does, from the documents.
func TestDefaults(t *testing.T) {
	got, list := parse(nil, captured(`[{"header": {"model": "vx"}}, {"set": {"interface": {"swp1": {"type": "swp"}}}}]`))
	if len(list) > 0 {
		t.Fatal(list)
	}
	values := map[string]string{}
	for p, v := range got.Fields {
		values[p.Field] = v.Text
	}
	for field, want := range map[string]string{
		"trust": "pcp", "pcp_map": "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7", "queue_map": "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7", "pfc": "[]",
		"ets": "0:12% 1:13% 2:12% 3:13% 4:12% 5:13% 6:12% 7:13%", "ecn": "0: 150000..1500000 @100%", "watchdog": "off", "dcbx": "off", "pause": "false", "mtu": "",
	} {
		if values[field] != want {
			t.Errorf("%s is %q, want %q", field, values[field], want)
		}
	}
}

func TestParseTrouble(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":        {"", "is empty"},
		"not NVUE":     {"- a\n- b\n", "holds no set of NVUE"},
		"a message":    {"Error: GET /nvue_v1/ responded with 401", "holds no set"},
		"cut short":    {`[{"set": {"interface": {"swp1"`, "neither JSON nor YAML"},
		"an alias":     {"- set:\n    a: &x {b: 1}\n    c: *x\n", "a list or an alias"},
		"a list":       {"- set:\n    interface:\n      - swp1\n", "a list or an alias"},
		"speed":        {"- set:\n    interface:\n      swp1:\n        link:\n          speed: 3G\n", `speed of swp1 is "3G"`},
		"mtu":          {"- set:\n    interface:\n      swp1:\n        link:\n          mtu: big\n", `mtu is "big"`},
		"VLAN":         {"- set:\n    bridge:\n      domain:\n        br_default:\n          vlan:\n            '5000': {}\n", `VLAN "5000"`},
		"address":      {"- set:\n    interface:\n      swp1:\n        ip:\n          address:\n            10.0.0: {}\n", `the address "10.0.0"`},
		"trust":        {"- set:\n    interface:\n      swp1: {}\n    qos:\n      mapping:\n        default-global:\n          trust: l9\n", `"l9"`},
		"no profile":   {"- set:\n    interface:\n      swp1:\n        qos:\n          pfc:\n            profile: gone\n", `the pfc profile "gone" does not exist`},
		"one way":      {"- set:\n    interface:\n      swp1: {}\n    qos:\n      pfc:\n        default-global:\n          switch-priority:\n            '3': {}\n          rx: disable\n", "pauses one way only"},
		"queue":        {"- set:\n    interface:\n      swp1: {}\n    qos:\n      egress-scheduler:\n        default-global:\n          traffic-class:\n            '9': {}\n", `traffic-class "9"`},
		"endless":      {"- set:\n    interface:\n      swp1-999999999: {}\n", "stands for no names"},
		"mode":         {"- set:\n    interface:\n      swp1: {}\n    qos:\n      roce:\n        mode: lossy-multi-tc\n", "mode of qos roce"},
		"alpha":        {"- set:\n    qos:\n      advance-buffer-config:\n        default-global:\n          ingress-lossless-buffer:\n            shared-alpha: alpha_3\n", "alpha_3"},
		"nested":       {"- set: " + strings.Repeat("{a: ", 60) + "1" + strings.Repeat("}", 60), "too deep"},
		"tagged twice": {"- set:\n    interface:\n      swp1:\n        link:\n          state:\n            up: {}\n          auto-negotiate: perhaps\n", "auto-negotiate"},
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
	if list := rebase(leaf(), targets.Captured{}, &emit.Out{}); !list.HasErrors() {
		t.Errorf("rebase without a capture: %v", list)
	}
}

// FuzzParse: no capture makes Parse or Rebase panic, and what is read can be
// written as JSON.
func FuzzParse(f *testing.F) {
	known := []*intent.Device{nil}
	for _, device := range fixtures {
		d := device()
		known = append(known, d)
		patch := targettest.Text(targettest.Emit(&Target, d), patchFile)
		f.Add([]byte(patch))
		f.Add([]byte(asJSON(f, patch)))
	}
	f.Add([]byte("- set:\n    interface:\n      swp1-2,5,bond-a-3,-,1-:\n        bond: {member: {swp1-: {}}}\n    mlag: {mac-address: '44:38:39:ff:', backup: {x: {}}}\n    qos: {roce: {}, pfc: {default-global: {switch-priority: {'9': {}}}}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := known[len(text)%len(known)] // one each time is enough, and fast
		got, list := parse(d, captured(string(text)))
		if got == nil && len(list) == 0 {
			t.Fatal("neither a device nor a finding")
		}
		if got != nil {
			if _, err := json.Marshal(got); err != nil {
				t.Fatal(err)
			}
		}
		if d == nil {
			return
		}
		right := captured(targettest.Text(targettest.Emit(&Target, d), patchFile))
		right.Files[stored] = text
		lost, _ := boots(d, right)
		for _, x := range lost {
			if _, is := x.Path.Running(); !is {
				t.Fatalf("%v is no path of what is stored", x.Path)
			}
		}
		var out emit.Out
		if list := rebase(d, captured(string(text)), &out); list.HasErrors() && len(out.Artifacts) > 0 {
			t.Fatal("artifacts beside errors")
		}
		if err := sound(out.Artifacts); err != nil {
			t.Fatal(err)
		}
	})
}

// TestParseRoCEMode: with the mode on, the profiles of all ports change what they
// name and leave the rest, as the user guide's own examples do.
func TestParseRoCEMode(t *testing.T) {
	def := intent.ECN{On: true, MinBytes: roceMin, MaxBytes: roceMax, Probability: roceProbability}
	half, strict := intent.Sched{Kind: intent.SchedETS, Percent: 50}, intent.Sched{Kind: intent.SchedStrict}
	for name, c := range map[string]struct {
		qos     string
		pfc     intent.PrioritySet
		cableMm uint32
		ecn     [8]intent.ECN
		sched   [8]intent.Sched
	}{
		"alone":        {"", 1 << 3, roceCableMm, [8]intent.ECN{0: def, 3: def}, [8]intent.Sched{0: half, 3: half, 6: strict}},
		"cable":        {"pfc: {default-global: {cable-length: 40}}", 1 << 3, 40_000, [8]intent.ECN{0: def, 3: def}, [8]intent.Sched{0: half, 3: half, 6: strict}},
		"priority":     {"pfc: {default-global: {switch-priority: {'2': {}}}}", 1 << 2, roceCableMm, [8]intent.ECN{0: def, 3: def}, [8]intent.Sched{0: half, 3: half, 6: strict}},
		"no TCP marks": {"congestion-control: {default-global: {traffic-class: {'0': {ecn: disable}}}}", 1 << 3, roceCableMm, [8]intent.ECN{3: def}, [8]intent.Sched{0: half, 3: half, 6: strict}},
		"share": {
			"egress-scheduler: {default-global: {traffic-class: {'0': {bw-percent: 20}}}}", 1 << 3, roceCableMm,
			[8]intent.ECN{0: def, 3: def},
			[8]intent.Sched{0: {Kind: intent.SchedETS, Percent: 20}, 3: half, 6: strict},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := "- set:\n    interface: {swp1: {type: swp}}\n    qos:\n      roce: {enable: on, mode: lossless}\n"
			if c.qos != "" {
				text += "      " + c.qos + "\n"
			}
			seen, list := parse(nil, captured(text))
			if len(list) > 0 {
				t.Fatal(list)
			}
			p := seen.Ports[0]
			q := seen.QoSNamed(p.QoS)
			if q.PFC != intent.Some(c.pfc) || q.Lossless != c.pfc || p.CableMm != intent.Some(c.cableMm) {
				t.Errorf("PFC %v, lossless %s, cable %v", q.PFC, q.Lossless, p.CableMm)
			}
			if q.ECN.Value != c.ecn {
				t.Errorf("ECN %v", q.ECN.Value)
			}
			if q.Sched.Value != c.sched {
				t.Errorf("shares %v", q.Sched.Value)
			}
		})
	}
}

// TestParseReaches: a plan says which ports that nobody declared get or lose what
// the RoCE mode gives, and that the next change shares the packet buffer anew.
func TestParseReaches(t *testing.T) {
	const others = "    interface:\n      swp40,swp41s0-1:\n        type: swp\n      swp41:\n        link:\n          breakout:\n            2x: {}\n"
	for name, c := range map[string]struct {
		want func() *intent.Device
		have string
		said []string
	}{
		"off":            {tor, others + "    qos:\n      roce:\n        enable: on\n", []string{"qos roce is switched off, and swp4,swp40,swp41s0-1, which rocec does not write, lose"}},
		"off already":    {tor, others + "    qos:\n      roce:\n        enable: off\n", nil},
		"nobody else":    {leaf, "    qos:\n      roce:\n        state: enabled\n", nil},
		"on":             {func() *intent.Device { return mode("5.14") }, others, []string{"qos roce is switched on, and swp40,swp41s0-1, which rocec does not write, get"}},
		"on already":     {func() *intent.Device { return mode("5.14") }, others + "    qos:\n      roce: {}\n", nil},
		"shares":         {tor, "    qos:\n      traffic-pool:\n        default-lossy:\n          memory-percent: 90\n        default-lossless:\n          memory-percent: 10\n", []string{"pool default-lossless has 10 % of the packet buffer: the next change of this switch gives it 50 %", "pool default-lossy has 90 %"}},
		"shares of roce": {func() *intent.Device { return mode("5.14") }, "    qos:\n      roce:\n        mode: lossless\n      traffic-pool:\n        default-lossy:\n          memory-percent: 10\n", nil},
		"default-global": {
			tor, others + "    qos:\n      pfc:\n        default-global:\n          switch-priority:\n            '3': {}\n",
			[]string{"qos pfc default-global goes, as ports that rocec writes are to be without it, and swp4,swp40,swp41s0-1, which it does not write, lose"},
		},
		"default-global of others": {
			tor, others + "    qos:\n      link-pause:\n        default-global: {rx: enable}\n      mapping:\n        default-global: {trust: l3}\n      pfc:\n        mine: {tx: enable}\n",
			[]string{"qos link-pause default-global goes"},
		},
		"the same shares": {tor, "    qos:\n      traffic-pool:\n        default-lossy:\n          memory-percent: 50\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, list := parse(c.want(), captured("- set:\n"+c.have))
			if len(list) != len(c.said) {
				t.Fatalf("got %v", list)
			}
			for i, said := range c.said {
				if list[i].Severity != diag.Warning || !strings.HasPrefix(list[i].Summary, said) {
					t.Errorf("got %q, want %q", list[i].Summary, said)
				}
			}
		})
	}
}

// TestParseOnce: what is wrong in a profile is said once, however many ports have it.
func TestParseOnce(t *testing.T) {
	_, list := parse(nil, captured("- set:\n    interface:\n      swp1-8:\n        type: swp\n    qos:\n      egress-scheduler: {default-global: {traffic-class: {'9': {}}}}\n      congestion-control: {default-global: {traffic-class: {'9': {}}}}\n"))
	if len(list) != 2 {
		t.Errorf("findings: %v", list)
	}
}

// TestParseAllVLANs: "vlan all", as the reference designs give it to bonds, is every
// VLAN of the bridge.
func TestParseAllVLANs(t *testing.T) {
	seen, list := parse(nil, captured("- set:\n    bridge: {domain: {br_default: {vlan: {'10,20-21,122': {}}}}}\n    interface:\n      bond1-2: {type: bond, bridge: {domain: {br_default: {untagged: 122, vlan: {all: {}}}}}}\n"))
	if len(list) > 0 {
		t.Fatal(list)
	}
	for _, g := range seen.LAGs {
		if g.Native != intent.Some(uint16(122)) || !slices.Equal(g.Tagged.Value, []uint16{10, 20, 21}) {
			t.Errorf("%s has %v untagged and %v", g.Name, g.Native, g.Tagged)
		}
	}
}
