package linux

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/targettest"
)

// TestEveryDrift: a host that shows what it was given is as wanted, and every
// setting that is then another is seen.
func TestEveryDrift(t *testing.T) {
	exempt := map[string]targettest.Exempt{}
	for name, d := range hosts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			targettest.EveryDrift(t, &Target, func(d *intent.Device) targets.Captured { return shown(t, d) }, exempt[name], d)
		})
	}
}

// shown is all that capture.sh writes on a host with the settings of an intent,
// in the words of ip, rdma, dcb, mlnx_qos, ethtool and the kernel's files.
func shown(t testing.TB, d *intent.Device) targets.Captured {
	h, c := newHost(d), targets.Captured{Files: map[string][]byte{}}
	put := func(file, format string, args ...any) { c.Files[file] = fmt.Appendf(nil, format, args...) }
	c.Files["netplan.yaml"] = find(t, targettest.Emit(&Target, d), netplanFile)
	keptShown(d, put)
	var links []any
	var rdma []rdmaJSON
	var cm, mlx, bcm string
	for i := range d.Ports {
		p := &d.Ports[i]
		pci := p.NIC.PCI
		if pci == "" {
			pci = fmt.Sprintf("0000:9b:00.%d", i)
		}
		links = append(links, h.linkShown(p, pci))
		if q := h.qos[p.QoS]; q != nil {
			h.qosShown(p, q, put)
			if h.rdma(p) {
				mlx += debugShown(q, mlx5, p, "/sys/kernel/debug/mlx5/"+pci+"/cc_params/np_cnp_dscp", "/sys/kernel/debug/mlx5/"+pci+"/cc_params/np_cnp_prio")
				bcm += debugShown(q, bnxt, p, "/sys/kernel/debug/bnxt_re/"+pci+"/cc_config/alt_vlan_dscp", "/sys/kernel/debug/bnxt_re/"+pci+"/cc_config/alt_vlan_pcp")
			}
		}
		if h.rdma(p) && (h.bond[p.Name] == nil || h.bond[p.Name].Members[0] == p.Name) {
			name := fmt.Sprintf("roce%d", i)
			rdma = append(rdma, rdmaJSON{name, 1, h.carries(p)})
			dir := "/sys/kernel/config/rdma_cm/" + name + "/ports/1/"
			if v := p.NIC.RoCE; v.IsSet() {
				cm += dir + "default_roce_mode:" + pick(v.Value == "v2", "RoCE v2", "IB/RoCE v1") + "\n"
			}
			if q := h.qos[p.QoS]; q != nil {
				if tos, ok := roceTOS(q); ok {
					cm += dir + "default_roce_tos:" + itoa(tos) + "\n"
				}
			}
		}
		h.portShown(p, pci, put)
	}
	for i := range d.LAGs {
		l := &d.LAGs[i]
		mtu := l.MTU.Or(1500)
		links = append(links, link(l.Name, mtu, h.globals(l.Name), "flags", []string{"UP"}, "linkinfo", map[string]any{
			"info_kind": "bond", "info_data": map[string]any{"mode": bondModes[l.Mode].netplan, "ad_lacp_rate": l.Rate, "xmit_hash_policy": l.Hash},
		}))
	}
	for i := range d.Ifaces {
		if f := &d.Ifaces[i]; f.Kind == intent.VLANDev {
			data := map[string]any{"id": f.VLAN}
			if q := h.qos[f.QoS]; q != nil {
				tags := []any{}
				for from, to := range egress(q) {
					tags = append(tags, map[string]any{"from": from, "to": to})
				}
				data["egress_qos"] = tags
			}
			links = append(links, link(f.Name, f.MTU.Or(1500), h.globals(f.Name), "link", f.On, "linkinfo", map[string]any{"info_kind": "vlan", "info_data": data}))
		}
	}
	for file, v := range map[string]any{"addr.json": links, "rdma.json": rdma} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		c.Files[file] = b
	}
	var rails string
	for _, n := range h.multiRail() {
		for _, s := range railSettings {
			rails += "/proc/sys/net/ipv4/conf/" + n + "/" + s.name + ":" + s.value + "\n"
		}
	}
	put(railsFile, "%s", rails)
	put("rdma_cm.txt", "%s", cm)
	put("cc_params.txt", "%s", mlx)
	put("cc_config.txt", "%s", bcm)
	return c
}

