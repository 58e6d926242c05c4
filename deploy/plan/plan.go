// Package plan compares what devices shall be with what was read from them or,
// where nothing was read, with what the record says was handed over, and says
// what would change, what that does to traffic, and what could not be seen. It
// takes intents, captures as intents, and entries of the record; it returns a
// Plan, which is plain data: printed for people (Text), encoded for programs
// (JSON), saved and compared again before it is applied (Saved). Nothing is
// sent anywhere, and nothing here reads devices.
package plan

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
	"github.com/rocec/rocec/targets"
)

// FormatVersion is that of a plan as JSON. Minor versions only add keys.
const FormatVersion = "1.0"

// Device is one device as the configuration, the captures and the record have it.
type Device struct {
	Address  string // as the command line takes it: `topology.pod1.leaf[2]`
	Target   *targets.Target
	Selected string         // what chose the target: `target "sonic", fabric.roce.hcl:80`; may be ""
	Want     *intent.Device // nil: no longer in the configuration
	Digest   string         // of Want; "": not computed yet
	Have     *intent.Device // what captures show; nil: nothing was captured
	From     From           // where Have is from
	// Boots is what the device of Have starts with where that is something else
	// than what it runs (intent.Boots).
	Boots []intent.Difference
	// Outdated is what it has of an older intent or emitter (targets.Target.Outdated);
	// asked for where nothing else changes. May be nil.
	Outdated func() []intent.Difference
	Recorded *record.Entry // nil: never handed over
	Version  string        // of Recorded, as Store.Get returns it
	// Artifacts are the digests of what the target writes now, by path; nil: not emitted.
	Artifacts map[string]string
	Armed     *targets.Armed // a change that is open on it; nil: none, or the device was not asked
	// Origin says where a value was written; may be nil.
	Origin func(intent.Path) []diag.Label
}

// From says where what a device has is known from.
type From string

// FromRecord is what was handed over or observed before, FromCaptures a folder,
// FromDevice a session with the device itself.
const (
	FromRecord   From = "record"
	FromCaptures From = "captures"
	FromDevice   From = "device"
)

// Options steer Compare and Join.
type Options struct {
	RocecVersion string
	Variables    map[string]string // digests of their values by name, as the manifest has them
	Properties   []Property        // that were proven of the configuration; may be nil
	// RefreshOnly compares what devices show with the record and plans no change.
	RefreshOnly bool
	View        *source.View // for lines of origins; may be nil
	Waves       Waves
	Full        bool // keep every setting of new devices, not only their number
}

// Action is what happens to an object, in the words of Terraform's JSON.
type Action string

// Actions. Replace is a device whose emitter changes.
const (
	Create  Action = "create"
	Update  Action = "update"
	Delete  Action = "delete"
	Replace Action = "replace"
)

// Property is what was proven of a class at so many ports.
type Property struct {
	Property string `json:"property"` // "lossless", "composition", "ecn", "mtu"
	Class    string `json:"class"`
	Holds    bool   `json:"holds"`
	Ports    int    `json:"ports"`
}

// Plan is what would change, in the order of addresses.
type Plan struct {
	RocecVersion string
	Variables    map[string]string
	Properties   []Property
	RefreshOnly  bool         // drift from the record, and no changes
	Read         map[From]int // devices by where they are known from
	Changes      []Change
	Drift        []Change // what differs and is not rocec's to change, or was changed by others
	Awaiting     []Awaited
	Unseen       []Unseen
	Open         []Open // what was read there does not stay
	Summary      Summary
	Waves        []Wave // of the rollout, in order; nil: none is written
}

// Change is one object that changes: a device as such, or one port, LAG,
// interface or VLAN of it.
type Change struct {
	Address string // `switch.tor.port["Ethernet0"]`
	Device  string // name of the device
	Owner   string // address of the device
	Object  intent.Object
	Name    string // of the object, "" for the device
	Action  Action
	Fields  []Field // in the order of intent.Fields
	Note    string  // why, or what it amounts to
	// Interrupts counts the ports and other objects whose traffic the change of
	// a whole device interrupts; of one object it is 0 or 1.
	Interrupts int
	Group      string          // the range address of the equal changes it belongs to
	Range      *diag.JSONRange // where the first of the values was written
}

