package compiler

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/lower"
)

const reachedFabric = `
defaults "node" { connection = connection.hosts }
connection "gate" {
  for_each = { r1 = "10.0.0.1", r2 = "10.0.0.2" }
  address  = each.value
}
connection "far" {
  address  = "far.example.net"
  user     = "x-${self.name}"
  host_key = "SHA256:uNiVztksCsDhcc0u9e8BrqKGhGjnNIgPkbnImKILvqY"
  jump     = connection.gate[self.rack]
}
connection "hosts" {
  user     = "rocec"
  identity = "~/.ssh/fabric"
  port     = 2222
  jump     = connection.far
}
connection "own" { address = "${self.name}.example.net" }
connection "twice" { jump = [connection.far, connection.gate["r1"]] }
connection "both" {
  password_env     = "A"
  password_command = ["b", ""]
  identity         = [""]
}
node "a" {
  os   = "ubuntu/24.04"
  rack = "r1"
}
node "b" {
  os   = "ubuntu/24.04"
  rack = "r2"
  mgmt = "2001:db8::9"
}
node "c" {
  os         = "ubuntu/24.04"
  rack       = "r3"
}
node "d" {
  manage = "none"
}
node "e" {
  os         = "ubuntu/24.04"
  connection = connection.own
}
node "f" {
  os         = "ubuntu/24.04"
  rack       = "r1"
  mgmt       = "bad host"
  connection = connection.twice
}
node "g" {
  os         = "ubuntu/24.04"
  connection = connection.both
}
target "linux" {
  select   = node.e
  delivery = "bundle"
}
`

func deviceNamed(t *testing.T, f *fabric.Fabric, name string) fabric.DeviceID {
	t.Helper()
	for d := 1; d < len(f.Devices); d++ {
		if f.Text(f.Devices[d].Name) == name {
			return fabric.DeviceID(d)
		}
	}
	t.Fatalf("no device %s", name)
	return 0
}

func TestConnection(t *testing.T) {
	res, _, _ := compileText(t, reachedFabric)
	key := "SHA256:uNiVztksCsDhcc0u9e8BrqKGhGjnNIgPkbnImKILvqY"
	host := func(address, gate, name string) fabric.Connection {
		return fabric.Connection{Name: "connection.hosts", Address: address, Port: 2222, User: "rocec", Identity: []string{"~/.ssh/fabric"}, Jump: []fabric.Connection{
			{Name: gate, Address: map[string]string{"r1": "10.0.0.1", "r2": "10.0.0.2"}[gate[len(gate)-4:len(gate)-2]]},
			{Name: "connection.far", Address: "far.example.net", User: "x-" + name, HostKey: key},
		}}
	}
	for _, c := range []struct {
		device   string
		want     fabric.Connection
		ok       bool
		wrong    []string
		delivery string
	}{
		{"a", host("a", `connection.gate["r1"]`, "a"), true, nil, fabric.SSH},
		{"b", host("2001:db8::9", `connection.gate["r2"]`, "b"), true, nil, fabric.SSH},
		{"c", fabric.Connection{}, false, []string{`"r3"`}, fabric.SSH},
		{"d", fabric.Connection{}, false, nil, ""},
		{"e", fabric.Connection{Name: "connection.own", Address: "e.example.net"}, true, nil, fabric.Bundle},
		{"f", fabric.Connection{}, false, []string{`mgmt "bad host" of f`, `connection.gate["r1"] is on the way to f twice`}, fabric.SSH},
		{"g", fabric.Connection{}, false, []string{"has password_env and password_command", "identity of connection.both has an empty text"}, fabric.SSH},
	} {
		t.Run(c.device, func(t *testing.T) {
			d := deviceNamed(t, res.Fabric, c.device)
			got, ok, diags := res.Connection(d)
			if ok != c.ok || diags.HasErrors() != (c.wrong != nil) {
				t.Fatalf("ok is %t, findings %v", ok, diags)
			}
			if ok {
				if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(fabric.Connection{}, "Decl"), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
				if head := res.Fabric.Text(res.Fabric.Decls[got.Decl].Head); !strings.HasPrefix(head, "connection ") {
					t.Errorf("its declaration is %s", head)
				}
			}
			for i, text := range c.wrong {
				if i >= len(diags) || !strings.Contains(diags[i].Summary, text) || diags[i].Address != "node."+c.device || len(diags[i].Labels) == 0 {
					t.Errorf("%q is not what is found: %v", text, diags)
				}
			}
			for _, chosen := range lower.Selected(res.Fabric, d) {
				if got := res.Delivery(d, &chosen); got != c.delivery {
					t.Errorf("delivery is %s, not %s", got, c.delivery)
				}
			}
		})
	}
}

// TestConnectionAtOnce: several goroutines may ask.
func TestConnectionAtOnce(t *testing.T) {
	res, _, _ := compileText(t, reachedFabric)
	a := deviceNamed(t, res.Fabric, "a")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if c, ok, diags := res.Connection(a); !ok || c.Address != "a" || len(c.Jump) != 2 {
					t.Errorf("%+v, %v", c, diags)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestConnectionNowhere: a connection is in no intent, and changes none.
func TestConnectionNowhere(t *testing.T) {
	without := strings.ReplaceAll(reachedFabric, `defaults "node" { connection = connection.hosts }`, "")
	with, _, _ := compileText(t, reachedFabric)
	bare, _, _ := compileText(t, without)
	for _, name := range []string{"a", "b", "e"} {
		d := deviceNamed(t, with.Fabric, name)
		if diff := cmp.Diff(bare.Intent(deviceNamed(t, bare.Fabric, name)), with.Intent(d)); diff != "" {
			t.Errorf("%s: -without +with\n%s", name, diff)
		}
	}
}
