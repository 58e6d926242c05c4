package intent

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

type integer interface {
	~int8 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func number[T integer](n T) string {
	if n < 0 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(uint64(n), 10)
}

func word[T ~string](s T) string { return string(s) }

// words is a list in ascending order, "none" if it is empty.
func words[T ~string](list []T) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, 0, len(list))
	for _, w := range slices.Sorted(slices.Values(list)) {
		parts = append(parts, string(w))
	}
	return strings.Join(parts, ", ")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func milliseconds(ms uint32) string { return number(ms) + "ms" }

func seconds(s uint32) string { return number(s) + "s" }

// metres is a length of cable as the language writes it: "3m", "0.5m".
func metres(mm uint32) string {
	return strconv.FormatFloat(float64(mm)/1000, 'f', -1, 64) + "m"
}

// speed is a rate as the language writes it: "100G", "2500M".
func speed(mbps uint32) string {
	if mbps > 0 && mbps%1000 == 0 {
		return number(mbps/1000) + "G"
	}
	return number(mbps) + "M"
}

// numbers is a list in ascending order, "none" if it is empty.
func numbers(list []uint16) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, 0, len(list))
	for _, n := range slices.Sorted(slices.Values(list)) {
		parts = append(parts, number(n))
	}
	return strings.Join(parts, ", ")
}

// prefixes is a list of addresses in ascending order, "none" if it is empty.
func prefixes(list []netip.Prefix) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, 0, len(list))
	for _, p := range slices.SortedFunc(slices.Values(list), comparePrefixes) {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, ", ")
}

func comparePrefixes(a, b netip.Prefix) int {
	if c := a.Addr().Compare(b.Addr()); c != 0 {
		return c
	}
	return a.Bits() - b.Bits()
}

// runs is a total map with equal neighbours joined: "0-25:0 26:3 27-63:0".
func runs(m []uint8) string {
	var b strings.Builder
	for i := 0; i < len(m); {
		j := i
		for j+1 < len(m) && m[j+1] == m[i] {
			j++
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(i))
		if j > i {
			b.WriteString("-" + strconv.Itoa(j))
		}
		b.WriteString(":" + number(m[i]))
		i = j + 1
	}
	return b.String()
}

// schedule is "0:50% 3:50% (cap 5G) 6:strict"; traffic classes that nothing
// uses are left out.
func schedule(s [8]Sched) string {
	var parts []string
	for tc, x := range s {
		var part string
		switch x.Kind {
		case SchedIdle:
			continue
		case SchedETS:
			part = strconv.Itoa(tc) + ":" + number(x.Percent) + "%"
		default:
			part = strconv.Itoa(tc) + ":" + string(x.Kind)
		}
		if x.CapMbps > 0 {
			part += " (cap " + speed(x.CapMbps) + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, " ")
}

// marking is "3: 150000..1500000 @100%" in bytes, for each queue that marks.
func marking(q [8]ECN) string {
	var parts []string
	for tc, e := range q {
		if e.On {
			parts = append(parts, strconv.Itoa(tc)+": "+number(e.MinBytes)+".."+number(e.MaxBytes)+" @"+number(e.Probability)+"%")
		}
	}
	if len(parts) == 0 {
		return "off"
	}
	return strings.Join(parts, ", ")
}
