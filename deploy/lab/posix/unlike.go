package posix

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unlike finds what the interpreter runs without a word and not as bash does: a
// script that rests on it would go well here and not on a device, so it is none.
func unlike(f *syntax.File) (err error) {
	found := func(at syntax.Node, format string, args ...any) {
		if err == nil {
			err = fmt.Errorf("%s:%d: the simulated shell does not do as bash does: %s", f.Name, at.Pos().Line(), fmt.Sprintf(format, args...))
		}
	}
	shells := 0 // that stand around a node: ( ) and $( )
	var around []bool
	syntax.Walk(f, func(n syntax.Node) bool {
		if n == nil { // a node ends
			last := len(around) - 1
			if around[last] {
				shells--
			}
			around = around[:last]
			return true
		}
		own := false
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			own = true
		case *syntax.ParamExp:
			expansion(n, found)
		case *syntax.CallExpr:
			traps(n, shells > 0, found)
		case *syntax.FuncDecl:
			if n.Name != nil && (n.Name.Value == "echo" || n.Name.Value == "printf") {
				found(n, "a function called %s is passed over", n.Name.Value)
			}
		case *syntax.ArithmExp:
			octal(n.X, found)
		case *syntax.ArithmCmd:
			octal(n.X, found)
		}
		if own {
			shells++
		}
		around = append(around, own)
		return true
	})
	return err
}

func expansion(n *syntax.ParamExp, found func(at syntax.Node, format string, args ...any)) {
	if n.Param != nil && n.Param.Value == "PIPESTATUS" {
		found(n, "PIPESTATUS is empty")
	}
	if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
		found(n, "${NAME@OPERATOR} is the value")
	}
	if n.Repl == nil || n.Repl.Orig == nil || len(n.Repl.Orig.Parts) == 0 {
		return
	}
	if lit, ok := n.Repl.Orig.Parts[0].(*syntax.Lit); ok && !n.Repl.All && (strings.HasPrefix(lit.Value, "#") || strings.HasPrefix(lit.Value, "%")) {
		found(n, "${NAME/%c...} replaces at no end", lit.Value[0])
	}
}

// octal finds numbers that begin with 0 and are none: they are 0 here, and end the line
// there.
func octal(x syntax.ArithmExpr, found func(at syntax.Node, format string, args ...any)) {
	syntax.Walk(x, func(n syntax.Node) bool {
		w, is := n.(*syntax.Word)
		if is && len(w.Lit()) > 1 && w.Lit()[0] == '0' && strings.Trim(w.Lit(), "0123456789") == "" && strings.ContainsAny(w.Lit(), "89") {
			found(n, "%s is no number of base 8", w.Lit())
		}
		return true
	})
}

// traps finds those that do not come: at the end of a shell in a shell, and of a
// function.
func traps(n *syntax.CallExpr, inner bool, found func(at syntax.Node, format string, args ...any)) {
	if len(n.Args) < 3 || n.Args[0].Lit() != "trap" {
		return
	}
	for _, a := range n.Args[2:] {
		switch signal := a.Lit(); {
		case signal == "RETURN" || signal == "DEBUG":
			found(n, "trap %s is left out", signal)
		case inner && (signal == "EXIT" || signal == "0"):
			found(n, "trap %s in a shell of its own is left out", signal)
		}
	}
}
