package rocec_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/format"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/schema"
)

// TestWholeFabrics: fabrics that a customer would write take no more lines of code
// than here, have no finding of any kind, and make the files of their devices.
func TestWholeFabrics(t *testing.T) {
	t.Parallel()
	want := map[string]struct{ lines, devices int }{
		"s2d-converged": {64, 6}, "nvme-three-makers": {85, 10}, "rail-pod": {48, 36}, "four-pods": {43, 96},
	}
	files, err := filepath.Glob("testdata/fabrics/*.roce.hcl")
	if err != nil || len(files) != len(want) {
		t.Errorf("%d fabrics, want %d: %v", len(files), len(want), err)
	}
	for name, w := range want {
		file := filepath.Join("testdata", "fabrics", name+".roce.hcl")
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.Lines(string(src)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines++
			}
		}
		if lines > w.lines {
			t.Errorf("%s has %d lines of code, of %d", name, lines, w.lines)
		}
		if tidy, problem := format.Source(file, src); problem != nil || string(tidy) != string(src) {
			t.Errorf("rocec fmt changes %s: %v\n%s", name, problem, format.Diff(file, src, tidy))
		}
		m := sources{"fabric.roce.hcl": string(src)}.build()
		if m.Findings != "" {
			t.Errorf("%s: %s", name, m.Findings)
		}
		if len(m.Devices) != w.devices {
			t.Errorf("%s has %d devices with files, want %d", name, len(m.Devices), w.devices)
		}
		for _, d := range m.Devices {
			if len(d.Files) == 0 {
				t.Errorf("%s: nothing is written for %s", name, d.Address)
			}
		}
	}
}

// filesOf are the files of all devices, by device and path.
func filesOf(m *made) map[string]string {
	list := map[string]string{}
	for _, d := range m.Devices {
		for _, f := range d.Files {
			list[d.Intent.Name+"/"+f.Path] = string(f.Bytes)
		}
	}
	return list
}

// cabled are four ways to say the cables of a fabric of two switches and three hosts.
var cabled = map[string]struct{ nic, more string }{
	"link": {"", `link "l" {
  for_each = {
    h1_a = ["h1", "a", 0], h2_a = ["h2", "a", 4], h3_a = ["h3", "a", 8]
    h1_b = ["h1", "b", 0], h2_b = ["h2", "b", 4], h3_b = ["h3", "b", 8]
  }
  ends     = [node.h[each.value[0]].nic["p_${each.value[1]}"], switch.tor[each.value[1]].port["Ethernet${each.value[2]}"]]
  cable    = { media = "dac", length = "3m" }
}
`},
	"at": {`at    = switch.tor[nic.key].port["Ethernet${4 * (self.slot - 1)}"]
    cable = { media = "dac", length = "3m" }`, ""},
	"list": {"", `cabling "c" {
  file   = "cables.csv"
  format = "csv"
}
`},
	"topology": {"", `topology "dual_tor" "t" {
  nodes = node.h

  leaf {
    switches   = switch.tor
    node_ports = "Ethernet[0-8:4]"
    link { cable = { media = "dac", length = "3m" } }
  }
}
`},
}

const cableRows = `a_device,a_port,b_device,b_port,media,length,length_unit
h1,p_a,tor-a,Ethernet0,dac,3,m
h2,p_a,tor-a,Ethernet4,dac,3,m
h3,p_a,tor-a,Ethernet8,dac,3,m
h1,p_b,tor-b,Ethernet0,dac,3,m
h2,p_b,tor-b,Ethernet4,dac,3,m
h3,p_b,tor-b,Ethernet8,dac,3,m
`

// plugged is that fabric; port is said of all ports of the switches, except of one of
// them, and nic of all NICs.
func plugged(port, except, nic, more string) string {
	if except != "" {
		except = "except \"Ethernet4\" {\n reason = \"a test\"\n " + except + "\n }"
	}
	return `segment "st" {
  for_each = { a = 711, b = 712 }
  vlan     = each.value
  subnet   = "10.71.${each.value - 710}.0/24"
  qos      = qos.nvme_of
  mtu      = 9000
}
switch "tor" {
  for_each = toset(["a", "b"])
  name     = "tor-${each.key}"
  model    = "nvidia/sn3700"
  os       = "sonic/202505"
  port "Ethernet[0-8:4]" {
    admin = "up"
    ` + port + "\n" + except + `
  }
}
node "h" {
  for_each = { h1 = 1, h2 = 2, h3 = 3 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "p_[a-b]" {
    model = "nvidia/connectx-6-dx"
    ` + nic + `
  }
}
` + more
}

