package linux

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
)

// guestHost is a host whose only port is a device of the guest, with the parts
// of nvmeHost that the guest's device has.
func guestHost(port string) *intent.Device {
	d := node("guest")
	d.QoS = []intent.QoS{storageQoS()}
	d.QoS[0].Pause = intent.Opt[bool]{}
	d.QoS[0].Marks = nil
	d.Ports = []intent.Port{{
		Name: port, MTU: intent.Some[uint16](9000), QoS: "storage", CableMm: intent.Some[uint32](40_000), Enabled: intent.Some(true),
		NIC: &intent.NIC{Model: "lab/dcbstub", Driver: mlx5, DCBX: intent.Some(intent.DCBX{Mode: "off"})},
	}}
	return d
}

// pcpGuest classifies by PCP, with a VLAN device of RDMA on its port.
func pcpGuest(port string) *intent.Device {
	d := guestHost(port)
	q := &d.QoS[0]
	q.Trust, q.DSCP = intent.Some(intent.TrustPCP), intent.Opt[[64]uint8]{}
	q.Marks = []intent.Mark{{Class: "rdma", Carries: "rdma", Priority: 3, DSCP: intent.Some[uint8](26), ECT: true}, {Class: "default", Default: true}}
	d.Ifaces = []intent.Iface{{Name: port + ".100", Kind: intent.VLANDev, On: port, VLAN: 100, QoS: "storage"}}
	return d
}

// familyGuest is a host whose port behaves as one of another family.
func familyGuest(driver string) *intent.Device {
	d := guestHost("rd0")
	d.Ports[0].NIC.Driver, d.Ports[0].CableMm = driver, intent.Opt[uint32]{}
	return d
}

// softGuest is soft-RoCE over a veth of the guest.
func softGuest() *intent.Device {
	d := rxeHost()
	d.Ports[0].Name, d.Ports[0].NIC.RoCE = "v0", intent.Some("v2")
	d.Ifaces[0].Name, d.Ifaces[0].On = "v0", "v0"
	return d
}

// logged makes every command that could change DCB leave a line.
const logged = `mkdir -p /run/lab/bin;  cat >/run/lab/bin/dcb <<'X'
#!/bin/bash
case " $* " in *" set "* | *" add "* | *" del "* | *" replace "* | *" flush "*) echo "dcb $*" >>/run/lab/changes ;; esac
exec /usr/sbin/dcb "$@"
X
chmod +x /run/lab/bin/dcb; export PATH=/run/lab/bin:$PATH
step() { : >/run/lab/changes; echo "@ $1"; shift; "$@"; echo "exit $?"; wc -l </run/lab/changes; }
dump() { for o in dcbx ets pfc app; do echo "# $1/$o.json"; dcb -j $o show dev "$1"; echo; done; echo "# addr.json"; ip -j -d addr show; }
`

// in is a job whose functions start the programs of the kit in the folder of a host.
func in(folder, script string) string {
	program := "/common/" + kit().Name
	return logged + "\ncd " + folder + "\nqos() { " + program + "/rocec-qos --data host.sh \"$@\"; }; capture() { bash " + program + "/capture.sh \"$@\"; }\n" + script
}

const storageJob = `
ip link set rd0 mtu 9000 up
step capture capture /run/lab/before
echo "@ untouched"; dump rd0
step check-before qos --check rd0
step first qos rd0
step second qos rd0
step check-after qos --all --check
echo "@ set"; dump rd0
dcb app replace dev rd0 dscp-prio 26:5
dcb app del dev rd0 dscp-prio 11:0
dcb pfc set dev rd0 prio-pfc 4:on
step check-drift qos --check rd0
step repair qos rd0
step repaired qos --check rd0
step restore qos --restore /run/lab/before
echo "@ restored"; dump rd0
ip link set rd0 mtu 1500
step wrong-mtu qos --check rd0
step no-device qos nosuch
`

