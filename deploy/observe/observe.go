// Package observe reads devices over sessions: it runs the probes of a target and
// returns what they printed as captures, the same that an operator would have
// collected by hand. It takes an open session, or many devices and a dialer. It
// changes nothing on a device but a folder of its own, for a program that reads.
// What captures mean is left to the targets.
package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"golang.org/x/sync/errgroup"
)

// Read runs the probes of a device and returns what they printed. A probe that
// printed nothing, as its program is missing or has nothing to say, has no file,
// which is how captures by hand have it; where none has one that is an error.
func Read(ctx context.Context, s session.Session, d *intent.Device, t *targets.Target) (targets.Captured, error) {
	var files map[string][]byte
	var err error
	switch {
	case t.Parse == nil || len(t.Probes) == 0:
		return targets.Captured{}, fmt.Errorf("read %s: target %s reads nothing back", d.Name, t.Name)
	case shell(t) == targets.POSIX:
		files, err = Run(ctx, s, t.Runs(d))
	case shell(t) == targets.PowerShell:
		files, err = captured(ctx, s, d, t)
	default:
		return targets.Captured{}, fmt.Errorf("read %s: target %s says no way to read it over a session", d.Name, t.Name)
	}
	if err != nil {
		return targets.Captured{}, fmt.Errorf("read %s: %w", d.Name, err)
	}
	for name, text := range files {
		files[name] = verify.Plain(text)
	}
	return targets.Captured{Files: files, Label: label(d, t)}, nil
}

// shell is what takes command lines on devices of a target.
func shell(t *targets.Target) targets.Shell {
	if t.Live == nil {
		return targets.Prompt
	}
	return t.Live.Shell
}

// label points at what a command printed: there is no file here that could be
// opened.
func label(d *intent.Device, t *targets.Target) func(string, int, int) diag.Label {
	commands := map[string]string{}
	for _, p := range t.Runs(d) {
		commands[p.File] = p.Command
	}
	return func(file string, _, _ int) diag.Label {
		if c, ok := commands[file]; ok {
			return diag.Label{Where: fmt.Sprintf("%s, output of %s", d.Name, c)}
		}
		return diag.Label{Where: d.Name + ", " + file}
	}
}

// readFolder is where the program that reads lies, under the root of a target; no
// transaction has such an ID.
const readFolder = "read-only"

// captured runs the program of a target that prints all there is to read. It is
// put there anew each time, whole or not at all, so that two that read at once
// do not meet a half of it.
func captured(ctx context.Context, s session.Session, d *intent.Device, t *targets.Target) (map[string][]byte, error) {
	if t.Capture == "" || len(t.Probes) != 1 {
		return nil, fmt.Errorf("target %s has no program that reads", t.Name)
	}
	if t.Live.Prepare != nil { // what is run there is run as an administrator: nobody else may have made the folder
		answer, err := s.Run(ctx, t.Live.Prepare(targets.Transaction{ID: readFolder, Device: d}), nil)
		if err == nil && answer.Exit != 0 {
			err = errors.New(lastLine(answer.Stderr, answer.Stdout))
		}
		if err != nil {
			return nil, err
		}
	}
	out := &emit.Out{}
	t.Emit(d, out)
	for _, k := range out.Kits {
		for _, a := range k.Artifacts {
			if a.Path != t.Capture {
				continue
			}
			folder := strings.TrimSuffix(t.Live.Root, "/") + "/" + readFolder + "/" + k.Name
			answer, err := s.Configure(ctx, session.Change{
				Folder: folder, Files: []session.File{{Path: a.Path, Mode: a.Mode, Bytes: a.Bytes}}, Command: t.Probes[0].Command,
			})
			switch {
			case err != nil:
				return nil, err
			case answer.Exit != 0:
				return nil, fmt.Errorf("%s ended with exit code %d: %s", a.Path, answer.Exit, lastLine(answer.Stdout, answer.Stderr))
			case len(answer.Stdout) > verify.MaxCaptureBytes:
				return nil, fmt.Errorf("%s printed %d bytes, at most %d are read", a.Path, len(answer.Stdout), verify.MaxCaptureBytes)
			}
			return map[string][]byte{t.Probes[0].File: answer.Stdout}, nil
		}
	}
	return nil, fmt.Errorf("target %s wrote no %s for it", t.Name, t.Capture)
}

// lastLine is what a program said last, of the first of its streams that says
// anything, safe to print.
func lastLine(streams ...[]byte) string {
	const most = 300
	for _, text := range streams {
		lines := strings.Split(strings.TrimSpace(string(verify.Plain(text))), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			return diag.Printable(strings.ToValidUTF8(last[:min(len(last), most)], "?"))
		}
	}
	return "it said nothing"
}

// Device is one of many devices to read.
type Device struct {
	Spec   session.Spec
	Target *targets.Target
	Intent func() *intent.Device // made when its turn has come, and dropped
	Armed  bool                  // ask besides for a change that is open on it (Captured.Armed)
}

// All reads devices, at most so many at once, and gives each its captures or why
// there are none. Each may be called on several goroutines, once for each device;
// what it has seen of one does not keep others from being read. All returns when
// all have been; those that the context left no time for have its error.
func All(ctx context.Context, devices []Device, dialer session.Dialer, parallelism int, each func(i int, c targets.Captured, err error)) {
	var work errgroup.Group
	work.SetLimit(max(parallelism, 1))
	for i := range devices {
		work.Go(func() error {
			c, err := one(ctx, &devices[i], dialer)
			each(i, c, err)
			return nil
		})
	}
	_ = work.Wait() // each has had the errors
}

// one opens a session, reads and closes it.
func one(ctx context.Context, d *Device, dialer session.Dialer) (targets.Captured, error) {
	if err := ctx.Err(); err != nil {
		return targets.Captured{}, fmt.Errorf("read %s: %w", d.Spec.Device, err)
	}
	s, err := dialer.Dial(ctx, d.Spec)
	if err != nil {
		return targets.Captured{}, err
	}
	want := d.Intent()
	c, err := Read(ctx, s, want, d.Target)
	if err == nil && d.Armed {
		c.Armed, err = armed(ctx, s, want, d.Target)
	}
	_ = s.Close() // what was read was read
	return c, err
}

// noTransaction is an ID that no transaction has: asked for it, a device says which
// one is open.
const noTransaction = "0"

// armed asks a device for a change that is open on it, whoever began it.
func armed(ctx context.Context, s session.Session, d *intent.Device, t *targets.Target) (*targets.Armed, error) {
	if t.Live == nil || t.Live.Command == nil {
		return nil, nil
	}
	out, err := s.Run(ctx, t.Live.Command(targets.VerbStatus, targets.Transaction{ID: noTransaction, Device: d}), nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", d.Name, err)
	}
	st, err := targets.ReadState(out.Stdout)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: whether a change is open on it cannot be told: %w (%s)", d.Name, err, lastLine(out.Stderr))
	case st.Open == "":
		return nil, nil
	}
	return &targets.Armed{ID: st.Open, Left: time.Duration(max(st.OpenLeft, 0)) * time.Second}, nil
}
