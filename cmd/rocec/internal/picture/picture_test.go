package picture_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/cmd/rocec/internal/fabricgen"
	"github.com/rocec/rocec/cmd/rocec/internal/picture"
	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// pair is two hosts on two switches with cables between them.
const pair = `
qos "roce" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}
switch "tor" {
  for_each = toset(["a", "b"])
  model    = "nvidia/sn2100"
  os       = "sonic/202505"
  qos      = qos.roce
}
node "host" {
  for_each = { h1 = 1, h2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  qos      = qos.roce
  nic "p[0-1]" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
  }
}
link "host" {
  for_each = { 0 = ["h1", "p0", "a"], 4 = ["h2", "p0", "a"], 8 = ["h1", "p1", "b"], 12 = ["h2", "p1", "b"] }
  ends     = [node.host[each.value[0]].nic[each.value[1]], switch.tor[each.value[2]].port["Ethernet${each.key}"]]
  cable    = { media = "dac", length = "1.5m" }
}
link "isl" {
  for_each = toset(["56", "60"])
  ends     = [switch.tor["a"].port["Ethernet${each.key}"], switch.tor["b"].port["Ethernet${each.key}"]]
  cable    = { media = "dac", length = "1m" }
}
`

func compile(t *testing.T, files fs.FS) *fabric.Fabric {
	t.Helper()
	cfg, diags := lang.Load(lang.Options{FS: files, Packs: packs.Files()})
	if diags.HasErrors() {
		t.Fatalf("load: %v", diags)
	}
	res := compiler.Compile(cfg, compiler.Options{Rows: packs.HeadroomRows})
	if res.Fabric == nil {
		t.Fatalf("compile: %v", res.Diags)
	}
	return res.Fabric
}

func small(t *testing.T) *fabric.Fabric {
	return compile(t, fstest.MapFS{"f.roce.hcl": {Data: []byte(pair)}})
}

// large is a fabric of pods, generated.
func large(t *testing.T, nodes int) *fabric.Fabric {
	files := fstest.MapFS{}
	for name, text := range fabricgen.Files(fabricgen.Options{Nodes: nodes}, &fabricgen.Size{}) {
		files[name] = &fstest.MapFile{Data: bytes.Clone(text)}
	}
	return compile(t, files)
}

func TestGoldens(t *testing.T) {
	f := small(t)
	for format, write := range picture.Formats {
		for kind, name := range map[picture.Kind]string{picture.Physical: "physical", picture.Cabling: "cabling"} {
			var b strings.Builder
			if err := write(&b, f, picture.Options{Kind: kind, Highlight: map[fabric.DeviceID]bool{1: true}}); err != nil {
				t.Fatal(err)
			}
			targettest.Golden(t, filepath.Join("testdata", name+"."+format), b.String())
		}
	}
}

// TestGraphviz: Graphviz reads every graph without a word, and sees every cable
// in it.
func TestGraphviz(t *testing.T) {
	drawn := func(f *fabric.Fabric, kind picture.Kind) func(io.Writer) error {
		return func(w io.Writer) error { return picture.DOT(w, f, picture.Options{Kind: kind}) }
	}
	pods, odd := large(t, 512), compile(t, fstest.MapFS{"f.roce.hcl": {Data: []byte(strings.ReplaceAll(pair, "\"p", "\"<{p|'"))}})
	for name, c := range map[string]struct {
		write func(io.Writer) error
		edges int
	}{
		"physical": {drawn(small(t), picture.Physical), 5},
		"cabling":  {drawn(small(t), picture.Cabling), 6},
		"groups":   {drawn(pods, picture.Physical), 33},
		"names":    {drawn(odd, picture.Cabling), 6},
		"buffers": {func(w io.Writer) error {
			return picture.BufferFormats["dot"](w, &picture.Buffers{Title: "a circle", Nodes: []picture.Buffer{{Name: "a > b"}, {Name: "b > a", Row: 1}}, Waits: []picture.Wait{{From: 0, To: 1}, {From: 1, To: 0, Marked: true}}})
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.write(&b); err != nil {
				t.Fatal(err)
			}
			out := oracle.Graphviz(t, b.Bytes())
			if n := strings.Count(out, " -- ") + strings.Count(out, " -> "); n != c.edges {
				t.Errorf("%d edges, want %d", n, c.edges)
			}
		})
	}
}

// TestGroups: a fabric too large to be drawn device by device goes by pods, and
// no device is lost on the way.
func TestGroups(t *testing.T) {
	f := large(t, 512)
	for _, format := range []string{"dot", "mermaid"} {
		var b strings.Builder
		if err := picture.Formats[format](&b, f, picture.Options{}); err != nil {
			t.Fatal(err)
		}
		targettest.Golden(t, filepath.Join("testdata", "groups."+format), b.String())
	}
}

