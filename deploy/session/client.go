package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/rocec/rocec/targets"
)

// Client opens sessions over SSH. Its zero value is ready for use; the fields are
// set before the first Dial. One Client serves any number of goroutines. Devices
// behind the same jump host share one connection to it.
type Client struct {
	MaxSessions int           // open at once, further ones wait in Dial; 0 = 256
	DialTimeout time.Duration // until a device has let us in, jump hosts included; 0 = 30 s
	OpTimeout   time.Duration // of one Run or Configure, beside that of its context; 0 = 15 min
	Keepalive   time.Duration // between two questions whether the device is there; 0 = 15 s. It is given up after three times that
	MaxOutput   int           // bytes of one stream of one command; 0 = 64 MiB
	MaxHeld     int           // bytes of all commands under way; 0 = 1 GiB
	PassEnv     []string      // variables that password commands get beside those that any program needs

	// The world outside, for tests; nil = the real one.
	LookupEnv  func(name string) (string, bool)
	DialNet    func(ctx context.Context, network, address string) (net.Conn, error)
	DialAgent  func(ctx context.Context, socket string) (net.Conn, error)
	Command    func(ctx context.Context, argv []string) ([]byte, error) // runs a password command
	After      func(d time.Duration) <-chan time.Time
	SystemKeys string // the known-hosts file of the system; "" = /etc/ssh/ssh_known_hosts

	once  sync.Once
	slots chan struct{}
	vault vault
	files knownFiles
	hops  hops
	held  atomic.Int64
}

var _ Dialer = (*Client)(nil)

// Dial opens a session. The context bounds the way in only.
func (c *Client) Dial(ctx context.Context, to Spec) (Session, error) {
	hidden := &secrets{}
	s, err := c.dial(ctx, to, hidden)
	if err != nil {
		return nil, toError(to.Device, opConnect, KindUnreachable, err, hidden)
	}
	return s, nil
}

func (c *Client) dial(ctx context.Context, to Spec, hidden *secrets) (Session, error) {
	switch to.Shell {
	case targets.POSIX, targets.PowerShell, targets.Prompt:
	default:
		return nil, failed(KindLocal, "", "no sessions of shell %q", to.Shell)
	}
	c.once.Do(func() { c.slots = make(chan struct{}, or(c.MaxSessions, 256)) })
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	open := false
	defer func() {
		if !open {
			<-c.slots
		}
	}()

	ctx, stop := c.within(ctx, or(c.DialTimeout, 30*time.Second))
	defer stop()
	h, client, err := c.through(ctx, route(to), hidden)
	if err != nil {
		return nil, err
	}
	l := &link{
		own: c, spec: to, client: client, secrets: hidden, gone: make(chan struct{}),
		left: func() {
			c.hops.release(h)
			<-c.slots
		},
	}
	open = true
	go l.watch()
	var s Session
	switch to.Shell {
	case targets.PowerShell:
		s = &windows{link: l}
	case targets.Prompt:
		s, err = newPrompt(ctx, l)
	default:
		s = &posix{link: l}
	}
	if err != nil {
		l.end(err)
		return nil, err
	}
	return s, nil
}

// route is the way to a device: the jump hosts in the order in which they are
// passed, each behind its own, and the device.
func route(to Spec) []Spec {
	var way []Spec
	for _, j := range to.Jump {
		way = append(way, route(j)...)
	}
	to.Jump = nil
	return append(way, to)
}

// through logs in to the last host of a way, through all before it. A connection
// to a jump host that turns out to be lost is made once more.
func (c *Client) through(ctx context.Context, way []Spec, hidden *secrets) (*hop, *ssh.Client, error) {
	last := len(way) - 1
	for again := true; ; again = false {
		h, err := c.hops.reach(ctx, c, way[:last])
		if err != nil {
			return nil, nil, err
		}
		client, err := c.login(ctx, h, &way[last], hidden)
		if err == nil {
			return h, client, nil
		}
		lost := errors.Is(err, errHopLost)
		if lost {
			c.hops.forget(h)
		}
		c.hops.release(h)
		if !lost || !again {
			return nil, nil, err
		}
	}
}

// login connects to one host, through h when there is one, checks its key and
// logs in.
func (c *Client) login(ctx context.Context, h *hop, to *Spec, hidden *secrets) (*ssh.Client, error) {
	if to.Address == "" {
		return nil, failed(KindLocal, "", "%s has no address", to.Device)
	}
	address := addressOf(to)
	keys, err := c.hostKeys(to, address)
	if err != nil {
		return nil, err
	}
	me, err := c.identity(ctx, to, hidden)
	if err != nil {
		return nil, err
	}
	defer me.done()
	// A fingerprint does not tell the type of the key: a host that shows another key
	// is asked for its keys of the other types.
	for {
		conn, err := c.connect(ctx, h, address)
		if err != nil {
			return nil, err
		}
		client, err := handshake(ctx, conn, to, me, keys)
		if err == nil || ctx.Err() != nil || !keys.another() {
			return client, err
		}
	}
}

// connect opens the transport.
func (c *Client) connect(ctx context.Context, h *hop, address string) (net.Conn, error) {
	var conn net.Conn
	var err error
	switch {
	case h != nil:
		conn, err = h.dial(ctx, address)
	case c.DialNet != nil:
		conn, err = c.DialNet(ctx, "tcp", address)
	default:
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	if err == nil {
		return conn, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, fmt.Errorf("%s: %w", address, cause)
	}
	if h == nil {
		return nil, failed(KindUnreachable, "", "%s: %w", address, err)
	}
	// A jump host that is there says why it opens no channel.
	var closed *ssh.OpenChannelError
	if !errors.As(err, &closed) {
		return nil, fmt.Errorf("%s: %w", address, errHopLost)
	}
	help := ""
	if closed.Reason == ssh.Prohibited { // sshd_config(5), and sshd(8) on authorized_keys
		help = "that jump host lets nobody through to there: see AllowTcpForwarding and PermitOpen in its sshd_config, and permitopen and no-port-forwarding at the key in authorized_keys"
	}
	return nil, failed(KindUnreachable, help, "%s, from jump host %s: %w", address, h.name, err)
}

// within is a context that ends after d too, by the clock of c.
func (c *Client) within(ctx context.Context, d time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	expired := c.after(d)
	go func() {
		select {
		case <-expired:
			cancel(fmt.Errorf("%w, %s", errTimeout, d))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

func (c *Client) after(d time.Duration) <-chan time.Time {
	if c.After != nil {
		return c.After(d)
	}
	return time.After(d)
}

func (c *Client) lookupEnv(name string) (string, bool) {
	if c.LookupEnv != nil {
		return c.LookupEnv(name)
	}
	return os.LookupEnv(name)
}

func addressOf(to *Spec) string {
	port := or(to.Port, 22)
	return net.JoinHostPort(to.Address, fmt.Sprint(port))
}

// or is x, or what stands for its zero.
func or[T comparable](x, otherwise T) T {
	var zero T
	if x == zero {
		return otherwise
	}
	return x
}
