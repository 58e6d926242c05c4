// Package targettest holds the tests that every target must pass: each field
// of an intent, changed, changes the artifacts or is refused (EveryField); no
// string of an intent breaks out of the language it lands in (EveryString);
// and goldens of whole artifact sets (EmitString, Golden). It is for tests
// only, and it alone walks intents by reflection.
package targettest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// update is the one flag that rewrites goldens. Test packages that import this
// one must not define a flag of the same name.
var update = flag.Bool("update", false, "rewrite golden files")

// Update reports whether goldens are to be rewritten, for tests that compare
// something other than one text.
func Update() bool { return *update }

// Golden compares a text with a file beside the test, or rewrites the file
// under -update. The comparison is exact, line ends included.
func Golden(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if string(want) != got {
		t.Errorf("%s differs (-want +got; -update rewrites it):\n%s", path,
			udiff.Unified("want", "got", visibleCR(string(want)), visibleCR(got)))
	}
}

// visibleCR keeps a difference in line ends alone from looking like none.
func visibleCR(s string) string { return strings.ReplaceAll(s, "\r\n", "\\r\n") }

// EmitString is what a target writes for a device as one txtar text: one line
// per artifact with its mode, step and how to run it, then the artifacts. A
// refused device yields the refusals instead.
func EmitString(tg *targets.Target, d *intent.Device) string {
	if list := targets.Check(tg, d, nil); list.HasErrors() {
		return Refusals(list)
	}
	var a txtar.Archive
	var head bytes.Buffer
	for _, f := range Emit(tg, d) {
		fmt.Fprintf(&head, "%s %#o %s", f.Path, f.Mode, f.Step)
		if f.Run != "" {
			fmt.Fprintf(&head, ": %s", f.Run)
		}
		head.WriteByte('\n')
		a.Files = append(a.Files, txtar.File{Name: f.Path, Data: f.Bytes})
	}
	a.Comment = head.Bytes()
	return string(txtar.Format(&a))
}

// Refusals are the findings of a check as text, one per line with its help.
func Refusals(list diag.List) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%s: %s", d.Severity, d.Summary)
		if d.Help != "" {
			fmt.Fprintf(&b, " (%s)", d.Help)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Emit is what a target writes for a device that was not checked here.
func Emit(tg *targets.Target, d *intent.Device) []emit.Artifact {
	var out emit.Out
	tg.Write(d, &out)
	return out.Artifacts
}

// Clone is a deep copy, made the way intents are stored.
func Clone(t testing.TB, d *intent.Device) *intent.Device {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	c := new(intent.Device)
	if err := json.Unmarshal(b, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// copied is a deep copy of a device that Clone made, much faster than Clone.
func copied(d *intent.Device) *intent.Device {
	c := new(intent.Device)
	copyInto(reflect.ValueOf(c).Elem(), reflect.ValueOf(d).Elem())
	return c
}

func copyInto(to, from reflect.Value) {
	to.Set(from)
	switch from.Kind() {
	case reflect.Struct:
		if from.Type().PkgPath() == "net/netip" {
			return
		}
		for i := range from.NumField() {
			copyInto(to.Field(i), from.Field(i))
		}
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			copyInto(to.Index(i), from.Index(i))
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			copyInto(to.Elem(), from.Elem())
		}
	case reflect.Map:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeMap(from.Type()))
		for _, k := range from.MapKeys() {
			to.SetMapIndex(k, from.MapIndex(k)) // the maps of an intent hold plain values
		}
	}
}

// rendering is all that a change of an intent may change. The digest in the
// headers changes always and says nothing.
func rendering(tg *targets.Target, d *intent.Device) string { return remembered(tg, d, nil) }

// remembered is rendering with files that other devices left behind.
func remembered(tg *targets.Target, d *intent.Device, memo *emit.Memo) string {
	out := emit.Out{Memo: memo}
	tg.Write(d, &out)
	var b strings.Builder
	for _, f := range out.Artifacts {
		fmt.Fprintf(&b, "%q %o %s %q %d\n%s", f.Path, f.Mode, f.Step, f.Run, len(f.Bytes), f.Bytes)
	}
	return strings.ReplaceAll(b.String(), intent.Digest(d), "digest")
}
