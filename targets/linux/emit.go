package linux

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// The parts of scripts that are the same on every host.
var (
	//go:embed scripts/qos.sh
	qosBody string
	//go:embed scripts/dcb.sh
	dcbBody string
	//go:embed scripts/mlnx.sh
	mlnxBody string
	//go:embed scripts/install.sh
	installBody string
	//go:embed scripts/verify.sh
	verifyBody string
	//go:embed scripts/rollback.sh
	rollbackBody string
	//go:embed scripts/capture.sh
	captureBody string
)

func write(d *intent.Device, out *emit.Out) {
	h := newHost(d)
	h.head = emit.Header(d)
	h.netplan(out)
	h.qosScript(out)
	files := []placed{
		{netplanFile, "/etc/netplan/60-rocec.yaml", 0o600},
		{qosScript, "/usr/local/sbin/rocec-qos", 0o755},
	}
	files = append(files, h.systemFiles(out)...)
	h.packages(out)
	h.install(out, files)
	h.verify(out, files)
	h.rollback(out)
	h.capture(out)
}

// placed is a file of the bundle and where it belongs on the host.
type placed struct {
	from, to string
	mode     uint32
}

// script starts a bash script; what follows is data, then the body.
func (h *host) script(out *emit.Out, name string, step emit.Step, run string) *emit.File {
	f := out.File(name, 0o755, step)
	f.Run(run)
	f.Line("#!/bin/bash")
	h.header(f)
	f.Line("set -u")
	f.Line("export LC_ALL=C PATH=\"$PATH:/usr/sbin:/sbin\"")
	f.Line("")
	return f
}

func (h *host) portNames() string {
	var names []string
	for _, p := range h.Ports {
		names = append(names, quote(p.Name))
	}
	return join(names)
}

func (h *host) install(out *emit.Out, files []placed) {
	f := h.script(out, "install.sh", emit.Apply, "sudo ./install.sh")
	f.From(at(intent.OfDevice, "", "name"), "host=%s", quote(h.Name))
	f.Line("ports=(%s)", h.portNames())
	f.Line("programs=(%s)", join(h.programs()))
	listFiles(f, files)
	f.Text(installBody)
}

func listFiles(f *emit.File, files []placed) {
	f.Line("files=(")
	for _, p := range files {
		f.Line("\t%s", quote(fmt.Sprintf("%s|%s|%o", p.from, p.to, p.mode)))
	}
	f.Line(")")
	f.Line("")
}

func (h *host) rollback(out *emit.Out) {
	f := h.script(out, "rollback.sh", emit.Rollback, "sudo ./rollback.sh")
	f.Line("ports=(%s)", h.portNames())
	f.Line("")
	f.Text(rollbackBody)
}

func (h *host) capture(out *emit.Out) {
	f := h.script(out, "capture.sh", emit.Verify, "sudo ./capture.sh DIR")
	f.Line("ports=(%s)", h.portNames())
	f.Line("")
	f.Line("# The read-only commands and the file that each one fills.")
	f.Line("probe_host() {")
	for _, p := range probes {
		if !p.PerPort {
			f.Line("\tsave %s %s", quote(p.File), p.Command)
		}
	}
	f.Line("}")
	f.Line("probe_port() {")
	f.Line("\tlocal port=$1")
	for _, p := range probes {
		if p.PerPort {
			f.Line("\tsave \"%s\" %s", strings.ReplaceAll(p.File, "%s", "$port"), strings.ReplaceAll(p.Command, "%s", "\"$port\""))
		}
	}
	f.Line("}")
	f.Line("")
	f.Text(captureBody)
}

// programs are the commands that the scripts start.
func (h *host) programs() []string {
	list := []string{"ip", "netplan", "systemctl", "systemd-escape", "flock", "ethtool"}
	if h.anyDriver(mlx5) {
		list = append(list, "dcb")
		if h.tool == mlnxTool {
			list = append(list, mlnxTool)
		}
	}
	if h.anyRDMA() {
		list = append(list, "rdma")
	}
	return list
}

func (h *host) anyDriver(driver string) bool {
	return slices.ContainsFunc(h.Ports, func(p intent.Port) bool { return p.NIC != nil && p.NIC.Driver == driver })
}

func (h *host) anyRDMA() bool {
	return slices.ContainsFunc(h.Ports, func(p intent.Port) bool { return h.rdma(&p) })
}

// verify writes what verify.sh compares besides the settings that rocec-qos --check reads.
func (h *host) verify(out *emit.Out, files []placed) {
	f := h.script(out, "verify.sh", emit.Verify, "sudo ./verify.sh")
	f.Line("ports=(%s)", h.portNames())
	listFiles(f, files)
	f.Line("check_network() {")
	checks := 0
	check := func(p intent.Path, format string, args ...any) {
		checks++
		f.From(p, "\t"+format, args...)
	}
	for i := range h.Ports {
		p := &h.Ports[i]
		if p.NIC.RDMA.Or(false) {
			check(at(intent.OfPort, p.Name, "rdma"), "check_rdma %s", p.Name)
		}
		if p.NIC.RDMAMTU != 0 {
			check(at(intent.OfPort, p.Name, "mtu"), "check_rdma_mtu %s %d", p.Name, p.NIC.RDMAMTU)
		}
	}
	for _, g := range h.LAGs {
		peers := "the switch does not bundle them"
		if g.MLAG {
			peers = "the two switches of the MLAG pair do not bundle them"
		}
		check(at(intent.OfLAG, g.Name, "mode"), "check_bond %s %s %s %s", g.Name, quote(bondModes[g.Mode].proc), quote(peers), join(g.Members))
	}
	for i := range h.Ifaces {
		v := &h.Ifaces[i]
		here := func(field string) intent.Path { return at(intent.OfIface, v.Name, field) }
		if v.Kind == intent.VLANDev {
			mtu := "''"
			if v.MTU.IsSet() {
				mtu = itoa(v.MTU.Value)
			}
			check(here("vlan"), "check_vlan %s %s %d %s", v.Name, v.On, v.VLAN, mtu)
		}
		for _, a := range v.Addresses.Or(nil) {
			check(here("address"), "check_address %s %s %s", device(v), a, quote(v.Name))
		}
		if v.RDMA {
			check(here("rdma"), "check_gid %s", device(v))
		}
	}
	for _, r := range h.rails() {
		for _, a := range r.iface.Addresses.Value {
			check(at(intent.OfIface, r.iface.Name, "gateway"), "check_rule %s %d", a.Addr(), r.table)
		}
	}
	if checks == 0 {
		f.Line("\t:")
	}
	f.Line("}")
	f.Line("")
	f.Text(verifyBody)
}
