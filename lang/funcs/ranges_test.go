package funcs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseRange(t *testing.T) {
	tests := []struct{ in, want string }{
		{"swp7", "swp7"},
		{"swp[1-4]", "swp1 swp2 swp3 swp4"},
		{"swp[1-4,9]", "swp1 swp2 swp3 swp4 swp9"},
		{"swp[9,1-2]", "swp9 swp1 swp2"},
		{"swp[7]", "swp7"},
		{"[1-2]", "1 2"},
		{"Ethernet[0-12:4]", "Ethernet0 Ethernet4 Ethernet8 Ethernet12"},
		{"Ethernet[0-11:4,20]", "Ethernet0 Ethernet4 Ethernet8 Ethernet20"},
		{"e[0-3:8]", "e0"},
		{"e[0-3:02]", "e0 e2"},
		{"gpu[08-11]", "gpu08 gpu09 gpu10 gpu11"},
		{"gpu[8-11]", "gpu8 gpu9 gpu10 gpu11"},
		{"gpu[000-002]", "gpu000 gpu001 gpu002"},
		{"gpu[01,05-06,10]", "gpu01 gpu05 gpu06 gpu10"},
		{"smb_[a-c]", "smb_a smb_b smb_c"},
		{"smb[A-C:2]x", "smbAx smbCx"},
		{"p[a,1-2]", "pa p1 p2"},
		{"eth[1-2]/[1-3]", "eth1/1 eth1/2 eth1/3 eth2/1 eth2/2 eth2/3"},
		{"[a-b][0-1][a-b]", "a0a a0b a1a a1b b0a b0b b1a b1b"},
		{"p[9-10]s[9-10]", "p9s9 p9s10 p10s9 p10s10"},
		{"p[9-10][a-b]", "p9a p9b p10a p10b"},
		{"p[9-10][0-1]", "p90 p91 p100 p101"},
		{"p[08-10][08-10]", "p0808 p0809 p0810 p0908 p0909 p0910 p1008 p1009 p1010"},
		{"é[1-2]世", "é1世 é2世"},
		{"a, b", "a, b"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			r, err := ParseRange(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			names, err := r.Names()
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(tt.want, " ")
			if tt.in == tt.want {
				want = []string{tt.in}
			}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkRange(t, r)
		})
	}
}

