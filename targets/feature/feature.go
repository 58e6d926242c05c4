// Package feature says what an emitter can express, as data: a fixed list of
// features that intents use, and one table per target that says for each
// whether it is native, emulated or refused, since and until which version of
// the platform, and on what source that rests. One function compares the two.
// A feature that a table does not list counts as refused.
package feature

import "github.com/rocec/rocec/compiler/intent"

// ID names a feature. The list is closed: Uses finds each in an intent, and a
// test demands a row for each in every table.
type ID string

// Support is how a platform carries a feature.
type Support uint8

// Refused is the zero value: what nobody decided is not emitted.
const (
	Refused  Support = iota
	Native           // the platform has it
	Emulated         // reached by other means; the row's note says how
)

// String is the word used in tables and messages.
func (s Support) String() string {
	return [...]string{"refused", "native", "emulated"}[s]
}

// Row is one feature on one platform.
type Row struct {
	ID      ID
	Support Support
	Since   string // first version, in the platform's own form; "" = all
	Until   string // first version that lacks it; "" = none
	Note    string // how it is emulated, or what to do instead
	Source  string // where this is known from
}

// Table is what one target says. Compare orders two versions of its platform
// (negative: a is older); an empty or unknown version compares as the newest.
type Table struct {
	Rows    []Row
	Compare func(a, b string) int
}

// Find returns the row of a feature at a version. A feature outside its
// version range, or without a row, comes back as refused.
func (t Table) Find(id ID, version string) Row {
	found := Row{ID: id, Note: "not covered by this target"}
	for _, r := range t.Rows {
		if r.ID != id {
			continue
		}
		if version != "" && t.Compare != nil {
			if r.Since != "" && t.Compare(version, r.Since) < 0 {
				found = Row{ID: id, Note: "needs version " + r.Since + " or newer", Source: r.Source, Since: r.Since}
				continue
			}
			if r.Until != "" && t.Compare(version, r.Until) >= 0 {
				found = Row{ID: id, Note: "gone since version " + r.Until, Source: r.Source, Until: r.Until}
				continue
			}
		}
		return r
	}
	return found
}

// Use is one use of a feature by an intent.
type Use struct {
	ID   ID
	Path intent.Path
}
