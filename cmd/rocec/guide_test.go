package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
)

// TestGuide: the blocks of the guide are a configuration without a finding, in the canonical layout, and what it types works there.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "language", "guide.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blocks := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	var source []string
	for _, b := range blocks {
		source = append(source, b[1])
	}
	put(t, dir, "fabric.roce.hcl", []byte(strings.Join(source, "\n")))
	run := func(args ...string) string {
		t.Helper()
		code, out, errOut := rocec(t, dir, nil, args...)
		if code != 0 {
			t.Errorf("rocec %q: exit %d: %s%s", args, code, out, errOut)
		}
		return out + errOut
	}
	run("fmt", "--check", "--diff")
	if out := run("validate"); out != "The fabric is valid: 8 devices, 12 links, 3 segments.\n" {
		t.Errorf("validate: %s", out)
	}
	if out := run("lint", "--minimum-failure-severity=notice"); out != "" {
		t.Errorf("lint: %s", out)
	}
	_, typed, _ := strings.Cut(string(text), "```sh\n")
	typed, _, _ = strings.Cut(typed, "```")
	seen := 0
	for line := range strings.Lines(typed) {
		line, _, _ = strings.Cut(line, "  #")
		words, err := shell.Fields(line, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "rocec trace") || strings.HasPrefix(line, "rocec explain") || strings.HasPrefix(line, "rocec build") {
			run(words[1:]...)
			seen++
		}
	}
	if seen != 3 {
		t.Errorf("%d commands were tried, of 3", seen)
	}
}
