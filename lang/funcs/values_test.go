package funcs

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// one runs a parser of one number and prints what it gives, or "error: ...".
func one[T any](parse func(string) (T, error)) func(string) string {
	return func(s string) string {
		v, err := parse(s)
		if err != nil {
			return "error: " + err.Error()
		}
		return fmt.Sprintf("%v", v)
	}
}

func TestParse(t *testing.T) {
	alpha := func(s string) string {
		num, den, err := ParseAlpha(s)
		if err != nil {
			return "error: " + err.Error()
		}
		return fmt.Sprintf("%d/%d", num, den)
	}
	tests := []struct {
		name  string
		parse func(string) string
		in    string
		want  string // "error: " and a part of the message
	}{
		{"bytes", one(ParseBytes), "150KB", "150000"},
		{"bytes", one(ParseBytes), "150KiB", "153600"},
		{"bytes", one(ParseBytes), "79248B", "79248"},
		{"bytes", one(ParseBytes), "79248", "79248"},
		{"bytes", one(ParseBytes), "1.5MB", "1500000"},
		{"bytes", one(ParseBytes), "1.5MiB", "1572864"},
		{"bytes", one(ParseBytes), "0.000000001GB", "1"},
		{"bytes", one(ParseBytes), "2GiB", "2147483648"},
		{"bytes", one(ParseBytes), "3GB", "3000000000"},
		{"bytes", one(ParseBytes), "1.0000000000000000000000000000", "1"},
		{"bytes", one(ParseBytes), "0", "0"},
		{"bytes", one(ParseBytes), "0.0", "0"},
		{"bytes", one(ParseBytes), "007KB", "7000"},
		{"bytes", one(ParseBytes), "0.5B", "error: whole number of bytes"},
		{"bytes", one(ParseBytes), "1.0001KB", "error: whole number of bytes"},
		{"bytes", one(ParseBytes), "150kb", `error: size "150kb" is not understood: write a plain number of bytes or one with B, KB`},
		{"bytes", one(ParseBytes), "150 KB", "error: not understood"},
		{"bytes", one(ParseBytes), "-1", "error: not understood"},
		{"bytes", one(ParseBytes), "", "error: not understood"},
		{"bytes", one(ParseBytes), ".5", "error: not understood"},
		{"bytes", one(ParseBytes), "5.", "error: not understood"},
		{"bytes", one(ParseBytes), "5.KB", "error: not understood"},
		{"bytes", one(ParseBytes), "1e3", "error: not understood"},
		{"bytes", one(ParseBytes), "1_000", "error: not understood"},
		{"bytes", one(ParseBytes), "999999999999999999GiB", "error: too large"},
		{"bytes", one(ParseBytes), "10000000000GB", "error: too large"},
		{"bytes", one(ParseBytes), "99999999999999999999", "error: too large"},
		{"bytes", one(ParseBytes), "0.0000000000000000001GB", "error: too many digits"},
		{"bytes", one(ParseBytes), strings.Repeat("x", 1000), `error: xxx..." is not`},

		{"speed", one(ParseSpeed), "25G", "25000"},
		{"speed", one(ParseSpeed), "400G", "400000"},
		{"speed", one(ParseSpeed), "1.6T", "1600000"},
		{"speed", one(ParseSpeed), "100M", "100"},
		{"speed", one(ParseSpeed), "2.5G", "2500"},
		{"speed", one(ParseSpeed), "25", "error: write a number with M, G or T"},
		{"speed", one(ParseSpeed), "25g", "error: not understood"},
		{"speed", one(ParseSpeed), "0G", "error: is zero"},
		{"speed", one(ParseSpeed), "0.0001G", "error: whole number of Mbit/s"},

		{"length", one(ParseLength), "3m", "3000"},
		{"length", one(ParseLength), "0.5m", "500"},
		{"length", one(ParseLength), "1.5km", "1500000"},
		{"length", one(ParseLength), "0m", "0"},
		{"length", one(ParseLength), "50cm", "error: with m or km"},
		{"length", one(ParseLength), "3", "error: with m or km"},
		{"length", one(ParseLength), "0.0001m", "error: millimetres"},

		{"time", one(ParseTime), "200ms", "200000"},
		{"time", one(ParseTime), "1s", "1000000"},
		{"time", one(ParseTime), "50us", "50"},
		{"time", one(ParseTime), "10m", "600000000"},
		{"time", one(ParseTime), "4h", "14400000000"},
		{"time", one(ParseTime), "1.5ms", "1500"},
		{"time", one(ParseTime), "0.5us", "error: microseconds"},
		{"time", one(ParseTime), "200", "error: us, ms, s, m or h"},

		{"delay", one(ParseDelay), "250ns", "250"},
		{"delay", one(ParseDelay), "1.5us", "1500"},
		{"delay", one(ParseDelay), "2ms", "2000000"},
		{"delay", one(ParseDelay), "0.5ns", "error: nanoseconds"},
		{"delay", one(ParseDelay), "2s", "error: ns, us or ms"},
		{"delay", one(ParseDelay), "250", "error: ns, us or ms"},

		{"dscp", one(ParseDSCP), "0", "0"},
		{"dscp", one(ParseDSCP), "63", "63"},
		{"dscp", one(ParseDSCP), "026", "26"},
		{"dscp", one(ParseDSCP), "AF31", "26"},
		{"dscp", one(ParseDSCP), "af11", "10"},
		{"dscp", one(ParseDSCP), "Af43", "38"},
		{"dscp", one(ParseDSCP), "cs0", "0"},
		{"dscp", one(ParseDSCP), "CS7", "56"},
		{"dscp", one(ParseDSCP), "ef", "46"},
		{"dscp", one(ParseDSCP), "VA", "44"},
		{"dscp", one(ParseDSCP), "le", "1"},
		{"dscp", one(ParseDSCP), "64", "error: 0 to 63"},
		{"dscp", one(ParseDSCP), "9999", "error: 0 to 63"},
		{"dscp", one(ParseDSCP), "cs8", "error: cs0 to cs7"},
		{"dscp", one(ParseDSCP), "af14", "error: af11 to af43"},
		{"dscp", one(ParseDSCP), "af51", "error: af11 to af43"},
		{"dscp", one(ParseDSCP), "af30", "error: af11 to af43"},
		{"dscp", one(ParseDSCP), "efx", "error: ef, va, le"},
		{"dscp", one(ParseDSCP), "\x05f", "error: ef, va, le"},
		{"dscp", one(ParseDSCP), "", "error: write"},
		{"dscp", one(ParseDSCP), "e", "error: write"},
		{"dscp", one(ParseDSCP), "4.0", "error: write"},

		{"alpha", alpha, "8", "8/1"},
		{"alpha", alpha, "1/8", "1/8"},
		{"alpha", alpha, "2/16", "1/8"},
		{"alpha", alpha, "0.125", "1/8"},
		{"alpha", alpha, "1.5", "3/2"},
		{"alpha", alpha, "0", "error: is zero"},
		{"alpha", alpha, "0/8", "error: is zero"},
		{"alpha", alpha, "1/0", "error: divides by zero"},
		{"alpha", alpha, "0.5/2", "error: whole numbers"},
		{"alpha", alpha, "1/2/3", "error: not understood"},
		{"alpha", alpha, "1/", "error: not understood"},
		{"alpha", alpha, "1:8", "error: not understood"},
		{"alpha", alpha, "", "error: write a number above 0"},

		{"share", one(ParsePercentOrSpeed), "40", "{0 40000}"},
		{"share", one(ParsePercentOrSpeed), "12.5", "{0 12500}"},
		{"share", one(ParsePercentOrSpeed), "100", "{0 100000}"},
		{"share", one(ParsePercentOrSpeed), "25G", "{25000 0}"},
		{"share", one(ParsePercentOrSpeed), "0", "error: above 0"},
		{"share", one(ParsePercentOrSpeed), "101", "error: up to 100"},
		{"share", one(ParsePercentOrSpeed), "0.0001", "error: three decimals"},
		{"share", one(ParsePercentOrSpeed), "40%", "error: percent sign"},
		{"share", one(ParsePercentOrSpeed), "fast", "error: a speed like"},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+clip(tt.in), func(t *testing.T) {
			got := tt.parse(tt.in)
			part, fails := strings.CutPrefix(tt.want, "error: ")
			if fails && strings.HasPrefix(got, "error: ") && strings.Contains(got, part) {
				return
			}
			if got != tt.want {
				t.Errorf("%q gives %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}

// The 21 names of the registry that the language takes, against their numbers
// computed from class selector and drop precedence.
func TestDSCPNames(t *testing.T) {
	for class := range 8 {
		if v, err := ParseDSCP(fmt.Sprintf("CS%d", class)); err != nil || int(v) != class<<3 {
			t.Errorf("CS%d is %d, %v", class, v, err)
		}
		for drop := range 8 {
			v, err := ParseDSCP(fmt.Sprintf("AF%d%d", class, drop))
			exists := class >= 1 && class <= 4 && drop >= 1 && drop <= 3
			if (err == nil) != exists || exists && int(v) != class<<3|drop<<1 {
				t.Errorf("AF%d%d is %d, %v", class, drop, v, err)
			}
		}
	}
}

func TestParsedValuesScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 999_999_999_999).Draw(t, "thousandths")
		s := fmt.Sprintf("%d.%03d", n/1000, n%1000)
		if got, err := ParseBytes(s + "MB"); err != nil || got != n*1000 {
			t.Fatalf("%sMB is %d, %v; want %d", s, got, err, n*1000)
		}
		if got, err := ParseLength(s + "m"); err != nil || got != n {
			t.Fatalf("%sm is %d mm, %v; want %d", s, got, err, n)
		}
		if got, err := ParseTime(s + "ms"); err != nil || got != n {
			t.Fatalf("%sms is %d us, %v; want %d", s, got, err, n)
		}
	})
}

func TestParsersDoNotAllocate(t *testing.T) {
	parsers := map[string]func(){
		"bytes":  func() { _, _ = ParseBytes("150KiB") },
		"speed":  func() { _, _ = ParseSpeed("1.6T") },
		"length": func() { _, _ = ParseLength("0.5m") },
		"time":   func() { _, _ = ParseTime("200ms") },
		"delay":  func() { _, _ = ParseDelay("250ns") },
		"dscp":   func() { _, _ = ParseDSCP("af31") },
		"alpha":  func() { _, _, _ = ParseAlpha("1/8") },
		"share":  func() { _, _ = ParsePercentOrSpeed("12.5") },
		"range":  func() { _, _ = ParseRange("swp7") },
	}
	for name, f := range parsers {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	r, err := ParseRange("Ethernet[0-252:4]/[01-16]")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { r.Has("Ethernet248/07") }); n != 0 {
		t.Errorf("Has: %v allocations", n)
	}
}

func FuzzParseBytes(f *testing.F) {
	for _, s := range []string{"150KB", "1.5MiB", "79248", "0.000000001GB", "999999999999999999GiB", "1.", "-1", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseBytes(s)
		if n < 0 || err != nil && n != 0 {
			t.Fatalf("%q gives %d, %v", s, n, err)
		}
		if err != nil {
			return
		}
		if again, err := ParseBytes(fmt.Sprint(n)); err != nil || again != n {
			if n >= 1e18 { // more digits than are read
				return
			}
			t.Fatalf("%q gives %d, which gives %d, %v", s, n, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	benchmarks := []struct {
		name string
		f    func()
	}{
		{"bytes", func() { _, _ = ParseBytes("150KiB") }},
		{"bytes-fraction", func() { _, _ = ParseBytes("1.5MB") }},
		{"speed", func() { _, _ = ParseSpeed("400G") }},
		{"length", func() { _, _ = ParseLength("0.5m") }},
		{"time", func() { _, _ = ParseTime("200ms") }},
		{"dscp", func() { _, _ = ParseDSCP("af31") }},
		{"alpha", func() { _, _, _ = ParseAlpha("1/8") }},
		{"share", func() { _, _ = ParsePercentOrSpeed("25G") }},
		{"range-plain", func() { _, _ = ParseRange("swp7") }},
		{"range", func() { _, _ = ParseRange("swp[1-64]") }},
	}
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bm.f()
			}
		})
	}
}
