package rocec_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/langtest"
	"github.com/rocec/rocec/lang/packs"
	"github.com/rocec/rocec/lang/schema"
	"github.com/rocec/rocec/targets/all"
)

// writtenBy are the files that devices get from a source, by device, emitter and path, or what was refused.
func writtenBy(files fstest.MapFS, main string) (got map[string]string, refused string) {
	with := fstest.MapFS{"fabric.roce.hcl": {Data: []byte(main)}}
	maps.Copy(with, files)
	cfg, diags := lang.Load(lang.Options{FS: with, Packs: packs.Files()})
	got = map[string]string{}
	if !diags.HasErrors() {
		res := compiler.Compile(cfg, compiler.Options{AsOf: "2026-01-01", Rows: packs.HeadroomRows})
		diags = append(diags, res.Diags...)
		if res.Facts != nil {
			devices, more := emitted(res)
			diags = append(diags, more...)
			for _, d := range devices {
				for _, f := range d.Files {
					got[fmt.Sprint(d.Address, " ", d.Target.Name, " ", f.Path)] = fmt.Sprint(f.Step, f.Mode, string(f.Bytes))
				}
			}
		}
	}
	for _, d := range diags {
		if d.Severity == diag.Error {
			refused += d.Summary + "\n"
		}
	}
	return got, refused
}

// observedValues are values that agree with what rocec writes, or that no other test has.
var observedValues = map[string][]string{
	"pfc_direction": {`"both"`}, "semi_lossless": {"false"}, "ecn_colors": {`["green", "yellow", "red"]`}, "pools": {`{ ingress = "4MB", egress_lossy = "2MB" }`},
	"mark_on": {`["initiators", "responders"]`}, "monitor": {`["pause", "cnp"]`}, "baseline": {`"here"`}, "fallback": {`{ to = "tcp", tested = true }`}, "cnp_interval": {`"4us"`},
	"qps": {"4"}, "cross_rail": {"true"}, "flood_class": {`"default"`}, "overlay": {`"vxlan"`}, "overlay_marks": {`"kept"`}, "slowed_by": {`"rtt"`}, "unknown_unicast": {`"limit"`}, "driver_origin": {`"inbox"`}, "adaptive": {"true", "false"}, "reordering": {"true", "false"},
}

// TestObservedIsNeverWritten puts each field of each `observed` into the blocks of fabrics for every target: devices get the
// same bytes with it and without, or the fabric is refused. Each field is taken at least once.
func TestObservedIsNeverWritten(t *testing.T) {
	targets := map[string]bool{}
	taken := map[string]bool{}
	guard, err := txtar.ParseFile("testdata/guards/marking_in_whole_kb.txtar")
	if err != nil {
		t.Fatal(err)
	}
	enterprise := string(guard.Files[0].Data)
	for _, w := range append(append(wordBases(), wordCorpus(t)...), wordText{name: "enterprise", main: enterprise}) {
		before, refused := writtenBy(w.files, w.main)
		if refused != "" || len(before) == 0 {
			continue
		}
		fresh := false
		for key := range before {
			target := strings.Fields(key)[1]
			fresh, targets[target] = fresh || !targets[target], true
		}
		fresh = fresh || strings.HasPrefix(w.name, "seed")
		for k := schema.None + 1; k < schema.KindCount; k++ {
			blocks := langtest.Blocks(w.main, k.String(), 1)
			if len(blocks) == 0 {
				continue
			}
			b := blocks[0]
			for _, field := range schema.Def(k).Seen() {
				name := field.Num.Name()
				if !fresh && taken[k.String()+"."+name] {
					continue
				}
				values := slices.Concat(wordValues[name], wordValues[k.String()+"."+name], observedValues[name])
				if values == nil {
					t.Errorf("%s of %s: no value is known", name, k)
				}
				for _, v := range values {
					if _, ok := b.Attrs[name]; ok || b.Attrs["observed"] != [2]int{} {
						continue
					}
					after, refused := writtenBy(w.files, w.main[:b.Open]+"\nobserved = { "+name+" = "+v+" }\n"+w.main[b.Open:])
					if refused != "" {
						continue
					}
					taken[k.String()+"."+name] = true
					if !maps.Equal(before, after) {
						t.Errorf("%s: %s = %s of %s is written to a device", w.name, name, v, k)
					}
				}
			}
		}
	}
	for _, target := range all.Targets {
		if !targets[target.Name] {
			t.Errorf("no fabric is for %s", target.Name)
		}
	}
	for k := schema.None + 1; k < schema.KindCount; k++ {
		for _, field := range schema.Def(k).Seen() {
			if key := k.String() + "." + field.Num.Name(); !taken[key] {
				t.Errorf("%s was never taken", key)
			}
		}
	}
	t.Log(slices.Sorted(maps.Keys(targets)), len(taken))
}
