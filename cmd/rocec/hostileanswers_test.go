package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/session"
	"golang.org/x/tools/txtar"
)

// TestHostileCaptures puts what somebody would obey into every key, value and word of
// what was captured on devices of each family: whatever is printed of it, as text,
// Markdown or HTML, is text.
func TestHostileCaptures(t *testing.T) {
	netqos, err := os.ReadFile("testdata/smb/netqos.json")
	if err != nil {
		t.Fatal(err)
	}
	script, err := txtar.ParseFile("testdata/script/verify_health.txtar")
	if err != nil {
		t.Fatal(err)
	}
	base := map[string][]byte{"cap/win/netqos.json": netqos}
	dir := t.TempDir()
	t.Chdir(dir)
	for _, f := range script.Files {
		if f.Name == "fabric.roce.hcl" {
			keepCaptured(t, f.Name, append(f.Data, capturedFabric...))
		} else if strings.HasPrefix(f.Name, "cap/") {
			base[f.Name] = f.Data
		}
	}
	for name, text := range map[string]string{
		"cap/tor/running-config.json": `{"PORT": {"Ethernet0": {"mtu": "1500", "speed": "25000", "fec": "none"}},
			"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "4", "dscp_to_tc_map": "x"}},
			"DSCP_TO_TC_MAP": {"x": {"26": "1"}}, "VLAN": {"Vlan7": {"vlanid": "7"}}, "VRF": {"Vrfa": {}},
			"DEVICE_METADATA": {"localhost": {"platform": "x", "hostname": "tor"}}}`,
		"cap/cum/nvue-config.json": `[{"header": {"nvue-api-version": "nvue_v1", "rev-id": 1}}, 
			{"set": {"interface": {"swp1": {"link": {"mtu": 1500, "speed": "25G"}, "type": "swp"}},
			"qos": {"roce": {"enable": "on", "mode": "lossless"}}, "vrf": {"red": {}}}}]`,
		"cap/gpu1/addr.json": `[{"ifname": "rail0", "mtu": 1500, "operstate": "UP", "link_type": "ether",
			"addr_info": [{"family": "inet", "local": "192.0.2.9", "prefixlen": 24}]}]`,
		"cap/gpu1/rail0/pfc.json": `{"prio-pfc": [{"0": false}], "pfc-cap": 8}`,
		"cap/tor/lldp.txt": "LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr\n" +
			"-----------  --------------  --------------  ------------  -----------------\n" +
			"Ethernet0    gpu2            rail7           OR            x\n" +
			"--------------------------------------------------\nTotal entries displayed:  1\n",
	} {
		base[name] = []byte(text)
	}
	commands := [][]string{
		{"verify", "--from=cap", "--detailed", "--health", "--lldp"},
		{"plan", "--from=cap", "--lock=false", "--format=markdown"},
		{"plan", "--from=cap", "--lock=false", "--format=html"},
		{"plan", "--from=cap", "--lock=false", "--verbose"},
		{"verify", "--from=cap", "--format=json"},
	}
	for _, name := range slices.Sorted(maps.Keys(base)) {
		keepCaptured(t, name, base[name])
	}
	for _, c := range commands { // what is said of it as such, so that the test says something
		if out := ran(t, c...); !strings.Contains(out, "1500") && c[0] == "verify" {
			t.Errorf("%q says nothing of what was captured:\n%s", c, out)
		}
	}
	n, read := 0, 0
	for _, name := range slices.Sorted(maps.Keys(base)) {
		for _, text := range spoiled(base[name], strings.HasSuffix(name, ".json"), &n) {
			keepCaptured(t, name, text)
			c := commands[n%len(commands)]
			out := ran(t, c...)
			if said := raw(out, false); said != "" {
				t.Errorf("%q with %s:\n%s\n%s", c, name, text, said)
			}
			if strings.Contains(out, "FAKE") {
				read++
			}
			n++
		}
		keepCaptured(t, name, base[name])
	}
	if read == 0 {
		t.Error("nothing of what was captured was printed: the test says little")
	}
	for _, h := range obeyed { // names of folders and files
		name := strings.NewReplacer("\x00", "", "/", "").Replace(h)
		folder := filepath.Join("cap", name)
		if os.MkdirAll(folder, 0o755) != nil {
			continue // no name on this system
		}
		for _, c := range commands {
			if said := raw(ran(t, c...), false); said != "" {
				t.Errorf("%q with the folder %q: %s", c, folder, said)
			}
		}
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
	}
}

