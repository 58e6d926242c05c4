package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

// alikeFabric is a fabric in which most devices are alike. Each %s is a place
// where one of them may say something else.
const alikeFabric = `
qos "roce" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = 26
    priority  = 3
    bandwidth = 50
    ecn       = "auto"
    lossless  = true
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}
node "gpu" {
  for_each = toset(expand_range("gpu[1-12]"))
  os       = "ubuntu/24.04"
  slot     = tonumber(substr(each.key, 3, -1))
  %s
  nic "rail[0-1]" {
    model = "nvidia/connectx-7"
    speed = "400G"
    mtu   = 9000
  }
}
topology "rail_optimized" "pod" {
  qos   = qos.roce
  nodes = node.gpu
  leaf {
    count         = 4
    model         = "nvidia/sn5600"
    os            = "sonic/202505"
    node_ports    = "Ethernet[0-184:8]"
    up_ports      = "Ethernet[256-312:8]"
    cable         = { media = "dac", length = "2m" }
    speed         = "400G"
    mtu           = 9000
    loopback      = "${cidrhost("198.18.0.0/24", 1 + leaf.index)}/32"
    subnet        = "10.${1 + leaf.index}.0.0/24"
    addressing    = "per_port"
    fabric_subnet = "172.16.0.0/17"
    %s
  }
  spine {
    count    = 2
    model    = "nvidia/sn5600"
    os       = "sonic/202505"
    ports    = "Ethernet[0-504:8]"
    cable    = { media = "dr", length = "40m" }
    speed    = "400G"
    mtu      = 9000
    %s
  }
}
target "linux" { select = node.gpu }
%s
`

// loadText loads one file of source.
func loadText(t *testing.T, text string) *project {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fabric.roce.hcl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return loadFolder(t, dir)
}

func loadFolder(t *testing.T, dir string) *project {
	t.Helper()
	a := &app{env: map[string]string{}}
	p, err := a.loadFrom(dir, &inputs{vars: orderedVars{list: &[]lang.Var{}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if p.diags.HasErrors() {
		t.Fatalf("%s: %s", p.diags[0].Rule, p.diags[0].Summary)
	}
	return p
}

// TestKinds: one device of each kind stands for the others, and the findings are
// those of asking for every one.
func TestKinds(t *testing.T) {
	for name, c := range map[string]struct {
		node, leaf, spine, more string
		refused                 int // findings, before equal ones are folded
	}{
		"none":              {},
		"a host by itself":  {node: "except \"gpu7\" {\n mtu = 4200\n}"},
		"one host refused":  {node: "except \"gpu7\" {\n os = \"ubuntu/20.04\"\n}", refused: 1},
		"every leaf":        {leaf: `vrf = "blue"`, refused: 56},
		"an unknown option": {more: "target \"sonic\" {\n options = { nothing = true }\n}", refused: 6},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(alikeFabric, c.node, c.leaf, c.spine, c.more)
			each := loadText(t, text)
			before, all := len(each.diags), len(each.devicesBy(&judge{project: each, each: true}))
			var one *project
			var folded *judge
			for _, threads := range []int{1, 8} {
				was := runtime.GOMAXPROCS(threads)
				one = loadText(t, text)
				folded = &judge{project: one, kinds: map[string]*kind{}}
				devices := len(one.devicesBy(folded))
				runtime.GOMAXPROCS(was)
				if devices != all {
					t.Errorf("%d devices on %d threads, want %d", devices, threads, all)
				}
				if d := cmp.Diff(each.diags, one.diags); d != "" {
					t.Errorf("findings on %d threads (-every device +one of each kind):\n%s", threads, d)
				}
			}
			refused := 0
			for _, d := range one.diags[before:] {
				refused += max(1, d.Count)
			}
			if refused != c.refused {
				t.Errorf("%d findings, want %d: %+v", refused, c.refused, one.diags)
			}
			if n := len(folded.kinds); n == 0 || n > 6 {
				t.Errorf("18 devices are of %d kinds, want 6 at most", n)
			}
		})
	}
}

// TestTargetsJudgeNoNames spoils the intents of the examples in every field:
// other names and addresses that relate alike are refused as often.
func TestTargetsJudgeNoNames(t *testing.T) {
	seen := map[string]int{}
	for _, dir := range []string{"gpu-pod", "hci", "nvme-of", "smb-direct", "storage"} {
		p := loadFolder(t, filepath.Join("..", "..", "examples", dir))
		kinds := map[string]bool{}
		for _, s := range p.devices() {
			shape, ok := p.res.Shape(s.id, nil)
			if kinds[string(shape)] {
				continue
			}
			kinds[string(shape)] = true
			if !ok {
				t.Errorf("%s of %s has no shape", s.name, dir)
			}
			d := p.alone(&s)
			spoilEach(reflect.ValueOf(d).Elem(), func() {
				want := refusalsOf(s.target, d)
				if len(want) > 0 {
					seen[s.target.Name]++
				}
				other := targettest.Clone(t, d)
				readdress(other)
				if got := refusalsOf(s.target, other); len(got) != len(want) {
					t.Errorf("%s of %s: %d refusals, with other names and addresses %d:\n%s\n%s", s.name, dir, len(want), len(got), strings.Join(want, "\n"), strings.Join(got, "\n"))
				}
			})
		}
	}
	for name, n := range seen {
		if n < 20 {
			t.Errorf("target %s refused something of %d intents only", name, n)
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %v were asked", seen)
	}
}

func refusalsOf(t *targets.Target, d *intent.Device) (list []string) {
	for _, x := range targets.Check(t, d, func(intent.Path) []diag.Label { return nil }) {
		list = append(list, x.Summary)
	}
	return list
}

// spoilEach sets every value inside v to other ones in turn and calls visit.
func spoilEach(v reflect.Value, visit func()) {
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	try := func(x reflect.Value) {
		v.Set(x.Convert(v.Type()))
		visit()
		v.Set(was)
	}
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[netip.Addr]() || v.Type() == reflect.TypeFor[netip.Prefix]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoilEach(v.Field(i), visit)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			try(reflect.Zero(v.Type()))
			spoilEach(v.Elem(), visit)
		}
	case reflect.Slice:
		if n := v.Len(); n > 0 {
			try(v.Slice(0, n-1))
			try(reflect.Append(v.Slice3(0, n, n), v.Index(0))) // one thing twice
			spoilEach(v.Index(n-1), visit)
		}
	case reflect.Bool:
		try(reflect.ValueOf(!v.Bool()))
	case reflect.String:
		try(reflect.ValueOf("v1"))
		try(reflect.ValueOf(""))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		try(reflect.ValueOf(v.Uint() + 1))
		try(reflect.Zero(v.Type()))
	case reflect.Int8:
		try(reflect.ValueOf(v.Int() + 1))
	}
}

