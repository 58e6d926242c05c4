package rocec_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/targets/oracle"
)

// manyHosts: twelve hosts that know nothing of rocec change at once; the power of
// one fails in the middle of its change, and the port of the last refuses what it
// is to be. Three get a change that nobody confirms, one of which loses its power before
// that is over, and on three others somebody sets something by hand.
const manyHosts = `
cd $site
all=(h{01..11})
machine "${all[@]}" q
halts h05
for h in "${all[@]}" q; do start "$h"; done
up "${all[@]}" q
echo "@ before"; settings "${all[@]}" q
cut_halted h05 & cut=$!
step apply rocec apply --auto-approve
wait "$cut"
echo "@ cut"; settings "${all[@]}" q
step finish rocec apply --auto-approve --exclude=node.q
step refused rocec apply --auto-approve
echo "@ set"; settings "${all[@]}" q
echo "@ anew"; grep anew /mnt/*/u/var/lib/rocec/live/*.state/log
echo "@ file"; at h11 networkctl status r0
step again rocec plan --detailed-exitcode --exclude=node.q
echo "@ crossed"; crossed "${all[@]}"
echo "@ too long"; at h01 ping -M "do" -I r0 -s 8973 -c 1 -W 1 10.100.0.12

few=(h01 h02 h03)
sed -i 's/= 9000/= 4200/' fabric.roce.hcl
step armed rocec apply --auto-approve --confirm=1h --target='node.h[h01]' --target='node.h[h02]' --target='node.h[h03]'
echo "@ unconfirmed"; settings "${few[@]}"; for h in "${few[@]}"; do open_change "$h"; done
power_cut h02; start h02; up h02
echo "@ booted"; settings h02; open_change h02
over=()
for h in "${few[@]}"; do hour_over "$h" & over+=($!); done
wait "${over[@]}"
echo "@ back"; settings "${few[@]}"; for h in "${few[@]}"; do open_change "$h"; done
sed -i 's/= 4200/= 9000/' fabric.roce.hcl
step settle rocec rollback --auto-approve

at h04 ip link set dev r0 mtu 1400
at h07 sysctl -q -w net/ipv4/conf/r0/arp_ignore=0
at h09 ip addr del 10.101.0.19/24 dev r1
step drift rocec verify --exclude=node.q
step mend rocec apply --auto-approve --exclude=node.q
echo "@ mended"; settings "${all[@]}"
step end rocec plan --detailed-exitcode --exclude=node.q
`

