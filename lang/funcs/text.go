package funcs

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func stringFuncs() []Func {
	const group = "string"
	return []Func{
		{"chomp", "chomp(str)", "The text without line ends at its end.", `chomp("hello\n")`, `"hello"`, group, stdlib.ChompFunc},
		{"endswith", "endswith(str, suffix)", "Whether the text ends with the suffix.", `endswith("leaf01", "01")`, `true`, group, endsWithFunc()},
		{"format", "format(format, args...)", "Text made from a pattern with verbs such as %s, %d and %02d. The result may not exceed 16 MiB.", `format("%s-leaf%02d", "pod1", 7)`, `"pod1-leaf07"`, group, guard(stdlib.FormatFunc, formatLimit)},
		{"formatlist", "formatlist(format, args...)", "Like format, once for each element of the lists among the arguments.", `formatlist("leaf%d", [1, 2])`, `["leaf1", "leaf2"]`, group, guard(stdlib.FormatListFunc, formatLimit)},
		{"join", "join(separator, lists...)", "Joins the strings of one or more lists, with the separator between them.", `join(",", ["swp1", "swp2"])`, `"swp1,swp2"`, group, guard(stdlib.JoinFunc, joinLimit)},
		{"lower", "lower(str)", "The text in lower case.", `lower("SWP1")`, `"swp1"`, group, stdlib.LowerFunc},
		{"regex", "regex(pattern, string)", "The first match of an RE2 pattern: text, a list of its groups, or an object of its named groups. No match is an error.", `regex("[a-z]+([0-9]+)", "leaf12")`, `["12"]`, group, stdlib.RegexFunc},
		{"regexall", "regexall(pattern, string)", "Like regex, a list of all matches; it is empty if there are none.", `regexall("[0-9]+", "1/2/3")`, `["1", "2", "3"]`, group, guard(stdlib.RegexAllFunc, regexAllLimit)},
		{"replace", "replace(str, substring, replacement)", "Replaces each occurrence of a substring. A substring between slashes is an RE2 pattern, and $1 in the replacement its first group.", `replace("swp1", "/swp([0-9]+)/", "Ethernet$1")`, `"Ethernet1"`, group, replaceFunc()},
		{"split", "split(separator, str)", "Cuts the text at each separator into a list.", `split(",", "a,b")`, `["a", "b"]`, group, guard(stdlib.SplitFunc, splitLimit)},
		{"startswith", "startswith(str, prefix)", "Whether the text starts with the prefix.", `startswith("leaf01", "leaf")`, `true`, group, startsWithFunc()},
		{"strcontains", "strcontains(str, substr)", "Whether the text has the substring in it.", `strcontains("pod1-leaf01", "leaf")`, `true`, group, strContainsFunc()},
		{"substr", "substr(str, offset, length)", "A part of the text by offset and length, in characters. A negative offset counts from the end, length -1 means the rest.", `substr("leaf01", 0, 4)`, `"leaf"`, group, guard(stdlib.SubstrFunc, numberLimit)},
		{"trim", "trim(str, cutset)", "The text without any of the given characters at its start and end.", `trim("?!hello?!", "!?")`, `"hello"`, group, stdlib.TrimFunc},
		{"trimprefix", "trimprefix(str, prefix)", "The text without the prefix, if it has it.", `trimprefix("swp7", "swp")`, `"7"`, group, stdlib.TrimPrefixFunc},
		{"trimspace", "trimspace(str)", "The text without white space at its start and end.", `trimspace("  a b\n")`, `"a b"`, group, stdlib.TrimSpaceFunc},
		{"trimsuffix", "trimsuffix(str, suffix)", "The text without the suffix, if it has it.", `trimsuffix("tor-a.example.net", ".example.net")`, `"tor-a"`, group, stdlib.TrimSuffixFunc},
		{"upper", "upper(str)", "The text in upper case.", `upper("ef")`, `"EF"`, group, stdlib.UpperFunc},
	}
}

func endsWithFunc() function.Function {
	return textTest("suffix", strings.HasSuffix)
}

func startsWithFunc() function.Function {
	return textTest("prefix", strings.HasPrefix)
}

func strContainsFunc() function.Function {
	return textTest("substr", strings.Contains)
}

func textTest(second string, test func(a, b string) bool) function.Function {
	return fn(text("str", second), cty.Bool, func(args []cty.Value) (cty.Value, error) {
		return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
	})
}

