package session

import (
	"context"
	"io"
	"net"
	"sync/atomic"

	"golang.org/x/crypto/ssh"
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

// probe writes a packet that nobody answers. Of writes that fail, x/crypto/ssh
// v0.58.0 reports the second (handshakeTransport.writePacket), so that the one
// that opens a channel must not be the first.
func probe(client *ssh.Client) {
	_, _, _ = client.SendRequest("keepalive@openssh.com", false, nil) // what comes next tells
}

// channel opens a channel for a command, a subsystem or a terminal.
func (l *link) channel() (*ssh.Session, error) {
	probe(l.client)
	return l.client.NewSession()
}

// dial opens a connection from a jump host to an address. It returns as soon as
// the context or the connection to the jump host ends.
func (h *hop) dial(ctx context.Context, address string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		probe(h.client)
		conn, err := h.client.DialContext(ctx, "tcp", address)
		done <- result{conn, err}
	}()
	var err error
	select {
	case r := <-done:
		return r.conn, r.err
	case <-h.lost:
		err = errHopLost
	case <-ctx.Done():
		err = ctx.Err()
	}
	go func() {
		if r := <-done; r.err == nil {
			r.conn.Close()
		}
	}()
	return nil, err
}
