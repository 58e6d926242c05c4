package linux

import (
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
)

// keptShown is what cat, stat and sha256sum print on a host on which install.sh was run.
func keptShown(d *intent.Device, put func(string, string, ...any)) {
	var installed, places, digests strings.Builder
	fmt.Fprintf(&places, "755 %s\n", unitFolder)
	files := installs(d)
	for _, place := range slices.Sorted(maps.Keys(files)) {
		f := files[place]
		fmt.Fprintf(&installed, "%s %s %s\n", f.mode, f.digest, place)
		fmt.Fprintf(&places, "%s %s\n", f.mode, place)
		fmt.Fprintf(&digests, "%s  %s\n", f.digest, place)
	}
	for _, unit := range unitsOf(d) {
		device := "sys-subsystem-net-devices-" + strings.TrimSuffix(strings.TrimPrefix(unit, "rocec-qos@"), ".service") + ".device.wants/"
		fmt.Fprintf(&installed, "enabled %s\n", unit)
		fmt.Fprintf(&places, "777 %s/%s%s\n", unitFolder, device, unit)
	}
	put(installedFile, "%s", installed.String())
	put(placesFile, "%s", places.String())
	put(digestsFile, "%s", digests.String())
}

// edited is a captured text with lines that have a word taken out or replaced.
func edited(c targets.Captured, file, word, with string) {
	var b strings.Builder
	for line := range strings.Lines(string(c.Files[file])) {
		switch {
		case !strings.Contains(line, word):
			b.WriteString(line)
		case with != "":
			b.WriteString(strings.Replace(line, word, with, 1))
		}
	}
	c.Files[file] = []byte(b.String())
}

// TestPlaces: whatever install.sh may put on a host is looked at, and the shell and
// Go agree on what that is.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for name, d := range hosts() {
		for place := range installs(d) {
			if !isPlace(place) {
				t.Errorf("%s: nothing looks at %s", name, place)
			}
		}
	}
	oracle.Need(t, "systemd-escape")
	for _, n := range []string{"eth0", "ens1f0np0", "bond0.100", "a-b", ".x", "x:y_z", "é", "a@b"} {
		out, err := exec.Command("systemd-escape", "--template=rocec-qos@.service", "--", n).Output()
		if got := unitsOf(&intent.Device{Ports: []intent.Port{{Name: n}}})[0]; err != nil || got != strings.TrimSpace(string(out)) {
			t.Errorf("the unit of %q is %s, systemd-escape makes %s (%v)", n, got, out, err)
		}
	}
}

