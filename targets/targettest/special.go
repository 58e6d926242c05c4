package targettest

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// silent reports whether a field says nothing to a device: because of what it
// is, or because another field of the same struct switches it off.
func silent(key string, owner reflect.Value) bool {
	switch key {
	case "Device.Version", "Device.Firmware", "OS.Version", "Device.Options", "NIC.Firmware", "NIC.DriverV", "NIC.Facts", "Headroom.Written":
		return true
	}
	switch o := owner.Interface().(type) {
	case intent.Port:
		return o.Verify && key != "Port.Verify"
	case intent.Headroom:
		return !o.Written
	case intent.Watchdog:
		return !o.On && key != "Watchdog.On"
	case intent.ECN:
		return !o.On && key != "ECN.On"
	case intent.Sched:
		return key == "Sched.Percent" && o.Kind != intent.SchedETS || key == "Sched.CapMbps" && o.Kind == intent.SchedIdle
	case intent.Iface:
		return key == "Iface.QoS" && o.Kind != intent.VLANDev
	}
	return false
}

// special lists the changes of fields that name something or are named, and of
// lists of objects. It reports whether the field needs no further changes.
func (w *walker) special(n node, owner reflect.Value) bool {
	switch n.key {
	case "Port.Name", "LAG.Name", "Iface.Name":
		now := n.v.String()
		next := w.fresh(now)
		w.add(n, strconv.Quote(next), func(d *intent.Device) { rename(d, now, next) })
	case "QoS.Name":
	case "QoS.DCBX":
		return w.base.Kind == intent.Node // a host's stands at its NIC
	case "VLAN.ID":
		old := uint16(n.v.Uint())
		if w.base.Kind == intent.Switch || w.carried(old) {
			w.add(n, strconv.Itoa(spareVLAN), func(d *intent.Device) { renumber(d, old, spareVLAN) })
		}
	case "Port.QoS", "Iface.QoS":
		for _, q := range append([]string{""}, w.qosNames()...) {
			if q != n.v.String() {
				w.put(n, q)
			}
		}
	case "Iface.On", "MLAG.PeerLink":
		if other := w.other(n.v.String()); n.v.String() != "" && other != "" {
			w.put(n, other)
		}
	case "Iface.Pin":
		if other := w.other(n.v.String()); other != "" && owner.Interface().(intent.Iface).Kind == intent.VNIC {
			w.put(n, other)
			if n.v.String() != "" {
				w.put(n, "")
			}
		}
	case "NIC.PCI":
		w.put(n, "0000:af:00.1")
	case "NIC.MAC":
		w.put(n, "02:00:00:00:00:09")
	case "Sched.Kind":
		if n.v.String() == "" { // an ETS share without a percentage is no value
			w.put(n, intent.SchedStrict)
			return true
		}
		return false
	case "ECN.On":
		if !n.v.Bool() {
			w.add(n, show(reflect.ValueOf(marking)), func(d *intent.Device) {
				n.at(reflect.ValueOf(d).Elem()).SetBool(true)
				fillMarking(d)
			})
			return true
		}
		return false
	case "Device.Ports", "Device.LAGs", "Device.Ifaces", "Device.VLANs", "Device.QoS", "Device.MLAG", "Port.Headroom", "QoS.Marks", "Headroom.Alpha":
		return w.objects(n)
	case "Port.NIC":
		if !n.v.IsNil() {
			at := n.at
			n.v, n.at = n.v.Elem(), func(root reflect.Value) reflect.Value { return at(root).Elem() }
			w.fields(n)
		}
	default:
		return false
	}
	return true
}

// fillMarking completes the marking of a queue whose ECN was switched on.
func fillMarking(d *intent.Device) {
	for i := range d.QoS {
		for tc := range d.QoS[i].ECN.Value {
			if e := &d.QoS[i].ECN.Value[tc]; e.On && e.MaxBytes == 0 {
				*e = marking
			}
		}
	}
}

