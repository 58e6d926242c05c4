package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/plan"
	"github.com/rocec/rocec/deploy/record"
)

// planSchema is the published schema, with no key allowed that it does not name.
func planSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "schema", "plan.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	strict(doc)
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// strict forbids, in every object of a schema that names its keys, all others.
func strict(v any) {
	switch x := v.(type) {
	case map[string]any:
		if _, names := x["properties"].(map[string]any); names && x["type"] != nil {
			if _, open := x["additionalProperties"]; !open {
				x["additionalProperties"] = false
			}
		}
		for _, inner := range x {
			strict(inner)
		}
	case []any:
		for _, inner := range x {
			strict(inner)
		}
	}
}

func validate(s *jsonschema.Schema, p *plan.Plan) error {
	var b strings.Builder
	if err := p.JSON(&b); err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(b.String()))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func TestSchema(t *testing.T) {
	s := planSchema(t)
	waves := plan.Waves{Names: []string{"canary", "rest"}, Of: func(owner string) int { return 1 + len(owner)%2 }}
	full := plan.Options{
		RocecVersion: "0.1.0", View: view(), Full: true, Waves: waves, Variables: map[string]string{"share": record.Digest(nil)},
		Properties: []plan.Property{{Property: "lossless", Class: "rdma", Holds: true, Ports: 3}},
	}
	moved := mixed()[6:7]
	moved[0].From = plan.FromDevice
	for name, p := range map[string]*plan.Plan{
		"empty": compute(nil, plan.Options{}), "pod": compute(pod(), full), "mixed": compute(mixed(), full),
		"refresh": compute(moved, plan.Options{RefreshOnly: true}),
	} {
		if err := validate(s, p); err != nil || name == "refresh" && !p.Moved() {
			t.Errorf("%s: %v", name, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d, old := drawn(t, "device"), drawn(t, "old")
		x := plan.Device{Address: "switch.x", Target: fake, Want: d}
		if rapid.Bool().Draw(t, "recorded") {
			x.Recorded = entryOf(old, "switch.x", record.Applied)
		}
		if rapid.Bool().Draw(t, "captured") {
			x.Have = drawn(t, "have")
		}
		if err := validate(s, compute([]plan.Device{x}, plan.Options{Full: rapid.Bool().Draw(t, "full")})); err != nil {
			t.Fatal(err)
		}
	})
	// It refuses what is no plan.
	var b strings.Builder
	if err := compute(mixed(), full).JSON(&b); err != nil {
		t.Fatal(err)
	}
	for before, after := range map[string]string{
		`"actions":["update"]`: `"actions":["change"]`, `"drift":[`: `"drifted":[`, `"object":"port"`: `"object":"door"`, `"format_version":"1.0"`: `"format_version":"2.0"`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(b.String(), before, after, 1)))
		if err != nil || !strings.Contains(b.String(), before) {
			t.Fatalf("%s: %v", before, err)
		}
		if s.Validate(doc) == nil {
			t.Errorf("%s is a plan", after)
		}
	}
}

// Every kind of object has its word in the schema.
func TestSchemaObjects(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "schema", "plan.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs struct {
			Object struct{ Enum []string } `json:"object"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]intent.Object{intent.OfDevice, intent.OfPort, intent.OfLAG, intent.OfVLAN, intent.OfIface})
	if got := fmt.Sprint(doc.Defs.Object.Enum); got != want {
		t.Errorf("the schema has %s, plans %s", got, want)
	}
}