func TestMembers(t *testing.T) {
	tests := []struct {
		in   string
		at   int
		want Member
	}{
		{"swp7", 0, Member{Name: "swp7"}},
		{"swp[1-4,9]", 4, Member{"swp9", "9", []string{"9"}, 4}},
		{"gpu[01-16]", 6, Member{"gpu07", "07", []string{"07"}, 6}},
		{"Ethernet[1-2]/[1-4]", 6, Member{"Ethernet2/3", "2/3", []string{"2", "3"}, 6}},
		{"[a-b]-[1-2]", 1, Member{"a-2", "a/2", []string{"a", "2"}, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			r, err := ParseRange(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, r.At(tt.at)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestParseRangeErrors(t *testing.T) {
	tests := []struct {
		in   string
		at   int
		want string
	}{
		{"", 0, "empty"},
		{"swp[1-4", 3, "without a closing one"},
		{"swp[", 3, "without a closing one"},
		{"swp[1-", 3, "without a closing one"},
		{"swp[1-4:", 3, "without a closing one"},
		{"swp1-4]", 6, "without an opening one"},
		{"swp[1]]", 6, "without an opening one"},
		{"swp[[1]]", 4, `"["`},
		{"swp[]", 4, "missing"},
		{"swp[1,]", 6, "missing"},
		{"swp[,1]", 4, "missing"},
		{"swp[-4]", 4, "missing"},
		{"swp[1-]", 6, "missing"},
		{"swp[4-1]", 4, "backwards"},
		{"swp[1,9-8]", 6, "backwards"},
		{"swp[b-a]", 4, "backwards"},
		{"swp[a-Z]", 4, "upper and lower case"},
		{"swp[1-a]", 4, "a number and a letter"},
		{"swp[01-9]", 7, "differ in width"},
		{"swp[1-09]", 4, "differ in width"},
		{"swp[01-100]", 7, "differ in width"},
		{"swp[01,2]", 7, "differ in width"},
		{"swp[1-4:0]", 8, "not a number above 0"},
		{"swp[1-4:00]", 8, "not a number above 0"},
		{"swp[1-4:a]", 8, "not a number above 0"},
		{"swp[5:2]", 5, "a range before it"},
		{"swp[1-4:2:2]", 9, "a range before it"},
		{"swp[1-4-8]", 7, `"-" in a range`},
		{"swp[foo]", 4, "not words"},
		{"swp[1 -4]", 5, `" " in a range`},
		{"swp[é]", 4, `"é" in a range`},
		{"swp[1é]", 5, `"é" in a range`},
		{"swp[1-4,3]", 8, "member 3 is named twice"},
		{"swp[a-c,b]", 8, "member b is named twice"},
		{"swp[0-100:6,2-100:4]", 12, "is named twice"},
		{"swp[1-999999999999999999,5-999999999999999999:3]", 25, "is named twice"},
		{"p[1-11][1-11]", 7, "two ways"},
		{"p[1-11]1[1-11]", 8, "two ways"},
		{"p[1-11][1-2][1-11]", 12, "two ways"},
		{"p[1-1234567890123456789]", 4, "more than 18 digits"},
		{strings.Repeat("x", 5000), 4096, "at most 4096"},
		{strings.Repeat("[1]", 17), 48, "more than 16 ranges"},
	}
	for _, tt := range tests {
		t.Run(clip(tt.in), func(t *testing.T) {
			r, err := ParseRange(tt.in)
			var re *RangeError
			if !errors.As(err, &re) {
				t.Fatalf("got %v, %v", r, err)
			}
			if re.Offset != tt.at || !strings.Contains(re.Msg, tt.want) {
				t.Errorf("error at %d: %q; want at %d: %q", re.Offset, re.Msg, tt.at, tt.want)
			}
		})
	}
}

func TestHugeRanges(t *testing.T) {
	tests := []struct {
		in    string
		count int
		says  string
	}{
		{"swp[1-65537]", 65537, "has 65537 members"},
		{"swp[0-999999999999999999]", 1000000000000000000, "has 1000000000000000000 members"},
		{"a[0-999999999]b[0-999999999]c[0-999999999]", math.MaxInt, "more than"},
		{"a[0-255]b[0-255]c[0-1]", 131072, "has 131072 members"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			r, err := ParseRange(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if r.Len() != tt.count {
				t.Errorf("%d members, want %d", r.Len(), tt.count)
			}
			if _, err := r.Names(); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v lacks %q", err, tt.says)
			}
			if err := r.Each(func(Member) bool { t.Error("called"); return false }); err == nil {
				t.Error("no error")
			}
			last := min(tt.count, math.MaxInt/2) - 1
			if i, ok := r.Index(r.At(last).Name); !ok || i != last {
				t.Errorf("member %d is found at %d, %v", last, i, ok)
			}
		})
	}
	full, err := ParseRange("swp[1-65536]")
	if err != nil {
		t.Fatal(err)
	}
	names, err := full.Names()
	if err != nil || len(names) != MaxRange {
		t.Errorf("%d names, %v", len(names), err)
	}
}

func TestHas(t *testing.T) {
	tests := []struct {
		in, name string
		want     bool
	}{
		{"swp[1-4,9]", "swp9", true},
		{"swp[1-4,9]", "swp5", false},
		{"swp[1-4,9]", "swp01", false},
		{"swp[1-4,9]", "swp", false},
		{"swp[1-4,9]", "swp1s0", false},
		{"swp[1-4,9]", "Swp1", false},
		{"swp[0-12:4]", "swp8", true},
		{"swp[0-12:4]", "swp6", false},
		{"gpu[01-16]", "gpu7", false},
		{"gpu[01-16]", "gpu07", true},
		{"gpu[01-16]", "gpu007", false},
		{"p[a-c]", "pb", true},
		{"p[a-c]", "pd", false},
		{"p[a-c]", "pbb", false},
		{"p[1-11]1", "p111", true},
		{"p[1-11]1", "p1", false},
		{"swp7", "swp7", true},
		{"swp7", "swp", false},
		{"p[0-999999999999999999]", "p1000000000000000000000000000", false},
	}
	for _, tt := range tests {
		r, err := ParseRange(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Has(tt.name); got != tt.want {
			t.Errorf("%s has %s: %v, want %v", tt.in, tt.name, got, tt.want)
		}
	}
	if (Range{}).Has("") || (Range{}).Len() != 0 {
		t.Error("the zero range has a member")
	}
}

// checkRange holds what must be true of any range that parses.
func checkRange(t failer, r Range) {
	t.Helper()
	if r.Len() < 1 {
		t.Fatalf("%q has %d members", r, r.Len())
	}
	if r.Len() > 5000 {
		return
	}
	names, err := r.Names()
	if err != nil || len(names) != r.Len() {
		t.Fatalf("%q has %d members, but %d names (%v)", r, r.Len(), len(names), err)
	}
	i := 0
	seen := map[string]bool{}
	err = r.Each(func(m Member) bool {
		if m.Index != i || m.Name != names[i] || m.Key != strings.Join(m.Keys, "/") || seen[m.Name] {
			t.Fatalf("%q: member %d is %+v, its name %q; seen before: %v", r, i, m, names[i], seen[m.Name])
		}
		if at, ok := r.Index(m.Name); !ok || at != i {
			t.Fatalf("%q: member %d, %q, is found at %d, %v", r, i, m.Name, at, ok)
		}
		if !cmp.Equal(m, r.At(i)) {
			t.Fatalf("%q: member %d is %+v and %+v", r, i, m, r.At(i))
		}
		seen[m.Name] = true
		i++
		return true
	})
	if err != nil || i != len(names) {
		t.Fatalf("%q: Each made %d members of %d (%v)", r, i, len(names), err)
	}
	for _, not := range []string{"", r.String() + "x", names[0] + "0", "0" + names[0]} {
		if r.Has(not) != slices.Contains(names, not) {
			t.Fatalf("%q: Has(%q) is %v", r, not, r.Has(not))
		}
	}
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// Two progressions meet exactly where trying all their terms says so.
func TestCommon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) item {
			return item{
				lo:   rapid.Int64Range(0, 60).Draw(t, name+" lo"),
				step: rapid.Int64Range(1, 15).Draw(t, name+" step"),
				n:    rapid.Int64Range(1, 20).Draw(t, name+" n"),
			}
		}
		a, b := draw("a"), draw("b")
		terms := func(it item) []int64 {
			var list []int64
			for i := range it.n {
				list = append(list, it.lo+i*it.step)
			}
			return list
		}
		want := slices.IndexFunc(terms(a), func(v int64) bool { return slices.Contains(terms(b), v) })
		v, got := common(a, b)
		if got != (want >= 0) || got && v != terms(a)[want] {
			t.Fatalf("%+v and %+v: %d, %v", a, b, v, got)
		}
	})
}

// What is refused as ambiguous or repeated is the only way to name twice.
func TestRandomRanges(t *testing.T) {
	parsed := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 3).Draw(t, "sets") {
			b.WriteString(rapid.SampledFrom([]string{"", "p", "1", "s1", "/"}).Draw(t, "text"))
			lo := rapid.IntRange(0, 12).Draw(t, "lo")
			fmt.Fprintf(&b, "[%d-%d", lo, lo+rapid.IntRange(0, 12).Draw(t, "more"))
			if rapid.Bool().Draw(t, "stepped") {
				fmt.Fprintf(&b, ":%d", rapid.IntRange(1, 4).Draw(t, "step"))
			}
			b.WriteString(rapid.SampledFrom([]string{"", ",40", ",a", ",a-c", ",5"}).Draw(t, "second") + "]")
		}
		r, err := ParseRange(b.String())
		if err != nil {
			return
		}
		parsed++
		checkRange(t, r)
	})
	if parsed < 10 {
		t.Errorf("only %d ranges parsed", parsed)
	}
}

func FuzzParseRange(f *testing.F) {
	for _, s := range []string{"swp[1-4,9]", "Ethernet[0-252:4]", "gpu[01-16]", "smb_[a-b]", "p[9-10][0-1]", "eth[1-2]/[1-4]", "[", "]", "a[0-999999999999999999]", "[1-9:3,2-9:3,3-9:3]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRange(s)
		if err != nil {
			var re *RangeError
			if !errors.As(err, &re) || re.Offset < 0 || re.Offset > len(s) || re.Msg == "" {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		checkRange(t, r)
	})
}

func BenchmarkRange(b *testing.B) {
	r, err := ParseRange("Ethernet[1-64]/[1-8]")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Each", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = r.Each(func(Member) bool { return true })
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*r.Len()), "ns/member")
	})
	b.Run("Has", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Has("Ethernet63/7")
		}
	})
}
