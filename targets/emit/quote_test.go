package emit_test

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

func seed(f *testing.F) {
	for _, s := range targettest.HostileStrings() {
		f.Add(s)
	}
}

// words are the words of the one command of a script.
func words(script string) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	if len(file.Stmts) != 1 {
		return nil, errors.New("not one command")
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background {
		return nil, errors.New("not a plain command")
	}
	return expand.Fields(&expand.Config{Env: expand.ListEnviron("HOME=/home/x")}, call.Args...)
}

func FuzzShell(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		q, err := emit.Shell(s)
		if strings.Contains(s, "\x00") {
			if err == nil {
				t.Fatalf("%q is quoted", s)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(s) {
			return // the parser below reads runes; TestShellByBash takes bytes
		}
		got, err := words("echo " + q + " end")
		if err != nil || len(got) != 3 || got[1] != s {
			t.Fatalf("%q is %s and reads as %q, %v", s, q, got, err)
		}
	})
}

// Bash itself reads every hostile string back, byte for byte.
func TestShellByBash(t *testing.T) {
	oracle.Need(t, "bash")
	var script strings.Builder
	var want []string
	for _, s := range append(targettest.HostileStrings(), "\xffé\xc3", "'\\''", "\x01\x02", "$'\\x41'") {
		q, err := emit.Shell(s)
		if strings.Contains(s, "\x00") {
			if err == nil {
				t.Errorf("%q is quoted", s)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		script.WriteString("printf '%s\\0' " + q + "\n")
		want = append(want, s)
	}
	cmd := exec.Command("bash", "--norc", "-c", script.String())
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(got) != len(want) {
		t.Fatalf("%d words of %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q reads as %q", want[i], got[i])
		}
	}
}

func TestPowerShell(t *testing.T) {
	for in, want := range map[string]string{
		"": "''", "a b": "'a b'", "it's": "'it''s'", `$(x) "y" ` + "`z": `'$(x) "y" ` + "`z'",
	} {
		if got, err := emit.PowerShell(in); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"café": "U+00E9 (é) is not ASCII", "a\u2019b": "U+2019 (\u2019) is not ASCII", "a\nb": "U+000A is a control character",
		"\x00": "U+0000", "\u202e": "U+202E is a control", "\xff": "byte 0xff is not UTF-8", "\x7f": "U+007F",
	} {
		if got, err := emit.PowerShell(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v; want an error with %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "''", "a'b": "'a''b'", "café": "('caf' + [char]0x00e9)", "é": "('' + [char]0x00e9)", "a\u2019b": "('a' + [char]0x2019 + 'b')",
		"é😀x": "('' + [char]0x00e9 + [char]::ConvertFromUtf32(0x1f600) + 'x')",
	} {
		if got, err := emit.PowerShellASCII(in); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", in, got, err, want)
		}
	}
	if got, err := emit.PowerShellASCII("a\u2028b"); err == nil {
		t.Errorf("a line separator is written: %s", got)
	}
	if got, err := emit.PowerShellWildcard("SMB[1]*?'`"); err != nil || got != "'SMB`[1`]`*`?''``'" {
		t.Errorf("%s, %v", got, err)
	}
}

// unquotePowerShell reads single-quoted literals as the tokenizer of PowerShell
// does, with its five quote characters. It returns the text and what follows.
func unquotePowerShell(s string) (text, rest string, ok bool) {
	isQuote := func(r rune) bool { return r == '\'' || r >= 0x2018 && r <= 0x201b }
	runes := []rune(s)
	if len(runes) == 0 || !isQuote(runes[0]) {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(runes); i++ {
		if !isQuote(runes[i]) {
			b.WriteRune(runes[i])
			continue
		}
		if i+1 == len(runes) || !isQuote(runes[i+1]) {
			return b.String(), string(runes[i+1:]), true
		}
		i++
		b.WriteRune(runes[i])
	}
	return "", "", false
}

func FuzzPowerShell(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		if q, err := emit.PowerShell(s); err == nil {
			if got, rest, ok := unquotePowerShell(q); !ok || got != s || rest != "" {
				t.Fatalf("%q is %s and reads as %q, then %q", s, q, got, rest)
			}
			ascii(t, q)
		}
		if q, err := emit.PowerShellWildcard(s); err == nil {
			pattern, _, _ := unquotePowerShell(q)
			if got, ok := literalPattern(pattern); !ok || got != s {
				t.Fatalf("pattern %q matches %q, not only %q", pattern, got, s)
			}
		}
		if q, err := emit.PowerShellASCII(s); err == nil {
			ascii(t, q)
			if got := evaluate(t, q); got != s {
				t.Fatalf("%q is %s and evaluates to %q", s, q, got)
			}
		}
	})
}

func ascii(t *testing.T, s string) {
	t.Helper()
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			t.Fatalf("%q is not printable ASCII", s)
		}
	}
}