// TestStored: a host that lost something of what makes it start with its settings
// shows that, and no more than that.
func TestStored(t *testing.T) {
	t.Parallel()
	d := pcpHost()
	netplan, kit := "/etc/netplan/60-rocec.yaml", "/usr/local/sbin/rocec-qos"
	unit := unitsOf(d)[0]
	none := strings.Repeat("0", 64)
	digest := func(place string) string { return installs(d)[place].digest }
	stored := func(place, before, after string) intent.Difference {
		return intent.Difference{Path: intent.Path{Object: intent.OfDevice, Field: "stored." + place}, Before: before, After: after}
	}
	type list = []intent.Difference
	for name, c := range map[string]struct {
		do    func(c targets.Captured)
		boots list
		older list
	}{
		"as it was put": {do: func(targets.Captured) {}},
		"old captures": {do: func(c targets.Captured) {
			for _, f := range []string{installedFile, placesFile, digestsFile} {
				delete(c.Files, f)
			}
		}},
		"a file is gone": {
			do:    func(c targets.Captured) { edited(c, placesFile, netplan, ""); edited(c, digestsFile, netplan, "") },
			boots: list{stored(netplan, "missing", "as installed")},
			older: list{stored(netplan, "not installed", "as installed")},
		},
		"a file was edited": {
			do: func(c targets.Captured) {
				edited(c, digestsFile, digest(netplan), none)
				c.Files[planName] = append(c.Files[planName], "# by hand\n  vlans: {}\n"...)
			},
			boots: list{stored(netplan, "edited", "as installed")},
			older: list{stored(netplan, "of another version", "as installed")},
		},
		"a file was edited in its comments": {
			do: func(c targets.Captured) {
				edited(c, digestsFile, digest(netplan), none)
				c.Files[planName] = append(c.Files[planName], "\t # by hand\n"...)
			},
			boots: list{stored(netplan, "edited, in comments only", "as installed")},
			older: list{stored(netplan, "of another version, in comments only", "as installed")},
		},
		"a program is none any more": {
			do:    func(c targets.Captured) { edited(c, placesFile, "755 "+kit, "644 "+kit) },
			boots: list{stored(kit, "mode 644", "mode 755")},
			older: list{stored(kit, "mode 644", "mode 755")},
		},
		"a unit is disabled": {
			do:    func(c targets.Captured) { edited(c, placesFile, unit, "") },
			boots: list{stored(unit, "disabled", "enabled")},
			older: list{stored(unit, "disabled", "enabled")},
		},
		"a unit is masked": {
			do: func(c targets.Captured) {
				c.Files[placesFile] = append(c.Files[placesFile], "777 "+unitFolder+"/"+unit+"\n"...)
				c.Files[digestsFile] = append(c.Files[digestsFile], `\`+none+"  "+strings.ReplaceAll(unitFolder+"/"+unit, `\`, `\\`)+"\n"...)
			},
			boots: list{stored(unit, "masked", "enabled")},
			older: list{stored(unit, "masked", "enabled")},
		},
		"another version put it there": { // not edited: no drift
			do: func(c targets.Captured) {
				edited(c, digestsFile, digest(kit), none)
				edited(c, installedFile, digest(kit), none)
			},
			older: list{stored(kit, "of another version", "as installed")},
		},
		"a version without digests put it there": {
			do: func(c targets.Captured) {
				c.Files[installedFile] = []byte(netplan + "\n" + kit + "\n/etc/hosts\n")
				edited(c, digestsFile, digest(kit), none)
			},
			older: list{stored(kit, "of another version", "as installed")},
		},
		"a version without digests put it there, and it is gone": {
			do:    func(c targets.Captured) { c.Files[installedFile] = []byte(kit + "\n"); edited(c, placesFile, kit, "") },
			boots: list{stored(kit, "missing", "as installed")},
			older: list{stored(kit, "not installed", "as installed")},
		},
		"somebody had a rail answer for all": {
			do:    func(c targets.Captured) { edited(c, railsFile, "bond0/arp_ignore:1", "bond0/arp_ignore:0") },
			boots: list{{Path: intent.Path{Object: intent.OfDevice, Field: "net/ipv4/conf/bond0/arp_ignore"}, Before: "0", After: "1"}},
		},
		"a rail is not there":       {do: func(c targets.Captured) { edited(c, railsFile, "bond0.100/", "") }},
		"the login may not read it": {do: func(c targets.Captured) { edited(c, digestsFile, netplan, "") }},
		"what nobody wants any more": {
			do: func(c targets.Captured) {
				c.Files[installedFile] = append(c.Files[installedFile], "644 "+none+" /etc/rocec/env/old.env\n644 "+none+" /etc/rocec/env/gone.env\nenabled rocec-qos@gone.service\n"...)
				c.Files[placesFile] = append(c.Files[placesFile], "644 /etc/rocec/env/old.env\n"...)
			},
			older: list{stored("/etc/rocec/env/old.env", "left behind", "removed")},
		},
		"nothing was ever put there": {
			do: func(c targets.Captured) {
				delete(c.Files, installedFile)
				edited(c, placesFile, "rocec-qos@", "")
				for place := range installs(d) {
					if place != netplan {
						edited(c, placesFile, place, "")
					}
				}
				edited(c, placesFile, netplan, "")
			},
			older: func() (all list) {
				for _, place := range slices.Sorted(maps.Keys(installs(d))) {
					all = append(all, stored(place, "not installed", "as installed"))
				}
				for _, unit := range unitsOf(d) {
					all = append(all, stored(unit, "disabled", "enabled"))
				}
				return all
			}(),
		},
	} {
		shows := shown(t, d)
		c.do(shows)
		boots, findings := boots(d, shows)
		if diff := cmp.Diff(c.boots, list(boots)); diff != "" || len(findings) > 0 {
			t.Errorf("%s: what it does not start with (-want +got):\n%s%v", name, diff, findings)
		}
		if diff := cmp.Diff(c.older, list(outdated(d, shows))); diff != "" {
			t.Errorf("%s: what would be put there (-want +got):\n%s", name, diff)
		}
	}
	compared := pcpHost()
	compared.Verify = true
	shows := shown(t, d)
	edited(shows, placesFile, netplan, "")
	if list, _ := boots(compared, shows); len(list)+len(outdated(compared, shows)) > 0 {
		t.Errorf("a host that is compared only is said to lack what rocec never put there: %v", list)
	}
}

// TestWithoutFile: devices that run as they should are there whether a file of
// netplan has them or not; what only that file shows is not known then.
func TestWithoutFile(t *testing.T) {
	t.Parallel()
	for name, d := range hosts() {
		shows := shown(t, d)
		with, _ := parse(d, shows)
		delete(shows.Files, planName)
		without, _ := parse(d, shows)
		if diff := cmp.Diff(intent.Diff(d, with), intent.Diff(d, without)); diff != "" {
			t.Errorf("%s (-with +without):\n%s", name, diff)
		}
	}
}

// FuzzStored: whatever a host shows, only what rocec may have put there is spoken of.
func FuzzStored(f *testing.F) {
	shows := shown(f, pcpHost())
	f.Add(shows.Files[installedFile], shows.Files[placesFile], shows.Files[digestsFile])
	f.Add([]byte("644 x /etc/hosts\nenabled ../x\n\x00"), []byte("999999999 /etc/netplan/60-rocec.yaml\n7 \n"), []byte(`\`))
	d := pcpHost()
	f.Fuzz(func(t *testing.T, installed, places, digests []byte) {
		c := targets.Captured{Files: map[string][]byte{installedFile: installed, placesFile: places, digestsFile: digests}}
		list, findings := boots(d, c)
		if len(findings) > 0 {
			t.Errorf("findings: %v", findings)
		}
		for _, x := range append(list, outdated(d, c)...) {
			at, stored := x.Path.Running()
			if !stored || !isPlace(at.Field) && !isUnitFile(path.Join(unitFolder, at.Field)) || x.Before == x.After {
				t.Errorf("%+v", x)
			}
		}
	})
}
