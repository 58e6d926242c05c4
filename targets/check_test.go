package targets_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/feature"
)

func sonic() *targets.Target {
	return &targets.Target{
		Name: "sonic", OS: []string{"sonic"}, Kinds: []intent.Kind{intent.Switch},
		Options: []targets.Option{
			{Name: "dynamic_buffers", Kind: targets.OptionBool, Default: "true"},
			{Name: "delay", Kind: targets.OptionNumber},
			{Name: "pool", Kind: targets.OptionBytes},
			{Name: "style", Kind: targets.OptionEnum, Values: []string{"full", "patch"}},
			{Name: "banner", Kind: targets.OptionString},
		},
		Features: feature.Table{
			Compare: strings.Compare,
			Rows: []feature.Row{
				{ID: feature.PortMTU, Support: feature.Native},
				{ID: feature.PFC, Support: feature.Native},
				{ID: feature.Watchdog, Support: feature.Native, Since: "201911"},
				{ID: feature.WatchdogTimes, Support: feature.Native, Since: "202311"},
				{ID: feature.RateCap, Note: "write the cap on the port"},
				{ID: feature.SVI, Support: feature.Native},
			},
		},
		Limits: func(d *intent.Device, refuse targets.Refuse) {
			for _, p := range d.Ports {
				if p.MTU.Or(0) > 9216 {
					refuse("port mtu is above 9216", "lower it", intent.Path{Object: intent.OfPort, Name: p.Name, Field: "mtu"}, intent.Path{Object: intent.OfDevice, Field: "model"})
				}
			}
		},
		Emit: func(*intent.Device, *emit.Out) {},
	}
}