// literalPattern is the only text that a wildcard pattern matches, if there is
// only one, by the loop of WildcardPatternParser.Parse.
func literalPattern(p string) (string, bool) {
	var b strings.Builder
	escaped := false
	for _, r := range p {
		switch {
		case strings.ContainsRune("*?[", r) && !escaped:
			return "", false
		case r != '`' || escaped:
			b.WriteRune(r)
		}
		escaped = r == '`' && !escaped
	}
	return b.String(), !escaped
}

// evaluate computes the expressions that PowerShellASCII writes.
func evaluate(t *testing.T, q string) string {
	t.Helper()
	q = strings.TrimSuffix(strings.TrimPrefix(q, "("), ")")
	var b strings.Builder
	for {
		switch {
		case strings.HasPrefix(q, "[char]"):
			n := strings.IndexByte(q, ' ')
			if n < 0 {
				n = len(q)
			}
			b.WriteRune(hexRune(t, q[:n]))
			q = q[n:]
		default:
			text, rest, ok := unquotePowerShell(q)
			if !ok {
				t.Fatalf("no literal at %q", q)
			}
			b.WriteString(text)
			q = rest
		}
		if q == "" {
			return b.String()
		}
		var ok bool
		if q, ok = strings.CutPrefix(q, " + "); !ok {
			t.Fatalf("no operator at %q", q)
		}
	}
}

func hexRune(t *testing.T, s string) rune {
	t.Helper()
	_, digits, _ := strings.Cut(strings.TrimSuffix(s, ")"), "0x")
	var r rune
	for _, c := range digits {
		i := strings.IndexRune("0123456789abcdef", c)
		if i < 0 {
			t.Fatalf("%q", s)
		}
		r = r<<4 | rune(i)
	}
	return r
}

func TestComment(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\r\nb\x00": "a  b ", "#> x <#": "#`> x <`#", "<#>": "<`#`>", "\u2028\u202e\ufeff": "   ", "\xff": " ", "é'": "é'", "\ufffd": "\ufffd",
	} {
		if got := emit.Comment(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzComment(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		got := emit.Comment(s)
		if strings.Contains(got, "<#") || strings.Contains(got, "#>") || strings.ContainsAny(got, "\r\n\x00\x1b\u2028\u2029\u0085") || !utf8.ValidString(got) {
			t.Fatalf("%q is %q", s, got)
		}
	})
}

func TestSystemdValue(t *testing.T) {
	if got, err := emit.SystemdValue(`100% of "eth0" 'x' \a é`); err != nil || got != `100%% of "eth0" 'x' \a é` {
		t.Errorf("%s, %v", got, err)
	}
	for _, s := range []string{"", "a\nb", " a", "a\t", `a\`, "\x00", "\xff"} {
		if got, err := emit.SystemdValue(s); err == nil {
			t.Errorf("%q is written as %q", s, got)
		}
	}
}

// unquoteSystemd reads one word of an Exec line as systemd.syntax(7),
// systemd.unit(5) and systemd.service(5) say.
func unquoteSystemd(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), i == len(s)-1
		case '\\', '%', '$':
			if i++; i == len(s) || s[i] != c && (c != '\\' || s[i] != '"') {
				return "", false
			}
			b.WriteByte(s[i])
		case '\n':
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

func FuzzSystemd(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		if q, err := emit.SystemdWord(s); err == nil {
			if got, ok := unquoteSystemd(q); !ok || got != s {
				t.Fatalf("%q is %s and reads as %q", s, q, got)
			}
		}
		if v, err := emit.SystemdValue(s); err == nil {
			if strings.ContainsAny(v, "\r\n") || strings.ReplaceAll(v, "%%", "%") != s || strings.Count(v, "%")%2 != 0 {
				t.Fatalf("%q is %q", s, v)
			}
		}
		if n, err := emit.SystemdInstance(s); err == nil {
			if strings.ContainsAny(n, "/ \n'\"$%@") || n[0] == '.' {
				t.Fatalf("%q is %q", s, n)
			}
		}
	})
}

func TestSystemdInstanceBySystemd(t *testing.T) {
	for in, want := range map[string]string{"enp59s0f0np0": "enp59s0f0np0", "a-b/c d": `a\x2db-c\x20d`, ".x": `\x2ex`, "é": `\xc3\xa9`, "a.b:c_d": "a.b:c_d"} {
		if got, err := emit.SystemdInstance(in); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, s := range []string{"", "a\x00"} {
		if got, err := emit.SystemdInstance(s); err == nil {
			t.Errorf("%q is %q", s, got)
		}
	}
	oracle.Need(t, "systemd-escape")
	var args, want []string
	for _, s := range targettest.HostileStrings() {
		if n, err := emit.SystemdInstance(s); err == nil && len(s) < 100 { // the tool refuses names longer than a unit's
			args, want = append(args, s), append(want, n)
		}
	}
	out, err := exec.Command("systemd-escape", append([]string{"--"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte(" "))
	if len(got) != len(want) {
		t.Fatalf("%d names of %d", len(got), len(want))
	}
	for i := range want {
		if string(got[i]) != want[i] {
			t.Errorf("%q: systemd-escape says %s, we %s", args[i], got[i], want[i])
		}
	}
}
