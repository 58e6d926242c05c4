package windows

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

// folder is where Run has the files of a host.
const folder = `C:\host`

// Run runs one script among the files of a host, without a machine around it:
// with no other files but those of h.Files, and with a clock that goes on by
// itself. It returns what Write-Host said and what went to the pipeline. A command
// or parameter that PowerShell does not know gives the code 255.
func (h *Host) Run(files map[string]string, script string, params map[string]any) (code int, lines []string, out []any) {
	now := h.Boot + h.Clock
	h.Clock += 1000
	r := &powershell.Runner{
		Host: powershell.Host{
			Cmdlets: map[string]func(*powershell.Call) []any{},
			Files:   &heldFiles{files, h.Files},
			Scripts: h.Scripts,
			Env:     map[string]string{"computername": "N1", "programdata": `C:\ProgramData`},
			Now: func() time.Time {
				now++
				return time.Unix(now, 0).UTC()
			},
			Sleep: func(_ context.Context, d time.Duration) error {
				now += int64(d / time.Second)
				return nil
			},
		},
		Dir: folder,
		Out: func(v any) { out = append(out, v) },
		Say: func(line string) { lines = append(lines, line) },
		Err: func(line string) { lines = append(lines, "uncaught: "+line) },
	}
	r.Command, r.Switches = table().command, table().isSwitch
	h.register(r)
	code = r.RunFile(script, params)
	for _, m := range r.Mistakes {
		code, lines = 255, append(lines, "mistake: "+m)
	}
	return code, lines, out
}

// heldFiles are the files of Run: those of the host's folder, which no script
// writes, and all others.
type heldFiles struct {
	host map[string]string
	kept map[string]string
}

// ReadFile is of powershell.Files.
func (f *heldFiles) ReadFile(path string) ([]byte, error) {
	if name, ok := strings.CutPrefix(path, folder+`\`); ok && f.host[name] != "" {
		return []byte(f.host[name]), nil
	}
	if text, ok := f.kept[path]; ok {
		return []byte(text), nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// WriteFile is of powershell.Files.
func (f *heldFiles) WriteFile(path string, data []byte) error {
	f.kept[path] = string(data)
	return nil
}

// MkdirAll is of powershell.Files: folders are where files are.
func (f *heldFiles) MkdirAll(string) error { return nil }

// Remove is of powershell.Files.
func (f *heldFiles) Remove(path string) error {
	delete(f.kept, path)
	return nil
}

// Rename is of powershell.Files.
func (f *heldFiles) Rename(from, to string) error {
	text, ok := f.kept[from]
	if !ok {
		return fmt.Errorf("%s: %w", from, fs.ErrNotExist)
	}
	delete(f.kept, from)
	f.kept[to] = text
	return nil
}

// Stat is of powershell.Files.
func (f *heldFiles) Stat(path string) (dir, there bool) {
	if _, err := f.ReadFile(path); err == nil {
		return false, true
	}
	for p := range f.kept {
		if strings.HasPrefix(p, path+`\`) {
			return true, true
		}
	}
	return false, false
}

// List is of powershell.Files.
func (f *heldFiles) List(path string) (names []string, err error) {
	for p := range f.kept {
		if name, ok := strings.CutPrefix(p, path+`\`); ok && !strings.Contains(name, `\`) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
