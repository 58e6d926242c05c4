package powershell

// What Import-PowerShellDataFile takes: it evaluates nothing but what
// IsSafeValueVisitor lets pass (PowerShell/PowerShell engine/parser/SafeValues.cs).
const (
	mostVisits = 5000 // constants, variables and statements of a file, keys among them: fewer than that
	mostKeys   = 500  // of one table
)

// isSafe reports whether the one statement of a data file is a table of constants,
// and no larger than PowerShell reads.
func isSafe(n Node) bool {
	_, table := n.(*Hash)
	visits := 0
	return table && safe(n, &visits) && visits < mostVisits
}

func safe(n Node, visits *int) bool {
	each := func(list []Node) bool {
		for _, x := range list {
			if !safe(x, visits) {
				return false
			}
		}
		return true
	}
	switch n := n.(type) {
	case *Literal:
		*visits++
		return true
	case *Var:
		*visits++
		return n.Scope == "" && (n.Name == "true" || n.Name == "false" || n.Name == "null")
	case *Unary:
		*visits++
		return safe(n.X, visits)
	case *cast:
		*visits++
		_, number := integers[n.typ]
		return (number || n.typ == "string" || n.typ == "char" || n.typ == "bool") && safe(n.x, visits)
	case *Comma:
		return each(n.Items)
	case *paren:
		return len(n.body) == 1 && each(n.body)
	case *Array:
		*visits += len(n.Body)
		return each(n.Body)
	case *Hash:
		return len(n.Keys) <= mostKeys && each(n.Keys) && each(n.Values)
	}
	return false
}
