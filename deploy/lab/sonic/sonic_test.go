package sonic

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

func device(model string) *intent.Device {
	return &intent.Device{
		Name: "leaf1", Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202405"}, Model: model, ASIC: "spectrum-2",
		Ports: []intent.Port{
			{Name: "Ethernet0", Breakout: "2x50G", Split: &intent.Split{Parent: "Ethernet0", Mode: "2x50G", Number: 1, Lanes: "0,1", Alias: "etp1a", Index: 1}},
			{Name: "Ethernet2", Split: &intent.Split{Parent: "Ethernet0", Mode: "2x50G", Number: 2, Lanes: "2,3", Alias: "etp1b", Index: 1}},
			{Name: "Ethernet4"},
		},
	}
}

func start(t testing.TB, model string, validate func(context.Context, *intent.Device, []byte) error) *Machine {
	t.Helper()
	m := New(device(model), lab.Environment{Clock: lab.RealTime{}, User: "admin", Validate: validate}, &posix.Scripts{})
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func (m *Machine) say(line string) string {
	var b bytes.Buffer
	code := m.Exec(context.Background(), line, nil, &b, &b)
	return fmt.Sprintf("%sexit %d", b.String(), code)
}

// TestConfig: the commands answer with the texts of sonic-utilities, and what
// they refuse changes nothing.
func TestConfig(t *testing.T) {
	m := start(t, "nvidia/sn3700c", func(_ context.Context, _ *intent.Device, b []byte) error {
		if strings.Contains(string(b), "poison") {
			return fmt.Errorf("poison is no value")
		}
		return nil
	})
	put := func(name, text string) {
		if err := m.Disk().WriteFile("/home/admin/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("vlan.json", `{"VLAN":{"Vlan100":{"vlanid":"100"}}}`)
	put("add.json", `[{"op":"add","path":"/VLAN/Vlan200","value":{"vlanid":"200"}}]`)
	put("empty.json", `[{"op":"remove","path":"/VLAN/Vlan100"},{"op":"remove","path":"/VLAN/Vlan200"}]`)
	put("pool.json", `[{"op":"replace","path":"/BUFFER_POOL/ingress_lossless_pool/size","value":"1"}]`)
	put("bad.json", `[{"op":"add","path":"/VLAN/Vlan300","value":{"vlanid":"poison"}}]`)
	put("wd.json", `[{"op":"add","path":"/PFC_WD","value":{"GLOBAL":{"POLL_INTERVAL":"200"},"Ethernet4":{"action":"drop","detection_time":"200","restoration_time":"400"}}}]`)
	put("wdless.json", `[{"op":"remove","path":"/PFC_WD/GLOBAL"}]`)
	for _, c := range []struct{ line, want string }{
		{"config checkpoint a", "Root privileges are required for this operation\nexit 1"},
		{"sudo config checkpoint a", "Checkpoint created successfully.\nexit 0"},
		{"sudo config list-checkpoints", "[\n    \"a\"\n]\nexit 0"},
		{"sudo config load vlan.json", "Aborted!\nexit 1"},
		{"sudo config load -y nowhere.json", "The config_db file nowhere.json doesn't exist\nexit 0"},
		{"sudo config load -y vlan.json", "--write-to-db\nexit 0"},
		{"sudo config apply-patch add.json", "Patch applied successfully.\nexit 0"},
		{"sudo config apply-patch nowhere.json", "Failed to apply patch due to: [Errno 2] No such file or directory: 'nowhere.json'"},
		{"sudo config apply-patch empty.json", "given patch is not valid because it will result in empty tables which is not allowed in ConfigDb. Table: VLAN"},
		{"sudo config apply-patch pool.json", "Modification of BUFFER_POOL table is illegal-"},
		{"sudo config apply-patch bad.json", "poison is no value\nexit 2"},
		{"sudo config apply-patch wd.json", "Patch applied successfully.\nexit 0"},
		{"sudo config apply-patch wdless.json", "Operation: remove is illegal on field: /PFC_WD/GLOBAL\nexit 2"},
		{"pfcwd show config", "     PORT  ACTION  DETECTION TIME  RESTORATION TIME  HISTORY\n---------  ------  --------------  ----------------  -------\nEthernet4    drop             200               400  disable\nexit 0"},
		{"sonic-cfggen -d --var-json VLAN", `"Vlan200": {`},
		{"sonic-cfggen -d -v DEVICE_METADATA.localhost.hwsku", "ACS-MSN3700C\nexit 0"},
		{"sudo config interface breakout Ethernet4 2x50G -f -y", "[ERROR] Ethernet4 interface is NOT present in BREAKOUT_CFG table of CONFIG DB"},
		{"sudo config interface breakout Ethernet0 8x10G -f -y", "[ERROR] Target mode 8x10G is not available for the port Ethernet0"},
		{"sudo config interface breakout Ethernet0 2x50G -f -y", "Breakout process got successfully completed."},
		{"sonic-cfggen -d --var-json PORT | grep -c lanes", "3\nexit 0"},
		{"sudo config rollback nowhere", "Failed to rollback config\nUsage: config rollback"},
		{"sudo config rollback a", "Config rolled back successfully.\nexit 0"},
		{"sonic-cfggen -d --var-json PORT | grep -c lanes; sonic-cfggen -d --var-json VLAN", "2\nnull\nexit 0"},
		{"sudo config save", "Aborted!\nexit 1"},
		{"sudo config save -y && grep -c Vlan /etc/sonic/config_db.json", "0\nexit 1"},
		{"sudo config delete-checkpoint a && sudo config delete-checkpoint a", "Error: Checkpoint 'a' does not exist\nexit 2"},
		{"sudo config nonsense", "No such command 'nonsense'"},
		{"sudo config apply-patch", "Missing argument 'PATCH_FILE_PATH'."},
		{"show version; show nonsense", "HwSKU: ACS-MSN3700C"},
	} {
		if got := m.say(c.line); !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s\nwanted %q", c.line, got, c.want)
		}
	}
}

// TestUnknownSKU: the config updater refuses what it restricts on a model that it does not know.
func TestUnknownSKU(t *testing.T) {
	m := start(t, "dell/s5224f-on", nil)
	if err := m.Disk().WriteFile("/home/admin/wd.json", []byte(`[{"op":"add","path":"/PFC_WD","value":{"GLOBAL":{"POLL_INTERVAL":"200"}}}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := m.say("sudo config apply-patch wd.json"); !strings.Contains(got, "Modification of PFC_WD table is illegal-") {
		t.Error(got)
	}
}

// TestReboot: what was not saved is gone.
func TestReboot(t *testing.T) {
	m := start(t, "nvidia/sn3700c", nil)
	if err := m.Disk().WriteFile("/home/admin/v.json", []byte(`{"VLAN":{"Vlan7":{"vlanid":"7"}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, save := range []bool{false, true} {
		m.say("sudo config load -y v.json")
		if save {
			m.say("sudo config save -y")
		}
		m.Reboot()
		if got := strings.Contains(m.say("sonic-cfggen -d --print-data"), "Vlan7"); got != save {
			t.Errorf("saved %v, there %v", save, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"A":{"k|x":{"f":"v","l":["a"]}},"B":{"NULL":{"NULL":"NULL"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		db, err := read(b)
		if err != nil {
			return
		}
		if again, err := read(db.print()); err != nil || !bytes.Equal(again.print(), db.print()) {
			t.Errorf("%q: %v", b, err)
		}
		db.forget("x")
	})
}
