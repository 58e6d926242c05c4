package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// PowerShellCommands fails t unless script keeps to the syntax of the emitted subset and every command in it is one the script defines
// or Microsoft documents, called with parameters it has, values they accept, and a parameter set that takes them together. It needs no
// program; PSCheck asks a real grammar.
func PowerShellCommands(t testing.TB, script []byte) {
	t.Helper()
	db, err := loadCmdlets(filepath.Join(Dir(t), "powershell-cmdlets.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range db.check(string(script)) {
		t.Errorf("PowerShell %s", f)
	}
}

// cmdlets is powershell-cmdlets.json.
type cmdlets struct {
	Cmdlets       map[string]*cmdlet   `json:"cmdlets"`
	Common        []string             `json:"common_parameters"`
	CommonAliases map[string]string    `json:"common_parameter_aliases"`
	CommonValues  map[string][]string  `json:"common_parameter_values"`
	IntegerRanges map[string][]float64 `json:"integer_type_ranges"`

	byName map[string]string // lower case -> as documented
}

type cmdlet struct {
	Sets       map[string]paramSet   `json:"parameter_sets"`
	Parameters map[string]*parameter `json:"parameters"`
}

type paramSet struct {
	Mandatory  []string `json:"mandatory"`
	Optional   []string `json:"optional"`
	Positional []string `json:"positional"`
}

type parameter struct {
	Type     string    `json:"type"`
	Switch   bool      `json:"switch"`
	Aliases  []string  `json:"aliases"`
	Accepted []string  `json:"accepted"`
	Range    []float64 `json:"range"`
	Pipeline []string  `json:"pipeline"`

	common bool
}

func loadCmdlets(path string) (*cmdlets, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	db := &cmdlets{byName: map[string]string{}}
	if err := json.Unmarshal(text, db); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for name := range db.Cmdlets {
		db.byName[strings.ToLower(name)] = name
	}
	return db, nil
}

// check returns everything wrong with a script, in the order of its lines.
func (db *cmdlets) check(src string) []psFinding {
	if text, marked := strings.CutPrefix(src, "\uFEFF"); marked {
		src = plainQuotes(text)
	}
	s := parsePS(src)
	s.characters(src)
	for i := range s.commands {
		db.command(s, &s.commands[i])
	}
	slices.SortStableFunc(s.findings, func(a, b psFinding) int { return a.line - b.line })
	return s.findings
}

func (s *psScript) find(line int, code, format string, args ...any) {
	s.findings = append(s.findings, psFinding{line, code, fmt.Sprintf(format, args...)})
}

// characters reports what is not ASCII: without a byte order mark 5.1 reads the file in the machine's code page, and it takes
// typographic quotes and dashes for plain ones.
func (s *psScript) characters(src string) {
	for i, line := range strings.Split(src, "\n") {
		for _, r := range line {
			if r >= 0x2013 && r <= 0x2015 || r >= 0x2018 && r <= 0x201F {
				s.find(i+1, "E-SMARTCHAR", "%U acts as a quote or dash", r)
				break
			}
			if r > 0x7e || r < ' ' && r != '\t' && r != '\r' {
				s.find(i+1, "E-NONASCII", "%U", r)
				break
			}
		}
	}
}

// plainQuotes is a marked script as if it were in ASCII: what single-quoted literals and comments hold beyond it is blanked, and
// a literal ends where PowerShell ends it. There are five single quotes; any one ends a literal, any two stand for one
// (PowerShell/PowerShell engine/parser/CharTraits.cs and tokenizer.cs). Others stay as they are, to be found.
func plainQuotes(src string) string {
	single := func(r rune) bool { return r == '\'' || r >= 0x2018 && r <= 0x201B }
	var b strings.Builder
	var in rune // ' in a literal, " in an expandable one, # in a comment
	runes := []rune(src)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case in == '\'' && single(r) && i+1 < len(runes) && single(runes[i+1]):
			b.WriteString("''")
			i++
			continue
		case in == '\'' && single(r):
			r, in = '\'', 0
		case in == '"' && r == '"', in == '#' && r == '\n':
			in = 0
		case in == 0 && (r == '\'' || r == '"' || r == '#' && (i == 0 || strings.ContainsRune(" \t\n", runes[i-1]))):
			in = r
		case (in == '\'' || in == '#') && r > 0x7e:
			r = 'x'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// command checks one call.
func (db *cmdlets) command(s *psScript, cmd *psCommand) {
	if fn, ok := s.funcs[strings.ToLower(cmd.name)]; ok {
		db.functionCall(s, cmd, fn)
		return
	}
	name, ok := db.byName[strings.ToLower(cmd.name)]
	if !ok {
		if !strings.HasSuffix(strings.ToLower(cmd.name), ".exe") {
			s.find(cmd.line, "E-CMD", "unknown command %s", cmd.name)
		}
		return
	}
	b := &binding{db: db, s: s, name: name, cmdlet: db.Cmdlets[name], cmd: cmd, given: map[string]given{}}
	if !b.bind() {
		return
	}
	b.values()
	b.sets()
}

// functionCall checks the parameter names of a call to the script's own function.
func (db *cmdlets) functionCall(s *psScript, cmd *psCommand, fn *psFunc) {
	for _, a := range cmd.args {
		if a.param == "" {
			continue
		}
		if _, ok := fn.switches[strings.ToLower(a.param)]; ok {
			continue
		}
		_, common := db.common(a.param)
		lower := strings.ToLower(a.param)
		if fn.binding && (common != nil || lower == "confirm" || lower == "whatif") {
			continue
		}
		s.find(a.line, "E-PARAM", "function %s has no parameter -%s", cmd.name, a.param)
	}
}

// common finds a parameter that every cmdlet has.
func (db *cmdlets) common(name string) (string, *parameter) {
	for alias, full := range db.CommonAliases {
		if strings.EqualFold(alias, name) {
			name = full
		}
	}
	for _, c := range db.Common {
		if strings.EqualFold(c, name) {
			isSwitch := c == "Verbose" || c == "Debug"
			return c, &parameter{Type: "String", Switch: isSwitch, Accepted: db.CommonValues[c], common: true}
		}
	}
	return "", nil
}

// binding binds the arguments of one call to a cmdlet's parameters.
type binding struct {
	db     *cmdlets
	s      *psScript
	name   string
	cmdlet *cmdlet
	cmd    *psCommand

	given      map[string]given // documented name
	order      []string         // of given
	positional int
}

type given struct {
	line  int
	param *parameter
	value *psValue
}

// bind enters every argument. It returns false when what is splatted is not known, so that sets cannot be judged.
func (b *binding) bind() bool {
	known := true
	pending := "" // the parameter that takes the next value
	for _, a := range b.cmd.args {
		switch {
		case a.splat != "":
			pairs, ok := b.s.tables[strings.ToLower(a.splat)]
			known = known && ok
			for _, p := range pairs {
				b.set(a.line, p.name, valueOf(p.text))
			}
		case a.param != "":
			name := b.set(a.line, a.param, a.value)
			pending = ""
			if name != "" && a.value == nil && !b.given[name].param.Switch {
				pending = name
			}
		case pending != "":
			g := b.given[pending]
			g.value = a.value
			b.given[pending] = g
			pending = ""
		default:
			b.positional++
		}
	}
	return known
}

// valueOf parses the text of one argument.
func valueOf(text string) *psValue {
	p := &psParser{src: text, out: &psScript{}, fn: &psFunc{switches: map[string]bool{}}, tableAt: map[int][]psPair{}}
	v := p.value()
	if p.inline(); p.failed || !p.done() {
		return &psValue{text: text, items: []psItem{{text: text}}} // an expression: nothing is known of its value
	}
	return &v
}

// set enters one named parameter and returns its documented name, "" if there is none.
func (b *binding) set(line int, name string, v *psValue) string {
	full, param := b.lookup(name)
	if param == nil {
		b.s.find(line, "E-PARAM", "%s has no parameter -%s", b.name, name)
		return ""
	}
	if !param.common && !strings.EqualFold(full, name) {
		b.s.find(line, "W-ALIAS", "%s -%s: write -%s", b.name, name, full)
	}
	if _, ok := b.given[full]; ok {
		b.s.find(line, "E-DUP", "%s -%s twice", b.name, full)
	} else {
		b.order = append(b.order, full)
	}
	b.given[full] = given{line, param, v}
	return full
}

func (b *binding) lookup(name string) (string, *parameter) {
	for full, p := range b.cmdlet.Parameters {
		if strings.EqualFold(full, name) {
			return full, p
		}
	}
	for full, p := range b.cmdlet.Parameters {
		if slices.ContainsFunc(p.Aliases, func(a string) bool { return strings.EqualFold(a, name) }) {
			return full, p
		}
	}
	return b.db.common(name)
}

// values checks what is given literally.
func (b *binding) values() {
	for _, name := range b.order {
		g := b.given[name]
		if g.value == nil {
			if !g.param.Switch {
				b.s.find(g.line, "E-NOVAL", "%s -%s needs a value", b.name, name)
			}
			continue
		}
		for _, item := range g.value.items {
			if item.literal {
				b.literal(name, g, item.text)
			}
		}
	}
}

// psNumber is an integer as PowerShell writes it, with a unit of 1024.
var psNumber = regexp.MustCompile(`(?i)^(-?\d+)(kb|mb|gb|tb)?$`)

// literal checks one literal value.
func (b *binding) literal(name string, g given, text string) {
	p := g.param
	if len(p.Accepted) > 0 && !slices.ContainsFunc(p.Accepted, func(a string) bool { return strings.EqualFold(a, text) }) {
		b.s.find(g.line, "E-VALUE", "%s -%s %s: not in %s", b.name, name, text, strings.Join(p.Accepted, ","))
	}
	if strings.HasPrefix(p.Type, "Boolean") || p.Switch {
		b.s.find(g.line, "E-BOOL", "%s -%s %s: want $true or $false", b.name, name, text)
	}
	bounds, ok := b.db.IntegerRanges[strings.TrimSuffix(p.Type, "[]")]
	if !ok {
		return
	}
	m := psNumber.FindStringSubmatch(text)
	if m == nil {
		b.s.find(g.line, "E-TYPE", "%s -%s %s: want %s", b.name, name, text, p.Type)
		return
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		b.s.find(g.line, "E-TYPE", "%s -%s %s: %v", b.name, name, text, err)
		return
	}
	if m[2] != "" {
		n *= float64(uint64(1) << (10 * (1 + strings.IndexByte("kmgt", m[2][0]|0x20))))
	}
	if len(p.Range) == 2 {
		bounds = p.Range
	}
	if n < bounds[0] || n > bounds[1] {
		b.s.find(g.line, "E-RANGE", "%s -%s %s: want %.0f..%.0f", b.name, name, text, bounds[0], bounds[1])
	}
}

// sets demands a parameter set that has every named parameter and whose mandatory ones are all there.
func (b *binding) sets() {
	if len(b.cmdlet.Sets) == 0 {
		return
	}
	var names []string
	for _, name := range b.order {
		if !b.given[name].param.common {
			names = append(names, name)
		}
	}
	for _, set := range b.cmdlet.Sets {
		if b.fits(set, names) {
			return
		}
	}
	b.s.find(b.cmd.line, "E-SET", "%s: no parameter set takes {%s} with %d positional", b.name, strings.Join(names, ", "), b.positional)
}

func (b *binding) fits(set paramSet, names []string) bool {
	for _, n := range names {
		if !slices.Contains(set.Mandatory, n) && !slices.Contains(set.Optional, n) {
			return false
		}
	}
	var slots []string
	for _, n := range set.Positional {
		if !slices.Contains(names, n) {
			slots = append(slots, n)
		}
	}
	if b.positional > len(slots) {
		return false
	}
	filled := append(slices.Clone(names), slots[:b.positional]...)
	for _, n := range set.Mandatory {
		piped := b.cmd.piped && b.cmdlet.Parameters[n] != nil && len(b.cmdlet.Parameters[n].Pipeline) > 0
		if !slices.Contains(filled, n) && !piped {
			return false
		}
	}
	return true
}
