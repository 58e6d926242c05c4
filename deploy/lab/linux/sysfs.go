package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// specials makes the files through which drivers take settings, with the mutex
// held: those of mlx5 and bnxt_re in debugfs, and of rdma_cm for devices that have
// a folder there.
func (m *Machine) specials() {
	for _, name := range m.order {
		n := m.nics[name]
		base := ""
		switch n.driver {
		case mlx5:
			base = "/sys/kernel/debug/mlx5/" + n.pci + "/cc_params/"
		case bnxt:
			base = "/sys/kernel/debug/bnxt_re/" + n.pci + "/cc_config/"
		default:
			continue
		}
		for file := range n.congestion {
			m.number(base+file, n, file)
		}
	}
	for _, r := range m.rdma {
		if r.cm {
			m.cmFiles(r)
		}
	}
}

// number is a file of a driver that holds one small number.
func (m *Machine) number(file string, n *nic, name string) {
	if _, err := m.disk.Stat(file); err == nil {
		return
	}
	_ = m.disk.Special(file, 0o600, lab.Special{
		Read: func() ([]byte, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if n.driver == bnxt {
				v, err := strconv.Atoi(n.congestion[name])
				if err == nil {
					return fmt.Appendf(nil, "%#x\n", v), nil // bnxt_re_cc_config_get
				}
			}
			return []byte(n.congestion[name] + "\n"), nil
		},
		Write: func(b []byte) error {
			v, err := strconv.ParseUint(strings.TrimSpace(string(b)), 0, 8)
			if err != nil || v > 63 {
				return syscall.EINVAL
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			n.congestion[name] = strconv.FormatUint(v, 10)
			return nil
		},
	})
}

const cmFolder = "/sys/kernel/config/rdma_cm/"

// cmFiles are those that cma_configfs.c makes for a device.
func (m *Machine) cmFiles(r *rdmaDevice) {
	base := cmFolder + r.name + "/ports/1/"
	if _, err := m.disk.Stat(base + "default_roce_mode"); err == nil {
		return
	}
	_ = m.disk.Special(base+"default_roce_mode", 0o644, lab.Special{
		Read: func() ([]byte, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			return []byte(r.mode + "\n"), nil
		},
		Write: func(b []byte) error {
			word := strings.TrimSpace(string(b))
			if !slices.Contains([]string{"RoCE v2", "IB/RoCE v1"}, word) {
				return syscall.EINVAL
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			r.mode = word
			return nil
		},
	})
	_ = m.disk.Special(base+"default_roce_tos", 0o644, lab.Special{
		Read: func() ([]byte, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			return fmt.Appendf(nil, "%d\n", r.tos), nil
		},
		Write: func(b []byte) error {
			v, err := strconv.ParseUint(strings.TrimSpace(string(b)), 0, 8)
			if err != nil {
				return syscall.EINVAL
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			r.tos = int(v)
			return nil
		},
	})
}

// mkdir fills folders of configfs, which the kernel does.
func (m *Machine) mkdir(ctx context.Context, p *posix.Proc) int {
	for _, a := range p.Args {
		full := p.Path(a)
		name := path.Base(full)
		switch path.Dir(full) + "/" {
		case cmFolder:
			m.mu.Lock()
			at := slices.IndexFunc(m.rdma, func(r *rdmaDevice) bool { return r.name == name })
			if at < 0 {
				m.mu.Unlock()
				return p.Fail("mkdir: cannot create directory '%s': No such device", a)
			}
			m.rdma[at].cm = true
			m.cmFiles(m.rdma[at])
			m.mu.Unlock()
			if !slices.Contains(p.Args, "-p") {
				return 0
			}
		case "/sys/kernel/config/irdma/":
			m.mu.Lock()
			at := slices.IndexFunc(m.rdma, func(r *rdmaDevice) bool { return r.name == name })
			if at >= 0 && m.rdma[at].nic != nil {
				m.number(full+"/roce_dcqcn_enable", m.rdma[at].nic, "roce_dcqcn_enable")
			}
			m.mu.Unlock()
		}
	}
	return posix.Basic("mkdir")(ctx, p)
}

// rmdir takes folders of configfs away with what the kernel put there.
func (m *Machine) rmdir(ctx context.Context, p *posix.Proc) int {
	for _, a := range p.Args {
		if full := p.Path(a); strings.HasPrefix(full, "/sys/kernel/config/") {
			if strings.HasPrefix(full, cmFolder) {
				m.mu.Lock()
				for _, r := range m.rdma {
					r.cm = r.cm && r.name != path.Base(full)
				}
				m.mu.Unlock()
			}
			_ = m.disk.RemoveAll(full)
			return 0
		}
	}
	return posix.Basic("rmdir")(ctx, p)
}

// sysctl of procps, as far as files are read and values asked for.
func (m *Machine) sysctl(_ context.Context, p *posix.Proc) int {
	file, names, lenient := "", []string{}, false
	for i := 0; i < len(p.Args); i++ {
		switch a := p.Args[i]; a {
		case "-q", "-n", "-w":
		case "-e", "--ignore": // unknown keys are no errors: sysctl(8)
			lenient = true
		case "-p", "--load":
			file = "/etc/sysctl.conf"
			if i+1 < len(p.Args) {
				i++
				file = p.Args[i]
			}
		case "--system":
			return p.Fail("sysctl: --system is not simulated")
		default:
			names = append(names, a)
		}
	}
	if file != "" {
		b, err := m.disk.ReadFile(p.Path(file))
		if err != nil {
			return p.Fail("sysctl: cannot open \"%s\": No such file or directory", file)
		}
		err = m.setSysctls(string(b))
		if unknown := answer(""); lenient && errors.As(err, &unknown) {
			return 0
		}
		if err != nil {
			return p.Fail("sysctl: %v", err)
		}
		return 0
	}
	code := 0
	for _, n := range names {
		if strings.Contains(n, "=") {
			if err := m.setSysctls(n); err != nil {
				code = p.Fail("sysctl: %v", err)
			}
			continue
		}
		b, err := m.disk.ReadFile(sysctlFile(n))
		if err != nil {
			code = p.Fail("sysctl: cannot stat %s: No such file or directory", sysctlFile(n))
			continue
		}
		p.Printf("%s = %s", n, b)
	}
	return code
}

// sysctlFile: the first separator decides what separates (sysctl.d(5)).
func sysctlFile(name string) string {
	if dot, slash := strings.IndexByte(name, '.'), strings.IndexByte(name, '/'); dot >= 0 && (slash < 0 || dot < slash) {
		name = strings.ReplaceAll(name, ".", "/")
	}
	return "/proc/sys/" + name
}

// setSysctls makes settings: those of devices that are there, the others are
// errors as of files that are missing.
func (m *Machine) setSysctls(text string) error {
	var missing error
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		file := sysctlFile(strings.TrimPrefix(name, "-"))
		rest, conf := strings.CutPrefix(file, "/proc/sys/net/ipv4/conf/")
		device, _, _ := strings.Cut(rest, "/")
		m.mu.Lock()
		there := m.links[device] != nil || device == "all" || device == "default"
		m.mu.Unlock()
		if !ok || conf && !there {
			missing = refusal("cannot stat %s: No such file or directory", file)
			continue
		}
		_ = m.disk.MkdirAll(path.Dir(file), 0o755)
		if err := m.disk.WriteFile(file, []byte(value+"\n"), fs.FileMode(0o644)); err != nil {
			return err
		}
	}
	return missing
}

func (m *Machine) modprobe(_ context.Context, p *posix.Proc) int {
	known := []string{"ib_uverbs", "rdma_cm", "rdma_ucm", "mlx5_ib", "bnxt_re", "irdma", "qedr", "iw_cxgb4", "rdma_rxe", "8021q", "bonding", "configfs"}
	for _, a := range p.Args {
		if !strings.HasPrefix(a, "-") && !slices.Contains(known, a) {
			return p.Fail("modprobe: FATAL: Module %s not found in directory /lib/modules/%s", a, posix.Release)
		}
	}
	return 0
}

func (m *Machine) mount(_ context.Context, p *posix.Proc) int {
	if slices.Contains(p.Args, "configfs") || slices.Contains(p.Args, "debugfs") {
		return 0 // it is there
	}
	return p.Fail("mount: only configfs and debugfs are simulated")
}

// mstconfig shows one setting of the NVRAM of an mlx5 adapter, which holds the default.
func (m *Machine) mstconfig(_ context.Context, p *posix.Proc) int {
	a := p.Args
	if len(a) != 4 || a[0] != "-d" || a[2] != "q" {
		return p.Fail("-E- only mstconfig -d DEVICE q NAME is simulated")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.nics {
		if n.driver == mlx5 && n.pci == a[1] && strings.HasPrefix(a[3], "ROCE_CC_PRIO_MASK_P") {
			p.Printf("\nDevice #1:\n----------\n\nDevice type:    ConnectX6DX\nDevice:         %s\n\nConfigurations:                              Next Boot\n         %-36s 255\n", a[1], a[3])
			return 0
		}
	}
	return p.Fail("-E- Failed to open the device: %s", a[1])
}

func (m *Machine) devinfo(_ context.Context, p *posix.Proc) int {
	if len(p.Args) != 2 || p.Args[0] != "-d" {
		return p.Fail("only ibv_devinfo -d DEVICE is simulated")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rdma {
		if l := m.links[r.netdev]; r.name == p.Args[1] && l != nil {
			active := 256
			for _, payload := range []int{512, 1024, 2048, 4096} {
				if l.mtu >= payload+62 { // of RoCE v2: headers of Ethernet aside, IPv6 at most
					active = payload
				}
			}
			p.Printf("hca_id:\t%s\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t%d\n", r.name, active)
			return 0
		}
	}
	return p.Fail("No IB devices found")
}

// devlink chooses RoCE or iWARP on adapters of ice.
func (m *Machine) devlink(_ context.Context, p *posix.Proc) int {
	a := p.Args
	if len(a) != 10 || a[0] != "dev" || a[1] != "param" || a[2] != "set" || a[4] != "name" || a[6] != "value" || a[8] != "cmode" {
		return p.Fail("devlink: only dev param set DEVICE name NAME value VALUE cmode MODE is simulated")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.nics {
		if "pci/"+n.pci != a[3] {
			continue
		}
		if n.driver != ice || a[5] != "enable_roce" && a[5] != "enable_iwarp" {
			return p.Fail("kernel answers: Operation not supported")
		}
		if a[7] == "true" {
			n.iwarp = a[5] == "enable_iwarp"
		}
		m.sync()
		return 0
	}
	return p.Fail("devlink answers: No such device")
}
