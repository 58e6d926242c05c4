package windows

import (
	"embed"
	"strings"
	"sync"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

//go:embed engine/*.ps1
var engine embed.FS

// Names of the programs and of the data they take.
const (
	dataFile     = "host.psd1"
	applyFile    = "rocec-netqos.ps1"
	atcApplyFile = "rocec-atc.ps1"
	verifyFile   = "verify.ps1"
	undoFile     = "undo.ps1"
	captureFile  = "capture.ps1"
	healthFile   = "health.ps1"
	liveFile     = "rocec-live.ps1"
)

// run is how an operator starts a script.
const run = "powershell.exe -NoProfile -ExecutionPolicy Bypass -File "

// The kits of both targets, each whole and for hosts that are only compared.
var (
	netqosKit   = sync.OnceValue(func() *emit.Kit { return programs("netqos", applyFile, "", readBack) })
	netqosLook  = sync.OnceValue(func() *emit.Kit { return programs("netqos-verify", "", "", readBack) })
	atcKit      = sync.OnceValue(func() *emit.Kit { return programs("network-atc", atcApplyFile, "atc_", atcReadBack) })
	atcLookOnly = sync.OnceValue(func() *emit.Kit { return programs("network-atc-verify", "", "atc_", atcReadBack) })
)

// programs are the scripts of a target, whose parts begin with prefix; without
// the name of one that applies, those that change nothing.
func programs(base, apply, prefix, capture string) *emit.Kit {
	var files []emit.Artifact
	add := func(path, part string, step emit.Step) {
		files = append(files, emit.Artifact{Path: path, Mode: 0o644, Step: step, Bytes: []byte(assemble(part))})
	}
	if apply != "" {
		add(apply, prefix+"apply", emit.Apply)
		add(undoFile, prefix+"undo", emit.Rollback)
		add(liveFile, prefix+"live", emit.Data)
	}
	add(verifyFile, prefix+"verify", emit.Verify)
	add(captureFile, "capture", emit.Verify)
	add(healthFile, "health", emit.Data)
	k := emit.NewKit(base, files)
	for i := range k.Artifacts {
		a := &k.Artifacts[i]
		if a.Step == emit.Data {
			continue // started by sessions (Live)
		}
		a.Run = run + strings.ReplaceAll(k.Folder()+"/"+a.Path, "/", `\`)
		if a.Path == captureFile {
			a.Run += " > " + capture
		}
	}
	return k
}

// assemble is a script. A line "# rocec:NAME" takes the place of engine/NAME.ps1.
func assemble(name string) string {
	text, err := engine.ReadFile("engine/" + name + ".ps1")
	if err != nil {
		panic(err) // a part that was not embedded
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n") // of a checkout on Windows
		if part, marked := strings.CutPrefix(line, "# rocec:"); marked {
			b.WriteString(assemble(part))
		} else {
			b.WriteString(line + "\r\n")
		}
	}
	return b.String()
}

// write emits the data of a node and names the kit that takes them: one that
// changes nothing where all ports are under Verify.
func write(d *intent.Device, out *emit.Out) {
	out.Use(chosen(d, netqosKit, netqosLook))
	desired(data(d, out))
	validate(d, out)
	mark(out)
}

// mark tells both PowerShells how to read names beyond ASCII.
func mark(out *emit.Out) {
	for i := range out.Artifacts {
		out.Artifacts[i].Mark()
	}
}

// atcWrite does so for network-atc.
func atcWrite(d *intent.Device, out *emit.Out) {
	out.Use(chosen(d, atcKit, atcLookOnly))
	atcDesired(data(d, out))
	mark(out)
}

func chosen(d *intent.Device, whole, look func() *emit.Kit) *emit.Kit {
	if managed(d) {
		return whole()
	}
	return look()
}

// data starts the file that the programs read: a table of literals, which
// Import-PowerShellDataFile takes without running anything.
func data(d *intent.Device, out *emit.Out) *block {
	f := out.File(dataFile, 0o644, emit.Data)
	f.CRLF()
	header(f, d)
	return &block{f: f, d: d, q: hostQoS(d, false)}
}

func managed(d *intent.Device) bool {
	for i := range d.Ports {
		if !d.Ports[i].Verify {
			return true
		}
	}
	return false
}

func header(f *emit.File, d *intent.Device) {
	for _, line := range f.Header(d) {
		f.Put(intent.Path{}, "# ", line)
	}
}
