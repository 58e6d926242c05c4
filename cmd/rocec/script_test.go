package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rocec/rocec/targets/targettest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rocec": main, "gh": fakeGH})
}

// TestScript runs the commands as their users do, in processes of their own.
func TestScript(t *testing.T) {
	fixture, err := filepath.Abs("testdata/smb")
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := filepath.Abs("../../docs/schema")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	live, err := filepath.Abs("testdata/live")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       targettest.Update(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SMB", fixture)
			e.Setenv("SCHEMAS", schemas)
			e.Setenv("EXAMPLES", examples)
			e.Setenv("LIVE", live)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"smb": smb, "exits": exits, "capture": capture, "stream": streamed, "json": jsonAt, "replace": replace, "same": same, "readback": readback, "schema": schemaOf, "lab": labUp, "copydir": copyDir, "jump": jumpHost,
		},
	})
}

// schema NAME [lines] demands that the output is one JSON object of a published
// schema, or that each of its lines is.
func schemaOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 && (len(args) != 2 || args[1] != "lines") {
		ts.Fatalf("usage: schema NAME [lines]")
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(filepath.Join(ts.Getenv("SCHEMAS"), args[0]+".schema.json"))
	ts.Check(err)
	texts := []string{ts.ReadFile("stdout")}
	if len(args) == 2 {
		texts = slices.Collect(strings.Lines(texts[0]))
	}
	for _, text := range texts {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		ts.Check(err)
		if err := s.Validate(doc); err != nil {
			ts.Fatalf("%s: %v", text, err)
		}
	}
}

// copydir FROM puts the files of a folder here.
func copyDir(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.CopyFS(ts.MkAbs("."), os.DirFS(strings.Join(args, ""))))
}

// lab [FLAGS...] starts the lab of the configuration that is here, and has the
// commands that follow reach it. It stops with the script.
func labUp(ts *testscript.TestScript, _ bool, args []string) {
	c := exec.Command("rocec", append([]string{"lab", "up"}, args...)...)
	c.Dir, c.Stderr = ts.MkAbs("."), os.Stderr
	out, err := c.StdoutPipe()
	ts.Check(err)
	ts.Check(c.Start())
	ts.Defer(func() {
		if c.Process.Signal(os.Interrupt) != nil { // it takes its temporary files with it
			_ = c.Process.Kill()
		}
		_ = c.Wait()
	})
	for s := bufio.NewScanner(out); s.Scan(); {
		if s.Text() == "Ctrl-C stops the lab." {
			ts.Setenv("ROCEC_LAB", ts.MkAbs(".rocec/lab/lab.json"))
			return
		}
	}
	ts.Fatalf("the lab does not start")
}

// smb [DIR] puts the small fabric into a folder.
func smb(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(strings.Join(args, ""))
	ts.Check(os.MkdirAll(dir, 0o755))
	for _, name := range []string{"fabric.roce.hcl", "nodes.roce.hcl"} {
		text, err := os.ReadFile(filepath.Join(ts.Getenv("SMB"), name))
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
}

// exits CODE PROGRAM ARGS... runs a program that must end with exactly this code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// capture BUNDLE DIR writes what the devices would show after the bundle was
// run on them: the switch its base configuration with the fragments merged into
// it, the nodes what their capture script prints.
func capture(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: capture BUNDLE DIR")
	}
	running := map[string]map[string]map[string]any{}
	merge := func(name string) {
		var part map[string]map[string]map[string]any
		text, err := os.ReadFile(name)
		ts.Check(err)
		ts.Check(json.Unmarshal(text, &part))
		for table, rows := range part {
			if running[table] == nil {
				running[table] = map[string]map[string]any{}
			}
			for key, row := range rows {
				if running[table][key] == nil {
					running[table][key] = map[string]any{}
				}
				maps.Copy(running[table][key], row)
			}
		}
	}
	merge(filepath.Join(ts.Getenv("SMB"), "base-config.json"))
	merge(filepath.Join(ts.MkAbs(args[0]), "tor", "rocec-ports.json"))
	merge(filepath.Join(ts.MkAbs(args[0]), "tor", "rocec-qos.json"))
	text, err := json.Marshal(running)
	ts.Check(err)
	put := func(device, name string, text []byte) {
		dir := filepath.Join(ts.MkAbs(args[1]), device)
		ts.Check(os.MkdirAll(dir, 0o755))
		ts.Check(os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	put("tor", "running-config.json", text)
	node, err := os.ReadFile(filepath.Join(ts.Getenv("SMB"), "netqos.json"))
	ts.Check(err)
	put("n1", "netqos.json", node)
	put("n2", "netqos.json", []byte(strings.NewReplacer(`"N1"`, `"N2"`, "10.71.1.11", "10.71.1.12", "10.71.2.11", "10.71.2.12").Replace(string(node))))
}

// stream TYPES... demands that the output is one JSON object a line, the first
// of type version, and that the types come in this order, equal neighbours as one.
func streamed(ts *testscript.TestScript, _ bool, want []string) {
	var got []string
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			ts.Fatalf("%q: %v", line, err)
		}
		for _, key := range []string{"@level", "@message", "@module", "@timestamp", "type"} {
			if s, ok := o[key].(string); !ok || s == "" {
				ts.Fatalf("%s has no %s", line, key)
			}
		}
		if kind := o["type"].(string); len(got) == 0 || got[len(got)-1] != kind {
			got = append(got, kind)
		}
	}
	if !slices.Equal(got, want) {
		ts.Fatalf("stream of %v, want %v", got, want)
	}
}

// json PATH VALUE looks up a value of the JSON on standard output: keys and
// indexes between dots. A list or object stands for its length, and so does the
// whole by the path "length".
func jsonAt(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	if list, ok := v.([]any); ok && args[0] == "length" {
		v = map[string]any{"length": list}
	}
	for key := range strings.SplitSeq(args[0], ".") {
		switch x := v.(type) {
		case nil:
			ts.Fatalf("nothing has %s", key)
		case map[string]any:
			v = x[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				ts.Fatalf("no element %s of %d", key, len(x))
			}
			v = x[i]
		default:
			ts.Fatalf("%v has no %s", v, key)
		}
	}
	switch x := v.(type) {
	case map[string]any:
		v = len(x)
	case []any:
		v = len(x)
	}
	if got := fmt.Sprint(v); got != args[1] {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

// replace FILE OLD NEW edits a file; OLD must be there.
func replace(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o644))
}

// same DIR DIR demands that two folders hold the same files.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	a, err := files(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := files(ts.MkAbs(args[1]))
	ts.Check(err)
	if maps.Equal(a, b) == neg {
		ts.Fatalf("%s and %s: equal is %v", args[0], args[1], !neg)
	}
}

// files are the files below a folder, with their modes and bytes.
func files(dir string) (map[string]string, error) {
	list := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		list[filepath.ToSlash(rel)] = info.Mode().String() + "\n" + string(text)
		return err
	})
	return list, err
}
