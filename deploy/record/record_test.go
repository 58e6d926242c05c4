package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/record"
)

func tor(name string, mtu uint16) *intent.Device {
	return &intent.Device{
		Version: intent.Version, Name: name, Kind: intent.Switch, OS: intent.OS{Name: "sonic", Version: "202405"}, Model: "dell/s5232f",
		Ports: []intent.Port{{Name: "Ethernet0", MTU: intent.Some(mtu), Tagged: intent.Some([]uint16{}), QoS: "roce"}},
		QoS:   []intent.QoS{{Name: "roce", PFC: intent.Some(intent.PrioritySet(8)), Pause: intent.Opt[bool]{State: intent.Default}}},
	}
}

func entry(name string, mtu uint16) *record.Entry {
	d := tor(name, mtu)
	return &record.Entry{
		Device: name, Address: "switch." + name, Emitter: "sonic", Status: record.HandedOver, IntentDigest: intent.Digest(d), SourcesDigest: record.Digest(nil),
		Artifacts: map[string]string{"verify.sh": record.Digest([]byte("v")), "apply.sh": record.Digest([]byte("a"))},
		Options:   map[string]string{"buffer_model": "dynamic"}, Inputs: map[string]string{"port Ethernet0 cable": "3m <dac>"}, Intent: d,
	}
}

func open(t testing.TB, dir string) *record.Store {
	t.Helper()
	s, err := record.Open(dir, "default")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func lock(t testing.TB, s *record.Store) *record.Lock {
	t.Helper()
	l, err := s.Lock(t.Context(), "apply", "0.1.0", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Unlock() })
	return l
}

func put(t testing.TB, l *record.Lock, e *record.Entry, expected string) string {
	t.Helper()
	v, err := l.Put(e, expected)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPutGet(t *testing.T) {
	s := open(t, t.TempDir())
	if e, v, err := s.Get("tor"); e != nil || v != "" || err != nil {
		t.Fatalf("an empty record has %v, %q, %v", e, v, err)
	}
	l := lock(t, s)
	want := entry("tor", 9000)
	v1 := put(t, l, want, "")
	got, version, err := s.Get("tor")
	if err != nil || version != v1 {
		t.Fatalf("%q, %v; put said %q", version, err, v1)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-put +got):\n%s", diff)
	}
	if v2 := put(t, l, want, v1); v2 != v1 {
		t.Errorf("the same entry has another version: %s, %s", v1, v2)
	}
	var conflict *record.ConflictError
	if _, err := l.Put(entry("tor", 1500), ""); !errors.As(err, &conflict) || conflict.Have != v1 {
		t.Errorf("a stale write says %v", err)
	}
	put(t, l, entry("tor", 1500), v1)
	if _, err := l.Put(entry("TOR", 1500), ""); err == nil || !strings.Contains(err.Error(), "differs in case only") {
		t.Errorf("a name that differs in case: %v", err)
	}
	if err := l.Delete("tor", v1); !errors.As(err, &conflict) {
		t.Errorf("a stale delete says %v", err)
	}
	put(t, l, entry("leaf-2", 1500), "")
	put(t, l, entry("leaf-10", 1500), "")
	names, err := s.List()
	if diff := cmp.Diff([]string{"leaf-10", "leaf-2", "tor"}, names); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	_, v, _ := s.Get("tor")
	if err := l.Delete("tor", v); err != nil {
		t.Error(err)
	}
	if all, err := s.All(); err != nil || len(all) != 2 || all[0].Device != "leaf-10" {
		t.Errorf("%d entries, %v", len(all), err)
	}
}

// The file is what git shows in a pull request.
func TestForm(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	l := lock(t, s)
	put(t, l, entry("tor", 9000), "")
	b, err := os.ReadFile(filepath.Join(dir, "default", "tor.json"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, want := range []string{"{\n  \"address\": \"switch.tor\",\n  \"artifacts\": {\n    \"apply.sh\": \"sha256:", "\"format_version\": \"1.0\"", "3m <dac>", "  \"workspace\": \"default\"\n}\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the file lacks %q:\n%s", want, text)
		}
	}
	for _, never := range []string{time.Now().Format("2006-"), hostname(t), "\t"} {
		if strings.Contains(text, never) {
			t.Errorf("the file has %q", never)
		}
	}
	if ignored, err := os.ReadFile(filepath.Join(dir, "default", ".gitignore")); err != nil || string(ignored) != ".*\n!.gitignore\n" {
		t.Errorf("%q, %v", ignored, err)
	}
	assertSorted(t, b)
}

