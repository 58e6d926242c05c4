package targets

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agext/levenshtein"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/feature"
)

// ROCE717 is the rule behind what a target refuses that belongs to none of the families of refusals.
var ROCE717 = diag.Rule{
	ID: "ROCE717", Name: "capability_expressible", Severity: diag.Error, When: diag.Compile, Hard: true,
	Title: "a target cannot express what is written",
	Why: "a setting that a platform lacks would otherwise be left out of its configuration, and the device would differ from the" +
		" fabric that was proven: one port without its watchdog or with another mark, found under load",
	Fix: "remove the attribute, write what the help of the finding names instead, or choose another target or a newer version of the operating system;" +
		" what is refused of devices, names, links, VLANs, maps and other families has codes of its own, ROCE734 to ROCE747",
	Source: refusalSource,
	Bad: strings.NewReplacer(`segment "storage" {`, "qos \"other\" {\n  from = qos.storage\n}\n\nsegment \"storage\" {", onHost, `  nic "p0" {
    model   = "nvidia/connectx-6-dx"
    adapter = "card2"
    qos     = qos.storage
  }
  nic "p1" {
    model   = "nvidia/connectx-6-dx"
    adapter = "card2"
    qos     = qos.other # and a bond has one
  }
  bond "bond0" {
    members = "p[0-1]"
    mode    = "active_backup"
  }
`+onHost).Replace(refusalExample),
	Good: refusalExample,
}

// maxLabels is how many places one finding shows.
const maxLabels = 3

// Check refuses what a target cannot express, before a byte is written: a
// device it does not serve, text that no configuration can hold, what no device
// could be, options it does not have, and, unless the device is only compared,
// features its table does not list at the device's version and what its Limits find. Every refusal is an error with at least one label.
// Origin says where the value of a field was written; it may be nil or find
// nothing, and then the label holds the field's path instead of a span.
func Check(t *Target, d *intent.Device, origin func(intent.Path) []diag.Label) diag.List {
	c := &check{target: t, device: d, origin: origin}
	c.served()
	if c.list.HasErrors() {
		return c.list
	}
	c.text()
	c.sound()
	c.options()
	if d.Verify {
		return c.list // nothing is written, and verify says what it cannot compare
	}
	c.features()
	if t.Limits != nil {
		t.Limits(d, c.refuse)
	}
	return c.list
}

type check struct {
	target *Target
	device *intent.Device
	origin func(intent.Path) []diag.Label
	list   diag.List
}

func (c *check) refuse(summary, help string, at ...intent.Path) {
	if len(at) == 0 {
		at = []intent.Path{{Object: intent.OfDevice}}
	}
	c.list.Add(diag.Diagnostic{
		Rule: Refusal(at[0]).ID, Severity: diag.Error, Summary: summary, Help: help,
		Fact:    c.target.Name + " " + string(at[0].Object) + "." + at[0].Field,
		Address: Address(c.device, at[0]), Labels: c.labels(at),
	})
}

// labels are the places of several paths: all that is known of a single path,
// else the first place of each.
func (c *check) labels(at []intent.Path) []diag.Label {
	var labels []diag.Label
	for _, p := range at {
		var found []diag.Label
		if c.origin != nil {
			found = c.origin(p)
		}
		if len(found) == 0 {
			found = []diag.Label{{Where: Address(c.device, p)}}
		}
		if len(at) > 1 {
			found = found[:1]
		}
		labels = append(labels, found...)
	}
	return labels[:min(len(labels), maxLabels)]
}

// Address names a field of a device as a finding does: `switch.tor.port["Ethernet0"].mtu`.
func Address(d *intent.Device, p intent.Path) string {
	s := string(d.Kind) + "." + d.Name
	if tail := p.String(); tail != "" {
		s += "." + tail
	}
	return s
}

// platform is how messages call the target at the device's version.
func (c *check) platform() string {
	if c.device.OS.Version == "" {
		return c.target.Name
	}
	return c.target.Name + " " + c.device.OS.Version
}

