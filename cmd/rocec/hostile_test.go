package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/deploy/apply"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/targets/oracle"
)

// hostileFabric has every string that a user can write and that may reach a
// device, between guillemets with what stands there by default.
const hostileFabric = `
rocec {
  record = { source = «record» }
}
variable "v" {
  description = «description»
  default     = «default»
}
qos «qos smb» {
  trust = "pcp"
  class «class SMB_Direct» {
    carries   = "rdma"
    priority  = 3
    bandwidth = 50
    match     = { netdirect_port = 445 }
    ecn       = "auto"
  }
  class «class2 Cluster» {
    carries   = "cluster"
    priority  = 7
    bandwidth = 1
  }
  class «class3 Default» {
    priority  = 0
    bandwidth = 49
    default   = true
  }
}
qos «roce roce» {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 80
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "rest" {
    priority  = 0
    bandwidth = 20
    default   = true
  }
}
segment «segment smb» {
  vlan   = 711
  subnet = "10.71.1.0/24"
  qos    = qos[«qosref smb»]
  mtu    = 9000
}
segment "gpu" {
  vlan   = 100
  subnet = «subnet 10.64.0.0/24»
  vrf    = «vrf»
  qos    = qos[«roceref roce»]
  mtu    = 9000
}
segment "gpu2" {
  vlan   = 101
  subnet = "10.65.0.0/24"
  qos    = qos[«roceref roce»]
  mtu    = 9000
}
switch "tor" {
  name  = «switch tor»
  model = «model dell/s5224f-on»
  os    = «os sonic/202505»
  role  = «role leaf»
  mgmt  = «mgmt 192.0.2.1»
  vars  = { note = «vars x» }
  port "Ethernet[0-1]" {
    speed    = "25G"
    fec      = "rs"
    tagged = segment[«segmentref smb»]
  }
}
segment "gpu3" {
  vlan   = 102
  subnet = "10.66.0.0/24"
  mtu    = 9000
}
switch "leaf" {
  model = "dell/s5224f-on"
  os    = "sonic/202505"
  interface «loopback Loopback0» {
    on      = "loopback"
    address = "10.64.9.9/32"
  }
  port "Ethernet2" {
    speed    = "25G"
    fec      = "rs"
    untagged = segment.gpu
  }
  port "Ethernet3" {
    speed    = "25G"
    fec      = "rs"
    untagged = segment.gpu2
    tagged = [segment.gpu3]
  }
}
node "win" {
  for_each = { «key n1» = 1 }
  os       = «winos windows-server/2025»
  rack     = «rack r1»
  slot     = 1
  cluster  = «cluster c1»
  nic "smb_a" {
    model    = "nvidia/connectx-6-dx"
    ifname   = «device smb_a»
    firmware = «firmware 22.43.1014»
    driver   = «driver 24.4»
    speed    = "25G"
    segment  = segment[«segmentref smb»]
  }
  nic "smb_b" {
    model   = "nvidia/connectx-6-dx"
    mac     = «mac b8:3f:d2:00:00:02»
    speed   = "25G"
    segment = segment[«segmentref smb»]
    address = "none"
  }
}
node "lin" {
  name  = «node gpu1»
  os    = «linos ubuntu/24.04»
  slot  = 2
  global_pause = false
  nic «nic r0» {
    model   = "nvidia/connectx-6-dx"
    pci     = «pci 0000:1a:00.0»
    adapter = «adapter slot1»
    speed   = "25G"
    fec     = "rs"
    untagged = segment.gpu
  }
  nic "r1" {
    model   = "nvidia/connectx-6-dx"
    pci     = "0000:1a:00.1"
    adapter = «adapter2 slot1»
    ifname  = «lindevice rail1»
    speed   = "25G"
    fec     = "rs"
    untagged = segment.gpu2
    address = «address 10.65.0.77/24»
  }
  interface «interface stor0» {
    on      = "r1"
    segment = segment.gpu3
  }
}
target "netqos" {
  select = node.win
  output = «output windows»
}
target "sonic" {
  options = { «option buffer_model» = «value traditional» }
}
link «link a» {
  ends  = [node.win[«keyref n1»].nic["smb_a"], switch.tor.port["Ethernet0"]]
  cable = { media = "dac", length = "3m" }
}
link "b" {
  ends  = [node.win[«keyref n1»].nic["smb_b"], switch.tor.port["Ethernet1"]]
  cable = { media = "dac", length = "3m" }
}
link "c" {
  ends  = [node.lin.nic[«nicref r0»], switch.leaf.port["Ethernet2"]]
  cable = { media = "dac", length = "3m" }
}
link "d" {
  ends  = [node.lin.nic["r1"], switch.leaf.port["Ethernet3"]]
  cable = { media = "dac", length = "3m" }
}
override {
  on      = switch.tor
  accept  = "ROCE312"
  reason  = «reason NET-1»
  expires = "2099-01-01"
}
`

