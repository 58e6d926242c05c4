package posix

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Names of what the shell's own commands are called by after the rewriting. No
// script can write them by accident: they are looked up before the disk.
const (
	ownFD      = "/.rocec/fd"
	ownKill    = "/.rocec/kill"
	ownUmask   = "/.rocec/umask"
	ownWhich   = "/.rocec/command-v"
	ownStatus  = "/.rocec/status"
	ownTrue    = "/.rocec/true"
	ownQuote   = "/.rocec/quote"
	ownNumber  = "/.rocec/number"
	pidVar     = "_rocec_pid"
	substitute = "/dev/.rocec/"
)

// rewrite turns what the interpreter does not know, or does otherwise than bash,
// into what it knows: file descriptors above 2, process substitution, a value
// appended to an element of an array, the number of the process, >|, printf -v,
// shift, numbers in [[ ]], and elements of arrays that are not set under set -u.
func rewrite(f *syntax.File) {
	count, strict := 0, false
	var all []*syntax.Stmt
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			strict = strict || setsU(n)
		case *syntax.Stmt:
			all = append(all, n)
		}
		return true
	})
	for _, s := range all {
		shifted(s)
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			if strict {
				demanded(n)
			}
			if n.Param != nil && n.Param.Value == "$" {
				n.Param = &syntax.Lit{Value: pidVar}
				n.Short = false
			}
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				appended(a)
			}
			printfVar(n)
			if len(n.Args) == 1 && n.Args[0].Lit() == "return" { // which gives the interpreter 0, and not what came before it
				n.Args = append(n.Args, &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "?"}}}})
			}
		case *syntax.DeclClause:
			for _, a := range n.Args {
				appended(a)
			}
		case *syntax.TestClause:
			n.X = bound(n.X)
		case *syntax.BinaryCmd:
			// The interpreter runs the end of a pipe in the shell itself.
			if next, ok := n.Y.Cmd.(*syntax.BinaryCmd); (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && (!ok || next.Op != syntax.Pipe && next.Op != syntax.PipeAll) {
				n.Y = &syntax.Stmt{Cmd: alone([]*syntax.Stmt{n.Y}, n.Y.Position), Position: n.Y.Position}
			}
		case *syntax.Subshell:
			leave(n.Stmts)
		case *syntax.CmdSubst:
			leave(n.Stmts)
		case *syntax.Stmt:
			statement(n, &count)
		}
		return true
	})
}

// setsU tells whether a command is set -u, which scripts say at their beginning.
func setsU(c *syntax.CallExpr) bool {
	if len(c.Args) < 2 || c.Args[0].Lit() != "set" {
		return false
	}
	options := c.Args[1].Lit()
	return strings.HasPrefix(options, "-") && strings.Contains(options, "u")
}

// shifted makes "if test N -le $#; then shift N; else false; fi" of "shift N": the
// interpreter would take away what there is.
func shifted(s *syntax.Stmt) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || len(c.Args) > 2 || c.Args[0].Lit() != "shift" {
		return
	}
	n := word("1")
	if len(c.Args) == 2 {
		n = c.Args[1]
	}
	rest := &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "#"}}}}
	s.Cmd = &syntax.IfClause{
		Cond: []*syntax.Stmt{call("test", n, "-le", rest)},
		Then: []*syntax.Stmt{{Cmd: &syntax.CallExpr{Assigns: c.Assigns, Args: slices.Clone(c.Args)}, Position: s.Position}},
		Else: &syntax.IfClause{Then: []*syntax.Stmt{call(ownStatus, "1")}},
	}
}

// demanded makes ${a[i]?unbound variable} of ${a[i]}.
func demanded(n *syntax.ParamExp) {
	if n.Index == nil || n.Exp != nil || n.Slice != nil || n.Repl != nil || n.Length || n.Excl || n.Width || n.Names != 0 {
		return
	}
	if w, ok := n.Index.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		return
	}
	n.Exp = &syntax.Expansion{Op: syntax.ErrorUnset, Word: word("unbound variable")}
}

