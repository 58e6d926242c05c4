package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/targets"
)

// What stands in a plan for a setting that has no value.
const (
	notManaged = "(not managed)"
	atDefault  = "(left at the default)"
	gone       = "no longer in configuration"
)

// comparison is one device under way.
type comparison struct {
	device  *Device
	plan    *Part
	full    bool
	changes []Change
	at      map[objectKey]int // index in changes
	port    int               // index of the port of Want that was asked for last
	iface   int               // and of the interface
}

type objectKey struct {
	object intent.Object
	name   string
}

func (c *comparison) run() {
	d := c.device
	c.at = map[objectKey]int{}
	switch {
	case d.Want == nil && d.Recorded == nil:
		return
	case d.Want == nil:
		c.whole(Delete, d.Recorded.Device, gone)
	case d.Recorded != nil && d.Target != nil && d.Recorded.Emitter != d.Target.Name:
		c.create(Replace, fmt.Sprintf("emitter %s -> %s", d.Recorded.Emitter, d.Target.Name))
	case d.Have != nil:
		c.captured()
	case d.Recorded != nil:
		c.recorded()
	default:
		c.create(Create, "")
	}
	c.count()
	c.plan.changes = c.changes
}

// whole is a change of the device as such.
func (c *comparison) whole(a Action, name, note string) *Change {
	c.changes = append(c.changes, Change{
		Address: c.device.Address, Device: name, Owner: c.device.Address, Object: intent.OfDevice, Action: a, Note: note,
	})
	return &c.changes[len(c.changes)-1]
}

