package resolve

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// asFound reads what is known of a switch besides its settings.
func (r *resolver) asFound(d *fabric.Device, base *scope) {
	pools := base.get(schema.APools)
	size := func(n schema.Attr) uint64 { return uint64(r.cfg.Field(pools, n).N) }
	d.Pools = fabric.Pools{
		IngressBytes: size(schema.AIngress), HeadroomBytes: size(schema.AHeadroom),
		EgressLossyBytes: size(schema.AEgressLossy), EgressLosslessBytes: size(schema.AEgressLossless),
	}
	switch r.cfg.Text(base.get(schema.ASTP)) {
	case "":
	case "off":
		d.STP = fabric.STPOff
	default:
		d.STP = fabric.STPOn
	}
	ms := func(n schema.Attr) uint32 {
		us := base.get(n).N
		if us%1e6 != 0 || us == 0 && base.get(n).Kind != lang.Absent {
			r.fail(fmt.Sprintf("%s of switch %s is %g s", n.Name(), r.f.Text(d.Name), float64(us)/1e6), "write whole seconds: switches are told those", r.f.Label(d.Decl, d.Layers, n, ""))
		}
		return uint32(min(us/1000, 1<<32-1))
	}
	d.ARPMs, d.MACMs = ms(schema.AARPTimeout), ms(schema.AMACTimeout)
}

// hostAsFound reads what is known of a node besides its settings.
func (r *resolver) hostAsFound(d *fabric.Device, base *scope) {
	switch v := base.get(schema.AMemlock); {
	case v.Kind == lang.Int:
		d.Memlock = fabric.Memlock{Bytes: uint64(v.N), Written: true}
	case v.Kind != lang.Absent:
		d.Memlock = fabric.Memlock{Unlimited: true, Written: true}
	}
	d.ACS, d.Persistent, d.Virtualised = fact(base.get(schema.AACS)), fact(base.get(schema.APersistent)), base.get(schema.AVirtualised).N == 1
	d.Modules, d.Consumers = r.words(base.get(schema.AModules)), r.consumers(base.get(schema.AConsumers))
}

// words is a list of free words; nil where none is written, which an empty one is
// not.
func (r *resolver) words(v lang.Value) []fabric.Str {
	if v.Kind == lang.Absent {
		return nil
	}
	list := []fabric.Str{}
	for _, e := range r.cfg.List(v) {
		list = append(list, r.text(e))
	}
	return list
}

// consumers are the words of a list of applications, of which those are noted that are
// neither known nor declared.
func (r *resolver) consumers(v lang.Value) []fabric.Str {
	words := r.words(v)
	for _, w := range words {
		text := r.f.Text(w)
		if slices.Contains(schema.Consumers, text) || slices.Contains(r.declared(), w) {
			continue
		}
		if r.f.Strangers == nil {
			r.f.Strangers = map[fabric.Str]fabric.Str{}
		}
		if _, noted := r.f.Strangers[w]; !noted {
			r.f.Strangers[w] = r.f.Names.Add(lang.Nearest(text, schema.Consumers))
		}
	}
	return words
}

// declared are the consumers that the source adds to those that are known.
func (r *resolver) declared() (list []fabric.Str) {
	r.top(schema.Rocec, func(b lang.BlockID) { list = append(list, r.words(r.attr(b, schema.AConsumers))...) })
	return list
}

// validated reads which versions were tested, by model.
func (r *resolver) validated() {
	r.top(schema.Rocec, func(b lang.BlockID) {
		at := r.at(b, schema.AValidated, "")
		for _, p := range r.cfg.Pairs(r.attr(b, schema.AValidated)) {
			row := fabric.Validated{
				Model: r.text(p.Key), Firmware: r.words(r.cfg.Field(p.Val, schema.AFirmware)), Driver: r.words(r.cfg.Field(p.Val, schema.ADriver)), At: at.Span,
			}
			for _, list := range [2][]fabric.Str{row.Firmware, row.Driver} {
				for _, text := range list {
					if _, err := intent.ParseVersions(r.f.Text(text)); err != nil {
						r.fail(fmt.Sprintf("validated of %s: %v", r.f.Text(row.Model), err), `write a version, "28.43.*" or conditions such as ">= 28.43, < 29"`, at)
					}
				}
			}
			r.f.Validated = append(r.f.Validated, row)
		}
	})
}
