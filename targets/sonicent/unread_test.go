package sonicent

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/targettest"
)

// section is a mode of a running configuration and its lines.
type section struct {
	mode  string
	lines []string
}

// sections takes a running configuration apart.
func sections(text string) []section {
	var list []section
	at := 0
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.TrimSpace(l) == "" || l[0] == '!' || strings.TrimSpace(l) == "exit":
		case l[0] != ' ' || len(list) == 0:
			if at = slices.IndexFunc(list, func(s section) bool { return s.mode == l }); at < 0 {
				at, list = len(list), append(list, section{mode: l})
			}
		default:
			list[at].lines = append(list[at].lines, strings.TrimSpace(l))
		}
	}
	return list
}

func printed(list []section) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString("!\n" + s.mode + "\n")
		for _, l := range s.lines {
			b.WriteString(" " + l + "\n")
		}
	}
	return b.String()
}

// replaces are the settings of an interface that have one value: another takes its place.
var replaces = []string{"channel-group", "switchport access Vlan", "switchport trunk allowed Vlan"}

// obey is what commands make of a running configuration: no takes away what begins as
// it does, another VRF takes all addresses, and one value takes the place of another.
func obey(have []section, commands string) []section {
	have = slices.Clone(have)
	for _, c := range sections(commands) {
		i := slices.IndexFunc(have, func(s section) bool { return s.mode == c.mode })
		if i < 0 {
			have = append(have, c)
			continue
		}
		lines := slices.Clone(have[i].lines)
		gone := func(prefix string) {
			lines = slices.DeleteFunc(lines, func(l string) bool { return l == prefix || strings.HasPrefix(l, prefix+" ") })
		}
		for _, l := range c.lines {
			if what, no := strings.CutPrefix(l, "no "); no {
				gone(what)
				gone(strings.TrimSuffix(what, " secondary"))
				continue
			}
			for _, one := range replaces {
				if strings.HasPrefix(l, one+" ") && !strings.HasPrefix(l, one+" remove ") {
					gone(one)
				}
			}
			if strings.HasPrefix(l, "ip vrf forwarding ") && !slices.Contains(lines, l) {
				gone("ip address")
				gone("ipv6 address")
			}
			if !slices.Contains(lines, l) {
				lines = append(lines, l)
			}
		}
		have[i].lines = lines
	}
	return have
}

// odd are lines that nobody can read, for the modes that are written.
var odd = []struct {
	modes []string // what they begin with
	lines []string
	told  bool
}{
	{[]string{"interface Eth", "interface Vlan", "interface PortChannel", "interface Loopback"}, []string{
		"ip address 10.4.3.2", "ip address 10.4.3.300/24", "ip address 10.0.0.1 255.255.255.0", "ipv6 address fc00::1/129",
		"ipv6 address FC00::G/64",
		"ip address 10.4.3.2/24 tertiary",
	}, true},
	{[]string{"interface Eth", "interface PortChannel"}, []string{
		"switchport access Vlan none", "switchport trunk allowed Vlan 10-", "switchport trunk allowed Vlan 1-4095",
		"queue 9 wred-policy theirs", "queue x wred-policy theirs",
	}, true},
	{[]string{"interface Eth"}, []string{"channel-group abc", "fec XX", "cable-length 7parsec", "mtu jumbo"}, false},
	{[]string{"interface Eth", "interface Vlan", "interface PortChannel", "qos ", "mclag ", "ip access-list", "interface Loopback"}, []string{
		"something else entirely", "description ip address", "priority-flow-control priority x", "qos-map dot1p",
		"seq abc permit ip any any", "no-such thing",
	}, false},
	{[]string{"qos map dscp-tc"}, []string{"dscp 64 traffic-class 3", "dscp 3 traffic-class 9", "dscp x traffic-class 1"}, true},
	{[]string{"qos scheduler-policy"}, []string{"queue 99", "queue x"}, true},
}

