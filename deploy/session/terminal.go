package session

import (
	"io"
	"sync/atomic"

	"github.com/scrapli/scrapligo/transport"
	"golang.org/x/crypto/ssh"
)

// terminal is a shell on a pseudo terminal of a link, as scrapligo wants its
// transports. Whatever ends it is an end of file: scrapligo would try again after
// any other error, for ever.
type terminal struct {
	link    *link
	session *ssh.Session
	in      io.WriteCloser
	out     io.Reader
	said    atomic.Int64 // bytes since the last call began
}

var _ transport.Implementation = (*terminal)(nil)

// Wide enough that a line is not broken when the device echoes it.
const columns, rows = 511, 255

func (t *terminal) Open(*transport.Args) error {
	var err error
	if t.session, err = t.link.channel(); err != nil {
		return refusal("a channel for the prompt", err)
	}
	if t.in, err = t.session.StdinPipe(); err != nil {
		return err
	}
	if t.out, err = t.session.StdoutPipe(); err != nil {
		return err
	}
	if err := t.session.RequestPty("xterm", rows, columns, ssh.TerminalModes{ssh.ECHO: 1}); err != nil {
		return refusal("a terminal", err)
	}
	if err := t.session.Shell(); err != nil {
		return refusal("a shell", err)
	}
	return nil
}

func (t *terminal) Close() error { return t.session.Close() }

func (t *terminal) IsAlive() bool { return t.link.ended() == nil }

func (t *terminal) Read(n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := t.out.Read(b)
	if t.said.Add(int64(n)) > int64(t.link.most()) {
		t.link.end(failed(KindLocal, "", "%w: more than %d bytes; the session is ended", errTooMuch, t.link.most()))
		return nil, io.EOF
	}
	if n == 0 && err != nil {
		return nil, io.EOF
	}
	return b[:n:n], nil
}

func (t *terminal) Write(b []byte) error {
	_, err := t.in.Write(b)
	return err
}
