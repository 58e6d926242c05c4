package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rocec/rocec/compiler/lint"
)

// TestFEC: what a link needs of error correction follows from the rate of its lanes and
// its medium, and what a speed does not have is refused.
func TestFEC(t *testing.T) {
	const rules = "ROCE102 ROCE109 ROCE124"
	at := func(model, speed, fec, cable string) string {
		return strings.NewReplacer("nvidia/sn3700", model, `"100G"`, `"`+speed+`"`, `"rs"`, `"`+fec+`"`,
			`{ media = "dac", length = "3m" }`, cable).Replace(lint.TwoNodes(""))
	}
	split := func(fec string) string { // 100G on two lanes of eight
		return strings.NewReplacer("nvidia/sn3700", "nvidia/sn4700", dac, `{ media = "lr", length = "40m" }`, `"rs"`, `"`+fec+`"`).Replace(
			lint.TwoNodes(`breakout = "4x100G"`))
	}
	for _, x := range []struct {
		name, text string
		want       []string
	}{
		{"100G over copper", at("nvidia/sn3700", "100G", "rs", dac), nil},
		{"100G over copper without", at("nvidia/sn3700", "100G", "none", dac), []string{
			"ROCE109: ports tor/Ethernet0 and n1/rail0 run at 100G with FEC none: 100G over copper needs RS-FEC",
			"ROCE109: ports tor/Ethernet4 and n2/rail0 run at 100G with FEC none: 100G over copper needs RS-FEC",
		}},
		{"100G over copper with BASE-R", at("nvidia/sn3700", "100G", "fc", dac), []string{
			"ROCE109: ports tor/Ethernet0 and n1/rail0 run at 100G with FEC fc: 100G over copper needs RS-FEC",
			"ROCE109: ports tor/Ethernet4 and n2/rail0 run at 100G with FEC fc: 100G over copper needs RS-FEC",
		}},
		{"100G over multimode without", at("nvidia/sn3700", "100G", "none", `{ media = "sr", length = "40m" }`), []string{
			"ROCE109: ports tor/Ethernet0 and n1/rail0 run at 100G with FEC none: 100G over multimode fibre needs RS-FEC",
			"ROCE109: ports tor/Ethernet4 and n2/rail0 run at 100G with FEC none: 100G over multimode fibre needs RS-FEC",
		}},
		{"100G over single mode, whose modules may correct by themselves", at("nvidia/sn3700", "100G", "none", `{ media = "lr", length = "40m" }`), nil},
		{"the same with RS", at("nvidia/sn3700", "100G", "rs", `{ media = "lr", length = "40m" }`), nil},
		{"100G over single mode with BASE-R", at("nvidia/sn3700", "100G", "fc", `{ media = "lr", length = "40m" }`), []string{
			"ROCE124: ports tor/Ethernet0 and n1/rail0 run at 100G with FEC fc: 100G has no BASE-R FEC",
			"ROCE124: ports tor/Ethernet4 and n2/rail0 run at 100G with FEC fc: 100G has no BASE-R FEC",
		}},
		{"25G over 5 m without", at("nvidia/sn2010", "25G", "none", `{ media = "dac", length = "5m" }`), []string{
			"ROCE109: ports tor/Ethernet0 and n1/rail0 run at 25G with FEC none: 25G over more than 3 m of copper needs RS-FEC",
			"ROCE109: ports tor/Ethernet4 and n2/rail0 run at 25G with FEC none: 25G over more than 3 m of copper needs RS-FEC",
		}},
		{"25G over 3 m without", at("nvidia/sn2010", "25G", "none", dac), nil},
		{"25G over twisted pair", at("nvidia/sn2010", "25G", "none", `{ media = "cat8", length = "20m" }`), nil},
		{"40G with RS", at("nvidia/sn3700", "40G", "rs", dac), []string{
			"ROCE124: ports tor/Ethernet0 and n1/rail0 run at 40G with FEC rs: 40G has no RS-FEC",
			"ROCE124: ports tor/Ethernet4 and n2/rail0 run at 40G with FEC rs: 40G has no RS-FEC",
		}},
		{"40G with BASE-R", at("nvidia/sn3700", "40G", "fc", dac), nil},
		{"10G with RS", at("nvidia/sn3700", "10G", "rs", dac), []string{
			"ROCE124: ports tor/Ethernet0 and n1/rail0 run at 10G with FEC rs: 10G has no RS-FEC",
			"ROCE124: ports tor/Ethernet4 and n2/rail0 run at 10G with FEC rs: 10G has no RS-FEC",
		}},
		{"100G on two lanes", split("rs"), nil},
		{"100G on two lanes without", split("none"), []string{
			"ROCE109: ports tor/Ethernet0 and n1/rail0 run at 100G with FEC none: PAM4 lanes need RS-FEC",
			"ROCE109: ports tor/Ethernet4 and n2/rail0 run at 100G with FEC none: PAM4 lanes need RS-FEC",
		}},
		{"50G on two lanes or one", at("nvidia/sn3700", "50G", "none", dac), nil},
		{"200G without", at("nvidia/sn3700", "200G", "none", dac), []string{
			"ROCE109: ports tor/Ethernet0 and n1/rail0 run at 200G with FEC none: PAM4 lanes need RS-FEC",
			"ROCE109: ports tor/Ethernet4 and n2/rail0 run at 200G with FEC none: PAM4 lanes need RS-FEC",
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(x.want, findings(compiled(t, x.text), rules)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestFECEdits: of two ends that differ the one is changed that has what the speed or
// medium does not, and none where both would be lawful.
func TestFECEdits(t *testing.T) {
	for _, x := range []struct{ name, speed, port, nic, cable, want string }{
		{"RS from 25G a lane on", "100G", "rs", "none", dac, "rs"},
		{"never at 40G", "40G", "rs", "none", dac, "none"},
		{"nor at 10G", "10G", "fc", "rs", dac, "fc"},
		{"both are lawful", "25G", "fc", "none", dac, ""},
		{"RS for a long cable", "25G", "fc", "none", `{ media = "dac", length = "5m" }`, "rs"},
		{"the module decides", "100G", "rs", "none", `{ media = "fr", length = "40m" }`, ""},
	} {
		text := strings.NewReplacer(`"100G"`, `"`+x.speed+`"`, dac, x.cable).Replace(
			lint.Edit(lint.TwoNodes(""), `"rs"`, `"`+x.port+`"`, `"rs"`, `"`+x.port+`"`, `"rs"`, `"`+x.nic+`"`))
		n := 0
		for _, d := range compiled(t, text) {
			if d.Rule != "ROCE102" {
				continue
			}
			n++
			for _, e := range d.Edits {
				if e.Attr != "fec" || e.New != `"`+x.want+`"` {
					t.Errorf("%s: writes %s = %s", x.name, e.Attr, e.New)
				}
			}
			if (len(d.Edits) > 0) != (x.want != "") {
				t.Errorf("%s: %d edits", x.name, len(d.Edits))
			}
		}
		if n == 0 {
			t.Errorf("%s: nothing is found", x.name)
		}
	}
}

// TestWatchdogVariants: an alert ends no storm, and times are judged by each other.
func TestWatchdogVariants(t *testing.T) {
	const rules = "ROCE307 ROCE308 ROCE309 ROCE324 ROCE325"
	for _, x := range []struct {
		name, watchdog string
		want           []string
	}{
		{"alert", `{ action = "alert" }`, []string{"ROCE307: the watchdog of port tor/Ethernet0 only alerts: one bad NIC can stop the fabric"}},
		{"alert with times", `{ detect = "200ms", restore = "400ms", action = "alert" }`, []string{
			"ROCE307: the watchdog of port tor/Ethernet0 only alerts: one bad NIC can stop the fabric",
		}},
		{"drop", `{ detect = "200ms", restore = "400ms", action = "drop" }`, nil},
		{"kept", `"keep"`, nil},
		{"restored ten times later", `{ detect = "200ms", restore = "2s" }`, nil},
		{"restored much later", `{ detect = "200ms", restore = "60s" }`, []string{
			"ROCE309: watchdog on tor/Ethernet0 restores after 60000 ms and detects after 200 ms: it drops a lossless class for long after a storm",
			"ROCE325: watchdog on tor/Ethernet0 takes 200 ms to detect a storm and 60000 ms to restore, and connections retry for 30000 ms",
		}},
		{"as a chassis has it", `{ detect = "600ms", restore = "600ms" }`, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(x.want, findings(compiled(t, lint.TwoNodes("watchdog = "+x.watchdog)), rules)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// TestLosslessCount: no chip that is shipped has a limit of lossless priorities, so that
// three of them are a question of the buffer. What a model states is one.
func TestLosslessCount(t *testing.T) {
	three := lint.Find("ROCE305").Bad
	cumulus := strings.NewReplacer("nvidia/sn3700", "nvidia/sn5600", "sonic/202505", "cumulus-linux/5.14", `"Ethernet0"`, `"swp1"`, `"Ethernet4"`, `"swp2"`).Replace(three)
	for name, text := range map[string]string{"SONiC": three, "Cumulus Linux": cumulus} {
		for _, d := range compiled(t, text) {
			if d.Rule == "ROCE305" && d.Severity.String() != "warning" {
				t.Errorf("%s: %s: %s", name, d.Severity, d.Summary)
			}
		}
		if len(findings(compiled(t, text), "ROCE305")) != 1 {
			t.Errorf("%s: not found", name)
		}
	}
}
