package resolve

import (
	"fmt"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/schema"
)

// peerWord is what a NIC says of the switch port at its other end. It speaks of this
// one port, so that it is as near as the port's own block: overrides and exceptions
// count before both, what stands around the port after both.
type peerWord struct {
	says lang.Value
	by   lang.BlockID // 0: nothing
	far  bool         // the defaults for NICs say so: they count after everything else
}

// peerSays is what the NIC at the other end says of a switch port.
func (r *resolver) peerSays(p fabric.PortID) peerWord {
	row := &r.f.Ports[p]
	if !r.folds.peers || row.Peer == 0 || r.f.Devices[row.Device].Kind != fabric.Switch {
		return peerWord{}
	}
	return r.peerOf(row.Peer)
}

// peerOf is what a NIC says of the port at its other end, or the defaults for NICs.
func (r *resolver) peerOf(nic fabric.PortID) peerWord {
	s := scope{cfg: r.cfg, own: r.portBlock[nic], before: r.before(nic)}
	d := r.f.Ports[nic].Device
	s.chain = r.defaultLayers(nil, r.blockOf[d], r.portKind(d).String())
	v, by := s.find(schema.APeer)
	if v.Kind != lang.Object {
		return peerWord{}
	}
	return peerWord{v, by, r.cfg.Blocks[by].Kind == schema.Defaults}
}

// notePeers notes whose words count on which port, and refuses a NIC and a port that
// say two things of it, and what is said of a port that is not there.
func (r *resolver) notePeers() {
	if !r.folds.peers {
		return
	}
	r.f.PeerSaid = map[fabric.PortID]fabric.PeerSaid{}
	for id := 1; id < len(r.f.Ports); id++ {
		p, row := fabric.PortID(id), &r.f.Ports[id]
		if row.NIC != 0 {
			r.idlePeer(p)
			continue
		}
		peer := r.peerSays(p)
		if peer.by == 0 {
			continue
		}
		said := fabric.PeerSaid{By: r.decl(peer.by), Far: peer.far}
		own := scope{cfg: r.cfg, own: r.portBlock[p], before: r.before(p)}
		for _, e := range r.cfg.Pairs(peer.says) {
			n := schema.Attr(e.Key.N)
			v, l := own.nearest(n)
			by := l.by
			switch {
			case by == 0:
				said.Attrs = append(said.Attrs, n)
			case by == own.own && !peer.far && !r.sameWords(n, v, e.Val):
				r.fail(fmt.Sprintf("%s of %s is set twice, to two values: at the port, and in `peer` of %s",
					n.Name(), r.f.PortName(p), r.f.PortName(row.Peer)),
					"write it in one of the two: neither counts before the other", r.at(peer.by, schema.APeer, ""), r.at(by, n, "at the port"))
			}
		}
		r.f.PeerSaid[p] = said
	}
}

// sameWords reports whether two values of an attribute say the same, lists of
// segments in whatever order.
func (r *resolver) sameWords(n schema.Attr, a, b lang.Value) bool {
	if n != schema.ASegments {
		return string(r.appendValue(nil, a)) == string(r.appendValue(nil, b))
	}
	set := func(v lang.Value) []int64 {
		var ids []int64
		for _, e := range r.cfg.List(v) {
			ids = append(ids, e.N)
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	return slices.Equal(set(a), set(b))
}

// idlePeer refuses a NIC that speaks of a switch port and has none at its other end.
// Defaults may speak of all NICs.
func (r *resolver) idlePeer(nic fabric.PortID) {
	peer := r.peerOf(nic)
	if peer.by == 0 || peer.far {
		return
	}
	if other := r.f.Ports[nic].Peer; other == 0 || r.f.Devices[r.f.Ports[other].Device].Kind != fabric.Switch {
		r.fail(fmt.Sprintf("`peer` of %s speaks of the switch port at its other end, and none is there", r.f.PortName(nic)),
			"cable it to a switch, or leave peer out", r.at(peer.by, schema.APeer, ""))
	}
}