const bnxtJob = `
rmmod dcbstub; insmod "$DCBSTUB" family=bnxt
ip link set rd0 mtu 9000 up
dcb app add dev rd0 dscp-prio 26:5 11:2
step first qos rd0
step second qos rd0
echo "@ set"; dump rd0
echo "@ adapter"; cat /sys/module/dcbstub/parameters/map; echo
sed 's/trust=dscp/&; roce_prio=3/' host.sh >/run/lab/host.sh
step port qos --data /run/lab/host.sh rd0
step port-again qos --data /run/lab/host.sh rd0
dcb -j app show dev rd0
`

const iceJob = `
cat >/run/lab/bin/ethtool <<'END'
#!/bin/bash
agent=/sys/module/dcbstub/parameters/agent
case $1 in
--show-priv-flags) if [[ $(cat $agent) == Y ]]; then echo "fw-lldp-agent      : on"; else echo "fw-lldp-agent      : off"; fi ;;
--set-priv-flags) echo "$4" >$agent ;;
*) exit 76 ;;
esac
END
chmod +x /run/lab/bin/ethtool
rmmod dcbstub; insmod "$DCBSTUB" family=ice
ip link set rd0 mtu 9000 up
step capture capture /run/lab/ice
step check-before qos rd0 --check
step first qos rd0
step second qos rd0
echo "@ set"; dump rd0
dcb app del dev rd0 dscp-prio 26:3
dcb app add dev rd0 dscp-prio 26:5
step repair qos rd0
step repaired qos rd0 --check
step restore qos --restore /run/lab/ice
ethtool --show-priv-flags rd0
dcb -j app show dev rd0
rm /run/lab/bin/ethtool
`

const pcpJob = `
for m in 8021q; do modprobe -d "$GUEST_MODS" $m; done
ip link set rd1 mtu 9000 up
ip link add link rd1 name rd1.100 type vlan id 100
dcb app add dev rd1 dscp-prio 26:3
step first qos rd1
step second qos rd1
ip -d link show dev rd1.100
echo "@ set"; dump rd1
ip link del rd1.100
`

const softJob = `
for m in crc32_generic veth configfs ib_uverbs rdma_ucm rdma_rxe; do modprobe -d "$GUEST_MODS" $m; done
ip link add v0 type veth peer name v1
ip link set v1 mtu 4200 up; ip link set v0 mtu 4200 up; ip addr add 10.20.0.5/24 dev v0
step check-before qos --check v0
step first qos v0
step second qos v0
step check-after qos --check v0
rdma link show
grep -Hr . /sys/kernel/config/rdma_cm --include=default_roce_mode --include=default_roce_tos
echo 8 >/sys/kernel/config/rdma_cm/rxe_v0/ports/1/default_roce_tos
step check-drift qos --check v0
step capture capture /run/lab/soft
for f in addr.json rdma.json rdma_cm.txt; do echo "# $f"; cat /run/lab/soft/$f; echo; done
`

// captured are the files in a dump.
func captured(body string) targets.Captured {
	files := map[string][]byte{}
	for part := range strings.SplitSeq("\n"+body, "\n# ") {
		if name, text, ok := strings.Cut(part, "\n"); ok && strings.Contains(name, ".") {
			files[name] = []byte(text)
		}
	}
	return targets.Captured{Files: files}
}

func bundle(t *testing.T, dir string, d *intent.Device) map[string][]byte {
	files := map[string][]byte{}
	for _, a := range artifacts(t, d) {
		files[dir+"/"+a.Path] = a.Bytes
	}
	for _, a := range kit().Artifacts {
		files["/common/"+kit().Name+"/"+a.Path] = a.Bytes
	}
	return files
}