// readdress gives a device another name and other addresses, which relate to
// each other as the old ones did.
func readdress(d *intent.Device) {
	d.Name = "renamed.device_" + d.Name
	if d.Name == "renamed.device_" {
		d.Name = ""
	}
	if m := d.MLAG; m != nil {
		if strings.TrimSpace(m.Peer) != "" {
			m.Peer = "renamed.device_" + m.Peer
		}
		m.Source, m.PeerAddress = moved(m.Source), moved(m.PeerAddress)
	}
	for i := range d.Ports {
		if n := d.Ports[i].NIC; n != nil && len(n.MAC) == 17 {
			n.MAC = "5a" + n.MAC[2:]
		}
	}
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		f.Gateway.Value = moved(f.Gateway.Value)
		f.Addresses.Value = slices.Clone(f.Addresses.Value)
		for k, a := range f.Addresses.Value {
			f.Addresses.Value[k] = netip.PrefixFrom(moved(a.Addr()), a.Bits())
		}
	}
}

// moved is an address in another network: bits are turned, so that what was
// equal or inside stays so.
func moved(a netip.Addr) netip.Addr {
	switch {
	case a.Is4():
		b := a.As4()
		b[0], b[1] = b[0]^1, b[1]^0x20
		return netip.AddrFrom4(b)
	case a.Is6():
		b := a.As16()
		b[3] ^= 0x20
		return netip.AddrFrom16(b)
	}
	return a
}

// TestLowerLike: the intent and the files of a device are the same, be they made
// of those of another one of its kind or by themselves.
func TestLowerLike(t *testing.T) {
	made := 0
	check := func(t *testing.T, p *project) {
		devices := p.devices()
		for i := range devices {
			if k := devices[i].kind; k != nil {
				k.devices = kindFrom
			}
		}
		for i := range devices {
			s := &devices[i]
			like := p.lower(s)
			alone := &compiled{served: s, intent: p.alone(s)}
			if d := cmp.Diff(alone.intent, like.intent, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); d != "" {
				t.Fatalf("%s (-by itself +like another):\n%s", s.name, d)
			}
			a, b := alone.emit(false), like.emit(false)
			if a.Digest(alone.intent) != b.Digest(like.intent) {
				t.Errorf("%s: another digest than by itself", s.name)
			}
			for n, f := range a.Artifacts {
				if string(f.Bytes) != string(b.Artifacts[n].Bytes) || f.Digest() != b.Artifacts[n].Digest() {
					t.Errorf("%s: %s is another one than by itself", s.name, f.Path)
				}
			}
			if like.like != nil {
				made++
			}
		}
	}
	for _, dir := range []string{"gpu-pod", "hci", "nvme-of", "smb-direct", "storage"} {
		t.Run(dir, func(t *testing.T) { check(t, loadFolder(t, filepath.Join("..", "..", "examples", dir))) })
	}
	t.Run("alike", func(t *testing.T) { check(t, loadText(t, fmt.Sprintf(alikeFabric, "", "", "", ""))) })
	if made < 50 {
		t.Errorf("%d devices were made of others", made)
	}
}
