package schema

import (
	"slices"
	"strings"
)

// GlobKind is the kind of block that a glob such as `module.r[*].node.gpu[*].nic[rail3]`
// ends in. What stands after `module` and after the word of a block at the top is a name;
// one with * may reach into what is inside.
func GlobKind(s string) Kind {
	kind := None
	named, far := false, false // the next word is a name; the name before reaches inside
	depth, word := 0, ""
	flush := func() {
		w := word
		word = ""
		switch {
		case w == "":
		case named:
			named, far = false, strings.Contains(w, "*")
			if kind == Module {
				kind = None
			}
		default:
			for k := None + 1; k < KindCount; k++ {
				if top := slices.Contains(Inside(None), k); Def(k).Word == w && (kind == None && top || far || slices.Contains(Inside(kind), k)) {
					kind, named, far = k, top && len(Def(k).Labels) > 0, false
					break
				}
			}
		}
	}
	for i, c := range s {
		switch {
		case c == '[':
			flush()
			if depth++; named && i > 0 && s[i-1] != ']' { // a name that is no identifier
				named = false
				if kind == Module {
					kind = None
				}
			}
		case c == ']':
			depth--
		case depth > 0:
		case c == '.':
			flush()
		default:
			word += string(c)
		}
	}
	flush()
	return kind
}
