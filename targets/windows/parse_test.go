package windows

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	lab "github.com/rocec/rocec/deploy/lab/windows"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
)

// sample is a capture of the S2D node with the oddities of Windows PowerShell
// 5.1: wrapped lists, single elements, enumerations as numbers, numbers as text.
const sample = `{"Schema":1,"Computer":"N1","Domain":"corp.example.com",
"Adapters":{"value":[
 {"Name":"SMB_A","InterfaceAdminStatus":1,"PermanentAddress":"B83FD2000001","ReceiveLinkSpeed":25000000000,"DriverVersionString":"24.4.26429.0"},
 {"Name":"smb_b","InterfaceAdminStatus":2,"PermanentAddress":null,"ReceiveLinkSpeed":"25000000000","DriverVersionString":null}],"Count":2},
"Properties":[
 {"Name":"SMB_A","RegistryKeyword":"*JumboPacket","RegistryValue":{"value":["9014"],"Count":1}},
 {"Name":"SMB_A","RegistryKeyword":"VlanID","RegistryValue":"711"},
 {"Name":"SMB_A","RegistryKeyword":"*NetworkDirectTechnology","RegistryValue":["4"]},
 {"Name":"SMB_A","RegistryKeyword":"*FlowControl","RegistryValue":["0"]},
 {"Name":"smb_b","RegistryKeyword":"*JumboPacket","RegistryValue":["1514"]},
 {"Name":"smb_b","RegistryKeyword":"VlanID","RegistryValue":["0"]},
 {"Name":"smb_b","RegistryKeyword":"*FlowControl","RegistryValue":["3"]}],
"Policies":[
 {"Name":"SMB","Template":"None","NetDirectPortMatchCondition":445,"PriorityValue8021Action":3,"DSCPAction":-1},
 {"Name":"Cluster","Template":"Cluster","NetDirectPortMatchCondition":0,"PriorityValue8021Action":7,"DSCPAction":-1},
 {"Name":"backup","IPProtocolMatchCondition":"TCP","IPPortMatchCondition":10566,"PriorityValue8021Action":1,"DSCPAction":8},
 {"Name":"iSCSI","Template":"iSCSI","PriorityValue8021Action":4,"DSCPAction":-1},
 {"Name":"narrow","NetDirectPortMatchCondition":446,"PriorityValue8021Action":4,"DSCPAction":-1,"OtherMatchConditions":["x.exe"]}],
"FlowControl":[{"Priority":3,"Enabled":true},{"Priority":4,"Enabled":false}],
"TrafficClasses":[
 {"Name":"[Default]","Algorithm":2,"BandwidthPercentage":40,"Priority":{"value":[0,1,2,4,5,6],"Count":6}},
 {"Name":"SMB","Algorithm":"ETS","BandwidthPercentage":60,"Priority":3},
 {"Name":"Cluster","Algorithm":0,"BandwidthPercentage":0,"Priority":[7]}],
"Dcbx":[{"InterfaceAlias":"","Willing":false},{"InterfaceAlias":"SMB_A","Willing":false},{"InterfaceAlias":"smb_b","Willing":true}],
"AdapterQos":[{"Name":"SMB_A","Enabled":true,"PriorityFlowControlEnableArray":[false,false,false,true,false,false,false,false]},
 {"Name":"smb_b","Enabled":true,"PriorityFlowControlEnableArray":[false,false,false,false,true,false,false,false]}],
"AdapterRdma":[{"Name":"SMB_A","Enabled":true,"RdmaTechnology":4},{"Name":"smb_b","Enabled":false,"RdmaTechnology":1}],
"Addresses":[{"InterfaceAlias":"SMB_A","IPAddress":"10.71.1.11","PrefixLength":24,"PrefixOrigin":1},
 {"InterfaceAlias":"SMB_A","IPAddress":"fe80::1%12","PrefixLength":64,"PrefixOrigin":"WellKnown"},
 {"InterfaceAlias":"smb_b","IPAddress":"10.71.9.11","PrefixLength":24,"PrefixOrigin":"Dhcp"}],
"Interfaces":[{"InterfaceAlias":"SMB_A","AddressFamily":"IPv4","NlMtu":9000}],
"Switches":null,"HostAdapters":[],"MigrationOption":null}`

func captured(text string) targets.Captured {
	return targets.Captured{Files: map[string][]byte{readBack: []byte(text)}}
}

