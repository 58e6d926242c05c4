package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/compiler/lower"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// note keeps a deviation unless it is meant or follows from one that is known: an
// interface or LAG has the MTU of what it stands on.
func (o *odds) note(one oddOne) {
	w := oddWord{one.kind.device(one.row), one.path.Word()}
	if one.kind.object != intent.OfPort && o.seen[w] {
		return
	}
	if one.kind.object == intent.OfPort {
		o.seen[w] = true
	}
	one.meant = o.p.excepted(one.kind.layers(one.row), lower.Attrs(one.path)...)
	one.label = o.origin(one.kind, one.row, one.path)
	path := one.path
	path.Name = one.kind.name(one.most)
	one.example = o.origin(one.kind, one.most, path)
	o.found = append(o.found, one)
}

// origin is where a field of a row comes from: its first label, or none.
func (o *odds) origin(k *oddKind, r oddRow, path intent.Path) diag.Label {
	for _, l := range lower.Origin(o.p.Fabric, o.p.Facts, k.device(r), path) {
		return l
	}
	return diag.Label{}
}

// report says each deviation once: one line of the source, one cable, one value on all
// of a device.
func (o *odds) report() {
	slices.SortStableFunc(o.found, func(a, b oddOne) int {
		return cmp.Or(intent.Natural(a.kind.at(a.row), b.kind.at(b.row)),
			cmp.Compare(oddRank(a.path.Word()), oddRank(b.path.Word())), cmp.Compare(a.path.Field, b.path.Field))
	})
	type cause struct {
		word   string
		span   source.Span
		link   fabric.LinkID
		device fabric.DeviceID
		value  intent.Value
	}
	told := map[cause]*diag.Diagnostic{}
	more := map[*diag.Diagnostic][]string{}
	causes := map[cause]string{} // the word that a line of a device was told for
	var list []*diag.Diagnostic
	for i := range o.found {
		one := &o.found[i]
		k, word := one.kind, one.path.Word()
		// What follows from a line that most have too follows from something else that
		// was told.
		line := cause{span: one.label.Span, device: k.device(one.row)}
		if same := one.label.Span == one.example.Span; one.meant || same && o.follows(one) || causes[line] != "" && causes[line] != word {
			continue
		}
		causes[line] = word
		keys := []cause{{word: word, span: one.label.Span}, {word: word, device: k.device(one.row), value: one.value}}
		if l := k.link(one.row); l != 0 {
			keys = append(keys, cause{word: word, link: l})
		}
		var d *diag.Diagnostic
		for _, key := range keys {
			if told[key] != nil {
				d = told[key]
			}
		}
		if d == nil {
			d = o.diagnostic(one)
			list = append(list, d)
		} else if a := k.at(one.row); a != d.Address && !slices.Contains(d.Concerns, a) {
			d.Concerns = append(d.Concerns, a)
			more[d] = append(more[d], k.text(one.row))
		}
		for _, key := range keys {
			told[key] = d
		}
	}
	for _, d := range list {
		switch m := more[d]; {
		case len(m) > 3:
			d.Notes = append(d.Notes, fmt.Sprintf("likewise %s and %d more", strings.Join(m[:3], ", "), len(m)-3))
		case len(m) > 0:
			d.Notes = append(d.Notes, "likewise "+strings.Join(m, ", "))
		}
		o.p.Report(*d)
	}
}

// follows reports whether another field of the same device has a line of its own.
func (o *odds) follows(one *oddOne) bool {
	return slices.ContainsFunc(o.found, func(x oddOne) bool {
		return x.kind.device(x.row) == one.kind.device(one.row) &&
			(x.label.Span != x.example.Span || oddRank(x.path.Word()) < oddRank(one.path.Word()))
	})
}

// oddRank orders words by how likely one is the cause of others.
func oddRank(word string) int {
	causes := []string{"segment", "qos", "rdma", "enabled", "speed", "autoneg", "fec", "mtu"}
	if i := slices.Index(causes, word); i >= 0 {
		return i
	}
	return len(causes)
}

func (o *odds) diagnostic(one *oddOne) *diag.Diagnostic {
	k := one.kind
	d := &diag.Diagnostic{
		Address: k.at(one.row), Labels: []diag.Label{one.label},
		Help: "align it; if it is meant, say so: an except block with its reason, a role of its own, or a comment",
	}
	count := fmt.Sprintf("%d of %d %s of its role", one.have, one.of, k.word)
	field := one.path.Field
	if slices.Contains([]string{"mtu", "fec", "rdma", "pfc", "ecn", "ets", "dcbx"}, field) {
		field = strings.ToUpper(field)
	}
	switch {
	case one.lost && one.path.Field == "segment":
		d.Summary = fmt.Sprintf("%s is not in the segments that %s are in", k.text(one.row), count)
	case one.lost:
		d.Summary = fmt.Sprintf("%s has no qos, %s have one", k.text(one.row), count)
	case one.typical == oddGiven:
		d.Summary = fmt.Sprintf("%s has no %s, %s have one", k.text(one.row), field, count)
	case one.value == oddGiven:
		d.Summary = fmt.Sprintf("%s has a %s of its own, %s have none", k.text(one.row), field, count)
	default:
		d.Summary = fmt.Sprintf("%s of %s %s, %s %s", field, k.text(one.row), o.isWords(one.row, one, one.value), count, one.haveWords())
	}
	if !one.example.Span.IsZero() && one.example.Span != one.label.Span {
		one.example.Text = "as on " + strings.TrimPrefix(k.text(one.most), "port ")
		d.Labels = append(d.Labels, one.example)
	} else {
		d.Notes = append(d.Notes, "one of the others is "+k.text(one.most))
	}
	return d
}

// isWords shows the value of the one that differs. What it leaves to the device is told
// where the fabric knows it.
func (o *odds) isWords(r oddRow, one *oddOne, v intent.Value) string {
	switch {
	case v.State == intent.Set:
		return "is " + v.Text
	case v.State == intent.Default:
		return "is the vendor's default"
	case one.onOff():
		return "is off"
	}
	port := &o.p.Fabric.Ports[0]
	if one.kind.object == intent.OfPort {
		port = &o.p.Fabric.Ports[r]
	}
	switch {
	case one.path.Field == "speed" && port.Mbps > 0:
		return "is not written, and left to the device (" + fabric.Speed(port.Mbps) + ")"
	case one.path.Field == "mtu" && port.MTU > 0:
		return fmt.Sprintf("is not written, and left to the device (%d)", port.MTU)
	}
	return "is not written, and left to the device"
}

// onOff reports whether a setting is on with most, and that it is off leaves nothing
// to the device.
func (one *oddOne) onOff() bool {
	return one.typical.Text == "true" && slices.Contains([]string{"rdma", "vfs.rdma", "vfs.trust", "mlag"}, one.path.Field)
}

func (one *oddOne) haveWords() string {
	v := one.typical
	switch {
	case one.onOff():
		return "have it on"
	case v.State == intent.Set:
		return "have " + v.Text
	case v.State == intent.Default:
		return "have the vendor's default"
	}
	return "leave it to the device"
}
