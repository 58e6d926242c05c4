package plan_test

import (
	"fmt"
	"maps"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets"
)

// fake is a target whose ports flap when PFC changes, as mlx5 does.
var fake = &targets.Target{
	Name: "fake",
	Impact: func(_ *intent.Device, c targets.Change) targets.Impact {
		switch {
		case c.Path.Object == intent.OfQoS && c.Path.Field == "pfc":
			return targets.Impact{Interrupts: true, Note: "link flap, about 2 s per port (fake 1.0)"}
		case c.Path.Object == intent.OfPort && c.Path.Field == "speed":
			return targets.Impact{Interrupts: true, Note: "the link of " + c.Path.Name + " goes down and comes up"}
		case c.Path.Object == intent.OfPort && c.Path.Field == "mtu":
			return targets.Impact{Note: "taken while traffic runs"}
		case c.Path.Object == intent.OfLAG:
			return targets.Impact{Interrupts: true, Note: "LACP negotiates anew"}
		}
		return targets.Impact{}
	},
}

// leaf is a switch of n ports with one QoS and two VLANs.
func leaf(name string, n int, change func(*intent.Device)) *intent.Device {
	d := &intent.Device{
		Version: intent.Version, Name: name, Kind: intent.Switch, OS: intent.OS{Name: "fakeos", Version: "1.0"}, Model: "fake/m1",
		VLANs: []intent.VLAN{{ID: 10}, {ID: 20, MTU: intent.Some(uint16(9000))}},
		QoS: []intent.QoS{{
			Name: "roce", Trust: intent.Some(intent.TrustDSCP), PFC: intent.Some(intent.PrioritySet(0).With(3)), Pause: intent.Some(false),
		}},
	}
	for i := range n {
		d.Ports = append(d.Ports, intent.Port{
			Name: fmt.Sprintf("swp%d", i+1), Mbps: intent.Some(uint32(100000)), MTU: intent.Some(uint16(9000)), QoS: "roce", CableMm: intent.Some(uint32(3000)),
			Headroom: []intent.Headroom{{Group: 3, XoffBytes: 80 << 10}},
		})
	}
	if change != nil {
		change(d)
	}
	return d
}

func entryOf(d *intent.Device, address string, s record.Status) *record.Entry {
	return &record.Entry{
		FormatVersion: record.FormatVersion, Workspace: "default", Device: d.Name, Address: address, Emitter: fake.Name, Status: s,
		IntentDigest: intent.Digest(d), SourcesDigest: record.Digest(nil), Artifacts: map[string]string{"apply.sh": record.Digest([]byte("1"))}, Intent: d,
	}
}

// oldLeaf is what leaf was before: PFC on two priorities, less headroom.
func oldLeaf(d *intent.Device) {
	d.QoS[0].PFC.Value = d.QoS[0].PFC.Value.With(4)
	for i := range d.Ports {
		d.Ports[i].Headroom[0].XoffBytes = 72 << 10
	}
}

// pod is the sample of the command line reference: eight leaves of 32 ports
// that change alike, and a switch that goes.
func pod() []plan.Device {
	var list []plan.Device
	for i := range 8 {
		name := fmt.Sprintf("pod1-leaf%d", i)
		address := fmt.Sprintf("topology.pod1.leaf[%d]", i)
		list = append(list, plan.Device{
			Address: address, Target: fake, Want: leaf(name, 32, nil), Recorded: entryOf(leaf(name, 32, oldLeaf), address, record.Applied), Origin: origin,
		})
	}
	return append(list, plan.Device{Address: "switch.old", Recorded: entryOf(leaf("old", 4, nil), "switch.old", record.Applied)})
}

const sourceText = "switch \"tor\" {\n  qos = 1\n  headroom = 2\n}\n"

func view() *source.View {
	files := source.NewFiles()
	files.Add("pod1.roce.hcl", []byte(sourceText))
	return &source.View{Files: files, Read: func(string) ([]byte, error) { return []byte(sourceText), nil }}
}

func origin(p intent.Path) []diag.Label {
	i := strings.Index(sourceText, p.Word()+" =")
	if i < 0 {
		return nil
	}
	return []diag.Label{{Span: source.Span{File: 1, Start: uint32(i), Len: uint32(len(p.Word()))}}}
}

