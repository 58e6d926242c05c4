package linux

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

func TestGolden(t *testing.T) {
	for name, d := range hosts() {
		t.Run(name, func(t *testing.T) {
			targettest.Golden(t, "testdata/"+name+".txtar", targettest.EmitString(&Target, d))
		})
	}
}

func TestEveryField(t *testing.T) {
	t.Parallel()
	pcp := "adapters have no other map than the one they are born with"
	exempt := map[string]targettest.Exempt{
		"nvme-dcb":  {"QoS.PCP": pcp},
		"nvme-mlnx": {"QoS.PCP": pcp},
		"lossy":     {"QoS.PCP": pcp, "Port.Tagged": "the virtual functions tag the VLAN, whether or not the port says so"},
		"bnxt":      {"QoS.PCP": pcp},
		"ice":       {"QoS.PCP": pcp, "QoS.TC": "in DSCP mode a priority has the class of its own number, and what the map never gives has none"},
		"bond-pcp": {
			"QoS.PCP":    pcp,
			"Port.MTU":   "a bond gives its MTU to its members",
			"LAG.Tagged": "the VLAN device tags the VLAN, whether or not the bond says so",
			"NIC.RDMA":   "an interface on the bond carries RDMA, and its ports with it",
		},
	}
	for name, d := range hosts() {
		t.Run(name, func(t *testing.T) { targettest.EveryFieldExcept(t, &Target, exempt[name], d) })
	}
}

// artifacts are what a host gets, which must not be refused.
func artifacts(t testing.TB, d *intent.Device) []emit.Artifact {
	t.Helper()
	if list := targets.Check(&Target, d, nil); list.HasErrors() {
		t.Fatalf("refused:\n%s", targettest.Refusals(list))
	}
	return targettest.Emit(&Target, d)
}

func find(t testing.TB, list []emit.Artifact, name string) []byte {
	t.Helper()
	for _, a := range list {
		if a.Path == name {
			return a.Bytes
		}
	}
	t.Fatalf("no artifact %s", name)
	return nil
}

func TestNetplanAcceptsFiles(t *testing.T) {
	t.Parallel()
	all := hosts()
	for _, name := range []string{"nvme-dcb", "bond-pcp", "lossy", "rxe"} { // the others differ in nothing that netplan sees
		d := all[name]
		t.Run(name, func(t *testing.T) {
			made := oracle.Netplan(t, map[string][]byte{"60-rocec.yaml": find(t, artifacts(t, d), netplanFile)})
			for _, p := range d.Ports {
				if p.Verify {
					continue
				}
				if _, ok := made["10-netplan-"+p.Name+".network"]; !ok {
					t.Errorf("netplan makes nothing for %s", p.Name)
				}
			}
			if name == "bond-pcp" {
				// The drop-in completes a file of exactly this name.
				if _, ok := made["10-netplan-bond0.100.netdev"]; !ok {
					t.Error("netplan makes no VLAN device of the name that the drop-in is for")
				}
			}
		})
	}
}

func TestSystemdAcceptsUnits(t *testing.T) {
	t.Parallel()
	units := map[string][]byte{}
	for _, a := range kit().Artifacts {
		if strings.HasSuffix(a.Path, ".service") {
			units[a.Path] = a.Bytes
		}
	}
	oracle.Systemd(t, units, "/usr/local/sbin/rocec-qos")
}

