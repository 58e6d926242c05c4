package observe

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/targets"
)

// elevated starts a shell that takes its program from stdin: as root where the
// login is or where sudo asks for no password, which is how the programs that
// change a device start, and else as the login, which sees most things too.
const elevated = `sh -c 'if [ "$(id -u)" -eq 0 ] || ! sudo -n true </dev/null 2>/dev/null; then exec sh -s; fi; exec sudo -n sh -s'`

// Run runs probes on a POSIX device, all in one command, and returns what they
// printed by the names of their files, those that printed nothing left out.
// Where none printed anything, or one that is needed did not, it is an error, with what the first complained of.
func Run(ctx context.Context, s session.Session, probes []targets.Probe) (map[string][]byte, error) {
	if len(probes) == 0 {
		return nil, errors.New("there is nothing to run")
	}
	nonce := strings.ToLower(rand.Text())
	answer, err := s.Run(ctx, elevated, []byte(script(nonce, probes)))
	if err != nil {
		return nil, err
	}
	frames, err := parse(answer.Stdout, nonce, len(probes))
	if err != nil {
		if said := lastLine(answer.Stderr); len(answer.Stderr) > 0 {
			return nil, fmt.Errorf("%w; it said: %s", err, said)
		}
		return nil, err
	}
	files := map[string][]byte{}
	for i, p := range probes {
		switch {
		case len(bytes.TrimSpace(frames[i].text)) > 0:
			files[p.File] = frames[i].text
		case p.Needed:
			return nil, complaint(ctx, s, &p, frames[i].exit, "")
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	return nil, complaint(ctx, s, &probes[0], frames[0].exit, "none of its commands printed anything; ")
}

// complaint is what a command that printed nothing complains of when it is run once
// more: complaints are not kept while all goes well.
func complaint(ctx context.Context, s session.Session, p *targets.Probe, exit int, before string) error {
	again := fmt.Sprintf("%s{ %s; } </dev/null 2>&1 >/dev/null | head -c 4096\n", preamble, p.Command)
	answer, err := s.Run(ctx, elevated, []byte(again))
	if err != nil {
		return err
	}
	return fmt.Errorf("%s%s ended with exit code %d: %s", before, p.Command, exit, lastLine(answer.Stdout, answer.Stderr))
}

// preamble: what a command prints must not depend on the language of the login,
// and a login without a profile may lack the folders of administration.
const preamble = "LC_ALL=C PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin\nexport LC_ALL PATH\n"

// mark begins the lines between answers. It holds a letter that base64 has not,
// so that no output can hold such a line; the nonce tells them from what a login
// prints of its own accord, before and after.
func mark(nonce, what string) string { return "rocec-" + nonce + " " + what }

// script runs the probes one after the other and prints the answer of each in
// base64, its exit code as the last line of what is encoded. It is for any
// POSIX shell, and for interpreters of it that know three streams only.
func script(nonce string, probes []targets.Probe) string {
	var b strings.Builder
	b.WriteString(preamble)
	for i, p := range probes {
		fmt.Fprintf(&b, "echo '%s'\n", mark(nonce, strconv.Itoa(i)))
		fmt.Fprintf(&b, "{ { %s; } </dev/null 2>/dev/null; printf '\\n%%d' \"$?\"; } | head -c %d | base64\n", p.Command, verify.MaxCaptureBytes+len("\n255"))
	}
	fmt.Fprintf(&b, "echo '%s'\n", mark(nonce, "end"))
	return b.String()
}

// frame is the answer of one command.
type frame struct {
	text []byte
	exit int
}

// maxReadBytes bounds what is taken of one device, as it is sent: one file of the
// largest size and all others, which are far smaller.
const maxReadBytes = 2 * verify.MaxCaptureBytes

// parse takes the output of a script with n probes apart. What stands before its
// first line and after its last is not its own.
func parse(out []byte, nonce string, n int) ([]frame, error) {
	if len(out) > maxReadBytes {
		return nil, fmt.Errorf("it printed %d bytes, at most %d are read", len(out), maxReadBytes)
	}
	frames := make([]frame, 0, n)
	_, rest, ok := cutLine(out, mark(nonce, "0"))
	if !ok {
		return nil, errors.New("the shell of the device did not run the commands")
	}
	for i := range n {
		next := mark(nonce, "end")
		if i+1 < n {
			next = mark(nonce, strconv.Itoa(i+1))
		}
		var body []byte
		if body, rest, ok = cutLine(rest, next); !ok {
			return nil, fmt.Errorf("the output ended within answer %d of %d", i+1, n)
		}
		f, err := decode(body)
		if err != nil {
			return nil, fmt.Errorf("answer %d of %d: %w", i+1, n, err)
		}
		frames = append(frames, f)
	}
	return frames, nil
}

// cutLine cuts a text at the first line that is just so.
func cutLine(text []byte, line string) (before, after []byte, ok bool) {
	for at := 0; at <= len(text); {
		i := bytes.Index(text[at:], []byte(line))
		if i < 0 {
			return nil, nil, false
		}
		i += at
		end := i + len(line)
		if (i == 0 || text[i-1] == '\n') && (end == len(text) || text[end] == '\n') {
			return text[:i], text[min(end+1, len(text)):], true
		}
		at = end
	}
	return nil, nil, false
}

// decode reads one answer: base64, whose last line is the exit code.
func decode(body []byte) (frame, error) {
	text := make([]byte, base64.StdEncoding.DecodedLen(len(body)))
	n, err := base64.StdEncoding.Decode(text, body) // which skips line feeds
	if err != nil {
		return frame{}, errors.New("it is not base64")
	}
	text = text[:n]
	at := bytes.LastIndexByte(text, '\n')
	if at < 0 {
		return frame{}, errors.New("it is empty: the device needs head and base64")
	}
	code, err := strconv.ParseUint(string(text[at+1:]), 10, 8)
	switch {
	case at > verify.MaxCaptureBytes, err != nil && len(text) > verify.MaxCaptureBytes:
		return frame{}, fmt.Errorf("it is larger than %d bytes", verify.MaxCaptureBytes)
	case err != nil:
		return frame{}, errors.New("its end is missing")
	}
	return frame{text[:at], int(code)}, nil
}
