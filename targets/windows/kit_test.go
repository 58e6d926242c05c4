package windows

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab/powershell"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

// All hosts of a target share one kit, started from their own folders.
func TestKits(t *testing.T) {
	for _, c := range []struct {
		tg   *targets.Target
		d    *intent.Device
		kit  *emit.Kit
		look *emit.Kit
		run  string
	}{
		{&Target, s2d(), netqosKit(), netqosLook(), `\rocec-netqos.ps1`},
		{&NetworkATC, atcS2D(), atcKit(), atcLookOnly(), `\rocec-atc.ps1`},
	} {
		var out emit.Out
		c.tg.Emit(c.d, &out)
		if len(out.Kits) != 1 || out.Kits[0] != c.kit {
			t.Fatalf("%s uses %d kits", c.tg.Name, len(out.Kits))
		}
		if want := `powershell.exe -NoProfile -ExecutionPolicy Bypass -File ..\common\` + c.kit.Name + c.run; c.kit.Artifacts[0].Run != want {
			t.Errorf("run %s, want %s", c.kit.Artifacts[0].Run, want)
		}
		for _, a := range c.kit.Artifacts {
			if strings.Contains(string(a.Bytes), c.d.Name+"'") || strings.Contains(string(a.Bytes), "smb_a") {
				t.Errorf("%s has data of a host", a.Path)
			}
		}
		for i := range c.d.Ports {
			c.d.Ports[i].Verify = true
		}
		out = emit.Out{}
		c.tg.Emit(c.d, &out)
		if len(out.Kits) != 1 || out.Kits[0] != c.look {
			t.Errorf("a host that is only compared uses %v", out.Kits)
		}
	}
}

// Scripts say so where there is no data, or that of another target.
func TestData(t *testing.T) {
	d, h := hostFor("s2d")
	s := scripts(d)
	for want, text := range map[string]string{
		"no '.\\host.psd1' here": "",
		"is data of network-atc": atcScripts(atcS2D())[dataFile],
	} {
		s[dataFile] = text
		for _, script := range []string{applyFile, undoFile, verifyFile} {
			code, lines, _ := h.Run(s, script, nil)
			expect(t, script, 3, code, lines)
			if !strings.Contains(strings.Join(lines, "\n"), want) {
				t.Errorf("%s says:\n%s", script, strings.Join(lines, "\n"))
			}
		}
	}
	for i := range d.Ports {
		d.Ports[i].Verify = true
	}
	s[dataFile] = scripts(d)[dataFile]
	code, lines, _ := h.Run(s, applyFile, nil)
	expect(t, "apply on a host that is only compared", 3, code, lines)
	if len(h.Changes) > 0 {
		t.Errorf("changed %v", h.Changes)
	}
}

// Import-PowerShellDataFile counts keys and values, and takes 5000.
func TestDataIsSmallEnough(t *testing.T) {
	d := s2d()
	d.Ports, d.Ifaces = nil, nil
	for i := range 32 {
		p := rail(fmt.Sprintf("rail%d", i), fmt.Sprintf("0000:%02x:00.0", i), uint16(100+i))
		p.NIC.MAC, p.NIC.Firmware, p.NIC.DriverV = fmt.Sprintf("b8:3f:d2:00:00:%02x", i), "22.41.1000", "24.4"
		d.Ports = append(d.Ports, p)
		d.Ifaces = append(d.Ifaces, intent.Iface{Name: p.Name, Kind: intent.Direct, On: p.Name, VLAN: uint16(100 + i), MTU: intent.Some(uint16(9000)), Addresses: some(i, 4), RDMA: true})
	}
	for i := range 28 { // with those of SMB Direct, the cluster and the rest
		d.QoS[0].Marks = append(d.QoS[0].Marks, intent.Mark{Class: fmt.Sprintf("backup%d", i), Carries: "other", Priority: 0, TCPPort: uint16(5000 + i)})
	}
	d.QoS[0].Marks = append(d.QoS[0].Marks, intent.Mark{Class: "mail", Carries: "other", Priority: 0, UDPPort: 25})
	for _, tg := range []*targets.Target{&Target, &NetworkATC} {
		if tg == &NetworkATC {
			d.QoS[0].Marks = smbQoS().Marks // it knows no others
		}
		if list := targets.Check(tg, d, nil); list.HasErrors() {
			t.Fatalf("refused:\n%s", targettest.Refusals(list))
		}
		b, err := powershell.Parse(filesOf(tg, d)[dataFile])
		if err != nil {
			t.Fatal(err)
		}
		if n := constants(b.Body[0]); n >= 5000 {
			t.Errorf("%s: %d values", tg.Name, n)
		}
	}
	for what, more := range map[string]func(d *intent.Device){
		"33 adapters":   func(d *intent.Device) { d.Ports = append(slices.Clone(d.Ports), rail("one-more", "", 99)) },
		"129 addresses": func(d *intent.Device) { d.Ifaces = slices.Clone(d.Ifaces); d.Ifaces[0].Addresses = some(0, 5) },
		"33 classes": func(d *intent.Device) {
			q := smbQoS()
			for i := range 30 {
				q.Marks = append(q.Marks, intent.Mark{Class: fmt.Sprintf("backup%d", i), Carries: "other", Priority: 0, TCPPort: uint16(5000 + i)})
			}
			d.QoS = []intent.QoS{q}
		},
	} {
		changed := *d
		more(&changed)
		if list := targettest.Refusals(targets.Check(&Target, &changed, nil)); !strings.Contains(list, what) {
			t.Errorf("%s are not refused:\n%s", what, list)
		}
	}
}

// some are n addresses of a subnet.
func some(subnet, n int) intent.Opt[[]netip.Prefix] {
	var list []netip.Prefix
	for i := range n {
		list = append(list, netip.MustParsePrefix(fmt.Sprintf("10.%d.0.%d/24", subnet, i+1)))
	}
	return intent.Some(list)
}

// constants counts what IsSafeValueVisitor counts.
func constants(n powershell.Node) (count int) {
	switch n := n.(type) {
	case *powershell.Hash:
		for i := range n.Keys {
			count += constants(n.Keys[i]) + constants(n.Values[i])
		}
	case *powershell.Array:
		for _, x := range n.Body {
			count += 1 + constants(x)
		}
	case *powershell.Comma:
		for _, x := range n.Items {
			count += constants(x)
		}
	case *powershell.Unary:
		count = 1 + constants(n.X)
	default:
		count = 1
	}
	return count
}

// BenchmarkEmit is a host of eight rails: what differs from host to host is all
// that is written.
func BenchmarkEmit(b *testing.B) {
	d := s2d()
	d.Ports, d.Ifaces = nil, nil
	for i := range 8 {
		p := rail(fmt.Sprintf("rail%d", i), "", uint16(100+i))
		d.Ports = append(d.Ports, p)
		d.Ifaces = append(d.Ifaces, intent.Iface{Name: p.Name, Kind: intent.Direct, On: p.Name, VLAN: uint16(100 + i), Addresses: address(fmt.Sprintf("10.%d.0.1/24", i)), RDMA: true})
	}
	for _, tg := range []*targets.Target{&Target, &NetworkATC} {
		b.Run(tg.Name, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				var out emit.Out
				tg.Emit(d, &out)
				size = 0
				for _, a := range out.Artifacts {
					size += len(a.Bytes)
				}
			}
			b.ReportMetric(float64(size), "bytes/host")
		})
		b.Run(tg.Name+"/check", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				targets.Check(tg, d, nil)
			}
		})
	}
}