func hostname(t *testing.T) string {
	t.Helper()
	h, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// assertSorted reads the tokens: the keys of every object ascend.
func assertSorted(t *testing.T, b []byte) {
	t.Helper()
	var walk func(d *json.Decoder)
	walk = func(d *json.Decoder) {
		open, _ := d.Token()
		delim, ok := open.(json.Delim)
		if !ok {
			return
		}
		last := ""
		for d.More() {
			if delim == '{' {
				key, _ := d.Token()
				if key.(string) < last {
					t.Errorf("%q comes after %q", key, last)
				}
				last = key.(string)
			}
			walk(d)
		}
		_, _ = d.Token()
	}
	walk(json.NewDecoder(bytes.NewReader(b)))
}

func encoded(t testing.TB) []byte {
	t.Helper()
	e := entry("tor", 9000)
	e.FormatVersion, e.Workspace = record.FormatVersion, "default"
	b, err := record.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHostileEntries(t *testing.T) {
	good := string(encoded(t))
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the sample has no %q", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	cases := map[string]struct{ text, want string }{
		"empty":               {"", "unexpected end of JSON input"},
		"half":                {good[:len(good)/2], "line "},
		"trailing":            {good + "x", "invalid character 'x' after top-level value"},
		"merge markers":       {"<<<<<<< ours\n" + good, "line 1, column 1: "},
		"null":                {"null", "it has no format_version"},
		"list":                {"[]", "line 1, column 1: "},
		"next major":          {replace(`"format_version": "1.0"`, `"format_version": "2.0"`), `it is "2.0", known is "1.0"`},
		"version as number":   {replace(`"format_version": "1.0"`, `"format_version": 1`), "line "},
		"another device":      {replace(`"device": "tor"`, `"device": "leaf"`), `it is of device "leaf", not "tor"`},
		"another workspace":   {replace(`"workspace": "default"`, `"workspace": "prod"`), `it is of workspace "prod", not "default"`},
		"unknown status":      {replace(`"handed_over"`, `"done"`), `status is "done"`},
		"edited setting":      {replace(`"value": 9000`, `"value": 1500`), "it was edited, merged by hand or written by another version"},
		"value out of range":  {replace(`"value": 9000`, `"value": 99000`), "line "},
		"no intent":           {`{"format_version":"1.0","workspace":"default","device":"tor","status":"applied"}`, "it has no intent"},
		"path that escapes":   {replace(`"apply.sh"`, `"../apply.sh"`), `path "../apply.sh" is not a clean relative path`},
		"path with backslash": {replace(`"apply.sh"`, `"a\\b"`), `path "a\\b" has '\\'`},
		"bad artifact digest": {replace(record.Digest([]byte("a")), "sha256:XYZ"), "which is not sha256 and 64 hex digits"},
		"bad intent digest":   {replace(intent.Digest(tor("tor", 9000)), "md5:1"), `intent_digest is "md5:1"`},
		"deep":                {strings.Repeat("[", 1<<20), "exceeded max depth"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := record.Decode([]byte(c.text), "default", "tor"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
	if _, err := record.Decode([]byte(replace(`"format_version": "1.0"`, `"format_version": "1.7", "later": [1]`)), "default", "tor"); err != nil {
		t.Errorf("a later minor version is refused: %v", err)
	}
}

func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	folder := filepath.Join(dir, "default")
	if err := os.MkdirAll(filepath.Join(folder, "dir.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string, size int64) {
		t.Helper()
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
	}
	write("huge.json", 1<<30)
	for device, want := range map[string]string{
		"dir": "is not a regular file", "huge": "the file is too large", "..": "ends in a dot", "a/b": "byte 1", "": "the name is empty",
		"nul": "reserved on Windows", "Com1.leaf": "reserved on Windows", "leaf.": "ends in a dot", strings.Repeat("a", 64): "64 bytes long", "é": "byte 0", ".hidden": "byte 0",
	} {
		if _, _, err := s.Get(device); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", device, err, want)
		}
	}
	if _, err := record.Open(dir, "../up"); err == nil {
		t.Error("a workspace outside the record is taken")
	}
	write("b ad.json", 0)
	if _, err := s.List(); err == nil || !strings.Contains(err.Error(), "byte 1") {
		t.Errorf("a bad name is listed: %v", err)
	}
	if err := os.Remove(filepath.Join(folder, "b ad.json")); err != nil {
		t.Fatal(err)
	}
	write("TOR.json", 0)
	write("tor.json", 0)
	if _, err := s.List(); err == nil || !strings.Contains(err.Error(), "differ in case only") {
		t.Errorf("two files of one name are listed: %v", err)
	}
}

// Whatever is put is read back, and its bytes do not depend on the order of maps.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := tor("tor", rapid.Uint16().Draw(t, "mtu"))
		d.Model = rapid.String().Draw(t, "model")
		d.Options = rapid.MapOf(rapid.StringMatching(`[a-z_]{1,8}`), rapid.String()).Draw(t, "options")
		e := entry("tor", 0)
		e.FormatVersion, e.Workspace, e.Intent, e.IntentDigest = record.FormatVersion, "default", d, intent.Digest(d)
		e.Options, e.Inputs = d.Options, rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "inputs")
		b, err := record.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := record.Decode(b, "default", "tor")
		if err != nil {
			t.Fatal(err)
		}
		again, err := record.Encode(got)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("%v:\n%s\n%s", err, b, again)
		}
	})
}

