package windows

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

// cmdletsJSON is what Microsoft documents of the cmdlets that are answered here:
// names, parameters and their sets, taken out of testdata/oracles by
// TestTable, with the repositories and commits that it rests on.
//
//go:embed cmdlets.json
var cmdletsJSON []byte

// cmdletTable is cmdlets.json. Names of parameters are as documented.
type cmdletTable struct {
	Origin  map[string]string       `json:"origin"` // repository to commit
	Common  []string                `json:"common"` // parameters of every cmdlet
	Cmdlets map[string]*cmdletEntry `json:"cmdlets"`

	byName map[string]*cmdletEntry
}

type cmdletEntry struct {
	Switches []string            `json:"switches,omitempty"`
	Aliases  map[string]string   `json:"aliases,omitempty"`
	Accepted map[string][]string `json:"accepted,omitempty"` // members of enumerations
	Sets     []parameterSet      `json:"sets"`
}

// parameterSet is a set of parameters that go together.
type parameterSet struct {
	Mandatory  []string `json:"m,omitempty"`
	Optional   []string `json:"o,omitempty"`
	Positional int      `json:"p,omitempty"` // how many may be given by position
	Piped      []string `json:"i,omitempty"` // those that the pipeline may give
}

// table is read once: it is the same for every host.
var table = sync.OnceValue(func() *cmdletTable {
	t := &cmdletTable{byName: map[string]*cmdletEntry{}}
	if err := json.Unmarshal(cmdletsJSON, t); err != nil {
		return t // the test of the table notices
	}
	for name, c := range t.Cmdlets {
		t.byName[strings.ToLower(name)] = c
	}
	return t
})

// parameters are those of a cmdlet, sorted.
func (t *cmdletTable) parameters(cmdlet string) (names []string) {
	c := t.byName[strings.ToLower(cmdlet)]
	if c == nil {
		return nil
	}
	for _, s := range c.Sets {
		names = append(append(names, s.Mandatory...), s.Optional...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func contains(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

func (t *cmdletTable) isSwitch(cmdlet, parameter string) bool {
	c := t.byName[cmdlet]
	return c != nil && contains(c.Switches, parameter) || parameter == "verbose" || parameter == "debug"
}

// command demands that a cmdlet has the parameters that it is called with, and
// one set of parameters that takes them all.
func (t *cmdletTable) command(c *powershell.Call) (instead bool) {
	def, ok := t.byName[c.Name]
	if !ok {
		c.Mistake("%s is in none of the documents that this lab rests on", c.Name)
	}
	var given []string
	for name, value := range c.Named {
		if contains(t.Common, name) {
			continue
		}
		if !slices.ContainsFunc(def.Sets, func(s parameterSet) bool { return contains(s.Mandatory, name) || contains(s.Optional, name) }) {
			c.Mistake("A parameter cannot be found that matches parameter name '%s'.", name)
		}
		given = append(given, name)
		for p, words := range def.Accepted {
			if strings.EqualFold(p, name) {
				accepted(c, p, words, value)
			}
		}
	}
	if !slices.ContainsFunc(def.Sets, func(s parameterSet) bool { return s.takes(c, given) }) {
		c.Mistake("%s: Parameter set cannot be resolved using the specified named parameters.", c.Name)
	}
	return false
}

// accepted demands members of an enumeration; numbers stand for members too.
func accepted(c *powershell.Call, parameter string, words []string, value any) {
	for _, v := range powershell.Spread(value) {
		if s, ok := v.(string); ok && !contains(words, s) {
			c.Mistake("Cannot bind parameter '%s'. Cannot convert value \"%s\". The possible enumeration values are \"%s\".", parameter, s, strings.Join(words, ","))
		}
	}
}

func (s parameterSet) takes(c *powershell.Call, given []string) bool {
	for _, name := range given {
		if !contains(s.Mandatory, name) && !contains(s.Optional, name) {
			return false
		}
	}
	open := len(c.Rest)
	for _, name := range s.Mandatory {
		_, has := c.Named[strings.ToLower(name)]
		switch {
		case has:
		case c.Input != nil && contains(s.Piped, name):
		case open > 0:
			open--
		default:
			return false
		}
	}
	return len(c.Rest) <= s.Positional
}
