package funcs

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

func encodingFuncs() []Func {
	const group = "encoding"
	return []Func{
		{"base64decode", "base64decode(str)", "The text that Base64 stands for; it must be UTF-8.", `base64decode("aGVsbG8=")`, `"hello"`, group, base64DecodeFunc()},
		{"base64encode", "base64encode(str)", "The UTF-8 bytes of a text in Base64.", `base64encode("hello")`, `"aGVsbG8="`, group, base64EncodeFunc()},
		{"base64gzip", "base64gzip(str)", "The UTF-8 bytes of a text, compressed with gzip, in Base64.", `base64gzip("")`, `"H4sIAAAAAAAA/wEAAP//AAAAAAAAAAA="`, group, base64GzipFunc()},
		{"csvdecode", "csvdecode(str)", "Reads CSV text with a header into a list of objects. For a file of many rows use rows.", `csvdecode("name,slot\ngpu01,1")`, `[{ name = "gpu01", slot = "1" }]`, group, withoutMark(guard(stdlib.CSVDecodeFunc, csvLimit))},
		{"jsondecode", "jsondecode(str)", "Reads JSON text into a value.", `jsondecode("{\"a\": [1, true]}")`, `{ a = [1, true] }`, group, withoutMark(guard(stdlib.JSONDecodeFunc, jsonLimit))},
		{"jsonencode", "jsonencode(val)", "A value as JSON text.", `jsonencode({ a = [1, true] })`, `"{\"a\":[1,true]}"`, group, jsonEncodeFunc()},
		{"textdecodebase64", "textdecodebase64(source, encoding)", "The text that Base64 stands for in a character encoding, by its IANA name.", `textdecodebase64("aABpAA==", "UTF-16LE")`, `"hi"`, group, textDecodeFunc()},
		{"textencodebase64", "textencodebase64(string, encoding)", "A text in a character encoding, by its IANA name, as Base64. PowerShell takes UTF-16LE.", `textencodebase64("hi", "UTF-16LE")`, `"aABpAA=="`, group, textEncodeFunc()},
		{"urlencode", "urlencode(str)", "A text escaped for the query part of a URL.", `urlencode("a b&c")`, `"a+b%26c"`, group, urlEncodeFunc()},
		{"yamldecode", "yamldecode(src)", "Reads one YAML document into a value. Time stamps stay text.", `yamldecode("a: [1, yes]\nb: ~")`, `{ a = [1, "yes"], b = null }`, group, fn(text("src"), dyn, yamlDecode)},
		{"yamlencode", "yamlencode(value)", "A value as YAML text, with all strings in quotes.", `yamlencode({ a = [1, "x"] })`, `"\"a\":\n- 1\n- \"x\"\n"`, group, yamlEncodeFunc()},
	}
}

func base64EncodeFunc() function.Function {
	return fn(text("str"), cty.String, func(args []cty.Value) (cty.Value, error) {
		return cty.StringVal(base64.StdEncoding.EncodeToString([]byte(args[0].AsString()))), nil
	})
}

func decode64(s string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, function.NewArgErrorf(0, "text is not Base64: %s", err)
	}
	return b, nil
}

func base64DecodeFunc() function.Function {
	return fn(text("str"), cty.String, func(args []cty.Value) (cty.Value, error) {
		b, err := decode64(args[0].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		if !utf8.Valid(b) {
			return cty.NilVal, function.NewArgErrorf(0, "the bytes are not UTF-8 text")
		}
		return cty.StringVal(string(b)), nil
	})
}

func base64GzipFunc() function.Function {
	return fn(text("str"), cty.String, func(args []cty.Value) (cty.Value, error) {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(args[0].AsString())); err != nil {
			return cty.NilVal, fmt.Errorf("compress text: %w", err)
		}
		if err := w.Close(); err != nil {
			return cty.NilVal, fmt.Errorf("compress text: %w", err)
		}
		return cty.StringVal(base64.StdEncoding.EncodeToString(b.Bytes())), nil
	})
}

func charset(name string) (encoding.Encoding, error) {
	enc, err := ianaindex.IANA.Encoding(name)
	if err != nil || enc == nil {
		return nil, function.NewArgErrorf(1, "no character encoding %q is known", clip(name))
	}
	return enc, nil
}

func textEncodeFunc() function.Function {
	return fn(text("string", "encoding"), cty.String, func(args []cty.Value) (cty.Value, error) {
		enc, err := charset(args[1].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		b, err := enc.NewEncoder().Bytes([]byte(args[0].AsString()))
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "the text has characters that %s lacks", args[1].AsString())
		}
		return cty.StringVal(base64.StdEncoding.EncodeToString(b)), nil
	})
}

func textDecodeFunc() function.Function {
	return fn(text("source", "encoding"), cty.String, func(args []cty.Value) (cty.Value, error) {
		enc, err := charset(args[1].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		b, err := decode64(args[0].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		b, err = enc.NewDecoder().Bytes(b)
		if err != nil || bytes.ContainsRune(b, utf8.RuneError) {
			return cty.NilVal, function.NewArgErrorf(0, "the bytes are not %s text", args[1].AsString())
		}
		return cty.StringVal(string(b)), nil
	})
}

func urlEncodeFunc() function.Function {
	return fn(text("str"), cty.String, func(args []cty.Value) (cty.Value, error) {
		return cty.StringVal(url.QueryEscape(args[0].AsString())), nil
	})
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
