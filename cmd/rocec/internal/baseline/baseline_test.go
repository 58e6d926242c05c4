package baseline

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func entries() *rapid.Generator[[]Entry] {
	word := rapid.SampledFrom([]string{"", "a", "b", "x \"y\" <z>", "\n", "é"})
	one := rapid.Custom(func(t *rapid.T) Entry {
		return Entry{
			Folder: word.Draw(t, "folder"), Rule: rapid.SampledFrom([]string{"ROCE101", "ROCE312"}).Draw(t, "rule"),
			Address: word.Draw(t, "address"), Source: word.Draw(t, "source"),
		}
	})
	return rapid.SliceOfN(one, 0, 12)
}

// TestWritten: what is written is read back, covers all that it was written of
// and nothing else, and says so of what is gone.
func TestWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := entries().Draw(t, "entries")
		var b bytes.Buffer
		if err := Write(&b, list); err != nil {
			t.Fatal(err)
		}
		known, wrong := Read(b.Bytes())
		if wrong != nil {
			t.Fatalf("%+v of\n%s", wrong, b.String())
		}
		for _, k := range known {
			if text := b.String()[k.Start : k.Start+k.Len]; text[0] != '{' || !strings.HasSuffix(text, "}") || !strings.Contains(text, k.Rule) {
				t.Fatalf("an entry stands at %q", text)
			}
		}
		var again bytes.Buffer
		kept := make([]Entry, len(known))
		for i, k := range known {
			kept[i] = k.Entry
		}
		if Write(&again, kept); again.String() != b.String() {
			t.Fatalf("written again:\n%s\nwas\n%s", again.String(), b.String())
		}
		for _, folder := range []string{"", "a"} {
			var here []Entry
			for _, e := range list {
				if e.Folder == folder {
					here = append(here, e)
				}
			}
			old, stale := Split(known, folder, here)
			if len(stale) > 0 || bytes.ContainsRune(flags(old), '0') {
				t.Fatalf("known %v, stale %v", old, stale)
			}
			if len(here) == 0 {
				continue
			}
			gone := rapid.IntRange(0, len(here)-1).Draw(t, "gone")
			fresh := Entry{Rule: "ROCE101", Source: "fresh"}
			old, stale = Split(known, folder, append(append([]Entry{fresh}, here[:gone]...), here[gone+1:]...))
			if len(stale) != 1 || stale[0].Count != 1 || stale[0].key() != here[gone].key() || strings.Count(string(flags(old)), "0") != 1 || old[0] {
				t.Fatalf("without %v: known %v, stale %v", here[gone], old, stale)
			}
		}
	})
}

func flags(list []bool) []byte {
	out := make([]byte, len(list))
	for i, b := range list {
		out[i] = '0'
		if b {
			out[i] = '1'
		}
	}
	return out
}

func TestCounts(t *testing.T) {
	known, wrong := Read([]byte(`{"format_version": "1.0", "findings": [{"rule": "R", "count": 3}, {"rule": "R"}]}`))
	if wrong != nil {
		t.Fatal(wrong)
	}
	r := Entry{Rule: "R"}
	old, stale := Split(known, "", []Entry{r, r, r, r, r})
	if string(flags(old)) != "11110" || len(stale) != 0 {
		t.Errorf("%v %v", old, stale)
	}
	old, stale = Split(known, "", []Entry{r})
	if string(flags(old)) != "1" || len(stale) != 1 || stale[0].Count != 3 {
		t.Errorf("%v %v", old, stale)
	}
	if _, stale = Split(known, "elsewhere", nil); len(stale) != 0 {
		t.Errorf("another folder: %v", stale)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ src, at, want string }{
		{``, "", "ends too early"},
		{`[]`, "[", "is an object"},
		{`{`, "", "ends too early"},
		{`{}`, "", "format_version is missing"},
		{`{"format_version": "2.0"}`, `"2.0"`, `format_version is "2.0", this rocec reads "1.0"`},
		{`{"format_version": 1}`, `1`, "cannot unmarshal number"},
		{`{"format_version": "1.0"}`, "", "findings is missing"},
		{`{"format_version": "1.0", "finds": []}`, `"finds"`, `there is no member "finds"`},
		{`{"format_version": "1.0", "findings": {}}`, `{}`, "findings is a list"},
		{`{"format_version": "1.0", "findings": [1]}`, `1`, "an entry is an object"},
		{`{"format_version": "1.0", "findings": [{}]}`, `{}]`, "an entry names its rule"},
		{`{"format_version": "1.0", "findings": [{"rule": "a", "line": 3}]}`, `{"rule"`, "line"},
		{`{"format_version": "1.0", "findings": [{"rule": "a", "count": -1}]}`, `{"rule"`, "not below 0"},
		{`{"format_version": "1.0", "findings": [{"rule": "a", "count": 9223372036854775807}]}`, `{"rule"`, "not above 1000000000"},
		{`{"format_version": "1.0", "findings": [{"rule": "a"} {}]}`, ` {}`, "expected comma"},
		{`{"format_version": "1.0", "findings": []} {}`, `{}`, "stands behind"},
	} {
		list, wrong := Read([]byte(c.src))
		if wrong == nil {
			t.Errorf("%s: read as %v", c.src, list)
			continue
		}
		want := len(c.src)
		if c.at != "" {
			want = strings.LastIndex(c.src, c.at)
		}
		if c.at == "{" || c.at == "[" {
			want = 0
		}
		if !strings.Contains(wrong.Text, c.want) || wrong.Start != want {
			t.Errorf("%s: %q at %d, want %q at %d", c.src, wrong.Text, wrong.Start, c.want, want)
		}
	}
}

// FuzzRead: no text makes it panic or point outside of the file, and what is read
// is written so that it reads back as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format_version": "1.0", "findings": [{"folder": "a", "rule": "R", "address": "x", "source": "y", "count": 2}]}`))
	f.Add([]byte(`{"format_version": "1.0", "findings": [{"rule": "R", "count": 1000000000}, {"rule": "R"}]}`))
	f.Add([]byte("{\"findings\": [ ], \"format_version\":\"1.0\"}\r\n"))
	f.Add([]byte(`{"format_version": "1.0", "findings": [{"rule": "\ud800"}, null]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		list, wrong := Read(src)
		if wrong != nil {
			if wrong.Text == "" || wrong.Start < 0 || wrong.Start > len(src) {
				t.Fatalf("%+v of %d bytes", wrong, len(src))
			}
			return
		}
		kept := make([]Entry, len(list))
		for i, k := range list {
			if k.Start < 0 || k.Len <= 0 || k.Start+k.Len > len(src) || src[k.Start] != '{' {
				t.Fatalf("%+v of %d bytes", k, len(src))
			}
			kept[i] = k.Entry
		}
		var first, second bytes.Buffer
		if err := Write(&first, kept); err != nil {
			t.Fatal(err)
		}
		list, wrong = Read(first.Bytes())
		if wrong != nil {
			t.Fatalf("%+v of\n%s", wrong, first.String())
		}
		kept = kept[:0]
		for _, k := range list {
			kept = append(kept, k.Entry)
		}
		Write(&second, kept)
		if diff := cmp.Diff(first.String(), second.String()); diff != "" {
			t.Fatal(diff)
		}
	})
}