const capturedFabric = `
switch "cum" {
  model = "nvidia/sn3700"
  os    = "cumulus-linux/5.11"
  port "swp1" { mtu = 9216 }
}
node "win" {
  os = "windows-server/2025"
  nic "smb_a" {
    model = "nvidia/connectx-6-dx"
    speed = "25G"
    mtu   = 1500
  }
}
`

func keepCaptured(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, text, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// spoiled is a text with something obeyed in place of each key and value, or of each word.
func spoiled(text []byte, isJSON bool, n *int) (list [][]byte) {
	next := func() string { *n++; return obeyed[*n%len(obeyed)] }
	if !isJSON {
		for word := range strings.FieldsSeq(string(text)) {
			list = append(list, bytes.Replace(text, []byte(word), []byte(next()), 1))
		}
		return list
	}
	var top any
	if json.Unmarshal(text, &top) != nil {
		return nil
	}
	emit := func() {
		b, err := json.Marshal(top)
		if err == nil {
			list = append(list, b)
		}
	}
	var walk func(v any, set func(any))
	walk = func(v any, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				was := v[key]
				walk(was, func(now any) { v[key] = now })
				delete(v, key)
				h := next()
				v[h] = was
				emit()
				delete(v, h)
				v[key] = was
			}
		case []any:
			for i := range v {
				walk(v[i], func(now any) { v[i] = now })
			}
		default:
			set(next())
			emit()
			set(v)
		}
	}
	walk(top, nil)
	return list
}

// liar is a device that answers every command with the same text.
type liar struct {
	says string
	ends int
	fail bool
}

func (l *liar) Dial(_ context.Context, to session.Spec) (session.Session, error) {
	if l.fail {
		return nil, &session.Error{Device: to.Device, Op: "connect", Kind: session.KindUnreachable, Err: errors.New(l.says)}
	}
	return &lie{l, to}, nil
}

type lie struct {
	*liar
	to session.Spec
}

func (l *lie) Run(context.Context, string, []byte) (session.Output, error) {
	return session.Output{Stdout: []byte(l.says), Stderr: []byte(l.says), Exit: l.ends}, nil
}

func (l *lie) Configure(ctx context.Context, _ session.Change) (session.Output, error) {
	return l.Run(ctx, "", nil)
}

func (l *lie) Close() error { return nil }

// TestHostileDevices: what a device answers, or why it cannot be reached, is printed
// as text.
func TestHostileDevices(t *testing.T) {
	b := newBench(t)
	said := 0
	for i, h := range obeyed {
		for _, l := range []*liar{{says: h}, {says: h, ends: 1}, {says: h, fail: true}} {
			for _, args := range [][]string{
				{"plan", "--lock=false"},
				{"verify", "--detailed"},
				{"plan", "--lock=false", "--format=markdown"},
				{"plan", "--lock=false", "--format=html"},
				{"apply", "--auto-approve"},
			}[i%2*2:] {
				var out bytes.Buffer
				env := []string{"ROCEC_CACHE_DIR=off", "ROCEC_PATIENCE=10ms", "ROCEC_LAB=" + filepath.Join(b.dir, "lab.json")}
				a := newApp(strings.NewReader(""), &out, &out, env)
				a.dialer = l
				here, err := os.Getwd()
				if err != nil {
					t.Fatal(err)
				}
				a.run(t.Context(), append([]string{"--chdir=" + b.dir}, args...))
				if err := os.Chdir(here); err != nil {
					t.Fatal(err)
				}
				if wrong := raw(out.String(), false); wrong != "" {
					t.Errorf("%q with %q: %s", args, h, wrong)
				}
				if strings.Contains(out.String(), "FAKE") {
					said++
				}
			}
		}
	}
	if said == 0 {
		t.Error("nothing of what devices answer was printed: the test says little")
	}
}