// TestUnreadStays: a line that the reader passes over is there after the commands as it
// was before, or there are no commands, and that is told.
func TestUnreadStays(t *testing.T) {
	for name, device := range fixtures {
		t.Run(name, func(t *testing.T) {
			d, before := device(), device()
			for i := range before.Ifaces {
				before.Ifaces[i].Addresses = prefixes("192.0.2."+decimal(uint16(i+1))+"/32", "2001:db8::"+decimal(uint16(i+1))+"/128")
			}
			for i := range before.Ports {
				if p := &before.Ports[i]; p.Native.IsSet() || p.Tagged.IsSet() {
					p.Native, p.Tagged = intent.Opt[uint16]{}, intent.Some([]uint16{3001})
				}
			}
			met, kept, refused := map[string]int{}, 0, 0
			for _, base := range []*intent.Device{d, before} {
				have := sections(string(capture(targettest.Emit(&Target, base)).Files[running]))
				for i, s := range have {
					for _, o := range odd {
						k := slices.IndexFunc(o.modes, func(m string) bool { return strings.HasPrefix(s.mode, m) })
						if k < 0 || met[o.modes[k]+o.lines[0]] > 3 {
							continue
						}
						met[o.modes[k]+o.lines[0]]++
						for _, line := range o.lines {
							with := slices.Clone(have)
							with[i].lines = append(slices.Clone(s.lines), line)
							if strings.HasPrefix(line, "channel-group") || strings.HasPrefix(line, "switchport") {
								prefix := line[:strings.LastIndex(line, " ")]
								with[i].lines = append(slices.DeleteFunc(slices.Clone(s.lines), func(l string) bool { return strings.HasPrefix(l, prefix) }), line)
							}
							c := shown("!\n" + printed(with))
							_, read := parse(d, c)
							said := func(x diag.Diagnostic) bool { return x.Help != "" }
							if o.told && !slices.ContainsFunc(read, said) {
								t.Errorf("%s, %q: nothing is told", s.mode, line)
							}
							var out emit.Out
							if list := rebase(d, c, &out); list.HasErrors() {
								refused++
								last := list[len(list)-1]
								if words := strings.Fields(line); !strings.Contains(last.Summary, words[len(words)-1]) {
									t.Errorf("%s, %q: refused: %v", s.mode, line, list)
								}
								continue
							}
							kept++
							after := obey(with, targettest.Text(out.Artifacts, configFile))
							set := strings.HasPrefix(line, "switchport access") && slices.ContainsFunc(after[i].lines,
								func(l string) bool { return strings.HasPrefix(l, "switchport access") })
							if !slices.Contains(after[i].lines, line) && !set { // the setting itself is written
								t.Errorf("%s, %q: it is gone:\n%s", s.mode, line, printed(after[i:i+1]))
							}
						}
					}
				}
			}
			if kept < 40 || refused == 0 {
				t.Errorf("%d stay, %d are refused", kept, refused)
			}
		})
	}
}

// TestUnreadLines: lines of no mode that is read are told and stay, or are refused.
func TestUnreadLines(t *testing.T) {
	d := tor()
	whole := string(capture(targettest.Emit(&Target, d)).Files[running])
	for _, text := range []string{
		"interface breakout port 1/1 mode 4x25G by hand\n",
		"interface Eth1/1\n switchport trunk allowed Vlan " + strings.Repeat("10,", maxLine) + "20\n",
	} {
		got, list := captured(shown(whole + text))
		if len(list) == 0 || got == nil || list[0].Help == "" {
			t.Errorf("%.60q: nothing is told: %v", text, list)
		}
	}
	for i := range d.Ports {
		if p := &d.Ports[i]; p.Breakout != "" {
			text := "interface Loopback9\n!\ninterface breakout port " + frontPort(p) + " mode " + p.Breakout + " by hand\n"
			var out emit.Out
			if list := rebase(d, shown(text), &out); !list.HasErrors() {
				t.Errorf("%s is split over what nobody understands", p.Name)
			}
			return
		}
	}
}

// TestSpelling: an address in capitals is what is wanted, and is written as it stands.
func TestSpelling(t *testing.T) {
	d := leaf()
	d.Ifaces[0].Addresses = prefixes("10.255.0.9/32", "2001:db8:0:a::1/128")
	text := string(capture(targettest.Emit(&Target, d)).Files[running])
	if !strings.Contains(text, "2001:db8:0:a::1/128") {
		t.Fatal("the address is not written")
	}
	text = strings.Replace(text, "2001:db8:0:a::1/128", "2001:DB8:0:A::1/128", 1)
	var out emit.Out
	if list := rebase(d, shown(text), &out); list.HasErrors() {
		t.Fatal(list)
	}
	if got := targettest.Text(out.Artifacts, configFile); strings.Contains(got, "2001:db8") || strings.Contains(got, "no ipv6 address") {
		t.Errorf("the address is renamed:\n%s", got)
	}
	seen, _ := parse(d, shown(text))
	if differs, _ := intent.Compare(d, seen); len(differs) > 0 {
		t.Errorf("%v", differs)
	}
}