// TestCabledFourWays: which way a cable is said changes neither what is written nor
// what is found.
func TestCabledFourWays(t *testing.T) {
	t.Parallel()
	const nic = "speed = \"50G\"\n    segment = segment.st[nic.key]\n    "
	for _, c := range []struct{ name, port, except, nic, rule string }{
		{"right", "", "", nic, ""},
		{"one port at another speed", "", `speed = "100G"`, nic, "ROCE101"},
		{"one port without VLANs", "", `tagged = []`, nic, "ROCE601"},
		{"one port in another VLAN", "", `tagged = [segment.st[self.index == 0 ? "b" : "a"]]`, nic, "ROCE601"},
		{"one port with another MTU", "", `mtu = 1500`, "speed = \"50G\"\n    untagged = segment.st[nic.key]\n    ", ""},
		{"ports as found", `manage = "verify"`, "", nic, "ROCE601"},
		{
			"one NIC without a VLAN", "", "",
			"speed = \"50G\"\n    segment = self.slot == 3 && nic.key == \"b\" ? null : segment.st[nic.key]\n    ", "",
		},
	} {
		var want verdict
		var files map[string]string
		for _, way := range slices.Sorted(maps.Keys(cabled)) {
			m := sources{"fabric.roce.hcl": plugged(c.port, c.except, c.nic+cabled[way].nic, cabled[way].more), "cables.csv": cableRows}.build()
			got := maps.Collect(maps.All(verdictOf(m.Diags)))
			for rule, j := range got {
				got[rule] = judged{Count: j.Count} // links have other addresses
			}
			if want == nil {
				want, files = got, filesOf(&m)
				if !strings.Contains(m.Findings, c.rule) || c.name == "right" && m.Findings != "" {
					t.Errorf("%s, %s: want %q\n%s", c.name, way, c.rule, m.Findings)
				}
				continue
			}
			if d := cmp.Diff(want, verdict(got)); d != "" {
				t.Errorf("%s, %s (-at +%s):\n%s%s", c.name, way, way, d, m.Findings)
			}
			if d := cmp.Diff(files, filesOf(&m)); d != "" {
				t.Errorf("%s, %s (-at +%s):\n%s", c.name, way, way, d)
			}
		}
	}
}

var linkEnds = regexp.MustCompile(`^\[(?:node\.([\w-]+)\.nic\["([^"]+)"\], (switch\..*)|(switch\..*), node\.([\w-]+)\.nic\["([^"]+)"\])\]$`)

// byNICs says what links of NICs say at the NICs, and reports how many, 0 where the
// NICs cannot say it.
func byNICs(root *block) (said int) {
	links := map[string][2]string{}
	root.kids = slices.DeleteFunc(root.kids, func(b *block) bool {
		ends := linkEnds.FindStringSubmatch(b.get("ends"))
		if !b.is("link") || ends == nil || b.get("fec")+b.get("autoneg")+b.get("macsec")+b.get("for_each")+b.get("enabled") != "" {
			return false
		}
		links[ends[1]+ends[5]+"/"+ends[2]+ends[6]] = [2]string{ends[3] + ends[4], b.get("cable")}
		return true
	})
	at := map[string]bool{}
	for _, l := range links {
		if at[l[0]] {
			return 0 // two NICs at one port: said of them as such
		}
		at[l[0]] = true
	}
	for _, n := range root.kids {
		for _, k := range n.kids {
			if l, ok := links[label(n)+"/"+label(k)]; ok && n.is("node") && k.is("nic") && k.get("cable") == "" {
				k.set("at", l[0]).set("cable", l[1])
				said++
			}
		}
	}
	if said != len(links) {
		return 0 // two links have one NIC, or it has no block of its own
	}
	return said
}

