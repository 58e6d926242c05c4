package emit

import "github.com/rocec/rocec/compiler/intent"

// Header is what every artifact whose format has comments starts with: what
// made it, for which device, and the digest of that device's intent. The lines
// carry no comment marks. The tool's version is left out on purpose: it stands
// in the manifest, so that a new version alone changes no artifact.
func (o *Out) Header(d *intent.Device) []string {
	return []string{
		"made by rocec for " + Comment(d.Name),
		"intent " + o.Digest(d),
	}
}

// Header is that of the device that the file is for.
func (f *File) Header(d *intent.Device) []string { return f.out.Header(d) }

// Digest is the digest of the device's intent. It is computed once, as each
// artifact states it and a digest costs as much as an artifact.
func (o *Out) Digest(d *intent.Device) string {
	if o.digest == "" {
		o.digest = o.canonical(d).Digest()
	}
	return o.digest
}

func (o *Out) canonical(d *intent.Device) *intent.Canon {
	switch {
	case o.canon != nil:
	case o.Like != nil:
		o.canon = intent.CanonicalLike(d, o.Like.canon)
	default:
		o.canon = intent.Canonical(d)
	}
	return o.canon
}
