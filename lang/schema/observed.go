package schema

// What was seen stands apart from what is wanted: in `observed` of a block, whose
// fields are the block's rows of that kind. A field is an attribute like any other to
// those who read a fabric; it is only written elsewhere.

func init() {
	for k := range blocks {
		def := &blocks[k]
		if fields := def.Seen(); fields != nil {
			def.Attrs = append(def.Attrs[:len(def.Attrs):len(def.Attrs)], AttrDef{
				Num: AObserved, Type: object(fields...),
				Doc: "what was seen of it: proofs and rules read it, nothing of it is ever written to a device, and what contradicts a setting that rocec writes is an error",
			})
		}
	}
}

// Plain are the attributes that are written in the block itself.
func (def *BlockDef) Plain() []AttrDef { return def.fields(false) }

// Seen are the fields of its `observed`.
func (def *BlockDef) Seen() []AttrDef { return def.fields(true) }

func (def *BlockDef) fields(observed bool) (rows []AttrDef) {
	for _, at := range def.Attrs {
		if at.Observed == observed {
			rows = append(rows, at)
		}
	}
	return rows
}

// Field returns the definition of a field of `observed` of a kind, or nil.
func Field(k Kind, name string) *AttrDef {
	if at := Lookup(k, name); at != nil && at.Observed {
		return at
	}
	return nil
}
