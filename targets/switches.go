package targets

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// Stem is the name, in letters, digits, hyphens and underscores, of what a switch
// target makes for a QoS value: the prefix and the name itself where it is of
// at most so many such characters and not taken. Others are cut and get a hash,
// so that different values never share an object.
func Stem(prefix, qos string, most int, taken func(name string) bool) string {
	const hash = 9 // a hyphen and eight digits
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters+upper+digits+"-_", r) {
			return r
		}
		return '_'
	}, qos)
	if qos != "" && clean == qos && len(qos) <= most && !taken(qos) {
		return prefix + qos
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(qos)) // a hash takes everything
	return prefix + fmt.Sprintf("%s-%08x", clean[:min(len(clean), most-hash)], h.Sum32())
}

// Release is a version of two numbers, "5.11", and whatever follows them.
type Release struct{ Major, Minor int }

// ParseRelease reads "5.9", "5.11.0" and the like.
func ParseRelease(version string) (Release, bool) {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return Release{}, false
	}
	major, err := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return Release{major, minor}, err == nil && err2 == nil && major >= 0 && minor >= 0
}

// Compare orders releases.
func (r Release) Compare(o Release) int {
	return cmp.Or(cmp.Compare(r.Major, o.Major), cmp.Compare(r.Minor, o.Minor))
}

// Bridged reports whether a port or LAG with these VLANs is in one.
func Bridged(native intent.Opt[uint16], tagged intent.Opt[[]uint16]) bool {
	return native.IsSet() || tagged.IsSet() && len(tagged.Value) > 0
}

// Untrusted is the priority of every frame of a port that trusts nothing.
func Untrusted(q *intent.QoS) uint8 {
	if q.DSCP.IsSet() {
		return q.DSCP.Value[0]
	}
	return q.PCP.Value[0]
}

// LimitShares refuses a share of 0 %, for a target whose smallest weight is 1: why says where that stands.
func LimitShares(q *intent.QoS, why string, refuse Refuse) {
	for queue, s := range q.Sched.Value {
		if s.Kind == intent.SchedETS && s.Percent == 0 {
			refuse(fmt.Sprintf("qos %q gives queue %d 0 %%, and %s", q.Name, queue, why), "write bandwidth = 1, and give another class 1 less", path(intent.OfQoS, q.Name, intent.OfQueue("ets", queue)))
		}
	}
}

// LimitTrust refuses what a switch cannot do that trusts by the map it is given: a
// map without a trust, a trust without its map, and marks that count where
// nothing is trusted.
func LimitTrust(q *intent.QoS, refuse Refuse) {
	at := path(intent.OfQoS, q.Name, "trust")
	if !q.Trust.IsSet() {
		if q.DSCP.IsSet() || q.PCP.IsSet() {
			refuse(fmt.Sprintf("qos %q has a map of marks and no trust", q.Name), "write trust: a port trusts by the map it is bound to", at)
		}
		return
	}
	switch q.Trust.Value {
	case intent.TrustDSCP:
		if !q.DSCP.IsSet() {
			refuse(fmt.Sprintf("qos %q trusts DSCP and has no map", q.Name), "manage dscp_map too", at)
		}
	case intent.TrustPCP:
		if !q.PCP.IsSet() {
			refuse(fmt.Sprintf("qos %q trusts PCP and has no map", q.Name), "manage pcp_map too", at)
		}
	case intent.TrustNone:
		p := Untrusted(q)
		other := func(v uint8) bool { return v != p }
		if q.DSCP.IsSet() && slices.ContainsFunc(q.DSCP.Value[:], other) || q.PCP.IsSet() && slices.ContainsFunc(q.PCP.Value[:], other) {
			refuse(fmt.Sprintf("qos %q trusts nothing and gives marks different priorities", q.Name), "trust dscp or pcp, or use one class", at)
		}
	}
}
