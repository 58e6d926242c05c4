package rocec_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

const modulePath = "github.com/rocec/rocec"

// row says which packages of this module a package may import, tests aside.
// "x/..." is x and whatever is below it.
type row struct {
	pkg string
	may []string
}

// graph is the order of the stages. The first row that fits a package holds; a
// package without a row may not exist.
var graph = []row{
	{".", nil},
	{"lang/source", nil},
	{"lang/schema", nil},
	{"lang/shape", nil},
	{"lang/filename", nil},
	{"lang/diag", []string{"lang/source"}},
	{"lang/...", []string{"lang/...", "compiler/headroom"}},

	{"compiler/headroom", nil},
	{"compiler/intent", nil},
	{"compiler/fabric", []string{"lang/source", "lang/diag", "lang/schema", "lang/shape"}},
	{"compiler/resolve", []string{"compiler/...", "lang", "lang/cabling", "lang/filename", "lang/source", "lang/diag", "lang/schema", "lang/shape"}},
	{"compiler", []string{"compiler/...", "lang", "lang/source", "lang/diag", "lang/schema"}},
	{"compiler/...", []string{"compiler/...", "lang/source", "lang/diag", "lang/schema", "lang/shape"}},

	{"targets", []string{"compiler/intent", "targets/emit", "targets/feature", "lang/diag", "lang/source"}},
	{"targets/feature", []string{"compiler/intent", "lang/diag", "lang/source"}},
	{"targets/emit", []string{"compiler/intent", "lang/diag", "lang/source"}},
	{"targets/oracle", nil},
	{"targets/targettest", []string{"compiler/intent", "targets", "targets/emit", "targets/feature", "lang/diag", "lang/source"}},
	{"targets/all", []string{"targets", "targets/cumulus", "targets/linux", "targets/windows", "targets/sonic", "targets/sonicent"}},
	{"targets/posix", []string{"targets", "targets/emit"}},
	{"targets/linux", []string{"compiler/intent", "targets", "targets/emit", "targets/feature", "targets/posix", "lang/diag", "lang/source"}},
	{"targets/sonic", []string{"compiler/intent", "targets", "targets/emit", "targets/feature", "targets/posix", "lang/diag", "lang/source"}},
	{"targets/cumulus", []string{"compiler/intent", "targets", "targets/emit", "targets/feature", "targets/posix", "lang/diag", "lang/source"}},
	{"targets/...", []string{"compiler/intent", "targets", "targets/emit", "targets/feature", "lang/diag", "lang/source"}},

	{"deploy/...", []string{"compiler/intent", "targets", "targets/emit", "targets/feature", "lang/diag", "lang/source", "lang/filename", "deploy/..."}},

	{"cmd/rocec/internal/fabricgen", nil},
	{"cmd/rocec/...", []string{"cmd/rocec/internal/...", "compiler/...", "lang/...", "deploy/...", "targets", "targets/all", "targets/emit", "targets/feature"}},
}

// testSupport are packages that exist for tests: they may do I/O, and no
// program imports them.
var testSupport = []string{"targets/oracle", "targets/targettest"}

// hclOutside are packages outside lang whose tests need HCL itself.
var hclOutside = map[string]string{
	"cmd/rocec/internal/fabricgen": "the parser alone is the yardstick of its benchmarks",
}

// impure is what reaches the world outside of the process: whole packages, and
// of others what is named. The rest of net is arithmetic on addresses, that of
// time on dates.
var impure = map[string][]string{
	"os": nil, "os/exec": nil, "os/user": nil, "os/signal": nil, "net/http": nil, "net/rpc": nil, "net/smtp": nil, "syscall": nil,
	"math/rand": nil, "math/rand/v2": nil, "crypto/rand": nil, "path/filepath": {"Walk", "WalkDir", "Glob", "Abs", "EvalSymlinks"},
	"golang.org/x/sys/unix": nil, "golang.org/x/sys/windows": nil,
	"net": {
		"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer", "Listen", "ListenTCP", "ListenUDP", "ListenIP", "ListenUnix", "ListenPacket", "ListenConfig",
		"Interfaces", "InterfaceByName", "InterfaceByIndex", "InterfaceAddrs", "Resolver", "DefaultResolver", "ResolveIPAddr", "ResolveTCPAddr", "ResolveUDPAddr",
		"LookupAddr", "LookupCNAME", "LookupHost", "LookupIP", "LookupMX", "LookupNS", "LookupPort", "LookupSRV", "LookupTXT",
	},
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Local", "LoadLocation"},
}

