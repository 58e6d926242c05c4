package targettest

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// HostileStrings are texts that break out of some language when they are not
// quoted for it: shells, PowerShell with its five single quotes, YAML, JSON,
// systemd, paths, format strings, terminals.
func HostileStrings() []string {
	return []string{
		`'`, `"`, `a'b"c`, "'; touch /pwned; '", `"; touch /pwned; "`,
		"$(touch /pwned)", "`touch /pwned`", "${HOME}", "$env:COMPUTERNAME", "a;b", "a|b", "a&b", "a>b<c", "a b", " a ", "\\", `a\`, "!!", "#a", "a #b",
		"a\nb", "a\r\nb", "\n", "a\tb", "a\x00b", "\x1b[31mred", "\x7f", "\u0085", "\u2028", "\u2029", "\xff\xfe",
		"\u2018; pwned; \u2018", "\u2019; pwned; \u2019", "\u201a; pwned; \u201a", "\u201b; pwned; \u201b",
		"\u201c$(pwned)\u201d", "\u201epwned", "\u2013x", "\u2014x", "\u2015x", "é", "漢",
		"#>", "<#", "'@", "\"@", "@'", "@{a=1}", "@(1)",
		"\u202eabc", "\u200fabc", "\u2066abc\u2069", "\u200b", "\ufeffa",
		"-rf", "--", "-", "--help", "/", "..", "../../etc/passwd", "C:\\x", "a/b", "a.b",
		"%s%n%d", "%i", "%%", "%H", "{{.}}", "{{", "}}", "{a,b}", "~", "~root", "*", "?", "[ab]", "[", "]", "a=b", "=",
		"null", "true", "no", "on", "0x10", "1e3", "012", "12:34:56", "2024-01-01", "<<", "- a", "a: b", "a:", "&a", "*a", "!t", "|", ">", "@a", "---", "",
		strings.Repeat("a", 300), strings.Repeat("'", 5000),
	}
}

// maxReports keeps one hole from filling the screen.
const maxReports = 20

// EveryString puts each hostile string into every string field of a base, names
// wherever they are named, and demands that targets.Check refuses the result or
// that the artifacts pass check: a parser of their language, and that it finds
// the string as one word. Paths of artifacts must stay in their folder in any
// case. One small base of each shape is enough.
func EveryString(t *testing.T, tg *targets.Target, base *intent.Device, check func([]emit.Artifact) error) {
	t.Helper()
	reports := 0
	for _, hole := range Holes(t, tg, base, check) {
		if reports++; reports > maxReports {
			t.Errorf("and more")
			return
		}
		t.Errorf("%s: %s", base.Name, hole)
	}
}

// Holes lists where a hostile string passed targets.Check and broke an artifact.
func Holes(t testing.TB, tg *targets.Target, base *intent.Device, check func([]emit.Artifact) error) []string {
	t.Helper()
	base = Clone(t, base)
	if list := targets.Check(tg, base, nil); list.HasErrors() {
		t.Fatalf("%s: the base is refused:\n%s", base.Name, Refusals(list))
	}
	if err := emitted(tg, base, check); err != nil {
		t.Fatalf("%s: the base itself: %v", base.Name, err)
	}
	w := stringWalker{base: base}
	w.walk("", reflect.ValueOf(base).Elem(), func(root reflect.Value) reflect.Value { return root })
	var holes []string
	for _, f := range w.fields {
		for _, s := range HostileStrings() {
			d := copied(base)
			f.put(d, s)
			if err := emitted(tg, d, check); err != nil {
				holes = append(holes, fmt.Sprintf("%s = %s: %v", f.path, shorten(s), err))
			}
		}
	}
	return holes
}

func shorten(s string) string {
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return strconv.Quote(s)
}

// emitted checks a device and, when it is not refused, its artifacts.
func emitted(tg *targets.Target, d *intent.Device, check func([]emit.Artifact) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	if targets.Check(tg, d, nil).HasErrors() {
		return nil
	}
	files := Emit(tg, d)
	for _, f := range files {
		if !filepath.IsLocal(f.Path) || strings.ContainsAny(f.Path, "\\\x00\n\r") {
			return fmt.Errorf("artifact path %q leaves its folder", f.Path)
		}
	}
	return check(files)
}

// stringField is one place of an intent that holds text.
type stringField struct {
	path string
	put  func(d *intent.Device, s string)
}

type stringWalker struct {
	base   *intent.Device
	fields []stringField
}

func (w *stringWalker) walk(path string, v reflect.Value, at place) {
	switch {
	case isOpt(v.Type()):
		if v.Field(1).Kind() != reflect.String && v.Field(0).Interface() != intent.Set {
			return
		}
		w.walk(path, v.Field(1), func(root reflect.Value) reflect.Value {
			o := at(root)
			o.Field(0).Set(reflect.ValueOf(intent.Set))
			return o.Field(1)
		})
	case v.Kind() == reflect.String:
		w.str(path, v.String(), at)
	case v.Kind() == reflect.Struct:
		if v.Type().PkgPath() == "net/netip" {
			return
		}
		for i := range v.NumField() {
			w.walk(path+"."+v.Type().Field(i).Name, v.Field(i), func(root reflect.Value) reflect.Value { return at(root).Field(i) })
		}
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		for i := range v.Len() {
			w.walk(path+"["+label(v.Index(i), i)+"]", v.Index(i), func(root reflect.Value) reflect.Value { return at(root).Index(i) })
		}
	case v.Kind() == reflect.Map:
		w.keys(path, v, at)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		w.walk(path, v.Elem(), func(root reflect.Value) reflect.Value { return at(root).Elem() })
	}
}

func (w *stringWalker) str(path, now string, at place) {
	w.fields = append(w.fields, stringField{path, func(d *intent.Device, s string) {
		at(reflect.ValueOf(d).Elem()).SetString(s)
	}})
	switch named := path[strings.LastIndexByte(path, '.')+1:]; {
	case named == "Name" && strings.HasPrefix(path, ".QoS["):
		w.fields = append(w.fields, stringField{path + " and where it is named", func(d *intent.Device, s string) { renameQoS(d, now, s) }})
	case named == "Name" && (strings.HasPrefix(path, ".Ports[") || strings.HasPrefix(path, ".LAGs[")):
		w.fields = append(w.fields, stringField{path + " and where it is named", func(d *intent.Device, s string) { rename(d, now, s) }})
	}
}

func (w *stringWalker) keys(path string, v reflect.Value, at place) {
	w.fields = append(w.fields, stringField{path + " key", func(d *intent.Device, s string) {
		m := at(reflect.ValueOf(d).Elem())
		if m.IsNil() {
			m.Set(reflect.MakeMap(m.Type()))
		}
		m.SetMapIndex(reflect.ValueOf(s), reflect.Zero(m.Type().Elem()))
	}})
	if v.Type().Elem().Kind() != reflect.String {
		return
	}
	for _, k := range v.MapKeys() {
		w.fields = append(w.fields, stringField{path + "[" + k.String() + "]", func(d *intent.Device, s string) {
			at(reflect.ValueOf(d).Elem()).SetMapIndex(k, reflect.ValueOf(s))
		}})
	}
}

func renameQoS(d *intent.Device, old, next string) {
	for i := range d.QoS {
		if d.QoS[i].Name == old {
			d.QoS[i].Name = next
		}
	}
	for i := range d.Ports {
		if d.Ports[i].QoS == old {
			d.Ports[i].QoS = next
		}
	}
	for i := range d.Ifaces {
		if d.Ifaces[i].QoS == old {
			d.Ifaces[i].QoS = next
		}
	}
}