// Field is one setting of a change. Before is "" where nothing was, After where
// nothing will be.
type Field struct {
	Name       string
	Before     string
	After      string
	Interrupts bool
	Note       string // what the change does: "link flap, about 2 s per port (mlx5)"
	Source     string // "pod1.roce.hcl:49"
	path       intent.Path
	at         *diag.JSONRange // of Source
}

// Open is a device with a change that is neither confirmed nor taken back.
type Open struct {
	Address     string `json:"address"`
	Device      string `json:"device"`
	Change      string `json:"change"`       // its ID
	LeftSeconds int    `json:"left_seconds"` // until the device goes back by itself; 0: it does not
}

// String says what is open and what to do about it.
func (o *Open) String() string {
	return o.Address + ": " + (&targets.Armed{ID: o.Change, Left: time.Duration(o.LeftSeconds) * time.Second}).String()
}

// Awaited is a device that was handed over and not seen applied since.
type Awaited struct {
	Address string `json:"address"`
	Device  string `json:"device"`
	Intent  string `json:"intent_digest"`
}

// Unseen are fields of one object that the captured output does not show.
type Unseen struct {
	Never   bool          `json:"never,omitempty"` // no output of such a device shows them
	Address string        `json:"address"`
	Device  string        `json:"device"`
	Owner   string        `json:"device_address"`
	Object  intent.Object `json:"object"`
	Name    string        `json:"name"`
	Fields  []string      `json:"fields"`
}

// Summary counts by address. Interrupted objects are counted by kind.
type Summary struct {
	Add         int                   `json:"add"`
	Change      int                   `json:"change"`
	Destroy     int                   `json:"destroy"`
	Interrupted map[intent.Object]int `json:"interrupted,omitempty"`
	Devices     int                   `json:"interrupted_devices"` // on which something is interrupted
}

// Part is what a plan has of one device. It holds no intent, so that devices can
// be compared one by one.
type Part struct {
	changes, drift []Change
	awaiting       []Awaited
	unseen         []Unseen
	open           *targets.Armed
	summary        Summary
	address, name  string
	from           From
	observed       *intent.Device // of a part that moved away from the record, with RefreshOnly
	origin         func(intent.Path) []diag.Label
	print          Fingerprint
	artifacts      func() map[string]string // those of print, where they are made on demand
}

// Compare compares one device.
func Compare(d *Device, o Options) *Part {
	if d.Digest == "" && d.Want != nil {
		d.Digest = intent.Digest(d.Want)
	}
	part := &Part{address: d.Address, origin: d.Origin, from: d.from(), open: d.Armed, summary: Summary{Interrupted: map[intent.Object]int{}}}
	part.name, part.print = fingerprint(d)
	c := comparison{device: d, plan: part, full: o.Full}
	if o.RefreshOnly {
		c.refresh()
		return part
	}
	c.run()
	return part
}

// from is where what the device has is known from.
func (d *Device) from() From {
	switch {
	case d.Have == nil:
		return FromRecord
	case d.From == "":
		return FromCaptures
	}
	return d.From
}

// Moved is what the device of a part shows that the record did not expect, with
// RefreshOnly; nil where they agree.
func (p *Part) Moved() (device string, observed *intent.Device) { return p.name, p.observed }

// Join is the plan of all devices. It does not depend on their order.
func Join(parts []*Part, o Options) *Plan {
	p := &Plan{
		RocecVersion: o.RocecVersion, Variables: o.Variables, Properties: o.Properties, RefreshOnly: o.RefreshOnly, Read: map[From]int{},
		Summary: Summary{Interrupted: map[intent.Object]int{}},
	}
	origins := make(map[string]func(intent.Path) []diag.Label, len(parts))
	for _, part := range parts {
		p.Changes = append(p.Changes, part.changes...)
		p.Drift = append(p.Drift, part.drift...)
		p.Awaiting = append(p.Awaiting, part.awaiting...)
		p.Unseen = append(p.Unseen, part.unseen...)
		if o := part.open; o != nil {
			p.Open = append(p.Open, Open{part.address, part.name, o.ID, int(o.Left.Seconds())})
		}
		p.Summary.add(part.summary)
		p.Read[cmp.Or(part.from, FromRecord)]++
		origins[part.address] = part.origin
	}
	order := func(a, b Change) int {
		return cmp.Or(intent.Natural(a.Owner, b.Owner), cmp.Compare(rank(a), rank(b)), intent.Natural(a.Name, b.Name))
	}
	slices.SortStableFunc(p.Changes, order)
	slices.SortStableFunc(p.Drift, order)
	p.Waves = waves(o.Waves, p.Changes)
	slices.SortStableFunc(p.Awaiting, func(a, b Awaited) int { return intent.Natural(a.Address, b.Address) })
	slices.SortStableFunc(p.Open, func(a, b Open) int { return intent.Natural(a.Address, b.Address) })
	slices.SortStableFunc(p.Unseen, func(a, b Unseen) int { return cmp.Or(intent.Natural(a.Owner, b.Owner), intent.Natural(a.Name, b.Name)) })
	for _, list := range [][]Change{p.Changes, p.Drift} {
		for _, b := range blocks(list) {
			for i, member := range b.members {
				list[member].Group = b.groups[i]
			}
		}
		locate(list, origins, o.View)
	}
	return p
}

