package linux

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// Captures of what is stored.
const (
	installedFile = "installed.txt" // what install.sh put there
	placesFile    = "stored.txt"    // what is there now
	digestsFile   = "digests.txt"   // and the digests of it
	railsFile     = "rails.txt"     // what the kernel runs with of railSettings
)

// How what is stored differs, in the words of plans.
const (
	isMissing  = "missing"
	isEdited   = "edited"
	isDisabled = "disabled"
	isMasked   = "masked"
	isOther    = "of another version"
	isNew      = "not installed"
	isLeft     = "left behind"
	inComments = ", in comments only" // behind isEdited and isOther

	asInstalled = "as installed"
	asEnabled   = "enabled"
	asGone      = "removed"
)

// file is one file as it is or was: its mode in octal digits and its digest in
// hexadecimal ones, each "" where it is not known.
type file struct{ mode, digest string }

// kept is what captures show of what a host starts with.
type kept struct {
	known   bool            // what is there now was captured
	now     map[string]file // by place; units and the links that enable them as well
	listed  map[string]file // what install.sh put there
	enabled []string        // the units that install.sh enabled
	list    bool            // there is a list of install.sh
	odd     []string        // lines of it that nobody understands
}

// keptOn reads captures. Lines of another form, and places where nothing of ours
// can lie, say nothing.
func keptOn(c targets.Captured) kept {
	k := kept{now: map[string]file{}, listed: map[string]file{}}
	text, known := c.Files[placesFile]
	k.known = known
	for line := range strings.Lines(string(text)) {
		mode, name, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if isOctal(mode) && (isPlace(name) || isUnitFile(name)) {
			k.now[name] = file{mode: mode}
		}
	}
	for line := range strings.Lines(string(c.Files[digestsFile])) {
		digest, name, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		name = strings.TrimPrefix(strings.TrimPrefix(name, " "), "*") // behind a blank, or the asterisk of a binary file
		if rest, escaped := strings.CutPrefix(digest, `\`); escaped {
			digest, name = rest, strings.ReplaceAll(name, `\\`, `\`) // a name with a backslash: sha256sum(1)
		}
		if f, there := k.now[name]; there && isDigest(digest) {
			f.digest = digest
			k.now[name] = f
		}
	}
	text, k.list = c.Files[installedFile]
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		words := strings.SplitN(line, " ", 3)
		switch {
		case isPlace(line): // a list of an older version
			k.listed[line] = file{}
		case len(words) == 3 && isOctal(words[0]) && isDigest(words[1]) && isPlace(words[2]):
			k.listed[words[2]] = file{words[0], words[1]}
		case len(words) == 2 && words[0] == "enabled" && isUnitFile(unitFolder+"/"+words[1]):
			k.enabled = append(k.enabled, words[1])
		case len(words) == 2 && words[0] == "enabled" || strings.TrimSpace(line) == "":
		default:
			k.odd = append(k.odd, line)
		}
	}
	slices.Sort(k.enabled)
	k.enabled = slices.Compact(k.enabled)
	return k
}

func isUnitFile(name string) bool { return matches([]string{portUnits, enabledUnits}, name) }

func isOctal(s string) bool {
	_, err := strconv.ParseUint(s, 8, 16)
	return err == nil
}

func isDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// unit is how a unit starts at boot.
func (k *kept) unit(name string) string {
	if _, own := k.now[unitFolder+"/"+name]; own { // where an instance has a file it is a mask: systemctl(1), mask
		return isMasked
	}
	for link := range k.now {
		if path.Base(link) == name {
			return asEnabled
		}
	}
	return isDisabled
}

// differs is how a file is that should be another one, "" if it is that.
func (k *kept) differs(place string, want file, other, none string) string {
	now, there := k.now[place]
	switch {
	case !there:
		return none
	case want.digest != "" && now.digest != "" && now.digest != want.digest:
		return other
	case want.mode != "" && now.mode != want.mode:
		return "mode " + now.mode
	}
	return ""
}

func difference(place, before, after string) intent.Difference {
	p := intent.Path{Object: intent.OfDevice, Field: place}
	return intent.Difference{Path: p.Stored(), Before: before, After: after}
}

// boots is Target.Stored: what install.sh has put on the host and is not there any
// more as it was put, units that it enabled and that do not start any more, and what
// the kernel does not run with of settings that only a file has. A host without its
// list, as before the first apply, shows nothing.
func boots(d *intent.Device, c targets.Captured) ([]intent.Difference, diag.List) {
	k := keptOn(c)
	if d.Verify || !k.known || !k.list {
		return nil, nil
	}
	var list []intent.Difference
	var wanted map[string]file // made when something is missing: it may be so because nobody wants it any more
	for _, place := range slices.Sorted(maps.Keys(k.listed)) {
		how := k.differs(place, k.listed[place], isEdited, isMissing)
		if how == "" {
			continue
		}
		if wanted == nil {
			wanted = installs(d)
		}
		if _, is := wanted[place]; is {
			list = append(list, difference(place, commented(how, place, d, c), after(how, k.listed[place])))
		}
	}
	ports := unitsOf(d)
	for _, unit := range k.enabled {
		if how := k.unit(unit); how != asEnabled && slices.Contains(ports, unit) {
			list = append(list, difference(unit, how, asEnabled))
		}
	}
	return append(list, rails(d, c)...), nil
}

// rails are the settings of rails that a device runs with another value of. One that
// the host does not show is not there.
func rails(d *intent.Device, c targets.Captured) (list []intent.Difference) {
	now := string(c.Files[railsFile])
	for _, n := range newHost(d).multiRail() {
		for _, s := range railSettings {
			name := railFolder + n + "/" + s.name
			if v := value(now, "/proc/sys/"+name); v != "" && v != s.value {
				list = append(list, intent.Difference{Path: intent.Path{Object: intent.OfDevice, Field: name}, Before: v, After: s.value})
			}
		}
	}
	return list
}

// commented says of the file of netplan whether it differs in no more than comments, in
// which the digest of the intent stands: install.sh leaves it at putting the file then.
func commented(how, place string, d *intent.Device, c targets.Captured) string {
	if text, shown := c.Files[planName]; shown && place == placeOf(netplanFile) && (how == isOther || how == isEdited) {
		out := &emit.Out{}
		newHost(d).netplan(out)
		if slices.Equal(saidIn(text), saidIn(out.Artifacts[0].Bytes)) {
			return how + inComments
		}
	}
	return how
}

// saidIn are the lines of a file that are no comments, as said in lib.sh has them.
func saidIn(text []byte) (lines []string) {
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(strings.TrimLeft(line, " \t\n\v\f\r"), "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

func after(how string, want file) string {
	if strings.HasPrefix(how, "mode ") {
		return "mode " + want.mode
	}
	return asInstalled
}

// outdated is Target.Outdated: what install.sh would put on the host, or take from
// it, beside what boots finds.
func outdated(d *intent.Device, c targets.Captured) []intent.Difference {
	k := keptOn(c)
	if d.Verify || !k.known {
		return nil
	}
	var list []intent.Difference
	wanted := installs(d)
	for _, place := range slices.Sorted(maps.Keys(wanted)) {
		if how := k.differs(place, wanted[place], isOther, isNew); how != "" {
			list = append(list, difference(place, commented(how, place, d, c), after(how, wanted[place])))
		}
	}
	for _, unit := range unitsOf(d) {
		if how := k.unit(unit); how != asEnabled {
			list = append(list, difference(unit, how, asEnabled))
		}
	}
	for _, place := range slices.Sorted(maps.Keys(k.listed)) {
		_, there := k.now[place]
		if _, is := wanted[place]; there && !is {
			list = append(list, difference(place, isLeft, asGone))
		}
	}
	return list
}

// installs are the files that install.sh puts on a host, by place.
func installs(d *intent.Device) map[string]file {
	h, out, files := newHost(d), &emit.Out{}, map[string]file{}
	put := func(from []emit.Artifact, places []placed) {
		for _, p := range places {
			if i := slices.IndexFunc(from, func(a emit.Artifact) bool { return a.Path == p.from }); i >= 0 {
				files[p.to] = file{strconv.FormatUint(uint64(p.mode), 8), strings.TrimPrefix(from[i].Digest(), "sha256:")}
			}
		}
	}
	places := writeHost(h, out)
	put(out.Artifacts, places)
	put(kit().Artifacts, kitPlaces(h.parts()))
	return files
}

// unitsOf are the units of the ports of a host.
func unitsOf(d *intent.Device) []string {
	list := make([]string, len(d.Ports))
	for i := range d.Ports {
		list[i] = "rocec-qos@" + emit.SystemdInstance(d.Ports[i].Name) + ".service"
	}
	return list
}
