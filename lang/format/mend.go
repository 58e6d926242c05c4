package format

import (
	"bytes"
	"slices"

	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/source"
)

// FileChange is a change of one of several files.
type FileChange struct {
	File source.FileID
	Change
}

// Mends are the changes that mend a finding, none if its edits cannot be made:
// they hold together. An edit of an attribute that is not written where the
// finding points to does not count. Trees returns files as they were compiled,
// nil for those that nothing is to be written to.
func Mends(d *diag.Diagnostic, trees func(source.FileID) *Tree) []FileChange {
	var list []FileChange
	for _, e := range d.Edits {
		t := trees(e.Span.File)
		if t == nil {
			return nil
		}
		c := Change{Start: int(e.Span.Start), End: int(e.Span.End()), Text: e.New}
		if e.New == "" && e.Attr == "" {
			c = t.without(c)
		}
		if e.Attr != "" {
			var ok bool
			if c, ok = t.Set(Setting{At: int(e.Span.Start), Path: e.Attr, Value: e.New}); !ok {
				continue
			}
		}
		f := FileChange{e.Span.File, c}
		if slices.Contains(list, f) {
			continue
		}
		if clashes(list, f) {
			return nil
		}
		list = append(list, f)
	}
	return list
}

func clashes(list []FileChange, f FileChange) bool {
	return slices.ContainsFunc(list, func(x FileChange) bool { return x.File == f.File && Clash(x.Change, f.Change) })
}

// Pick takes the changes of as many findings as can be made together, the first
// ones first. It returns the changes by file, and the indexes of the findings.
func Pick(list diag.List, trees func(source.FileID) *Tree) (map[source.FileID][]Change, []int) {
	changes := map[source.FileID][]Change{}
	var taken []int
	for i := range list {
		mends := Mends(&list[i], trees)
		if len(mends) == 0 || slices.ContainsFunc(mends, func(f FileChange) bool {
			return slices.ContainsFunc(changes[f.File], func(c Change) bool { return Clash(c, f.Change) })
		}) {
			continue
		}
		taken = append(taken, i)
		for _, f := range mends {
			if !slices.Contains(changes[f.File], f.Change) {
				changes[f.File] = append(changes[f.File], f.Change)
			}
		}
	}
	return changes, taken
}

// without is the removal of a text with the space before it, and with its line
// where nothing else stands on it.
func (t *Tree) without(c Change) Change {
	if c.Start < 0 || c.End > len(t.src) || c.Start > c.End {
		return c
	}
	for c.Start > 0 && (t.src[c.Start-1] == ' ' || t.src[c.Start-1] == '\t') {
		c.Start--
	}
	begins := c.Start == 0 || t.src[c.Start-1] == '\n'
	if rest := t.src[c.End:]; begins && bytes.HasPrefix(rest, []byte("\r\n")) {
		c.End += 2
	} else if begins && bytes.HasPrefix(rest, []byte("\n")) {
		c.End++
	}
	return c
}
