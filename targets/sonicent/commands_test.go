package sonicent

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// command is a row of testdata/oracles/sonic-enterprise/commands.csv: a command
// of the CLI in a mode, and two documents that have it.
type command struct {
	mode   string
	words  []string
	enters string
}

func commandTable(t testing.TB) []command {
	t.Helper()
	var list []command
	for _, r := range oracle.Rows(t, "sonic-enterprise", "commands.csv") {
		if r[3] == "" || r[4] == "" || document(r[3]) == document(r[4]) {
			t.Errorf("%s has not two documents", r[1])
		}
		list = append(list, command{mode: r[0], words: strings.Fields(strings.ReplaceAll(r[1], "<list ", "<list:")), enters: r[2]})
	}
	return list
}

func document(source string) string {
	name, _, _ := strings.Cut(source, " ")
	return name
}

// TestSources: every document that the table names is one that the README beside
// it identifies, with its version.
func TestSources(t *testing.T) {
	dir := filepath.Join(oracle.Dir(t), "sonic-enterprise")
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for l := range strings.Lines(string(readme)) {
		if rest, ok := strings.CutPrefix(l, "| `"); ok {
			name, _, _ := strings.Cut(rest, "`")
			known = append(known, name)
		}
	}
	for _, r := range oracle.Rows(t, "sonic-enterprise", "commands.csv") {
		for _, source := range r[3:5] {
			if !slices.ContainsFunc(known, func(name string) bool { return source == name || strings.HasPrefix(source, name+" ") }) {
				t.Errorf("%s: the README does not know %q", r[1], source)
			}
		}
	}
}

// fits reports whether a word is one that a word of the table allows.
func fits(allowed, text string) bool {
	if stem, of, ok := strings.Cut(allowed, "<"); ok && stem != "" { // Vlan<1-4094>
		rest, is := strings.CutPrefix(text, stem)
		return is && fits("<"+of, rest)
	}
	of, ok := strings.CutPrefix(allowed, "<")
	if !ok {
		return allowed == text
	}
	of = strings.TrimSuffix(of, ">")
	plain := func(s string, limit int) bool {
		return s != "" && len(s) <= limit && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
	}
	switch {
	case of == "name":
		return plain(text, 32)
	case of == "vrf":
		return strings.HasPrefix(text, "Vrf") && plain(text, 15)
	case of == "port":
		return native.MatchString(text) || standard.MatchString(text)
	case of == "cage":
		n, is := strings.CutPrefix(text, "1/")
		return is && fits("<1-999>", n)
	case of == "split":
		return slices.Contains(modes, text)
	case of == "ipv4":
		a, err := netip.ParseAddr(text)
		return err == nil && a.Is4()
	case of == "ipv4/", of == "ipv6/":
		a, err := netip.ParsePrefix(text)
		return err == nil && a.Addr().Is6() == (of == "ipv6/") && a.Addr().Zone() == ""
	case strings.Contains(of, "|"):
		return slices.Contains(strings.Split(of, "|"), text)
	case strings.HasPrefix(of, "list:"):
		for part := range strings.SplitSeq(text, ",") {
			low, high, isRange := strings.Cut(part, "-")
			if !fits("<"+of[len("list:"):]+">", low) || isRange && !fits("<"+of[len("list:"):]+">", high) {
				return false
			}
		}
		return true
	}
	low, high, _ := strings.Cut(of, "-")
	from, _ := strconv.ParseUint(low, 10, 64)
	to, err := strconv.ParseUint(high, 10, 64)
	n, bad := strconv.ParseUint(text, 10, 64)
	return err == nil && bad == nil && from <= n && n <= to && strconv.FormatUint(n, 10) == text
}

// find is the row of a command in a mode, nil if there is none.
func find(all []command, mode string, words []string) *command {
	for i := range all {
		c := &all[i]
		if c.mode == mode && len(c.words) == len(words) {
			ok := true
			for k, w := range words {
				ok = ok && fits(c.words[k], w)
			}
			if ok {
				return c
			}
		}
	}
	return nil
}

// unknown are the lines of a file of commands that the table does not have in
// the mode that they stand in.
func unknown(all []command, text string) []string {
	var bad []string
	stack := []string{"config"}
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		words := strings.Fields(l)
		switch {
		case strings.HasPrefix(l, "!"):
			continue
		case len(words) == 1 && words[0] == "exit" && len(stack) > 1:
			stack = stack[:len(stack)-1]
			continue
		}
		c := find(all, stack[len(stack)-1], words)
		if c == nil || len(words) == 0 {
			bad = append(bad, stack[len(stack)-1]+": "+l)
			continue
		}
		if c.enters != "" {
			stack = append(stack, c.enters)
		}
	}
	if len(stack) != 1 {
		bad = append(bad, "the last mode is not left")
	}
	return bad
}

// given are the commands that scripts give sonic-cli, without what the shell
// puts in.
func given(files []emit.Artifact) []string {
	var list []string
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".sh") {
			continue
		}
		rest := string(f.Bytes)
		for {
			_, after, ok := strings.Cut(rest, `-c "`)
			if !ok {
				break
			}
			text, tail, _ := strings.Cut(after, `"`)
			if text != "$command" {
				list = append(list, strings.TrimSuffix(text, " | no-more"))
			}
			rest = tail
		}
	}
	return list
}

// TestCommands: every command of the file and of the scripts is one that two
// documents have.
func TestCommands(t *testing.T) {
	all := commandTable(t)
	for name, device := range fixtures {
		files := targettest.Emit(&Target, device())
		for _, bad := range unknown(all, targettest.Text(files, configFile)) {
			t.Errorf("%s: %s", name, bad)
		}
		for _, text := range given(files) {
			if find(all, "exec", strings.Fields(text)) == nil {
				t.Errorf("%s: a script gives %q", name, text)
			}
		}
	}
}

// TestCommandsGenerated is the same for random devices on their way to others.
func TestCommandsGenerated(t *testing.T) {
	t.Parallel()
	all := commandTable(t)
	rapid.Check(t, func(r *rapid.T) {
		d, before := generated(r), generated(r)
		var out emit.Out
		if list := rebase(d, capture(targettest.Emit(&Target, before)), &out); len(list) > 0 {
			r.Fatalf("rebase: %v", list)
		}
		if bad := unknown(all, targettest.Text(out.Artifacts, configFile)); len(bad) > 0 {
			r.Fatalf("%q", bad)
		}
	})
}

// TestCommandsRefuse: the table tells modes and values apart.
func TestCommandsRefuse(t *testing.T) {
	all := commandTable(t)
	for _, c := range []struct {
		mode, text string
		want       bool
	}{
		{"port", "fec RS", true},
		{"port", "fec none", false},
		{"lag", "fec RS", false},
		{"port", "mtu 9300", false},
		{"port", "priority-flow-control priority 5", false},
		{"config", "interface Vlan100", true},
		{"config", "interface Vlan4095", false},
		{"config", "interface Eth1/5", true},
		{"config", "interface Eth1/5; reload", false},
		{"dscp-tc", "dscp 0-25,27 traffic-class 0", true},
		{"dscp-tc", "dscp 0-64 traffic-class 0", false},
		{"config", "qos map dscp-tc a$b", false},
		{"port", "cable-length 10m", false},
		{"vlan", "ip address 10.0.0.1/24", true},
		{"vlan", "ip address 2001:db8::1/64", false},
	} {
		if got := find(all, c.mode, strings.Fields(c.text)) != nil; got != c.want {
			t.Errorf("%s: %q: %v, want %v", c.mode, c.text, got, c.want)
		}
	}
}