// create is a device that is handed over for the first time, or by another emitter.
func (c *comparison) create(a Action, why string) {
	d := c.device
	change := c.whole(a, d.Want.Name, "")
	counts := map[intent.Object]int{}
	touched, hit := map[objectKey]bool{}, map[intent.Object]int{}
	whole := "" // what interrupts all of the device
	for _, x := range intent.Diff(d.Want, nil) {
		if c.expectation(x.Path) {
			continue
		}
		key := objectKey{x.Path.Object, x.Path.Name}
		if x.Path.Field == "" {
			counts[key.object]++
			continue
		}
		impact := c.impact(x)
		if impact.Whole {
			whole = impact.Note
		}
		if impact.Interrupts && !touched[key] {
			touched[key] = true
			hit[key.object]++
			c.interrupted(key.object)
		}
		if c.full {
			f := fieldOf(x, impact)
			f.Name = x.Path.String()
			change.Fields = append(change.Fields, f)
		}
	}
	parts := []string{why, contents(d, counts), d.Selected}
	if change.Interrupts = len(touched); change.Interrupts > 0 {
		parts = append(parts, "interrupts "+tally(d.Want.Kind, hit))
		c.plan.summary.Devices++
	}
	parts = append(parts, whole)
	change.Note = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// contents says what a new device has: "sonic: 32 ports, 3 vlans".
func contents(d *Device, counts map[intent.Object]int) string {
	s := tally(d.Want.Kind, counts)
	if d.Target != nil {
		return strings.TrimSuffix(d.Target.Name+": "+s, ": ")
	}
	return s
}

func tally(kind intent.Kind, counts map[intent.Object]int) string {
	var parts []string
	for _, o := range []intent.Object{intent.OfPort, intent.OfLAG, intent.OfVLAN, intent.OfIface, intent.OfDevice} {
		if n := counts[o]; n > 0 {
			parts = append(parts, plural(n, word(kind, o)))
		}
	}
	return strings.Join(parts, ", ")
}

// captured compares with what was read. Fields that the captures do not show
// are compared with the record, which knows what was written last.
func (c *comparison) captured() {
	d := c.device
	var written *intent.Device
	if d.Recorded != nil {
		written = d.Recorded.Intent
	}
	differs, unseen := intent.Compare(d.Want, d.Have)
	same := written == d.Want // as Store.GetUnless tells without reading it
	for _, x := range differs {
		if c.expectation(x.Path) {
			c.drifted(x.Path, x.After, x.Before, why(x.Path))
			continue
		}
		c.add(x)
	}
	for _, x := range d.Boots {
		c.stored(x, d.saves())
	}
	for _, p := range unseen {
		c.unseen(p)
	}
	if !same && written != nil {
		want, known := index(d.Want), index(written)
		for _, p := range unseen {
			if old, ok := known[p]; ok && !c.expectation(p) && old.State == intent.Set && old.Text != want[p].Text {
				c.add(intent.Difference{Path: p, Before: old.Text, After: want[p].Text})
			}
		}
		if gone := intent.Gone(d.Want, written); len(gone) > 0 {
			shown := index(d.Have)
			for _, x := range gone {
				if _, still := shown[x.Path]; still {
					c.add(x)
				}
			}
		}
	}
	if d.Recorded != nil && d.Recorded.Status == record.Applied {
		moved := differs
		if !same {
			moved = intent.Diff(written, d.Have)
		}
		for _, x := range moved {
			if c.expectation(x.Path) {
				continue
			}
			c.drifted(x.Path, x.After, x.Before, "changed outside of rocec since it was seen applied")
		}
	}
	if len(c.changes) == 0 && d.Outdated != nil { // with anything else it is written anew as well
		for _, x := range d.Outdated() {
			c.stored(x, renewed)
		}
	}
}

// renewed is what is done about files that an older rocec has left on a device which
// is otherwise as it shall be.
const renewed = "only rocec's own files are renewed; nothing is interrupted"

// saves is what the target says of storing what the device runs with.
func (d *Device) saves() string {
	if d.Target == nil {
		return ""
	}
	return d.Target.Saves
}

// refresh compares what a device shows with what the record expects of it: the
// observation that was accepted last, else what was written.
func (c *comparison) refresh() {
	d := c.device
	if d.Want == nil || d.Have == nil || d.Recorded == nil {
		return
	}
	expected := d.Recorded.Observed
	if expected == nil {
		expected = d.Recorded.Intent
	}
	moved := intent.Diff(expected, d.Have)
	for _, x := range moved {
		c.drifted(x.Path, x.After, x.Before, "")
	}
	if len(moved) > 0 {
		c.plan.observed = d.Have
	}
}

// recorded compares with what was handed over last. The record states all that
// was managed: what it lacks was not managed, and is no gap in a read-back.
func (c *comparison) recorded() {
	d, e := c.device, c.device.Recorded
	if d.Digest == e.IntentDigest {
		switch {
		case d.Artifacts != nil && !maps.Equal(d.Artifacts, e.Artifacts):
			c.files()
		case e.Status == record.HandedOver:
			c.plan.awaiting = append(c.plan.awaiting, Awaited{d.Address, d.Want.Name, e.IntentDigest})
		}
		return
	}
	had := index(e.Intent)
	objects := map[objectKey]bool{} // of Want
	c.head()
	for p, w := range d.Want.Fields {
		h, stated := had[p]
		delete(had, p)
		if p.Field == "" {
			objects[objectKey{p.Object, p.Name}] = true
		}
		switch {
		case stated && h.State == w.State && h.Text == w.Text:
		case c.expectation(p), p.Field == "" && p.Object == intent.OfPort: // see managed
		case w.State == intent.Set && !(stated && h.State == intent.Set && h.Text == w.Text):
			c.add(intent.Difference{Path: p, Before: h.text(stated), After: w.Text})
		case w.State == intent.Default && stated && h.State == intent.Set:
			c.add(intent.Difference{Path: p, Before: h.Text, After: atDefault})
		}
	}
	if len(had) > 0 { // what Want has not
		for p, h := range e.Intent.Fields {
			if _, gone := had[p]; !gone || p.Field == "" || h.State != intent.Set {
				continue
			}
			if (objects[objectKey{p.Object, p.Name}] || p.Object == intent.OfDevice) && !c.expectation(p) {
				c.add(intent.Difference{Path: p, Before: h.Text, After: notManaged})
			}
		}
	}
	for _, x := range intent.Gone(d.Want, e.Intent) {
		c.add(x)
	}
	c.managed(e.Intent)
	if len(c.changes) == 0 {
		// Something that no field shows, as a fact of the model.
		f := Field{Name: "intent", Before: brief(e.IntentDigest), After: brief(d.Digest)}
		c.object(intent.Path{Object: intent.OfDevice}, Update).Fields = []Field{f}
	}
}

// files are artifacts that differ for one and the same intent: the emitter has changed.
func (c *comparison) files() {
	e := c.device.Recorded
	var fields []Field
	paths := slices.Sorted(maps.Keys(c.device.Artifacts))
	for _, p := range e.ArtifactPaths() {
		if _, ok := c.device.Artifacts[p]; !ok {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	for _, p := range paths {
		before, after := e.Artifacts[p], c.device.Artifacts[p]
		if before != after {
			fields = append(fields, Field{Name: "file." + p, Before: brief(before), After: brief(after), Note: "same intent, written anew by the emitter"})
		}
	}
	c.object(intent.Path{Object: intent.OfDevice}, Update).Fields = fields
}

// head compares what is no setting of a device but decides what is written.
func (c *comparison) head() {
	want, had := c.device.Want, c.device.Recorded.Intent
	put := func(name, before, after string) {
		if before != after {
			change := c.object(intent.Path{Object: intent.OfDevice}, Update)
			change.Fields = append(change.Fields, Field{Name: name, Before: before, After: after, path: intent.Path{Object: intent.OfDevice, Field: name}})
		}
	}
	put("os", systemOf(had), systemOf(want))
	put("model", had.Model, want.Model)
	names := slices.AppendSeq(slices.Collect(maps.Keys(had.Options)), maps.Keys(want.Options))
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		put("options."+n, had.Options[n], want.Options[n])
	}
}

func systemOf(d *intent.Device) string { return strings.TrimSuffix(d.OS.Name+"/"+d.OS.Version, "/") }

// managed lists ports that come under management, leave it, or turn into
// expectations: a port is there whether it is managed or not, so that none is
// created or destroyed.
func (c *comparison) managed(had *intent.Device) {
	before, after := map[string]string{}, map[string]string{}
	for _, side := range []struct {
		d    *intent.Device
		mode map[string]string
	}{{had, before}, {c.device.Want, after}} {
		for i := range side.d.Ports {
			side.mode[side.d.Ports[i].Name] = "full"
			if side.d.Ports[i].Verify {
				side.mode[side.d.Ports[i].Name] = "verify"
			}
		}
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		b, a := before[n], after[n]
		if b == a {
			continue
		}
		change := c.object(intent.Path{Object: intent.OfPort, Name: n}, Update)
		f := Field{Name: "manage", Before: cmpOr(b, "none"), After: cmpOr(a, "none")}
		change.Fields = append([]Field{f}, change.Fields...)
	}
}

// expectation reports whether a field is compared only: a version that nothing
// installs, or anything of a port that is not written.
func (c *comparison) expectation(p intent.Path) bool {
	if p.Expected() {
		return true
	}
	if p.Object != intent.OfPort {
		return false
	}
	port := c.portOf(p.Name)
	return port != nil && port.Verify
}

// why says why an expectation is not met by a change.
func why(p intent.Path) string {
	if p.Expected() {
		return "expected, never installed"
	}
	return "expected, never written: manage = \"verify\""
}

// portOf is a port of the device, nil if it has none of that name.
func (c *comparison) portOf(name string) *intent.Port {
	return named(c.device.Want.Ports, &c.port, func(p *intent.Port) bool { return p.Name == name })
}

// ifaceOf is portOf for an interface.
func (c *comparison) ifaceOf(name string) *intent.Iface {
	return named(c.device.Want.Ifaces, &c.iface, func(f *intent.Iface) bool { return f.Name == name })
}

// named is the first from a place on that is looked for, and the place becomes its
// own: paths come port by port, so that it is mostly the one of the path before, or
// the next.
func named[T any](list []T, from *int, is func(*T) bool) *T {
	for range list {
		if *from >= len(list) {
			*from = 0
		}
		if is(&list[*from]) {
			return &list[*from]
		}
		*from++
	}
	return nil
}

// add enters a difference into the change of its object.
func (c *comparison) add(x intent.Difference) {
	switch {
	case x.Creates():
		c.object(x.Path, Create)
	case x.Destroys():
		c.object(x.Path, Delete).Note = gone
	default:
		change := c.object(x.Path, Update)
		change.Fields = append(change.Fields, c.field(x))
	}
}

// stored enters a setting that the device runs with and does not start with. To
// store it changes nothing that runs, so that the target is not asked what the
// setting itself would do; what storing it does it says by the stored path, else the
// note does.
func (c *comparison) stored(x intent.Difference, note string) {
	at, _ := x.Path.Running()
	f := c.field(x)
	f.path = at
	if !f.Interrupts {
		f.Note = note
	}
	change := c.object(at, Update)
	change.Fields = append(change.Fields, f)
}

// object is the change of the object of a path; it is made when there is none.
func (c *comparison) object(p intent.Path, a Action) *Change {
	key := objectKey{p.Object, p.Name}
	i, ok := c.at[key]
	if !ok {
		i = len(c.changes)
		c.at[key] = i
		d := c.device
		c.changes = append(c.changes, Change{
			Address: Address(d.Address, d.Want.Kind, p.Object, p.Name), Device: d.Want.Name, Owner: d.Address,
			Object: p.Object, Name: p.Name, Action: a,
		})
	}
	return &c.changes[i]
}

func (c *comparison) field(x intent.Difference) Field { return fieldOf(x, c.impact(x)) }

func fieldOf(x intent.Difference, impact targets.Impact) Field {
	return Field{Name: x.Path.Field, Before: x.Before, After: x.After, Interrupts: impact.Interrupts, Note: impact.Note, path: x.Path}
}

// impact asks the target about a difference by all of its names; the gravest
// answer counts.
func (c *comparison) impact(x intent.Difference) targets.Impact {
	d := c.device
	if d.Target == nil || d.Target.Impact == nil {
		return targets.Impact{}
	}
	var gravest targets.Impact
	var room [4]intent.Path
	for _, p := range c.namesOf(room[:0], x.Path) {
		i := d.Target.Impact(d.Want, targets.Change{Path: p, Before: x.Before, After: x.After})
		if i.Interrupts && !gravest.Interrupts || gravest == (targets.Impact{}) {
			gravest = i
		}
	}
	return gravest
}

// Impact is what the target of a device says of a difference.
func Impact(t *targets.Target, want *intent.Device, x intent.Difference) targets.Impact {
	c := comparison{device: &Device{Target: t, Want: want}}
	return c.impact(x)
}

// qosOf is the QoS that the object of a path names.
func (c *comparison) qosOf(p intent.Path) string {
	switch p.Object {
	case intent.OfPort:
		if port := c.portOf(p.Name); port != nil {
			return port.QoS
		}
	case intent.OfIface:
		if f := c.ifaceOf(p.Name); f != nil {
			return f.QoS
		}
	}
	return ""
}

// drifted enters what differs and is not planned to be changed because of it.
func (c *comparison) drifted(p intent.Path, expected, found, why string) {
	d := c.device
	list := &c.plan.drift
	i := len(*list) - 1
	address := Address(d.Address, d.Want.Kind, p.Object, p.Name)
	if i < 0 || (*list)[i].Address != address || (*list)[i].Note != why {
		*list = append(*list, Change{
			Address: address, Device: d.Want.Name, Owner: d.Address, Object: p.Object, Name: p.Name, Action: Update, Note: why,
		})
		i++
	}
	change := &(*list)[i]
	if p.Field == "" {
		change.Action = Delete // it should be there and is not
		return
	}
	if change.Action == Update {
		change.Fields = append(change.Fields, Field{Name: p.Field, Before: expected, After: found, path: p})
	}
}

func (c *comparison) unseen(p intent.Path) {
	d := c.device
	list := &c.plan.unseen
	*list = AddUnseen(*list, d.Address, d.Target, d.Want, p)
}

// AddUnseen enters a field of a device into a list of what could not be seen, in
// which the fields of one object follow each other.
func AddUnseen(list []Unseen, device string, t *targets.Target, want *intent.Device, p intent.Path) []Unseen {
	never := !observable(t, want, p)
	address := Address(device, want.Kind, p.Object, p.Name)
	for i := len(list) - 1; i >= max(0, len(list)-2); i-- {
		if list[i].Address == address && list[i].Never == never {
			list[i].Fields = append(list[i].Fields, p.Field)
			return list
		}
	}
	return append(list, Unseen{Never: never, Address: address, Device: want.Name, Owner: device, Object: p.Object, Name: p.Name, Fields: []string{p.Field}})
}

// observable asks the target whether any output shows a field, by its names.
func observable(t *targets.Target, want *intent.Device, p intent.Path) bool {
	if t == nil || t.Observable == nil {
		return true
	}
	c := comparison{device: &Device{Want: want}}
	return slices.ContainsFunc(c.namesOf(nil, p), func(p intent.Path) bool { return t.Observable(want, p) })
}

// namesOf are the paths by which a target may know a difference: the setting
// where a device has it, its word ("headroom" for "headroom.size"), and both
// under the QoS that a port names.
func (c *comparison) namesOf(paths []intent.Path, p intent.Path) []intent.Path {
	paths = append(paths, p)
	if w := p.Word(); w != p.Field {
		paths = append(paths, intent.Path{Object: p.Object, Name: p.Name, Field: w})
	}
	if p.Field == "" {
		return paths
	}
	if qos := c.qosOf(p); qos != "" {
		for _, p := range paths {
			paths = append(paths, intent.Path{Object: intent.OfQoS, Name: qos, Field: p.Field})
		}
	}
	return paths
}

// count enters the changes into the summary.
func (c *comparison) count() {
	s := &c.plan.summary
	hit := false
	for i := range c.changes {
		change := &c.changes[i]
		switch change.Action {
		case Create:
			s.Add++
		case Update:
			s.Change++
		case Delete:
			s.Destroy++
		case Replace:
			s.Add++
			s.Destroy++
		}
		if change.Object == intent.OfDevice && (change.Action == Create || change.Action == Replace) {
			continue // counted by object
		}
		if change.Action != Update && change.Object != intent.OfDevice {
			c.wholeObject(change)
		}
		if slices.ContainsFunc(change.Fields, func(f Field) bool { return f.Interrupts }) {
			change.Interrupts = 1
		}
		if change.Interrupts > 0 {
			hit = true
			c.interrupted(change.Object)
		}
	}
	if hit {
		s.Devices++
	}
}

// wholeObject asks what making or removing an object does.
func (c *comparison) wholeObject(change *Change) {
	x := intent.Difference{Path: intent.Path{Object: change.Object, Name: change.Name}, After: intent.Present}
	if change.Action == Delete {
		x.Before, x.After = intent.Present, ""
	}
	if i := c.impact(x); i.Interrupts {
		change.Interrupts = 1
		change.Note = strings.TrimPrefix(change.Note+"; "+i.Note, "; ")
	}
}

func (c *comparison) interrupted(o intent.Object) { c.plan.summary.Interrupted[o]++ }

type value struct{ intent.Value }

// text is a recorded value as a plan shows it.
func (v value) text(stated bool) string {
	if stated && v.State == intent.Default {
		return intent.AtDefault
	}
	return v.Text
}

func index(d *intent.Device) map[intent.Path]value {
	if d == nil {
		return map[intent.Path]value{}
	}
	const perPort = 16
	m := make(map[intent.Path]value, perPort*(len(d.Ports)+len(d.Ifaces)))
	for p, v := range d.Fields {
		m[p] = value{v}
	}
	return m
}

// brief is a digest that people compare by eye.
func brief(digest string) string {
	const shown = len("sha256:") + 12
	return digest[:min(len(digest), shown)]
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