// TestManyHosts is rocec on twelve hosts at once: see manyHosts. They are Debian's
// own systemd, udev, networkd, netplan and OpenSSH on the kernel of this machine,
// and their ports are veth, which has neither DCB nor RDMA.
func TestManyHosts(t *testing.T) {
	for _, tool := range []string{oracle.Namespaces, "sshd", "ssh-keygen", "dbus-daemon", "udevadm", "netplan", "sysctl", "ethtool", "dcb", "python3", "ping"} {
		oracle.Need(t, tool)
	}
	t.Parallel()
	r := oracle.RunNamespaces(t, oracle.GuestJob{Name: "many hosts", Seconds: 600, Script: hostScripts(t, "many.sh") + manyHosts, Files: map[string][]byte{
		"rocec": built(t), "fabric.roce.hcl": read(t, "testdata/lab/hosts/many.roce.hcl"),
	}})
	if r.ExitCode != 0 {
		t.Errorf("exit code %d; the last that was said:\n%s", r.ExitCode, r.Output[max(0, len(r.Output)-2000):])
	}
	s := r.Steps()
	all := manyNames(1, 11)
	rails(t, s["before"], nil, append(slices.Clone(all), "q"), 1500)

	said(t, s, "apply", "1", `node.h["h05"]: as it was before: change: `, "the system went down before the change ended, and undid it when it was up again", "Wave first: 2 devices", "Wave rest: 9 devices",
		"Apply failed: 10 applied, 1 rolled back, 1 unchanged", `Stopped by node.h["h05"]`)
	if strings.Contains(s["apply"], "Wave dcb") {
		t.Errorf("a wave begins after one that failed:\n%s", s["apply"])
	}
	others := slices.Concat(manyNames(1, 4), manyNames(6, 11))
	rails(t, s["cut"], others, []string{"h05", "q"}, 9000)
	said(t, s, "finish", "0", "Apply complete: 1 applied, 0 rolled back")
	said(t, s, "refused", "1", "node.q: as it was before: change: install.sh: not every setting took", "Apply failed: 0 applied, 1 rolled back")
	rails(t, s["set"], all, []string{"q"}, 9000)
	if s["anew"] != "" {
		t.Errorf("devices that are as networkd was told are told to it once more:\n%s", s["anew"])
	}
	for _, want := range []string{"/run/systemd/network/10-netplan-r0.network", "(configured)"} {
		if !strings.Contains(s["file"], want) {
			t.Errorf("networkd does not have r0 from the file, no %q:\n%s", want, s["file"])
		}
	}
	said(t, s, "again", "0", "No changes.")

	var links []string
	for i, h := range all {
		for _, port := range []string{"r0", "r1"} {
			links = append(links, h+" "+port+" "+all[(i+1)%len(all)])
		}
	}
	if diff := cmp.Diff(links, strings.Split(strings.TrimSpace(s["crossed"]), "\n")); diff != "" {
		t.Errorf("9000 bytes do not cross everywhere (-want +got):\n%s", diff)
	}
	if !strings.Contains(strings.ToLower(s["too long"]), "message too long") {
		t.Errorf("9001 bytes leave a port of MTU 9000:\n%s", s["too long"])
	}

	few := manyNames(1, 3)
	said(t, s, "armed", "0", "3 to be confirmed")
	rails(t, s["unconfirmed"], few, nil, 4200)
	if n := strings.Count(s["unconfirmed"], `"phase":"changed"`); n != 3 || strings.Count(s["unconfirmed"], ".timer rocec-live-") != 3 {
		t.Errorf("%d changes wait for their confirmation, wanted 3 and their timers:\n%s", n, s["unconfirmed"])
	}
	rails(t, s["booted"], few[1:2], nil, 4200)
	if !strings.Contains(s["booted"], `"phase":"changed"`) || !strings.Contains(s["booted"], ".timer rocec-live-") {
		t.Errorf("after the boot the change of h02 does not wait for its confirmation:\n%s", s["booted"])
	}
	rails(t, s["back"], few, nil, 9000)
	if n := strings.Count(s["back"], `"phase":"reverted"`); n != 3 || strings.Contains(s["back"], ".timer") {
		t.Errorf("%d changes are undone, wanted 3 and no timers:\n%s", n, s["back"])
	}
	said(t, s, "settle", "0", "Rollback complete: 0 applied, 3 rolled back")

	said(t, s, "drift", "2", `nic["r0"].mtu = 9000 -> 1400`, `interface["r1"].address = 10.101.0.19/24 -> none`, "net/ipv4/conf/r0/arp_ignore = 1 -> 0", "Verify: 8 in sync, 3 drift, 0 unknown.")
	if diff := cmp.Diff([]string{`node.h["h04"]: drift`, `node.h["h07"]: drift`, `node.h["h09"]: drift`}, regexp.MustCompile(`node\S+: drift`).FindAllString(s["drift"], -1)); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	said(t, s, "mend", "0", "Apply complete: 3 applied, 0 rolled back")
	rails(t, s["mended"], all, nil, 9000)
	said(t, s, "end", "0", "No changes.")
}

// manyNames are the hosts with these numbers and between them.
func manyNames(first, last int) []string {
	var list []string
	for i := first; i <= last; i++ {
		list = append(list, fmt.Sprintf("h%02d", i))
	}
	return list
}

// rails demands of what settings printed that the ports of these hosts are as the
// source has them, with this MTU, and those of the others untouched.
func rails(t *testing.T, text string, set, untouched []string, mtu int) {
	t.Helper()
	want := map[string]string{}
	for _, h := range set {
		var number int
		if _, err := fmt.Sscanf(h, "h%d", &number); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			want[fmt.Sprintf("%s r%d", h, i)] = fmt.Sprintf("mtu %d arp 1 2 2 inet 10.%d.0.%d/24", mtu, 100+i, 10+number)
		}
	}
	for _, h := range untouched {
		want[h+" r0"], want[h+" r1"] = "mtu 1500 arp 0 0 0", "mtu 1500 arp 0 0 0"
	}
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+ r[01]) (mtu .*?) *$`).FindAllStringSubmatch(text, -1) {
		got[m[1]] = m[2]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
