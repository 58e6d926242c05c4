package sonic

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// prefix marks the objects rocec makes, so that no name of another tool is ever
// overwritten ("AZURE" is the image's own).
const prefix = "rocec_"

// Suffixes of object names: the scheduler and the WRED profile of one queue, the
// DSCP map of a port that trusts nothing.
const (
	queueSuffix     = "_q"
	untrustedSuffix = "_none"
)

// shared is the row that the image writes into CABLE_LENGTH and
// DEFAULT_LOSSLESS_BUFFER_PARAMETER (buffers_config.j2). Both tables are read
// row by row for the whole switch, so a second row would race with it.
const shared = "AZURE"

// maxBase leaves room for "rocec_" and the longest suffix in the 32 characters
// that the YANG models allow for names of maps and WRED profiles.
const maxBase = 20

var (
	suffixed   = regexp.MustCompile(`(_q[0-7]|_none|_pg[0-7])$`)
	portName   = regexp.MustCompile(`^Ethernet(0|[1-9][0-9]{0,3})$`)
	lagName    = regexp.MustCompile(`^PortChannel[0-9]{1,4}$`)
	loopName   = regexp.MustCompile(`^Loopback(0|[1-9][0-9]{0,2})$`)
	vrfName    = regexp.MustCompile(`^Vrf[A-Za-z0-9_-]{1,12}$`)
	ownedNames = regexp.MustCompile(`^(Vlan|Ethernet|PortChannel|Loopback|Vrf)`)
)

// base is the name of the objects made for a QoS value. Names that the YANG
// patterns do not allow, or that could be taken for a suffixed one, are cut and
// get a hash, so that different QoS values never share an object.
func base(qos string) string {
	return targets.Stem(prefix, qos, maxBase, func(name string) bool { return suffixed.MatchString(name) })
}

func queueName(qos string, queue int) string { return base(qos) + queueSuffix + strconv.Itoa(queue) }

// ours reports whether rocec made the object of that name.
func ours(name string) bool { return strings.HasPrefix(name, prefix) }

// stem is the name without the suffix of an object.
func stem(name string) string { return suffixed.ReplaceAllString(name, "") }

// qosNames finds the QoS value by the base name of its objects.
func qosNames(d *intent.Device) map[string]string {
	names := map[string]string{}
	if d == nil {
		return names
	}
	for i := range d.QoS {
		names[base(d.QoS[i].Name)] = d.QoS[i].Name
	}
	return names
}

func vlanName(id uint16) string { return "Vlan" + strconv.Itoa(int(id)) }

// lagID is the number in the name of a LAG.
func lagID(name string) uint16 {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, "PortChannel"), 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}
