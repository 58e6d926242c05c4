package lang

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/rocec/rocec/lang/schema"
)

// languageSaid finds what may be `language = N` without reading the file.
var languageSaid = regexp.MustCompile(`language"?\s*[=:]\s*([^\s,#/}]*)`)

// otherLanguage refuses a file that says it is written in an edition of the language that this version does not read. It looks at words alone,
// as the rest may be in words and forms that are not known here.
func (f *file) otherLanguage() bool {
	src := f.text()
	odd := false
	for _, m := range languageSaid.FindAllSubmatch(src, -1) {
		odd = odd || string(m[1]) != strconv.Itoa(schema.Language)
	}
	if !odd {
		return false
	}
	find := languageToken
	if f.json {
		find = languageJSON
	}
	text, at := find(src)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n == schema.Language {
		return false
	}
	f.foreign = true
	help := "use a version of rocec that reads it: `rocec version` says which one this is"
	if n < schema.Language {
		help = "write language = " + strconv.Itoa(schema.Language) + ", or leave the line out"
	}
	f.refuse(&problem{
		int(f.part.start) + at, len(text),
		"the source is in language " + text + ", and this version of rocec reads language " + strconv.Itoa(schema.Language), help,
	})
	return true
}

// languageToken finds the number in `rocec { language = N }`, and where it is.
func languageToken(src []byte) (string, int) {
	tokens, _ := hclsyntax.LexConfig(src, "", hcl.InitialPos)
	depth, inside := 0, false
	for i := range tokens {
		switch t := &tokens[i]; t.Type {
		case hclsyntax.TokenOBrace:
			inside = inside || depth == 0 && i > 0 && string(tokens[i-1].Bytes) == schema.Rocec.String()
			depth++
		case hclsyntax.TokenCBrace:
			depth--
			inside = inside && depth > 0
		case hclsyntax.TokenIdent:
			if inside && depth == 1 && string(t.Bytes) == schema.ALanguage.Name() && i+2 < len(tokens) && tokens[i+1].Type == hclsyntax.TokenEqual {
				return string(tokens[i+2].Bytes), tokens[i+2].Range.Start.Byte
			}
		}
	}
	return "", 0
}

// languageJSON is languageToken for JSON, in which a block may be a list of blocks.
func languageJSON(src []byte) (string, int) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var open []json.Delim
	var keys []string // of the objects that are open
	isKey := false
	for {
		t, err := d.Token()
		if err != nil {
			return "", 0
		}
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				open, keys = append(open, t), append(keys, "")
			} else {
				open, keys = open[:len(open)-1], keys[:len(keys)-1]
			}
		case string:
			if isKey {
				keys[len(keys)-1], isKey = t, false
				continue
			}
		case json.Number:
			var path []string
			for _, k := range keys {
				if k != "" {
					path = append(path, k)
				}
			}
			if len(path) == 2 && path[0] == schema.Rocec.String() && path[1] == schema.ALanguage.Name() {
				return t.String(), int(d.InputOffset()) - len(t)
			}
		}
		if len(open) == 0 {
			return "", 0
		}
		isKey = open[len(open)-1] == '{'
	}
}
