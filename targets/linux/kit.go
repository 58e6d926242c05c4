package linux

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/posix"
)

//go:embed scripts
var scripts embed.FS

// kit holds the programs, which are the same on every host; what differs stands
// in the host's own folder, in host.sh.
var kit = sync.OnceValue(func() *emit.Kit {
	program := func(path string, step emit.Step, run string, parts ...string) emit.Artifact {
		var b strings.Builder
		for _, p := range append([]string{"head"}, parts...) {
			b.WriteString("\n")
			switch p {
			case probesPart:
				b.WriteString(probed())
			case placesPart:
				b.WriteString(belongs())
			default:
				b.WriteString(script(p + ".sh"))
			}
		}
		return emit.Artifact{Path: path, Mode: 0o755, Step: step, Run: run, Bytes: []byte(strings.TrimPrefix(b.String(), "\n"))}
	}
	data := func(path, text string) emit.Artifact {
		return emit.Artifact{Path: path, Mode: 0o644, Step: emit.Data, Bytes: []byte("# made by rocec, the same for every host\n" + text)}
	}
	files := []emit.Artifact{
		program("install.sh", emit.Apply, "install.sh", "lib", placesPart, "names", "install"),
		program("verify.sh", emit.Verify, "verify.sh", "lib", placesPart, "verify"),
		program("rollback.sh", emit.Rollback, "rollback.sh", "lib", "names", "rollback"),
		program("capture.sh", emit.Verify, "capture.sh", "lib", probesPart, "capture"),
		posix.Program(script("live.sh")), // what rocec-live.sh does on this system
		program("rocec-qos", emit.Data, "", "dcb", "mlnx", "families", "names", "qos"),
		program("rocec-env", emit.Data, "", "env"),
		{Path: "dcbx.py", Mode: 0o644, Step: emit.Data, Bytes: []byte(script("dcbx.py"))},
		data("rocec-qos@.service", portUnit),
		data("rocec-qos.service", allUnit),
		data("70-rocec.rules", deviceRule),
		data("limits.conf", memlock),
		data("modules-load.d/rdma.conf", "ib_uverbs\nrdma_cm\nrdma_ucm\n"),
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		files = append(files, data("modules-load.d/"+name+".conf", families[name].module+"\n"))
	}
	k := emit.NewKit("linux", files)
	for i := range k.Artifacts {
		if a := &k.Artifacts[i]; a.Run != "" {
			a.Run = "sudo " + k.Folder() + "/" + a.Run
			if a.Path == "capture.sh" {
				a.Run += " DIR"
			}
		}
	}
	return k
})

// Parts of scripts that are written here.
const (
	probesPart = "(probes)"
	placesPart = "(places)"
)

func script(name string) string {
	text, err := scripts.ReadFile("scripts/" + name)
	if err != nil {
		panic(err) // embedded: cannot happen
	}
	return string(text)
}

// portUnit runs at boot, and when a driver is loaded again: it belongs to the
// network device.
const portUnit = `[Unit]
Description=RoCE settings of %I
BindsTo=sys-subsystem-net-devices-%i.device
After=sys-subsystem-net-devices-%i.device network-pre.target systemd-networkd.service systemd-modules-load.service lldpad.service
Before=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/rocec-qos %I
TimeoutStartSec=300

[Install]
WantedBy=sys-subsystem-net-devices-%i.device
`

// allUnit and deviceRule: settings of an RDMA device end with it, so that they
// are made anew whenever one appears, also without a new network device.
const allUnit = `[Unit]
Description=RoCE settings of all ports
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=/usr/local/sbin/rocec-qos --all
TimeoutStartSec=300
`

const deviceRule = `ACTION=="add", SUBSYSTEM=="infiniband", TAG+="systemd", ENV{SYSTEMD_WANTS}+="rocec-qos.service"
`

const memlock = `# RDMA registers memory by locking it. The star does not cover root.
* soft memlock unlimited
* hard memlock unlimited
root soft memlock unlimited
root hard memlock unlimited
`

// probed are the read-only commands and the file that each one fills, for
// capture.sh.
func probed() string {
	var b strings.Builder
	for _, per := range []bool{false, true} {
		b.WriteString(map[bool]string{false: "probe_host() {\n", true: "probe_port() {\n\tlocal port=$1\n"}[per])
		for _, p := range probes {
			if p.PerPort == per {
				fmt.Fprintf(&b, "\tsave \"%s\" %s\n", strings.ReplaceAll(p.File, "%s", "$port"), strings.ReplaceAll(p.Command, "%s", `"$port"`))
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}
