package main

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"
)

// version is the module's version as it was built, "dev" from a work tree.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return dev
}

const dev = "dev"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"rocec_version": version(), "go_version": runtime.Version(), "platform": runtime.GOOS + "_" + runtime.GOARCH}
			return a.object(v, func() error {
				fmt.Fprintf(a.out, "rocec %s\non %s_%s\n", version(), runtime.GOOS, runtime.GOARCH)
				return nil
			})
		},
	}
}

// requireVersion compares this program with required_version of every rocec
// block, before anything else is said: source for another version may hold what
// this one does not know.
func (a *app) requireVersion(p *project, running string) diag.List {
	var list diag.List
	for _, b := range p.cfg.Top {
		block := p.cfg.Block(b)
		text := p.cfg.Text(p.cfg.Attr(b, schema.ARequiredVersion))
		if block.Kind != schema.Rocec || text == "" {
			continue
		}
		label := diag.Label{Span: p.cfg.SpanOf(block.Decl, schema.ARequiredVersion), Where: "rocec"}
		ok, err := satisfies(running, text)
		switch {
		case err != nil:
			list.Add(diag.Diagnostic{
				Summary: "required_version " + err.Error(), Labels: []diag.Label{label},
				Help: `write it as ">= 0.3", "~> 1.2" or ">= 1.2, < 2.0"`,
			})
		case !ok:
			list.Add(diag.Diagnostic{
				Summary: fmt.Sprintf("this is rocec %s, and the configuration wants %s", running, text), Labels: []diag.Label{label},
				Help: "use a version that fits, or change required_version",
			})
		case unreleased(running) && a.verbose:
			fmt.Fprintf(a.err, "rocec: this build has no version; required_version %q is taken as met\n", text)
		}
	}
	return list
}

// unreleased reports whether a build is of no release: a work tree, or a commit
// after no tag.
func unreleased(v string) bool { return v == dev || strings.HasPrefix(v, "v0.0.0-") }

var constraint = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(=|!=|>=|<=|>|<|~>)?\s*v?([0-9]+(?:\.[0-9]+){0,2}(?:-[0-9A-Za-z.-]+)?)$`)
})

// satisfies reports whether a version meets every one of the constraints, which
// are separated by commas. ~> lets the last number written rise. A build without
// a version meets all.
func satisfies(v, constraints string) (bool, error) {
	met := true
	for c := range strings.SplitSeq(constraints, ",") {
		m := constraint().FindStringSubmatch(strings.TrimSpace(c))
		if m == nil || !semver.IsValid("v"+m[2]) {
			return false, fmt.Errorf("has %q, which is no constraint", strings.TrimSpace(c))
		}
		order := semver.Compare("v"+strings.TrimPrefix(v, "v"), "v"+m[2])
		met = met && map[string]bool{
			"": order == 0, "=": order == 0, "!=": order != 0, ">": order > 0, ">=": order >= 0, "<": order < 0, "<=": order <= 0,
			"~>": order >= 0 && sameButLast(v, m[2]),
		}[m[1]]
	}
	return met || unreleased(v), nil
}

// sameButLast reports whether a version agrees with another in all numbers but
// the last that the other writes.
func sameButLast(v, written string) bool {
	numbers, _, _ := strings.Cut(written, "-")
	at := strings.LastIndexByte(numbers, '.')
	if at < 0 {
		return true
	}
	return strings.HasPrefix(strings.TrimPrefix(v, "v")+".", numbers[:at]+".")
}
