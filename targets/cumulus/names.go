package cumulus

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// prefix marks the profiles that rocec makes. NVUE's own are default-global and
// those of the RoCE modes.
const prefix = "rocec_"

// global is the profile of every port that names no other.
const global = "default-global"

// bridge is the one bridge that NVUE has by itself.
const bridge = "br_default"

// mgmtVRF is the VRF of eth0 [Cumulus Linux user guide, Management VRF].
const mgmtVRF = "mgmt"

// peerlink is the name that NVUE gives the bond between an MLAG pair, and
// peerVLAN the subinterface on it that clagd talks over.
const (
	peerlink = "peerlink"
	peerVLAN = 4094
)

// maxBase keeps names of profiles short; what stands behind it says what is in them.
const maxBase = 20

var (
	suffixed = regexp.MustCompile(`_[a-z][0-9]+m?$`)
	lengthed = regexp.MustCompile(`_l([0-9]+)m$`)
	portName = regexp.MustCompile(`^swp([1-9][0-9]{0,2})(s[0-7])?$`)
	bondName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,14}$`) // a hyphen makes a range of interfaces
	vrfName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,14}$`)
	sviName  = regexp.MustCompile(`^vlan([1-9][0-9]{0,3})$`)
	ranged   = regexp.MustCompile(`[0-9]-[0-9]`)
	// the modes of a port, whole and disabled ones too [NVUE command reference, interface link breakout]
	breakoutMode = regexp.MustCompile(`^([1-8]x|disabled)$`)
	splitMode    = regexp.MustCompile(`^([248])x([1-9][0-9]{0,3})G$`)
)

// reserved starts of names that NVUE takes for a type of interface [Bonding].
var reserved = []string{"sw", "eth", "vlan", "lo", "ib", "fnm", "vrrp", "br_"}

// spoken are words that stand for something else where a name of an interface or VRF does:
// the VRFs that are there by themselves, and what commands take in place of a name.
var spoken = []string{"all", "default", "global", mgmtVRF}

// base is the name of the profiles made for a QoS value. Names that could be
// taken for a longer one, or are long themselves, are cut and get a hash, so
// that different QoS values never share a profile.
func base(qos string) string {
	return targets.Stem(prefix, qos, maxBase, func(name string) bool { return suffixed.MatchString(name) })
}

// portID is the place of a port in a range of names: "swp" and 12, or "swp12s" and 0.
func portID(name string) (stem string, number int) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	n, err := strconv.Atoi(name[i:])
	if err != nil {
		return name, -1
	}
	return name[:i], n
}

// joined writes names as NVUE does and takes them: swp1-32,swp40 is 33 ports
// [NVUE CLI, Command Help: swp1-2,5-6]. Every run starts with its stem, which
// holds for children too: swp1s0-1,swp2s0-1.
func joined(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	sorted := slices.SortedFunc(slices.Values(names), intent.Natural)
	var b strings.Builder
	for i := 0; i < len(sorted); {
		s, n := portID(sorted[i])
		j := i
		for j+1 < len(sorted) && n >= 0 {
			t, m := portID(sorted[j+1])
			if t != s || m != n+(j+1-i) {
				break
			}
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(sorted[i])
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(n + j - i))
		}
		i = j + 1
	}
	return b.String()
}

// maxNames bounds what one key of a capture may stand for.
const maxNames = 4096

// expanded lists the names that a key stands for: swp1-2,5,bond3 is swp1, swp2,
// swp5 and bond3; 10,20-22 is four numbers. A part that starts with a digit
// goes by the stem before it. It reports false for what is no such list.
func expanded(key string) ([]string, bool) {
	if !strings.ContainsAny(key, ",-") {
		return []string{key}, true
	}
	if strings.Contains(key, "/") || strings.Contains(key, ":") {
		return []string{key}, true // an address
	}
	var names []string
	last := ""
	for _, part := range strings.Split(key, ",") {
		if part == "" {
			return nil, false
		}
		head, tail, isRange := strings.Cut(part, "-")
		s, n := portID(head)
		if n < 0 || isRange && !allDigits(tail) {
			names = append(names, part) // a name with a hyphen in it
			last = ""
			continue
		}
		if s == "" {
			s = last
		}
		last = s
		to := n
		if isRange {
			to, _ = strconv.Atoi(tail)
		}
		if to < n || len(tail) > 9 || to-n+len(names) >= maxNames {
			return nil, false
		}
		for ; n <= to; n++ {
			names = append(names, s+strconv.Itoa(n))
		}
	}
	return names, true
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// digits writes a set of small numbers as one word: "036".
func digits(set intent.PrioritySet) string {
	var b strings.Builder
	for _, n := range set.List() {
		b.WriteByte('0' + n)
	}
	return b.String()
}

func decimal[N ~int | ~uint8 | ~uint16 | ~uint32](n N) string { return strconv.Itoa(int(n)) }

func vlanName(id uint16) string { return "vlan" + decimal(id) }

// parentOf is the port that a child was split from, "" if the name is no child's.
func parentOf(port string) string {
	if m := portName.FindStringSubmatch(port); m != nil && m[2] != "" {
		return "swp" + m[1]
	}
	return ""
}

// alphas are the names of the dynamic thresholds 2^-7 to 2^6 [NVUE command
// reference, egress-mgmt-buffer shared-alpha].
var alphas = []string{
	"alpha_1_128", "alpha_1_64", "alpha_1_32", "alpha_1_16", "alpha_1_8", "alpha_1_4", "alpha_1_2",
	"alpha_1", "alpha_2", "alpha_4", "alpha_8", "alpha_16", "alpha_32", "alpha_64",
}

const minAlpha, maxAlpha = -7, 6

// speeds are the words of link speed by Mb/s [NVUE CLI, Command Question Mark].
var speeds = map[uint32]string{
	10: "10M", 100: "100M", 1_000: "1G", 10_000: "10G", 25_000: "25G", 40_000: "40G", 50_000: "50G",
	100_000: "100G", 200_000: "200G", 400_000: "400G", 800_000: "800G",
}

// fecs are the words of link fec [Switch Port Attributes, Enable or Disable FEC].
var fecs = map[intent.FEC]string{intent.FECNone: "off", intent.FECRS: "rs", intent.FECFC: "baser"}

// metres is a length of cable as NVUE takes it.
func metres(mm uint32) int { return max(1, (int(mm)+999)/1000) }

// byName orders interfaces as people do.
func byName(a, b string) int { return cmp.Or(intent.Natural(a, b), strings.Compare(a, b)) }
