package rocec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/langtest"
	"github.com/rocec/rocec/lang/schema"
)

// placesText is a fabric with a mark in one block of each kind, which has one member, or
// two that an exception can name together.
const placesText = `
qos "roce" {
  trust = "dscp"
  #qos
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
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
  qos    = qos.roce
  #segment
}
switch "tor" {
  for_each = toset(["a", "b"])
  name     = "tor-${each.key}"
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  #switch
  port "Ethernet[0-4:4]" {
    speed  = "100G"
    tagged = [segment.s]
    #port
    #except_port
  }
  lag "PortChannel1" {
    members = "Ethernet[8-12:4]"
    #lag
  }
  interface "Vlan100" {
    on      = segment.s
    address = "10.100.0.${each.key == "a" ? 1 : 2}/24"
    #interface
  }
  #except_switch
}
mlag "m" {
  switches  = switch.tor
  peer_link = "Ethernet[120-124:4]"
  keepalive = { addresses = { "tor-a" = "192.0.2.11", "tor-b" = "192.0.2.12" } }
  #mlag
}
node "n" {
  for_each = { h1 = 1, h2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  #node
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    #nic
    adapter = "card"
    #except_nic
  }
  bond "bond0" {
    mode    = "lacp"
    members = "p[0-1]"
    tagged  = [segment.s]
    #bond
  }
  interface "bond0.100" {
    on      = "bond0"
    segment = segment.s
  }
  #except_node
}
link "l" {
  for_each = { for i, n in ["h1", "h2"] : n => i }
  ends     = [node.n[each.key].nic["p0"], switch.tor["a"].port["Ethernet${4 * each.value}"]]
  cable    = { media = "dac", length = "3m" }
  #link
}
link "k" {
  for_each = { for i, n in ["h1", "h2"] : n => i }
  ends     = [node.n[each.key].nic["p1"], switch.tor["b"].port["Ethernet${4 * each.value}"]]
  cable    = { media = "dac", length = "3m" }
}
topology "leaf_spine" "t" {
  nodes = node.g
  qos   = qos.roce
  leaf {
    count      = 2
    model      = "nvidia/sn3700"
    os         = "sonic/202505"
    node_ports = "Ethernet[0-4:4]"
    up_ports   = "Ethernet[8-12:4]"
    #leaf
    #except_leaf
  }
  spine {
    count      = 2
    down_ports = "Ethernet[0-4:4]"
    #spine
    #except_spine
  }
}
node "g" {
  for_each = { g1 = 1, g2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
  }
}
` + wordMore

// placesOf are the other places of what a block says, by kind: the same for the same
// things, so that what comes of it is the same.
var placesOf = map[schema.Kind]map[string]string{
	schema.Switch: {"except": exceptIn("switch", "tor-[a-b]", ""), "override": "switch.tor", "defaults": "defaults"},
	schema.Port: {
		"except": exceptIn("port", "Ethernet[0-4:4]", ""), "inner except": exceptIn("switch", "tor-[a-b]", `port "Ethernet[0-4:4]"`),
		"override": `["switch.tor[*].port[Ethernet0]", "switch.tor[*].port[Ethernet4]"]`,
	},
	schema.LAG:       {"inner except": exceptIn("switch", "tor-[a-b]", `lag "PortChannel1"`), "override": `"switch.tor[*].lag[*]"`},
	schema.Interface: {"inner except": exceptIn("switch", "tor-[a-b]", `interface "Vlan100"`), "override": `"switch.tor[*].interface[*]"`},
	schema.Node:      {"except": exceptIn("node", "h[1-2]", ""), "override": "node.n"},
	schema.NIC: {
		"except": exceptIn("nic", "p[0-1]", ""), "inner except": exceptIn("node", "h[1-2]", `nic "p[0-1]"`), "override": `"node.n[*].nic[*]"`,
	},
	schema.Bond:    {"inner except": exceptIn("node", "h[1-2]", `bond "bond0"`), "override": `"node.n[*].bond[*]"`},
	schema.Link:    {"override": "link.l"},
	schema.MLAG:    {"override": "mlag.m"},
	schema.Segment: {"override": "segment.s"},
	schema.QoS:     {"override": "qos.roce"},
	schema.Leaf:    {"except": exceptIn("leaf", "t-leaf[0-1]", ""), "override": "topology.t.leaf"},
	schema.Spine:   {"except": exceptIn("spine", "t-spine[0-1]", ""), "override": "topology.t.spine"},
}

