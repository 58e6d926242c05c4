package session_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/pkg/sftp"

	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

const powershell = "powershell.exe -NoProfile -NonInteractive -EncodedCommand "

// decoded is the script of a command line, read as powershell.exe does.
func decoded(t testing.TB, line string) string {
	t.Helper()
	coded, ok := strings.CutPrefix(line, powershell)
	b, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	units := make([]uint16, len(b)/2)
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, units); err != nil {
		t.Fatal(err)
	}
	return string(utf16.Decode(units))
}

// host is a Windows host with OpenSSH.
type host struct {
	nested bool // DefaultShell is PowerShell
	exec   func(c *call) int

	mu    sync.Mutex
	lines []string
}

func (h *host) run(c *call) int {
	h.mu.Lock()
	h.lines = append(h.lines, c.command)
	h.mu.Unlock()
	if c.command == "echo %COMSPEC%" {
		if h.nested {
			fmt.Fprint(c.stdout, "%COMSPEC%\r\n")
		} else {
			fmt.Fprint(c.stdout, `C:\Windows\system32\cmd.exe`+"\r\n")
		}
		return 0
	}
	return h.exec(c)
}

func TestPowerShell(t *testing.T) {
	for _, nested := range []bool{false, true} {
		t.Run(fmt.Sprintf("PowerShell takes lines: %v", nested), func(t *testing.T) {
			h := &host{nested: nested, exec: func(c *call) int {
				in, _ := io.ReadAll(c.stdin)
				fmt.Fprintf(c.stdout, "%s", in)
				fmt.Fprint(c.stderr, "#< CLIXML\r\n<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\"><S S=\"Error\">not there_x000D__x000A_</S></Objs>")
				return 10
			}}
			s := (&server{exec: h.run}).start(t)
			to := s.spec(t)
			to.Shell = targets.PowerShell
			sess := dial(t, client(t), to)
			for range 2 {
				out, err := sess.Run(t.Context(), "Get-NetAdapter 'a\u00e9\U0001F600'", []byte("in"))
				if err != nil {
					t.Fatal(err)
				}
				want := session.Output{Stdout: []byte("in"), Stderr: []byte("not there\r\n"), Exit: 10}
				if diff := cmp.Diff(want, out); diff != "" {
					t.Error(diff)
				}
			}
			if len(h.lines) != 3 {
				t.Fatalf("%q", h.lines)
			}
			line := h.lines[2]
			if nested {
				var ok bool
				if line, ok = strings.CutSuffix(line, "; exit $LASTEXITCODE"); !ok {
					t.Errorf("the code is not passed on: %s", line)
				}
			}
			want := "$ProgressPreference = 'SilentlyContinue'\n$global:LASTEXITCODE = $null\n" +
				"Get-NetAdapter 'a\u00e9\U0001F600'\n" +
				"$well = $?\nif ($null -ne $global:LASTEXITCODE) { exit $global:LASTEXITCODE }\nif (-not $well) { exit 1 }\nexit 0"
			if diff := cmp.Diff(want, decoded(t, line)); diff != "" {
				t.Error(diff)
			}
			if script, ok := session.PowerShellScript(line); !ok || script != "Get-NetAdapter 'a\u00e9\U0001F600'" {
				t.Errorf("%v, %q", ok, script)
			}
		})
	}
}

func TestPowerShellConfigure(t *testing.T) {
	disk := sftp.InMemHandler()
	h := &host{exec: func(*call) int { return 0 }}
	s := (&server{exec: h.run, sftp: func(ch io.ReadWriteCloser) error { return sftp.NewRequestServer(ch, disk).Serve() }}).start(t)
	to := s.spec(t)
	to.Shell = targets.PowerShell
	sess := dial(t, client(t), to)
	c := session.Change{
		Folder: "C:/ProgramData/rocec/it's", Dir: "host1", Command: "& ./kit.ps1 begin",
		Files: []session.File{{Path: "host1/kit.ps1", Mode: 0o400, Bytes: []byte("exit 0\r\n")}},
	}
	for range 2 {
		if _, err := sess.Configure(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	script, ok := session.PowerShellScript(h.lines[len(h.lines)-1])
	if want := "Set-Location -LiteralPath 'C:/ProgramData/rocec/it''s/host1' -ErrorAction Stop\n& ./kit.ps1 begin"; !ok || script != want {
		t.Errorf("%q, want %q", script, want)
	}
	get := sftp.NewRequest("Get", "/C:/ProgramData/rocec/it's/host1/kit.ps1")
	get.Flags = 1 // read
	r, err := disk.FileGet.Fileread(get)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, _ := r.ReadAt(b, 0); string(b[:n]) != "exit 0\r\n" {
		t.Errorf("%q", b[:n])
	}
	for _, folder := range []string{"/r", "rocec", "C:rocec", `\\server\share`} {
		c.Folder = folder
		if _, err := sess.Configure(t.Context(), c); err == nil || kindOf(t, err) != session.KindLocal {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

func TestPowerShellWithoutSFTP(t *testing.T) {
	h := &host{exec: func(*call) int { return 0 }}
	s := (&server{exec: h.run}).start(t)
	to := s.spec(t)
	to.Shell = targets.PowerShell
	sess := dial(t, client(t), to)
	_, err := sess.Configure(t.Context(), session.Change{Folder: "C:/r", Command: "x"})
	if err == nil || kindOf(t, err) != session.KindRefused || !strings.Contains(err.Error(), "no SFTP") || len(h.lines) > 0 {
		t.Errorf("%v %q", err, h.lines)
	}
}

func TestPowerShellTooLong(t *testing.T) {
	h := &host{exec: func(*call) int { return 0 }}
	s := (&server{exec: h.run}).start(t)
	to := s.spec(t)
	to.Shell = targets.PowerShell
	sess := dial(t, client(t), to)
	for _, command := range []string{strings.Repeat("x", 3000), "a\x00b", "\xff"} {
		if _, err := sess.Run(t.Context(), command, nil); err == nil || kindOf(t, err) != session.KindLocal {
			t.Errorf("%.20q: %v", command, err)
		}
	}
	if _, err := sess.Run(t.Context(), strings.Repeat("x", 2500), nil); err != nil {
		t.Error(err)
	}
	for _, l := range h.lines {
		if len(l) > 8191 {
			t.Errorf("a line of %d characters", len(l))
		}
	}
}

func FuzzPowerShellLine(f *testing.F) {
	for _, s := range []string{"", "Get-NetAdapter", "'\u2019'", "\U0001F600", "a\nb", "\xff", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		line, err := session.PowerShellLine(script)
		if err != nil {
			return
		}
		if got, ok := session.PowerShellScript(line); !ok || got != script {
			t.Errorf("%q became %q", script, got)
		}
		if strings.ContainsAny(line, "\"'%&|<>^;\r\n") || len(line) > 8191 {
			t.Errorf("not safe for cmd.exe: %q", line)
		}
		session.PowerShellScript(script)
	})
}
