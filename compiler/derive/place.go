package derive

import (
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
)

// sonic is the operating system whose images look headroom up or compute it by
// the vendor's formula.
const sonic = "sonic"

// Headroom formulas that a model's data can name; every other word means the
// reference formula.
const (
	formulaSpectrum = "spectrum"
	formulaMlxsw    = "mlxsw"
	formulaCisco    = "cisco"
)

// Further numbers that a switch model or ASIC may state under facts. Without
// them Compute takes what it says below, or goes without.
const (
	// FactLosslessMTU and FactSmallPercent are mtu and small_packet_percentage of
	// LOSSLESS_TRAFFIC_PATTERN; 1024 and 50 as SONiC ships them [switches-linux-nos 3.2].
	FactLosslessMTU  = "lossless_mtu"
	FactSmallPercent = "small_packet_percent"
	// FactPeerResponse is peer_response_time in KiB, used at speeds that SONiC's
	// quanta table lacks; 3.8 [switches-linux-nos 8.1].
	FactPeerResponse = "peer_response_kib"
	// FactGearbox is the delay of a gearbox in nanoseconds; 0.
	FactGearbox = "gearbox_ns"
	// FactAlpha is the exponent of the dynamic threshold of lossless groups that
	// the device has by itself.
	FactAlpha = "default_alpha_exponent"
	// FactECNMin, FactECNMax and FactECNProbability are the marking of the
	// platform's own RoCE profile, in bytes and percent.
	FactECNMin         = "roce_ecn_min"
	FactECNMax         = "roce_ecn_max"
	FactECNProbability = "roce_ecn_probability"
	// FactImagePool is the largest pool in bytes that the SONiC image of a model
	// sets up, where that is less than the chip's buffer. Pools that are written
	// take its place.
	FactImagePool = "image_pool_bytes"
	// FactReceiveCell is the cell of a NIC's receive buffer in bytes.
	FactReceiveCell = "receive_cell_bytes"
)

// thousand is the unit of facts.
const thousand = 1000

// placeKey is what of a device matters to the headroom of its ports.
type placeKey struct {
	kind    fabric.DeviceKind
	model   fabric.ModelID
	os      fabric.Str
	version fabric.Str
	image   image
	shared  bool // a shared headroom pool is written
	alpha   fabric.Ratio
	quiet   bool // taken as declared: nothing to settle for it
}

// place is a placeKey with its data at hand.
type place struct {
	placeKey
	model      *fabric.SwitchModel // nil for nodes and unknown switches
	formula    string
	generation headroom.Generation // 0: not an image with the Spectrum formula
	rows       []headroom.Row      // of the platform, where the image looks up
}

// place finds or makes the place of a device.
func (s *sweep) place(d fabric.DeviceID) uint32 {
	dev := &s.f.Devices[d]
	key := placeKey{kind: dev.Kind, model: dev.Model, quiet: dev.Manage == fabric.HandsOff}
	if dev.Kind == fabric.Switch {
		key.os, key.version, key.shared, key.alpha = dev.OSName, dev.OSVersion, dev.Buffer.HeadroomBytes > 0, dev.Buffer.Alpha
		if s.images != nil {
			key.image = s.images[d]
		}
	}
	if id, ok := s.placeID[key]; ok {
		return id
	}
	p := place{placeKey: key}
	if key.model != 0 {
		p.model = &s.f.Models[key.model]
		p.formula = s.f.Text(p.model.Formula)
	}
	if p.model != nil && s.f.Text(key.os) == sonic {
		s.sonic(&p)
	}
	id := uint32(len(s.places))
	s.places = append(s.places, p)
	s.placeID[key] = id
	return id
}

// sonic settles whether the image looks headroom up in the platform's file or
// computes it: NVIDIA's images compute, all others look up, unless a target
// block says otherwise.
func (s *sweep) sonic(p *place) {
	computes := p.formula == formulaSpectrum
	if p.image != imageDefault {
		computes = p.image == imageDynamic
	}
	if computes {
		if p.formula == formulaSpectrum {
			p.generation = generation(s.f.Text(p.version))
		}
		return
	}
	p.formula = ""
	platform, sku := s.f.Text(p.model.Platform), s.f.Text(p.model.HWSKU)
	if platform == "" {
		return
	}
	for _, r := range s.opt.Rows {
		if r.Platform == platform && r.SKU == sku {
			p.rows = append(p.rows, r)
		}
	}
	for i := range s.f.HeadroomRows {
		r := &s.f.HeadroomRows[i]
		if r.Platform != p.model.Platform || r.SKU != p.model.HWSKU {
			continue
		}
		p.rows = append(p.rows, headroom.Row{
			Platform: platform, SKU: sku, Mbps: int64(r.Mbps), CableMm: int64(r.CableMm),
			SizeBytes: int64(r.SizeBytes), XonBytes: int64(r.XonBytes), XoffBytes: int64(r.XoffBytes),
			XonOffsetBytes: int64(r.XonOffsetBytes), HasXonOffset: r.XonOffsetBytes > 0, Threshold: int64(r.AlphaExponent),
		})
	}
}

// generation is that of a release; no release means the newest, as everywhere.
// A release that is none leaves the reference formula: targets refuse it.
func generation(release string) headroom.Generation {
	if release == "" {
		release = "master"
	}
	g, err := headroom.GenerationOf(release)
	if err != nil {
		return 0
	}
	return g
}

// image is how a SONiC image sizes buffers, where a target block says it.
type image uint8

const (
	imageDefault image = iota
	imageTraditional
	imageDynamic
)

// images reads the option buffer_model of the target blocks for SONiC, by
// device. Blocks that name devices go before those that take all.
func images(f *fabric.Fabric) []image {
	var list []image
	for _, named := range []bool{false, true} {
		for i := range f.Selections {
			sel := &f.Selections[i]
			m := imageOf(f, sel)
			if m == imageDefault || (sel.Devices != nil) != named {
				continue
			}
			if list == nil {
				list = make([]image, len(f.Devices))
			}
			for d := range list {
				if !named {
					list[d] = m
				}
			}
			for _, d := range sel.Devices {
				list[d] = m
			}
		}
	}
	return list
}

func imageOf(f *fabric.Fabric, sel *fabric.Selection) image {
	if f.Text(sel.Emitter) != sonic {
		return imageDefault
	}
	for _, o := range sel.Options {
		if f.Text(o.Name) != "buffer_model" {
			continue
		}
		switch f.Text(o.Value) {
		case "traditional":
			return imageTraditional
		case "dynamic":
			return imageDynamic
		}
	}
	return imageDefault
}

// fact is a number of the model's data in thousandths.
func (p *place) fact(name string) (int64, bool) {
	if p.model == nil {
		return 0, false
	}
	v, ok := p.model.Facts[name]
	return v, ok
}

func (p *place) factOr(name string, thousandths int64) int64 {
	if v, ok := p.fact(name); ok {
		return v
	}
	return thousandths
}