// exceptIn is an exception at the mark of a kind, with an inner block or without, and @ for
// what it says.
func exceptIn(kind, label, inner string) string {
	says := "@"
	if inner != "" {
		says = inner + " {\n @\n}"
	}
	return fmt.Sprintf("except_%s: except %q {\n reason = \"r\"\n %s\n}", kind, label, says)
}

// inPlace is the fabric with words at a mark.
func inPlace(mark, words string) string {
	text := strings.Replace(placesText, "#"+mark+"\n", words+"\n", 1)
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// notThere are the words that another place may not set, and why.
var notThere = map[string]string{
	"enabled": "what is there is settled before", "name": "addresses are made of names", "from": "a qos starts from what its block says",
	"count": "how many there are is settled before", "switches": "which there are is settled before",
}

// TestEveryWordActsInEveryPlace writes each attribute that acts in its block in the other
// places that take it, for the same members: an exception of the block, one of the device
// around, an override. What comes of it is the same, or it is refused; nothing is dropped.
// Blocks in another order, in other files, change nothing.
func TestEveryWordActsInEveryPlace(t *testing.T) {
	base := outcomeOf(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(inPlace("", ""))}})
	if base.failed {
		t.Fatal(base.text[len(base.told):])
	}
	type try struct {
		kind schema.Kind
		name string
	}
	queue := make(chan try)
	var work sync.WaitGroup
	var mu sync.Mutex
	acted := 0
	for range 2 {
		work.Go(func() {
			for x := range queue {
				values := wordValues[x.kind.String()+"."+x.name]
				if values == nil {
					values = wordValues[x.name]
				}
				for _, v := range values {
					words := x.name + " = " + v
					own := outcomeOf(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(inPlace(x.kind.String(), words))}})
					if !own.differs(base, true) || strings.Contains(own.text, "is written twice") {
						continue
					}
					mu.Lock()
					acted++
					mu.Unlock()
					for place, how := range placesOf[x.kind] {
						text := ""
						switch {
						case place == "override":
							text = inPlace("", "") + overrideOn(how, words)
						case place == "defaults":
							text = inPlace("", "") + fmt.Sprintf("defaults %q {\n %s\n}\n", x.kind, words)
						default:
							mark, form, _ := strings.Cut(how, ": ")
							text = inPlace(mark, strings.Replace(form, "@", words, 1))
						}
						got := outcomeOf(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}})
						for _, bad := range []string{"matches nothing", "matches no member", "to be excepted"} {
							if strings.Contains(got.text, bad) && notThere[x.name] == "" {
								t.Errorf("%s of %s by %s: %s", words, x.kind, place, got.text[len(got.told):])
							}
						}
						switch {
						case notThere[x.name] != "" && got.failed:
						case own.failed && !got.failed && place != "override": // which counts above what its block cannot say
							t.Errorf("%s of %s: refused in its block, and not by %s", words, x.kind, place)
						case !got.differs(base, true):
							t.Errorf("%s of %s by %s: nothing comes of it", words, x.kind, place)
						case !own.failed && !got.failed && place != "defaults" && own.told != got.told:
							t.Errorf("%s of %s by %s: devices are told something else than by its block", words, x.kind, place)
						}
						if got.failed {
							continue
						}
						if other := outcomeOf(shuffledFiles(t, text)); other.told != got.told {
							t.Errorf("%s of %s by %s: the order of files and blocks changes what comes of it", words, x.kind, place)
						}
					}
					break
				}
			}
		})
	}
	for kind := range schema.KindCount {
		if placesOf[kind] == nil {
			continue
		}
		for i := range schema.Def(kind).Attrs {
			queue <- try{kind, schema.Def(kind).Attrs[i].Num.Name()}
		}
	}
	close(queue)
	work.Wait()
	if acted < 100 {
		t.Errorf("only %d words act in their blocks", acted)
	}
}

