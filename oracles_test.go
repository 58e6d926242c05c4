package rocec_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
)

// TestOraclesAcceptExamples holds the files of the examples against programs
// and models that nobody here wrote. What differs between hosts (netplan) is
// checked on all of them, what does not (scripts) on the first of each block.
func TestOraclesAcceptExamples(t *testing.T) {
	for _, x := range examples {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			shapes := map[string]bool{}
			for _, d := range x.build(t).Devices {
				first := !shapes[shape(d)]
				shapes[shape(d)] = true
				switch d.Target.Name {
				case "sonic":
					oracle.Yang(t, platformWith(t, d))
				case "linux":
					netplanAccepts(t, d)
				}
				if !first || x.digests {
					continue
				}
				files := slices.Clone(d.Files)
				for _, k := range d.Kits {
					if !shapes[k.Name] {
						shapes[k.Name] = true
						files = append(files, k.Artifacts...)
					}
				}
				scriptsAccepted(t, d.Intent.Name, files)
			}
		})
	}
}

// scriptsAccepted checks each file by what it is.
func scriptsAccepted(t *testing.T, device string, files []emit.Artifact) {
	t.Helper()
	units := map[string][]byte{}
	var powershell []string
	dir, checked := t.TempDir(), 0
	for _, f := range files {
		name := device + "/" + f.Path
		switch {
		case strings.HasSuffix(f.Path, ".ps1"):
			file := filepath.Join(dir, path.Base(f.Path))
			if err := os.WriteFile(file, f.Bytes, 0o644); err != nil {
				t.Fatal(err)
			}
			powershell = append(powershell, file)
			t.Run(name, func(t *testing.T) { oracle.PowerShellCommands(t, f.Bytes) })
		case strings.HasSuffix(f.Path, ".service"):
			units[path.Base(f.Path)] = f.Bytes
		case f.Path == "host.sh": // data for scripts, which one of them reads
			t.Run(name, func(t *testing.T) { oracle.Shell(t, name, append([]byte("#!/bin/bash\n"), f.Bytes...)) })
		case strings.HasPrefix(string(f.Bytes), "#!/bin/bash\n"):
			t.Run(name, func(t *testing.T) { oracle.Shell(t, name, f.Bytes) })
		default:
			continue
		}
		checked++
	}
	if checked == 0 {
		t.Errorf("%s has nothing to check", device)
	}
	if powershell != nil {
		t.Run("grammar", func(t *testing.T) { oracle.PSCheck(t, powershell...) })
	}
	if len(units) > 0 {
		t.Run("systemd", func(t *testing.T) { oracle.Systemd(t, units, "/usr/local/sbin/rocec-qos") })
	}
}

func netplanAccepts(t *testing.T, d device) {
	t.Helper()
	files := map[string][]byte{}
	for _, f := range d.Files {
		if strings.HasPrefix(f.Path, "netplan/") {
			files[path.Base(f.Path)] = f.Bytes
		}
	}
	generated, checked := oracle.Netplan(t, files), 0
	for _, i := range d.Intent.Ifaces {
		name := i.Name
		if i.Kind == intent.Direct {
			name = i.On
		}
		made := string(generated["10-netplan-"+name+".network"])
		for _, a := range i.Addresses.Value {
			checked++
			if !strings.Contains(made, "Address="+a.String()+"\n") {
				t.Errorf("%s: networkd does not give %s the address %s:\n%s", d.Intent.Name, name, a, made)
			}
		}
	}
	if checked == 0 {
		t.Errorf("%s has no address", d.Intent.Name)
	}
}

// platformWith is a config_db.json of a fresh image, with the fragments of a
// switch loaded over it: the image brings lanes, aliases, pools and profiles,
// which no fragment has and the models refer to.
func platformWith(t *testing.T, d device) []byte {
	t.Helper()
	db := platform(d.Intent)
	for _, f := range d.Files {
		if path.Ext(f.Path) != ".json" || strings.HasSuffix(f.Path, "-absent.json") {
			continue
		}
		var fragment map[string]map[string]map[string]any
		if err := json.Unmarshal(f.Bytes, &fragment); err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		for table, rows := range fragment {
			for key, fields := range rows {
				row := db.row(table, key)
				for name, value := range fields {
					row[name] = value
				}
			}
		}
	}
	text, err := json.Marshal(db)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type configDB map[string]map[string]map[string]any

func (db configDB) row(table, key string) map[string]any {
	if db[table] == nil {
		db[table] = map[string]map[string]any{}
	}
	if db[table][key] == nil {
		db[table][key] = map[string]any{}
	}
	return db[table][key]
}

func (db configDB) set(table, key string, pairs ...string) {
	row := db.row(table, key)
	for pair := range slices.Chunk(pairs, 2) {
		row[pair[0]] = pair[1]
	}
}

func platform(d *intent.Device) configDB {
	db := configDB{}
	model := "traditional"
	if strings.HasPrefix(d.ASIC, "spectrum") {
		model = "dynamic"
	}
	db.set("DEVICE_METADATA", "localhost", "hostname", d.Name, "buffer_model", model, "mac", "00:11:22:33:44:55")
	for i, p := range d.Ports {
		db.set("PORT", p.Name, "lanes", fmt.Sprint(8*i), "alias", fmt.Sprintf("etp%d", i+1), "index", fmt.Sprint(i+1), "speed", "100000", "mtu", "9100")
		db.set("CABLE_LENGTH", "AZURE", p.Name, "300m")
		db.set("BUFFER_PG", p.Name+"|0", "profile", "ingress_lossy_profile")
	}
	db.set("BUFFER_POOL", "ingress_lossless_pool", "type", "ingress", "mode", "dynamic", "size", "26451968")
	db.set("BUFFER_PROFILE", "ingress_lossy_profile", "pool", "ingress_lossless_pool", "size", "0", "dynamic_th", "0")
	return db
}
