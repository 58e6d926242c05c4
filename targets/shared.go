package targets

import (
	"fmt"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// Shared is one setting of a cluster, as a device of it states it.
type Shared struct {
	What  string // in words: "storage VLANs of intent Storage"
	Value string
	Path  intent.Path // where the device says so
}

// Peer is a device of a cluster with where its fields were written.
type Peer struct {
	Device *intent.Device
	Origin func(intent.Path) []diag.Label // may be nil
}

// Alike refuses what a device states otherwise than the first of its cluster:
// both would write it, and undo each other. Every finding names both.
func Alike(t *Target, first, other Peer) diag.List {
	if t.Shared == nil {
		return nil
	}
	want, have := t.Shared(first.Device), t.Shared(other.Device)
	one := check{target: t, device: first.Device, origin: first.Origin}
	two := check{target: t, device: other.Device, origin: other.Origin}
	device := intent.Path{Object: intent.OfDevice}
	refuse := func(a, b intent.Path, summary string) {
		said := b
		if said == device {
			said = a
		}
		two.list.Add(diag.Diagnostic{
			Rule: Refusal(said).ID, Severity: diag.Error, Summary: summary, Help: "make the two agree: a cluster has one of it for all its nodes",
			Address: Address(other.Device, b), Labels: append(two.labels([]intent.Path{b})[:1:1], one.labels([]intent.Path{a})[0]),
		})
	}
	byWhat := map[string]Shared{}
	for _, s := range have {
		byWhat[s.What] = s
	}
	for _, w := range want {
		h, stated := byWhat[w.What]
		delete(byWhat, w.What)
		switch {
		case !stated:
			refuse(w.Path, device, fmt.Sprintf("%s has no %s, %s of its cluster has %s", other.Device.Name, w.What, first.Device.Name, w.Value))
		case h.Value != w.Value:
			refuse(w.Path, h.Path, fmt.Sprintf("%s of %s are %s, those of %s of its cluster %s", w.What, other.Device.Name, h.Value, first.Device.Name, w.Value))
		}
	}
	for _, h := range have {
		if _, more := byWhat[h.What]; more {
			refuse(device, h.Path, fmt.Sprintf("%s has %s, which are %s, and %s of its cluster has none", other.Device.Name, h.What, h.Value, first.Device.Name))
		}
	}
	return two.list
}
