package sonicent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// prefix marks the maps and policies that rocec makes; those of the image are
// called ROCE.
const prefix = "rocec_"

// Suffixes of names: the WRED policy of one queue, the scheduler policy of some
// queues, which are in its name because a command adds queues and takes none away,
// and the maps of a port that trusts nothing. pfcMap is the one map from pauses to
// queues that the switch has [ansible sonic_qos_maps.py].
const (
	queueSuffix     = "_q"
	policySuffix    = "_s"
	untrustedSuffix = "_none"
	pfcMap          = prefix + "pfc"
)

// maxBase leaves room for the prefix and the longest suffix in 32 characters
// [grammar sonic_types.xml STRING_32].
const maxBase = 16

var (
	suffixed   = regexp.MustCompile(`(_[qs][0-7]+|_none)$`)
	native     = regexp.MustCompile(`^Ethernet(0|[1-9][0-9]{0,3})$`)
	standard   = regexp.MustCompile(`^Eth1/([1-9][0-9]{0,2})(/([1-8]))?$`)
	lagName    = regexp.MustCompile(`^PortChannel([1-9][0-9]{0,2})$`)
	loopName   = regexp.MustCompile(`^Loopback(0|[1-9][0-9]{0,4})$`)
	vrfName    = regexp.MustCompile(`^Vrf[A-Za-z0-9_-]{1,12}$`)
	ownedNames = regexp.MustCompile(`^(Ethernet|Eth|PortChannel|Loopback|Vlan)[0-9]`)
)

// maxLAG and maxLoopback are the largest numbers of PortChannels and loopbacks
// [grammar sonic_types.xml LAG_ID, LO_ID].
const maxLAG, maxLoopback = 256, 16383

// modes are the splits that the CLI knows [grammar sonic_types.xml DPB_MODE].
var modes = []string{"2x50G", "2x100G", "2x200G", "4x10G", "4x25G", "4x50G", "4x100G", "8x10G", "8x25G", "8x50G"}

// base is the name of what is made for a QoS value. Names that could be taken for
// a longer one, or are long themselves, are cut and get a hash, so that different
// values never share a map.
func base(qos string) string {
	return targets.Stem(prefix, qos, maxBase, func(name string) bool { return suffixed.MatchString(name) || prefix+name == pfcMap })
}

func queueName(qos string, queue int) string { return base(qos) + queueSuffix + strconv.Itoa(queue) }

// policyName is the scheduler policy of a QoS value.
func policyName(q *intent.QoS) string {
	name := base(q.Name) + policySuffix
	for queue, s := range q.Sched.Value {
		if s.Kind != intent.SchedIdle {
			name += strconv.Itoa(queue)
		}
	}
	return name
}

func vlanName(id uint16) string { return "Vlan" + decimal(id) }

func decimal[N ~uint8 | ~uint16 | ~uint32 | ~uint64](n N) string {
	return strconv.FormatUint(uint64(n), 10)
}

// entered is an interface as the CLI enters it: PortChannels and loopbacks have
// a blank before the number [grammar interface.xml].
func entered(name string) string {
	for _, kind := range []string{"PortChannel", "Loopback"} {
		if rest, ok := strings.CutPrefix(name, kind); ok {
			return kind + " " + rest
		}
	}
	return name
}

// ranges writes numbers as the CLI does and takes them: 0-25,27.
func ranges[N ~uint8 | ~uint16 | ~int](list []N) string {
	sorted := slices.Sorted(slices.Values(list))
	var b strings.Builder
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(sorted[i])))
		if j > i {
			b.WriteString("-" + strconv.Itoa(int(sorted[j])))
		}
		i = j + 1
	}
	return b.String()
}

// numbers reads what ranges writes, of numbers up to limit. It reports false for
// anything else.
func numbers(text string, limit int) ([]int, bool) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(low)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(high)
		}
		if err != nil || from < 0 || to < from || to > limit {
			return nil, false
		}
		for n := from; n <= to; n++ {
			list = append(list, n)
		}
	}
	return list, true
}

// frontPort is the port that a first child is split off, as the CLI counts
// cages: 1/5. It is "" where nothing says so.
func frontPort(p *intent.Port) string {
	if m := standard.FindStringSubmatch(p.Name); m != nil && m[3] == "1" {
		return "1/" + m[1]
	}
	if p.Split != nil && p.Split.Index > 0 && p.Split.Number == 1 {
		return "1/" + decimal(p.Split.Index)
	}
	return ""
}

// place is the interface that has the addresses of an intent's.
func place(f *intent.Iface) string {
	switch f.Kind {
	case intent.SVI:
		return vlanName(f.VLAN)
	case intent.Loopback:
		return f.Name
	}
	return f.On
}

// cableWords are the lengths of cable that the CLI knows, in mm [ansible
// sonic_qos_interfaces.py cable_length].
var cableWords = []struct {
	mm   uint32
	word string
}{{5_000, "5m"}, {40_000, "40m"}, {300_000, "300m"}}

// cableWord is the next known length, "" if there is none.
func cableWord(mm uint32) string {
	for _, c := range cableWords {
		if mm <= c.mm {
			return c.word
		}
	}
	return ""
}
