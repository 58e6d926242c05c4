package linux

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// TestHostile: what no host is configured like is answered, and the lab goes on.
func TestHostile(t *testing.T) {
	d := &intent.Device{Name: "h1", Kind: intent.Node, OS: intent.OS{Name: "ubuntu", Version: "24.04"}, Ports: []intent.Port{
		{Name: "eth0", NIC: &intent.NIC{Driver: mlx5}}, {Name: "eth1", NIC: &intent.NIC{Driver: mlx5}},
	}}
	m := New(d, lab.Environment{Clock: lab.RealTime{}}, &posix.Scripts{})
	t.Cleanup(func() { _ = m.Close() })
	say := func(line string) string {
		t.Helper()
		var b bytes.Buffer
		m.Exec(context.Background(), line, nil, &b, &b)
		return b.String()
	}
	plan := func(text string) {
		t.Helper()
		if err := m.Disk().WriteFile("/etc/netplan/10-x.yaml", []byte("network:\n  version: 2\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := say("netplan apply"); got != "" {
			t.Errorf("%s: %s", text, got)
		}
	}
	const ports = "  ethernets: {eth0: {}, eth1: {}}\n"
	plan(ports + "  vlans: {va: {id: 5, link: eth0}}\n")
	plan(ports + "  vlans: {va: {id: 5, link: vb}, vb: {id: 6, link: va}, vc: {id: 7, link: vc}}\n")
	if got := say("ip -o link show; ip -j -d addr show"); !strings.Contains(got, "va@eth0") || !strings.Contains(got, "vb@va") || strings.Contains(got, "vc") {
		t.Errorf("devices that lie on each other: %s", got)
	}
	plan(ports + "  vlans: {va: {id: 5, link: eth0}}\n  bonds: {b0: {interfaces: [va, eth1], parameters: {mode: 802.3ad}}}\n")
	if got := say("cat /proc/net/bonding/b0"); !strings.Contains(got, "Slave Interface: va\nMII Status: up\nSpeed: Unknown\n") {
		t.Errorf("a bond of a VLAN device: %s", got)
	}
	for _, line := range []string{"ip ''", "ip '' add", "ip -o", "dcb '' '' '' ''", "ethtool ''", "rdma ''", "devlink ''", "sysctl =", "mlnx_qos -i ''", "mkdir /sys/kernel/config/rdma_cm/", "rmdir /sys/kernel/config/", "netplan ''"} {
		if say(line) == "" && !strings.HasPrefix(line, "mkdir") && !strings.HasPrefix(line, "rmdir") {
			t.Errorf("%s says nothing", line)
		}
	}
}
