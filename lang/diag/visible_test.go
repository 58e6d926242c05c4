package diag

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// TestVisible: no character that something obeys is left in a text but line ends
// and tabs, and JSON is still the same JSON.
func TestVisible(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x30000; r++ {
		if r < 0xd800 || r > 0xdfff {
			all.WriteRune(r)
		}
	}
	all.WriteString("\xff\x9b[31m\r\n\U000e0041")
	for _, r := range string(Visible([]byte(all.String()))) {
		if hidden(r) && r != '\n' && r != '\t' && r != '\r' {
			t.Errorf("%U is left", r)
		}
	}
	for in, want := range map[string]string{
		"plain\ttext\r\n": "plain\ttext\r\n", "a\rb": `a\u000db`, "\u202eb": `\u202eb`, "\x1b[31m": `\u001b[31m`, "\u009b31m": `\u009b31m`,
		"\xff": `\xff`, "é漢😀": "é漢😀", "\U000e0041": `\udb40\udc41`, "\u2028": `\u2028`, "": "",
	} {
		if got := string(Visible([]byte(in))); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	text := "\u202e\u0085\x7f\U000e0041\u2028é"
	enc, err := json.Marshal(map[string]string{text: text})
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(Visible(enc), &back); err != nil || back[text] != text {
		t.Errorf("%q, %v", back, err)
	}
}

// TestScreen: what is printed is the same however it is cut into pieces, and no
// line of it is a command of a pipeline's runner.
func TestScreen(t *testing.T) {
	for in, want := range map[string][2]string{ // without and with colours
		"a\x1b[31mred\x1b[0m":             {`a\u001b[31mred\u001b[0m`, "a\x1b[31mred\x1b[0m"},
		"\x1b[1;31mb":                     {`\u001b[1;31mb`, "\x1b[1;31mb"},
		"\x1b[8mb\x1b[0;08m":              {`\u001b[8mb\u001b[0;08m`, `\u001b[8mb\u001b[0;08m`},
		"\x1b]0;t\a":                      {`\u001b]0;t\u0007`, `\u001b]0;t\u0007`},
		"\x1b[2J\x1b[999999999999999999m": {`\u001b[2J\u001b[999999999999999999m`, `\u001b[2J\u001b[999999999999999999m`},
		"\u009b31mé漢😀\u202e":              {`\u009b31mé漢😀\u202e`, `\u009b31mé漢😀\u202e`},
		"::set-output\n  ::x\na::b":       {`\u003a:set-output` + "\n  " + `\u003a:x` + "\na::b", `\u003a:set-output` + "\n  " + `\u003a:x` + "\na::b"},
		"a ##[x]##vso[y] # ## c":          {`a \u0023#[x]\u0023#vso[y] # ## c`, `a \u0023#[x]\u0023#vso[y] # ## c`},
		"a\r\nb\rc":                       {"a\r\n" + `b\u000dc`, "a\r\n" + `b\u000dc`},
		"\r::x":                           {`\u000d\u003a:x`, `\u000d\u003a:x`},
		"\xff\xe6\xbc":                    {`\xff\xe6\xbc`, `\xff\xe6\xbc`},
		"ends in ##":                      {"ends in ##", "ends in ##"},
		"\x1b[3":                          {`\u001b[3`, `\u001b[3`},
	} {
		for color, want := range want {
			for size := 1; size <= len(in); size++ {
				s := Screen{Color: func() bool { return color == 1 }}
				var got []byte
				for at := 0; at < len(in); at += size {
					got = append(got, s.Show([]byte(in[at:min(at+size, len(in))]))...)
				}
				if got = append(got, s.Rest()...); string(got) != want {
					t.Errorf("%q in pieces of %d is %q, want %q", in, size, got, want)
				}
			}
		}
	}
	var s Screen
	for r := rune(0); r < unicode.MaxRune; r += 7 {
		for _, x := range string(s.Show([]byte(string(r)))) {
			if hidden(x) && x != '\n' && x != '\t' {
				t.Fatalf("%U is left of %U", x, r)
			}
		}
	}
}
