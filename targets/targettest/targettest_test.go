package targettest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/feature"
)

// whole is a target that writes the intent itself, less what forget takes out.
func whole(forget func(*intent.Device)) *targets.Target {
	tg := &targets.Target{
		Name: "whole", OS: []string{"test"}, Kinds: []intent.Kind{intent.Switch, intent.Node},
		Options: []targets.Option{
			{Name: "style", Kind: targets.OptionEnum, Values: []string{"plain", "fancy"}, Default: "plain"},
			{Name: "wait", Kind: targets.OptionNumber, Default: "30"},
		},
	}
	for _, id := range feature.All {
		tg.Features.Rows = append(tg.Features.Rows, feature.Row{ID: id, Support: feature.Native})
	}
	tg.Emit = func(d *intent.Device, out *emit.Out) {
		c := *d
		if forget != nil {
			b, _ := json.Marshal(d)
			c = intent.Device{}
			_ = json.Unmarshal(b, &c)
			forget(&c)
		}
		f := out.File("intent.json", 0o644, emit.Data)
		for _, line := range out.Header(d) {
			f.Line("// %s", line)
		}
		c.OS.Version, c.Name = "", ""
		b, _ := json.MarshalIndent(&c, "", " ")
		f.Text(string(b))
	}
	return tg
}