func link(name string, mtu uint16, addresses []any, pairs ...any) map[string]any {
	m := map[string]any{"ifname": name, "mtu": mtu, "addr_info": addresses}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// globals are the addresses of a device, and one of the link, which is nobody's.
func (h *host) globals(name string) []any {
	list := []any{map[string]any{"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"}}
	for i := range h.Ifaces {
		if f := &h.Ifaces[i]; device(f) == name {
			for _, a := range f.Addresses.Or(nil) {
				family := "inet"
				if a.Addr().Is6() {
					family = "inet6"
				}
				list = append(list, map[string]any{"family": family, "local": a.Addr().String(), "prefixlen": a.Bits(), "scope": "global"})
			}
		}
	}
	return list
}

func (h *host) linkShown(p *intent.Port, pci string) map[string]any {
	c, _ := h.carrier(h.carries(p))
	mtu := h.linkMTU(c).Or(1500)
	if p.MTU.IsSet() {
		mtu = p.MTU.Value
	}
	mac := p.NIC.MAC
	if mac == "" {
		mac = "02:00:00:00:00:01"
	}
	m := link(p.Name, mtu, h.globals(p.Name), "address", mac, "parentdev", pci)
	if p.Enabled.Or(true) {
		m["flags"] = []string{"BROADCAST", "UP"}
	}
	if b := h.bond[p.Name]; b != nil {
		m["master"] = b.Name
		m["address"], m["permaddr"] = "02:00:00:00:00:02", mac // a bond gives its own
	}
	return m
}

// portShown are the files of a port that do not depend on its qos.
func (h *host) portShown(p *intent.Port, pci string, put func(string, string, ...any)) {
	modes := map[intent.FEC]string{intent.FECRS: "None\t RS", intent.FECFC: "None\t BASER", intent.FECNone: "None"}[p.FEC.Value]
	if p.NIC.Driver != ice || !p.FEC.IsSet() {
		modes = "Not reported"
	}
	put(p.Name+"/link.txt", "Settings for %s:\n\tAdvertised FEC modes: %s\n\tSpeed: %dMb/s\n\tDuplex: Full\n\tAuto-negotiation: %s\n", p.Name, modes, p.Mbps.Or(25000), pick(p.Autoneg.Or(true), "on", "off"))
	if p.FEC.IsSet() {
		put(p.Name+"/fec.txt", "FEC parameters for %s:\nSupported/Configured FEC encodings: %s\nActive FEC encoding: RS\n", p.Name, pick(p.NIC.Driver == ice, "Auto RS BaseR", strings.ToUpper(fecWords[p.FEC.Value])))
	}
	put(p.Name+"/driver.txt", "driver: %s\nversion: 6.8.0-45-generic\nfirmware-version: %s\nbus-info: %s\n", p.NIC.Driver, pick(p.NIC.Firmware != "", p.NIC.Firmware, "1.0"), pci)
	if p.NIC.StormMs.IsSet() {
		put(p.Name+"/storm.txt", "pfc-prevention-tout: %d\n", p.NIC.StormMs.Value)
	}
	if v := p.NIC.VFs; v.IsSet() {
		text := fmt.Sprintf("3: %s: <UP> mtu 9000\n    link/ether 02:00:00:00:00:01\n", p.Name)
		for i := range v.Value.Count {
			vlan := ""
			if v.Value.VLAN != 0 {
				vlan = ", vlan " + itoa(v.Value.VLAN)
			}
			text += fmt.Sprintf("    vf %d     link/ether 02:00:00:00:01:00 brd ff:ff:ff:ff:ff:ff%s, spoof checking off, link-state auto, trust %s, query_rss off\n", i, vlan, pick(v.Value.Trust, "on", "off"))
		}
		put(p.Name+"/vfs.txt", "%s", text)
	}
	dcbx := "false"
	if p.NIC.DCBX.Or(intent.DCBX{}).Mode == "off" {
		dcbx = "true"
	}
	if familyOf(p).dcb && h.tool != mlnxTool {
		put(p.Name+"/dcbx.json", `{"host":%s,"lld-managed":false,"cee":false,"ieee":%s,"static":false}`, dcbx, dcbx)
	}
}

func debugShown(q *intent.QoS, driver string, p *intent.Port, dscp, prio string) string {
	for _, m := range q.Marks {
		if m.Carries == "cnp" && p.NIC.Driver == driver {
			return fmt.Sprintf("%s:%d\n%s:%d\n", dscp, m.DSCP.Or(0), prio, m.Priority)
		}
	}
	return ""
}

// qosShown is what dcb or mlnx_qos prints of a port.
func (h *host) qosShown(p *intent.Port, q *intent.QoS, put func(string, string, ...any)) {
	dir := p.Name + "/"
	if q.Pause.IsSet() {
		put(dir+"pause.json", `[{"ifname":%q,"autonegotiate":false,"rx":%v,"tx":%v}]`, p.Name, q.Pause.Value, q.Pause.Value)
	}
	if !familyOf(p).dcb {
		return
	}
	var on [8]bool
	if q.PFC.IsSet() {
		for _, n := range q.PFC.Value.List() {
			on[n] = true
		}
	}
	var app [][2]int
	if q.Trust.Or("") == intent.TrustDSCP && q.DSCP.IsSet() {
		for dscp, prio := range q.DSCP.Value {
			app = append(app, [2]int{dscp, int(prio)})
		}
	}
	tc, sched := classesOn(p, q)
	if h.tool == mlnxTool {
		put(dir+"mlnx_qos.txt", "%s", mlnxShown(p, q, on, app, tc, sched))
		return
	}
	tsa, bw := make([]string, 8), make([]int, 8)
	for i, s := range sched {
		tsa[i], bw[i] = "strict", 100
		if s.Kind == intent.SchedETS {
			tsa[i], bw[i] = "ets", int(s.Percent)
		}
	}
	file := func(name string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		put(dir+name, "%s", b)
	}
	file("ets.json", map[string]any{"willing": false, "ets_cap": 8, "tc_bw": bw, "tc_tsa": tsa, "prio_tc": slices.Collect(func(yield func(int) bool) {
		for _, n := range tc {
			yield(int(n))
		}
	})})
	pfc := map[string]any{"pfc_cap": 8, "prio_pfc": on}
	if p.CableMm.IsSet() {
		pfc["delay"] = metres(p.CableMm.Value)
	}
	file("pfc.json", pfc)
	table := map[string]any{"dscp_prio": app}
	if prio, some, _ := rocePriority(q); some && p.NIC.Driver == bnxt {
		table["dgram_port_prio"] = [][2]int{{4791, int(prio)}}
	}
	file("app.json", table)
}

func mlnxShown(p *intent.Port, q *intent.QoS, on [8]bool, app [][2]int, tc [8]uint8, sched [8]intent.Sched) string {
	var b strings.Builder
	fmt.Fprintf(&b, "DCBX mode: %s controlled\nPriority trust state: %s\n", pick(p.NIC.DCBX.Or(intent.DCBX{}).Mode == "off", "OS", "Firmware"), q.Trust.Or(intent.TrustPCP))
	if len(app) > 0 {
		b.WriteString("dscp2prio mapping:\n")
		for _, e := range app {
			fmt.Fprintf(&b, "\tprio:%d dscp:%02d,\n", e[1], e[0])
		}
	}
	fmt.Fprintf(&b, "Cable len: %d\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled  ", metres(p.CableMm.Or(7000)))
	for _, yes := range on {
		b.WriteString("   " + pick(yes, "1", "0"))
	}
	b.WriteString("   \n")
	for n, s := range sched {
		rate := "unlimited"
		if s.CapMbps > 0 {
			rate = strconv.FormatFloat(float64(s.CapMbps)/1000, 'f', 1, 64) + " Gbps"
		}
		used := false
		for prio, class := range tc {
			if int(class) != n {
				continue
			}
			if !used {
				fmt.Fprintf(&b, "tc: %d ratelimit: %s, tsa: %s", n, rate, pick(s.Kind == intent.SchedETS, "ets", "strict"))
				b.WriteString(pick(s.Kind == intent.SchedETS, fmt.Sprintf(", bw: %d%%", s.Percent), "") + "\n")
				used = true
			}
			fmt.Fprintf(&b, "\t priority:  %d\n", prio)
		}
	}
	return b.String()
}