func FuzzDecode(f *testing.F) {
	good := encoded(f)
	f.Add(good)
	f.Add(good[:len(good)/3])
	f.Add([]byte(`{"format_version":"1.0","intent":{"ports":[{"nic":null}],"qos":[{}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := record.Decode(b, "default", "tor")
		if err != nil {
			return
		}
		out, err := record.Encode(e)
		if err != nil {
			t.Fatalf("what was read is not written: %v", err)
		}
		again, err := record.Decode(out, "default", "tor")
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if e.IntentDigest != again.IntentDigest || intent.Digest(again.Intent) != e.IntentDigest {
			t.Fatal("the intent changed on its way")
		}
	})
}

// What is read of an entry whose digest is known is the entry without its intent
// and inputs, whatever stands in its strings; with another digest it is all of it.
func TestGetUnless(t *testing.T) {
	s := open(t, t.TempDir())
	l := lock(t, s)
	version := ""
	for _, text := range []string{"", "3m", "\n  },\n  \"intent_digest\": \"", "\n  \"inputs\": {\n", "\n  \"intent\": {\n", "é \\\" \\", "é<&>\u2028"} {
		e := entry("tor", 9000)
		e.Intent.Model, e.Output = text, "out"
		e.IntentDigest = intent.Digest(e.Intent)
		e.Options, e.Inputs = map[string]string{text: text}, map[string]string{text: text}
		if text == "" {
			e.Options, e.Inputs = nil, nil
		}
		version = put(t, l, e, version)
		want, v, err := s.Get("tor")
		if err != nil || v != version {
			t.Fatal(v, err)
		}
		whole, v, err := s.GetUnless(e.Intent, record.Digest(nil))
		if diff := cmp.Diff(want, whole, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" || v != version || err != nil {
			t.Errorf("%q, another digest: %s %v (-want +got):\n%s", text, v, err, diff)
		}
		head, v, err := s.GetUnless(e.Intent, e.IntentDigest)
		if !strings.ContainsAny(text, "<&>") { // which records escape otherwise: read as a whole
			want.Intent, want.Inputs = nil, nil
		}
		if diff := cmp.Diff(want, head, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" || v != version || err != nil {
			t.Errorf("%q, its digest: %s %v (-want +got):\n%s", text, v, err, diff)
		}
	}
	if e, v, err := s.GetUnless(tor("other", 1500), record.Digest(nil)); e != nil || v != "" || err != nil {
		t.Errorf("an entry that is not there: %v %q %v", e, v, err)
	}
	file := filepath.Join(s.Dir(), "tor.json")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	last := entry("tor", 9000).Intent
	last.Model = "é<&>\u2028"
	for name, bad := range map[string]string{
		"edited": strings.Replace(string(good), "9000", "9001", 1), "space": strings.Replace(string(good), `"Ethernet0"`, `"Ethernet 0"`, 1),
		"half": string(good[:len(good)/2]), "status": strings.Replace(string(good), "handed_over", "done", 1), "nothing": "",
		"workspace": strings.Replace(string(good), `"default"`, `"prod"`, 1), "format": strings.Replace(string(good), `"1.0"`, `"9.0"`, 1),
	} {
		if err := os.WriteFile(file, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, want := s.Get("tor")
		_, _, got := s.GetUnless(last, intent.Digest(last))
		if want == nil || got == nil || want.Error() != got.Error() {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