// TestNoBuffers: where nothing is drawn, the title is still inside the frame.
func TestNoBuffers(t *testing.T) {
	var b bytes.Buffer
	if err := picture.BufferFormats["svg"](&b, &picture.Buffers{Title: "no circle"}); err != nil {
		t.Fatal(err)
	}
	var frame struct {
		Height float64 `xml:"height,attr"`
		Text   []struct {
			Y float64 `xml:"y,attr"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal(b.Bytes(), &frame); err != nil {
		t.Fatal(err)
	}
	if len(frame.Text) != 1 || frame.Text[0].Y > frame.Height {
		t.Errorf("the title is at %v of %v", frame.Text, frame.Height)
	}
}

// TestManyWires: what many lines have in common is said once, where a label on
// each of them would make the picture of a pod as wide as a street.
func TestManyWires(t *testing.T) {
	f := large(t, 32)
	for format, labels := range map[string]string{"dot": " -- .*label=", "mermaid": `---\|`} {
		var b strings.Builder
		if err := picture.Formats[format](&b, f, picture.Options{}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if !strings.Contains(text, "each line from leaves to nodes: 400G dac 2 m") || regexp.MustCompile(labels).MatchString(text) || strings.Contains(text, "ubuntu") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}

// TestLongNames: names too long for a box stay apart.
func TestLongNames(t *testing.T) {
	long := "hall-north-row-07-rack-17-storage-node-"
	f := compile(t, fstest.MapFS{"f.roce.hcl": {Data: []byte(strings.NewReplacer("h1", long+"1", "h2", long+"2").Replace(pair))}})
	var b strings.Builder
	if err := picture.SVG(&b, f, picture.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">hall-north-row…-storage-node-1<", ">hall-north-row…-storage-node-2<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in\n%s", want, b.String())
		}
	}
}

// TestArcs: lines between nodes stay below the title, with what is written on them.
func TestArcs(t *testing.T) {
	text, _, _ := strings.Cut(pair, `switch "tor"`)
	_, node, _ := strings.Cut(pair, "node \"host\"")
	node, _, _ = strings.Cut(node, "link")
	node = strings.Replace(node, "{ h1 = 1, h2 = 2 }", "{ for i in range(6) : \"h${i}\" => i + 1 }", 1)
	f := compile(t, fstest.MapFS{"f.roce.hcl": {Data: []byte(text + "node \"host\"" + node + "topology \"ring\" \"r\" {\n  nodes = node.host\n}\n")}})
	var b strings.Builder
	if err := picture.SVG(&b, f, picture.Options{}); err != nil {
		t.Fatal(err)
	}
	arcs := regexp.MustCompile(`M\S+ (\S+)Q\S+ (\S+) `).FindAllStringSubmatch(b.String(), -1)
	if len(arcs) != 6 {
		t.Fatalf("%d arcs:\n%s", len(arcs), b.String())
	}
	for _, a := range arcs {
		if from, control := number(a[1]), number(a[2]); (from+control)/2 < 28+15 { // the title's line, and a label
			t.Errorf("an arc from %v goes up to %v", from, (from+control)/2)
		}
	}
}

// TestSVG: a drawing is well formed, and stands where it says it does.
func TestSVG(t *testing.T) {
	for _, nodes := range []int{32, 512} {
		f := large(t, nodes)
		for _, kind := range []picture.Kind{picture.Physical, picture.Cabling} {
			var b bytes.Buffer
			if err := picture.SVG(&b, f, picture.Options{Kind: kind}); err != nil {
				t.Fatal(err)
			}
			if b.Len() > 2<<20 {
				t.Errorf("%d nodes: %d bytes are more than a browser likes", nodes, b.Len())
			}
			var frame struct{ width, height float64 }
			dec := xml.NewDecoder(&b)
			for {
				tok, err := dec.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%d nodes: %v", nodes, err)
				}
				start, ok := tok.(xml.StartElement)
				if !ok {
					continue
				}
				at := map[string]float64{}
				for _, a := range start.Attr {
					at[a.Name.Local] = number(a.Value)
				}
				switch {
				case start.Name.Local == "svg":
					frame.width, frame.height = at["width"], at["height"]
				case start.Name.Local == "rect" && at["x"] > 0:
					if at["x"]+at["width"] > frame.width || at["y"]+at["height"] > frame.height {
						t.Errorf("%d nodes: a box at %v leaves the picture of %v", nodes, at, frame)
					}
				}
			}
		}
	}
}

func number(s string) float64 {
	n, digits := 0.0, false
	for _, c := range s {
		if c < '0' || c > '9' {
			break
		}
		n, digits = n*10+float64(c-'0'), true
	}
	if !digits {
		return -1
	}
	return n
}

func TestMetres(t *testing.T) {
	for mm, want := range map[uint32]string{1: "0.001 m", 500: "0.5 m", 1500: "1.5 m", 3000: "3 m", 40000: "40 m", 100000: "100 m"} {
		if got := picture.Metres(mm); got != want {
			t.Errorf("Metres(%d) = %q, want %q", mm, got, want)
		}
	}
}
