package linux

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// placed is a file of the bundle and where it belongs on the host.
type placed struct {
	from, to string
	mode     uint32
}

// placeOf is where a file of a host's own folder belongs.
func placeOf(from string) string {
	if from == dataFile || strings.HasPrefix(from, "env/") {
		return "/etc/rocec/" + from
	}
	return "/etc/" + from
}

// always are the files of the kit that every host has, and ofRDMA those of a host
// with adapters for RDMA.
var (
	always = []placed{
		{"rocec-qos", "/usr/local/sbin/rocec-qos", 0o755},
		{"rocec-qos@.service", "/etc/systemd/system/rocec-qos@.service", 0o644},
	}
	ofRDMA = []placed{
		{"rocec-env", "/usr/local/bin/rocec-env", 0o755},
		{"rocec-qos.service", "/etc/systemd/system/rocec-qos.service", 0o644},
		{"70-rocec.rules", "/etc/udev/rules.d/70-rocec.rules", 0o644},
		{"limits.conf", "/etc/security/limits.d/60-rocec.conf", 0o644},
	}
)

// modules is the file of the kit for one of a host's parts.
func modules(part string) placed {
	return placed{"modules-load.d/" + part + ".conf", "/etc/modules-load.d/rocec-" + part + ".conf", 0o644}
}

// rdmaPart stands first among the parts of a host that has adapters for RDMA.
const rdmaPart = "rdma"

// kitPlaces are the files of the kit that a host with some parts has.
func kitPlaces(parts []string) []placed {
	list := always[:len(always):len(always)]
	for _, p := range parts {
		list = append(list, modules(p))
		if p == rdmaPart {
			list = append(list, ofRDMA...)
		}
	}
	return list
}

// belongs is kitPlaces in the shell, with the files of the host's folder before.
func belongs() string {
	var b strings.Builder
	row := func(indent string, p placed) {
		fmt.Fprintf(&b, "%secho \"$kit/%s|%s|%o\"\n", indent, p.from, p.to, p.mode)
	}
	b.WriteString("# belongs prints FROM|TO|MODE of each file of this host: those of its folder, and those that all hosts share.\n")
	b.WriteString("belongs() {\n\tlocal f p\n\tfor f in \"${files[@]}\"; do echo \"$here/$f\"; done\n")
	for _, p := range always {
		row("\t", p)
	}
	b.WriteString("\tfor p in \"${parts[@]}\"; do\n")
	row("\t\t", modules("$p"))
	fmt.Fprintf(&b, "\t\t[[ $p == %s ]] || continue\n", rdmaPart)
	for _, p := range ofRDMA {
		row("\t\t", p)
	}
	b.WriteString("\tdone\n}\n")
	fmt.Fprintf(&b, "# is_place PATH: whether a file of any host may lie there.\nis_place() { [[ $1 =~ ^(%s)$ ]]; }\n", strings.Join(placeWords(), "|"))
	return b.String()
}

// placeWords are filePatterns as extended regular expressions.
func placeWords() []string {
	list := make([]string, len(filePatterns))
	for i, p := range filePatterns {
		list[i] = strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, "[^/]*")
	}
	return list
}

// Where units lie that an administrator has, and the links of those that are enabled.
const (
	unitFolder   = "/etc/systemd/system"
	portUnits    = unitFolder + "/rocec-qos@?*.service"
	enabledUnits = unitFolder + "/*.wants/rocec-qos@?*.service"
)

// filePatterns are all places that files of any host may have, in words that the
// shell and path.Match take alike.
var filePatterns = []string{
	"/etc/netplan/60-rocec.yaml", "/etc/rocec/host.sh", "/etc/rocec/env/*.env", "/etc/sysctl.d/60-rocec.conf",
	"/etc/systemd/network/05-rocec-*.link", "/etc/systemd/network/10-netplan-*.netdev.d/qos.conf",
	"/usr/local/sbin/rocec-qos", "/usr/local/bin/rocec-env", unitFolder + "/rocec-qos@.service", unitFolder + "/rocec-qos.service",
	"/etc/udev/rules.d/70-rocec.rules", "/etc/security/limits.d/60-rocec.conf", "/etc/modules-load.d/rocec-*.conf",
}

// isPlace reports whether a file of ours may lie there.
func isPlace(name string) bool { return matches(filePatterns, name) }

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}
