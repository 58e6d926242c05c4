package format

import (
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Quote is a text as a string literal of the language: it reads back as the same text, in Unicode normal form C.
func Quote(s string) string { return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes()) }
