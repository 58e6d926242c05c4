package session_test

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/session"
)

const objs = `<Objs Version="1.1.0.1" xmlns="http://schemas.microsoft.com/powershell/2004/04">`

func TestDecodeCLIXML(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"none", "plain\r\n", "plain\r\n"},
		{"empty", "", ""},
		{"error", "#< CLIXML\r\n" + objs + `<S S="Error">a &lt;b&gt;_x000D__x000A_</S><S S="Error">+ c_x000D__x000A_</S></Objs>`, "a <b>\r\n+ c\r\n"},
		{"warning", "#< CLIXML\r\n" + objs + `<S S="warning">careful</S></Objs>`, "careful"},
		{"progress", "#< CLIXML\r\n" + objs + `<Obj S="progress" RefId="0"><MS><S N="Activity">Preparing</S></MS></Obj></Objs>`, ""},
		{"progress, then an error", "#< CLIXML\r\n" + objs + `<Obj S="progress"><MS><S S="Error">no</S></MS></Obj></Objs>` + "\r\n" + objs + `<S S="Error">yes</S></Objs>`, "yes"},
		{"text around", "before\n#< CLIXML\n" + objs + `<S S="Error">x</S></Objs>after`, "before\nxafter"},
		{"two", "#< CLIXML\n" + objs + `<S S="Error">x</S></Objs>` + "#< CLIXML\n" + objs + `<S S="Error">y</S></Objs>`, "xy"},
		{"a pair of units", "#< CLIXML\n" + objs + `<S S="Error">_xD83D__xDE00_ _x00zz_</S></Objs>`, "\U0001F600 _x00zz_"},
		{"broken off", "#< CLIXML\r\n" + objs + `<S S="Error">a`, "#< CLIXML\r\n" + objs + `<S S="Error">a`},
		{"no XML", "#< CLIXML\r\nhello", "#< CLIXML\r\nhello"},
	} {
		if got := string(session.DecodeCLIXML([]byte(c.in))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzCLIXML(f *testing.F) {
	f.Add("#< CLIXML\r\n" + objs + `<S S="Error">a_x000A_</S></Objs>tail`)
	f.Add("#< CLIXML\r\n<Objs><S S='Error'>&#0;</S></Objs>")
	f.Add("x#< CLIXML#< CLIXML<Objs>")
	f.Fuzz(func(t *testing.T, in string) {
		got := string(session.DecodeCLIXML([]byte(in)))
		// What is none of PowerShell's stays.
		before, _, marked := strings.Cut(in, "#< CLIXML")
		if !marked && got != in || !strings.HasPrefix(got, before) {
			t.Errorf("%q became %q", in, got)
		}
	})
}

func FuzzPin(f *testing.F) {
	f.Add("SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU")
	f.Add("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f")
	f.Fuzz(func(t *testing.T, in string) {
		got, err := session.ParsePin(in)
		if err != nil {
			return
		}
		// What a pin is written as pins the same.
		fields := strings.Fields(got)
		if again, err := session.ParsePin(fields[len(fields)-1]); err != nil || !strings.HasSuffix(got, again) {
			t.Errorf("%q, %q, %v", got, again, err)
		}
	})
}

func FuzzPlain(f *testing.F) {
	f.Add("a\x1b[2J\n\xff\uFFFD\u202e")
	f.Fuzz(func(t *testing.T, in string) {
		for _, r := range session.Plain(in) {
			if r < ' ' || r == 0x7f {
				t.Fatalf("%q holds %U", session.Plain(in), r)
			}
		}
	})
}