// objects lists the changes of lists of objects. It reports whether their
// elements need no further changes.
func (w *walker) objects(n node) bool {
	b := w.base
	more := func(what string, apply func(*intent.Device)) { w.add(n, what, apply) }
	switch n.key {
	case "Device.Ports":
		for i, p := range b.Ports {
			if p.Verify {
				continue
			}
			more("without "+p.Name, func(d *intent.Device) { removePort(d, p.Name) })
			name := w.fresh(p.Name)
			more("also "+name, func(d *intent.Device) {
				q := d.Ports[i]
				q.Name = name
				d.Ports = append(d.Ports, q)
			})
		}
	case "Device.LAGs":
		for _, l := range b.LAGs {
			more("without "+l.Name, func(d *intent.Device) { removePort(d, l.Name) })
		}
		for _, l := range sampleLAGs(b) {
			more("also a LAG with mode "+l.Mode, func(d *intent.Device) { d.LAGs = append(d.LAGs, l) })
		}
	case "Device.Ifaces":
		for i, f := range b.Ifaces {
			more("without "+f.Name, func(d *intent.Device) { d.Ifaces = slices.Delete(d.Ifaces, i, i+1) })
		}
		for _, f := range sampleIfaces(b) {
			more("also one of kind "+string(f.Kind), func(d *intent.Device) { d.Ifaces = append(d.Ifaces, f) })
		}
	case "Device.VLANs":
		if b.Kind == intent.Node {
			break // a host has a VLAN where something uses it
		}
		for i, v := range b.VLANs {
			more("without "+strconv.Itoa(int(v.ID)), func(d *intent.Device) { d.VLANs = slices.Delete(d.VLANs, i, i+1) })
		}
		more("also one", func(d *intent.Device) { d.VLANs = append(d.VLANs, intent.VLAN{ID: spareVLAN}) })
	case "Device.QoS":
		at := n.at
		for i, q := range b.QoS {
			if w.used[q.Name] {
				w.fields(node{path: "QoS[" + q.Name + "]", v: n.v.Index(i), at: func(root reflect.Value) reflect.Value { return at(root).Index(i) }})
			}
		}
		return true
	case "Device.MLAG":
		if b.MLAG != nil {
			return false
		}
		m := sampleMLAG(b)
		more("a pair", func(d *intent.Device) { d.MLAG = m })
		return true
	case "QoS.Marks":
		if b.Kind == intent.Switch {
			return true
		}
		w.removed(n)
		at := n.at
		more("also one", func(d *intent.Device) {
			s := at(reflect.ValueOf(d).Elem())
			s.Set(reflect.Append(s, reflect.ValueOf(sampleMark())))
		})
	case "Port.Headroom":
		at := n.at
		for i, h := range n.v.Interface().([]intent.Headroom) {
			if h.Written {
				more("without group "+strconv.Itoa(int(h.Group)), func(d *intent.Device) {
					s := at(reflect.ValueOf(d).Elem())
					s.Set(reflect.AppendSlice(s.Slice(0, i), s.Slice(i+1, s.Len())))
				})
			}
		}
		if !slices.ContainsFunc(n.v.Interface().([]intent.Headroom), func(h intent.Headroom) bool { return h.Group == headroom.Group }) {
			more("also group 3", func(d *intent.Device) {
				s := at(reflect.ValueOf(d).Elem())
				s.Set(reflect.Append(s, reflect.ValueOf(headroom)))
			})
		}
	case "Headroom.Alpha":
		if !n.v.IsNil() {
			return false
		}
		alpha := int8(-2)
		w.put(n, &alpha)
		return true
	}
	w.elements(n, false)
	return true
}

// fresh is a name of the same form that nothing of the base has.
func (w *walker) fresh(name string) string {
	stem := strings.TrimRight(name, "0123456789")
	start, err := strconv.Atoi(name[len(stem):])
	if err != nil {
		return name + "x"
	}
	for i := start + 1; ; i++ {
		if next := stem + strconv.Itoa(i); !w.named(next) {
			return next
		}
	}
}

