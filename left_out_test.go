package rocec_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/langtest"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/schema"
)

// leftOutSources are fabrics in which little is written, and what is can be left out.
func leftOutSources() []wordText {
	list := wordBases()
	for _, on := range [][4]string{
		{"sonic/202505", "nvidia/sn3700", "Ethernet", "ubuntu/24.04"},
		{"cumulus-linux/5.14", "nvidia/sn3700c", "swp", "windows-server/2025"},
	} {
		list = append(list, wordText{main: keepBase(on[0], on[1], on[2], on[3])})
	}
	return list
}

// withoutWord is a source with an attribute taken out of every block.
func withoutWord(text, attr string) string {
	words := langtest.Words(text)
	slices.Reverse(words)
	for _, w := range words {
		// What a contract says is no setting of the ports that have it.
		if parts := strings.Split(w.Key, "."); len(parts) == 2 && parts[1] == attr && parts[0] != "qos" && parts[0] != "class" {
			text = text[:w.Start] + text[w.End:]
		}
	}
	// Of what a defaults block takes the schema knows by its label.
	lines := strings.Split(text, "\n")
	inside := false
	for i, line := range lines {
		inside = strings.HasPrefix(line, "defaults ") || inside && line != "}"
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); inside && word == attr {
			lines[i] = ""
		}
	}
	return strings.Join(lines, "\n")
}

// toldSetting is a value that a device is told.
type toldSetting struct {
	device string
	path   intent.Path
	text   string
}

// toldBy are the settings of the devices of a source, by whether they are nodes.
func toldBy(text string) (of [2][]toldSetting) {
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}}, Packs: packs.Files()})
	if diags.HasErrors() {
		return of
	}
	res := compiler.Compile(cfg, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows})
	if res.Facts == nil {
		return of
	}
	for id := 1; id < len(res.Fabric.Devices); id++ {
		d := res.Intent(fabric.DeviceID(id))
		if d == nil {
			continue
		}
		side := 0
		if res.Fabric.Devices[id].Kind == fabric.Node {
			side = 1
		}
		for p, v := range d.Fields {
			if v.State == intent.Set && p.Field != "" {
				of[side] = append(of[side], toldSetting{d.Name, p, v.Text})
			}
		}
	}
	return of
}

// besides are fields that something else than the attribute sets, where it is left out.
var besides = map[string]string{
	"class.watchdog": "of the qos, which is left as it is here", "port.speed": "a port of a topology follows its NIC, and a child of a split its mode", "leaf.speed": "as the port", "spine.speed": "as the port", "core.speed": "as the port",
	"port.tagged": "the empty list of a bridged port", "lag.tagged": "as the port", "switch.mtu": "as the port", "leaf.mtu": "as the port", "spine.mtu": "as the port", "core.mtu": "as the port",
	"topology.mtu": "as the port", "nic.mtu": "the segment's", "node.mtu": "the segment's", "bond.mtu": "the segment's", "port.untagged": "the leaf's subnet, and interfaces",
	"switch.spare_ports": "admin of ports", "leaf.spare_ports": "admin of ports", "spine.spare_ports": "admin of ports", "core.spare_ports": "admin of ports",
	"port.deny": "no source has ports towards others", "nic.gateway": "no source has a gateway",
	"class.ecn": "others of the fabric", "qos.dcbx": "\"off\" of hosts", "nic.tagged": "", "bond.tagged": "", "nic.untagged": "the leaf's subnet, and interfaces", "bond.untagged": "",
}

// TestLeftOut: what the reference says of an attribute that is left out is so. Where it is left alone, no device is told a value that it
// stands behind; where it is computed, some device is; what it is inherited from speaks for it.
func TestLeftOut(t *testing.T) {
	sources := leftOutSources()
	known := map[string][2][]toldSetting{}
	settings := func(text string, k schema.Kind) []toldSetting {
		if _, ok := known[text]; !ok {
			known[text] = toldBy(text)
		}
		side := 0
		if k == schema.Node || k == schema.NIC || k == schema.Bond {
			side = 1
		}
		return known[text][side]
	}
	checked := map[schema.Omission]int{}
	for k := schema.None + 1; k < schema.KindCount; k++ {
		for i := range schema.Def(k).Attrs {
			a := &schema.Def(k).Attrs[i]
			key := k.String() + "." + a.Num.Name()
			out := schema.LeftOutOf(k, a)
			if out.What == schema.Unsaid {
				t.Errorf("%s: the reference does not say what happens where it is left out", key)
			}
			if ofPacks[k.String()] || k == schema.Interface || k == schema.Segment || k == schema.LAG {
				continue
			}
			if _, ok := besides[key]; ok || out.What != schema.LeftAlone && out.What != schema.Computed {
				continue
			}
			told, behind := 0, false
			for j := range sources {
				for _, x := range settings(withoutWord(sources[j].main, a.Num.Name()), k) {
					if !slices.Contains(lower.Attrs(x.path), a.Num) || x.path.Object == intent.OfIface && out.What == schema.LeftAlone {
						continue
					}
					told++
					if out.What == schema.LeftAlone {
						t.Errorf("%s: it is left alone, and %s is told %s %s: %s", key, x.device, x.path, x.text, sources[j].name)
					}
				}
				for _, x := range settings(sources[j].main, k) {
					behind = behind || slices.Contains(lower.Attrs(x.path), a.Num)
				}
			}
			if behind {
				checked[out.What]++
			}
			if behind && out.What == schema.Computed && told == 0 {
				t.Errorf("%s: it is computed, and no device is told a value", key)
			}
		}
	}
	if checked[schema.LeftAlone] < 3 || checked[schema.Computed] < 20 {
		t.Errorf("%v were checked", checked)
	}
}

// TestInherited: what stands around a port or NIC, and the reference says that it inherits an attribute from, speaks for it.
func TestInherited(t *testing.T) {
	checked := 0
	sources := leftOutSources()
	for _, k := range []schema.Kind{schema.Port, schema.NIC, schema.Switch, schema.Node} {
		for i := range schema.Def(k).Attrs {
			a := &schema.Def(k).Attrs[i]
			name := a.Num.Name()
			values := wordValues[name]
			for _, from := range schema.LeftOutOf(k, a).From {
				if strings.HasPrefix(from, "`") || from == "tier" || values == nil || k == schema.Port && a.Num == schema.AVRF { // that goes with an address
					continue
				}
				speaks, tried := false, false
				for j := range sources {
					text := withoutWord(sources[j].main, name)
					plain := outcomeText(text)
					if plain.failed {
						continue
					}
					for _, v := range values {
						outer := "\n" + from + " {\n  " + name + " = " + v + "\n}\n"
						with := text + outer
						if !strings.HasPrefix(from, "defaults") {
							blocks := langtest.Blocks(text, from, 1)
							if len(blocks) == 0 {
								continue
							}
							with = putIn(text, blocks[0], name, v)
						} else if strings.Contains(text, from+" {") {
							with = strings.Replace(text, from+" {", from+" {\n  "+name+" = "+v, 1)
						}
						got := outcomeText(with)
						tried = true
						speaks = speaks || got.differs(plain, true)
					}
					if speaks {
						break
					}
				}
				if tried && !speaks {
					t.Errorf("%s.%s is inherited from %s, and nothing comes of it there", k, name, from)
				}
				if speaks {
					checked++
				}
			}
		}
	}
	if checked < 60 {
		t.Errorf("%d were checked", checked)
	}
}

func outcomeText(text string) outcome {
	return outcomeOf(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}})
}