func leaf() *intent.Device {
	d := &intent.Device{Version: 1, Name: "leaf1", Kind: intent.Switch, OS: intent.OS{Name: "test", Version: "1"}, Options: map[string]string{"style": "plain"}}
	for i, name := range []string{"Ethernet0", "Ethernet4", "Ethernet8"} {
		d.Ports = append(d.Ports, intent.Port{
			Name: name, QoS: "roce", MTU: intent.Some(uint16(9000)), FEC: intent.Some(intent.FECRS), Tagged: intent.Some([]uint16{10, 20}),
			Headroom: []intent.Headroom{{Group: 3, XoffBytes: 1000, Written: true}}, Verify: i == 2,
		})
	}
	d.LAGs = []intent.LAG{{Name: "PortChannel1", Members: []string{"Ethernet0"}, Mode: "lacp"}}
	d.VLANs = []intent.VLAN{{ID: 10}, {ID: 20, MTU: intent.Some(uint16(9000))}}
	d.Ifaces = []intent.Iface{{Name: "Vlan10", Kind: intent.SVI, VLAN: 10, Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")})}}
	d.QoS = []intent.QoS{{
		Name: "roce", Trust: intent.Some(intent.TrustDSCP), DSCP: intent.Some([64]uint8{26: 3}), TC: intent.Some([8]uint8{3: 3}),
		PFC:      intent.Some(intent.PrioritySet(8)),
		Sched:    intent.Some([8]intent.Sched{{Kind: intent.SchedETS, Percent: 50}, {}, {}, {Kind: intent.SchedETS, Percent: 50}}),
		Watchdog: intent.Some(intent.Watchdog{On: true, DetectMs: 200, Action: "drop"}), Pause: intent.Kept(true),
	}}
	return d
}

func host() *intent.Device {
	d := &intent.Device{Version: 1, Name: "gpu1", Kind: intent.Node, OS: intent.OS{Name: "test"}}
	d.Ports = []intent.Port{{Name: "eth0", QoS: "host", NIC: &intent.NIC{
		Model: "nvidia/connectx-6-dx", Driver: "mlx5", PCI: "0000:3b:00.0", RoCE: intent.Some("v2"),
		VFs: intent.Some(intent.VFs{Count: 2, VLAN: 10}), DCBX: intent.Some(intent.DCBX{Mode: "off"}), Facts: map[string]int64{"max_tc": 8},
	}}}
	d.QoS = []intent.QoS{{Name: "host", PCP: intent.Some([8]uint8{3: 3}), Marks: []intent.Mark{{Class: "rdma", Carries: "rdma", Priority: 3, DSCP: intent.Some(uint8(26)), UDPPort: 4791}}}}
	d.Ifaces = []intent.Iface{{Name: "eth0.10", Kind: intent.VLANDev, On: "eth0", VLAN: 10, QoS: "host", Gateway: intent.Some(netip.MustParseAddr("10.0.0.254"))}}
	d.VLANs = []intent.VLAN{{ID: 10}}
	return d
}

func TestEveryFieldIsContent(t *testing.T) {
	EveryField(t, whole(nil), leaf(), host())
}

// A target that forgets one field is found, and the field is named.
func TestDroppedFindsForgottenFields(t *testing.T) {
	cases := []struct {
		key    string
		base   *intent.Device
		forget func(*intent.Device)
	}{
		{"Port.MTU", leaf(), func(d *intent.Device) { d.Ports[0].MTU = intent.Opt[uint16]{} }},
		{"Port.Tagged", leaf(), func(d *intent.Device) {
			d.Ports[0].Tagged.Value = d.Ports[0].Tagged.Value[:min(1, len(d.Ports[0].Tagged.Value))]
		}},
		{"Port.QoS", leaf(), func(d *intent.Device) { d.Ports[0].QoS = "" }},
		{"Port.Headroom", leaf(), func(d *intent.Device) { d.Ports[0].Headroom = nil }},
		{"Port.Native", leaf(), func(d *intent.Device) { d.Ports[0].Native = intent.Opt[uint16]{} }},
		{"QoS.DSCP", leaf(), func(d *intent.Device) { d.QoS[0].DSCP.Value[40] = 0 }},
		{"QoS.ECN", leaf(), func(d *intent.Device) { d.QoS[0].ECN = intent.Opt[[8]intent.ECN]{} }},
		{"QoS.Pause", leaf(), func(d *intent.Device) { d.QoS[0].Pause = intent.Opt[bool]{} }},
		{"Watchdog.RestoreMs", leaf(), func(d *intent.Device) { d.QoS[0].Watchdog.Value.RestoreMs = 0 }},
		{"Sched.CapMbps", leaf(), func(d *intent.Device) { d.QoS[0].Sched.Value[3].CapMbps = 0 }},
		{"LAG.Rate", leaf(), func(d *intent.Device) { d.LAGs[0].Rate = "" }},
		{"LAG.Members", leaf(), func(d *intent.Device) { d.LAGs[0].Members = d.LAGs[0].Members[:min(1, len(d.LAGs[0].Members))] }},
		{"Iface.VRF", leaf(), func(d *intent.Device) { d.Ifaces[0].VRF = "" }},
		{"Iface.Addresses", leaf(), func(d *intent.Device) { d.Ifaces[0].Addresses = intent.Opt[[]netip.Prefix]{} }},
		{"VLAN.MTU", leaf(), func(d *intent.Device) { d.VLANs[1].MTU = intent.Some(uint16(9000)) }},
		{"Device.MLAG", leaf(), func(d *intent.Device) { d.MLAG = nil }},
		{"Buffer.AlphaExponent", leaf(), func(d *intent.Device) { d.Buffer.AlphaExponent = intent.Opt[int8]{} }},
		{"Device.Options", leaf(), func(d *intent.Device) { d.Options = nil }},
		{"Port.Verify", leaf(), func(d *intent.Device) { d.Ports[1].Verify = false }},
		{"Iface.Name", host(), func(d *intent.Device) { d.Ifaces[0].Name = "" }},
		{"NIC.MAC", host(), func(d *intent.Device) { d.Ports[0].NIC.MAC = "" }},
		{"VFs.Trust", host(), func(d *intent.Device) { d.Ports[0].NIC.VFs.Value.Trust = false }},
		{"DCBX.Owner", host(), func(d *intent.Device) { d.Ports[0].NIC.DCBX.Value.Owner = "" }},
		{"Mark.TCPPort", host(), func(d *intent.Device) { d.QoS[0].Marks[0].TCPPort = 0 }},
		{"Mark.DSCP", host(), func(d *intent.Device) { d.QoS[0].Marks[0].DSCP.Value = 0 }},
		{"QoS.Marks", host(), func(d *intent.Device) { d.QoS[0].Marks = d.QoS[0].Marks[:min(1, len(d.QoS[0].Marks))] }},
		{"Iface.QoS", host(), func(d *intent.Device) { d.Ifaces[0].QoS = "" }},
	}
	for _, c := range cases {
		t.Run(c.key, func(t *testing.T) {
			keys := map[string]bool{}
			for _, d := range Dropped(t, whole(func(d *intent.Device) {
				defer func() { recover() }() // the field may be gone in this change
				c.forget(d)
			}), c.base) {
				keys[d.Key] = true
			}
			if !keys[c.key] {
				t.Errorf("not found; found %v", keys)
			}
		})
	}
}

func TestDroppedReportsPanics(t *testing.T) {
	tg := whole(func(d *intent.Device) { _ = d.LAGs[0] })
	drops := Dropped(t, tg, leaf())
	if !slices.ContainsFunc(drops, func(d Drop) bool { return d.Key == "Device.LAGs" && strings.Contains(d.Panic, "index out of range") }) {
		t.Errorf("the panic without LAGs is not reported: %v", drops)
	}
}

func TestHoles(t *testing.T) {
	valid := func(files []emit.Artifact) error {
		_, body, _ := strings.Cut(string(files[0].Bytes), "\n{")
		if files[0].Bytes[0] != '{' && !json.Valid([]byte("{"+body)) || files[0].Bytes[0] == '{' && !json.Valid(files[0].Bytes) {
			return errors.New("not JSON")
		}
		return nil
	}
	EveryString(t, whole(nil), leaf(), valid)
	EveryString(t, whole(nil), host(), valid)

	raw := whole(nil)
	raw.Emit = func(d *intent.Device, out *emit.Out) {
		f := out.File("x.json", 0o644, emit.Data)
		f.Line(`{"port": "%s"}`, d.Ports[0].Name)
	}
	holes := Holes(t, raw, leaf(), valid)
	if !slices.ContainsFunc(holes, func(h string) bool {
		return strings.HasPrefix(h, `.Ports[Ethernet0].Name and where it is named = "\""`)
	}) {
		t.Errorf("an unquoted name is not found: %q", holes)
	}
	raw.Emit = func(d *intent.Device, out *emit.Out) { out.File(d.Ports[0].Name, 0o644, emit.Data).Line("{}") }
	holes = Holes(t, raw, leaf(), valid)
	if !slices.ContainsFunc(holes, func(h string) bool { return strings.Contains(h, "leaves its folder") }) {
		t.Errorf("a path out of the folder is not found: %q", holes)
	}
}

func TestHostileStringsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range HostileStrings() {
		if seen[s] {
			t.Errorf("%q is listed twice", s)
		}
		seen[s] = true
	}
}

func TestEmitString(t *testing.T) {
	tg := whole(nil)
	tg.Emit = func(d *intent.Device, out *emit.Out) {
		f := out.File("run.sh", 0o755, emit.Apply)
		f.Run("sh run.sh")
		f.Line("echo %s", d.Ports[0].Name)
		out.File("data", 0o600, emit.Data).Text("a\nb\n")
	}
	want := "run.sh 0755 apply: sh run.sh\ndata 0600 data\n-- run.sh --\necho Ethernet0\n-- data --\na\nb\n"
	if diff := cmp.Diff(want, EmitString(tg, leaf())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d := leaf()
	d.OS.Name = "tset"
	if got := EmitString(tg, d); got != "error: target whole does not serve os \"tset\" of switch \"leaf1\" (did you mean \"test\"?)\n" {
		t.Errorf("refusal is %q", got)
	}
}

func TestGoldenCompares(t *testing.T) {
	defer func(asked bool) { *update = asked }(*update)
	path := t.TempDir() + "/x"
	*update = true
	Golden(t, path, "a\r\n")
	*update = false
	Golden(t, path, "a\r\n")
	var r recorder
	Golden(&r, path, "a\n")
	if !r.failed {
		t.Error("another line end passes")
	}
}

type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(string, ...any)     { r.failed = true }
func (r *recorder) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// What a target can write, a comparison of intents must be able to see.
func TestDiffSeesEveryField(t *testing.T) {
	unseen := map[string]string{
		"Device.Kind": "no setting", "Device.Name": "no setting", "OS.Name": "no setting", "Device.Options": "of the target block",
		"NIC.Model": "compared by inventory", "NIC.Driver": "compared by inventory", "NIC.PCI": "how it is found", "NIC.MAC": "how it is found",
		"NIC.IWARP": "of the model", "NIC.RDMAMTU": "derived", "NIC.Adapter": "grouping", "QoS.Lossless": "derived",
		"Iface.Kind": "stands in the name", "Port.Verify": "who writes", "Device.Verify": "who writes",
		"Mark.Carries": "meaning, shown by the fields that follow from it", "Mark.Application": "who marks", "Mark.ECT": "meaning", "Mark.Transport": "meaning", "Mark.Default": "meaning",
		"Headroom.Group": "without a size",
	}
	for _, base := range []*intent.Device{leaf(), host()} {
		base = Clone(t, base)
		for _, c := range changes(base, nil) {
			d := copied(base)
			c.apply(d)
			if _, ok := unseen[c.key]; ok {
				continue
			}
			if len(intent.Diff(d, base))+len(intent.Diff(base, d))+len(intent.Unseen(d, base))+len(intent.Unseen(base, d))+len(intent.Gone(d, base)) == 0 {
				t.Errorf("%s (%s): %s -> %s is not seen", c.path, c.key, c.before, c.after)
			}
		}
	}
}