// TestCabledByNICs: random fabrics, each with one fault, are judged alike and written
// alike when their NICs say where they are plugged in place of links.
func TestCabledByNICs(t *testing.T) {
	t.Parallel()
	tried := 0
	for seed := *seedFlag; seed < *seedFlag+uint64(*runsFlag/10); seed++ {
		faulty := func() *block {
			r := rand.New(rand.NewPCG(seed, 37))
			s := siteOf(seed)
			if pick(r, faults...).put(r, s) == nil {
				s = siteOf(seed)
			}
			return &s.root
		}
		root := faulty()
		if byNICs(root) == 0 {
			continue
		}
		tried++
		rewritten(t, fmt.Sprintf("seed %d", seed), seed, func() *block {
			root := faulty()
			byNICs(root)
			return root
		})
		links, nics := faulty().sources().build(), root.sources().build()
		counts := func(m *made) map[string]int {
			n := map[string]int{}
			for key, j := range verdictOf(m.Diags) {
				n[key] = j.Count
			}
			return n
		}
		if d := cmp.Diff(counts(&links), counts(&nics)); d != "" {
			t.Errorf("seed %d (-links +NICs):\n%s%s%s", seed, d, nics.Findings, numbered(root.sources().text()))
		}
		if d := cmp.Diff(filesOf(&links), filesOf(&nics)); d != "" {
			t.Errorf("seed %d (-links +NICs):\n%s", seed, d)
		}
	}
	if tried == 0 {
		t.Error("no fabric has links of NICs")
	}
}

// TestPortsFollowTheirNICs: a port that writes no VLANs and no speed is told those of
// its NIC, wherever the node says them, and what it writes holds.
func TestPortsFollowTheirNICs(t *testing.T) {
	t.Parallel()
	const at = `speed = "50G"
    ` + "at    = switch.tor[nic.key].port[\"Ethernet${4 * (self.slot - 1)}\"]\n    cable = { media = \"dac\", length = \"3m\" }"
	team := func(bond, more string) string {
		return at + "\n  }\n  bond \"team\" {\n" +
			"    mode = \"active_backup\"\n    members = [\"p_a\", \"p_b\"]\n    address = [\"10.71.1.${10 + self.slot}/24\"]\n    " +
			bond + "\n  }\n" + more + "  gpu \"g\" {\n"
	}
	for _, c := range []struct{ name, port, nic, native, segments, speed string }{
		{"segment", "", "segment = segment.st[\"a\"]\n    " + at, "", "711", "50G"},
		{"tagged and untagged", "", "tagged = [segment.st[\"b\"]]\n    untagged = segment.st[\"a\"]\n    " + at, "711", "712", "50G"},
		{"of the bond", "", team("untagged = segment.st[\"a\"]\n tagged = [segment.st[\"b\"]]", ""), "711", "712", "50G"},
		{
			"of an interface", "",
			team("untagged = segment.st[\"a\"]",
				"  interface \"v\" {\n    on = \"team\"\n    segment = segment.st[\"b\"]\n  }\n"), "711", "712", "50G",
		},
		{"VLANs of its own", "untagged = segment.st[\"a\"]", "segment = segment.st[\"a\"]\n    " + at, "711", "", "50G"},
		{"none", "tagged = []", "segment = segment.st[\"a\"]\n    " + at, "", "", "50G"},
		{"speed of its own", "speed = \"100G\"", "segment = segment.st[\"a\"]\n    " + at, "", "711", "100G"},
	} {
		r := portsOf(plugged(c.port, "", c.nic, ""))
		if len(r) == 0 {
			t.Errorf("%s: no port of tor-a", c.name)
		}
		for name, got := range r {
			if want := [3]string{c.native, c.segments, c.speed}; got != want {
				t.Errorf("%s: %s has native %q, segments %q and speed %q, want %q", c.name, name, got[0], got[1], got[2], want)
			}
		}
	}
	as := portsOf(plugged(`manage = "verify"`, "", "segment = segment.st[nic.key]\n    "+at, ""))
	for name, got := range as {
		if got != [3]string{"", "", "200G"} {
			t.Errorf("%s is taken as found: it has %q", name, got)
		}
	}
}

