package resolve

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// listed2 builds the fabric of a source and a cable list in CSV.
func withList(t *testing.T, source, csv string) (*fabric.Fabric, string) {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(source)}, "cables.csv": {Data: []byte(csv)}}, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatalf("load: %+v", diags)
	}
	f, diags := Fabric(cfg)
	var out []string
	for _, d := range diags {
		line := d.Summary
		for _, l := range d.Labels {
			text := source
			if cfg.Files.Name(l.Span.File) == "cables.csv" {
				text = csv
			}
			line += " | " + strings.SplitN(text[l.Span.Start:l.Span.Start+l.Span.Len], "\n", 2)[0]
		}
		out = append(out, line)
	}
	return f, strings.Join(out, "\n")
}

const header = "a_device,a_port,b_device,b_port,media,length\n"

// mismatches lists what a list in verify mode found.
func mismatches(f *fabric.Fabric, csv string) string {
	words := [...]string{
		fabric.CableMissing: "missing", fabric.CableExtra: "extra", fabric.CableMoved: "moved", fabric.CableSwapped: "swapped",
		fabric.CableMedia: "media", fabric.CableLength: "length",
	}
	var out []string
	for _, m := range f.Mismatches {
		line := words[m.Fault] + " " + f.PortName(m.A)
		if m.B != 0 {
			line += " " + f.PortName(m.B)
		}
		for _, l := range m.Links {
			if l != 0 {
				line += fmt.Sprintf(" | %s-%s", f.PortName(f.Links[l].A), f.PortName(f.Links[l].B))
			}
		}
		for _, r := range m.Rows {
			if r.Len > 0 {
				line += " | " + csv[r.Start:r.Start+r.Len]
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// Three nodes of one NIC on one leaf with a cable of 3 m.
const three = `
topology "leaf_spine" "t" {
  nodes = node.n
  leaf {
    count      = 1
    model      = "t/x"
    os         = "cumulus-linux/5.11"
    node_ports = "swp[1-4]"
    link {
      cable = { media = "dr", length = "3m" }
    }
  }
}
cabling "built" {
  file   = "cables.csv"
  format = "csv"
  mode   = "verify"
}
`

func TestVerify(t *testing.T) {
	for name, c := range map[string]struct{ csv, want string }{
		"equal":            {"n1,p0,t-leaf0,swp1,,\nt-leaf0,swp2,n2,p0,dr,3m\nn3,p0,t-leaf0,swp3,smf,300cm\n", ""},
		"missing":          {"n1,p0,t-leaf0,swp1,,\nn3,p0,t-leaf0,swp3,,\nn2,p0,t-leaf0,swp4,,\n", "moved n2/p0 t-leaf0/swp4 | t-leaf0/swp2-n2/p0 | n2,p0,t-leaf0,swp4,,"},
		"one missing":      {"n1,p0,t-leaf0,swp1,,\nn3,p0,t-leaf0,swp3,,\nn2,p0,t-leaf0,swp2,,\nt-leaf0,swp15,t-leaf0,swp16,,\n", "extra t-leaf0/swp15 t-leaf0/swp16 | t-leaf0,swp15,t-leaf0,swp16,,"},
		"swapped":          {"n1,p0,t-leaf0,swp2,,\nn2,p0,t-leaf0,swp1,,\nn3,p0,t-leaf0,swp3,,\n", "swapped n1/p0 t-leaf0/swp2 | t-leaf0/swp1-n1/p0 | t-leaf0/swp2-n2/p0 | n1,p0,t-leaf0,swp2,, | n2,p0,t-leaf0,swp1,,"},
		"swapped, turned":  {"t-leaf0,swp2,n1,p0,,\nn2,p0,t-leaf0,swp1,,\nn3,p0,t-leaf0,swp3,,\n", "swapped n1/p0 t-leaf0/swp2 | t-leaf0/swp1-n1/p0 | t-leaf0/swp2-n2/p0 | t-leaf0,swp2,n1,p0,, | n2,p0,t-leaf0,swp1,,"},
		"turned in a ring": {"n1,p0,t-leaf0,swp2,,\nn2,p0,t-leaf0,swp3,,\nn3,p0,t-leaf0,swp1,,\n", "moved n1/p0 t-leaf0/swp2 | t-leaf0/swp1-n1/p0 | t-leaf0/swp2-n2/p0 | n1,p0,t-leaf0,swp2,,\nmoved n2/p0 t-leaf0/swp3 | t-leaf0/swp2-n2/p0 | t-leaf0/swp3-n3/p0 | n2,p0,t-leaf0,swp3,,\nmoved n3/p0 t-leaf0/swp1 | t-leaf0/swp3-n3/p0 | t-leaf0/swp1-n1/p0 | n3,p0,t-leaf0,swp1,,"},
		"media":            {"n1,p0,t-leaf0,swp1,mmf,\nn2,p0,t-leaf0,swp2,dac,\nn3,p0,t-leaf0,swp3,lr,\n", "media n1/p0 t-leaf0/swp1 | t-leaf0/swp1-n1/p0 | n1,p0,t-leaf0,swp1,mmf,\nmedia n2/p0 t-leaf0/swp2 | t-leaf0/swp2-n2/p0 | n2,p0,t-leaf0,swp2,dac,\nmedia n3/p0 t-leaf0/swp3 | t-leaf0/swp3-n3/p0 | n3,p0,t-leaf0,swp3,lr,"},
		"length":           {"n1,p0,t-leaf0,swp1,,4m\nn2,p0,t-leaf0,swp2,,3m\nn3,p0,t-leaf0,swp3,,\n", "length n1/p0 t-leaf0/swp1 | t-leaf0/swp1-n1/p0 | n1,p0,t-leaf0,swp1,,4m"},
		"part of it":       {"n1,p0,t-leaf0,swp1,,\n", ""},
		"unknown devices":  {"n1,p0,t-leaf0,swp1,,\nx,1,y,1,,\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, errs := withList(t, box+nodes(3, 1)+three, header+c.csv)
			if errs != "" {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(c.want, mismatches(f, header+c.csv)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n := f.Cablings[1].Skipped; (n == 1) != (name == "unknown devices") {
				t.Errorf("%d rows skipped", n)
			}
		})
	}
}

// The whole list is missing but one row between devices that it knows.
func TestVerifyBothWays(t *testing.T) {
	csv := header + "n1,p0,t-leaf0,swp1,,\nn2,p0,n3,p0,,\n"
	f, errs := withList(t, box+nodes(3, 1)+three, csv)
	want := "moved n2/p0 n3/p0 | t-leaf0/swp2-n2/p0 | t-leaf0/swp3-n3/p0 | n2,p0,n3,p0,,\nmissing t-leaf0/swp3 n3/p0 | t-leaf0/swp3-n3/p0"
	if diff := cmp.Diff(want, mismatches(f, csv)); diff != "" || errs != "" {
		t.Errorf("%s (-want +got):\n%s", errs, diff)
	}
}

// What the source does not say of a cable is taken from the list.
func TestVerifyFillsIn(t *testing.T) {
	source := strings.Replace(three, `      cable = { media = "dr", length = "3m" }`+"\n", "", 1)
	f, errs := withList(t, box+nodes(1, 1)+source, header+"n1,p0,t-leaf0,swp1,lr,2m\n")
	if l := f.Links[1]; errs != "" || l.CableMm != 2000 || f.Text(f.Media[l.Media].Name) != "lr" || l.Row.Len == 0 || len(f.Mismatches) > 0 {
		t.Errorf("%s %+v %+v", errs, l, f.Mismatches)
	}
}

const define = `
switch "s" {
  model = "t/x"
  os    = "sonic/202505"
  port "Ethernet60" {
    external = true
  }
}
cabling "list" {
  file          = "cables.csv"
  format        = "csv"
  default_cable = { media = "dac", length = "2m" }
}
`

func TestDefine(t *testing.T) {
	source := box + strings.Replace(nodes(3, 1), `speed = "400G"`, "speed = \"400G\"\nifname = \"ens1\"", 1) + define
	f, errs := withList(t, source, header+"n1,p0,s,Ethernet0,,\nn2,ens1,s,Eth1/2,,3m\ns,Ethernet8,n3,p0,AOC,\ns,Ethernet60,isp,1,,\na,1,b,2,,\ns,eth0,oob,7,,\noob,8,n1,bmc,cat6,\n")
	if errs != "" {
		t.Fatal(errs)
	}
	var got []string
	for i := 1; i < len(f.Links); i++ {
		l := &f.Links[i]
		got = append(got, fmt.Sprintf("%s %s %s %d %s", f.PortName(l.A), f.PortName(l.B), f.Text(f.Media[l.Media].Name), l.CableMm, f.LinkAddress(fabric.LinkID(i))))
	}
	want := []string{
		`s/Ethernet0 n1/p0 dac 2000 switch.s.port["Ethernet0"]`, `s/Ethernet4 n2/p0 dac 3000 switch.s.port["Ethernet4"]`, `s/Ethernet8 n3/p0 aoc 2000 switch.s.port["Ethernet8"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.Cablings[1].Rows != 7 || f.Cablings[1].Skipped != 3 {
		t.Errorf("%+v", f.Cablings[1])
	}
}

func TestListsThatDoNotFit(t *testing.T) {
	link := "link \"l\" {\n ends = [node.n[\"n1\"].nic[\"p0\"], switch.s.port[\"Ethernet0\"]]\n}\n"
	for name, c := range map[string]struct{ source, csv, want string }{
		"unknown port":   {"", "n1,p0,s,Ethernet3,,\n", `s has no port Ethernet3 | Ethernet3 | switch "s"`},
		"unknown NIC":    {"", "n1,p7,s,Ethernet4,,\n", `n1 has no NIC p7 | p7 | node "n"`},
		"unknown device": {"", "n1,p0,tor,Ethernet3,,\n", `n1/p0 is cabled to tor, which is no device here | tor | nic "p[0-0]"`},
		"twice":          {link, "n1,p0,s,Ethernet0,,\n", `the cable from n1/p0 to s/Ethernet0 is declared twice | n1,p0,s,Ethernet0,, | link "l"`},
		"itself":         {"", "n1,p0,n1,p0,,\n", `n1/p0 is cabled to itself | p0`},
		"elsewhere":      {"", "n1.lan,p0,s.lan,Ethernet0,,\nn1.lan,p1,s.lan,Ethernet4,,\n", "no row of cabling.list names a device of this fabric: the first is of n1.lan and s.lan | n1.lan | \"cables.csv\""},
		"no port of any": {"", "s,swp1,h1,p0,,\nh2,p0,s,swp2,,\n", `s has no port swp1 | swp1 | switch "s"`},
		"media":          {"", "n1,p0,s,Ethernet0,string,\n", `media "string" of a cable is not known | string`},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := withList(t, box+nodes(1, 1)+define+c.source, header+c.csv)
			if diff := cmp.Diff(c.want, errs); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A row that is missing between two panels leaves two runs that end in them, and is one mistake.
func TestRunsThatEnd(t *testing.T) {
	const trunk = "pp1,rearport,R1,pp2,rearport,R1\n"
	csv := "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name\n" +
		"s,interface,Ethernet0,pp1,frontport,F1\n" + trunk + "n1,interface,p0,pp2,frontport,F1\n"
	source := box + nodes(1, 1) + strings.Replace(define, `"csv"`, `"netbox"`, 1)
	f, errs := withList(t, source, csv)
	if diff := cmp.Diff([]string{"s/Ethernet0 n1/p0"}, wires(f)); diff != "" || errs != "" {
		t.Errorf("%s (-want +got):\n%s", errs, diff)
	}
	f, errs = withList(t, source, strings.Replace(csv, trunk, "", 1))
	want := "runs lead into panels of cabling.list and no further: from s/Ethernet0 at port F1 of pp1, n1/p0 at port F1 of pp2 | pp1 | pp2"
	if diff := cmp.Diff(want, errs); diff != "" || len(f.Links) != 1 {
		t.Errorf("%d links (-want +got):\n%s", len(f.Links)-1, diff)
	}
}

// A capture of a device that is not there is one mistake, however much it saw.
func TestCaptureOfNoDevice(t *testing.T) {
	source := box + nodes(2, 1) + `
switch "s" {
  model = "t/x"
  os    = "sonic/202505"
}
cabling "seen" {
  file   = "s9.txt"
  format = "lldp"
  mode   = "verify"
}
link "l" {
  for_each = { n1 = "Ethernet0", n2 = "Ethernet4" }
  ends     = [node.n[each.key].nic["p0"], switch.s.port[each.value]]
}
`
	const seen = `LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr
-----------  --------------  --------------  ------------  -----------------
Ethernet0    n1              p0              BR            p0
Ethernet4    n2              p0              BR            p0
`
	cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(source)}, "s9.txt": {Data: []byte(seen)}}, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatalf("load: %+v", diags)
	}
	f, diags := Fabric(cfg)
	if len(diags) != 1 || diags[0].Summary != "s9 took a capture of cabling.seen, and is no device here (in 2 rows)" || len(f.Mismatches) > 0 {
		t.Errorf("%+v %+v", diags, f.Mismatches)
	}
}

// A capture is read as the devices mean it: an alias beside the name of a port, a
// name with its domain, a second voice at a port. What it hears elsewhere is told.
func TestHeard(t *testing.T) {
	source := box + nodes(3, 1) + `
switch "s" {
  model = "t/x"
  os    = "sonic/202505"
}
cabling "seen" {
  file   = "cables.csv"
  device = "s.example.net"
  format = "lldp"
  mode   = "verify"
}
link "l" {
  for_each = { n1 = "Ethernet0", n2 = "Ethernet4", n3 = "Ethernet8" }
  ends     = [node.n[each.key].nic["p0"], switch.s.port[each.value]]
}
`
	for name, c := range map[string]struct{ rows, want string }{
		"as it should be": {"Ethernet0    n1.example.net  rocep1s0        BR            p0\nEthernet4    n2              p0              BR            rail\n", ""},
		"firmware beside": {"Ethernet0    n1              p0              BR\nEthernet0    nic-0c42a1      0c42a1          BR\n", ""},
		"firmware before": {"Ethernet0    nic-0c42a1      0c42a1          BR\nEthernet0    n1              p0              BR\n", ""},
		"another port":    {"Ethernet0    n1              bond0           BR            storage\n", "moved s/Ethernet0 | s/Ethernet0-n1/p0 | Ethernet0    n1              bond0"},
		"another device":  {"Ethernet0    n9.example.net  p0              BR\n", "moved s/Ethernet0 | s/Ethernet0-n1/p0 | Ethernet0    n9.example.net  p0"},
		"management":      {"eth0         oob             7               BR\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			seen := "LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr\n-----------  --------------  --------------  ------------  -----------------\n" + c.rows
			f, errs := withList(t, source, seen)
			if errs != "" {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(c.want, mismatches(f, seen)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Aliases of a platform that its data name.
func TestAliases(t *testing.T) {
	source := contract + nodes(3, 1) + `
switch "s" {
  model = "nvidia/sn2100"
  os    = "sonic/202505"
  port "Ethernet4" {
    breakout = "4x25G"
  }
}
cabling "list" {
  file   = "cables.csv"
  format = "csv"
}
`
	f, errs := withList(t, source, header+"n1,p0,s,etp1,,\nn2,p0,s,etp2b,,\nn3,p0,s,Eth1/2/3,,\n")
	want := []string{"s/Ethernet0 n1/p0", "s/Ethernet5 n2/p0", "s/Ethernet6 n3/p0"}
	if diff := cmp.Diff(want, wires(f)); diff != "" || errs != "" {
		t.Errorf("%s (-want +got):\n%s", errs, diff)
	}
}

// A list of another fabric is told of in bounded room: what is beyond it is
// counted, and no link is made of it.
func TestListsAreBounded(t *testing.T) {
	const boxes = box + `
switch "s" {
  for_each = toset(["a", "b"])
  model    = "t/x"
  os       = "cumulus-linux/5.11"
}
cabling "c" {
  file   = "cables.csv"
  format = "csv"
  mode   = %q
}
`
	var pairs, lengths strings.Builder
	for i := range 16 {
		for k := range 16 { // any port with any other
			fmt.Fprintf(&pairs, "a,swp%d,b,swp%d,dac,3m\n", i+1, k+1)
		}
	}
	for i := range fabric.MaxMismatches + 500 { // any node with any other
		fmt.Fprintf(&lengths, "n%d,p0,n%d,p0,dac,3m\n", i%250+1, i/250+251)
	}
	f, diags := withList(t, fmt.Sprintf(boxes, "define"), header+pairs.String())
	lines := strings.Split(diags, "\n")
	if links := len(f.Links) - 1; links != 16+maxRowFaults || len(lines) != maxRowFaults+1 || !strings.HasPrefix(lines[maxRowFaults], "40 more rows of cabling.c do not fit") {
		t.Errorf("%d links, %d findings, the last %s", links, len(lines), lines[len(lines)-1])
	}
	f, diags = withList(t, fmt.Sprintf(boxes, "verify")+nodes(300, 1), header+lengths.String())
	if n := len(f.Mismatches); diags != "" || n != fabric.MaxMismatches || f.Cablings[1].Beyond != 500 {
		t.Errorf("%d mismatches, %d beyond; %s", n, f.Cablings[1].Beyond, diags)
	}
}