const pwned = "pwned"

// hostile breaks out of something that does not quote it.
var hostile = []string{
	"'; pwned; '", `"; pwned; "`, "$(pwned)", "`pwned`", "${pwned}", "$pwned", "$env:pwned", `\"; pwned`, "; pwned", "| pwned", "&& pwned", "> pwned",
	"a\npwned\n", "a\r\npwned", "a\rpwned", "a\u2028pwned", "a\u0085pwned", "a\x00pwned", "\x1b]0;pwned\a", "\u202epwned",
	"\u2018; pwned; \u2018", "\u2019; pwned; \u2019", "\u201a; pwned; \u201a", "\u201b; pwned; \u201b", "\u201c; $(pwned) \u201d", "\u2013pwned",
	"#> pwned <#", "'@\npwned", "\"@\npwned", "EOF\npwned\nEOF", "../pwned", "-pwned", "pwned %i %n", "{{pwned}}", "a: pwned", "pwned: {", "*pwned", "[pwned", "pwned",
}

// share of the hostile strings that one run puts into each place: another one
// each time, so that a run stays short and many runs see all.
const share = 16

// TestHostileStrings puts hostile strings into every place: the source is
// refused with a finding, or every artifact still reads in its language, with
// the string in quotes and comments only.
func TestHostileStrings(t *testing.T) {
	place := regexp.MustCompile(`«([a-z0-9]+) ?([^»]*)»`)
	places := place.FindAllStringSubmatch(hostileFabric, -1)
	with := func(at, text string) string {
		return place.ReplaceAllStringFunc(hostileFabric, func(s string) string {
			m := place.FindStringSubmatch(s)
			switch {
			case at != "" && (m[1] == at || m[1] == at+"ref"):
				return quoted(text)
			case m[2] == "":
				return "null"
			}
			return quoted(m[2])
		})
	}
	if files, refused := emitted(t, with("", "")); refused != "" || len(files) == 0 {
		t.Fatalf("the fabric as such is refused: %s", refused)
	}
	passed := 0
	for _, p := range places {
		if strings.HasSuffix(p[1], "ref") {
			continue
		}
		t.Run(p[1], func(t *testing.T) {
			for i := rand.IntN(share); i < len(hostile); i += share {
				h := hostile[i]
				files, refused := emitted(t, with(p[1], h))
				if refused != "" {
					continue
				}
				passed++
				for _, f := range files {
					harmless(t, f, h)
				}
				if t.Failed() {
					t.Fatalf("with %q", h)
				}
			}
		})
	}
	if passed < 15 {
		t.Errorf("only %d fabrics were emitted: the test says little", passed)
	}
}

