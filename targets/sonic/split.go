package sonic

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/emit"
)

// Splitting a port is a step of its own, in a window and before everything else:
// config interface breakout deletes the port with what refers to it, waits until
// the ASIC has let it go, and makes the children from the platform's own data
// (sonic-utilities config/config_mgmt.py, breakOutPort). A patch would delete and
// add without the wait, and the children stay down (sonic-buildimage#23822). The
// children begin without QoS and buffers, which config qos reload --ports gives
// them (sonic-utilities#2125).

// Files of that step, and what its script leaves on the switch.
const (
	breakoutFile   = "rocec-breakout.json"
	splitBefore    = "rocec-breakout-before.json"
	splitList      = "rocec-breakout.txt"
	splitScript    = "apply-breakout.sh"
	splitUndo      = "rollback-breakout.sh"
	breakoutTable  = "BREAKOUT_CFG"
	breakoutColumn = "brkout_mode"
)

// split writes the rows that dynamic port breakout makes of a child, by which it
// is recognised: the mode of the parent, and lanes, alias, index and number of
// the child (sonic-config-engine portconfig.py, get_config). Its speed is a
// setting like that of any port.
func (b *builder) split(p *intent.Port) {
	s := p.Split
	if s == nil {
		return
	}
	at := intent.Path{Object: intent.OfPort, Name: p.Name, Field: "breakout"}
	if s.Number == 1 {
		b.breakouts.row(breakoutTable, s.Parent).set(breakoutColumn, s.Mode, at)
	}
	r := b.breakouts.row("PORT", p.Name)
	r.set("lanes", s.Lanes, at)
	r.set("alias", s.Alias, at)
	r.set("index", decimal(s.Index), at)
	r.set("subport", decimal(s.Number), at)
}

var (
	laneList = regexp.MustCompile(`^[0-9]{1,4}(,[0-9]{1,4}){0,15}$`)
	modeName = regexp.MustCompile(`^[1-9][0-9]?x[0-9]{1,4}G?(\[[0-9G,]+\])?(\([0-9]+\))?(\[[0-9G,]+\])?$`)
)

// split refuses a split port that the platform's data do not have: the mode has
// to be spelled as platform.json spells it, and the lanes differ by platform.
func (l *limit) split(p *intent.Port, at intent.Path) {
	s := p.Split
	if s == nil {
		if p.Breakout != "" {
			l.refuse(fmt.Sprintf("the data of model %s have no lanes and no breakout modes for the port that is split into %s", l.device.Model, p.Name),
				"state breakouts in a switch_model of your own: lanes, index and breakout_modes stand in the platform's platform.json (show interfaces breakout prints them)", at)
		}
		return
	}
	switch {
	case !portName.MatchString(s.Parent) || !modeName.MatchString(s.Mode):
		l.refuse(fmt.Sprintf("port %s is split off %q in mode %q", p.Name, s.Parent, s.Mode), `write the mode as platform.json spells it, "4x25G[10G]"`, at)
	case !laneList.MatchString(s.Lanes) || s.Alias == "" || len(s.Alias) > 128 || s.Index == 0 || s.Number == 0 || s.Number > 8:
		l.refuse(fmt.Sprintf("port %s is number %d of a split, with the lanes %q, the alias %q and the index %d", p.Name, s.Number, s.Lanes, s.Alias, s.Index),
			"correct breakouts of the switch_model", at)
	case s.Number == 1 && (p.Name != s.Parent || p.Breakout == "") || s.Number > 1 && p.Breakout != "":
		l.refuse(fmt.Sprintf("port %s is child %d of %s", p.Name, s.Number, s.Parent), "the first child has the name of the port that is split", at)
	case s.Number == 1 && p.Breakout != ownSplit(s.Mode) && !slices.Contains(otherSplits(s.Mode), p.Breakout):
		l.refuse(fmt.Sprintf("port %s is split %s in mode %s", p.Name, p.Breakout, s.Mode), "write a breakout that the mode allows", at)
	case !p.Mbps.IsSet():
		l.refuse(fmt.Sprintf("port %s is a child of %s and states no speed", p.Name, s.Parent), "write the speed of the children", at)
	}
}

// ownSplit is a mode as the language writes a split: "4x25G" of "4x25G[10G]", ""
// of a port that is whole.
func ownSplit(mode string) string {
	if strings.HasPrefix(mode, "1x") {
		return ""
	}
	return speedOf(mode)
}

// speedOf is a mode without its further speeds and lanes.
func speedOf(mode string) string {
	if i := strings.IndexAny(mode, "[("); i >= 0 {
		return mode[:i]
	}
	return mode
}

// otherSplits are the splits that a mode allows besides its own: "4x10G" of "4x25G[10G]".
func otherSplits(mode string) []string {
	count, rest, _ := strings.Cut(mode, "x")
	_, list, found := strings.Cut(rest, "[")
	list, _, closed := strings.Cut(list, "]")
	if !found || !closed {
		return nil
	}
	var all []string
	for word := range strings.SplitSeq(list, ",") {
		all = append(all, count+"x"+word)
	}
	return all
}

