package linux

import (
	"bytes"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// reader turns a captured folder into what it shows of a host.
type reader struct {
	want *host
	got  *intent.Device
	c    targets.Captured
	list diag.List
	read map[string]decoded // by the name of a file in the folder of a port
	// What the firmware of bnxt is told of RoCE: its priorities by port.
	roce map[string][]uint8
	// What VLAN devices write into tags: PCP by kernel priority.
	tagged map[string][8]uint8
}

// parse reads what capture.sh wrote. It looks for the ports of d, since a
// capture also shows devices that are none of ours; without d, for every port
// that has a folder. Live values come before those of the netplan file.
func parse(d *intent.Device, c targets.Captured) (*intent.Device, diag.List) {
	if d == nil {
		d = &intent.Device{Kind: intent.Node}
	}
	r := &reader{
		want: newHost(d), c: c,
		got: &intent.Device{Version: intent.Version, Name: d.Name, Kind: intent.Node, OS: d.OS},
	}
	r.netplan()
	for _, name := range r.portNames() {
		r.port(name)
	}
	r.live()
	r.rdmaCM()
	r.tags()
	r.foreign()
	return r.got, r.list
}

// portNames are the ports of the intent, of the netplan file, and of folders.
func (r *reader) portNames() []string {
	var names []string
	for _, p := range r.want.Ports {
		names = append(names, p.Name)
	}
	for _, p := range r.got.Ports {
		names = append(names, p.Name)
	}
	for file := range r.c.Files {
		if dir := path.Dir(file); dir != "." && isDeviceName(dir) {
			names = append(names, dir)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// bad reports a file that could not be understood, at a byte of it.
func (r *reader) bad(file string, offset int, format string, args ...any) {
	d := diag.Diagnostic{
		Severity: diag.Error, Summary: fmt.Sprintf("%s: ", file) + fmt.Sprintf(format, args...),
		Help: "capture it again with capture.sh of the same bundle",
	}
	if r.c.Label != nil {
		n := min(1, len(r.c.Files[file])-offset)
		d.Labels = []diag.Label{r.c.Label(file, offset, max(n, 0))}
	} else {
		d.Labels = []diag.Label{{Where: file}}
	}
	r.list.Add(d)
}

func (r *reader) text(file string) (string, bool) {
	b, ok := r.c.Files[file]
	return string(b), ok && len(bytes.TrimSpace(b)) > 0
}

// portOf finds a port of the result, or makes it.
func (r *reader) portOf(name string) *intent.Port {
	for i := range r.got.Ports {
		if r.got.Ports[i].Name == name {
			return &r.got.Ports[i]
		}
	}
	r.got.Ports = append(r.got.Ports, intent.Port{Name: name, NIC: &intent.NIC{Driver: mlx5}})
	p := &r.got.Ports[len(r.got.Ports)-1]
	if w := r.want.port[name]; w != nil && w.NIC != nil {
		p.Verify, p.NIC.Model, p.NIC.Driver, p.NIC.Adapter = w.Verify, w.NIC.Model, w.NIC.Driver, w.NIC.Adapter
	}
	return p
}

func (r *reader) port(name string) {
	seen := slices.ContainsFunc(r.got.Ports, func(p intent.Port) bool { return p.Name == name })
	for file := range r.c.Files {
		seen = seen || strings.HasPrefix(file, name+"/")
	}
	if !seen {
		return
	}
	p := r.portOf(name)
	q := intent.QoS{Name: name}
	if w := r.want.port[name]; w != nil && w.QoS != "" {
		q.Name = w.QoS + "-" + name // one for each port: what they show may differ
	}
	empty := q
	// Old OFED drivers keep their own tables, which only mlnx_qos shows.
	if r.want.tool == mlnxTool && p.NIC.Driver == mlx5 && r.c.Files[name+"/mlnx_qos.txt"] != nil {
		r.mlnx(p, &q)
	} else {
		r.dcb(p, &q)
	}
	if q.Trust.IsZero() && q.TC.IsZero() {
		r.mlnx(p, &q)
	}
	r.pause(name, &q)
	r.ethtool(p)
	r.marks(p, &q)
	if !reflect.DeepEqual(q, empty) {
		p.QoS = q.Name
		r.got.QoS = append(r.got.QoS, q)
	}
}

// observable reports whether a field can be read back at all.
func observable(d *intent.Device, p intent.Path) bool {
	switch p.Object {
	case intent.OfPort:
		switch p.Field {
		case "adapter", "model", "headroom", "native", "segments":
			return false // what stands behind them shows as devices and values
		case "fec", "autoneg", "speed", "enabled", "mtu", "cable", "mac", "pci", "rdma", "roce_mode", "pause_storm_timeout", "dcbx", "vfs", "qos", "name", "firmware", "driver":
			return true
		}
		return false
	case intent.OfQoS:
		switch p.Field {
		case "trust", "dscp_map", "queue_map", "ets", "pfc", "pause":
			return true
		case "cap":
			return qosTool.Value(d) == mlnxTool
		}
		return strings.HasPrefix(p.Field, "class.") && markShown(d, p)
	case intent.OfIface:
		if p.Field == "segment" { // nothing shows the VLAN of untagged frames
			return slices.ContainsFunc(d.Ifaces, func(f intent.Iface) bool { return f.Name == p.Name && f.Kind == intent.VLANDev })
		}
		return p.Field != "rdma" && p.Field != "qos" && p.Field != "pin"
	case intent.OfLAG:
		return p.Field != "mlag" && p.Field != "native" && p.Field != "segments"
	}
	return false
}

// markShown: rdma_cm and the adapter show the mark of one RDMA class and of CNPs.
func markShown(d *intent.Device, p intent.Path) bool {
	for _, q := range d.QoS {
		for _, m := range q.Marks {
			if q.Name == p.Name && "class."+m.Class == p.Field {
				return m.Carries == "cnp" || m.Carries == "rdma" && !m.Application
			}
		}
	}
	return false
}
