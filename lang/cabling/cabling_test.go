package cabling

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// read lists the cables of a file as text, and its faults.
func read(o Options, src []byte) (rows, faults []string) {
	errs := Read(o, src, func(r *Row) {
		s := fmt.Sprintf("%s %s - %s %s", r.A.Device, r.A.Port, r.B.Device, r.B.Port)
		if r.HasLength {
			s += fmt.Sprintf(" %dmm", r.LengthMm)
		}
		if len(r.Label) > 0 && o.Format == "lldp" {
			s += fmt.Sprintf(" (%s)", r.Label)
		}
		rows = append(rows, s)
	})
	for _, e := range errs {
		if e.Help == "" {
			faults = append(faults, "nothing says what to do:")
		}
		faults = append(faults, fmt.Sprintf("%s @%q", e.Error(), src[e.Start:e.Start+e.Len]))
	}
	return rows, faults
}

const head = "a_device,a_port,b_device,b_port,length\n"

func TestTables(t *testing.T) {
	for _, c := range []struct {
		name, src string
		rows      []string
		faults    []string
	}{
		{"plain", head + "l1,p1,g1,e0,3m\n", []string{"l1 p1 - g1 e0 3000mm"}, nil},
		{"CRLF", strings.ReplaceAll(head+"l1,p1,g1,e0,3m\nl1,p2,g2,e0,\n", "\n", "\r\n"), []string{"l1 p1 - g1 e0 3000mm", "l1 p2 - g2 e0"}, nil},
		{"CR", strings.ReplaceAll(head+"l1,p1,g1,e0,3m\nl1,p2,g2,e0,\n", "\n", "\r"), []string{"l1 p1 - g1 e0 3000mm", "l1 p2 - g2 e0"}, nil},
		{"byte order mark", "\xef\xbb\xbf" + head + "l1,p1,g1,e0,3m", []string{"l1 p1 - g1 e0 3000mm"}, nil},
		{"tabs", strings.ReplaceAll(head+"l1,p1,g1,e0,3m\n", ",", "\t"), []string{"l1 p1 - g1 e0 3000mm"}, nil},
		{"quotes", head + "\"l,1\",\"p\"\"1\",\"g\n1\",e0,\n", nil, []string{`line 2: cell in column "b_device" has a control character @"\"g\n1\""`}},
		{"quoted line end in a label", "a_device,a_port,b_device,b_port,label\n\"l,1\",\"p\"\"1\",g1,e0,\"two\nlines\"\nl1,p2,g2\n", []string{`l,1 p"1 - g1 e0`}, []string{`line 4: row has 3 cells, the header has 5 @"l1,p2,g2"`}},
		{"UTF-16", string(utf16("a_device,a_port\n")), nil, []string{`line 1: list is UTF-16 @""`}},
		{"UTF-16 without mark", string(utf16("a_device,a_port\n")[2:]), nil, []string{`line 1: list is UTF-16 @""`}},
		{"Latin-1", head + "l1,p1,k\xf6ln,e0,\n", nil, []string{`line 2: byte 0xf6 is not UTF-8; the list looks like Latin-1 or Windows-1252 @"\xf6"`}},
		{"NUL", head + "l1,p1,g1,e0,\n\x00\n", nil, []string{`line 3: list holds a NUL byte: it is no text @"\x00"`}},
		{"empty", "", nil, []string{`line 1: list is empty @""`}},
		{"power only", "netbox side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name\npdu,dcim.poweroutlet,1,g1,dcim.powerport,psu1\n", nil, []string{`line 1: rows of the list are of consoles, power and circuits, none joins two network ports @"side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name"`}},
		{"header only", head, nil, []string{`line 1: list has a header and no rows @"a_device,a_port,b_device,b_port,length"`}},
		{"header twice", "a_device,a_device\n", nil, []string{`line 1: column "a_device" is there twice @"a_device"`}},
		{"quote inside", head + "l1,\"p\"1,g1,e0,\n", nil, []string{`line 2: quote that neither ends the cell nor is written twice @"\""`}},
		{"lengths", head + "l1,p1,g1,e0,2.5 m\nl1,p2,g2,e0,10ft\nl1,p3,g3,e0,0.3km\nl1,p4,g4,e0,7\nl1,p5,g5,e0,1e3m\nl1,p6,g6,e0,99999999999m\nl1,p7,g7,e0,1..2m\n", []string{"l1 p1 - g1 e0 2500mm", "l1 p2 - g2 e0 3048mm", "l1 p3 - g3 e0 300000mm"}, []string{`line 5: length "7" has no unit (and in 3 more) @"7"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			format := "csv"
			src, netbox := strings.CutPrefix(c.src, "netbox ")
			if netbox {
				format = "netbox"
			}
			rows, faults := read(Options{Format: format}, []byte(src))
			if d := cmp.Diff(c.rows, rows); d != "" {
				t.Errorf("rows: -want +got\n%s", d)
			}
			if d := cmp.Diff(c.faults, faults); d != "" {
				t.Errorf("faults: -want +got\n%s", d)
			}
		})
	}
}

func utf16(s string) []byte {
	out := []byte("\xff\xfe")
	for i := range len(s) {
		out = append(out, s[i], 0)
	}
	return out
}

// TestGraphs: what Graphviz reads, and what topology managers read besides.
func TestGraphs(t *testing.T) {
	const edge = `"l1":"p1" -- "g1":"e0"`
	for _, c := range []struct {
		name, src string
		rows      []string
		faults    []string
	}{
		{"semicolon behind", "graph G {\n" + edge + ";\n};\n", []string{"l1 p1 - g1 e0"}, nil},
		{"HTML", "graph G {\n l1 [label=<<b>l1</b> >, shape=box]\n <l2>:p1 -- g1:e0\n}", []string{"l2 p1 - g1 e0"}, nil},
		{"HTML without end", "graph G {\n l1 [label=<<b>l1</b>]\n}", nil, []string{`line 2: text of HTML is never closed at "<" @"<"`}},
		{"defaults of groups", "graph {\nedge [length=\"1m\"]\nsubgraph rack { edge [length=\"2m\"] { edge [length=\"3m\"]; a:1 -- b:1 } a:2 -- b:2 }\na:3 -- b:3\n}", []string{"a 1 - b 1 3000mm", "a 2 - b 2 2000mm", "a 3 - b 3 1000mm"}, nil},
		{"hyphen without quotes", "graph {\n leaf-01:swp1 -- gpu1:e0\n}", nil, []string{`line 2: name "leaf-01" has a hyphen and no quotes @"leaf-01"`}},
		{"hyphen inside", "graph {\n leaf-a-1:swp1--gpu1:e0\n}", nil, []string{`line 2: name "leaf-a-1" has a hyphen and no quotes @"leaf-a-1"`}},
		{"no blanks", "graph {l1:p1--g1:e0 [length=\"3m\",weight=-3]}", []string{"l1 p1 - g1 e0 3000mm"}, nil},
		{"backslash at the end", `graph { "l1":"p1\\" -- "g1":"e\"0" }`, []string{`l1 p1\\ - g1 e"0`}, nil},
		{"two graphs", "graph {" + edge + "} graph {}", []string{"l1 p1 - g1 e0"}, []string{`line 1: one graph is read, and something follows at "graph" @"graph"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, faults := read(Options{Format: "dot"}, []byte(c.src))
			if d := cmp.Diff(c.rows, rows); d != "" {
				t.Errorf("rows: -want +got\n%s", d)
			}
			if d := cmp.Diff(c.faults, faults); d != "" {
				t.Errorf("faults: -want +got\n%s", d)
			}
		})
	}
}

// TestCaptures: what devices print besides the plain case, and what tells nothing.
func TestCaptures(t *testing.T) {
	lldpd := func(port string) string {
		return `{"lldp":{"interface":[{"swp1":{"chassis":{"g1":{"id":{"type":"mac","value":"00:00:5e:00:53:01"}}},"port":` + port + `}}]}}`
	}
	nobody := []string{`line 1: capture tells of no neighbour that has a name and a port @""`}
	for _, c := range []struct {
		name, src string
		rows      []string
		faults    []string
	}{
		{"MAC and description", lldpd(`{"id":{"type":"mac","value":"00:00:5e:00:53:02"},"descr":"eth7"}`), []string{"me swp1 - g1 eth7"}, nil},
		{"MAC and blank", lldpd(`{"id":{"type":"mac","value":"00:00:5e:00:53:02"},"descr":" "}`), []string{"me swp1 - g1 00:00:5e:00:53:02"}, nil},
		{"alias and name", lldpd(`{"id":{"type":"local","value":"etp8"},"descr":"Ethernet56"}`), []string{"me swp1 - g1 etp8 (Ethernet56)"}, nil},
		{"numbers stand right", "LocalPort    RemoteDevice      RemotePortID  Capability    RemotePortDescr\n-----------  --------------  --------------  ------------  -----------------\n" +
			"Ethernet0    g1                          12  BR\nEthernet4    g2                           7  BR            far\n", []string{"me Ethernet0 - g1 12", "me Ethernet4 - g2 7 (far)"}, nil},
		{"of itself", `{"lldp":{"interface":{"eth0":{"status":"RX and TX","chassis":{"me":{}},"port":{"id":{"type":"mac","value":"00:00:5e:00:53:02"},"descr":"eth0"}}}}}`, nil, []string{`line 1: capture is of what the device says of itself: it has the status of ports @"\"eth0\""`}},
		{"nobody", `{"lldp": {}}`, nil, nobody},
		{"nobody, NVUE", `{"eth0":{},"swp1":{"lldp":{}}}`, nil, nobody},
		{"nobody in the table", "LocalPort    RemoteDevice    RemotePortID\n-----------  --------------  --------------\n", nil, nobody},
		{"no port", lldpd(`{"ttl":"120"}`), nil, nobody},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, faults := read(Options{Format: "lldp", Device: "me"}, []byte(c.src))
			if d := cmp.Diff(c.rows, rows); d != "" {
				t.Errorf("rows: -want +got\n%s", d)
			}
			if d := cmp.Diff(c.faults, faults); d != "" {
				t.Errorf("faults: -want +got\n%s", d)
			}
		})
	}
}

// TestMany: a million rows at fault are one finding, and panels with many ports do not take longer than their number.
func TestMany(t *testing.T) {
	src := []byte(head + strings.Repeat("leaf1,swp1,gpu1\n", 1_000_000))
	rows, faults := read(Options{Format: "csv"}, src)
	want := []string{`line 2: row has 3 cells, the header has 5 (and in 999999 more) @"leaf1,swp1,gpu1"`}
	if d := cmp.Diff(want, faults); d != "" || rows != nil {
		t.Errorf("%d rows; -want +got\n%s", len(rows), d)
	}
	var b bytes.Buffer
	b.WriteString("side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name\n")
	for i := range 50_000 {
		fmt.Fprintf(&b, "leaf,interface,p%d,pp,frontport,F%d\npp,rearport,R%d,spine,interface,p%d\n", i, i, i, i)
	}
	rows, faults = read(Options{Format: "netbox"}, b.Bytes())
	if len(rows) != 50_000 || faults != nil || rows[49_999] != "leaf p49999 - spine p49999" {
		t.Errorf("%d rows, faults %v", len(rows), faults)
	}
}

// TestPanelLoop: cables that lead in a circle through panels end.
func TestPanelLoop(t *testing.T) {
	src := "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name\n" +
		"leaf,interface,p1,x,frontport,1\nx,rearport,1,y,rearport,1\ny,frontport,1,x,frontport,2\nx,rearport,2,y,rearport,2\n"
	rows, faults := read(Options{Format: "netbox"}, []byte(src))
	if d := cmp.Diff([]string{"leaf p1 - y 2"}, rows); d != "" || faults != nil {
		t.Errorf("faults %v, rows -want +got\n%s", faults, d)
	}
}

// TestLengths: what is written in millimetres comes back.
func TestLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mm := rapid.Uint32Range(0, 1<<31).Draw(t, "mm")
		for _, text := range []string{fmt.Sprintf("%d.%03dm", mm/1000, mm%1000), fmt.Sprintf("%d.%d cm", mm/10, mm%10)} {
			got, off, why := parseLength([]byte(text), nil)
			if len(strings.SplitN(text, ".", 2)[0]) > 7 {
				continue
			}
			if why != "" || got != mm || off != 0 {
				t.Fatalf("%s is %d mm, off by %d, %s", text, got, off, why)
			}
		}
	})
	// 3 m, as lists of other countries have it, and what is not 3 m.
	for text, same := range map[string]bool{"9.84 ft": true, "9.8ft": true, "10 feet": true, "118 in": true, "118.11 in": true, "9.70 ft": false, "10.00 ft": false, "11 ft": false, "120 in": false} {
		mm, off, why := parseLength([]byte(text), nil)
		if got := max(mm, 3000)-min(mm, 3000) <= uint32(off); got != same || why != "" {
			t.Errorf("%s is %d mm, off by %d, %s", text, mm, off, why)
		}
	}
}

// TestWritten: any table that encoding like a spreadsheet's produces is read back cell by cell.
func TestWritten(t *testing.T) {
	name := rapid.StringMatching(`[A-Za-z0-9 ;,"'/_.:-]{0,9}[A-Za-z0-9"]`)
	rapid.Check(t, func(t *rapid.T) {
		delim := rapid.SampledFrom([]string{",", ";", "\t"}).Draw(t, "delim")
		eol := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "eol")
		src := strings.Join([]string{"a_device", "a_port", "b_device", "b_port"}, delim) + eol
		var want []string
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			var cells []string
			var plain []any
			for range 4 {
				c := strings.TrimSpace(name.Draw(t, "cell"))
				plain = append(plain, c)
				cells = append(cells, `"`+strings.ReplaceAll(c, `"`, `""`)+`"`)
			}
			src += strings.Join(cells, delim) + eol
			want = append(want, fmt.Sprintf("%s %s - %s %s", plain...))
		}
		rows, faults := read(Options{Format: "csv"}, []byte(src))
		if d := cmp.Diff(want, rows); d != "" || faults != nil {
			t.Fatalf("%q: %v\n%s", src, faults, d)
		}
	})
}

var seeds = map[string][]string{
	"netbox": {
		"side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status,label,color,length,length_unit\nl,dcim.interface,p,x,dcim.frontport,1,mmf,planned,,,3,m\nx,rearport,1,g,interface,e,mmf,,,,3,ft\n",
		"ID,Label,Device A,Termination A,Device B,Termination B,Type,Length\n1,,l,p,g,e,Multimode Fiber,3 m\n",
		"termination_a_type,termination_a_id\n",
	},
	"csv": {head + "l1,p1,g1,e0,3m\n", head + "\"l\"\"1\";p1\n", "\xff\xfea\x00"},
	"dot": {"graph G { LLDP=\"\"; \"a\":\"b\" -- c:d [length=\"3m\", media=dr]; subgraph x { e:f:n -- g:h } }", "strict digraph { a:b -> c:d /* x */ # y\n}", "graph { a -- \"b"},
	"lldp": {
		`{"lldp":{"interface":[{"swp1":{"chassis":{"g":{"id":{"type":"mac","value":"x"}}},"port":{"id":{"type":"ifname","value":"e0"}}}}]}}`,
		`{"lldp":[{"interface":[{"name":"s","chassis":[{"name":[{"value":"g"}]}],"port":[{"id":[{"type":"mac","value":"00:00:00:00:00:05"}],"descr":[{"value":"eth0"}]}]}]}]}`,
		`{"swp1":{"lldp":{"neighbor":{"x":{"chassis":{"system-name":"g"},"port":{"name":"p"}}}}}}`, `{"Neighbors":[{"InterfaceName":"e","Neighbors":[{"SystemName":"t","PortID":"p"}]}]}`,
		"LocalPort    RemoteDevice    RemotePortID\n-----------  --------------  -------------\nEthernet0    leaf01          etp0\n", `{"LLDP_ENTRY_TABLE:E":{"value":{"lldp_rem_sys_name":"a","lldp_rem_port_id":"b"}}}`,
	},
}

// fuzz: whatever the bytes are, reading ends, rows have names, and every place lies inside of the file.
func fuzz(f *testing.F, format string) {
	for _, s := range seeds[format] {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		inside := func(start, length int) {
			if start < 0 || length < 0 || start+length > len(src) {
				t.Fatalf("place %d+%d is outside of %d bytes", start, length, len(src))
			}
		}
		errs := Read(Options{Format: format, Device: "me"}, src, func(r *Row) {
			for _, b := range [][]byte{r.A.Device, r.A.Port, r.B.Device, r.B.Port} {
				if why := nameFault(b); why != "" {
					t.Fatalf("name %q %s", b, why)
				}
			}
			for _, c := range []Cell{r.At, r.ADevice, r.APort, r.BDevice, r.BPort, r.MediaAt, r.LengthAt} {
				inside(int(c.Start), int(c.Len))
			}
			if r.Number < 1 {
				t.Fatal("a row without a line")
			}
		})
		for _, e := range errs {
			inside(e.Start, e.Len)
			if e.Msg == "" || e.Help == "" {
				t.Fatalf("a fault without a text, or without help: %+v", e)
			}
		}
	})
}

func FuzzNetBox(f *testing.F) { fuzz(f, "netbox") }
func FuzzCSV(f *testing.F)    { fuzz(f, "csv") }
func FuzzDOT(f *testing.F)    { fuzz(f, "dot") }
func FuzzLLDP(f *testing.F)   { fuzz(f, "lldp") }

func BenchmarkNetBox(b *testing.B) {
	var src bytes.Buffer
	src.WriteString("side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,length,length_unit\n")
	for i := range 100_000 {
		fmt.Fprintf(&src, "leaf%d,dcim.interface,swp%d,gpu%05d,dcim.interface,rail%d,dac-passive,3,m\n", i/64, i%64, i/8, i%8)
	}
	b.SetBytes(int64(src.Len()))
	for b.Loop() {
		n := 0
		Read(Options{Format: "netbox"}, src.Bytes(), func(*Row) { n++ })
		if n != 100_000 {
			b.Fatal(n)
		}
	}
}
