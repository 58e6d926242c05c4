package fabricgen

import (
	"fmt"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// Form is how a preset is written down.
type Form string

// Forms: Compact has topologies, ranges and a table of nodes; Written has a block
// for each node, NIC, switch and port, and lists of cables as NetBox exports them.
const (
	Compact Form = "compact"
	Written Form = "written"
)

// WritePreset writes the files of a preset into a folder, which must exist.
func WritePreset(dir string, p Preset, form Form, perFile int) (Size, error) {
	var size Size
	for name, text := range p.Files(form, perFile, &size) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return size, fmt.Errorf("write fabric: %w", err)
		}
	}
	return size, nil
}

// Files yields the files of a preset in one of its forms, and counts them in
// size. The written form has about perFile blocks, or cables, in each; 0 is 1000.
func (p Preset) Files(form Form, perFile int, size *Size) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		*size = p.Size()
		w := &presetWriter{Preset: p, writer: writer{perFile: or(perFile, 1000), size: size, yield: yield}}
		w.contract()
		w.models()
		if form == Compact {
			w.compact()
		} else {
			w.written()
		}
		w.flush()
	}
}

type presetWriter struct {
	Preset
	writer
}

// switchSystem is what runs on every switch.
const switchSystem = "sonic/202505"

// models writes the switches of the preset as models of their own: a radix of 34
// or 220 ports is no single product, and splits of ports are not what is measured.
func (w *presetWriter) models() {
	w.begin("models")
	for _, m := range []struct {
		tier  string
		ports int
	}{{"leaf", w.Down + w.Up}, {"spine", w.SpineDown + w.SpineUp}, {"core", w.CorePorts}} {
		if m.ports == 0 {
			continue
		}
		speeds := `"*" = "400G"`
		if m.tier == "leaf" && w.NICSpeed != "400G" {
			speeds = fmt.Sprintf("%q = %q\n    %q = \"400G\"", portRange(0, w.Down), w.NICSpeed, portRange(w.Down, w.Up))
		}
		w.printf(`switch_model "bench/%s" {
  asic      = "nvidia/spectrum-4"
  ports     = { sonic = "%s" }
  speeds    = {
    %s
  }
  lanes     = 4
  jumbo_mtu = 9216
  os        = ["sonic"]
  defaults  = { sonic = qos.sonic_default }
  source    = "made up, to measure with"
}
`, m.tier, portRange(0, m.ports), speeds)
		w.done(1)
	}
}

// compact writes a table of nodes and a topology for each pod, and one above them.
func (w *presetWriter) compact() {
	var pods []string
	for pod := range w.Pods {
		w.begin(fmt.Sprintf("pod%02d", pod))
		w.printf(`node "gpu%d" {
  for_each = rows("nodes%02d.csv", "name")
  os       = "ubuntu/24.04"
  rack     = each.value.rack
  slot     = each.value.slot
  mgmt     = each.value.mgmt
  nic "rail[0-%d]" {
    model = "nvidia/connectx-7"
    speed = "%s"
    fec   = "rs"
    mtu   = 9000
  }
}
topology "%s" "pod%d" {
  qos   = qos.roce
  nodes = node.gpu%d
`, pod, pod, w.NICs-1, w.NICSpeed, w.Kind, pod, pod)
		if w.Planes > 1 {
			w.printf("  planes = %d\n", w.Planes)
		}
		w.printf(`  leaf {
    count         = %d
    model         = "bench/leaf"
    os            = "%s"
    node_ports    = "%s"
    up_ports      = "%s"
    mtu           = 9000
    loopback      = "${cidrhost("198.18.0.0/15", %d + leaf.index)}/32"
    subnet        = cidrsubnet("10.0.0.0/8", 16, %d + leaf.index)
    addressing    = "per_port"
    fabric_subnet = "%s/17"

    link {
      cable = { media = "dac", length = "3m" }
      fec   = "rs"
    }
  }
  spine {
    count      = %d
    model      = "bench/spine"
    down_ports = "%s"
`, w.Leaves, switchSystem, portRange(0, w.Down), portRange(w.Down, w.Up), w.loopback("leaf", pod, 0), pod*w.Leaves, w.fabricNet(pod), w.Spines, portRange(0, w.SpineDown))
		if w.SpineUp > 0 {
			w.printf("    up_ports   = \"%s\"\n    fabric_subnet = \"%s/17\"\n    hash       = { function = \"XOR\" }\n", portRange(w.SpineDown, w.SpineUp), w.coreNet(pod))
		}
		w.printf(`    mtu        = 9000
    loopback   = "${cidrhost("198.18.0.0/15", %d + spine.index)}/32"

    link {
      cable = { media = "dr", length = "40m" }
      fec   = "rs"
    }
  }
}
`, w.loopback("spine", pod, 0))
		w.done(1)
		w.flush()
		w.table(pod)
		pods = append(pods, fmt.Sprintf("topology.pod%d", pod))
	}
	if w.Cores == 0 {
		return
	}
	w.begin("cores")
	w.printf(`topology "clos3" "all" {
  qos  = qos.roce
  pods = [%s]
  core {
    count    = %d
    model    = "bench/core"
    os       = "%s"
    ports    = "%s"
    mtu      = 9000
    loopback = "${cidrhost("198.18.0.0/15", %d + core.index)}/32"

    link {
      cable = { media = "dr", length = "100m" }
      fec   = "rs"
    }
  }
}
`, strings.Join(pods, ", "), w.Cores, switchSystem, portRange(0, w.CorePorts), w.loopback("core", 0, 0))
	w.done(1)
}