var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "type", "types", "base", "misc", "shared"}

// Written in parts, so that this file is not a finding of its own.
var machinePath = regexp.MustCompile(`(^|[^a-zA-Z0-9._-])/(` + `work|` + `tmp/brief)(/|\b)`)

var unfinished = regexp.MustCompile(`\b(` + "TO" + "DO" + `|` + "FIX" + "ME" + `)\b`)

// othersHeaders stand, in any case, at the head of files that others wrote. Written in parts, as above.
var othersHeaders = []string{
	"spdx" + "-license", "copy" + "right (c)", "copy" + "right ©", "copy" + "right 1", "copy" + "right 2", "all rights " + "reserved",
	"licensed" + " under ", "permission is hereby " + "granted", "redistribution and use in " + "source",
}

// othersNames are files that no tool of ours writes: models, grammars, interfaces and schemas, and folders of copies.
var othersNames = regexp.MustCompile(`\.(yang|yin|g4|proto|xsd|rng|dtd|mib|asn1?|ebnf|j2|jinja2?|thrift|wsdl)$|` +
	`(^|/)(vendor|vendored|third_party|thirdparty|external|node_modules)/`)

// othersSamples are settings of devices under the names that they have in images and public repositories; ours are made by tests.
var othersSamples = regexp.MustCompile(`(^|/)(config_db|minigraph|port_config|pg_profile_lookup|buffers_defaults_[^/]*|qos|sai)\.` +
	`(json|xml|ini|profile)$`)

// goFile is one file of code.
type goFile struct {
	path, pkg string // from the module's root; "." is the root package
	test      bool
	ast       *ast.File
}

// imports yields the paths of a file's imports with the names they have in it.
func (s goFile) imports(visit func(path, name string)) {
	for _, i := range s.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if strings.HasPrefix(name, "v") && len(name) == 2 {
			name = path.Base(path.Dir(p))
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		visit(p, name)
	}
}

// house is the module as it lies in a file system.
type house struct {
	files *token.FileSet
	code  []goFile
	paths []string          // of every file
	text  map[string]string // every file that is text
}

// enter reads all there is but what git ignores.
func enter(fsys fs.FS) (*house, error) {
	h := &house{files: token.NewFileSet(), text: map[string]string{}}
	err := fs.WalkDir(fsys, ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "rapid" || p == "bin" || p == "dist"):
			return fs.SkipDir
		case !e.Type().IsRegular() || p == ".git": // a file in a work tree of its own
			return nil
		}
		h.paths = append(h.paths, p)
		b, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		if slices.Contains(b[:min(len(b), 8000)], 0) {
			return nil
		}
		h.text[p] = string(b)
		if !strings.HasSuffix(p, ".go") || strings.Contains("/"+p, "/testdata/") {
			return nil
		}
		f, err := parser.ParseFile(h.files, p, b, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		h.code = append(h.code, goFile{p, path.Dir(p), strings.HasSuffix(p, "_test.go"), f})
		return nil
	})
	return h, err
}

// at is a place in a Go file.
func (h *house) at(n ast.Node) string {
	p := h.files.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// fits reports whether a package is the pattern's.
func fits(pattern, pkg string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == below || strings.HasPrefix(pkg, below+"/")
	}
	return pkg == pattern
}

func fitsAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, pkg) })
}

