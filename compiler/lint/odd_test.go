package lint_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/packs"
)

// rack is four hosts with a bond on a pair of switches, and four with a VLAN device
// and virtual functions on each of two NICs.
const rack = `
qos "q" {
  trust = "pcp"
  class "rdma" {
    carries   = "rdma"
    priority  = 3
    dscp      = [26]
    bandwidth = 50
    ecn       = "auto"
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}
segment "s" {
  vlan   = 100
  subnet = "10.100.0.0/24"
  qos    = qos.q
  mtu      = 9000
}
switch "tor" {
  for_each = toset(["a", "b"])
  name     = "tor-${each.key}"
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  port "Ethernet[0-28:4]" {
    speed    = "100G"
    fec      = "rs"
    tagged = segment.s
  }
  port "Ethernet[120-124:4]" {
    speed = "100G"
  }
}
mlag "m" {
  switches  = [switch.tor["a"], switch.tor["b"]]
  peer_link = "Ethernet[120-124:4]"
  keepalive = { addresses = { "tor-a" = "192.0.2.1", "tor-b" = "192.0.2.2" } }
  cable     = { media = "dac", length = "1m" }
}
node "b" {
  for_each = { b1 = 1, b2 = 2, b3 = 3, b4 = 4 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
  }
  bond "bond0" {
    mode    = "lacp"
    members = "p[0-1]"
    segment = segment.s
  }
}
node "v" {
  for_each = { v1 = 5, v2 = 6, v3 = 7, v4 = 8 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "p0" {
    model   = "nvidia/connectx-6-dx"
    speed   = "100G"
    segment = segment.s
    vfs     = { count = 4, segment = segment.s }
  }
}
link "a" {
  for_each = { b1 = 0, b2 = 4, b3 = 8, b4 = 12 }
  ends     = [node.b[each.key].nic["p0"], switch.tor["a"].port["Ethernet${each.value}"]]
  cable    = { media = "dac", length = "1m" }
}
link "b" {
  for_each = { b1 = 0, b2 = 4, b3 = 8, b4 = 12 }
  ends     = [node.b[each.key].nic["p1"], switch.tor["b"].port["Ethernet${each.value}"]]
  cable    = { media = "dac", length = "1m" }
}
link "v" {
  for_each = { v1 = 16, v2 = 20, v3 = 24, v4 = 28 }
  ends     = [node.v[each.key].nic["p0"], switch.tor["a"].port["Ethernet${each.value}"]]
  cable    = { media = "dac", length = "1m" }
}
switch "old" {
  for_each = toset(["1", "2", "3", "4"])
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
}
`

// TestOddSeesEveryField changes every field of rows of each kind: what is found where
// rows are counted by what they are told is what is found where each is looked at by
// itself. So nothing that an intent says is missing from the count.
func TestOddSeesEveryField(t *testing.T) {
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"rack.roce.hcl": {Data: []byte(rack)}}, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatal(diags[0])
	}
	res := compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows})
	if res.Diags.HasErrors() {
		t.Fatal(res.Diags[0])
	}
	f := res.Fabric
	word := f.Names.Add("other")
	rules := []*lint.Rule{lint.Find("ROCE726")}
	look := func(run func() diag.List) (list []string, ok bool) {
		defer func() { ok = recover() == nil }() // a fabric that could not be is no matter
		return summaries(run()), true
	}
	if list, _ := look(func() diag.List { return lint.RunEvery(f, res.Facts, rules) }); len(list) > 0 {
		t.Fatal(list)
	}
	found := map[string]bool{}
	for _, table := range []string{"Devices", "Ports", "LAGs", "Ifaces", "NICs", "MLAGs"} {
		rows := reflect.ValueOf(f).Elem().FieldByName(table)
		for row := 1; row < rows.Len(); row += 1 + rows.Len()/11 {
			fields(rows.Index(row), func(name string, field reflect.Value) {
				was := reflect.New(field.Type()).Elem()
				was.Set(field)
				for _, x := range unlike(was, word, len(f.Profiles), len(f.VLANSets), len(f.Segments)) {
					field.Set(x)
					want, fine := look(func() diag.List { return lint.RunEvery(f, res.Facts, rules) })
					got, _ := look(func() diag.List { return lint.Run(f, res.Facts, "", rules) })
					field.Set(was)
					if !fine {
						continue
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s[%d].%s = %v: (-each by itself +counted)\n%s", table, row, name, x, diff)
					}
					if len(want) > 0 {
						found[table+"."+name] = true
					}
				}
			})
		}
	}
	t.Log(slices.Sorted(maps.Keys(found)))
	const atLeast = 30
	if len(found) < atLeast {
		t.Errorf("changes of %d fields were found, want %d at least", len(found), atLeast)
	}
}

// fields visits every plain field of a row, those of structs within it too.
func fields(v reflect.Value, visit func(name string, field reflect.Value)) {
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		if name == "NPorts" || name == "Name" {
			continue // what it is, and not how
		}
		switch field.Kind() {
		case reflect.Struct:
			if field.NumField() > 0 && field.Field(0).CanSet() {
				fields(field, func(inner string, x reflect.Value) { visit(name+"."+inner, x) })
			}
		case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			visit(name, field)
		}
	}
}

// unlike are other values of a field; IDs stay in their tables.
func unlike(v reflect.Value, word fabric.Str, profiles, sets, segments int) (list []reflect.Value) {
	add := func(x any) { list = append(list, reflect.ValueOf(x).Convert(v.Type())) }
	switch v.Interface().(type) {
	case fabric.Str:
		add(uint32(word))
		add(uint32(0))
	case fabric.PortFlags:
		for bit := range 19 {
			add(uint32(v.Uint() ^ 1<<bit))
		}
	case fabric.ProfileID:
		add(uint32((int(v.Uint()) + 1) % profiles))
		add(uint32(0))
	case fabric.VLANSetID:
		add(uint32((int(v.Uint()) + 1) % sets))
	case fabric.SegmentID:
		add(uint32((int(v.Uint()) + 1) % segments))
	case fabric.DeviceID, fabric.PortID, fabric.LinkID, fabric.LAGID, fabric.NICID, fabric.DeclID, fabric.LayersID, fabric.MLAGID, fabric.HeadroomID, fabric.ConnectionID, fabric.ModelID, fabric.NICModelID:
		// another place, not another setting
	default:
		switch {
		case v.Kind() == reflect.Bool:
			add(!v.Bool())
		case v.CanInt():
			add(v.Int() ^ 1)
		default:
			add(v.Uint() ^ 1)
			add(v.Uint() + 2)
			add(0)
		}
	}
	return list
}