// mixed has one device of every fate.
func mixed() []plan.Device {
	rec := func(address string, d *intent.Device, s record.Status) *record.Entry { return entryOf(d, address, s) }
	captured := leaf("captured", 4, func(d *intent.Device) {
		d.Ports[1].MTU.Value = 1500                                // to be changed
		d.Ports[2].CableMm, d.Ports[3].CableMm = none(), none()    // not shown
		d.Ports[3].Mbps.Value = 40000                              // of a port that is compared only
		d.QoS[0].Pause = intent.Opt[bool]{State: intent.Unmanaged} // not shown
	})
	another := entryOf(leaf("replaced", 2, nil), "switch.replaced", record.Applied)
	another.Emitter = "other"
	files := entryOf(leaf("files", 2, nil), "switch.files", record.Applied)
	moved := maps.Clone(files.Artifacts)
	moved["apply.sh"] = record.Digest([]byte("2"))
	moved["verify.sh"] = record.Digest([]byte("3"))
	return []plan.Device{
		{Address: "switch.new", Target: fake, Selected: `target "fake", pod1.roce.hcl:9`, Want: leaf("new", 4, func(d *intent.Device) {
			d.LAGs = []intent.LAG{{Name: "bond1", Members: []string{"swp1", "swp2"}, Mode: "lacp"}}
		})},
		{Address: "switch.replaced", Target: fake, Want: leaf("replaced", 2, nil), Recorded: another},
		{Address: "switch.files", Target: fake, Want: leaf("files", 2, nil), Recorded: files, Artifacts: moved},
		{Address: "switch.waiting1", Target: fake, Want: leaf("waiting1", 1, nil), Recorded: rec("switch.waiting1", leaf("waiting1", 1, nil), record.HandedOver)},
		{Address: "switch.waiting2", Target: fake, Want: leaf("waiting2", 1, nil), Recorded: rec("switch.waiting2", leaf("waiting2", 1, nil), record.HandedOver)},
		{Address: "switch.same", Target: fake, Want: leaf("same", 1, nil), Recorded: rec("switch.same", leaf("same", 1, nil), record.Applied)},
		{
			Address: "switch.captured", Target: fake, Have: captured,
			Want:     leaf("captured", 4, func(d *intent.Device) { d.Ports[3].Verify = true; d.Ports[2].CableMm.Value = 5000 }),
			Recorded: rec("switch.captured", leaf("captured", 4, nil), record.Applied),
		},
		{
			Address: "switch.edited", Target: fake,
			Want: leaf("edited", 4, func(d *intent.Device) {
				d.VLANs = append(d.VLANs, intent.VLAN{ID: 30, MTU: intent.Some(uint16(9000))})
				d.LAGs = []intent.LAG{{Name: "bond1", Members: []string{"swp1", "swp2"}, Mode: "lacp"}}
				d.Ports[0].Mbps, d.Ports[1].Mbps = intent.Some(uint32(25000)), intent.Some(uint32(25000))
				d.Ports[2].MTU = intent.Opt[uint16]{}
				d.Ports[2].FEC = intent.Some(intent.FECRS)
				d.Ports[3].MTU = intent.Opt[uint16]{State: intent.Default}
				d.Buffer.AlphaExponent = intent.Some(int8(-1))
				d.Options = map[string]string{"model": "dynamic"}
				d.OS.Version = "1.1"
			}),
			Recorded: rec("switch.edited", leaf("edited", 5, func(d *intent.Device) {
				d.LAGs = []intent.LAG{{Name: "bond9", Members: []string{"swp3"}, Mode: "lacp"}}
			}), record.Applied),
		},
	}
}

func none() intent.Opt[uint32] { return intent.Opt[uint32]{} }

// compare compares devices one by one.
func compare(devices []plan.Device, o plan.Options) []*plan.Part {
	var parts []*plan.Part
	for i := range devices {
		parts = append(parts, plan.Compare(&devices[i], o))
	}
	return parts
}

// compute is the plan of devices.
func compute(devices []plan.Device, o plan.Options) *plan.Plan {
	return plan.Join(compare(devices, o), o)
}
