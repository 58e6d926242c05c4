package verify_test

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/source"
)

// wide is a text as Windows PowerShell redirects it.
func wide(order binary.AppendByteOrder, text string) string {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func TestPlain(t *testing.T) {
	const text = "{\n  \"ports\": \"ü 漢 😀\"\n}\n"
	for name, c := range map[string]struct{ in, want string }{
		"little endian": {wide(binary.LittleEndian, text), text},
		"big endian":    {wide(binary.BigEndian, text), text},
		"marked":        {"\xef\xbb\xbf" + text, text},
		"plain":         {text, text},
		"CR LF":         {"a\r\nb\r\n", "a\r\nb\r\n"},
		"nothing":       {"", ""},
		"a mark alone":  {"\xff\xfe", ""},
		"half a unit":   {"\xff\xfea\x00b", "a"},
		"half a pair":   {"\xff\xfe\x00\xd8", "\ufffd"},
	} {
		if got := string(verify.Plain([]byte(c.in))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWideCaptures: every file of every target goes through it, and a finding
// in one does not point to a line that the file on the disk does not have.
func TestWideCaptures(t *testing.T) {
	dir, d := t.TempDir(), want("tor", 1)
	save(t, filepath.Join(dir, "tor", "state.json"), wide(binary.LittleEndian, "{\n\"ports\": []}\n"))
	save(t, filepath.Join(dir, "tor", "ports", "swp1.txt"), wide(binary.LittleEndian, "9000\n"))
	files := source.NewFiles()
	r, err := captures(dir, "switch.tor", d, fake, files)
	if err != nil || r.Status != verify.InSync {
		t.Fatalf("%+v, %v", r, err)
	}
	save(t, filepath.Join(dir, "tor", "state.json"), wide(binary.LittleEndian, "{"))
	r, err = captures(dir, "switch.tor", d, fake, files)
	if err != nil || len(r.Findings) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if l := r.Findings[0].Labels[0]; !l.Span.IsZero() || l.Where != "state.json" {
		t.Errorf("the finding points to %+v", l)
	}
}
