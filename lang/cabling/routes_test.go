package cabling

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// routes lists the rows of a routing table as text, and its faults.
func routes(src []byte) (rows, faults []string) {
	errs := Routes(src, func(r *Route) {
		rows = append(rows, fmt.Sprintf("%d: %s %s>%s via %s %d", r.Number, r.At, r.From, r.To, r.Next, r.Priority))
	})
	for _, e := range errs {
		faults = append(faults, fmt.Sprintf("%s @%q", e.Error(), src[e.Start:e.Start+e.Len]))
	}
	return rows, faults
}

func TestRoutes(t *testing.T) {
	const head = "at,from,to,next,priority\n"
	for _, c := range []struct {
		name, src string
		rows      []string
		faults    []string
	}{
		{"plain", head + "l1,g1,g2,s1,3\nl1,*,g2,s2,\nl1,,g3,s2,0\n", []string{"2: l1 g1>g2 via s1 3", "3: l1 >g2 via s2 -1", "4: l1 >g3 via s2 0"}, nil},
		{"no priorities, other order, more columns", "note;next;to;from;at\nx;s1;g2;g1;l1\n", []string{"2: l1 g1>g2 via s1 -1"}, nil},
		{"CRLF and a mark", "\xef\xbb\xbf" + strings.ReplaceAll(head+"l1,g1,g2,s1,3\n", "\n", "\r\n"), []string{"2: l1 g1>g2 via s1 3"}, nil},
		{"capitals", strings.ToUpper(head) + "l1,g1,g2,s1,3\n", []string{"2: l1 g1>g2 via s1 3"}, nil},
		{"quotes", head + "\"l,1\",\"g\"\"1\",g2, s1 ,3\n", []string{`2: l,1 g"1>g2 via s1 3`}, nil},
		{"columns", "at,to\nl1,g1\n", nil, []string{`line 1: there are no columns "from", "next"; the header has at, to @"at,to"`}},
		{"a column", "at,to,next\nl1,g1,s1\n", nil, []string{`line 1: there is no column "from"; the header has at, to, next @"at,to,next"`}},
		{"empty", "", nil, []string{`line 1: list is empty @""`}},
		{"no rows", head, nil, []string{`line 1: list has a header and no rows @"at,from,to,next,priority"`}},
		{"cells", head + "l1,g1,g2\nl1,g1,g2,s1,3\n", []string{"3: l1 g1>g2 via s1 3"}, []string{`line 2: row has 3 cells, the header has 5 @"l1,g1,g2"`}},
		{"names", head + ",g1,g2,s1,\nl1,g1,,s1,\nl1,g1,g2,,\nl1,g\x01,g2,s1,\n", nil, []string{
			`line 2: cell in column "at" is empty @",g1,g2,s1,"`, `line 3: cell in column "to" is empty @"l1,g1,,s1,"`, `line 4: cell in column "next" is empty @"l1,g1,g2,,"`,
			`line 5: cell in column "from" has a control character @"g\x01"`,
		}},
		{"priorities", head + "l1,g1,g2,s1,8\nl1,g1,g2,s1,-1\nl1,g1,g2,s1,3.0\n", nil, []string{`line 2: priority "8" is not one of 0 to 7 (and in 2 more) @"8"`}},
		{"Latin-1", head + "l1,k\xf6ln,g2,s1,\n", nil, []string{`line 2: byte 0xf6 is not UTF-8; the list looks like Latin-1 or Windows-1252 @"\xf6"`}},
		{"UTF-16", string(utf16(head)), nil, []string{`line 1: list is UTF-16 @""`}},
		{"open quote", head + "l1,\"g1,g2,s1,\n", nil, []string{`line 2: quote is never closed @"\""`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, faults := routes([]byte(c.src))
			if d := cmp.Diff(c.rows, rows); d != "" {
				t.Errorf("rows: -want +got\n%s", d)
			}
			if d := cmp.Diff(c.faults, faults); d != "" {
				t.Errorf("faults: -want +got\n%s", d)
			}
		})
	}
}

// TestManyRoutes: a million rows at fault are one finding, and a million good ones come one by one.
func TestManyRoutes(t *testing.T) {
	const n = 1_000_000
	_, faults := routes([]byte("at,from,to,next\n" + strings.Repeat("l1,g1,,s1\n", n)))
	want := []string{`line 2: cell in column "to" is empty (and in 999999 more) @"l1,g1,,s1"`}
	if d := cmp.Diff(want, faults); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	rows := 0
	errs := Routes([]byte("at,from,to,next\n"+strings.Repeat("leaf1,gpu1,gpu2,spine1\n", n)), func(r *Route) {
		if string(r.Next) == "spine1" {
			rows++
		}
	})
	if rows != n || errs != nil {
		t.Errorf("%d rows, errors %v", rows, errs)
	}
}

// FuzzRoutes: whatever the bytes are, reading ends, rows have names, and every place lies inside of the file.
func FuzzRoutes(f *testing.F) {
	for _, s := range []string{"at,from,to,next,priority\nl1,g1,g2,s1,3\nl1,*,g2,s1,\n", "\xef\xbb\xbfto;at;from;next\r\n\"a\";b;;c\r\n", "at,from\n", "\xff\xfea\x00", "at,from,to,next\n\"a"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		inside := func(start, length int) {
			if start < 0 || length < 0 || start+length > len(src) {
				t.Fatalf("place %d+%d is outside of %d bytes", start, length, len(src))
			}
		}
		errs := Routes(src, func(r *Route) {
			for _, b := range [][]byte{r.At, r.To, r.Next} {
				if why := nameFault(b); why != "" {
					t.Fatalf("name %q %s", b, why)
				}
			}
			if r.From != nil && nameFault(r.From) != "" || r.Priority < -1 || r.Priority > 7 || r.Number < 1 {
				t.Fatalf("row %+v", r)
			}
			for _, c := range []Cell{r.Row, r.AtCell, r.FromCell, r.ToCell, r.NextCell} {
				inside(int(c.Start), int(c.Len))
			}
		})
		for _, e := range errs {
			inside(e.Start, e.Len)
			if e.Msg == "" {
				t.Fatal("a fault without a text")
			}
		}
	})
}
