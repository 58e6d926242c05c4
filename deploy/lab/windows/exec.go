package windows

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/powershell"
)

// Exec runs a command line as OpenSSH for Windows does, whose shell is cmd.exe:
// powershell.exe with a script, a text or an encoded text, and echo, by which a
// shell is told from another. Other programs are not there.
func (m *Machine) Exec(ctx context.Context, command string, _ io.Reader, stdout, stderr io.Writer) int {
	words := words(command)
	if len(words) == 0 {
		return 0
	}
	if len(command) > longestLine {
		lines(stderr)("The command line is too long.")
		return 1
	}
	if strings.EqualFold(words[0], "echo") {
		lines(stdout)(strings.NewReplacer("%COMSPEC%", `C:\Windows\system32\cmd.exe`).Replace(strings.TrimSpace(command[len("echo"):])))
		return 0
	}
	if base(words[0]) != "powershell" {
		lines(stderr)(fmt.Sprintf("'%s' is not recognized as an internal or external command,\r\noperable program or batch file.", words[0]))
		return 1
	}
	return m.run(ctx, words[1:], home, false, stdout, stderr)
}

// longestLine is what cmd.exe takes (learn.microsoft.com, troubleshoot
// windows-client, command line string limitation).
const longestLine = 8191

// words splits a command line as the C runtime of Windows does, as far as quotes
// go that stand around a word.
func words(line string) (list []string) {
	var b strings.Builder
	quoted, some := false, false
	for _, r := range line {
		switch {
		case r == '"':
			quoted, some = !quoted, true
		case !quoted && (r == ' ' || r == '\t'):
			if some {
				list = append(list, b.String())
			}
			b.Reset()
			some = false
		default:
			b.WriteRune(r)
			some = true
		}
	}
	if some {
		list = append(list, b.String())
	}
	return list
}

// shell is powershell.exe: it takes the parameters of the program and returns the
// exit code.
func (p *process) shell(args []string, dir string) int {
	for i := 0; i < len(args); i++ {
		rest := args[i+1:]
		switch strings.ToLower(args[i]) {
		case "-noprofile", "-noninteractive", "-nologo":
		case "-executionpolicy":
			i++
		case "-encodedcommand", "-enc", "-e":
			text, err := decoded(rest)
			if err != nil {
				p.err("Cannot process the command because the value specified with -EncodedCommand is not properly encoded. The value must be Base64 encoded.")
				return -196608
			}
			return p.runner(dir).RunText(text)
		case "-command", "-c":
			return p.runner(dir).RunText(strings.Join(rest, " "))
		case "-file", "-f":
			return p.file(rest, dir)
		default:
			return p.runner(dir).RunText(strings.Join(args[i:], " "))
		}
	}
	return 0
}

// file is -File: a script and its parameters.
func (p *process) file(args []string, dir string) int {
	if len(args) == 0 {
		p.err("The -File parameter requires an argument.")
		return -196608
	}
	named := map[string]any{}
	for i := 1; i < len(args); i++ {
		name, isName := strings.CutPrefix(args[i], "-")
		switch {
		case !isName:
			p.err(fmt.Sprintf("A positional parameter cannot be found that accepts argument '%s'.", args[i]))
			return 1
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			named[strings.ToLower(name)] = args[i+1]
			i++
		default:
			named[strings.ToLower(name)] = true
		}
	}
	return p.runner(dir).RunFile(args[0], named)
}

// Words is a command line as somebody wrote it: sessions send it encoded.
func (m *Machine) Words(line string) string {
	before, encoded, ok := strings.Cut(line, "-EncodedCommand ")
	if !ok {
		return line
	}
	text, err := decoded(strings.Fields(encoded))
	if err != nil {
		return line
	}
	return before + text
}

// decoded is the text of -EncodedCommand: UTF-16, low byte first, in base64.
func decoded(args []string) (string, error) {
	if len(args) != 1 {
		return "", fmt.Errorf("%d values", len(args))
	}
	b, err := base64.StdEncoding.DecodeString(args[0])
	if err != nil || len(b)%2 != 0 {
		return "", fmt.Errorf("%d bytes: %w", len(b), err)
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units)), nil
}

// runner runs scripts of this process.
func (p *process) runner(dir string) *powershell.Runner {
	r := &powershell.Runner{
		Host: powershell.Host{
			Cmdlets: map[string]func(*powershell.Call) []any{},
			Natives: map[string]func(*powershell.Runner, []string) ([]string, int){"powershell.exe": p.child},
			Statics: p.statics(),
			Files:   files{p},
			Scripts: p.m.texts,
			Env: map[string]string{
				"computername": strings.ToUpper(p.m.host.Computer), "programdata": `C:\ProgramData`, "systemroot": `C:\Windows`,
			},
			Now:   p.m.now,
			Sleep: p.sleep,
		},
		Ctx: p.ctx,
		Dir: dir,
		Out: func(v any) { p.out(powershell.String(v)) },
		Say: p.out,
		Err: p.err,
	}
	if !p.system {
		r.Env["ssh_connection"] = "127.0.0.1 50000 127.0.0.1 22"
	}
	p.r = r
	p.m.host.register(r)
	p.m.scheduler(r)
	r.Switches = table().isSwitch
	r.Command = func(c *powershell.Call) bool {
		if changes(c.Name) || strings.HasSuffix(c.Name, "-scheduledtask") && !strings.HasPrefix(c.Name, "get-") {
			p.m.step(c.Name)
		}
		p.alive()
		return table().command(c) || p.strike(c)
	}
	return r
}

// child is a powershell.exe that a script starts and waits for.
func (p *process) child(r *powershell.Runner, args []string) (out []string, code int) {
	c := &process{m: p.m, login: p.login, ctx: p.ctx, cancel: p.cancel, system: p.system, out: func(line string) { out = append(out, line) }, err: p.err}
	code = c.shell(args, r.Dir)
	p.alive()
	return out, code
}

// changing are the words with which the names of cmdlets begin that change a
// host; nothing of the scheduler or of the language does.
var changing = []string{"set-", "new-", "remove-", "enable-", "disable-", "rename-", "restart-", "install-", "add-", "update-"}

// changes reports whether a cmdlet changes settings of a host.
func changes(cmdlet string) bool {
	return slices.ContainsFunc(changing, func(s string) bool { return strings.HasPrefix(cmdlet, s) }) &&
		!strings.Contains(cmdlet, "scheduledtask") && !strings.HasSuffix(cmdlet, "overrides") && !ofLanguage[cmdlet]
}

// ofLanguage are cmdlets with such names that change no settings.
var ofLanguage = map[string]bool{
	"set-strictmode": true, "set-location": true, "set-content": true, "set-executionpolicy": true, "new-item": true, "remove-item": true,
}

// strike lets a fault happen to a cmdlet that changes settings, and reports
// whether it took its place.
func (p *process) strike(c *powershell.Call) (instead bool) {
	if !changes(c.Name) {
		return false
	}
	line := c.Name
	for _, name := range slices.Sorted(maps.Keys(c.Named)) {
		line += fmt.Sprintf(" -%s %s", name, powershell.String(c.Named[name]))
	}
	f, ok := p.m.faults.Next(lab.Inside, line)
	if !ok {
		return false
	}
	switch f.Kind {
	case lab.FaultRefuse:
		powershell.Throw("%s : simulated refusal", c.Name)
	case lab.FaultLie:
		return true
	case lab.FaultStall:
		_ = p.wait(p.ctx, f.Delay, nil) // a process that was killed ends at its next step
	case lab.FaultReboot:
		p.m.Reboot()
		p.alive()
	}
	return false
}
