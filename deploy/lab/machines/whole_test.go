package machines

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// TestLiveBackWhole: a host that rocec never configured is afterwards as it was found, also where somebody had set something
// by hand: networkd takes neither back nor gives back.
func TestLiveBackWhole(t *testing.T) {
	for name, c := range map[string]struct{ tool, hand string }{
		"as found":       {"mlnx_qos", ""},
		"set by hand":    {"mlnx_qos", "ip link set dev %s mtu 4200 && ip link set dev %[1]s up && ip addr add 192.0.2.9/24 dev %[1]s"},
		"dcb":            {"dcb", ""},
		"not far enough": {"mlnx_qos", ""},
		"VLAN device":    {"mlnx_qos", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := compiled(t, "storage")["stor01"]
			m.d.Options = map[string]string{"qos_tool": c.tool}
			if name == "VLAN device" {
				m.d.Ifaces = append(m.d.Ifaces, tagged(m.d.Ports[0].Name))
			}
			m.out = emit.Out{}
			m.target.Write(m.d, &m.out)
			x := &trial{made: m, t: t, clock: lab.NewManualTime(lab.RealTime{}.Now())}
			x.machine = m.machine(t, lab.Environment{Clock: x.clock, User: "root", Faults: &x.faults})
			port := m.d.Ports[len(m.d.Ports)-1].Name
			if c.hand != "" {
				run(t, x.machine, 0, strings.NewReplacer("%s", port, "%[1]s", port).Replace(c.hand))
			}
			shown := func() string {
				return run(t, x.machine, 0, "ip -o link show; ip -o addr show; ip rule show; ip -6 rule show; ls /sys/class/net")
			}
			before, observed := shown(), x.observed(t, x.machine)
			x.lay("a1")
			x.do("a1", targets.VerbBegin)
			if name == "not far enough" {
				if code, out := x.verb(t, x.machine, targets.VerbRevert, "a1"); code != 0 {
					t.Fatalf("revert: exit %d: %s", code, out)
				}
			} else {
				x.do("a1", targets.VerbChange)
				if during := shown(); during == before || strings.Contains(during, "192.0.2.9/24") {
					t.Errorf("the change leaves the network as it was:\n%s", during)
				}
				x.do("a1", targets.VerbRevert)
			}
			if diff := cmp.Diff(before, shown()); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
			if left := intent.Diff(observed, x.observed(t, x.machine)); len(left) > 0 {
				t.Errorf("observed otherwise than before: %v", left)
			}
			// By hand once more: nothing is left to bring back.
			live := m.target.Live.Root
			out := run(t, x.machine, 0, "cd "+live+"/a1/stor01 && ROCEC_KEPT="+live+"/a1.state/kept bash ../"+strings.TrimPrefix(m.out.Kits[0].Folder(), "../")+"/rollback.sh")
			for _, word := range []string{"device", "MTU", "without", "the rule", ": up", ": down", "192.0.2.9"} {
				if strings.Contains(out, word) {
					t.Errorf("a second run says %q:\n%s", word, out)
				}
			}
			if diff := cmp.Diff(before, shown()); diff != "" {
				t.Errorf("after a second run (-before +after):\n%s", diff)
			}
		})
	}
}

// tagged is a VLAN device on a port.
func tagged(port string) intent.Iface {
	return intent.Iface{
		Name: port + ".200", Kind: intent.VLANDev, On: port, VLAN: 200, Addresses: intent.Some([]netip.Prefix{netip.MustParsePrefix("198.51.100.7/24")}),
		Gateway: intent.Some(netip.MustParseAddr("198.51.100.1")),
	}
}

