package lang

import (
	"github.com/rocec/rocec/lang/cabling"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/funcs"
)

// Limit is a bound on what is read, for the documents. Whatever is larger is refused
// with a finding that names it.
type Limit struct {
	What, Most string
	Why        string // what to do where it is met
}

// Limits are those of the language.
func Limits() []Limit {
	return []Limit{
		{"a file of configuration", byteSize(defaultMaxFile), "split it"},
		{"words and marks of a file of variables, of a JSON file, or of a part of a native file that is not plain", itoa(maxMarks), "split it"},
		{"a file that a function reads", byteSize(funcs.MaxFileBytes), "split it"},
		{"a text that an expression makes", byteSize(funcs.MaxTextBytes), "compute less"},
		{"levels of brackets in each other", itoa(maxDepth), "name the parts in `locals`"},
		{"operators of one expression", itoa(maxOperators), "name the parts in `locals`"},
		{"elements that one expression goes over", itoa(maxLateSteps), "compute less, or in parts"},
		{"parts of one value", itoa(maxParts), "compute less, or in parts"},
		{"blocks, those of ranges and `for_each` counted", itoa(maxInstances), "divide the fabric"},
		{"keys of a `for_each` that is no table", itoa(maxKeys), "read a table: `rows()`"},
		{"calls of modules, those inside counted", itoa(maxCalls), "call the inner ones once, or divide the fabric"},
		{"modules in each other", itoa(maxModules), "call the inner ones from further out"},
		{"a list of cables", byteSize(cabling.MaxBytes), "split it"},
		{"rows of all lists of cables", itoa(maxCables), "divide the fabric"},
		{"findings of one severity that are listed; the others are counted", itoa(diag.MostKept), "mend those that are listed, then run the command again"},
	}
}