// quoted is a string literal of the language.
func quoted(s string) string {
	b, _ := json.Marshal(s)
	return strings.NewReplacer("${", "$${", "%{", "%%{", `\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

// emitted compiles a source, and returns its files or why it is refused.
func emitted(t *testing.T, src string) (list []apply.File, refused string) {
	t.Helper()
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.Chdir(dir), os.WriteFile("fabric.roce.hcl", []byte(src), 0o644)); err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(home) // the oracle looks for its data from there
	a := &app{env: map[string]string{}, err: &bytes.Buffer{}}
	p, err := a.load(&inputs{vars: orderedVars{list: &[]lang.Var{}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	devices := p.devices()
	for _, d := range p.diags {
		if d.Severity == 0 {
			if d.Summary == "" {
				t.Fatalf("refused without a word: %+v", d)
			}
			return nil, fmt.Sprintf("%s %s %+v", d.Rule, d.Summary, d.Labels)
		}
	}
	all := p.deliveries(devices, false, plain)
	tree, err := apply.NewTree(p.made, all)
	if err == nil {
		_, err = apply.WriteTar(io.Discard, tree)
	}
	if err != nil {
		return nil, err.Error()
	}
	for i := range all.Places {
		d, err := all.Make(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range d.Artifacts {
			list = append(list, apply.File{Path: path.Join(d.Folder(), a.Path), Mode: os.FileMode(a.Mode), Bytes: a.Bytes})
		}
	}
	return list, ""
}

// harmless demands that a file reads in its language. Those without the string
// are what they are without it.
func harmless(t *testing.T, f apply.File, h string) {
	t.Helper()
	if !bytes.Contains(bytes.ToLower(f.Bytes), []byte(pwned)) && !strings.Contains(f.Path, pwned) {
		return
	}
	if strings.Contains(f.Path, "..") || strings.ContainsAny(f.Path, "\x00\n\r\\") {
		t.Errorf("path %q", f.Path)
	}
	var err error
	var v any
	first, _, _ := bytes.Cut(f.Bytes, []byte("\n"))
	switch ext := path.Ext(f.Path); {
	case bytes.HasPrefix(first, []byte("#!")) && bytes.HasSuffix(first, []byte("sh")):
		err = quotedInShell(f.Bytes)
	case ext == ".ps1", ext == ".psd1":
		oracle.PowerShellCommands(t, f.Bytes)
	case ext == ".json":
		err = json.Unmarshal(f.Bytes, &v)
	case ext == ".yaml":
		err = yaml.Unmarshal(f.Bytes, &v)
	default:
		err = ownLine(f.Bytes)
	}
	if err != nil {
		t.Errorf("%s: %v", f.Path, err)
	}
}

// quotedInShell demands that a script parses and that no expansion, command or
// redirection has the string in it.
func quotedInShell(script []byte) error {
	tree, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(script), "")
	if err != nil {
		return err
	}
	syntax.Walk(tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ParamExp, *syntax.ProcSubst, *syntax.ArithmExp:
			if text := script[n.Pos().Offset():n.End().Offset()]; bytes.Contains(text, []byte("("+pwned)) || bytes.Contains(text, []byte("{"+pwned)) || bytes.Contains(text, []byte("`"+pwned)) || bytes.HasPrefix(text, []byte("$"+pwned)) {
				err = fmt.Errorf("expanded: %s", text)
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 && strings.Contains(n.Args[0].Lit(), pwned) {
				err = fmt.Errorf("run: %s", n.Args[0].Lit())
			}
		case *syntax.Redirect:
			if n.Word != nil && strings.Contains(n.Word.Lit(), pwned) && n.Hdoc == nil {
				err = fmt.Errorf("redirected to %s", n.Word.Lit())
			}
		}
		return true
	})
	return err
}

// ownLine demands of units, rules and lists that no line is of the string's making.
func ownLine(text []byte) error {
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == pwned+")" {
			continue // the label of a case in a shell, as which the plain word among the strings needs no quotes
		}
		if strings.HasPrefix(strings.TrimLeft(line, " \t'\"`;|&>$("), pwned) {
			return fmt.Errorf("a line of its own: %s", line)
		}
		if strings.ContainsAny(strings.TrimRight(line, "\n"), "\x00\r\x1b") {
			return fmt.Errorf("control characters: %q", line)
		}
	}
	return nil
}
