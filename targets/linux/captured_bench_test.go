package linux

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
)

// BenchmarkCaptured reads what a host shows that is as it should be. With
// ROCEC_RECORD, the folder of a record, it is every host of that; with
// ROCEC_CAPTURES besides, what each shows is written into that folder, where
// rocec plan --from reads it: docs/performance.md says how.
func BenchmarkCaptured(b *testing.B) {
	hosts := []*intent.Device{podHost()}
	if dir := os.Getenv("ROCEC_RECORD"); dir != "" {
		hosts = recorded(b, dir)
	}
	if dir := os.Getenv("ROCEC_CAPTURES"); dir != "" {
		for _, d := range hosts {
			for name, text := range shown(b, d).Files {
				file := filepath.Join(dir, d.Name, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(file, text, 0o644); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	c := shown(b, hosts[0])
	b.ReportAllocs()
	for b.Loop() {
		if got, list := parse(hosts[0], c); len(list) > 0 || len(intent.Diff(hosts[0], got)) > 0 {
			b.Fatalf("%+v %+v", list, intent.Diff(hosts[0], got))
		}
	}
	b.ReportMetric(float64(len(hosts)), "hosts")
	b.ReportMetric(float64(len(c.Files)), "files/host")
}

// recorded are the hosts of a record.
func recorded(b *testing.B, dir string) (list []*intent.Device) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(names) == 0 {
		b.Fatalf("no record in %s: %v", dir, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		var e struct {
			Emitter string
			Intent  *intent.Device
		}
		if err := json.Unmarshal(text, &e); err != nil {
			b.Fatal(err)
		}
		if e.Emitter == Target.Name && e.Intent != nil {
			list = append(list, e.Intent)
		}
	}
	return list
}