// TestGuest runs the scripts as they are against a real kernel: net/dcb and
// Debian's own dcb on devices that check like mlx5, VLAN devices and soft-RoCE. The
// tests of the guest itself are in the same boot. Changes that are confirmed or
// undone under Debian's own systemd are in that of TestHosts, in the root.
func TestGuest(t *testing.T) {
	oracle.Need(t, oracle.Guest)
	t.Parallel()
	storage, pcp, soft := guestHost("rd0"), pcpGuest("rd1"), softGuest()
	bcm, e810 := familyGuest(bnxt), familyGuest(ice)
	jobs := []oracle.GuestJob{
		{Name: "storage", Files: bundle(t, "/rocec", storage), Script: in("/rocec", storageJob)},
		{Name: "pcp", Files: bundle(t, "/rocec-pcp", pcp), Script: in("/rocec-pcp", pcpJob)},
		{Name: "bnxt", Files: bundle(t, "/rocec-bnxt", bcm), Script: in("/rocec-bnxt", bnxtJob)},
		{Name: "ice", Files: bundle(t, "/rocec-ice", e810), Script: in("/rocec-ice", iceJob)},
		{Name: "soft", Files: bundle(t, "/rocec-soft", soft), Script: in("/rocec-soft", softJob)},
	}
	// The jobs of the harness come first, on a guest that nobody has touched.
	own := oracle.GuestJobs()
	results := oracle.RunGuest(t, append(own, jobs...))
	t.Run("harness", func(t *testing.T) { oracle.CheckGuest(t, results[:len(own)]) })
	results = results[len(own):]
	for _, r := range results {
		t.Logf("%s: exit %d\n%s", r.Name, r.ExitCode, r.Output)
	}
	t.Run("storage", func(t *testing.T) { storageResult(t, storage, results[0].Steps()) })
	t.Run("pcp", func(t *testing.T) { pcpResult(t, pcp, results[1].Steps()) })
	t.Run("bnxt", func(t *testing.T) { bnxtResult(t, bcm, results[2].Steps()) })
	t.Run("ice", func(t *testing.T) { iceResult(t, e810, results[3].Steps()) })
	t.Run("soft", func(t *testing.T) { softResult(t, soft, results[4].Steps()) })
}

// ended demands an exit code, and whether any command of the step set anything.
func ended(t *testing.T, s map[string]string, step, code string, changes bool) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(s[step]), "\n")
	for i, l := range lines {
		if !strings.HasPrefix(l, "exit ") || i+1 >= len(lines) {
			continue
		}
		if l != "exit "+code {
			t.Errorf("%s: %s, wanted %s:\n%s", step, l, code, s[step])
		}
		if n := strings.Fields(lines[i+1])[0]; (n != "0") != changes {
			t.Errorf("%s: %s commands that set something:\n%s", step, n, s[step])
		}
		return
	}
	t.Errorf("%s did not run: %q", step, s[step])
}

func storageResult(t *testing.T, d *intent.Device, s map[string]string) {
	ended(t, s, "check-before", "2", false)
	ended(t, s, "first", "0", true)
	ended(t, s, "second", "0", false)
	if !strings.HasPrefix(s["second"], "exit") {
		t.Errorf("the second run has something to say: %s", s["second"])
	}
	ended(t, s, "check-after", "0", false)
	ended(t, s, "check-drift", "2", false)
	for _, want := range []string{"priority by DSCP (trust)", "PFC is 0 0 0 1 1 0 0 0, wanted 0 0 0 1 0 0 0 0"} {
		if !strings.Contains(s["check-drift"], want) {
			t.Errorf("the drift of %s is not found:\n%s", want, s["check-drift"])
		}
	}
	ended(t, s, "repair", "0", true)
	ended(t, s, "repaired", "0", false)
	ended(t, s, "restore", "0", true)
	ended(t, s, "wrong-mtu", "2", false)
	ended(t, s, "no-device", "1", false)
	sameQoS(t, d, captured(s["set"]))
	before, after := captured(s["untouched"]).Files, captured(s["restored"]).Files
	for _, f := range []string{"rd0/app.json", "rd0/pfc.json"} {
		if diff := cmp.Diff(string(before[f]), string(after[f])); diff != "" {
			t.Errorf("%s is not as before (-before +after):\n%s", f, diff)
		}
	}
	if !strings.Contains(string(after["rd0/ets.json"]), `"tc_tsa":["vendor","vendor","vendor"`) || !strings.Contains(string(after["rd0/ets.json"]), `"prio_tc":[1,0,2,3,4,5,6,7]`) {
		t.Errorf("ETS is not as before: %s", after["rd0/ets.json"])
	}
}

