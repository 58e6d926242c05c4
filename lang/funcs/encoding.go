package funcs

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

func encodingFuncs() []Func {
	const group = "encoding"
	return []Func{
		{"csvdecode", "csvdecode(str)", "Reads CSV text with a header into a list of objects. For a file of many rows use rows.", `csvdecode("name,slot\ngpu01,1")`, `[{ name = "gpu01", slot = "1" }]`, group, withoutMark(guard(stdlib.CSVDecodeFunc, csvLimit))},
		{"jsondecode", "jsondecode(str)", "Reads JSON text into a value.", `jsondecode("{\"a\": [1, true]}")`, `{ a = [1, true] }`, group, withoutMark(guard(stdlib.JSONDecodeFunc, jsonLimit))},
		{"jsonencode", "jsonencode(val)", "A value as JSON text.", `jsonencode({ a = [1, true] })`, `"{\"a\":[1,true]}"`, group, jsonEncodeFunc()},
		{"yamldecode", "yamldecode(src)", "Reads one YAML document into a value. Time stamps stay text.", `yamldecode("a: [1, yes]\nb: ~")`, `{ a = [1, "yes"], b = null }`, group, fn(text("src"), dyn, yamlDecode)},
	}
}

func jsonEncodeFunc() function.Function {
	params := []function.Parameter{{Name: "val", Type: dyn, AllowNull: true, AllowDynamicType: true}}
	return fn(params, cty.String, func(args []cty.Value) (cty.Value, error) {
		if err := checkPrinted(args); err != nil {
			return cty.NilVal, err
		}
		b, err := ctyjson.Marshal(args[0], args[0].Type())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		v := cty.StringVal(escapeMarks(b))
		return v, checkText(v)
	})
}

// escapeMarks escapes combining marks that follow an escape in JSON. Strings of
// the language are in normal form C, in which the "b" of \u000b and a dot above
// would become one character, and the JSON text unreadable.
func escapeMarks(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		if b[0] != '\\' {
			n := bytes.IndexByte(b, '\\')
			if n < 0 {
				n = len(b)
			}
			out.Write(b[:n])
			b = b[n:]
			continue
		}
		n := 2
		if len(b) > 5 && b[1] == 'u' {
			n = 6
		}
		n = min(n, len(b))
		out.Write(b[:n])
		b = b[n:]
		for r, size := utf8.DecodeRune(b); unicode.IsMark(r); r, size = utf8.DecodeRune(b) {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
			b = b[size:]
		}
	}
	return out.String()
}

// withoutMark is a reader of text that passes over the byte order mark which
// spreadsheets and PowerShell begin UTF-8 files with, as rows and cable lists do.
func withoutMark(f function.Function) function.Function {
	return function.New(&function.Spec{
		Params: f.Params(), Type: function.StaticReturnType(dyn),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return f.Call([]cty.Value{cty.StringVal(strings.TrimPrefix(args[0].AsString(), "\ufeff"))})
		},
	})
}

func csvLimit(args []cty.Value) error {
	s := args[0].AsString()
	cells := strings.Count(s, ",") + strings.Count(s, "\n") + 1
	return elementLimit(cells)
}

// maxDepth bounds nesting: the JSON and YAML readers below recurse.
const maxDepth = 100

// jsonLimit counts the values and the nesting of JSON text without reading it.
func jsonLimit(args []cty.Value) error {
	s := args[0].AsString()
	values, depth, quoted := 1, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',' || c == ':':
			values++
		case c == '[' || c == '{':
			values++
			depth++
			if depth > maxDepth {
				return function.NewArgErrorf(0, "values are nested deeper than %d", maxDepth)
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return elementLimit(values)
}
