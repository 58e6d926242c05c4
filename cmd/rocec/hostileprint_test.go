package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// obeyed is what a terminal, a log, a viewer or a pipeline's runner would obey.
var obeyed = []string{
	"a\nFAKE: done", "a\r\nFAKE: done", "a\rFAKE: done", "a\n::add-mask::FAKE", "::set-output name=x::y", "##[group]x", "a ##vso[task.setvariable]x",
	"\x1b]0;title\a", "\x1b[2Jx", "\u009b2Jx", "\x7fx", "a\u0085FAKE: done", "a\u2028FAKE: done", "a\u2029FAKE: done",
	"\u202ex", "\u2066x", "\u200ex", "\u200fx", "\u061cx", "\U000e0041x", "x\x00y",
	"=1+1", "+1", "-1", "@SUM(1)", "\t=1",
}

// raw says what is wrong with a text that people read, "" if nothing.
func raw(text string, commands bool) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		for _, r := range line {
			if r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				return fmt.Sprintf("%U stands in %q", r, line)
			}
		}
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "FAKE") || !commands && strings.HasPrefix(trimmed, "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
			return fmt.Sprintf("a line of somebody else's: %q", line)
		}
	}
	return ""
}

// ran is all that a command prints.
func ran(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	newApp(strings.NewReader(""), &out, &out, []string{"ROCEC_CACHE_DIR=off"}).run(t.Context(), args)
	return out.String()
}

// printing are the commands that print what is in the source.
func printing() [][]string {
	list := [][]string{
		{"validate"},
		{"validate", "--json"},
		{"validate", "--verbose"},
		{"plan", "--refresh=false", "--lock=false"},
		{"plan", "--refresh=false", "--lock=false", "--tree"},
		{"explain", "switch.tor"},
		{"explain", "node.lin"},
		{"explain", "link.c"},
		{"explain", "--json", "node.lin"},
		{"expand"},
		{"doc"},
		{"doc", "--format=csv"},
		{"doc", "--out-dir=documents"},
		{"graph", "--kind=buffer", "--format=dot"},
		{"console", "--expr=devices()"},
		{"console", "--expr=links()"},
		{"console", "--expr=ports()"},
		{"capabilities"},
		{"whatif"},
		{"verify", "--from=."},
		{"trace", "--from=node.lin", "--to=node.win"},
		{"build", "--out-dir=out", "--quiet"},
		{"lint", "--output=sarif=documents/a.sarif", "--output=junit=documents/a.xml"},
	}
	for _, form := range []string{"markdown", "html", "json"} {
		list = append(list, []string{"plan", "--refresh=false", "--lock=false", "--format=" + form})
	}
	for _, form := range lintForms() {
		list = append(list, []string{"lint", "--force", "--format=" + form})
	}
	for _, form := range []string{"svg", "dot", "mermaid", "json"} {
		list = append(list, []string{"graph", "--format=" + form}, []string{"graph", "--kind=cabling", "--format=" + form})
	}
	return list
}

