package plan

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
)

// planJSON is a plan as programs read it.
type planJSON struct {
	FormatVersion string            `json:"format_version"`
	RocecVersion  string            `json:"rocec_version"`
	RefreshOnly   bool              `json:"refresh_only,omitempty"`
	Variables     map[string]string `json:"variables"`
	Changes       []changeJSON      `json:"resource_changes"`
	Drift         []changeJSON      `json:"drift"`
	Properties    []Property        `json:"properties"`
	Read          map[From]int      `json:"read"`
	Summary       Summary           `json:"summary"`
	Waves         []Wave            `json:"waves,omitempty"`
	Awaiting      []Awaited         `json:"awaiting"`
	Unseen        []Unseen          `json:"unseen"`
	Open          []Open            `json:"open_changes,omitempty"`
}

type changeJSON struct {
	Address string          `json:"address"`
	Device  string          `json:"device"`
	Owner   string          `json:"device_address"`
	Object  intent.Object   `json:"object"`
	Name    string          `json:"name"`
	Change  beforeAfter     `json:"change"`
	Impact  *impactJSON     `json:"impact"`
	Group   string          `json:"group"`
	Range   *diag.JSONRange `json:"range"`
	Note    string          `json:"note,omitempty"`
	Fields  []fieldJSON     `json:"fields"` // before and after once more, in order and with their effect
}

type beforeAfter struct {
	Actions []string          `json:"actions"`
	Before  map[string]string `json:"before"` // null of what is created
	After   map[string]string `json:"after"`  // null of what is destroyed
}

type impactJSON struct {
	Interrupts int    `json:"interrupts"` // objects whose traffic is interrupted
	Note       string `json:"note"`
}

type fieldJSON struct {
	Name       string `json:"name"`
	Before     string `json:"before"`
	After      string `json:"after"`
	Interrupts bool   `json:"interrupts,omitempty"`
	Note       string `json:"note,omitempty"`
	Source     string `json:"source,omitempty"`
}

// JSON writes the plan as one object and a line feed.
func (p *Plan) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(p) }

// MarshalJSON is the form of the command line reference. Lists are never null.
func (p *Plan) MarshalJSON() ([]byte, error) {
	orNone := func(m map[string]string) map[string]string {
		if m == nil {
			return map[string]string{}
		}
		return m
	}
	read := p.Read
	if read == nil {
		read = map[From]int{}
	}
	return json.Marshal(planJSON{
		FormatVersion: FormatVersion, RocecVersion: p.RocecVersion, RefreshOnly: p.RefreshOnly, Variables: orNone(p.Variables),
		Changes: changesJSON(p.Changes), Drift: changesJSON(p.Drift), Properties: append([]Property{}, p.Properties...), Read: read,
		Summary: p.Summary, Waves: p.Waves, Awaiting: append([]Awaited{}, p.Awaiting...), Unseen: append([]Unseen{}, p.Unseen...), Open: p.Open,
	})
}

// UnmarshalJSON reads what MarshalJSON writes. A plan of another major version
// is an error.
func (p *Plan) UnmarshalJSON(b []byte) error {
	var j planJSON
	if err := record.Unmarshal(b, &j); err != nil {
		return err
	}
	if err := record.CheckFormat(j.FormatVersion, FormatVersion); err != nil {
		return err
	}
	*p = Plan{RocecVersion: j.RocecVersion, RefreshOnly: j.RefreshOnly, Variables: j.Variables, Properties: j.Properties, Read: j.Read, Summary: j.Summary, Waves: j.Waves, Awaiting: j.Awaiting, Unseen: j.Unseen, Open: j.Open}
	for _, list := range []struct {
		from []changeJSON
		to   *[]Change
	}{{j.Changes, &p.Changes}, {j.Drift, &p.Drift}} {
		for i := range list.from {
			*list.to = append(*list.to, list.from[i].change())
		}
	}
	return nil
}

func changesJSON(list []Change) []changeJSON {
	out := make([]changeJSON, 0, len(list))
	for i := range list {
		out = append(out, list[i].json())
	}
	return out
}

func (c *Change) json() changeJSON {
	j := changeJSON{
		Address: c.Address, Device: c.Device, Owner: c.Owner, Object: c.Object, Name: c.Name,
		Group: c.Group, Range: c.Range, Note: c.Note, Fields: []fieldJSON{},
		Change: beforeAfter{Actions: []string{string(c.Action)}, Before: map[string]string{}, After: map[string]string{}},
	}
	note := ""
	for _, f := range c.Fields {
		j.Fields = append(j.Fields, fieldJSON{f.Name, f.Before, f.After, f.Interrupts, f.Note, f.Source})
		if f.Interrupts && note == "" {
			note = f.Note
		}
		if f.Before != "" {
			j.Change.Before[f.Name] = f.Before
		}
		if f.After != "" {
			j.Change.After[f.Name] = f.After
		}
	}
	switch c.Action {
	case Create:
		j.Change.Before = nil
	case Delete:
		j.Change.After = nil
	case Replace:
		j.Change.Actions = []string{string(Delete), string(Create)}
	}
	if c.Interrupts > 0 {
		j.Impact = &impactJSON{c.Interrupts, cmpOr(note, c.Note)}
	}
	return j
}

func (j *changeJSON) change() Change {
	c := Change{Address: j.Address, Device: j.Device, Owner: j.Owner, Object: j.Object, Name: j.Name, Note: j.Note, Group: j.Group, Range: j.Range}
	switch {
	case slices.Equal(j.Change.Actions, []string{string(Delete), string(Create)}):
		c.Action = Replace
	case len(j.Change.Actions) == 1:
		c.Action = Action(j.Change.Actions[0])
	}
	if j.Impact != nil {
		c.Interrupts = j.Impact.Interrupts
	}
	for _, f := range j.Fields {
		c.Fields = append(c.Fields, Field{Name: f.Name, Before: f.Before, After: f.After, Interrupts: f.Interrupts, Note: f.Note, Source: f.Source})
	}
	return c
}
