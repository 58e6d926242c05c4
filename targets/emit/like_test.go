package emit

import (
	"testing"

	"github.com/rocec/rocec/compiler/intent"
)

// TestLike: devices that differ in names only share the files of a part without
// them, and have those of a part with them for themselves.
func TestLike(t *testing.T) {
	device := func(name string) *intent.Device {
		return &intent.Device{Version: intent.Version, Name: name, Ports: []intent.Port{{Name: "Ethernet0"}}}
	}
	memo, like := NewMemo(), NewLike(device("leaf0"), device(""))
	made := map[string]int{}
	for _, name := range []string{"leaf0", "leaf1", "leaf2", "leaf1"} {
		out := &Out{Memo: memo, Like: like}
		d := device(name)
		write := func(what string) func(*intent.Device, *Out) {
			return func(part *intent.Device, out *Out) {
				made[what]++
				out.File(what, 0o644, Data).Line("%s %d", part.Name, len(part.Ports))
			}
		}
		out.Alike("bare", d, func(part *intent.Device) { part.Name = "" }, write("bare"))
		out.Alike("named", d, func(part *intent.Device) { part.Ports = nil }, write("named"))
		for i, want := range []string{" 1\n", name + " 0\n"} {
			if got := string(out.Artifacts[i].Bytes); got != want {
				t.Errorf("%s: %s is %q, want %q", name, out.Artifacts[i].Path, got, want)
			}
		}
		if out.Digest(d) != intent.Digest(d) {
			t.Errorf("%s: another digest than by itself", name)
		}
	}
	if made["bare"] != 1 || made["named"] != 3 {
		t.Errorf("the part without names was made %d times, the others %d", made["bare"], made["named"])
	}
}