// ours is the package of this module that an import path names.
func ours(importPath string) (pkg string, ok bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// isTarget reports whether a package is an emitter.
func isTarget(pkg string) bool {
	return strings.HasPrefix(pkg, "targets/") && pkg != "targets/emit" && pkg != "targets/feature" && pkg != "targets/posix" && pkg != "targets/all" && !slices.Contains(testSupport, pkg)
}

// houseRules are the rules of the house: each lists what breaks it.
var houseRules = []struct {
	name string
	run  func(*house) []string
}{
	{"imports", importOrder},
	{"HCL and cty", hclStays},
	{"I/O", pure},
	{"names of packages", packageNames},
	{"package comments", packageComments},
	{"comments of what is exported", exportedComments},
	{"unfinished code", finished},
	{"names of files", fileNames},
	{"machine paths", noMachinePaths},
	{"texts of others", onlyOurs},
	{"skipped tests", noSkips},
	{"dependencies", dependencies},
}

// TestHouse walks the repository.
func TestHouse(t *testing.T) {
	h, err := enter(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range houseRules {
		t.Run(r.name, func(t *testing.T) {
			for _, v := range r.run(h) {
				t.Error(v)
			}
		})
	}
}

func importOrder(h *house) (broken []string) {
	for _, s := range h.code {
		i := slices.IndexFunc(graph, func(r row) bool { return fits(r.pkg, s.pkg) })
		if i < 0 {
			broken = append(broken, fmt.Sprintf("%s: package %s has no place in the graph of imports", s.path, s.pkg))
			continue
		}
		s.imports(func(p, _ string) {
			pkg, mine := ours(p)
			switch {
			case !mine:
			case s.test && isTarget(s.pkg) && isTarget(pkg) && pkg != s.pkg:
				broken = append(broken, fmt.Sprintf("%s: the tests of a target import another, %s", s.path, pkg))
			case s.test:
			case slices.Contains(testSupport, pkg):
				broken = append(broken, fmt.Sprintf("%s: only tests import %s", s.path, pkg))
			case !fitsAny(graph[i].may, pkg):
				broken = append(broken, fmt.Sprintf("%s: %s may not import %s", s.path, s.pkg, pkg))
			}
		})
	}
	return broken
}

func hclStays(h *house) (broken []string) {
	for _, s := range h.code {
		if fits("lang/...", s.pkg) || s.test && hclOutside[s.pkg] != "" {
			continue
		}
		s.imports(func(p, _ string) {
			if fitsAny([]string{"github.com/hashicorp/hcl/v2/...", "github.com/zclconf/go-cty/..."}, p) {
				broken = append(broken, fmt.Sprintf("%s: %s is known to lang alone", s.path, p))
			}
		})
	}
	return broken
}

func pure(h *house) (broken []string) {
	for _, s := range h.code {
		if s.test || fitsAny([]string{"cmd/...", "deploy/..."}, s.pkg) || slices.Contains(testSupport, s.pkg) {
			continue
		}
		parts := map[string][]string{} // by the name of the import
		s.imports(func(p, name string) {
			names, listed := impure[p]
			switch {
			case listed && names == nil:
				broken = append(broken, fmt.Sprintf("%s: imports %s; only cmd and deploy reach outside of the process", s.path, p))
			case listed:
				parts[name] = names
			}
		})
		ast.Inspect(s.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(parts[x.Name], sel.Sel.Name) {
				broken = append(broken, fmt.Sprintf("%s: %s.%s; only cmd and deploy reach outside of the process", h.at(n), x.Name, sel.Sel.Name))
			}
			return true
		})
	}
	return broken
}

func packageNames(h *house) (broken []string) {
	for _, s := range h.code {
		name := strings.TrimSuffix(s.ast.Name.Name, "_test")
		if slices.Contains(vagueNames, name) || slices.Contains(vagueNames, path.Base(s.pkg)) {
			broken = append(broken, fmt.Sprintf("%s: package %s says nothing of what it does", s.path, name))
		}
	}
	return broken
}

func packageComments(h *house) (broken []string) {
	comments := map[string]string{}
	for _, s := range h.code {
		if s.test {
			continue
		}
		if text := s.ast.Doc.Text(); text != "" || comments[s.pkg] == "" {
			comments[s.pkg] = text
		}
		want := "Package " + s.ast.Name.Name + " "
		if s.ast.Name.Name == "main" {
			want = "Command " + path.Base(s.pkg) + " "
		}
		if text := s.ast.Doc.Text(); text != "" && !strings.HasPrefix(text, want) {
			broken = append(broken, fmt.Sprintf("%s: the package comment does not begin with %q", s.path, want))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(comments)) {
		if comments[pkg] == "" {
			broken = append(broken, fmt.Sprintf("%s: no package comment", pkg))
		}
	}
	return broken
}

func exportedComments(h *house) (broken []string) {
	bare := func(n *ast.Ident, comments ...*ast.CommentGroup) {
		if n.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
			broken = append(broken, fmt.Sprintf("%s: %s has no comment", h.at(n), n.Name))
		}
	}
	for _, s := range h.code {
		if s.test || s.ast.Name.Name == "main" {
			continue
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
					bare(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						bare(spec.Name, d.Doc, spec.Doc, spec.Comment)
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							bare(n, d.Doc, spec.Doc, spec.Comment)
						}
					}
				}
			}
		}
	}
	return broken
}

