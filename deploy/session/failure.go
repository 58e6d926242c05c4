package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// What was being done, for Error.Op.
const (
	opConnect   = "connect"
	opRun       = "run"
	opCopy      = "copy files"
	opConfigure = "configure"
)

// Why a session was ended from this side.
var (
	errTimeout = errors.New("no end in the time allowed")
	errClosed  = errors.New("the session is closed")
	errDead    = errors.New("the other end no longer answers")
	errTooMuch = errors.New("too much output")
	errHopLost = errors.New("the connection to the jump host is lost")
	errBusy    = errors.New("another call of this session is under way")
)

// errCut is an end of the session that nobody here asked for.
var errCut = failed(KindLost, "the log of its SSH server says why, or that it was restarted", "the other end closed the session")

// cut tells whether an error says no more than that the other end has gone. In which
// of these words it does depends on what was under way.
func cut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// failure is what went wrong before it is known for which device. Its kind and
// help are those of the Error that it becomes.
type failure struct {
	kind Kind
	help string
	err  error
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

func failed(k Kind, help, format string, args ...any) *failure {
	return &failure{k, help, fmt.Errorf(format, args...)}
}

// toError makes an Error of whatever went wrong; otherwise is the kind of what
// says none of its own.
func toError(device, op string, otherwise Kind, err error, secrets *secrets) error {
	if err == nil {
		return nil
	}
	e := &Error{Device: device, Op: op, Kind: otherwise, Err: err}
	var f *failure
	switch {
	case errors.As(err, &f):
		e.Kind, e.Help = f.kind, secrets.hide(f.help)
		if f == err { //nolint:errorlint // only the outermost is taken off, what wraps it says more
			e.Err = f.err
		}
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		e.Kind = KindTimeout
	}
	if said := e.Err.Error(); plain(secrets.hide(said)) != said {
		e.Err = &told{plain(secrets.hide(said)), why(e.Err)}
	}
	return e
}

// told is an error in other words: what it wraps never holds text from outside.
type told struct {
	text  string
	cause error
}

func (t *told) Error() string { return t.text }

func (t *told) Unwrap() error { return t.cause }

// why is the part of an error's chain that callers may ask for and that has a
// fixed text.
func why(err error) error {
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, errTimeout, errClosed, errDead, errTooMuch, net.ErrClosed} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}

// plain is text from outside that a terminal shows as it is: control characters
// and bytes that are no UTF-8 are written out, and the end of what is too long is
// left off.
func plain(s string) string {
	const most = 4000
	cut := ""
	if len(s) > most {
		s, cut = strings.ToValidUTF8(s[:most], ""), "..."
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String() + cut
}
