package record

import (
	"os"
	"strings"
)

// Files by which a machine is known where the system has them: machine-id(5), which stays
// as it is when the machine starts again, and random(4). Containers on one machine share
// the second, and the locks on files.
const (
	machineFile = "/etc/machine-id"
	bootFile    = "/proc/sys/kernel/random/boot_id"
)

// here fills in on which machine a holder is.
func (h *Holder) here() {
	h.Host, _ = os.Hostname() // unknown is ""
	if b, err := os.ReadFile(machineFile); err == nil && len(strings.TrimSpace(string(b))) == 32 {
		h.Machine = Digest([]byte("rocec " + strings.TrimSpace(string(b)))) // which is not for others to know
	}
	if b, err := os.ReadFile(bootFile); err == nil {
		h.Boot = strings.TrimSpace(string(b))
	}
}

// sameMachine reports whether two holders are on one machine. Hosts of one name are told
// apart by more than that where both say it; known says whether they do.
func sameMachine(a, b Holder) (same, known bool) {
	if a.Host != b.Host || a.Host == "" {
		return false, true
	}
	known = a.Machine != "" && b.Machine != "" || a.Boot != "" && b.Boot != ""
	return a.Machine != "" && a.Machine == b.Machine || a.Boot != "" && a.Boot == b.Boot || !known, known
}