func TestParse(t *testing.T) {
	got, list := parse(s2d(), captured(sample))
	if len(list) > 0 {
		t.Fatalf("findings: %v", list)
	}
	a, b := got.Ports[0], got.Ports[1]
	type facts struct {
		Name             string
		Enabled, RDMA    bool
		Mbps             uint32
		MTU              uint16
		Tagged           []uint16
		DCBX, RoCE, MAC  string
		IWARP            bool
		QoS              string
		Pause            bool
		PFC, LosslessSet intent.PrioritySet
	}
	show := func(p intent.Port) facts {
		q := got.QoSNamed(p.QoS)
		return facts{
			p.Name, p.Enabled.Value, p.NIC.RDMA.Value, p.Mbps.Value, p.MTU.Value, p.Tagged.Value, p.NIC.DCBX.Value.Mode, p.NIC.RoCE.Value,
			p.NIC.MAC, p.NIC.IWARP, p.QoS, q.Pause.Value, q.PFC.Value, q.Lossless,
		}
	}
	want := []facts{
		{"smb_a", true, true, 25000, 9000, []uint16{711}, "off", "v2", "", false, "smb_direct", false, 1 << 3, 1 << 3},
		{"smb_b", false, false, 25000, 1500, nil, "willing", "", "", true, "smb_direct@smb_b", true, 1 << 4, 1 << 4},
	}
	if diff := cmp.Diff(want, []facts{show(a), show(b)}); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	q := got.QoSNamed("smb_direct")
	wantSched := [8]intent.Sched{0: {Kind: intent.SchedETS, Percent: 40}, 1: {Kind: intent.SchedETS, Percent: 60}, 2: {Kind: intent.SchedStrict}}
	if diff := cmp.Diff(wantSched, q.Sched.Value); diff != "" {
		t.Errorf("scheduling (-want +got):\n%s", diff)
	}
	wantMarks := []intent.Mark{
		{Class: "smb", Carries: "rdma", Priority: 3, NetDirectPort: 445, ECT: true, Transport: "roce_v2"},
		{Class: "cluster", Carries: "cluster", Priority: 7},
		{Class: "backup", Carries: "other", Priority: 1, TCPPort: 10566, DSCP: intent.Some(uint8(8))},
	}
	if diff := cmp.Diff(wantMarks, q.Marks); diff != "" {
		t.Errorf("marks: the default class is missing on the host, backup is foreign (-want +got):\n%s", diff)
	}
	if n := len(got.Ifaces[0].Addresses.Value); n != 1 {
		t.Errorf("smb_a has %d addresses set by hand", n)
	}
	if n := len(got.Ifaces[1].Addresses.Value); n != 0 {
		t.Errorf("smb_b has %d addresses set by hand, its one is DHCP's", n)
	}
}

// What PowerShell redirects to a file is UTF-16.
func TestParseUTF16(t *testing.T) {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(sample)) {
		b = append(b, byte(u), byte(u>>8))
	}
	plain, _ := json.Marshal(first(parse(s2d(), captured(sample))))
	wide, _ := json.Marshal(first(parse(s2d(), captured(string(b)))))
	if string(plain) != string(wide) {
		t.Errorf("UTF-16 reads as\n%s\nnot\n%s", wide, plain)
	}
	bom, _ := json.Marshal(first(parse(s2d(), captured("\ufeff"+sample))))
	if string(plain) != string(bom) {
		t.Error("a byte order mark makes a difference")
	}
}

func first(d *intent.Device, _ diag.List) *intent.Device { return d }

func TestParseFindings(t *testing.T) {
	for _, c := range []struct {
		name, text, says string
		errors           bool
	}{
		{"nothing", "", "cannot be read", true},
		{"no JSON", "Name  Enabled\n----  -------", "cannot be read", true},
		{"another schema", `{"Schema":2}`, "schema is 2", true},
		{"another host", strings.Replace(sample, `"N1"`, `"N2"`, 1), `read on computer "N2"`, false},
		{"a missing adapter", strings.ReplaceAll(sample, "smb_b", "Ethernet 3"), `no adapter "smb_b"`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			labelled := captured(c.text)
			labelled.Label = func(file string, offset, length int) diag.Label {
				if offset < 0 || length < 0 || offset+length > len(c.text) {
					t.Errorf("label at %d+%d of %d bytes", offset, length, len(c.text))
				}
				return diag.Label{Where: file}
			}
			_, list := parse(s2d(), labelled)
			if list.HasErrors() != c.errors || len(list) == 0 || !strings.Contains(list[0].Summary, c.says) {
				t.Errorf("findings: %v", list)
			}
		})
	}
	if _, list := parse(s2d(), targets.Captured{}); !list.HasErrors() {
		t.Error("no file is no error")
	}
}

