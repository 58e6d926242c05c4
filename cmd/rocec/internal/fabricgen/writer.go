package fabricgen

import (
	"bytes"
	"fmt"
	"net/netip"
)

// writer fills one file after the other.
type writer struct {
	plan    plan
	perFile int
	size    *Size
	yield   func(string, []byte) bool

	buf     bytes.Buffer
	blocks  int    // in buf
	family  string // first part of the name of the file in buf
	number  int    // of files of this family
	stopped bool   // the caller wants no more
}

// begin starts the files of one kind of block.
func (w *writer) begin(family string) {
	w.flush()
	w.family, w.number = family, 0
}

// done counts the blocks just written, and ends the file when it is full.
func (w *writer) done(blocks int) {
	w.blocks += blocks
	if w.blocks >= w.perFile {
		w.flush()
	}
}

func (w *writer) flush() {
	if w.buf.Len() == 0 || w.stopped {
		w.buf.Reset()
		return
	}
	name := fmt.Sprintf("%s-%04d.roce.hcl", w.family, w.number)
	w.number++
	w.flushAs(name)
}

// flushAs ends a file of any name.
func (w *writer) flushAs(name string) {
	if !w.stopped {
		w.size.Files++
		w.size.Bytes += w.buf.Len()
		w.stopped = !w.yield(name, bytes.Clone(w.buf.Bytes()))
	}
	w.buf.Reset()
	w.blocks = 0
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.buf, format, args...) }

func (w *writer) contract() {
	w.begin("qos")
	w.printf(`rocec {
  language = 1
}
qos "roce" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 90
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 10
    default   = true
  }
}
`)
	w.done(5)
}

// segments writes a VLAN for each leaf, routed by the leaf.
func (w *writer) segments() {
	w.begin("segments")
	for leaf := range w.plan.leaves() {
		w.printf(`segment "%s" {
  vlan    = %d
  subnet  = "%s"
  gateway = "%s"
  qos     = qos.roce
  mtu     = 9000
}
`, name("leaf", leaf), 2+leaf%4000, subnet(leaf), hostOf(leaf, 1))
		w.done(1)
	}
}

func (w *writer) nodes() {
	w.begin("nodes")
	for n := range w.plan.nodes {
		w.printf(`node "%s" {
  os   = "ubuntu/24.04"
  rack = "r%04d"
  slot = %d
  mgmt = "%s"
`, name("gpu", n), n/4, n%leafDown+1, offset("100.64.0.0", n+1))
		for rail := range w.plan.rails {
			leaf := w.plan.leafOf(n, rail)
			w.printf(`  nic "rail%d" {
    model   = "nvidia/connectx-7"
    ifname  = "enp%ds0np0"
    pci     = "0000:%02x:00.0"
    speed   = "400G"
    fec     = "rs"
    mtu     = 9000
    rail    = %d
    untagged = segment.%s
    address = "%s/26"
  }
`, rail, 16+rail, 16+rail, rail, name("leaf", leaf), hostOf(leaf, n%leafDown+11))
		}
		w.printf("}\n")
		w.size.Nodes++
		w.size.NICs += w.plan.rails
		w.done(1 + w.plan.rails)
	}
}

// switches writes every switch with its cabled ports. The ports of a tier are
// collected tier by tier, so that no more than one tier is held.
func (w *writer) switches() {
	w.begin("switches")
	tiers := []struct {
		name  string
		count int
	}{{"leaf", w.plan.leaves()}, {"spine", w.plan.spines()}, {"core", w.plan.cores()}}
	for _, t := range tiers {
		ports := w.ports(t.name, t.count)
		for i := range t.count {
			w.printf(`switch "%s" {
  model = "nvidia/sn5600"
  os    = "sonic/202505"
  role  = "%s"
  mgmt  = "%s"
`, name(t.name, i), t.name, offset("100.127.0.0", len(ports)*(len(t.name)-4)+i+1))
			n := 0
			for _, body := range ports[i] {
				if body != "" {
					w.buf.WriteString(body)
					n++
				}
			}
			if t.name == "leaf" {
				w.printf("  interface \"gateway\" {\n    on      = segment.%s\n    address = \"%s/26\"\n  }\n", name("leaf", i), hostOf(i, 1))
			}
			w.printf("}\n")
			w.size.Switches++
			w.size.Ports += n
			w.done(1 + n)
		}
	}
}

// ports are the port blocks of the switches of a tier, by switch and port.
func (w *writer) ports(tier string, count int) [][switchPorts]string {
	ports := make([][switchPorts]string, count)
	if tier == "leaf" {
		for n := range w.plan.nodes {
			for rail := range w.plan.rails {
				leaf := w.plan.leafOf(n, rail)
				ports[leaf][n%leafDown] = fmt.Sprintf("  port \"%s\" {\n    speed  = \"400G\"\n    fec    = \"rs\"\n    mtu    = 9000\n    untagged = segment.%s\n    qos    = qos.roce\n  }\n", portName(n%leafDown), name("leaf", leaf))
			}
		}
	}
	k := 0
	w.plan.trunks(func(t trunk) {
		for side, e := range [2]end{t.low, t.high} {
			if e.tier == tier {
				ports[e.index][e.port] = fmt.Sprintf("  port \"%s\" {\n    speed   = \"800G\"\n    fec     = \"rs\"\n    mtu     = 9000\n    address = \"%s/31\"\n    qos     = qos.roce\n  }\n", portName(e.port), offset("172.16.0.0", 2*k+side))
			}
		}
		k++
	})
	return ports
}

func (w *writer) links() {
	w.begin("links")
	for n := range w.plan.nodes {
		for rail := range w.plan.rails {
			w.link(fmt.Sprintf("%s-rail%d", name("gpu", n), rail),
				fmt.Sprintf("node.%s.nic[\"rail%d\"]", name("gpu", n), rail), ref(end{"leaf", w.plan.leafOf(n, rail), n % leafDown}), "dac", 2)
		}
	}
	w.plan.trunks(func(t trunk) {
		w.link(fmt.Sprintf("%s-%d", name(t.low.tier, t.low.index), t.low.port), ref(t.low), ref(t.high), "dr", 40)
	})
	w.flush()
}

func (w *writer) link(label, a, b, media string, metres int) {
	w.printf("link \"%s\" {\n  ends  = [%s, %s]\n  cable = { media = \"%s\", length = \"%dm\" }\n}\n", label, a, b, media, metres)
	w.size.Links++
	w.done(1)
}

func ref(e end) string {
	return fmt.Sprintf("switch.%s.port[\"%s\"]", name(e.tier, e.index), portName(e.port))
}

// name is a device or segment, counted from 1 as people do.
func name(word string, index int) string { return fmt.Sprintf("%s%05d", word, index+1) }

// portName is SONiC's name of a port of eight lanes.
func portName(index int) string { return fmt.Sprintf("Ethernet%d", 8*index) }

// subnet is the /26 of a leaf, hostOf a host in it.
func subnet(leaf int) string { return offset("10.0.0.0", 64*leaf).String() + "/26" }

func hostOf(leaf, host int) netip.Addr { return offset("10.0.0.0", 64*leaf+host) }

// offset is the n-th address after one.
func offset(first string, n int) netip.Addr {
	a := netip.MustParseAddr(first).As4()
	v := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	v += uint32(n)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}