func (w *walker) named(name string) bool {
	return slices.ContainsFunc(w.base.Ports, func(p intent.Port) bool { return p.Name == name }) ||
		slices.ContainsFunc(w.base.LAGs, func(l intent.LAG) bool { return l.Name == name }) ||
		slices.ContainsFunc(w.base.Ifaces, func(f intent.Iface) bool { return f.Name == name })
}

// other is a port or LAG that is not the one named.
func (w *walker) other(name string) string {
	for _, p := range w.base.Ports {
		if p.Name != name {
			return p.Name
		}
	}
	for _, l := range w.base.LAGs {
		if l.Name != name {
			return l.Name
		}
	}
	return ""
}

// freePort is a port that is in no LAG.
func (w *walker) freePort() string {
	for _, p := range w.base.Ports {
		if !slices.ContainsFunc(w.base.LAGs, func(l intent.LAG) bool { return slices.Contains(l.Members, p.Name) }) {
			return p.Name
		}
	}
	return ""
}

func (w *walker) qosNames() []string {
	var names []string
	for _, q := range w.base.QoS {
		names = append(names, q.Name)
	}
	return names
}

// carried reports whether a port, LAG or interface uses a VLAN.
func (w *walker) carried(id uint16) bool {
	for _, p := range w.base.Ports {
		if p.Native.Or(0) == id || slices.Contains(p.Tagged.Value, id) {
			return true
		}
	}
	for _, l := range w.base.LAGs {
		if l.Native.Or(0) == id || slices.Contains(l.Tagged.Value, id) {
			return true
		}
	}
	return slices.ContainsFunc(w.base.Ifaces, func(f intent.Iface) bool { return f.VLAN == id })
}

// rename gives a port, LAG or interface another name wherever it is named.
func rename(d *intent.Device, old, next string) {
	swap := func(s *string) {
		if *s == old {
			*s = next
		}
	}
	for i := range d.Ports {
		swap(&d.Ports[i].Name)
	}
	for i := range d.LAGs {
		swap(&d.LAGs[i].Name)
		for j := range d.LAGs[i].Members {
			swap(&d.LAGs[i].Members[j])
		}
	}
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		swap(&f.Name)
		swap(&f.On)
		swap(&f.Pin)
	}
	if d.MLAG != nil {
		swap(&d.MLAG.PeerLink)
	}
}

// renumber gives a VLAN another ID wherever it is used.
func renumber(d *intent.Device, old, next uint16) {
	swap := func(id *uint16) {
		if *id == old {
			*id = next
		}
	}
	for i := range d.VLANs {
		swap(&d.VLANs[i].ID)
	}
	for i := range d.Ports {
		p := &d.Ports[i]
		swap(&p.Native.Value)
		for j := range p.Tagged.Value {
			swap(&p.Tagged.Value[j])
		}
		if p.NIC != nil {
			swap(&p.NIC.VFs.Value.VLAN)
		}
	}
	for i := range d.LAGs {
		l := &d.LAGs[i]
		swap(&l.Native.Value)
		for j := range l.Tagged.Value {
			swap(&l.Tagged.Value[j])
		}
	}
	for i := range d.Ifaces {
		swap(&d.Ifaces[i].VLAN)
	}
}

// removePort takes out a port or LAG and what stands on it.
func removePort(d *intent.Device, name string) {
	d.Ports = slices.DeleteFunc(d.Ports, func(p intent.Port) bool { return p.Name == name })
	d.LAGs = slices.DeleteFunc(d.LAGs, func(l intent.LAG) bool { return l.Name == name })
	for i := range d.LAGs {
		d.LAGs[i].Members = slices.DeleteFunc(d.LAGs[i].Members, func(m string) bool { return m == name })
	}
	d.Ifaces = slices.DeleteFunc(d.Ifaces, func(f intent.Iface) bool { return f.On == name })
	for i := range d.Ifaces {
		if d.Ifaces[i].Pin == name {
			d.Ifaces[i].Pin = ""
		}
	}
}
