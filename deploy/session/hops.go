package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// hops are the open connections to jump hosts. All that goes the same way shares
// them: a jump host sees one login, however many devices stand behind it.
type hops struct {
	mu   sync.Mutex
	open map[string]*hop // by the whole way up to there
}

// hop is one connection to a jump host, perhaps still on its way.
type hop struct {
	key    string
	name   string // of the jump host
	users  int    // under hops.mu
	ready  chan struct{}
	client *ssh.Client // valid when ready, as is err
	err    error
	cancel context.CancelFunc
	gone   chan struct{} // closed when nobody uses it any more
	lost   chan struct{} // closed when it has ended
}

// reach connects to the last host of a way of jump hosts; nil for no way. The
// caller releases what it gets.
func (hs *hops) reach(ctx context.Context, c *Client, way []Spec) (*hop, error) {
	if len(way) == 0 {
		return nil, nil
	}
	key, err := json.Marshal(way)
	if err != nil {
		return nil, failed(KindLocal, "", "jump hosts: %w", err)
	}
	h := hs.join(ctx, c, string(key), way)
	select {
	case <-h.ready:
	case <-ctx.Done():
		hs.release(h)
		return nil, fmt.Errorf("jump host %s: %w", name(&way[len(way)-1]), context.Cause(ctx))
	}
	if h.err != nil {
		err := h.err
		hs.release(h)
		return nil, err
	}
	return h, nil
}

// join is the connection that is there, or else a new one.
func (hs *hops) join(ctx context.Context, c *Client, key string, way []Spec) *hop {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h := hs.open[key]; h != nil {
		h.users++
		return h
	}
	// It serves others than the one who asked first, so it outlives that one's
	// context; it ends when nobody waits for it any more.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h := &hop{key: key, name: name(&way[len(way)-1]), users: 1, ready: make(chan struct{}), cancel: cancel, gone: make(chan struct{}), lost: make(chan struct{})}
	if hs.open == nil {
		hs.open = map[string]*hop{}
	}
	hs.open[key] = h
	go hs.dial(ctx, c, h, way)
	return h
}

// dial connects and stays until the connection is gone.
func (hs *hops) dial(ctx context.Context, c *Client, h *hop, way []Spec) {
	defer h.cancel()
	in, stop := c.within(ctx, or(c.DialTimeout, 30*time.Second))
	defer stop()
	to := &way[len(way)-1]
	hidden := &secrets{}
	before, client, err := c.through(in, way, hidden)
	if h.client, h.err = client, clean(to, err, hidden); err != nil {
		hs.forget(h)
		close(h.ready)
		return
	}
	defer hs.release(before)
	go func() {
		_ = h.client.Wait() // how it ended changes nothing
		close(h.lost)
	}()
	go c.keepalive(h.client, h.lost, func() { h.client.Close() })
	close(h.ready)
	select {
	case <-h.gone:
	case <-h.lost:
		hs.forget(h)
	}
	h.client.Close()
	<-h.lost
}

// clean says which jump host failed, without its secrets. A jump host that cannot
// be reached, or that lets nobody in, is what its failure says.
func clean(to *Spec, err error, hidden *secrets) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(toError(to.Device, opConnect, KindUnreachable, err, hidden), &e) {
		return err
	}
	return &failure{e.Kind, e.Help, fmt.Errorf("jump host %s: %w", name(to), e.Err)}
}

// release is the end of one use.
func (hs *hops) release(h *hop) {
	if h == nil {
		return
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h.users--; h.users > 0 {
		return
	}
	if hs.open[h.key] == h {
		delete(hs.open, h.key)
	}
	h.cancel()
	close(h.gone)
}

// forget makes the next one who asks connect anew.
func (hs *hops) forget(h *hop) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.open[h.key] == h {
		delete(hs.open, h.key)
	}
}

// name is what a message calls a host.
func name(to *Spec) string { return or(to.Device, to.Address) }