// TestAddressesOfOthers: where nothing says which addresses an interface has, DHCP and
// link-local addresses are left as they are; below bonds and VLAN devices there are
// none.
func TestAddressesOfOthers(t *testing.T) {
	t.Parallel()
	plain := hosts()["nvme-dcb"]
	netplan := func(change func(d *intent.Device)) string {
		d := *plain
		d.Ifaces = slices.Clone(plain.Ifaces)
		change(&d)
		var out emit.Out
		Target.Emit(&d, &out)
		return string(find(t, out.Artifacts, netplanFile))
	}
	const off = "dhcp4: false"
	written := netplan(func(*intent.Device) {})
	if n := strings.Count(written, off); n == 0 || n != strings.Count(written, "link-local: []") {
		t.Fatalf("addresses are written, and DHCP is not off:\n%s", written)
	}
	for name, change := range map[string]func(d *intent.Device){
		"not managed": func(d *intent.Device) {
			for i := range d.Ifaces {
				d.Ifaces[i].Addresses, d.Ifaces[i].Gateway = intent.Opt[[]netip.Prefix]{}, intent.Opt[netip.Addr]{}
			}
		},
		"no interface": func(d *intent.Device) { d.Ifaces = nil },
	} {
		if got := netplan(change); strings.Contains(got, off) || strings.Contains(got, "link-local") {
			t.Errorf("%s: what is not ours is switched off:\n%s", name, got)
		}
	}
	if bonded := hosts()["bond-pcp"]; bonded != nil {
		if got := string(find(t, artifacts(t, bonded), netplanFile)); strings.Count(got, off) < len(bonded.Ports) {
			t.Errorf("members of a bond take addresses:\n%s", got)
		}
	}
}

// TestShellAcceptsScripts holds the programs and the data against the checkers.
func TestShellAcceptsScripts(t *testing.T) {
	t.Parallel()
	for _, a := range kit().Artifacts {
		if a.Mode == 0o755 {
			oracle.Shell(t, a.Path, a.Bytes)
		}
	}
	all := hosts()
	for _, name := range []string{"bond-pcp", "lossy", "bnxt", "iwarp"} { // one of each shape of data
		text := "#!/bin/bash\n" + string(find(t, artifacts(t, all[name]), dataFile))
		oracle.Shell(t, name+"/"+dataFile, []byte(text))
	}
}

// TestKit: one kit for all hosts, whose parts are what the data may name, and
// whose programs are started in the folder of a host.
func TestKit(t *testing.T) {
	t.Parallel()
	paths := map[string]emit.Artifact{}
	for _, a := range kit().Artifacts {
		paths[a.Path] = a
	}
	for name, d := range hosts() {
		var out emit.Out
		Target.Emit(d, &out)
		if len(out.Kits) != 1 || out.Kits[0] != kit() {
			t.Errorf("%s uses %d kits", name, len(out.Kits))
		}
		for _, p := range newHost(d).parts() {
			if _, ok := paths["modules-load.d/"+p+".conf"]; !ok {
				t.Errorf("%s: the kit has no part %s", name, p)
			}
		}
		for _, a := range out.Artifacts {
			if a.Mode&0o111 != 0 || a.Run != "" {
				t.Errorf("%s: %s is a program, and not of the kit", name, a.Path)
			}
		}
	}
	for path, run := range map[string]string{"install.sh": "", "verify.sh": "", "rollback.sh": "", "capture.sh": " DIR"} {
		if want := "sudo ../common/" + kit().Name + "/" + path + run; paths[path].Run != want {
			t.Errorf("%s is run as %q, wanted %q", path, paths[path].Run, want)
		}
	}
}

// TestSettings: every setting that the data may hold is one that rocec-qos
// forgets between two ports.
func TestSettings(t *testing.T) {
	t.Parallel()
	text, err := scripts.ReadFile("scripts/qos.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, forget, _ := strings.Cut(string(text), "forget() {")
	forget, _, _ = strings.Cut(forget, "}")
	setting := regexp.MustCompile(`(?m)^\t+([a-z_]+)=`)
	for name, d := range hosts() {
		_, body, _ := strings.Cut(string(find(t, artifacts(t, d), dataFile)), "\n)\n")
		for _, m := range setting.FindAllStringSubmatch(body, -1) {
			if !strings.Contains(forget, " "+m[1]+"=''") && !strings.Contains(forget, "\t"+m[1]+"=''") {
				t.Errorf("%s sets %s, which rocec-qos does not forget", name, m[1])
			}
		}
	}
}