func device(change func(*intent.Device)) *intent.Device {
	d := &intent.Device{
		Version: 1, Name: "tor", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202305"},
		Ports: []intent.Port{{Name: "Ethernet0", MTU: intent.Some(uint16(9100)), QoS: "roce"}},
		QoS:   []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(8)), Watchdog: intent.Some(intent.Watchdog{On: true})}},
	}
	if change != nil {
		change(d)
	}
	return d
}

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		change func(*intent.Device)
		want   []string // summary | help
	}{
		"content": {nil, nil},
		"feature that a newer version has": {
			func(d *intent.Device) { d.QoS[0].Watchdog.Value.DetectMs = 200 },
			[]string{`sonic 202305 cannot set watchdog_times on qos "roce" | needs version 202311 or newer`},
		},
		"the newer version": {
			func(d *intent.Device) { d.QoS[0].Watchdog.Value.DetectMs = 200; d.OS.Version = "202405" }, nil,
		},
		"refused feature with a note": {
			func(d *intent.Device) {
				d.QoS[0].Sched = intent.Some([8]intent.Sched{{CapMbps: 100}})
				d.OS.Version = ""
			},
			[]string{`sonic cannot set rate_cap on qos "roce" | write the cap on the port`},
		},
		"feature without a row": {
			func(d *intent.Device) { d.MLAG = &intent.MLAG{Domain: 1} },
			[]string{`sonic 202305 cannot set mlag on switch "tor" | not covered by this target`},
		},
		"one finding for many addresses": {
			func(d *intent.Device) {
				d.Ifaces = []intent.Iface{{Name: "Vlan10", Kind: intent.SVI, VLAN: 10, Addresses: intent.Some([]netip.Prefix{
					netip.MustParsePrefix("2001:db8::1/64"), netip.MustParsePrefix("2001:db8::2/64"),
				})}}
			},
			[]string{`sonic 202305 cannot set ipv6 on interface "Vlan10" | not covered by this target`},
		},
		"limits":                 {func(d *intent.Device) { d.Ports[0].MTU.Value = 9300 }, []string{`port mtu is above 9216 | lower it`}},
		"another kind of device": {func(d *intent.Device) { d.Kind = intent.Node }, []string{`target sonic does not serve node "tor" | select only devices of the kind it serves: "switch"`}},
		"misspelt system":        {func(d *intent.Device) { d.OS.Name = "sonci" }, []string{`target sonic does not serve os "sonci" of switch "tor" | did you mean "sonic"?`}},
		"another system":         {func(d *intent.Device) { d.OS.Name = "ubuntu" }, []string{`target sonic does not serve os "ubuntu" of switch "tor" | choose a target for this system; sonic serves "sonic"`}},
		"options that fit": {func(d *intent.Device) {
			d.Options = map[string]string{"dynamic_buffers": "false", "delay": "-3", "pool": "4096", "style": "patch", "banner": "a 'b' é"}
		}, nil},
		"unknown options": {
			func(d *intent.Device) { d.Options = map[string]string{"dynamic_bufers": "true", "zzz": "1"} },
			[]string{
				`target sonic has no option "dynamic_bufers" | did you mean "dynamic_buffers"?`,
				`target sonic has no option "zzz" | its options are "dynamic_buffers", "delay", "pool", "style", "banner"`,
			},
		},
		"values that do not fit": {
			func(d *intent.Device) {
				d.Options = map[string]string{"dynamic_buffers": "yes", "delay": "030", "pool": "-1", "style": "ful", "banner": "a\nb"}
			},
			[]string{
				`option "banner" of target sonic is "a\nb" | remove the character U+000A`,
				`option "delay" of target sonic is "030" | write a whole number`,
				`option "dynamic_buffers" of target sonic is "yes" | write true or false`,
				`option "pool" of target sonic is "-1" | write a number of bytes, or a size such as "150KB"`,
				`option "style" of target sonic is "ful" | did you mean "full"?`,
			},
		},
		"unknown word": {
			func(d *intent.Device) { d.QoS[0].Trust = intent.Some(intent.Trust("cos")) },
			[]string{`sonic 202305 cannot set trust on qos "roce" | not covered by this target`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			list := targets.Check(sonic(), device(c.change), nil)
			var got []string
			for _, d := range list {
				got = append(got, d.Summary+" | "+d.Help)
				if !slices.ContainsFunc(targets.Refusals, func(r *diag.Rule) bool { return r.ID == d.Rule }) || d.Severity != diag.Error || len(d.Labels) == 0 || d.Address == "" {
					t.Errorf("%+v", d)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckLabels(t *testing.T) {
	origin := func(p intent.Path) []diag.Label {
		switch p.Field {
		case "mtu":
			return []diag.Label{{Span: source.Span{File: 1, Start: 7, Len: 3}}, {Text: "value comes from", Span: source.Span{File: 2}}}
		case "watchdog":
			return []diag.Label{{Where: "1"}, {Where: "2"}, {Where: "3"}, {Where: "4"}}
		}
		return nil
	}
	d := device(func(d *intent.Device) { d.Ports[0].MTU.Value = 9300; d.QoS[0].Watchdog.Value.DetectMs = 200 })
	want := [][]diag.Label{
		{{Where: "1"}, {Where: "2"}, {Where: "3"}},                                    // at most three
		{{Span: source.Span{File: 1, Start: 7, Len: 3}}, {Where: "switch.tor.model"}}, // one for each of several paths, and never none
	}
	var got [][]diag.Label
	var addresses []string
	for _, x := range targets.Check(sonic(), d, origin) {
		got = append(got, x.Labels)
		addresses = append(addresses, x.Address)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`switch.tor.qos["roce"].watchdog`, `switch.tor.port["Ethernet0"].mtu`}, addresses); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

// What no configuration can hold is refused before any target sees it.
func TestCheckText(t *testing.T) {
	cases := map[string]func(*intent.Device){
		`name is "a\nb"`: func(d *intent.Device) { d.Name = "a\nb" },
		`is "a\u202eb"`:  func(d *intent.Device) { d.Ports[0].Name = "a\u202eb" },
		`fec is "rs; reboot", which is not a word`:   func(d *intent.Device) { d.Ports[0].FEC.Value = "rs; reboot" },
		`pci is "$(x)", which is not a PCI`:          func(d *intent.Device) { d.Ports[0].NIC = &intent.NIC{PCI: "$(x)"} },
		`mac is "b8:3f:d2:00:00:XX"`:                 func(d *intent.Device) { d.Ports[0].NIC = &intent.NIC{MAC: "b8:3f:d2:00:00:XX"} },
		`qos "a b" has a name with other characters`: func(d *intent.Device) { d.QoS[0].Name = "a b" },
		`members is "\xff"`:                          func(d *intent.Device) { d.LAGs = []intent.LAG{{Name: "p", Members: []string{"\xff"}}} },
		`mode is "-x", which is not a word`:          func(d *intent.Device) { d.LAGs = []intent.LAG{{Name: "p", Mode: "-x"}} },
		`gateway has the zone "eth0; x"`: func(d *intent.Device) {
			d.Ifaces = []intent.Iface{{Name: "i", Gateway: intent.Some(netip.MustParseAddr("fe80::1%eth0; x"))}}
		},
		"class.a\x00b is \"a\\x00b\"": func(d *intent.Device) { d.QoS[0].Marks = []intent.Mark{{Class: "a\x00b"}} },
	}
	for want, change := range cases {
		var got []string
		for _, x := range targets.Check(sonic(), device(change), nil) {
			got = append(got, x.Summary)
		}
		if all := strings.Join(got, "\n"); !strings.Contains(all, want) {
			t.Errorf("no refusal with %s in %q", want, got)
		}
	}
}

func TestRefusalsAreWhole(t *testing.T) {
	for _, r := range targets.Refusals {
		for name, text := range map[string]string{"title": r.Title, "why": r.Why, "fix": r.Fix, "source": r.Source, "bad": r.Bad, "good": r.Good} {
			if text == "" || strings.HasPrefix(text, "the example has no") {
				t.Errorf("%s: no %s: %s", r.ID, name, text)
			}
		}
		if r.Bad == r.Good || !r.Hard || r.Severity != diag.Error {
			t.Errorf("%s is not as hard as others", r.ID)
		}
	}
}

// TestRefusal: every field of an intent has a family of its own or none, and an object's own counts before its object.
func TestRefusal(t *testing.T) {
	for path, want := range map[intent.Path]string{
		{Object: intent.OfDevice, Field: "os"}:                     "ROCE734",
		{Object: intent.OfOption, Name: "qos_tool"}:                "ROCE735",
		{Object: intent.OfLAG, Name: "bond0", Field: "name"}:       "ROCE736",
		{Object: intent.OfPort, Name: "eth0", Field: "vfs.mode"}:   "ROCE737",
		{Object: intent.OfPort, Name: "eth0", Field: "fec"}:        "ROCE738",
		{Object: intent.OfVLAN, Name: "7", Field: "mtu"}:           "ROCE739",
		{Object: intent.OfLAG, Name: "bond0", Field: "native"}:     "ROCE739",
		{Object: intent.OfLAG, Name: "bond0", Field: "hash"}:       "ROCE740",
		{Object: intent.OfDevice, Field: "mlag.peer"}:              "ROCE740",
		{Object: intent.OfIface, Name: "eth0", Field: "address"}:   "ROCE741",
		{Object: intent.OfQoS, Name: "q", Field: "dscp_map"}:       "ROCE742",
		{Object: intent.OfQoS, Name: "q", Field: "ets"}:            "ROCE743",
		{Object: intent.OfPort, Name: "eth0", Field: "dcbx.owner"}: "ROCE744",
		{Object: intent.OfPort, Name: "eth0", Field: "headroom"}:   "ROCE745",
		{Object: intent.OfQoS, Name: "q", Field: "class.nvme"}:     "ROCE746",
		{Object: intent.OfDevice, Field: "hash.seed"}:              "ROCE747",
		{Object: intent.OfPort, Name: "eth0", Field: "qos"}:        "ROCE717",
	} {
		if got := targets.Refusal(path).ID; got != want {
			t.Errorf("%s %s is refused by %s, wanted %s", path.Object, path.Field, got, want)
		}
	}
}
