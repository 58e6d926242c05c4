package emit_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
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
	for _, s := range append(targettest.HostileStrings(), "\xffé\xc3", "'\\''", "\x01\x02", "$'\\x41'", "\\u0085\u0085\\", "\U000e0001f", "\u2028a\u200b1") {
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
	for _, locale := range []string{"C", "C.UTF-8"} {
		cmd := exec.Command("bash", "--norc", "-c", script.String())
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "LC_ALL="+locale)
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
				t.Errorf("%q reads as %q in the locale %s", want[i], got[i], locale)
			}
		}
	}
}

func TestPowerShellText(t *testing.T) {
	for in, want := range map[string]string{
		"": "''", "a b": "'a b'", "it's": "'it''s'", `$(x) "y" ` + "`z": `'$(x) "y" ` + "`z'", "café": "'café'", "a\u2019b": "'a\u2019\u2019b'",
	} {
		if got, err := emit.PowerShellText(in); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"a\nb": "U+000A is a control character", "\x00": "U+0000", "\u202e": "U+202E is a control", "\u2028": "U+2028", "\xff": "byte 0xff is not UTF-8", "\x7f": "U+007F",
	} {
		if got, err := emit.PowerShellText(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v; want an error with %s", in, got, err, want)
		}
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

func FuzzPowerShellText(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		if q, err := emit.PowerShellText(s); err == nil {
			if got, rest, ok := unquotePowerShell(q); !ok || got != s || rest != "" || strings.ContainsAny(q, "\r\n\x00") {
				t.Fatalf("%q is %s and reads as %q, then %q", s, q, got, rest)
			}
		}
	})
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

// TestSystemdInstance holds names of units against systemd-escape.
func TestSystemdInstance(t *testing.T) {
	for in, want := range map[string]string{"enp59s0f0np0": "enp59s0f0np0", "a-b/c d": `a\x2db-c\x20d`, ".x": `\x2ex`, "é": `\xc3\xa9`, "a.b:c_d": "a.b:c_d"} {
		if got := emit.SystemdInstance(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	oracle.Need(t, "systemd-escape")
	var args, want []string
	for _, s := range targettest.HostileStrings() {
		if s != "" && len(s) < 100 && !strings.Contains(s, "\x00") { // the tool refuses names longer than a unit's
			args, want = append(args, s), append(want, emit.SystemdInstance(s))
		}
	}
	out, err := exec.Command("systemd-escape", append([]string{"--"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSuffix(string(out), "\n"), " ")); diff != "" {
		t.Errorf("(-ours +systemd-escape):\n%s", diff)
	}
}