// receiver is the name of the type of a method.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func finished(h *house) (broken []string) {
	for _, s := range h.code {
		if s.test {
			continue
		}
		for _, c := range s.ast.Comments {
			if word := unfinished.FindString(c.Text()); word != "" {
				broken = append(broken, fmt.Sprintf("%s: %s", h.at(c), word))
			}
		}
	}
	return broken
}

// fileNames: one file whose name some system does not take, and nobody can install
// the module, for Go makes no archive of it.
func fileNames(h *house) (broken []string) {
	folded := map[string]string{}
	for _, p := range h.paths {
		if err := module.CheckFilePath(p); err != nil {
			broken = append(broken, err.Error())
		}
		if other, taken := folded[strings.ToLower(p)]; taken {
			broken = append(broken, fmt.Sprintf("%s and %s differ in case only", other, p))
		}
		folded[strings.ToLower(p)] = p
	}
	return broken
}

func noMachinePaths(h *house) (broken []string) {
	for _, p := range slices.Sorted(maps.Keys(h.text)) {
		for i, line := range strings.Split(h.text[p], "\n") {
			if machinePath.MatchString(line) {
				broken = append(broken, fmt.Sprintf("%s:%d: a path of one machine: %s", p, i+1, strings.TrimSpace(line)))
			}
		}
	}
	return broken
}

// onlyOurs: the tree holds no text that others wrote, whatever its licence.
// Tests read such from the folder of the oracles, see targets/oracle.
func onlyOurs(h *house) (broken []string) {
	for _, p := range h.paths {
		if othersNames.MatchString(p) || othersSamples.MatchString(p) {
			broken = append(broken, fmt.Sprintf("%s: a model, grammar or sample of others; tests read it from ROCEC_ORACLES", p))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(h.text)) {
		text := strings.ToLower(h.text[p])
		for _, header := range othersHeaders {
			if before, _, is := strings.Cut(text, header); is && p != "LICENSE" {
				broken = append(broken, fmt.Sprintf("%s:%d: the header of a text of others: %s", p, strings.Count(before, "\n")+1, header))
			}
		}
	}
	return broken
}

// noSkips: a checker that is missing is for targets/oracle to judge.
func noSkips(h *house) (broken []string) {
	for _, s := range h.code {
		if s.pkg == "targets/oracle" {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
				broken = append(broken, fmt.Sprintf("%s: skips outside of targets/oracle", h.at(n)))
			}
			return true
		})
	}
	return broken
}

// dependencies: go.mod says of every module that we import why, and marks the
// others as indirect.
func dependencies(h *house) (broken []string) {
	mod, err := modfile.Parse("go.mod", []byte(h.text["go.mod"]), nil)
	if err != nil {
		return []string{err.Error()}
	}
	direct := map[string]string{} // module to a file that imports it
	for _, s := range h.code {
		s.imports(func(p, _ string) {
			longest := ""
			for _, r := range mod.Require {
				if fits(r.Mod.Path+"/...", p) && len(r.Mod.Path) > len(longest) {
					longest = r.Mod.Path
				}
			}
			if longest != "" && direct[longest] == "" {
				direct[longest] = s.path
			}
		})
	}
	for _, r := range mod.Require {
		switch from := direct[r.Mod.Path]; {
		case from == "" && !r.Indirect:
			broken = append(broken, fmt.Sprintf("go.mod: nothing imports %s", r.Mod.Path))
		case from != "" && r.Indirect:
			broken = append(broken, fmt.Sprintf("go.mod: %s is marked indirect, and %s imports it", r.Mod.Path, from))
		case from != "" && !why(r.Syntax):
			broken = append(broken, fmt.Sprintf("go.mod: %s has no comment that says why it is there", r.Mod.Path))
		}
	}
	return broken
}