func (c *check) served() {
	t, d := c.target, c.device
	device := intent.Path{Object: intent.OfDevice}
	if len(t.Kinds) > 0 && !slices.Contains(t.Kinds, d.Kind) {
		c.refuse(fmt.Sprintf("target %s does not serve %s %q", t.Name, d.Kind, d.Name),
			"select only devices of the kind it serves: "+join(t.Kinds), device)
		return
	}
	if len(t.OS) > 0 && !slices.Contains(t.OS, d.OS.Name) {
		help := "choose a target for this system; " + t.Name + " serves " + join(t.OS)
		if near := nearest(d.OS.Name, t.OS); near != "" {
			help = fmt.Sprintf("did you mean %q?", near)
		}
		c.refuse(fmt.Sprintf("target %s does not serve os %q of %s %q", t.Name, d.OS.Name, d.Kind, d.Name), help,
			intent.Path{Object: intent.OfDevice, Field: "os"})
	}
}

func (c *check) options() {
	names := make([]string, 0, len(c.target.Options))
	for _, o := range c.target.Options {
		names = append(names, o.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.device.Options)) {
		at := intent.Path{Object: intent.OfOption, Name: name}
		i := slices.Index(names, name)
		if i < 0 {
			help := "target " + c.target.Name + " has no options"
			if len(names) > 0 {
				help = "its options are " + join(names)
			}
			if near := nearest(name, names); near != "" {
				help = fmt.Sprintf("did you mean %q?", near)
			}
			c.refuse(fmt.Sprintf("target %s has no option %q", c.target.Name, name), help, at)
			continue
		}
		o, value := c.target.Options[i], c.device.Options[name]
		if want := o.mismatch(value); want != "" {
			c.refuse(fmt.Sprintf("option %q of target %s is %q", name, c.target.Name, value), want, at)
		}
	}
}

// mismatch is what to write instead of a value that does not fit the option,
// "" if it fits.
func (o Option) mismatch(value string) string {
	switch o.Kind {
	case OptionBool:
		if value != "true" && value != "false" {
			return "write true or false"
		}
	case OptionNumber:
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || strconv.FormatInt(n, 10) != value {
			return "write a whole number"
		}
	case OptionBytes:
		if n, err := strconv.ParseUint(value, 10, 64); err != nil || strconv.FormatUint(n, 10) != value {
			return `write a number of bytes, or a size such as "150KB"`
		}
	case OptionEnum:
		if slices.Contains(o.Values, value) {
			return ""
		}
		if near := nearest(value, o.Values); near != "" {
			return fmt.Sprintf("did you mean %q?", near)
		}
		return "write one of " + join(o.Values)
	default:
		if r, ok := unprintable(value); ok {
			return "remove the character " + r
		}
	}
	return ""
}

func (c *check) features() {
	seen := map[feature.Use]bool{}
	rows := map[feature.ID]feature.Row{}
	for _, use := range feature.Uses(c.device) {
		row, known := rows[use.ID]
		if !known {
			row = c.target.Features.Find(use.ID, c.device.OS.Version)
			rows[use.ID] = row
		}
		if row.Support != feature.Refused || seen[use] {
			continue
		}
		seen[use] = true // one finding for a list of addresses
		name := string(use.ID)
		if name == "" {
			name = use.Path.Field // a word that no feature stands for
		}
		c.refuse(fmt.Sprintf("%s cannot set %s on %s", c.platform(), name, c.subject(use.Path)), row.Note, use.Path)
		c.list[len(c.list)-1].Fact += " " + name
	}
}

// subject names the object a path starts at: `qos "roce"`.
func (c *check) subject(p intent.Path) string {
	if p.Object == intent.OfDevice {
		return fmt.Sprintf("%s %q", c.device.Kind, c.device.Name)
	}
	return fmt.Sprintf("%s %q", p.Object, p.Name)
}

// nearest is the candidate that a misspelt word most likely stands for, "" if
// none is close.
func nearest[S ~string](word string, candidates []S) string {
	best, found := 1+min(3, len(word)/2), ""
	for _, c := range candidates {
		if n := levenshtein.Distance(word, string(c), nil); n < best {
			best, found = n, string(c)
		}
	}
	return found
}

func join[S ~string](words []S) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(string(w))
	}
	return strings.Join(quoted, ", ")
}

// unprintable names the first character of a text that no configuration can hold.
func unprintable(s string) (string, bool) {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return fmt.Sprintf("0x%02x, which is not UTF-8,", s[i]), true
			}
		}
		if emit.Unprintable(r) {
			return fmt.Sprintf("%U", r), true
		}
	}
	return "", false
}