// TestHostileText puts what somebody would obey into every string of a source, and
// lets every command print it: on a screen and in documents nothing of it is raw,
// and no line is the author's.
func TestHostileText(t *testing.T) {
	place := regexp.MustCompile(`«([a-z0-9]+) ?([^»]*)»`)
	with := func(at, text string) string {
		return place.ReplaceAllStringFunc(hostileFabric, func(s string) string {
			m := place.FindStringSubmatch(s)
			switch {
			case at != "" && (m[1] == at || m[1] == at+"ref"):
				return quoted(text)
			case m[2] == "":
				return "null"
			}
			return quoted(m[2])
		})
	}
	commands := printing()
	for n, p := range append(place.FindAllStringSubmatch(hostileFabric, -1), []string{"", "file"}) {
		if strings.HasSuffix(p[1], "ref") {
			continue
		}
		t.Run(p[1], func(t *testing.T) {
			for i := n % 3; i < len(obeyed); i += 3 {
				t.Chdir(t.TempDir())
				h, name := obeyed[i], "fabric.roce.hcl"
				if err := os.Mkdir("documents", 0o755); err != nil {
					t.Fatal(err)
				}
				if p[1] == "file" {
					if name = strings.ReplaceAll(h, "\x00", "") + ".roce.hcl"; os.WriteFile(name, []byte("bogus {}\n"), 0o644) != nil {
						continue // no name on this system
					}
				}
				if err := os.WriteFile("fabric.roce.hcl", []byte(with(p[1], h)), 0o644); err != nil {
					t.Fatal(err)
				}
				for j := n % 2; j < len(commands); j += 2 {
					c := commands[j]
					if said := raw(ran(t, c...), strings.Contains(c[len(c)-1], "github")); said != "" {
						t.Errorf("%q with %q: %s", c, h, said)
					}
				}
				err := filepath.WalkDir("documents", func(file string, d fs.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						return err
					}
					text, err := os.ReadFile(file)
					// No runner looks for commands in a document.
					if said := raw(strings.NewReplacer("##[", "", "##vso[", "").Replace(string(text)), true); said != "" {
						t.Errorf("%s with %q: %s", file, h, said)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestHostileArguments: what is on the command line, in the environment or the name
// of a file is said as text. The folder has no device, so nothing is served: a lab that
// starts serves until it is interrupted.
func TestHostileArguments(t *testing.T) {
	for _, h := range obeyed {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("fabric.roce.hcl", []byte("segment \"s\" { vlan = 7 }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{h},
			{"--" + h},
			{"help", h},
			{"explain", h},
			{"graph", "--highlight", h},
			{"graph", "--format", h},
			{"console", "--expr", h},
			{"console", "--expr", quoted(h)},
			{"lint", "--only", h},
			{"lint", "--filter", h},
			{"lint", "--format", h},
			{"lint", "--config", h},
			{"lint", "--baseline", h},
			{"lint", "--new-from-rev", h},
			{"lint", h},
			{"validate", "--var", h},
			{"validate", "--var", h + "=1"},
			{"validate", "--var", "x=" + h},
			{"validate", "--var-file", h},
			{"validate", "--chdir", h},
			{"validate", "--as-of", h},
			{"validate", "--property", h},
			{"fmt", h},
			{"verify", "--from", h},
			{"verify", h},
			{"show", h},
			{"plan", "--out", h + "/x"},
			{"plan", "--target", h},
			{"trace", h, h},
			{"whatif", "--fail", h},
			{"record", "show", h},
			{"record", h},
			{"expand", h},
			{"capabilities", h},
			{"build", "--out-dir", h + "/\x00"},
			{"test", "--filter", h},
			{"version", h},
			{"doc", "--format", h},
			{"apply", h},
			{"apply", "--target", h},
			{"confirm", h},
			{"rollback", h},
			{"rollback", "--to", h},
			{"force-unlock", h},
			{"generate", "--" + h},
			{"generate", h + "/fabric", "--nodes", h},
			{"lab", "up", "--fault", h},
			{"lab", "up", h},
			{"lab", "down", h},
			{"lab", "fault", h},
			{"plan", "--out", h},
			{"lint", "--output", "sarif=" + h + "/x/y"},
			{"doc", "--out-dir", "documents/" + h},
			{"build", "--out-dir=" + h, "--quiet"},
			{"build", "--out-dir", h},
			{"explain", h + "/x:1"},
			{"import", h},
			{"docs", h + "/x"},
		} {
			if said := raw(ran(t, args...), false); said != "" {
				t.Errorf("%q: %s", args, said)
			}
		}
	}
}

// TestHostileLab: what a reader copies into a shell is one word of it, and stays a line.
func TestHostileLab(t *testing.T) {
	for path, want := range map[string]string{
		"a b": `'a b'`, "$(FAKE)": `'$(FAKE)'`, "it's": `"it's"`, "a\nFAKE: done": `$'a\nFAKE: done'`, "plain/lab.json": "plain/lab.json",
	} {
		if got := pathWord(path); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}

// TestGiven: an error's file names and what the environment names stay in their line;
// what an expression yields is left alone.
func TestGiven(t *testing.T) {
	var g given
	g.take([]string{"console", "--expr", "a\nb", "--var=x\nFAKE: 1=y"}, map[string]string{"ROCEC_LAB": "l\nFAKE: 2", "HOME": "h\nFAKE: 3"})
	if got, want := string(g.show([]byte("x\nFAKE: 1 is not l\nFAKE: 2 of a\nb"))), `x\nFAKE: 1 is not l\nFAKE: 2 of a`+"\nb"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	_, open := os.Open("no\nFAKE: 4")
	link := os.Rename("no\nFAKE: 5", "to\nFAKE: 6")
	if said := raw(g.oneLine(errors.Join(fmt.Errorf("read: %w", open), fmt.Errorf("move: %w", link))), false); said != "" {
		t.Error(said)
	}
}