// sameQoS: what a capture shows is what the intent says, in every part that it shows.
func sameQoS(t *testing.T, d *intent.Device, c targets.Captured) {
	t.Helper()
	got, list := Target.Parse(d, c)
	if list.HasErrors() {
		t.Fatal(list)
	}
	if len(got.Ports) != 1 || len(got.QoS) != 1 {
		t.Fatalf("%d ports, %d qos", len(got.Ports), len(got.QoS))
	}
	want, have := d.QoS[0], got.QoS[0]
	want.Name, want.Marks, want.PCP, have.Name, have.Marks = "", nil, intent.Opt[[8]uint8]{}, "", nil
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("qos (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(d.Ports[0].CableMm, got.Ports[0].CableMm); diff != "" {
		t.Errorf("cable (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(d.Ports[0].NIC.DCBX, got.Ports[0].NIC.DCBX); diff != "" {
		t.Errorf("dcbx (-want +got):\n%s", diff)
	}
}

func pcpResult(t *testing.T, d *intent.Device, s map[string]string) {
	ended(t, s, "first", "0", true)
	ended(t, s, "second", "0", false)
	if !strings.Contains(s["second"], "egress-qos-map { 2:3 }") {
		t.Errorf("the VLAN device does not map priority 2 to PCP 3:\n%s", s["second"])
	}
	sameQoS(t, d, captured(s["set"]))
}

// bnxtResult: besides what dcb shows, the map that the adapter was given is the intent's.
func bnxtResult(t *testing.T, d *intent.Device, s map[string]string) {
	ended(t, s, "first", "0", true)
	ended(t, s, "second", "0", false)
	sameQoS(t, d, captured(s["set"]))
	var want []string
	for _, p := range d.QoS[0].DSCP.Value {
		want = append(want, itoa(p))
	}
	if diff := cmp.Diff(want, strings.Fields(s["adapter"])); diff != "" {
		t.Errorf("the adapter's map (-want +got):\n%s", diff)
	}
	ended(t, s, "port", "0", true)
	ended(t, s, "port-again", "0", false)
	if !strings.Contains(s["port-again"], `"dgram_port_prio":[[4791,3]]`) {
		t.Errorf("RoCE has no priority:\n%s", s["port-again"])
	}
}

func iceResult(t *testing.T, d *intent.Device, s map[string]string) {
	ended(t, s, "check-before", "2", false)
	ended(t, s, "first", "0", true)
	ended(t, s, "second", "0", false)
	sameQoS(t, d, captured(s["set"]))
	ended(t, s, "repair", "0", true)
	ended(t, s, "repaired", "0", false)
	ended(t, s, "restore", "0", true)
	if !strings.Contains(s["restore"], "fw-lldp-agent      : on") || strings.Contains(s["restore"], "dscp_prio") {
		t.Errorf("not as before:\n%s", s["restore"])
	}
}

func softResult(t *testing.T, d *intent.Device, s map[string]string) {
	ended(t, s, "check-before", "2", false)
	ended(t, s, "first", "0", false)
	ended(t, s, "second", "0", false)
	ended(t, s, "check-after", "0", false)
	for _, want := range []string{"link rxe_v0/1", "default_roce_mode:RoCE v2", "default_roce_tos:106"} {
		if !strings.Contains(s["check-after"], want) {
			t.Errorf("no %q in:\n%s", want, s["check-after"])
		}
	}
	ended(t, s, "check-drift", "2", false)
	got, list := Target.Parse(d, captured(s["capture"]))
	if list.HasErrors() {
		t.Fatal(list)
	}
	if len(got.Ports) != 1 || len(got.QoS) != 1 || len(got.QoS[0].Marks) != 1 {
		t.Fatalf("the capture shows %+v", got)
	}
	p, m := got.Ports[0], got.QoS[0].Marks[0]
	if !p.NIC.RDMA.Or(false) || p.NIC.RoCE.Or("") != "v2" || p.MTU.Or(0) != 4200 || m.DSCP.Or(0) != 2 || m.ECT {
		t.Errorf("the capture shows %+v %+v %+v", p, p.NIC, m)
	}
}