// TestLiveDropped: a VLAN device that the next configuration no longer has goes, and comes back with the one before.
func TestLiveDropped(t *testing.T) {
	t.Parallel()
	x := start(t, "storage", "stor01")
	first := x.d
	with := *first
	v := tagged(first.Ports[0].Name)
	with.Ifaces = append(slices.Clone(first.Ifaces), v)
	use := func(d *intent.Device) {
		x.d, x.out = d, emit.Out{}
		x.target.Write(d, &x.out)
	}
	shown := func() string {
		return regexp.MustCompile(`(?m)^\d+: `).ReplaceAllString(run(t, x.machine, 0, "ip -o link show; ip -o addr show; ip rule show"), "")
	}
	use(&with)
	x.lay("a1")
	x.do("a1", targets.VerbBegin, targets.VerbChange, targets.VerbConfirm)
	before := shown()
	if !strings.Contains(before, v.Name) {
		t.Fatalf("there is no %s:\n%s", v.Name, before)
	}
	use(first)
	x.lay("b2")
	x.do("b2", targets.VerbBegin, targets.VerbChange)
	if got := shown(); strings.Contains(got, v.Name) {
		t.Errorf("%s is still there:\n%s", v.Name, got)
	}
	x.do("b2", targets.VerbRevert)
	if diff := cmp.Diff(before, shown()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// TestLiveRenamed: ports that a change gives other names have their own again afterwards, also after a loss of power in between,
// with all that was set on them by hand; two of them have each other's.
func TestLiveRenamed(t *testing.T) {
	for _, name := range []string{"at once", "reboot", "cut off", "refused"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reboot := name == "reboot"
			m := compiled(t, "storage")["stor01"]
			m.d.Options = map[string]string{"qos_tool": "dcb"}
			ports := m.d.Ports
			for i := range ports {
				nic := *ports[i].NIC
				nic.MAC, nic.PCI = fmt.Sprintf("02:00:5e:00:00:%02x", i), ""
				ports[i].NIC = &nic
			}
			m.out = emit.Out{}
			m.target.Write(m.d, &m.out)
			x := &trial{made: m, t: t, clock: lab.NewManualTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
			x.machine = m.machine(t, lab.Environment{Clock: x.clock, User: "root", Faults: &x.faults})
			hand := "set -e\n"
			for i := range ports {
				link := fmt.Sprintf("/etc/systemd/network/70-hand%d.link", i)
				hand += fmt.Sprintf("printf '[Match]\\nPermanentMACAddress=%s\\n[Link]\\nName=eth%d\\n' >%s\n", ports[i].NIC.MAC, i, link)
				hand += fmt.Sprintf("ip link set dev %s down\nip link set dev %[1]s name eth%d\n", ports[i].Name, i)
			}
			run(t, x.machine, 0, hand+"ip link set dev eth0 mtu 4200 && ip link set dev eth0 up && ip addr add 192.0.2.9/24 dev eth0 && dcb pfc set dev eth0 prio-pfc all:off 6:on")
			shown := func() string {
				return run(t, x.machine, 0, "ip -o link show; ip -o addr show; ip rule show; ls /sys/class/net; for p in /sys/class/net/eth*; do dcb -j pfc show dev ${p##*/}; dcb -j ets show dev ${p##*/}; dcb -j app show dev ${p##*/}; dcb -j dcbx show dev ${p##*/}; ethtool --json -a ${p##*/}; done")
			}
			before := shown()
			x.lay("a1")
			x.do("a1", targets.VerbBegin, targets.VerbChange)
			if during := run(t, x.machine, 0, "ls /sys/class/net"); strings.Contains(during, "eth") || !strings.Contains(during, ports[0].Name) {
				t.Fatalf("the change does not rename:\n%s", during)
			}
			if got := x.left(false); len(got) > 0 {
				t.Errorf("after the change:\n%s", strings.Join(got, "\n"))
			}
			rename := lab.Fault{Kind: lab.FaultRefuse, Nth: 1, Match: regexp.MustCompile(`^ip link set .* name eth1$`)}
			switch name {
			case "reboot":
				x.machine.Reboot()
			case "cut off": // between the two names of a device
				run(t, x.machine, 0, fmt.Sprintf("ip link set dev %s down; ip link set dev %[1]s name rocec-if$(cat /sys/class/net/%[1]s/ifindex)", ports[1].Name))
			case "refused": // once by each of its two ways
				rename.Times = 2
				x.faults.Inject(rename)
				if code, out := x.verb(t, x.machine, targets.VerbRevert, "a1"); code != targets.ExitStuck {
					t.Fatalf("exit %d: %s\n%v", code, out, x.status("a1"))
				}
				x.faults.Clear()
			}
			x.do("a1", targets.VerbRevert)
			after := shown()
			if reboot { // which none of the settings by hand outlives, but the names and what the configuration of before says
				for _, s := range []string{" eth0: ", " eth1: ", "192.0.2.9/24"} {
					if !strings.Contains(after, s) {
						t.Errorf("no %s after a reboot:\n%s", s, after)
					}
				}
				return
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}