// formatLimit bounds the result before it is made: what the verbs ask for in
// width and precision, and the longest argument once per verb. Of the arguments
// that are lists, formatlist takes one element a time.
func formatLimit(args []cty.Value) error {
	pattern := args[0].AsString()
	verbs, width := 0, 0
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			continue
		}
		verbs++
		number := 0
		for i++; i < len(pattern) && strings.IndexByte("0123456789.+-# []*", pattern[i]) >= 0; i++ {
			if !isDigit(pattern[i]) {
				width += number
				number = 0
				continue
			}
			number = min(number*10+int(pattern[i]-'0'), MaxTextBytes+1)
		}
		width = min(width+number, MaxTextBytes+1)
	}
	rounds, longest := 1, 0
	for _, a := range args[1:] {
		longest = max(longest, printedSize(a)) // saturates just above the limit
		if !a.IsNull() && a.CanIterateElements() {
			rounds = max(rounds, a.LengthInt())
		}
	}
	if longest > MaxTextBytes || width > MaxTextBytes || width*rounds > 4*MaxTextBytes || len(pattern)*rounds > 4*MaxTextBytes {
		return textLimit(MaxTextBytes + 1)
	}
	if rounds > 1 {
		if err := elementLimit(rounds); err != nil {
			return err
		}
		// The elements of a list share its size between the rounds; a single
		// value is there in full in each of them.
		longest = 0
		for _, a := range args[1:] {
			size := printedSize(a)
			if !a.IsNull() && !a.CanIterateElements() {
				size *= rounds
			}
			longest += size
		}
	}
	if longest > 4*MaxTextBytes || verbs*longest > 4*MaxTextBytes {
		return textLimit(MaxTextBytes + 1)
	}
	return nil
}

func joinLimit(args []cty.Value) error {
	total, sep := 0, len(args[0].AsString())
	for _, l := range args[1:] {
		if l.IsNull() {
			continue
		}
		for _, e := range elements(l) {
			total += sep
			if !e.IsNull() {
				total += len(e.AsString())
			}
			if total > MaxTextBytes+sep {
				return textLimit(MaxTextBytes + 1)
			}
		}
	}
	return nil
}

func splitLimit(args []cty.Value) error {
	sep, s := args[0].AsString(), args[1].AsString()
	if sep == "" {
		return elementLimit(utf8.RuneCountInString(s))
	}
	return elementLimit(strings.Count(s, sep) + 1)
}

func regexAllLimit(args []cty.Value) error {
	re, err := regexp.Compile(args[0].AsString())
	if err != nil {
		return nil // the function itself says what is wrong
	}
	s := args[1].AsString()
	if len(s) < MaxElements/(re.NumSubexp()+1) {
		return nil
	}
	found := len(re.FindAllStringIndex(s, MaxElements+1))
	return elementLimit(found * (re.NumSubexp() + 1))
}

func replaceFunc() function.Function {
	return fn(text("str", "substring", "replacement"), cty.String, func(args []cty.Value) (cty.Value, error) {
		s, old, repl := args[0].AsString(), args[1].AsString(), args[2].AsString()
		if len(old) > 1 && old[0] == '/' && old[len(old)-1] == '/' {
			return replacePattern(s, old[1:len(old)-1], repl)
		}
		if n := strings.Count(s, old); len(repl) > 0 && n > 4*MaxTextBytes/len(repl) {
			return cty.NilVal, textLimit(MaxTextBytes + 1)
		}
		v := cty.StringVal(strings.ReplaceAll(s, old, repl))
		return v, checkText(v)
	})
}

func replacePattern(s, pattern, repl string) (cty.Value, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(1, "pattern does not read: %s", err)
	}
	var out []byte
	end := 0
	matches := re.FindAllStringSubmatchIndex(s, MaxElements+1)
	if err := elementLimit(len(matches)); err != nil {
		return cty.NilVal, err
	}
	for _, m := range matches {
		out = append(out, s[end:m[0]]...)
		if refs := strings.Count(repl, "$"); refs*(m[1]-m[0]) > MaxTextBytes {
			return cty.NilVal, textLimit(MaxTextBytes + 1)
		}
		out = re.ExpandString(out, repl, s, m)
		end = m[1]
		if len(out) > MaxTextBytes {
			return cty.NilVal, textLimit(len(out))
		}
	}
	out = append(out, s[end:]...)
	v := cty.StringVal(string(out))
	return v, checkText(v)
}