// The names that capture.ps1 reads are those of the CIM classes.
func TestCaptureNamesAreCIMProperties(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(oracle.Dir(t), "windows-cim-classes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var db struct {
		Classes map[string]struct {
			Properties map[string]string
		}
	}
	if err := json.Unmarshal(b, &db); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		row     any
		classes []string
		own     []string // of base classes that are not in the file, or made by capture.ps1
	}{
		{adapterRow{}, []string{"MSFT_NetAdapter"}, []string{"Name", "PermanentAddress"}},
		{propertyRow{}, []string{"MSFT_NetAdapterAdvancedPropertySettingData", "MSFT_NetAdapterSettingData"}, nil},
		{policyRow{}, []string{"MSFT_NetQosPolicySettingData"}, []string{"Template", "OtherMatchConditions", "OtherActions"}},
		{flowControlRow{}, []string{"MSFT_NetQosFlowControlSettingData"}, nil},
		{classRow{}, []string{"MSFT_NetQosTrafficClassSettingData"}, nil},
		{dcbxRow{}, []string{"MSFT_NetQosDcbxSettingData"}, nil},
		{adapterQosRow{}, []string{"MSFT_NetAdapterQosSettingData", "MSFT_NetAdapterSettingData", "MSFT_NetAdapter_QosSettings"}, nil},
		{adapterRdmaRow{}, []string{"MSFT_NetAdapterRdmaSettingData", "MSFT_NetAdapterSettingData", "MSFT_NetAdapter_RdmaAdapterInfo"}, nil},
		{addressRow{}, []string{"MSFT_NetIPAddress"}, []string{"PrefixLength"}},
		{interfaceRow{}, []string{"MSFT_NetIPInterface"}, nil},
		{smbLimitRow{}, []string{"MSFT_SmbBandwidthLimit"}, nil},
	} {
		typ := reflect.TypeOf(c.row)
		for i := range typ.NumField() {
			name := typ.Field(i).Name
			known := slices.Contains(c.own, name)
			for _, class := range c.classes {
				_, ok := db.Classes[class].Properties[name]
				known = known || ok
			}
			if !known {
				t.Errorf("%s.%s is no property of %v", typ.Name(), name, c.classes)
			}
			if !strings.Contains(assemble("state"), name) {
				t.Errorf("capture.ps1 does not print %s", name)
			}
		}
	}
}

// What verify.ps1 calls a difference is one: each single drift is seen by the
// script and by the parser.
func TestDriftIsSeen(t *testing.T) {
	for _, c := range []struct {
		name  string
		drift func(*lab.Host)
	}{
		{"jumbo", func(h *lab.Host) { h.NICs[0].Property("*JumboPacket").Value = "1514" }},
		{"shares of one adapter", func(h *lab.Host) {
			all := []any{int64(0), int64(1), int64(2), int64(3), int64(4), int64(5), int64(6), int64(7)}
			h.NICs[0].Own = []*lab.Class{{Name: "[Default]", Algorithm: "ETS", Percent: 100, Priorities: all}}
		}},
		{"vlan", func(h *lab.Host) { h.NICs[1].Property("VlanID").Value = "713" }},
		{"technology", func(h *lab.Host) { h.NICs[0].Property("*NetworkDirectTechnology").Value = "1" }},
		{"pause", func(h *lab.Host) { h.NICs[0].Property("*FlowControl").Value = "3" }},
		{"qos off", func(h *lab.Host) { h.NICs[1].QoS = false }},
		{"rdma off", func(h *lab.Host) { h.NICs[1].RDMA = false }},
		{"willing", func(h *lab.Host) { h.NICs[0].Willing = true }},
		{"pfc", func(h *lab.Host) { h.PFC[4] = true }},
		{"share", func(h *lab.Host) { h.Classes[0].Percent = 40 }},
		{"class", func(h *lab.Host) { h.Classes = h.Classes[:1] }},
		{"policy", func(h *lab.Host) { h.Policies[0].Priority = 4 }},
		{"no policy", func(h *lab.Host) { h.Policies = h.Policies[1:] }},
		{"address", func(h *lab.Host) { h.NICs[0].Addresses = nil }},
		{"speed", func(h *lab.Host) { h.NICs[0].Mbps = 10000 }},
		{"down", func(h *lab.Host) { h.NICs[0].Down = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, h := hostFor("s2d")
			s := scripts(d)
			code, lines, _ := h.Run(s, applyFile, map[string]any{"allowrestart": true})
			expect(t, "apply", 2, code, lines)
			before, _ := parse(d, captured(string(capture(t, h, s))))
			c.drift(h)
			code, lines, _ = h.Run(s, verifyFile, nil)
			expect(t, "verify", 2, code, lines)
			after, _ := parse(d, captured(string(capture(t, h, s))))
			x, _ := json.Marshal(before)
			y, _ := json.Marshal(after)
			if string(x) == string(y) {
				t.Error("the parser sees no difference")
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"Schema":1,"Adapters":{"value":{"value":[],"Count":0},"Count":1}}`))
	f.Add([]byte("\xff\xfe{\x00}\x00"))
	d := []*intent.Device{s2d(), converged(), chelsio()}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, want := range d {
			got, list := parse(want, targets.Captured{Files: map[string][]byte{readBack: b}})
			if (got == nil) != list.HasErrors() {
				t.Fatalf("device %v with findings %v", got != nil, list)
			}
			if got == nil {
				continue
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var again intent.Device
			if err := json.Unmarshal(text, &again); err != nil {
				t.Fatal(err)
			}
			// An observed device is one like any other: nothing below may panic on it.
			targets.Check(&Target, &again, nil)
		}
	})
}
