package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// link is one open connection to a device and all that ends with it. Every way of
// talking to a device stands on it.
type link struct {
	own     *Client
	spec    Spec
	client  *ssh.Client
	secrets *secrets
	left    func() // gives back what the connection took

	calls  sync.Mutex // held while a call is under way
	once   sync.Once
	gone   chan struct{} // closed when the session has ended
	cause  error         // why, before gone is closed
	closed sync.WaitGroup
}

// Close ends the session and what is under way in it.
func (l *link) Close() error {
	l.end(errClosed)
	l.closed.Wait()
	return nil
}

// end closes the transport, for a reason. It does not wait: the transport of a
// device behind a jump host may not be able to say good-bye.
func (l *link) end(cause error) {
	l.once.Do(func() {
		l.cause = cause
		l.closed.Go(func() {
			l.client.Close()
			l.left()
		})
		close(l.gone)
	})
}

// watch ends the session when the other end does, or no longer answers.
func (l *link) watch() {
	lost := make(chan struct{})
	go func() {
		err := l.client.Wait()
		if err == nil || cut(err) {
			err = errCut
		}
		l.end(err)
		close(lost)
	}()
	l.own.keepalive(l.client, lost, func() { l.end(errDead) })
}

// keepalive asks now and then whether the other end is there. Any answer is one.
func (c *Client) keepalive(client *ssh.Client, lost <-chan struct{}, dead func()) {
	pause := or(c.Keepalive, 15*time.Second)
	for {
		select {
		case <-c.after(pause):
		case <-lost:
			return
		}
		answered := make(chan error, 1)
		go func() {
			_, _, err := client.SendRequest("keepalive@openssh.com", true, nil)
			answered <- err
		}()
		select {
		case <-answered:
		case <-c.after(3 * pause):
			dead()
			return
		case <-lost:
			return
		}
	}
}

// do runs one call of the session. It ends when the call does, when the context
// or the time for it ends, or when the session does, whichever comes first: a call
// may go on for a while behind the caller's back, so its answer comes by channel.
func (l *link) do(ctx context.Context, op string, call func() (Output, error)) (Output, error) {
	if !l.calls.TryLock() {
		if err := l.ended(); err != nil { // a call that this has cut off is still at it
			return Output{}, toError(l.spec.Device, op, KindLost, err, l.secrets)
		}
		return Output{}, &Error{Device: l.spec.Device, Op: op, Kind: KindLocal, Err: errBusy}
	}
	ctx, stop := l.own.within(ctx, or(l.own.OpTimeout, 15*time.Minute))
	defer stop()
	type result struct {
		out Output
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		if r.err = l.ended(); r.err == nil {
			r.out, r.err = call()
		}
		l.calls.Unlock()
		done <- r
	}()
	var err error
	select {
	case r := <-done:
		if r.err == nil {
			return r.out, nil
		}
		// What fails because the session was ended says less than why it was.
		if err = cmp.Or(l.ended(), r.err); cut(err) {
			err = errCut
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
		l.end(err)
	case <-l.gone:
		err = l.cause
	}
	failure := toError(l.spec.Device, op, KindLost, err, l.secrets)
	var e *Error
	if errors.As(failure, &e) && e.Kind == KindLost {
		l.end(err) // also where only the channel was lost: what is open is of no more use
	}
	return Output{}, failure
}

func (l *link) most() int { return or(l.own.MaxOutput, 64<<20) }

// exec runs one command line.
func (l *link) exec(command string, stdin []byte) (Output, error) {
	s, err := l.channel()
	if err != nil {
		return Output{}, refusal("a channel for the command", err)
	}
	defer s.Close()
	stdout, stderr := &bounded{own: l.own, most: l.most(), over: l.end}, &bounded{own: l.own, most: l.most(), over: l.end}
	defer stdout.take()
	defer stderr.take()
	s.Stdin, s.Stdout, s.Stderr = bytes.NewReader(stdin), stdout, stderr
	if err := s.Start(command); err != nil {
		return Output{}, refusal("a command", err)
	}
	err = s.Wait()
	var status *ssh.ExitError
	var missing *ssh.ExitMissingError
	out := Output{}
	switch {
	case errors.As(err, &status):
		// A signal counts as in a shell: 128 and its number.
		out.Exit = status.ExitStatus()
	case errors.As(err, &missing): // what is left of a command whose connection has ended
		return Output{}, errCut
	case err != nil && !errors.Is(err, io.EOF): // which says that it did not read all of its input
		return Output{}, err
	}
	out.Stdout, out.Stderr = stdout.take(), stderr.take()
	return out, nil
}

// refusal is the failure of a request that the device denied, or that the
// connection did not outlive.
func refusal(what string, err error) error {
	var open *ssh.OpenChannelError
	switch {
	case errors.As(err, &open):
		return failed(KindRefused, "", "the device denies %s: %w", what, err)
	// The words of x/crypto/ssh for a request that is answered with no.
	case strings.HasPrefix(err.Error(), "ssh: ") && strings.HasSuffix(err.Error(), " failed"):
		return failed(KindRefused, "", "the device denies %s", what)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// ended is why the session has ended, nil while it has not.
func (l *link) ended() error {
	select {
	case <-l.gone:
		return l.cause
	default:
		return nil
	}
}
