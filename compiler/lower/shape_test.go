package lower

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/lang/source"
)

// samples are all fabrics of the tests.
func samples() map[string]*draft {
	a, _, _ := s2d()
	b, _, _ := nvmeof()
	c, _, _ := mlag()
	for _, d := range []*draft{a, b, c} { // words that strings are changed to, and a split
		d.s("other")
		d.s("another.name")
	}
	p := b.port(2, "rail0")
	b.Breakouts = append(b.Breakouts, fabric.Breakout{
		Device: 2, Parent: b.s("cage"), Count: 2, Mbps: 20_000, Mode: b.s("2x20G"), Children: []fabric.PortID{p, p + 1},
		Parts: []fabric.BreakoutPart{{Lanes: b.s("1,2"), Alias: b.s("etp1a"), Index: 1}, {Lanes: b.s("3,4"), Alias: b.s("etp1b"), Index: 1}},
	})
	b.Ports[p].Split, b.Ports[p+1].Split = 1, 1
	b.Devices[1].Hash = fabric.Hash{Function: b.s("CRC"), Seed: 7, SeedSet: true}
	for i := range b.Ifaces[1:] {
		b.Ifaces[i+1].VRF = b.s("Vrf-blue")
	}
	write(b, b.Ifaces[1].Decl, schema.AVRF)
	write(c, c.LAGs[1].Decl, schema.AMTU)
	c.Ports[c.LAGs[1].Members[0]].Flags = 0
	return map[string]*draft{"s2d": a, "nvmeof": b, "mlag": c}
}

// write makes a declaration say an attribute, after all others.
func write(d *draft, by fabric.DeclID, n schema.Attr) {
	d.Spans.Add(by, n, source.Span{})
}

// skeleton is the text of an intent without what the shape leaves out.
func skeleton(t *testing.T, d *intent.Device) string {
	t.Helper()
	if d == nil {
		return "none"
	}
	text, err := json.Marshal(Skeleton(d))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tables are the rows whose fields are changed one by one. What a declaration or
// a layer of them writes, and what is interned, stands for itself.
var tables = []string{"Devices", "Ports", "Links", "LAGs", "Ifaces", "NICs", "Segments", "MLAGs", "Breakouts", "Decls"}

// leaves lists what is inside a value, each as a way to it.
func leaves(t reflect.Type, way []int, visit func([]int)) {
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[netip.Addr]() || t == reflect.TypeFor[netip.Prefix]() {
		visit(slices.Clone(way))
		return
	}
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			leaves(t.Field(i).Type, append(way, i), visit)
		}
	}
}

