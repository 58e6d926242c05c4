package source

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestLocate(t *testing.T) {
	src := "ab\r\né\tx\n\n\xffz"
	for _, c := range []struct {
		offset uint32
		want   Position
	}{
		{0, Position{1, 1, 0}},
		{2, Position{1, 3, 2}},
		{3, Position{1, 4, 3}},
		{4, Position{2, 1, 4}},
		{6, Position{2, 2, 6}},
		{7, Position{2, 3, 7}},
		{8, Position{2, 4, 8}},
		{9, Position{3, 1, 9}},
		{10, Position{4, 1, 10}},
		{11, Position{4, 2, 11}},
		{12, Position{4, 3, 12}},
		{99, Position{4, 3, 12}},
	} {
		if got := lineStarts([]byte(src)).locate([]byte(src), c.offset); got != c.want {
			t.Errorf("offset %d: %+v, want %+v", c.offset, got, c.want)
		}
	}
	if got := lineStarts(nil).locate(nil, 5); got != (Position{1, 1, 0}) {
		t.Errorf("empty: %+v", got)
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("é", 500) + "MARK" + strings.Repeat("x", 500)
	cases := []struct {
		name, src, span string // span is the text to cover
		code, marked    string
		line            int
	}{
		{"one line", "a = 1\nb = 2\n", "b = 2", "b = 2", "b = 2", 2},
		{"part of a line", "a = 1\nb = 2\n", "2", "b = 2", "2", 2},
		{"CRLF", "a = 1\r\nb = 2\r\nc\r\n", "b = 2", "b = 2", "b = 2", 2},
		{"over lines with CRLF", "x {\r\n y\r\n}\r\n", "x {\r\n y\r\n}", "x {\n y\n}", "x {\n y\n}", 1},
		{"with its line end", "a\nb\nc\n", "b\n", "b", "b", 2},
		{"tab", "\tmtu = 1\n", "mtu", "\tmtu = 1", "mtu", 1},
		{"broken UTF-8", "a\xffb = 1\n", "b", "a\ufffdb = 1", "b", 1},
		{"no line end", "a = 1", "1", "a = 1", "1", 1},
		{"many lines", "1\n2\n3\n4\n5\n6\n", "2\n3\n4\n5\n6", "2\n3\n4\n5", "2\n3\n4\n5", 2},
		{"huge line", long, "MARK", "..." + strings.Repeat("é", 40) + "MARK" + strings.Repeat("x", 116) + "...", "MARK", 1},
		{"huge span", long, long, strings.Repeat("é", 160) + "...", strings.Repeat("é", 160), 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			start := strings.Index(c.src, c.span)
			got := lineStarts([]byte(c.src)).excerpt([]byte(c.src), uint32(start), uint32(start+len(c.span)))
			if diff := cmp.Diff(c.code, got.Code); diff != "" {
				t.Errorf("code (-want +got):\n%s", diff)
			}
			if marked := got.Code[got.HighlightStart:got.HighlightEnd]; marked != c.marked {
				t.Errorf("marked %q, want %q", marked, c.marked)
			}
			if got.StartLine != c.line {
				t.Errorf("line %d, want %d", got.StartLine, c.line)
			}
		})
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("a = 1\r\nb = \xff\n\n"), uint32(3), uint32(9))
	f.Add([]byte(strings.Repeat("é", 300)), uint32(101), uint32(5))
	f.Add([]byte(""), uint32(0), uint32(1<<31))
	f.Fuzz(func(t *testing.T, src []byte, start, length uint32) {
		s := lineStarts(src).excerpt(src, start, start+length)
		if s.HighlightStart < 0 || s.HighlightStart > s.HighlightEnd || s.HighlightEnd > len(s.Code) {
			t.Fatalf("highlight %d..%d of %d bytes", s.HighlightStart, s.HighlightEnd, len(s.Code))
		}
		if !utf8.ValidString(s.Code) || !utf8.ValidString(s.Code[:s.HighlightStart]) || !utf8.ValidString(s.Code[:s.HighlightEnd]) {
			t.Fatalf("%q is cut inside a character", s.Code)
		}
		if n := strings.Count(s.Code, "\n") + 1; n > snippetLines {
			t.Fatalf("%d lines", n)
		}
		for line := range strings.SplitSeq(s.Code, "\n") {
			if n := utf8.RuneCountInString(line); n > snippetWidth+2*len(ellipsis) {
				t.Fatalf("line of %d characters", n)
			}
		}
		p := lineStarts(src).locate(src, start)
		if p.Line != s.StartLine || p.Column < 1 || p.Byte > uint32(len(src)) {
			t.Fatalf("position %+v, snippet starts at line %d", p, s.StartLine)
		}
	})
}

func TestView(t *testing.T) {
	disk := map[string]string{"a.hcl": "x = 1\ny = 2\n", "b.hcl": "changed since"}
	files := NewFiles()
	a := files.Add("a.hcl", []byte(disk["a.hcl"]))
	b := files.Add("b.hcl", []byte("as it was"))
	c := files.Add("c.hcl", []byte("gone"))
	reads := 0
	v := &View{Files: files, Read: func(name string) ([]byte, error) {
		reads++
		if s, ok := disk[name]; ok {
			return []byte(s), nil
		}
		return nil, errors.New("no such file")
	}}
	span := Span{File: a, Start: 6, Len: 1}
	start, end, ok := v.Range(span)
	if !ok || start != (Position{2, 1, 6}) || end != (Position{2, 2, 7}) {
		t.Errorf("range %v %v %v", start, end, ok)
	}
	if s, ok := v.Snippet(span); !ok || s.Code != "y = 2" {
		t.Errorf("snippet %+v %v", s, ok)
	}
	for _, id := range []FileID{b, c, 0, 77} {
		for range 2 {
			if _, ok := v.Snippet(Span{File: id}); ok {
				t.Errorf("file %d is shown", id)
			}
		}
	}
	if v.Name(b) != "b.hcl" || v.Name(c) != "c.hcl" {
		t.Errorf("names %q, %q", v.Name(b), v.Name(c))
	}
	if reads != 3 {
		t.Errorf("%d reads of 3 files", reads)
	}
	files.Add("b.hcl", []byte("changed since")) // compiled anew
	if s, ok := v.Snippet(Span{File: b}); !ok || s.Code != "changed since" {
		t.Errorf("the new digest is not taken: %+v %v", s, ok)
	}
	var none *View
	if _, _, ok := none.Range(span); ok || none.Name(a) != "" {
		t.Error("a nil view knows something")
	}
}

func TestViewKeepsFewFiles(t *testing.T) {
	files := NewFiles()
	v := &View{Files: files, Read: func(name string) ([]byte, error) { return []byte(name), nil }}
	for i := range 3 * viewFiles {
		name := strings.Repeat("f", i+1)
		v.Snippet(Span{File: files.Add(name, []byte(name))})
	}
	if len(v.cache) != viewFiles {
		t.Errorf("%d files kept", len(v.cache))
	}
}