// statement takes out of a statement what has to be done before it.
func statement(s *syntax.Stmt, count *int) {
	readFrom(s)
	var before []*syntax.Stmt
	var after []*syntax.Stmt
	own, bare := execOnly(s)
	var keep []*syntax.Redirect
	for _, r := range s.Redirs {
		if r.Op == syntax.RdrClob {
			r.Op = syntax.RdrOut
		}
		if r.Word != nil {
			before = append(before, processes(r.Word, count)...)
		}
		fd := 0
		if r.N != nil {
			fd, _ = strconv.Atoi(r.N.Value)
		}
		switch {
		case fd < 3:
			keep = append(keep, r)
		case r.Op == syntax.DplOut || r.Op == syntax.DplIn:
			if own { // exec 9>&-
				before = append(before, call(ownFD, "close", r.N.Value))
			} // else: what a command is not to inherit, which it does not
		default:
			before = append(before, call(ownFD, "open", r.N.Value, r.Op.String(), r.Word))
			if !own {
				after = append(after, call(ownFD, "close", r.N.Value))
			}
		}
	}
	s.Redirs = keep
	if c, ok := s.Cmd.(*syntax.CallExpr); ok {
		for _, w := range c.Args {
			before = append(before, processes(w, count)...)
		}
		if bare && len(keep) == 0 && len(before) > 0 {
			// Nothing is left of "exec 9>FILE" but the opening, whose result counts.
			last := before[len(before)-1]
			s.Cmd = last.Cmd
			before = before[:len(before)-1]
		}
	}
	if len(before)+len(after) == 0 {
		return
	}
	inner := &syntax.Stmt{Cmd: s.Cmd, Position: s.Position, Redirs: s.Redirs}
	list := &syntax.Stmt{Cmd: s.Cmd, Position: s.Position, Redirs: s.Redirs}
	for i := len(before) - 1; i >= 0; i-- {
		list = &syntax.Stmt{Cmd: &syntax.BinaryCmd{Op: syntax.AndStmt, X: before[i], Y: inner}, Position: s.Position}
		inner = list
	}
	s.Cmd = &syntax.Block{Stmts: append([]*syntax.Stmt{list}, after...)}
	s.Redirs = nil
}

// readFrom makes "read ... </dev/.rocec/fd3" of "read -u 3 ...": there it finds
// the next line.
func readFrom(s *syntax.Stmt) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 || c.Args[0].Lit() != "read" {
		return
	}
	for i, a := range c.Args[:len(c.Args)-1] {
		if fd := c.Args[i+1].Lit(); a.Lit() == "-u" && fd != "" {
			c.Args = append(c.Args[:i:i], c.Args[i+2:]...)
			s.Redirs = append(s.Redirs, &syntax.Redirect{Op: syntax.RdrIn, Word: word(substitute + "fd" + fd)})
			return
		}
	}
}

// execOnly tells whether a statement is exec, and without a command.
func execOnly(s *syntax.Stmt) (own, bare bool) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	own = ok && len(c.Args) == 1 && len(c.Assigns) == 0 && c.Args[0].Lit() == "exec"
	return own, own
}

// alone is a shell of its own for commands. They stand in braces there: printed, a
// shell in a shell would be arithmetic.
func alone(list []*syntax.Stmt, at syntax.Pos) *syntax.Subshell {
	return &syntax.Subshell{Stmts: []*syntax.Stmt{{Cmd: &syntax.Block{Stmts: list}, Position: at}}}
}

// processes replaces each <(COMMANDS) of a word by the name of what they print,
// which is collected before. COMMANDS run in a shell of their own, and their
// exit code is nobody's.
func processes(w *syntax.Word, count *int) []*syntax.Stmt {
	var before []*syntax.Stmt
	for i, part := range w.Parts {
		p, ok := part.(*syntax.ProcSubst)
		if !ok || p.Op != syntax.CmdIn {
			continue
		}
		*count++
		name := substitute + strconv.Itoa(*count)
		if len(p.Stmts) == 0 { // there is no shell without commands
			p.Stmts = []*syntax.Stmt{call(ownTrue)}
		}
		collect := &syntax.Stmt{
			Cmd: alone(p.Stmts, p.OpPos), Position: p.OpPos,
			Redirs: []*syntax.Redirect{{Op: syntax.RdrOut, Word: word(name)}},
		}
		before = append(before, &syntax.Stmt{
			Cmd: &syntax.BinaryCmd{Op: syntax.OrStmt, X: collect, Y: call(ownTrue)}, Position: p.OpPos,
		})
		w.Parts[i] = &syntax.Lit{Value: name, ValuePos: p.OpPos}
	}
	return before
}

// appended makes a[i]="${a[i]-}"x of a[i]+=x, which the interpreter would append
// to the first element.
func appended(a *syntax.Assign) {
	if !a.Append || a.Index == nil || a.Value == nil {
		return
	}
	old := &syntax.ParamExp{
		Param: &syntax.Lit{Value: a.Name.Value}, Index: a.Index,
		Exp: &syntax.Expansion{Op: syntax.DefaultUnset, Word: &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{}}}},
	}
	a.Append = false
	a.Value = &syntax.Word{Parts: append([]syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{old}}}, a.Value.Parts...)}
}

