package fabric

import "slices"

// AnalysisAddress is the analysis as findings and overrides name it.
const AnalysisAddress = "analysis"

// Property is something that is proven of a fabric.
type Property uint8

// Properties, in the order of the documentation.
const (
	Composition Property = iota
	Deadlock
	Isolation
	Buffers
	MTU
	Reachability
	PropertyCount // how many there are
)

var propertyWords = []string{"composition", "deadlock", "isolation", "buffers", "mtu", "reachability"}

// String is the word of the language.
func (p Property) String() string { return propertyWords[p] }

// PropertyNamed finds a property by its word.
func PropertyNamed(word string) (Property, bool) {
	i := slices.Index(propertyWords, word)
	return Property(max(i, 0)), i >= 0
}

// PropertySet is a set of properties, by bit.
type PropertySet uint8

// AllProperties has every property.
const AllProperties = PropertySet(1<<PropertyCount - 1)

// Has reports whether a property is in the set.
func (s PropertySet) Has(p Property) bool { return s>>p&1 == 1 }

// With is the set and one more.
func (s PropertySet) With(p Property) PropertySet { return s | 1<<p }

// Analysis is how far the proofs go, as written.
type Analysis struct {
	Failures    uint8       // links and switches that may be down at a time
	Properties  PropertySet // what is proven then; 0 = all
	BudgetSteps int64       // of each proof over paths; 0 = not written
	Decl        DeclID      // 0 = no analysis is written
}