// others are values unlike the one that a field has, in the range of IDs of f.
func others(f *fabric.Fabric, v reflect.Value) (list []reflect.Value) {
	add := func(x any) { list = append(list, reflect.ValueOf(x).Convert(v.Type())) }
	rows := map[reflect.Type]int{
		reflect.TypeFor[fabric.SegmentID](): len(f.Segments), reflect.TypeFor[fabric.VLANSetID](): len(f.VLANSets), reflect.TypeFor[fabric.ProfileID](): len(f.Profiles),
		reflect.TypeFor[fabric.ModelID](): len(f.Models), reflect.TypeFor[fabric.NICModelID](): len(f.NICModels),
	}
	switch v.Kind() {
	case reflect.Bool:
		add(!v.Bool())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		add(v.Int() ^ 1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Type() == reflect.TypeFor[fabric.Str]() {
			add(uint64(f.Names.Find("other")))
			add(uint64(0))
			return list
		}
		if v.Type() == reflect.TypeFor[fabric.PortFlags]() {
			for bit := range 18 {
				add(v.Uint() ^ 1<<bit)
			}
			return list
		}
		if n, isID := rows[v.Type()]; isID {
			for id := range n {
				add(uint64(id))
			}
			return list
		}
		add(v.Uint() ^ 1)
		add(v.Uint() + 2)
		add(uint64(0))
	case reflect.Slice:
		if n := v.Len(); n > 0 {
			list = append(list, v.Slice(0, n-1))
		}
	}
	return list
}

// TestShapeSeesEveryField changes every field of every row: where the intent of
// a device then says anything else, its shape is another one too, or its values.
func TestShapeSeesEveryField(t *testing.T) {
	seen, valued := map[string]bool{}, map[string]int{}
	for name, d := range samples() {
		facts := facts(t, d)
		before := looks(t, d.Fabric, facts)
		all := map[string]reflect.Value{"facts": reflect.ValueOf(facts.Of)}
		for _, table := range tables {
			all[table] = reflect.ValueOf(d.Fabric).Elem().FieldByName(table)
		}
		if len(d.Breakouts) > 0 {
			all["parts"] = reflect.ValueOf(d.Breakouts[0].Parts)
		}
		for table, rows := range all {
			for i := range rows.Len() {
				if i == 0 && table != "Breakouts" && table != "parts" {
					continue
				}
				row := rows.Index(i)
				leaves(row.Type(), nil, func(way []int) {
					field := row
					if len(way) > 0 {
						field = row.FieldByIndex(way)
					}
					was := reflect.New(field.Type()).Elem()
					was.Set(field)
					for _, x := range others(d.Fabric, was) {
						field.Set(x)
						after := looks(t, d.Fabric, facts)
						field.Set(was)
						for id := range before {
							b, a := before[id], after[id]
							if b.ok && a.ok && !a.broken && b.digest != a.digest && b.skeleton == a.skeleton {
								valued[table]++
								if b.values == a.values {
									t.Errorf("%s: %s[%d].%v = %v changes the intent of %s and neither skeleton nor values", name, table, i, way, x, d.Text(d.Devices[id].Name))
								}
							}
							if b.skeleton == a.skeleton || a.broken {
								continue
							}
							where := table
							if len(way) > 0 {
								where += "." + row.Type().FieldByIndex(way).Name
							}
							seen[where] = true
							if b.ok && a.ok && b.shape == a.shape {
								t.Errorf("%s: %s[%d].%v = %v changes the intent of %s and not its shape", name, table, i, where, x, d.Text(d.Devices[id].Name))
							}
						}
					}
				})
			}
		}
	}
	const atLeast = 70
	t.Log(slices.Sorted(maps.Keys(seen)))
	if valued["Devices"] == 0 { // names; TestValues has addresses
		t.Error("no name showed in values")
	}
	if len(seen) < atLeast {
		t.Errorf("only %d fields showed in an intent, want %d at least", len(seen), atLeast)
	}
}

type look struct {
	skeleton, shape string
	digest, values  string // of the intent; what it adds to the skeleton
	ok, broken      bool   // broken: no fabric could be so
}

func looks(t *testing.T, f *fabric.Fabric, facts *derive.Facts) []look {
	list := make([]look, len(f.Devices))
	for id := 1; id < len(f.Devices); id++ {
		func() {
			defer func() { list[id].broken = list[id].broken || recover() != nil }()
			whole := Device(f, facts, fabric.DeviceID(id))
			list[id].skeleton = skeleton(t, whole)
			if whole != nil {
				list[id].digest, list[id].values = intent.Digest(whole), string(Values(f, facts, fabric.DeviceID(id), nil))
			}
			text, ok := Shape(f, facts, fabric.DeviceID(id), nil)
			list[id].shape, list[id].ok = string(text), ok
		}()
	}
	return list
}

// TestShapeFolds: names and addresses alone make no other shape, unless they
// begin to relate otherwise or are of another form.
func TestShapeFolds(t *testing.T) {
	d, node, _ := nvmeof()
	direct := &d.Ifaces[2]
	if direct.Kind != fabric.DirectIface {
		t.Fatal("the interface is another one")
	}
	direct.Gateway = d.prefixes("10.0.200.1/32")
	facts := facts(t, d)
	shape := func() string {
		s, ok := Shape(d.Fabric, facts, node, nil)
		if !ok {
			return ""
		}
		return string(s)
	}
	first := shape()
	if first == "" {
		t.Fatal("an ordinary host has no shape")
	}
	nic := &d.NICs[d.Ports[d.port(node, "rail1")].NIC]
	for what, c := range map[string]struct {
		change func()
		want   string // "same", "other", "none"
	}{
		"name":          {func() { d.Devices[node].Name = d.s("nvme2") }, "same"},
		"other letters": {func() { d.Devices[node].Name = d.s("nvme\u202e2") }, "none"},
		"long name":     {func() { d.Devices[node].Name = d.s(fmt.Sprintf("%065d", 1)) }, "none"},
		"slot":          {func() { d.Devices[node].Slot = 7 }, "same"},
		"address": {func() {
			direct.Addresses, direct.Gateway = d.prefixes("10.9.200.77/24"), d.prefixes("10.9.200.1/32")
		}, "same"},
		"gateway outside": {func() { direct.Gateway = d.prefixes("10.0.201.1/32") }, "other"},
		"gateway itself":  {func() { direct.Gateway = d.prefixes("10.0.200.11/32") }, "other"},
		"length":          {func() { direct.Addresses = d.prefixes("10.0.200.11/25") }, "other"},
		"overlap":         {func() { direct.Addresses = d.prefixes("10.0.100.12/24") }, "other"},
		"IPv6":            {func() { direct.Addresses = d.prefixes("2001:db8::11/24") }, "other"},
		"loopback":        {func() { direct.Addresses = d.prefixes("127.0.0.1/24") }, "none"},
		"MAC":             {func() { nic.MAC = d.s("02:00:00:00:00:7f") }, "same"},
		"one MAC twice":   {func() { nic.MAC = d.s("02:00:00:00:00:00") }, "none"},
		"MAC of a group":  {func() { nic.MAC = d.s("03:00:00:00:00:7f") }, "none"},
		"no MAC":          {func() { nic.MAC = 0 }, "other"},
		"bad MAC":         {func() { nic.MAC = d.s("02-00-00-00-00-7f") }, "none"},
		"PCI":             {func() { nic.PCI = d.s("0000:3b:00.0") }, "other"},
		"as declared":     {func() { d.Devices[node].Manage = fabric.HandsOff }, "none"},
	} {
		device, was, adapter := d.Devices[node], *direct, *nic
		c.change()
		got := "other"
		switch shape() {
		case "":
			got = "none"
		case first:
			got = "same"
		}
		if got != c.want {
			t.Errorf("%s: the shape is %s, want %s", what, got, c.want)
		}
		d.Devices[node], *direct, *nic = device, was, adapter
	}
}

// TestRelations: two lists of addresses read alike if and only if all that can
// be asked of two of them is answered alike.
func TestRelations(t *testing.T) {
	addr := func(t *rapid.T) netip.Addr {
		return netip.AddrFrom4([4]byte{10, 0, 0, byte(rapid.IntRange(0, 15).Draw(t, "host"))})
	}
	draw := func(t *rapid.T, prefixes, singles int) *relations {
		r := &relations{}
		for range prefixes {
			r.prefixes = append(r.prefixes, netip.PrefixFrom(addr(t), rapid.SampledFrom([]int{28, 30, 31}).Draw(t, "bits")))
		}
		for range singles {
			r.singles = append(r.singles, addr(t))
		}
		return r
	}
	answers := func(r *relations) (list []any) {
		for _, a := range r.prefixes {
			list = append(list, a.Bits())
			for _, b := range r.prefixes {
				list = append(list, a.Overlaps(b), a.Contains(b.Addr()), a.Addr() == b.Addr())
			}
			for _, s := range r.singles {
				list = append(list, a.Contains(s), a.Addr() == s)
			}
		}
		for _, a := range r.singles {
			for _, b := range r.singles {
				list = append(list, a == b)
			}
		}
		return list
	}
	both := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(0, 3).Draw(t, "prefixes"), rapid.IntRange(0, 2).Draw(t, "singles")
		a, b := draw(t, n, m), draw(t, n, m)
		same := string(a.append(nil)) == string(b.append(nil))
		if want := reflect.DeepEqual(answers(a), answers(b)); same != want {
			t.Fatalf("%v %v and %v %v read alike: %v, are alike: %v", a.prefixes, a.singles, b.prefixes, b.singles, same, want)
		}
		both[same]++
	})
	if both[true] == 0 || both[false] == 0 {
		t.Errorf("the lists were alike and unlike %v times", both)
	}
}
