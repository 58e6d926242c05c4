package linux

import (
	"path"
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
	pcp := "mlx5 has no other map than the one it is born with"
	exempt := map[string]targettest.Exempt{
		"nvme-dcb":  {"QoS.PCP": pcp},
		"nvme-mlnx": {"QoS.PCP": pcp},
		"lossy":     {"QoS.PCP": pcp, "Port.Tagged": "the virtual functions tag the VLAN, whether or not the port says so"},
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
	for name, d := range hosts() {
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
	for name, d := range hosts() {
		t.Run(name, func(t *testing.T) {
			units := map[string][]byte{}
			for _, a := range artifacts(t, d) {
				if strings.HasPrefix(a.Path, "systemd/system/") {
					units[path.Base(a.Path)] = a.Bytes
				}
			}
			oracle.Systemd(t, units, "/usr/local/sbin/rocec-qos")
		})
	}
}

// TestShellAcceptsScripts holds one host of each shape of script against the
// checkers; the data of the others is parsed by TestEveryString.
func TestShellAcceptsScripts(t *testing.T) {
	t.Parallel()
	for name, only := range map[string]string{"bond-pcp": "", "nvme-mlnx": qosScript, "lossy": "verify.sh"} {
		for _, a := range artifacts(t, hosts()[name]) {
			if a.Mode == 0o755 && (only == "" || a.Path == only) {
				oracle.Shell(t, name+"/"+a.Path, a.Bytes)
			}
		}
	}
}