// table writes the nodes of a pod as rows.
func (w *presetWriter) table(pod int) {
	w.printf("name,rack,slot,mgmt\n")
	for n := range w.Nodes {
		w.printf("%s,%s,%d,%s\n", w.node(pod, n), w.rack(pod, n), n+1, w.mgmt(pod, n))
	}
	w.flushAs(fmt.Sprintf("nodes%02d.csv", pod))
}

// written writes a block for each thing, and the lists of cables.
func (w *presetWriter) written() {
	w.begin("nodes")
	for pod := range w.Pods {
		for n := range w.Nodes {
			w.printf("node \"%s\" {\n  os   = \"ubuntu/24.04\"\n  rack = \"%s\"\n  slot = %d\n  mgmt = \"%s\"\n  qos  = qos.roce\n", w.node(pod, n), w.rack(pod, n), n+1, w.mgmt(pod, n))
			for nic := range w.NICs {
				leaf, port := w.seat(n, nic)
				w.printf("  nic \"rail%d\" {\n    model   = \"nvidia/connectx-7\"\n    speed   = \"%s\"\n    fec     = \"rs\"\n    mtu     = 9000\n    address = \"%s/31\"\n  }\n",
					nic, w.NICSpeed, w.seatNet(pod, leaf, port, 1))
			}
			w.printf("}\n")
			w.done(1 + w.NICs)
		}
	}
	w.begin("switches")
	for pod := range w.Pods {
		for leaf := range w.Leaves {
			w.head("leaf", pod, leaf)
			for port := range w.Down {
				w.port(port, w.NICSpeed, w.seatNet(pod, leaf, port, 0))
			}
			for up := range w.Up {
				w.port(w.Down+up, "400G", w.upNet(pod, leaf, up, 0))
			}
			w.tail(w.Down + w.Up)
		}
	}
	w.upperTiers()
	names := w.cables()
	w.begin("cabling")
	w.printf("cabling \"built\" {\n  file   = [\n    \"%s\",\n  ]\n  format = \"netbox\"\n  mode   = \"define\"\n}\n", strings.Join(names, "\",\n    \""))
	w.done(1)
}

// upperTiers writes spines and cores. The lower ends of their links come first,
// so that the ports of a tier are collected from below, one pod at a time.
func (w *presetWriter) upperTiers() {
	cores := make([][]string, w.Cores) // addresses by core and port
	for i := range cores {
		cores[i] = make([]string, w.CorePorts)
	}
	for pod := range w.Pods {
		down := make([][]string, w.Spines)
		for i := range down {
			down[i] = make([]string, w.SpineDown)
		}
		for leaf := range w.Leaves {
			for up := range w.Up {
				spine, port := w.uplink(leaf, up)
				down[spine][port] = w.upNet(pod, leaf, up, 1)
			}
		}
		for spine := range w.Spines {
			w.head("spine", pod, spine)
			for port, address := range down[spine] {
				w.port(port, "400G", address)
			}
			for up := range w.SpineUp {
				w.port(w.SpineDown+up, "400G", w.topNet(pod, spine, up, 0))
				core, port := w.coreUplink(pod, spine, up)
				cores[core][port] = w.topNet(pod, spine, up, 1)
			}
			w.tail(w.SpineDown + w.SpineUp)
		}
	}
	for core := range w.Cores {
		w.head("core", 0, core)
		for port, address := range cores[core] {
			w.port(port, "400G", address)
		}
		w.tail(w.CorePorts)
	}
}

func (w *presetWriter) head(tier string, pod, index int) {
	w.printf("switch \"%s\" {\n  model = \"bench/%s\"\n  os    = \"%s\"\n  role  = \"%s\"\n  interface \"Loopback0\" {\n    on      = \"loopback\"\n    address = \"%s/32\"\n  }\n",
		w.device(tier, pod, index), tier, switchSystem, tier, offset("198.18.0.0", w.loopback(tier, pod, index)))
}

