package rocec_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler/lint"
	"github.com/rocec/rocec/lang/diag"
)

// sayOtherwise are labels whose line says in other words what the message names, and why.
var sayOtherwise = map[string]string{
	"ROCE107": "no length is written: the line lacks it",
	"ROCE111": "the adapter carries what its ports add to",
	"ROCE117": "the members, whose speeds are on two lines more",
	"ROCE207": "the gateway of the router that it names",
	"ROCE125": "the cable lacks what the message names",
	"ROCE201": "the message has the sum",
	"ROCE202": "what the others have, of which it has nothing",
	"ROCE242": "in words: the overlay",
	"ROCE324": "in words: forwards",
	"ROCE204": "the message has the sum",
	"ROCE217": "in words: several agents",
	"ROCE218": "the model, of which the message has the number",
	"ROCE229": "the block that nothing names",
	"ROCE230": "in words: they write two",
	"ROCE306": "in words: all priorities",
	"ROCE315": "in words: honours and sends none",
	"ROCE401": "the buffer, of which the message has what follows",
	"ROCE412": "the list lacks what the message names",
	"ROCE415": "the buffer, of which the message has what follows",
	"ROCE502": "the model, of which the message has the size",
	"ROCE503": "the model, which has no profile",
	"ROCE510": "the buffer, of which the message has what follows",
	"ROCE513": "the cable, of which the message has what follows",
	"ROCE608": "in words: RoCEv2",
	"ROCE610": "the gateways by which the subnets reach each other",
	"ROCE614": "the slot, of which the message has the address",
	"ROCE618": "in words: floods",
	"ROCE622": "who else routes there",
	"ROCE748": "the driver, which the message has in words",
	"ROCE749": "the modules, of which the message has the missing one",
	"ROCE812": "the members, of which the message has each",
	"ROCE820": "the members, of which the message has the ends",
	"ROCE922": "the slot, which makes no address",
	"ROCE825": "in words: what comes goes up again",
}

// inWords are values that a message says in words of its own, and what refers to another block.
var inWords = regexp.MustCompile(`^"?(true|false|on|off|up|down|keep|auto|none|rdma)"?$|^\[\]$|^\[?(qos|segment|switch|node|routing)\.|\?`)

var (
	labelWord = regexp.MustCompile(`[a-z]+[a-z0-9_./:-]*|[0-9]+[0-9a-z./:]*`)
	justEach  = regexp.MustCompile(`^each\.[a-z_.]+$`)
	justWord  = regexp.MustCompile(`^[a-z_]+( "[^"]*")*( \{)?$`)
)

// TestLabelLines: in each rule's example and in the incidents, a finding shows no line
// twice, points at an element of a for_each and not at the `each` that reads it, and each
// label that is a value is the one that the message names.
func TestLabelLines(t *testing.T) {
	used := map[string]bool{}
	for _, r := range lint.All {
		labelLines(t, r.Bad, used)
	}
	for _, file := range cases(t, "testdata/incidents/*.txtar", 12) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(text).Files {
			if f.Name == "fabric.roce.hcl" {
				labelLines(t, string(f.Data), used)
			}
		}
	}
	for rule := range sayOtherwise {
		if !used[rule] {
			t.Errorf("%s says its value now", rule)
		}
	}
}

func labelLines(t *testing.T, text string, used map[string]bool) {
	t.Helper()
	m := build(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(text)}}, "2026-06-01")
	for _, d := range m.Diags.All() {
		named := labelWords(d.Summary + " " + strings.Join(d.Notes, " "))
		for i, l := range d.Labels {
			if l.Span.File != 1 {
				continue // what a pack says
			}
			line := text[l.Span.Start:l.Span.End()]
			if j := slices.IndexFunc(d.Labels, func(o diag.Label) bool { return o.Span == l.Span }); j < i {
				t.Errorf("%s shows a line twice: %s\n%s", d.Rule, d.Summary, line)
			}
			if justEach.MatchString(line) {
				t.Errorf("%s points at what reads the value: %s\n%s", d.Rule, d.Summary, line)
			}
			if i == 0 && strings.HasPrefix(l.Text, "used by") {
				t.Errorf("%s begins with a use: %s", d.Rule, d.Summary)
			}
			if d.Rule == "" || slices.Contains(lint.Refusals, d.Rule) || justWord.MatchString(line) || inWords.MatchString(line) {
				continue // blocks, syntax, and refusals of targets, which name a field and not its value
			}
			if !slices.ContainsFunc(labelWords(line), func(w string) bool { return slices.Contains(named, w) }) {
				if used[d.Rule] = true; sayOtherwise[d.Rule] == "" {
					t.Errorf("%s: the line does not say what the message names: %s\n%s (%s)", d.Rule, d.Summary, line, l.Text)
				}
			}
		}
	}
}

// labelWords are the words and numbers of a text, with sizes in bytes and times in seconds.
func labelWords(text string) (list []string) {
	for _, w := range labelWord.FindAllString(strings.ToLower(text), -1) {
		w = strings.Trim(w, "./:-")
		list = append(list, w)
		if n := strings.TrimRight(w, "abcdefghijklmnopqrstuvwxyz"); n != w && n != "" { // 3m, 400ms, 8x25g
			list = append(list, n)
		}
		if head, _, ok := strings.Cut(w, "x"); ok {
			list = append(list, head)
		}
		for unit, of := range map[string]int{"s": 1000, "m": 60, "h": 3600, "km": 1000, "kb": 1000, "mb": 1e6, "kib": 1 << 10, "mib": 1 << 20} {
			if n, is := strings.CutSuffix(w, unit); is {
				if n, err := strconv.Atoi(n); err == nil {
					list = append(list, strconv.Itoa(n*of))
				}
			}
		}
		if i := strings.LastIndexAny(w, "/"); i > 0 { // tor/ethernet0, nvidia/sn3700, 10.0.0.1/24
			list = append(list, w[:i], w[i+1:])
		}
	}
	return list
}