// TestOddNICIsNamed: the port of a NIC that differs from all others differs with it, and
// the NIC is what is named.
func TestOddNICIsNamed(t *testing.T) {
	t.Parallel()
	text := plugged("", "", "speed = \"100G\"\n"+
		"    segment = self.slot == 5 && nic.key == \"a\" ? null : segment.st[nic.key]\n    "+cabled["at"].nic, "")
	text = strings.NewReplacer("h3 = 3", "h3 = 3, h4 = 4, h5 = 5, h6 = 6, h7 = 7, h8 = 8", "Ethernet[0-8:4]", "Ethernet[0-28:4]").Replace(text)
	m := sources{"fabric.roce.hcl": text}.build()
	if len(m.Diags) != 1 || m.Diags[0].Rule != "ROCE726" || !strings.HasPrefix(m.Diags[0].Summary, "port h5/p_a is not in the segments") {
		t.Errorf("want ROCE726 of h5/p_a alone:\n%s", m.Findings)
	}
}

// portsOf are the untagged and tagged VLANs, and the speeds, of the cabled ports of a
// source's first switch.
func portsOf(text string) map[string][3]string {
	f := fabricOf(text)
	ports := map[string][3]string{}
	for id := 1; id < len(f.Ports); id++ {
		p := &f.Ports[id]
		if f.Text(f.Devices[p.Device].Name) != "tor-a" || p.Link == 0 {
			continue
		}
		var got [3]string
		if p.Native != 0 {
			got[0] = fmt.Sprint(f.Segments[p.Native].VLAN)
		}
		for i, s := range f.VLANSets[p.VLANs] {
			got[1] += strings.Repeat(" ", min(i, 1)) + fmt.Sprint(f.Segments[s].VLAN)
		}
		got[2] = fmt.Sprintf("%dG", p.Mbps/1000)
		ports[f.Text(p.Name)] = got
	}
	return ports
}

func fabricOf(text string) *fabric.Fabric {
	cfg, _ := lang.Load(lang.Options{FS: fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}}, Packs: packs.Files()})
	return compiler.Compile(cfg, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows}).Fabric
}

// TestLinesOfFollowing: what a port has from its NIC is explained by the line of the NIC,
// its bond or interface, and what a link says by that of the link or its defaults.
func TestLinesOfFollowing(t *testing.T) {
	t.Parallel()
	at := "speed = \"50G\"\n    segment = segment.st[nic.key]\n    " + cabled["at"].nic
	team := cabled["at"].nic + "\n  }\n  bond \"team\" {\n    mode = \"set\"\n    members = [\"p_a\", \"p_b\"]\n  }\n" +
		"  interface \"v\" {\n    on = \"team\"\n    segment = segment.st[\"b\"]\n  }\n  gpu \"g\" {\n"
	for _, c := range []struct {
		name, text string
		attr       schema.Attr
		line       string
		follows    bool
	}{
		{"speed", plugged("", "", at, ""), schema.ASpeed, `"50G"`, true},
		{"VLAN", plugged("", "", at, ""), schema.ASegment, `segment.st[nic.key]`, true},
		{"VLAN of an interface", plugged("", "", team, ""), schema.ASegment, `segment.st["b"]`, true},
		{"own speed", plugged(`speed = "100G"`, "", at, ""), schema.ASpeed, `"100G"`, false},
		{"defaults of links", plugged("", "", at, "defaults \"link\" {\n  fec = \"rs\"\n}\n"), schema.AFEC, `"rs"`, false},
		{"speed of a link", plugged("", "", "segment = segment.st[nic.key]",
			strings.Replace(cabled["link"].more, "  cable ", "  speed = \"40G\"\n  cable ", 1)), schema.ASpeed, `"40G"`, false},
	} {
		f := fabricOf(c.text)
		for id := 1; id < len(f.Ports); id++ {
			if f.PortName(fabric.PortID(id)) != "tor-a/Ethernet4" {
				continue
			}
			l, ok := f.PortOrigin(fabric.PortID(id), c.attr)
			if got := c.text[l.Span.Start:l.Span.End()]; !ok || got != c.line || c.follows != slices.Contains(l.Values, "follows its NIC") {
				t.Errorf("%s: %q, %q, want %s", c.name, got, l.Values, c.line)
			}
		}
	}
}
