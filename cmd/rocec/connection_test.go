package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/cobra"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets/all"
)

const reachedHosts = `
defaults "node" { connection = connection.hosts }
connection "hosts" {
  address      = "${self.name}.oob.example.net"
  user         = "rocec"
  identity     = ["~/.ssh/fabric", "keys/other"]
  known_hosts  = "known_hosts"
  password_env = "ROCEC_FABRIC_PASSWORD"
  jump         = connection.gate
}
connection "gate" {
  address = "gate.example.net"
  port    = 2222
  agent   = true
}
node "a" { os = "ubuntu/24.04" }
node "b" { manage = "none" }
node "c" { os = "ubuntu/24.04" }
switch "s" {
  os    = "sonic/202505"
  model = "nvidia/sn3700c"
}
`

// loaded reads a configuration of one file, with an environment.
func loaded(t *testing.T, text string, env ...string) *project {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fabric.roce.hcl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	a := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{}, env)
	in := &inputs{}
	in.flags(&cobra.Command{}) // makes its lists
	p, err := a.loadFrom(dir, in, false)
	if err != nil {
		t.Fatal(err)
	}
	if !p.loaded() {
		t.Fatalf("it does not load: %v", p.diags)
	}
	return p
}

func (p *project) named(t *testing.T, name string) fabric.DeviceID {
	t.Helper()
	f := p.res.Fabric
	for d := 1; d < len(f.Devices); d++ {
		if f.Text(f.Devices[d].Name) == name {
			return fabric.DeviceID(d)
		}
	}
	t.Fatalf("no device %s", name)
	return 0
}

func TestSpec(t *testing.T) {
	p := loaded(t, reachedHosts)
	live := all.Find("linux").Live
	got, diags := p.spec(p.named(t, "a"))
	if live == nil {
		if !diags.HasErrors() || !strings.Contains(diags[0].Summary, "no way over a session") {
			t.Errorf("a target without a way over sessions: %v", diags)
		}
	} else {
		want := session.Spec{
			Device: "a", Address: "a.oob.example.net", User: "rocec", Identity: []string{"~/.ssh/fabric", filepath.Join(p.dir, "keys/other")},
			PasswordEnv: "ROCEC_FABRIC_PASSWORD", KnownHosts: []string{filepath.Join(p.dir, "known_hosts")}, Shell: live.Shell,
			Jump: []session.Spec{{Device: "connection.gate", Address: "gate.example.net", Port: 2222, Agent: true}},
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || diags.HasErrors() {
			t.Errorf("%v\n-want +got\n%s", diags, diff)
		}
	}
	for _, c := range []struct{ device, want string }{
		{"b", `manage = "none" and is never contacted`},
		{"s", ""},
	} {
		_, diags := p.spec(p.named(t, c.device))
		if !diags.HasErrors() || !strings.Contains(diags[0].Summary, c.want) || len(diags[0].Labels) == 0 {
			t.Errorf("%s: %v", c.device, diags)
		}
		if by := p.delivery(p.named(t, c.device)); by != fabric.Bundle {
			t.Errorf("%s is delivered by %s", c.device, by)
		}
	}
}

func TestSpecOfLab(t *testing.T) {
	lab := filepath.Join(t.TempDir(), "lab.json")
	text := `{"format_version": "1.0", "devices": {"a": {"address": "127.0.0.1", "port": 2201, "user": "root", "identity": "key", "host_key": "SHA256:x"}}}`
	if err := os.WriteFile(lab, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := loaded(t, reachedHosts, "ROCEC_LAB="+lab)
	live := all.Find("linux").Live
	if live == nil {
		if _, diags := p.spec(p.named(t, "a")); !diags.HasErrors() {
			t.Error("a target without a way over sessions has a session in a lab")
		}
		return
	}
	got, diags := p.spec(p.named(t, "a"))
	want := session.Spec{Device: "a", Address: "127.0.0.1", Port: 2201, User: "root", Identity: []string{filepath.Join(filepath.Dir(lab), "key")}, HostKey: "SHA256:x", Shell: live.Shell}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || diags.HasErrors() {
		t.Errorf("%v\n-want +got\n%s", diags, diff)
	}
	if by := p.delivery(p.named(t, "a")); by != fabric.SSH {
		t.Errorf("a device of the lab is delivered by %s", by)
	}
	if _, diags := p.spec(p.named(t, "c")); !diags.HasErrors() || !strings.Contains(diags[0].Summary, "no device c") {
		t.Errorf("a device that the lab lacks: %v", diags)
	}
	if by := p.delivery(p.named(t, "c")); by != fabric.Bundle {
		t.Errorf("a device that the lab lacks is delivered by %s", by)
	}
}
