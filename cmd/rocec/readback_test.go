package main

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// told is a line of apply that says how a device is read back.
var told = regexp.MustCompile(`(?m)^    (\S.*) > DIR/([^/]+)/(\S+)$`)

// readback TEXT BUNDLE DIR [wide] does what apply told in a text: each device of
// the bundle has got its files, and each command that is told runs there, its
// output in the file that is told. With wide the redirection is PowerShell's.
func readback(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 && len(args) != 4 {
		ts.Fatalf("usage: readback TEXT BUNDLE DIR [wide]")
	}
	lines := told.FindAllStringSubmatch(ts.ReadFile(args[0]), -1)
	if len(lines) == 0 {
		ts.Fatalf("%s tells nothing of how to read back", args[0])
	}
	for _, l := range lines {
		text := shows(ts, filepath.Join(ts.MkAbs(args[1]), l[2]), l[1])
		if len(args) == 4 {
			wide := binary.LittleEndian.AppendUint16(nil, 0xfeff)
			for _, u := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
				wide = binary.LittleEndian.AppendUint16(wide, u)
			}
			text = string(wide)
		}
		file := filepath.Join(ts.MkAbs(args[2]), l[2], l[3])
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
		ts.Check(os.WriteFile(file, []byte(text), 0o644))
	}
}

// shows is what a command prints on a device that was given the files of a folder.
func shows(ts *testscript.TestScript, folder, command string) string {
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(folder, name))
		ts.Check(err)
		return b
	}
	var shown any
	switch command {
	case "sudo sonic-cfggen -d --print-data", "[ -s /var/lib/rocec/live/.open ] || if [ -e /etc/sonic/config_db.json ]; then sudo cat /etc/sonic/config_db.json; else echo '{}'; fi":
		db := map[string]map[string]map[string]any{}
		fragments, err := filepath.Glob(filepath.Join(folder, "rocec-*.json"))
		ts.Check(err)
		for _, f := range fragments {
			if filepath.Base(f) == "rocec-absent.json" {
				continue
			}
			var part map[string]map[string]map[string]any
			ts.Check(json.Unmarshal(read(filepath.Base(f)), &part))
			for table, rows := range part {
				for key, fields := range rows {
					if db[table] == nil {
						db[table] = map[string]map[string]any{}
					}
					if db[table][key] == nil {
						db[table][key] = map[string]any{}
					}
					maps.Copy(db[table][key], fields)
				}
			}
		}
		shown = db
	case "nv config show -o json":
		var top []any
		ts.Check(yaml.Unmarshal(read("nvue.yaml"), &top))
		shown = append([]any{map[string]any{"header": map[string]any{"nvue-api-version": "nvue_v1"}}}, top...)
	case "[ ! -s /var/lib/rocec/live/.open ] && systemctl is-enabled --quiet nvue-startup.service && sudo cat /etc/nvue.d/startup.yaml":
		return string(read("nvue.yaml"))
	case `sonic-cli -c "show running-configuration | no-more"`:
		text := "!\nbuffer init lossless\n"
		for line := range strings.Lines(string(read("sonic-cli.txt"))) {
			if strings.TrimSpace(line) != "exit" {
				text += line
			}
		}
		return text
	default:
		ts.Fatalf("no device knows %s", command)
	}
	b, err := json.MarshalIndent(shown, "", "  ")
	ts.Check(err)
	return string(b) + "\n"
}
