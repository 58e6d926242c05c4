package session

import (
	"io"
	"net"
	"sync/atomic"
)

// wire is a transport on which nothing is written any more once reading has
// failed. x/crypto/ssh opens a channel on a connection that has just been lost as
// long as the operating system takes the bytes, and then waits for the answer for
// ever.
type wire struct {
	net.Conn
	dead atomic.Bool
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if err != nil {
		w.dead.Store(true)
	}
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	if w.dead.Load() {
		return 0, io.ErrClosedPipe
	}
	return w.Conn.Write(b)
}
