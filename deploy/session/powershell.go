package session

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"path"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rocec/rocec/targets/emit"
)

// Of powershell.exe, about_PowerShell_exe: -EncodedCommand takes base64 of UTF-16LE.
const encodedPrefix = "powershell.exe -NoProfile -NonInteractive -EncodedCommand "

// cmd.exe takes 8191 characters (learn.microsoft.com, "Command prompt line string
// limitation"); sshd puts its own path and /c before ours.
const longestLine = 8191 - 100

// windows is a session with OpenSSH for Windows, whose shell of the login is
// cmd.exe, or PowerShell where DefaultShell says so.
type windows struct {
	*link
	asked  bool
	nested bool // PowerShell takes our command lines
}

// Run runs PowerShell.
func (s *windows) Run(ctx context.Context, command string, stdin []byte) (Output, error) {
	line, err := PowerShellLine(command)
	if err != nil {
		return Output{}, toError(s.spec.Device, opRun, KindLocal, err, s.secrets)
	}
	return s.do(ctx, opRun, func() (Output, error) { return s.shell(line, stdin) })
}

// Configure copies the files and then runs PowerShell in Dir.
func (s *windows) Configure(ctx context.Context, c Change) (Output, error) {
	line, err := c.inPowerShell()
	if err != nil {
		return Output{}, toError(s.spec.Device, opConfigure, KindLocal, err, s.secrets)
	}
	if err := s.copy(ctx, c, windowsFiles{}); err != nil || c.Command == "" {
		return Output{}, err
	}
	return s.do(ctx, opConfigure, func() (Output, error) { return s.shell(line, nil) })
}

// inPowerShell is the line that runs the command of a change in its folder.
func (c *Change) inPowerShell() (string, error) {
	if err := c.check(); err != nil {
		return "", err
	}
	script := c.Command
	if c.Folder != "" {
		q, err := emit.PowerShellText(path.Join(c.Folder, c.Dir))
		if err != nil {
			return "", err
		}
		script = "Set-Location -LiteralPath " + q + " -ErrorAction Stop\n" + c.Command
	}
	return PowerShellLine(script)
}

// shell runs a line that starts PowerShell. Where PowerShell takes the line too,
// every code other than 0 would come back as 1 (PowerShell/PowerShell#11461),
// unless it is passed on. Which shell it is tells a variable that cmd.exe replaces.
func (s *windows) shell(line string, stdin []byte) (Output, error) {
	if !s.asked {
		out, err := s.exec("echo %COMSPEC%", nil)
		if err != nil {
			return Output{}, err
		}
		s.asked, s.nested = true, strings.TrimSpace(string(out.Stdout)) == "%COMSPEC%"
	}
	if s.nested {
		line += "; exit $LASTEXITCODE"
	}
	out, err := s.exec(line, stdin)
	out.Stderr = decodeCLIXML(out.Stderr)
	return out, err
}

// PowerShellLine is the command line that runs a script in Windows PowerShell,
// whatever shell takes it. The code is that of the last program or script file
// that ran; where none did, 1 after a last command that failed and 0 else.
func PowerShellLine(script string) (string, error) {
	if !utf8.ValidString(script) || strings.ContainsRune(script, 0) {
		return "", failed(KindLocal, "", "the command for PowerShell is not text")
	}
	line := encodedPrefix + encodeUTF16(powerShellStart+script+powerShellEnd)
	if len(line) > longestLine {
		return "", failed(KindLocal, "put the commands in a file and run that", "the command for PowerShell is too long for cmd.exe: %d characters, %d fit", len(line), longestLine)
	}
	return line, nil
}

// What goes before and after a script. Progress bars would come back on stderr,
// as CLIXML. Whether the last command did well is asked first, since every
// statement answers that anew.
const (
	powerShellStart = "$ProgressPreference = 'SilentlyContinue'\n$global:LASTEXITCODE = $null\n"
	powerShellEnd   = "\n$well = $?\nif ($null -ne $global:LASTEXITCODE) { exit $global:LASTEXITCODE }\nif (-not $well) { exit 1 }\nexit 0"
)

func encodeUTF16(s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// windowsFiles copies to Windows. There are no modes: folders hand down who may
// read what is in them.
type windowsFiles struct{}

func (windowsFiles) modes() bool { return false }

var drive = regexp.MustCompile(`^[A-Za-z]:/[^\x00]*$`)

func (windowsFiles) path(p string) (string, error) {
	if !drive.MatchString(p) {
		return "", failed(KindLocal, "", "the folder %q does not begin with a drive, as C:/ does", p)
	}
	return "/" + path.Clean(p), nil
}

func (windowsFiles) without(_ *Change, why error) error {
	return failed(KindRefused, "switch on the sftp subsystem in sshd_config", "the device has no SFTP: %w", why)
}
