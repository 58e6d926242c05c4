package resolve

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/packs"
)

// TestGateway: a router is one of the NIC's subnets, and of some address.
func TestGateway(t *testing.T) {
	for nic, want := range map[string]string{
		`address = "10.0.0.2/24"` + "\n" + `gateway = "10.0.0.1"`:    "",
		`address = "10.0.0.2/24"` + "\n" + `gateway = "10.0.1.1"`:    "gateway 10.0.1.1 of n/p0 is in none of its subnets",
		`address = "10.0.0.2/24"` + "\n" + `gateway = "10.0.0.255"`:  "gateway 10.0.0.255 is the broadcast address of subnet 10.0.0.0/24",
		`address = "10.0.0.2/24"` + "\n" + `gateway = "10.0.0.0"`:    "gateway 10.0.0.0 is the network address of subnet 10.0.0.0/24",
		`address = "10.0.0.255/24"`:                                  "10.0.0.255/24 is the broadcast address",
		`address = "10.0.0.0/24"`:                                    "10.0.0.0/24 is the network address",
		`address = "10.0.0.0/31"` + "\n" + `gateway = "10.0.0.1"`:    "", // no broadcast among two
		`gateway = "10.0.1.1"`:                                       "NIC p0 has a gateway and no address",
		`address = "none"` + "\n" + `gateway = "10.0.1.1"`:           "NIC p0 has a gateway and no address",
		`address = "none"` + "\n" + `external_gateway = true`:        "NIC p0 has an external gateway and writes none",
		`address = "10.0.0.2/24"` + "\n" + `external_gateway = true`: "NIC p0 has an external gateway and writes none",
	} {
		src := "node \"n\" {\n  os = \"ubuntu/24.04\"\n  nic \"p0\" {\n model = \"nvidia/connectx-7\"\n" + nic + "\n}\n}\n"
		cfg, diags := lang.Load(lang.Options{FS: fstest.MapFS{"f.roce.hcl": {Data: []byte(src)}}, Packs: packs.Files()})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		f, found := Fabric(cfg)
		switch {
		case want == "" && (found.HasErrors() || f.Gateway(&f.Ifaces[1]).String() != "10.0.0.1"):
			t.Errorf("%s: %v, %v", nic, found, f.Ifaces)
		case want != "" && (len(found) != 1 || !strings.Contains(found[0].Summary, want)):
			t.Errorf("%s: %v", nic, found)
		}
	}
}
