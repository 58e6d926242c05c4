package windows

import (
	_ "embed"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets/emit"
)

// The fixed text of the scripts. A line "# rocec:part" takes the part's place.
var (
	//go:embed engine/apply.ps1
	applyText string
	//go:embed engine/verify.ps1
	verifyText string
	//go:embed engine/undo.ps1
	undoText string
	//go:embed engine/capture.ps1
	captureText string
	//go:embed engine/state.ps1
	stateText string
	//go:embed engine/guards.ps1
	guardsText string
	//go:embed engine/steps.ps1
	stepsText string
)

// write emits the scripts of a node. A node whose ports are all under Verify
// gets nothing that could change it.
func write(d *intent.Device, out *emit.Out) {
	if managed(d) {
		s := script{d: d, q: hostQoS(d, true)}
		s.write(out.File(applyFile, 0o644, emit.Apply), applyText, "powershell.exe -NoProfile -ExecutionPolicy Bypass -File "+applyFile)
		s.write(out.File(undoFile, 0o644, emit.Rollback), undoText, "powershell.exe -NoProfile -ExecutionPolicy Bypass -File "+undoFile)
	}
	s := script{d: d, q: hostQoS(d, false)}
	s.write(out.File(verifyFile, 0o644, emit.Verify), verifyText, "powershell.exe -NoProfile -ExecutionPolicy Bypass -File "+verifyFile)
	s.write(out.File(captureFile, 0o644, emit.Verify), captureText, "powershell.exe -NoProfile -ExecutionPolicy Bypass -File "+captureFile+" > "+readBack)
	validate(d, out)
}

func managed(d *intent.Device) bool {
	for i := range d.Ports {
		if !d.Ports[i].Verify {
			return true
		}
	}
	return false
}

type script struct {
	d *intent.Device
	q *intent.QoS
}

func (s script) write(f *emit.File, text, run string) {
	f.CRLF()
	f.Run(run)
	s.lines(f, text)
}

func (s script) lines(f *emit.File, text string) {
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimSuffix(line, "\r") // of a checkout on Windows
		switch line {
		case "# rocec:header":
			header(f, s.d)
		case "# rocec:desired":
			desired(f, s.d, s.q)
		case "# rocec:state":
			s.lines(f, stateText)
		case "# rocec:guards":
			s.lines(f, guardsText)
		case "# rocec:steps":
			s.lines(f, stepsText)
		default:
			f.Line("%s", line)
		}
	}
}

func header(f *emit.File, d *intent.Device) {
	for _, line := range emit.Header(d) {
		f.Line("# %s", line)
	}
}
