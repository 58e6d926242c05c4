package posix

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/rocec/rocec/targets/emit"
)

// TestRewritten: what was rewritten can be read again where it is printed.
func TestRewritten(t *testing.T) {
	for name, s := range scripts {
		file, err := parse(name, []byte(s))
		if err != nil {
			t.Fatal(err)
		}
		text := printed(t, file)
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), name); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// FuzzRewrite: whatever the parser takes, the rewriting leaves a tree that is
// whole: the printer, which visits all of it, takes it. Its text need not be a
// script: the printer loses something by itself, as the blank of ((+ +1)).
func FuzzRewrite(f *testing.F) {
	for _, s := range scripts {
		f.Add(s)
	}
	f.Add("((+ +!0))")
	f.Add("<()0")
	f.Add("a <((0))")
	f.Add("0|((0))")
	f.Fuzz(func(t *testing.T, s string) {
		if file, err := parse("x", []byte(s)); err == nil {
			printed(t, file)
		}
	})
}

func printed(t *testing.T, file *syntax.File) string {
	t.Helper()
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, file); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// FuzzPrograms: no program of the machine breaks on any arguments.
func FuzzPrograms(f *testing.F) {
	h := newHost(f, Options{})
	for _, s := range []string{
		"sed s/a/b/g", "sed -n /a/,3p", "awk {print\x00$1}", "grep -E a|b f", "cut -d: -f1-3,5", "printf %s%d%(%F)T a", "sort -k2,2n", "tr -d a-z", "find . -name *", "stat -c %a /",
		"date +%Y", "systemd-run --on-active=1h true", "systemctl show -p Id x", "install -m 999 a b", "head -c -3 f", "chmod u+x,go=r f", "mktemp -d x.XXX", "seq 1 3", "flock -w x f",
		"systemd-escape --template=a@.service x", "journalctl -u x -n 3", "df -Pk /", "sha256sum -c f", "xargs -n1 echo", "udevadm settle", "sudo -n A=b true", "bash -euc x", "kill -9 -1",
	} {
		f.Add(strings.ReplaceAll(s, " ", "\x01"))
	}
	skip := map[string]bool{"reboot": true, "sleep": true, "timeout": true, "seq": true, "bash": true, "sh": true} // they end when they are told, or run what they are given
	f.Fuzz(func(t *testing.T, s string) {
		args := strings.Split(strings.ReplaceAll(s, "\x00", " "), "\x01")
		for _, a := range args {
			if skip[a] || strings.Contains(a, "reboot") {
				return
			}
		}
		var out bytes.Buffer
		p := &Proc{Host: h, Dir: "/root", Env: h.environ(), Stdin: strings.NewReader("a b\nc d\n"), Stdout: &out, Stderr: &out}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if run := basic[args[0]]; run != nil {
			p.Name, p.Args = args[0], args[1:]
			if args[0] == "flock" || args[0] == "setsid" || args[0] == "nohup" || args[0] == "sudo" || args[0] == "env" || args[0] == "nice" || args[0] == "ionice" || args[0] == "xargs" {
				return // they run others
			}
			run(ctx, p)
		}
	})
}

// FuzzUnits: no unit file breaks what reads it.
func FuzzUnits(f *testing.F) {
	f.Add("[Unit]\nDescription=%i %%\n[Service]\nExecStart=/bin/echo \"a b\" 'c'\n[Timer]\nOnActiveSec=1h 3min\nOnCalendar=2026-01-02 03:04:05 UTC\n")
	f.Fuzz(func(_ *testing.T, s string) {
		u := &unitFile{name: "a@b\\x2dc.service", values: map[string][]string{}}
		u.read(s)
		for _, list := range u.values {
			for _, v := range list {
				_, _ = words(v)
				_, _ = span(v)
				_, _ = calendar(v)
				_ = unescape(v)
			}
		}
	})
}

func TestEscapeUnit(t *testing.T) {
	for in, want := range map[string]string{"eth0.1-x": `eth0.1\x2dx`, "a/b": "a-b", ".x": `\x2ex`, "é": `\xc3\xa9`} {
		if got := emit.SystemdInstance(in); got != want || unescape(got) != in {
			t.Errorf("%q is %q, which is %q again", in, got, unescape(got))
		}
	}
}