// splitSteps writes the fragment and the script of the split ports, and reports
// whether there are any.
func splitSteps(d *intent.Device, breakouts tables, out *emit.Out) bool {
	if len(breakouts) == 0 {
		return false
	}
	breakouts.write(out.File(breakoutFile, 0o644, emit.Data))
	s := script(d, out, splitScript, emit.Maintenance,
		"For a maintenance window, before apply.sh: splits ports with config interface breakout. A port that is split",
		"goes down and loses its settings, and so does what refers to it: VLANs, addresses, its place in a LAG.",
		"Ports that are split as wanted already are left alone. Run apply.sh afterwards, in the same window.")
	s.before([]string{breakoutFile})
	s.Line("python3 \"$check\" splits %s %s > %s", beforeFile, breakoutFile, splitList)
	s.Text("if [ ! -s " + splitList + " ]; then\n" +
		"    echo \"every port is split as wanted\"\n" +
		"    exit 0\n" +
		"fi\n" +
		"cp " + beforeFile + " " + splitBefore + "\n")
	s.children(d)
	s.each("# a child begins without QoS and buffers: it gets those of the image's templates", `config qos reload --ports "${children[$port]}"`)
	s.Line("python3 \"$check\" missing <(sonic-cfggen -d --print-data) %s", breakoutFile)
	s.Line("config save -y")
	return true
}

// undoSplit writes the way back.
func undoSplit(d *intent.Device, out *emit.Out) {
	u := script(d, out, splitUndo, emit.Rollback,
		"Goes back to the splits that the last "+splitScript+" found, and loads the settings of that time into the ports again.",
		"Run it in a maintenance window, after rollback.sh.")
	u.root()
	u.checks()
	u.Line("if [ ! -f %s ]; then", splitBefore)
	u.Text("    echo \"there is nothing to go back to\" >&2\n" +
		"    exit 1\n" +
		"fi\n" +
		"sonic-cfggen -d --print-data > " + beforeFile + "\n")
	u.Line("python3 \"$check\" splits %s %s > %s", beforeFile, splitBefore, splitList)
	u.each()
	u.Line("config load -y %s", splitBefore)
	u.Line("config save -y")
}

// children gives the script the children of each port that is split.
func (s scriptFile) children(d *intent.Device) {
	of := map[string][]string{}
	for i := range d.Ports {
		if p := &d.Ports[i]; p.Split != nil && !p.Verify {
			of[p.Split.Parent] = append(of[p.Split.Parent], p.Name)
		}
	}
	s.Line("declare -A children=(")
	for _, parent := range slices.SortedFunc(maps.Keys(of), intent.Natural) {
		s.From(intent.Path{Object: intent.OfPort, Name: parent, Field: "breakout"}, "    [%s]=\"%s\"", parent, strings.Join(of[parent], ","))
	}
	s.Line(")")
}

// each splits the listed ports, and does what else is to be done with each. The list is read from descriptor 3, because
// config interface breakout asks on standard input where tables without a YANG
// model name the port.
func (s scriptFile) each(then ...string) {
	s.Text("while IFS=$'\\t' read -r -u 3 port mode; do\n" +
		"    config interface breakout \"$port\" \"$mode\" -f -y\n")
	for _, line := range then {
		s.Line("    %s", line)
	}
	s.Line("done 3< %s", splitList)
}

// splitFirst demands in apply.sh that the ports are split.
func (s scriptFile) splitFirst() {
	s.Line("if ! python3 \"$check\" missing %s %s; then", beforeFile, breakoutFile)
	s.Line("    echo \"ports have to be split first, in a maintenance window: sudo ./%s\" >&2", splitScript)
	s.Text("    exit 1\nfi\n")
}

// unsplit compares the splits of a captured configuration with the wanted ones:
// whether something is left to split. What cannot be split, or was split by
// other data, is an error.
func unsplit(db *database, c config, list *diag.List) bool {
	left := false
	for parent, r := range c.breakouts.each(breakoutTable) {
		switch have := db.value(breakoutTable, parent, breakoutColumn); have {
		case "":
			list.Add(diag.Diagnostic{
				Summary: "the switch has no " + breakoutTable + " row for " + parent,
				Help:    "its image has no platform.json for this SKU, and config interface breakout needs it: update the image, or choose a SKU whose ports are split",
				Labels:  db.at(breakoutTable),
			})
		case r[breakoutColumn].value:
		default:
			left = true
		}
	}
	if left {
		return true
	}
	for port, r := range c.breakouts.each("PORT") {
		for field, want := range r {
			if have := db.value("PORT", port, field); have != want.value && db.rows("PORT")[port] != nil {
				list.Add(diag.Diagnostic{
					Summary: fmt.Sprintf("port %s has %s %s, the data of its model have %s", port, field, strconv.Quote(have), strconv.Quote(want.value)),
					Help:    "state breakouts of this image's platform.json in a switch_model of your own",
					Labels:  db.at("PORT", port),
				})
			}
		}
	}
	return false
}
