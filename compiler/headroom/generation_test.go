package headroom_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rocec/rocec/compiler/headroom"
)

func TestGenerationOf(t *testing.T) {
	const old, mid, now = headroom.Spectrum202311, headroom.Spectrum202405, headroom.Spectrum202605
	for release, want := range map[string]headroom.Generation{
		"202111": old, "202205": old, "202211": old, "202305": old, "202311": old, "202404": old,
		"202405": mid, "202411": mid, "202505": mid, "202511": mid, "202604": mid,
		"202605": now, "202611": now, "203001": now, "master": now,
		"202405.3": mid, "20230531.12": old, "20240531": mid, "SONiC.202311.1-ab12cd3": old,
		"sonic.master.12-0123abc": now, "SONiC-OS-202605.0-dirty-2026": now, "202505_RC4": mid,
	} {
		if got, err := headroom.GenerationOf(release); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", release, got, err, want)
		}
	}
	for _, release := range []string{
		"", "main", "Master", "2024", "20240", "2024050", "202400", "202413", "20240500", "20240532", "000000", "201412",
		"201911", "202012", "202106", "SONiC.", "SONiC-OS-", "latest", "202405x", " 202405", "+202405", "-20240", "２０２４０５", "5.9.1",
	} {
		got, err := headroom.GenerationOf(release)
		var bad *headroom.ReleaseError
		if !errors.As(err, &bad) || bad.Release != release || got != 0 {
			t.Errorf("%q: got %v, %v, want a release error", release, got, err)
		}
	}
}

func FuzzGenerationOf(f *testing.F) {
	for _, s := range []string{"202305", "202405.1", "master", "SONiC.202605.2", "20240531.07", "", "SONiC-OS-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, release string) {
		g, err := headroom.GenerationOf(release)
		if (err == nil) != (g >= headroom.Spectrum202311 && g <= headroom.Spectrum202605) {
			t.Fatalf("%q: %v, %v", release, g, err)
		}
		if err != nil {
			return
		}
		// What follows the branch never changes the answer.
		for _, suffix := range []string{".1", "-rc", "_x"} {
			if again, err := headroom.GenerationOf(release + suffix); err != nil || again != g {
				t.Fatalf("%q: %v, with %s %v, %v", release, g, suffix, again, err)
			}
		}
	})
}

func ExampleGenerationOf() {
	g, _ := headroom.GenerationOf("20240531.12")
	fmt.Println(g)
	_, err := headroom.GenerationOf("202012")
	fmt.Println(err)
	// Output:
	// 202405 to 202511
	// SONiC release "202012": older than 202111, the first with a known headroom algorithm
}
