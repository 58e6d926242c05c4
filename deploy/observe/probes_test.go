package observe

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rocec/rocec/deploy/verify"
)

// answers is what a script prints.
func answers(nonce string, texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "rocec-%s %d\n%s\n", nonce, i, base64.StdEncoding.EncodeToString([]byte(text)))
	}
	return b.String() + "rocec-" + nonce + " end\n"
}

func TestParse(t *testing.T) {
	whole := answers("n", "one\n\n0", "\n127", "a\nb\n3")
	want := []frame{{[]byte("one\n"), 0}, {[]byte(""), 127}, {[]byte("a\nb"), 3}}
	for name, text := range map[string]string{
		"alone": whole, "between banners": "Welcome to rocec-n 0 day\nrocec-m 0\n" + whole + "bye\n", "last line unended": strings.TrimSuffix(whole, "\n"),
	} {
		got, err := parse([]byte(text), "n", 3)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(frame{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":       {"", "the shell of the device did not run the commands"},
		"other nonce":   {answers("m", "\n0"), "the shell of the device did not run the commands"},
		"cut":           {whole[:len(whole)-10], "the output ended within answer 3 of 3"},
		"out of order":  {strings.Replace(whole, "rocec-n 1", "rocec-n 2", 1), "the output ended within answer 1 of 3"},
		"no code":       {answers("n", "one", "\n0", "\n0"), "answer 1 of 3: it is empty: the device needs head and base64"},
		"no end":        {answers("n", "one\nx", "\n0", "\n0"), "answer 1 of 3: its end is missing"},
		"beyond a byte": {answers("n", "one\n256", "\n0", "\n0"), "answer 1 of 3: its end is missing"},
		"no base64":     {strings.Replace(whole, "rocec-n 0\n", "rocec-n 0\n*", 1), "answer 1 of 3: it is not base64"},
	} {
		if _, err := parse([]byte(c.text), "n", 3); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	long := strings.Repeat("x", verify.MaxCaptureBytes+1)
	for _, text := range []string{long + "\n0", long + "\nxx"} {
		if _, err := parse([]byte(answers("n", text)), "n", 1); err == nil || err.Error() != "answer 1 of 1: it is larger than 25165824 bytes" {
			t.Errorf("one byte too many: %v", err)
		}
	}
	if _, err := parse(make([]byte, maxReadBytes+1), "n", 1); err == nil || err.Error() != "it printed 50331649 bytes, at most 50331648 are read" {
		t.Errorf("more than is read: %v", err)
	}
}

// Whatever a device prints, there are as many answers as questions or none, each
// within its bound, and an answer that was encoded comes out as it was.
func FuzzParse(f *testing.F) {
	f.Add([]byte(answers("n", "one\n0", "\n127")), []byte("text"), byte(0))
	f.Add([]byte("rocec-n 0\nrocec-n 1\nrocec-n end"), []byte("rocec-n 1\n"), byte(255))
	f.Fuzz(func(t *testing.T, out, text []byte, code byte) {
		for n := 1; n < 4; n++ {
			frames, err := parse(out, "n", n)
			if err == nil && len(frames) != n {
				t.Errorf("%d answers to %d questions", len(frames), n)
			}
		}
		got, err := parse([]byte("banner\n"+answers("n", fmt.Sprintf("%s\n%d", text, code))), "n", 1)
		if err != nil || string(got[0].text) != string(text) || got[0].exit != int(code) {
			t.Errorf("%q and %d came out as %v (%v)", text, code, got, err)
		}
	})
}
