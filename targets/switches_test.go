package targets

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
)

func TestStem(t *testing.T) {
	const most = 12
	taken := func(name string) bool { return strings.HasSuffix(name, "_q3") }
	for qos, want := range map[string]string{
		"roce": "p_roce", "A-b_9": "p_A-b_9", "exactly12-__": "p_exactly12-__", "thirteen-____": "p_thi-", "a.b": "p_a_b-", "x_q3": "p_x_q-", "": "p_-",
	} {
		got := Stem("p_", qos, most, taken)
		hashed := strings.HasSuffix(want, "-") // and eight digits, which are for the name of the value
		if got != want && !hashed || !strings.HasPrefix(got, want) || hashed && len(got) != len(want)+8 {
			t.Errorf("%q: %q, want %q", qos, got, want)
		}
	}
	seen := map[string]string{}
	for _, qos := range []string{"roce", "roce_q3", "a.b", "a_b", "a-b", "A_b", strings.Repeat("n", 12), strings.Repeat("n", 13), strings.Repeat("n", 14), "", "_"} {
		got := Stem("p_", qos, most, taken)
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q are both %q", other, qos, got)
		}
		seen[got] = qos
		if strings.Trim(got, letters+upper+digits+"-_") != "" || taken(got) {
			t.Errorf("%q gives %q", qos, got)
		}
	}
}

func TestRelease(t *testing.T) {
	for text, want := range map[string]Release{"5.9": {5, 9}, "5.11.0": {5, 11}, "4.1-rc.2": {}, "5": {}, "": {}, "a.b": {}, "-1.2": {}} {
		got, ok := ParseRelease(text)
		if ok != (want != Release{}) || ok && got != want {
			t.Errorf("%q: %v, %t", text, got, ok)
		}
	}
	for _, c := range []struct {
		a, b Release
		want int
	}{{Release{5, 9}, Release{5, 11}, -1}, {Release{6, 0}, Release{5, 15}, 1}, {Release{5, 9}, Release{5, 9}, 0}} {
		if got := c.a.Compare(c.b); got != c.want {
			t.Errorf("%v with %v: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestLimitTrust(t *testing.T) {
	dscp, pcp := intent.Some([64]uint8{26: 3}), intent.Some([8]uint8{3: 3})
	for name, c := range map[string]struct {
		qos  intent.QoS
		want string
	}{
		"nothing":             {intent.QoS{}, ""},
		"map alone":           {intent.QoS{DSCP: dscp}, "has a map of marks and no trust"},
		"DSCP":                {intent.QoS{Trust: intent.Some(intent.TrustDSCP), DSCP: dscp}, ""},
		"DSCP, the other map": {intent.QoS{Trust: intent.Some(intent.TrustDSCP), PCP: pcp}, "trusts DSCP and has no map"},
		"PCP":                 {intent.QoS{Trust: intent.Some(intent.TrustPCP), PCP: pcp}, ""},
		"PCP, the other map":  {intent.QoS{Trust: intent.Some(intent.TrustPCP), DSCP: dscp}, "trusts PCP and has no map"},
		"none":                {intent.QoS{Trust: intent.Some(intent.TrustNone), PCP: intent.Some([8]uint8{2, 2, 2, 2, 2, 2, 2, 2})}, ""},
		"none, marks count":   {intent.QoS{Trust: intent.Some(intent.TrustNone), DSCP: dscp}, "gives marks different priorities"},
		"none, maps differ":   {intent.QoS{Trust: intent.Some(intent.TrustNone), DSCP: intent.Some([64]uint8{}), PCP: intent.Some([8]uint8{1, 1, 1, 1, 1, 1, 1, 1})}, "gives marks different priorities"},
	} {
		var got []string
		LimitTrust(&c.qos, func(summary, _ string, _ ...intent.Path) { got = append(got, summary) })
		if text := strings.Join(got, "\n"); len(got) > 1 || (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
