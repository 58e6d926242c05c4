package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func commandTree() (*app, *cobra.Command) {
	a := &app{env: map[string]string{}}
	return a, a.root()
}

// TestNormaliseEveryFlag writes every long flag of every command the way
// Terraform does, before and behind its value and whatever that looks like, and
// demands that the command reads it as it reads the double dash.
func TestNormaliseEveryFlag(t *testing.T) {
	_, root := commandTree()
	n := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		c.InitDefaultHelpFlag()
		c.InheritedFlags()
		c.Flags().VisitAll(func(f *pflag.Flag) {
			n++
			long, one := "--"+f.Name, "-"+f.Name
			check := func(in, want []string) {
				t.Helper()
				_, fresh := commandTree()
				if diff := cmp.Diff(slices.Concat(path, want), normalise(fresh, slices.Concat(path, in))); diff != "" {
					t.Errorf("%s %v (-want +got):\n%s", c.CommandPath(), in, diff)
				}
			}
			check([]string{one + "=x"}, []string{long + "=x"})
			check([]string{long + "=-" + f.Name}, []string{long + "=-" + f.Name})
			if f.NoOptDefVal != "" {
				check([]string{one, "-" + f.Name}, []string{long, long}) // the next word is no value
				check([]string{one + "=false"}, []string{long + "=false"})
				return
			}
			for _, value := range []string{"x", "-x", "--x", one, long, "-", "--", "", "-1", "plan", "a=b"} {
				check([]string{one, value, one, "y"}, []string{long, value, long, "y"})
			}
		})
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(root)
	if n < 100 {
		t.Errorf("only %d flags were tried", n)
	}
}

func TestNormalise(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"-chdir=d plan -out x", "--chdir=d plan --out x"},
		{"-chdir plan plan -out x", "--chdir plan plan --out x"},
		{"-help", "--help"},
		{"plan -help", "plan --help"},
		{"-version", "--version"},
		{"plan -h", "plan -h"},
		{"plan -qv", "plan -qv"},
		{"plan -q -v -json", "plan -q -v --json"},
		{"plan -detailed-exitcode=false", "plan --detailed-exitcode=false"},
		{"apply -- -auto-approve", "apply -- -auto-approve"},
		{"fmt -", "fmt -"},
		{"fmt - -check", "fmt - --check"},
		{"show -json p", "show --json p"},
		{"record list -json", "record list --json"},
		{"plan -nosuch x", "plan -nosuch x"},
		{"plan -out", "plan --out"},
		{"-nosuch", "-nosuch"},
		{"compile -out-dir d", "compile --out-dir d"},
		{"console -expr -1", "console --expr -1"},
		{"__complete plan -out", "__complete plan -out"},
		{"__complete plan -out x", "__complete plan --out x"},
		{"__complete plan -target sw", "__complete plan --target sw"},
		{"__completeNoDesc lint -only l", "__completeNoDesc lint --only l"},
		{"", ""},
	} {
		_, root := commandTree()
		if got := strings.Join(normalise(root, strings.Fields(c.in)), " "); got != c.want {
			t.Errorf("%q is %q, want %q", c.in, got, c.want)
		}
	}
}

func TestExtraArguments(t *testing.T) {
	for _, c := range []struct{ env, one, in, want string }{
		{"-v", "", "plan -q", "plan -v -q"},
		{"-v", "-out x", "-chdir=d plan -q", "-chdir=d plan -v -out x -q"},
		{"-v", "-out x", "-chdir plan plan -q", "-chdir plan plan -v -out x -q"},
		{"-v", "", "--help", "--help"},
		{"-v", "", "nosuch plan", "nosuch plan"},
		{"-v", "-out x", "validate plan", "validate -v plan"},
		{"", "", "plan", "plan"},
	} {
		a, root := commandTree()
		a.env["ROCEC_CLI_ARGS"], a.env["ROCEC_CLI_ARGS_plan"] = c.env, c.one
		got, err := a.withExtra(root, strings.Fields(c.in))
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%+v is %q, %v", c, got, err)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"  a\tb \n", []string{"a", "b"}},
		{`"a b" 'c d' e\ f`, []string{"a b", "c d", "e f"}},
		{`-var='x={"a": 1}'`, []string{`-var=x={"a": 1}`}},
		{`"" ''`, []string{"", ""}},
		{`"a\"b" 'a\b'`, []string{`a"b`, `a\b`}},
		{`$HOME * {a,b} ~ $(x)`, []string{"$HOME", "*", "{a,b}", "~", "$(x)"}},
	} {
		got, err := words(c.in)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", c.in, err, diff)
		}
	}
	for _, bad := range []string{`"a`, `'a`, `a\`, `"a'`} {
		if got, err := words(bad); err == nil {
			t.Errorf("%q is %q", bad, got)
		}
	}
}

func TestSatisfies(t *testing.T) {
	for _, c := range []struct {
		version, constraints string
		want                 bool
	}{
		{"v1.2.3", "1.2.3", true},
		{"v1.2.3", "= 1.2.3", true},
		{"v1.2.3", "=v1.2.3", true},
		{"v1.2.3", "1.2.4", false},
		{"v1.2.3", "!= 1.2.3", false},
		{"v1.2.3", "!= 1.2.4", true},
		{"v1.2.3", ">= 1.2.3", true},
		{"v1.2.3", "> 1.2.3", false},
		{"v1.2.3", "> 1.2", true},
		{"v1.2.3", "< 1.10", true},
		{"v1.10.0", "< 1.9", false},
		{"v1.2.3", "<= 1.2.3", true},
		{"v1.2.3", ">= 1.0, < 2.0", true},
		{"v2.0.0", ">= 1.0, < 2.0", false},
		{"v1.2.3", "~> 1.2", true},
		{"v1.9.0", "~> 1.2", true},
		{"v1.1.0", "~> 1.2", false},
		{"v2.0.0", "~> 1.2", false},
		{"v1.2.9", "~> 1.2.3", true},
		{"v1.2.2", "~> 1.2.3", false},
		{"v1.3.0", "~> 1.2.3", false},
		{"v1.20.0", "~> 1.2.3", false},
		{"v7.0.0", "~> 1", true},
		{"v0.3.0-rc1", ">= 0.3.0", false},
		{"v0.3.0-rc1", ">= 0.3.0-rc1", true},
		{"dev", ">= 99", true},
		{"v0.0.0-20260101000000-0123456789ab", ">= 99", true},
	} {
		got, err := satisfies(c.version, c.constraints)
		if err != nil || got != c.want {
			t.Errorf("%s with %q is %v, %v", c.version, c.constraints, got, err)
		}
	}
	for _, bad := range []string{"", "latest", ">= ", "1.2.3.4", ">> 1", ">= 1,", "~>", "1.x", ">= 1.0 < 2", "=> 1", "01.2"} {
		if _, err := satisfies("v1.0.0", bad); err == nil {
			t.Errorf("%q is a constraint", bad)
		}
		if _, err := satisfies("dev", bad); err == nil {
			t.Errorf("%q is a constraint for a work tree", bad)
		}
	}
}
