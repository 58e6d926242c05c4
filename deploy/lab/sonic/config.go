package sonic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// Where the config updater keeps checkpoints (generic_updater.py).
const (
	checkpoints   = "/etc/sonic/checkpoints"
	checkpointExt = ".cp.json"
)

// config is the command of the same name.
func (m *Machine) config(_ context.Context, p *posix.Proc) int {
	if p.User() != "root" {
		return p.Fail("Root privileges are required for this operation")
	}
	args, yes := []string{}, false
	format, dry, force := "CONFIGDB", false, false
	for i := 0; i < len(p.Args); i++ {
		switch a := p.Args[i]; a {
		case "-y", "--yes":
			yes = true
		case "-v", "--verbose", "-n", "--ignore-non-yang-tables", "-l", "--load-predefined-config":
		case "-f", "--force", "--format", "--force-remove-dependencies":
			force = true
			if len(args) > 0 && (args[0] == "apply-patch" || args[0] == "replace") && i+1 < len(p.Args) {
				i++
				format = strings.ToUpper(p.Args[i])
			}
		case "-d", "--dry-run":
			dry = true
		default:
			if strings.HasPrefix(a, "-") && a != "--ports" {
				return usage(p, strings.Join(args, " "), "No such option: "+a)
			}
			args = append(args, a)
		}
	}
	verb, operand := "", ""
	if len(args) > 0 {
		verb = args[0]
	}
	if len(args) > 1 {
		operand = args[1]
	}
	wants := map[string]string{"checkpoint": "CHECKPOINT_NAME", "rollback": "CHECKPOINT_NAME", "delete-checkpoint": "CHECKPOINT_NAME", "apply-patch": "PATCH_FILE_PATH", "replace": "TARGET_FILE_PATH"}[verb]
	if wants != "" && operand == "" {
		return usage(p, verb, "Missing argument '"+wants+"'.")
	}
	if format != "CONFIGDB" {
		return usage(p, verb, "only patches of CONFIGDB are simulated")
	}
	switch verb {
	case "checkpoint":
		return m.checkpoint(p, operand)
	case "rollback":
		return m.rollback(p, operand, dry)
	case "list-checkpoints":
		return m.listCheckpoints(p)
	case "delete-checkpoint":
		if !m.isCheckpoint(operand) {
			return failed(p, verb, "Failed to delete config checkpoint", fmt.Sprintf("Checkpoint '%s' does not exist", operand))
		}
		_ = m.disk.Remove(checkpointFile(operand))
		p.Printf("Checkpoint deleted successfully.\n")
		return 0
	case "apply-patch":
		return m.applyPatch(p, operand, dry)
	case "replace":
		return m.replace(p, operand, dry)
	case "save":
		return m.save(p, operand, yes)
	case "load":
		return m.loadFile(p, operand, yes)
	case "reload":
		return m.reload(p, operand, yes, force)
	case "interface":
		if operand == "breakout" && len(args) == 4 {
			return m.breakout(p, args[2], args[3], yes, force)
		}
	case "qos":
		if operand == "reload" && len(args) == 4 && args[2] == "--ports" {
			p.Printf("The simulated image has no templates for %s.\n", args[3]) // SONiC gives the ports theirs
			return 0
		}
	}
	return usage(p, "", fmt.Sprintf("No such command '%s', or one that is not simulated.", strings.Join(args, " ")))
}

// refusal is what the config updater answers, in its words.
func refusal(format string, args ...any) error { return answer(fmt.Sprintf(format, args...)) }

type answer string

// Error is the text.
func (a answer) Error() string { return string(a) }

// usage is what click says of a command line.
func usage(p *posix.Proc, verb, text string) int {
	p.Fail("Usage: config %s [OPTIONS]\nTry 'config %s -h' for help.\n\nError: %s", verb, verb, text)
	return 2
}

// failed is what the commands say when they fail: their own line, and ctx.fail.
func failed(p *posix.Proc, verb, line, reason string) int {
	p.Fail("%s", line)
	return usage(p, verb, reason)
}

func checkpointFile(name string) string { return checkpoints + "/" + name + checkpointExt }

func (m *Machine) isCheckpoint(name string) bool {
	_, err := m.disk.Stat(checkpointFile(name))
	return err == nil && name != "" && !strings.Contains(name, "/")
}

func (m *Machine) checkpoint(p *posix.Proc, name string) int {
	const line = "Failed to create a config checkpoint"
	if strings.Contains(name, "/") {
		return failed(p, "checkpoint", line, "[Errno 2] No such file or directory: '"+checkpointFile(name)+"'")
	}
	err := m.disk.MkdirAll(checkpoints, 0o755)
	if err == nil {
		err = m.disk.WriteFile(checkpointFile(name), m.snapshot().print(), 0o644)
	}
	if err != nil {
		_ = m.disk.Remove(checkpointFile(name))
		return failed(p, "checkpoint", line, "[Errno 28] No space left on device")
	}
	p.Printf("Checkpoint created successfully.\n")
	return 0
}

func (m *Machine) listCheckpoints(p *posix.Proc) int {
	list, _ := m.disk.ReadDir(checkpoints)
	names := []string{}
	for _, e := range list {
		if name, ok := strings.CutSuffix(e.Name(), checkpointExt); ok {
			names = append(names, name)
		}
	}
	b, err := json.MarshalIndent(names, "", "    ")
	if err != nil {
		return p.Fail("%v", err)
	}
	p.Printf("%s\n", b)
	return 0
}

func (m *Machine) rollback(p *posix.Proc, name string, dry bool) int {
	const line = "Failed to rollback config"
	if !m.isCheckpoint(name) {
		return failed(p, "rollback", line, fmt.Sprintf("Checkpoint '%s' does not exist", name))
	}
	if err := m.become(p, checkpointFile(name), dry); err != nil {
		return failed(p, "rollback", line, err.Error())
	}
	p.Printf("Config rolled back successfully.\n")
	return 0
}

func (m *Machine) replace(p *posix.Proc, file string, dry bool) int {
	if err := m.become(p, p.Path(file), dry); err != nil {
		return failed(p, "replace", "Failed to replace config", err.Error())
	}
	p.Printf("Config replaced successfully.\n")
	return 0
}

// open reads a file that a command was told of by a name, and fails in the words of
// Python.
func (m *Machine) open(file, name string) ([]byte, error) {
	b, err := m.disk.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, refusal("[Errno 2] No such file or directory: '%s'", name)
	case err != nil:
		return nil, refusal("[Errno 21] Is a directory: '%s'", name)
	}
	return b, nil
}

// become makes a file the running configuration, by the differences.
func (m *Machine) become(p *posix.Proc, file string, dry bool) error {
	b, err := m.open(file, file)
	if err != nil {
		return err
	}
	target, err := read(b)
	if err != nil {
		return err
	}
	return m.update(p, func(database) (database, error) { return target, nil }, dry)
}