func (w *presetWriter) port(index int, speed, address string) {
	if address == "" {
		return
	}
	w.printf("  port \"%s\" {\n    speed   = \"%s\"\n    fec     = \"rs\"\n    mtu     = 9000\n    qos     = qos.roce\n    address = \"%s/31\"\n  }\n", laneName(index), speed, address)
}

func (w *presetWriter) tail(ports int) {
	w.printf("}\n")
	w.done(1 + ports)
}

// cables writes every cable as a row, and returns the names of the lists.
func (w *presetWriter) cables() (names []string) {
	const head = "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status,length,length_unit\n"
	rows := 0
	w.flush()
	end := func() {
		if rows > 0 {
			names = append(names, fmt.Sprintf("cables-%04d.csv", len(names)))
			w.flushAs(names[len(names)-1])
			rows = 0
		}
	}
	row := func(a, aPort, b, bPort, media string, metres int) {
		if rows == 0 {
			w.printf(head)
		}
		w.printf("%s,dcim.interface,%s,%s,dcim.interface,%s,%s,connected,%d,m\n", a, aPort, b, bPort, media, metres)
		if rows++; rows >= 10*w.perFile {
			end()
		}
	}
	for pod := range w.Pods {
		for n := range w.Nodes {
			for nic := range w.NICs {
				leaf, port := w.seat(n, nic)
				row(w.node(pod, n), fmt.Sprintf("rail%d", nic), w.device("leaf", pod, leaf), laneName(port), "dac-passive", 3)
			}
		}
		for leaf := range w.Leaves {
			for up := range w.Up {
				spine, port := w.uplink(leaf, up)
				row(w.device("leaf", pod, leaf), laneName(w.Down+up), w.device("spine", pod, spine), laneName(port), "smf", 40)
			}
		}
		for spine := range w.Spines {
			for up := range w.SpineUp {
				core, port := w.coreUplink(pod, spine, up)
				row(w.device("spine", pod, spine), laneName(w.SpineDown+up), w.device("core", 0, core), laneName(port), "smf", 100)
			}
		}
	}
	end()
	return names
}

// device is the name of a switch, as a topology calls it.
func (w *presetWriter) device(tier string, pod, index int) string {
	if tier == "core" {
		return fmt.Sprintf("all-core%d", index)
	}
	return fmt.Sprintf("pod%d-%s%d", pod, tier, index)
}

func (w *presetWriter) node(pod, n int) string { return fmt.Sprintf("gpu%02d-%04d", pod, n+1) }

func (w *presetWriter) rack(pod, n int) string { return fmt.Sprintf("r%02d-%03d", pod, n/4) }

func (w *presetWriter) mgmt(pod, n int) netip.Addr {
	return offset("100.64.0.0", pod*w.Nodes+n+1)
}

// loopback is the number of a switch's loopback in 198.18.0.0/15.
func (w *presetWriter) loopback(tier string, pod, index int) int {
	switch tier {
	case "leaf":
		return pod*w.Leaves + index + 1
	case "spine":
		return (w.Pods+1)*w.Leaves + pod*w.Spines + index + 1
	}
	return (w.Pods+1)*(w.Leaves+w.Spines) + index + 1
}

// seatNet is one end of the link between a leaf and a NIC, in the /24 of the leaf.
func (w *presetWriter) seatNet(pod, leaf, port, end int) string {
	return offset("10.0.0.0", 256*(pod*w.Leaves+leaf)+2*port+end).String()
}

// fabricNet is the /17 of the links between leaves and spines of a pod; upNet is
// an end of one of them, coreNet and topNet are those between spines and cores.
func (w *presetWriter) fabricNet(pod int) netip.Addr { return offset("172.16.0.0", pod<<15) }

func (w *presetWriter) upNet(pod, leaf, up, end int) string {
	return offset("172.16.0.0", pod<<15+2*(leaf*w.Up+up)+end).String()
}

func (w *presetWriter) coreNet(pod int) netip.Addr { return offset("100.96.0.0", pod<<15) }

func (w *presetWriter) topNet(pod, spine, up, end int) string {
	return offset("100.96.0.0", pod<<15+2*(spine*w.SpineUp+up)+end).String()
}

// laneName is SONiC's name of a port of four lanes, portRange of several.
func laneName(index int) string { return fmt.Sprintf("Ethernet%d", 4*index) }

func portRange(first, n int) string {
	return fmt.Sprintf("Ethernet[%d-%d:4]", 4*first, 4*(first+n-1))
}