// shuffledFiles is a source in files of one block each, named the other way around.
func shuffledFiles(t *testing.T, text string) fstest.MapFS {
	t.Helper()
	parts, err := langtest.Shuffle([]byte(text), "fabric.roce.hcl", rand.New(rand.NewPCG(1, 2)).Perm)
	if err != nil {
		t.Error(err)
	}
	slices.Reverse(parts)
	files := fstest.MapFS{}
	for i, p := range parts {
		files[fmt.Sprintf("%03d.roce.hcl", i)] = &fstest.MapFile{Data: p}
	}
	return files
}

// insideOf are the kinds of blocks that what a kind writes is around.
var insideOf = map[schema.Kind][]schema.Kind{
	schema.Switch: {schema.Port, schema.LAG}, schema.Node: {schema.NIC, schema.Bond}, schema.Segment: {schema.Port, schema.NIC, schema.Bond},
	schema.Bond: {schema.NIC}, schema.Link: {schema.Port, schema.NIC},
}

// secondValues are other values than those of wordValues, where these are one.
var secondValues = map[string]string{
	"qos": "qos.roce", "pfc": "[3]", "pause": "false", "dscp_map": "{ 26 = 2 }", "pcp_map": "{ 3 = 2 }", "queue_map": "{ 3 = 2 }", "group_map": "{ 3 = 2 }",
	"pfc_queue_map": "{ 3 = 2 }", "headroom": "30000", "ets": "{ 0 = 40, 3 = 60 }", "tos": "8",
}

// TestOverridesReachInside sets, by an override, each attribute that a block shares with
// what is inside of it, where that writes another value: it is as if that were not written.
func TestOverridesReachInside(t *testing.T) {
	tried := 0
	for around, inner := range insideOf {
		on := placesOf[around]["override"]
		if around == schema.Link {
			on = `["link.l[*]", "link.k[*]"]`
		}
		for i := range schema.Def(around).Attrs {
			name := schema.Def(around).Attrs[i].Num.Name()
			if notThere[name] != "" || name == "manage" || name == "vars" || name == "cable" {
				continue // of manage the strictest counts; the others are of each block alone
			}
			values := append(slices.Clone(wordValues[name]), secondValues[name])
			if len(values) < 2 || values[1] == "" {
				continue
			}
			for _, kind := range inner {
				if schema.Lookup(kind, name) == nil || slices.Contains(ofEachAlone, name) {
					continue
				}
				set := overrideOn(on, name+" = "+values[1])
				text := func(mark, words string) outcome {
					said := inPlace(mark, words) + set
					if name == "speed" { // which ports and NICs of the source write already
						said = strings.NewReplacer("    speed  = \"100G\"\n", "", "    speed = \"100G\"\n", "").Replace(said)
					}
					return outcomeOf(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(said)}})
				}
				without, with := text("", ""), text(kind.String(), name+" = "+values[0])
				tried++
				if without.told != with.told || without.failed != with.failed {
					t.Errorf("%s by an override of %s, where a %s writes %s: what that writes counts", name, around, kind, values[0])
				}
			}
		}
	}
	if tried < 40 {
		t.Errorf("%d words were tried", tried)
	}
}

// ofEachAlone are attributes that a block has for itself and not for what is inside.
var ofEachAlone = []string{
	"address", "segment", "subnet", "gateway", "external_gateway", "vrf", "hash", "rate", "mode", "id", "members", "native", "segments", "role", "model",
	"firmware", "driver", "enabled", "buffer",
}

// overrideOn is an override that sets something.
func overrideOn(on, set string) string {
	return fmt.Sprintf("override {\n on = %s\n set = { %s }\n reason = \"r\"\n expires = \"2099-01-01\"\n}\n", on, set)
}
