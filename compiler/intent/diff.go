package intent

// Difference is one field that has to change. Before is "" where nothing was
// there, AtDefault where a device said that the field is at its default.
type Difference struct {
	Path   Path
	Before string
	After  string
}

// AtDefault is the text of a field that a device has left at its default.
const AtDefault = "default"

// Creates reports whether the difference is an object that does not exist yet.
func (d Difference) Creates() bool { return d.Path.Field == "" && d.Before == "" }

// Destroys reports whether the difference is an object that has to go.
func (d Difference) Destroys() bool { return d.Path.Field == "" && d.After == "" }

// Diff lists what has to change on a device that is have so that it is want,
// in the order of Fields. Only fields that both state are compared: what want
// leaves alone or at the vendor's default is never touched, what have could
// not show stands in Unseen. An object of want that have lacks comes first as
// such, from "" to Present, and then with all its fields, as does every object
// when have is nil. An object of have that want lacks is no difference: what
// rocec does not manage is never removed. See Gone.
func Diff(want, have *Device) []Difference {
	list, _ := Compare(want, have)
	return list
}

// Unseen lists the fields that want sets and that have, which knows the object,
// could not show. It is nil when have is nil.
func Unseen(want, have *Device) []Path {
	_, list := Compare(want, have)
	return list
}

// Compare is Diff and Unseen at once, for half of what both cost.
func Compare(want, have *Device) (differs []Difference, unseen []Path) {
	seen := index(have)
	for p, w := range want.Fields {
		if w.State != Set {
			continue
		}
		h, stated := seen[p]
		switch {
		case !stated && !missing(seen, have, p):
			unseen = append(unseen, p) // exists, but could not be read
			continue
		case stated && h.State == Set && fits(p, w.Text, h.Text):
			continue
		case stated && h.State == Default:
			h.Text = AtDefault
		}
		differs = append(differs, Difference{Path: p, Before: h.Text, After: w.Text})
	}
	return differs, unseen
}

// Writes reports whether a setting is one that is written: not a version that is
// expected, and not of a port that is compared only.
func (d *Device) Writes(p Path) bool {
	if p.Object == OfPort {
		if port := d.PortNamed(p.Name); port != nil && port.Verify {
			return false
		}
	}
	return !p.Expected()
}

// Boots lists the settings of want that a device runs with and does not start
// with, by their stored paths (Path.Stored): Before is what it starts with. What
// it does not run with is left out, as that has to change anyway, and so is what
// nobody writes (Writes) and what the stored configuration does not show. Of an
// object that is missing there it is the object alone, of a device that starts as
// it runs nothing.
func Boots(want, running, starts *Device) []Difference {
	differs, _ := Compare(want, starts)
	if len(differs) == 0 {
		return nil
	}
	now, unseen := Compare(want, running)
	skip := make(map[Path]bool, len(now)+len(unseen))
	for _, x := range now {
		skip[x.Path] = true
	}
	for _, p := range unseen {
		skip[p] = true
	}
	var list []Difference
	missing := map[Path]bool{}
	for _, x := range differs {
		object := Path{Object: x.Path.Object, Name: x.Path.Name}
		if x.Creates() {
			missing[object] = true
		} else if missing[object] {
			continue
		}
		if !skip[x.Path] && want.Writes(x.Path) {
			list = append(list, Difference{Path: x.Path.Stored(), Before: x.Before, After: x.After})
		}
	}
	return list
}

// Gone lists the objects that were written once and that want no longer has,
// from Present to "". Written is what was applied before, from the record, and
// not what a device shows: only what rocec wrote may be removed by it. Ports
// do not go; a port that is no longer wanted is no longer managed.
func Gone(want, written *Device) []Difference {
	if written == nil {
		return nil
	}
	kept := map[Path]bool{}
	if want != nil {
		for p := range want.made {
			kept[p] = true
		}
	}
	var list []Difference
	for p := range written.made {
		if !kept[p] {
			list = append(list, Difference{Path: p, Before: Present})
		}
	}
	return list
}

// made yields the objects that a device has because somebody wrote them, as such and
// in the order of Fields: not its ports.
func (d *Device) made(yield func(Path) bool) {
	for i := range d.VLANs {
		if !yield(Path{Object: OfVLAN, Name: number(d.VLANs[i].ID)}) {
			return
		}
	}
	for i := range d.LAGs {
		if !yield(Path{Object: OfLAG, Name: d.LAGs[i].Name}) {
			return
		}
	}
	for i := range d.Ifaces {
		if !yield(Path{Object: OfIface, Name: d.Ifaces[i].Name}) {
			return
		}
	}
}

func index(d *Device) map[Path]Value {
	if d == nil {
		return nil
	}
	const perPort = 24 // fields, as a guess
	m := make(map[Path]Value, perPort*(1+len(d.Ports)))
	for p, v := range d.Fields {
		m[p] = v
	}
	return m
}

// missing reports whether the object of a path does not exist at all. The
// device itself exists as soon as there is something to compare with.
func missing(seen map[Path]Value, have *Device, p Path) bool {
	if have == nil {
		return true
	}
	if p.Object == OfDevice {
		return false
	}
	_, ok := seen[Path{Object: p.Object, Name: p.Name}]
	return !ok
}