// bound puts the operators of [[ ]] right, where no parentheses do: an exclamation
// mark binds to the one test behind it, and && before ||. The parser lets the
// mark stand for all that follows, and groups from the right.
func bound(x syntax.TestExpr) syntax.TestExpr {
	var tests []syntax.TestExpr
	var ops []syntax.BinTestOperator
	flatten(x, &tests, &ops)
	var all, chain syntax.TestExpr
	for i, t := range tests {
		switch {
		case chain == nil:
			chain = t
		case ops[i-1] == syntax.AndTest:
			chain = &syntax.BinaryTest{Op: syntax.AndTest, X: chain, Y: t}
		default:
			all, chain = either(all, chain), t
		}
	}
	return either(all, chain)
}

func either(a, b syntax.TestExpr) syntax.TestExpr {
	if a == nil {
		return b
	}
	return &syntax.BinaryTest{Op: syntax.OrTest, X: a, Y: b}
}

// flatten lists the tests of an expression in their order, and what stands between them.
func flatten(x syntax.TestExpr, tests *[]syntax.TestExpr, ops *[]syntax.BinTestOperator) {
	switch x := x.(type) {
	case *syntax.ParenTest:
		x.X = bound(x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			flatten(x.X, tests, ops)
			*ops = append(*ops, x.Op)
			flatten(x.Y, tests, ops)
			return
		case syntax.TsReMatch:
			if w, ok := x.Y.(*syntax.Word); ok {
				quoted(w)
			}
		default:
			numbers(x)
		}
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			at := len(*tests)
			flatten(x.X, tests, ops)
			(*tests)[at] = &syntax.UnaryTest{Op: syntax.TsNot, X: (*tests)[at]}
			return
		}
	}
	*tests = append(*tests, x)
}

// numbers makes [[ $((A == B)) -eq 1 ]] of [[ A -eq B ]], whose sides are arithmetic: to
// the interpreter they are decimal digits.
func numbers(x *syntax.BinaryTest) {
	ops := map[syntax.BinTestOperator]syntax.BinAritOperator{
		syntax.TsEql: syntax.Eql, syntax.TsNeq: syntax.Neq, syntax.TsLeq: syntax.Leq, syntax.TsGeq: syntax.Geq, syntax.TsLss: syntax.Lss, syntax.TsGtr: syntax.Gtr,
	}
	op, is := ops[x.Op]
	a, ok := x.X.(*syntax.Word)
	b, also := x.Y.(*syntax.Word)
	if !is || !ok || !also {
		return
	}
	sum := &syntax.ArithmExp{X: &syntax.BinaryArithm{Op: op, X: a, Y: b}}
	x.Op, x.X, x.Y = syntax.TsEql, &syntax.Word{Parts: []syntax.WordPart{sum}}, word("1")
}

// quoted makes what is quoted in a regular expression stand for itself.
func quoted(w *syntax.Word) {
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.SglQuoted:
			if !part.Dollar {
				part.Value = regexp.QuoteMeta(part.Value)
			}
		case *syntax.DblQuoted:
			meta := call(ownQuote)
			c := meta.Cmd.(*syntax.CallExpr)
			c.Args = append(c.Args, &syntax.Word{Parts: []syntax.WordPart{part}})
			w.Parts[i] = &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.CmdSubst{Stmts: []*syntax.Stmt{meta}}}}
		}
	}
}

// leave makes exit of return in what runs in a shell of its own inside of a
// function, where the interpreter forgets that there is one.
func leave(list []*syntax.Stmt) {
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.FuncDecl:
				return false
			case *syntax.CallExpr:
				if len(n.Args) > 0 && n.Args[0].Lit() == "return" {
					n.Args[0] = &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "exit"}}}
				}
			}
			return true
		})
	}
}

// printfVar makes NAME=$(printf ...) of printf -v NAME ....
func printfVar(c *syntax.CallExpr) {
	if len(c.Args) < 4 || c.Args[0].Lit() != "printf" || c.Args[1].Lit() != "-v" || !syntax.ValidName(c.Args[2].Lit()) {
		return
	}
	print := &syntax.CallExpr{Args: append([]*syntax.Word{c.Args[0]}, c.Args[3:]...)}
	c.Assigns = append(c.Assigns, &syntax.Assign{
		Name:  &syntax.Lit{Value: c.Args[2].Lit()},
		Value: &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.CmdSubst{Stmts: []*syntax.Stmt{{Cmd: print}}}}}}},
	})
	c.Args = nil
}

func call(args ...any) *syntax.Stmt {
	c := &syntax.CallExpr{}
	for _, a := range args {
		switch a := a.(type) {
		case string:
			c.Args = append(c.Args, word(a))
		case *syntax.Word:
			c.Args = append(c.Args, a)
		}
	}
	return &syntax.Stmt{Cmd: c}
}

func word(text string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: text}}}
}

// parse reads a script. The result may be run many times at once.
func parse(name string, text []byte) (*syntax.File, error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(string(text)), name)
	if err != nil {
		return nil, err
	}
	if err := unlike(f); err != nil {
		return nil, err
	}
	rewrite(f)
	return f, nil
}