// why reports whether a line of go.mod has a comment of its own.
func why(l *modfile.Line) bool {
	return slices.ContainsFunc(append(slices.Clone(l.Before), l.Suffix...), func(c modfile.Comment) bool {
		return strings.Trim(c.Token, "/ ") != ""
	})
}

// badHouses have one mistake each; rule is the one that notices, with a message
// that contains want.
var badHouses = []struct {
	rule, path, text, want string
}{
	{"imports", "compiler/fabric/a.go", "// Package fabric is.\npackage fabric\nimport _ \"github.com/rocec/rocec/lang\"\n", "compiler/fabric may not import lang"},
	{"imports", "compiler/lint/a.go", "// Package lint is.\npackage lint\nimport _ \"github.com/rocec/rocec/targets\"\n", "compiler/lint may not import targets"},
	{"imports", "targets/linux/a.go", "// Package linux is.\npackage linux\nimport _ \"github.com/rocec/rocec/targets/sonic\"\n", "targets/linux may not import targets/sonic"},
	{"imports", "targets/linux/a_test.go", "package linux\nimport _ \"github.com/rocec/rocec/targets/sonic\"\n", "import another, targets/sonic"},
	{"imports", "deploy/plan/a.go", "// Package plan is.\npackage plan\nimport _ \"github.com/rocec/rocec/compiler/fabric\"\n", "deploy/plan may not import compiler/fabric"},
	{"imports", "cmd/rocec/a.go", "// Command rocec is.\npackage main\nimport _ \"github.com/rocec/rocec/targets/oracle\"\n", "only tests import targets/oracle"},
	{"imports", "cmd/rocec/a.go", "// Command rocec is.\npackage main\nimport _ \"github.com/rocec/rocec/targets/linux\"\n", "cmd/rocec may not import targets/linux"},
	{"imports", "compiler/headroom/a.go", "// Package headroom is.\npackage headroom\nimport _ \"github.com/rocec/rocec/lang/diag\"\n", "compiler/headroom may not import lang/diag"},
	{"imports", "extras/a.go", "// Package extras is.\npackage extras\n", "has no place"},
	{"HCL and cty", "cmd/rocec/a.go", "// Command rocec is.\npackage main\nimport _ \"github.com/hashicorp/hcl/v2/hclsyntax\"\n", "known to lang alone"},
	{"HCL and cty", "compiler/a_test.go", "package compiler\nimport _ \"github.com/zclconf/go-cty/cty\"\n", "known to lang alone"},
	{"I/O", "lang/a.go", "// Package lang is.\npackage lang\nimport \"os\"\nvar x = os.Args\n", "imports os"},
	{"I/O", "lang/a.go", "// Package lang is.\npackage lang\nimport clock \"time\"\nvar x = clock.Now()\n", "clock.Now"},
	{"I/O", "targets/linux/a.go", "// Package linux is.\npackage linux\nimport \"math/rand/v2\"\nvar x = rand.Int()\n", "imports math/rand/v2"},
	{"names of packages", "lang/common/a.go", "// Package common is.\npackage common\n", "package common"},
	{"package comments", "lang/a.go", "package lang\n", "no package comment"},
	{"package comments", "cmd/rocec/a.go", "// Package main is.\npackage main\n", "does not begin with \"Command rocec \""},
	{"comments of what is exported", "lang/a.go", "// Package lang is.\npackage lang\n\ntype T struct{}\n", "T has no comment"},
	{"comments of what is exported", "lang/a.go", "// Package lang is.\npackage lang\n\n// T is.\ntype T[P any] struct{}\n\nfunc (*T[P]) M() {}\n", "M has no comment"},
	{"unfinished code", "lang/a.go", "// Package lang is.\npackage lang\n\n// TO" + "DO: the rest\n", "TO" + "DO"},
	{"names of files", "lang/testdata/nul", "x", `"nul" disallowed`},
	{"names of files", "lang/testdata/NO", "x", "lang/testdata/NO and lang/testdata/no differ in case only"},
	{"machine paths", "docs/a.md", "see /wo" + "rk/main\n", "docs/a.md:1"},
	{"texts of others", "lang/testdata/sonic-port.yang", "module m { }\n", "lang/testdata/sonic-port.yang: a model"},
	{"texts of others", "lang/grammar.g4", "grammar g;\n", "lang/grammar.g4: a model"},
	{"texts of others", "deploy/api.proto", "syntax = \"proto3\";\n", "deploy/api.proto: a model"},
	{"texts of others", "third_party/x/a.md", "x\n", "third_party/x/a.md: a model"},
	{"texts of others", "targets/sonic/testdata/config_db.json", "{}\n", "config_db.json: a model, grammar or sample"},
	{"texts of others", "testdata/lab/a.c", "// SP" + "DX-License-Identifier: MIT\n", "testdata/lab/a.c:1: the header"},
	{"texts of others", "docs/a.md", "x\n\nCopy" + "right (c) 2019 Somebody\n", "docs/a.md:3: the header"},
	{"texts of others", "lang/a.go", "// Licen" + "sed under the Apache License.\n\n// Package lang is.\npackage lang\n", "lang/a.go:1: the header"},
	{"skipped tests", "lang/a_test.go", "package lang\nimport \"testing\"\nfunc TestA(t *testing.T) { t." + "Skip() }\n", "lang/a_test.go:3"},
	{"dependencies", "go.mod", "module m\nrequire example.org/x v1.0.0\n", "nothing imports example.org/x"},
	{"dependencies", "go.mod", "module m\nrequire github.com/google/go-cmp v0.7.0\n", "no comment"},
	{"dependencies", "go.mod", "module m\nrequire github.com/google/go-cmp v0.7.0 // indirect\n", "marked indirect"},
}