// add counts another summary in.
func (s *Summary) add(x Summary) {
	s.Add += x.Add
	s.Change += x.Change
	s.Destroy += x.Destroy
	s.Devices += x.Devices
	for o, n := range x.Interrupted {
		s.Interrupted[o] += n
	}
}

// rank orders the objects of a device: itself, VLANs, ports, LAGs, interfaces.
func rank(c Change) int {
	return slices.Index([]intent.Object{intent.OfDevice, intent.OfVLAN, intent.OfPort, intent.OfLAG, intent.OfIface}, c.Object)
}

// locate finds where the values of changes were written. It goes through the
// places in the order of the files, as the view keeps a few of them only.
func locate(list []Change, origins map[string]func(intent.Path) []diag.Label, view *source.View) {
	type value struct {
		change, field int
		span          source.Span
	}
	var values []value
	for i := range list {
		c := &list[i]
		origin := origins[c.Owner]
		if origin == nil {
			continue
		}
		for j := range c.Fields {
			f := &c.Fields[j]
			if f.path == (intent.Path{}) || f.After == "" {
				continue
			}
			labels := origin(f.path)
			if len(labels) == 0 || labels[0].Span.IsZero() {
				continue
			}
			values = append(values, value{i, j, labels[0].Span})
			if c.Action == Create && c.Object == intent.OfDevice {
				break // a new device has a thousand values; one place leads to it
			}
		}
	}
	slices.SortStableFunc(values, func(a, b value) int { return cmp.Compare(a.span.File, b.span.File) })
	for _, v := range values {
		name := view.Name(v.span.File)
		if name == "" {
			continue
		}
		c := &list[v.change]
		f := &c.Fields[v.field]
		f.Source = name
		f.at = &diag.JSONRange{Filename: name}
		if start, end, ok := view.Range(v.span); ok {
			f.Source += ":" + strconv.Itoa(start.Line)
			f.at.Start = diag.JSONPosition{Line: start.Line, Column: start.Column, Byte: start.Byte}
			f.at.End = diag.JSONPosition{Line: end.Line, Column: end.Column, Byte: end.Byte}
		}
	}
	for i := range list {
		c := &list[i]
		for j := range c.Fields {
			if c.Range == nil {
				c.Range = c.Fields[j].at
			}
		}
	}
}

// HasChanges reports whether applying the plan would do anything.
func (p *Plan) HasChanges() bool { return len(p.Changes) > 0 }

// Moved reports whether devices show what the record does not expect, with
// RefreshOnly.
func (p *Plan) Moved() bool { return p.RefreshOnly && len(p.Drift) > 0 }

// DetailedExit is the exit code of plan --detailed-exitcode: 0 without changes,
// 2 with changes, where a change is open on a device, or where devices moved away from the record if that was asked.
func (p *Plan) DetailedExit() int {
	if p.HasChanges() || p.Moved() || len(p.Open) > 0 {
		return 2
	}
	return 0
}

// Address is the address of an object of a device in the words of the command
// line, which calls the ports of a node NICs and its LAGs bonds.
func Address(device string, kind intent.Kind, o intent.Object, name string) string {
	if o == intent.OfDevice {
		return device
	}
	return device + "." + word(kind, o) + `["` + name + `"]`
}

func word(kind intent.Kind, o intent.Object) string {
	if kind == intent.Node {
		switch o {
		case intent.OfPort:
			return "nic"
		case intent.OfLAG:
			return "bond"
		}
	}
	return string(o)
}
