package apply

import "github.com/rocec/rocec/deploy/record"

// Alone are the files of one device as a tree that holds nothing else: its own in
// a folder of its name, those of its kits beside it, where its own look for them.
// Its output folder plays no part.
func (d *Device) Alone() ([]File, error) {
	one := *d
	one.Output = ""
	g := gather(Source{}, Devices{Places: []Place{one.Place()}})
	list, err := g.add(&one)
	if err != nil {
		return nil, err
	}
	list = append(list, g.common()...)
	return list, meet(list)
}

// Entry is what the record holds of a device that got as far as status says.
// Sources is the digest of what it was made from.
func (d *Device) Entry(status record.Status, sources string) *record.Entry {
	return &record.Entry{
		Device: d.Name, Address: d.Address, Emitter: d.Emitter, Output: d.Output, Status: status,
		IntentDigest: d.intentDigest(), SourcesDigest: sources, Artifacts: d.Digests(), Options: d.Intent.Options, Inputs: d.Inputs, Intent: d.Intent,
	}
}

// Forget takes devices out of the record that rocec no longer manages. What was
// written to them stays there.
func Forget(devices []string, lock *record.Lock) error {
	for _, name := range devices {
		_, version, err := lock.Store().Get(name)
		if err != nil {
			return err
		}
		if version == "" {
			continue
		}
		if err := lock.Delete(name, version); err != nil {
			return err
		}
	}
	return nil
}