// TestHouseNotices shows each rule a house that breaks it and no other.
func TestHouseNotices(t *testing.T) {
	seen := map[string]bool{}
	for _, bad := range badHouses {
		fsys := fstest.MapFS{
			"go.mod":           {Data: []byte("module m\nrequire github.com/google/go-cmp v0.7.0 // tests compare values\n")},
			"lang/ok.go":       {Data: []byte("// Package lang is.\npackage lang\n\nimport \"time\"\n\n// Day is one.\nconst Day = 24 * time.Hour // the work/life balance\n")},
			"lang/ok_test.go":  {Data: []byte("package lang\nimport _ \"github.com/google/go-cmp/cmp\"\nimport _ \"os\"\n")},
			"deploy/d/ok.go":   {Data: []byte("// Package d is.\npackage d\nimport \"os\"\nvar x = os.Args\n")},
			"lang/testdata/no": {Data: []byte{0, 1, 2}},
		}
		if bad.path == "lang/a.go" && strings.HasPrefix(bad.text, "package") {
			delete(fsys, "lang/ok.go")
		}
		fsys[bad.path] = &fstest.MapFile{Data: []byte(bad.text)}
		h, err := enter(fsys)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range houseRules {
			got := r.run(h)
			switch {
			case r.name == bad.rule && (len(got) != 1 || !strings.Contains(got[0], bad.want)):
				t.Errorf("%s, %s: the rule says %q, want one with %q", bad.path, bad.rule, got, bad.want)
			case r.name != bad.rule && len(got) > 0 && !(bad.rule == "names of packages" || r.name == "dependencies"):
				t.Errorf("%s, %s: the rule %s speaks too: %q", bad.path, bad.rule, r.name, got)
			}
		}
		seen[bad.rule] = true
	}
	for _, r := range houseRules {
		if !seen[r.name] {
			t.Errorf("nothing shows that the rule %s notices anything", r.name)
		}
	}
}
