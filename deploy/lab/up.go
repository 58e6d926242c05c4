package lab

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/ssh"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// Device is what a machine is started for.
type Device struct {
	Name   string
	Target string // its emitter
	User   string // who logs in
	Shell  targets.Shell
	Intent func() *intent.Device // asked for when the machine is first used
	Make   Maker
}

// Options are what labs differ in.
type Options struct {
	Address string // to listen on, of this computer alone; "" = 127.0.0.1
	Clock   Clock  // nil = that of this computer
	Faults  map[string][]Fault
	Cables  func() []Cable // between ports of devices, also of those that are none of the lab; asked for when somebody needs them
	// Before, if not nil, is called when a command line for a device has come over a
	// connection, and is run when it returns: so something can be done in the middle of
	// a rollout, however fast that is.
	Before func(device string)
	// Keep starts machines with what they had stored when the last lab with it stopped
	// in this folder, and keeps that for the next. All of them have to be Keepers.
	Keep bool
}

// Lab is a number of machines, each behind an SSH server. It is safe for
// concurrent use.
type Lab struct {
	Dir     string // its files
	File    string // what ROCEC_LAB names
	address string
	clock   Clock
	o       Options
	net     *Net
	control *server
	desk    net.Listener // of control
	stopped chan struct{}
	shut    sync.Once // see shutdown
	stop    sync.Once // see Close
	down    atomic.Bool
	err     error // of shut

	list  []*running
	named map[string]*running
}

// running is one device of a lab.
type running struct {
	Device
	port     uint16
	faults   Faults
	server   *server
	listener net.Listener

	once    sync.Once
	mu      sync.Mutex
	machine Machine
	err     error
}

// Folder is where a lab keeps its files, below the folder of a configuration.
const Folder = ".rocec/lab"

// Up starts the lab of some devices and writes its files below dir: lab.json,
// known_hosts, key and ssh_config. Machines are made when somebody comes to them.
// It ends with Close, or with ctx.
func Up(ctx context.Context, devices []Device, dir string, o Options) (*Lab, error) {
	o.Address = cmp.Or(o.Address, "127.0.0.1")
	if ip, err := netip.ParseAddr(o.Address); err != nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("start lab: %q is no loopback address: a lab serves this computer alone", o.Address)
	}
	if o.Clock == nil {
		o.Clock = RealTime{}
	}
	l := &Lab{Dir: filepath.Join(dir, filepath.FromSlash(Folder)), address: o.Address, clock: o.Clock, o: o, stopped: make(chan struct{}), named: map[string]*running{}}
	l.File = filepath.Join(l.Dir, labFile)
	l.net = &Net{cables: o.Cables, hosts: l.machines, faults: func(device string) *Faults {
		if r := l.named[device]; r != nil {
			return &r.faults
		}
		return nil
	}}
	if err := l.start(devices); err != nil {
		l.Close()
		return nil, fmt.Errorf("start lab: %w", err)
	}
	context.AfterFunc(ctx, l.Close)
	return l, nil
}

func (l *Lab) start(devices []Device) error {
	if err := claim(l.Dir); err != nil {
		return err
	}
	key, private, err := newKey()
	if err != nil {
		return err
	}
	for _, d := range devices {
		if l.named[d.Name] != nil {
			return fmt.Errorf("two devices are called %s", d.Name)
		}
		r := &running{Device: d}
		for _, f := range l.o.Faults[d.Name] {
			r.faults.Inject(f)
		}
		l.named[d.Name] = r
		l.list = append(l.list, r)
		home := map[string]string{"root": "/root", "Administrator": "/C:/Users/Administrator"}[d.User]
		if r.server, err = l.server(d.Name, d.User, cmp.Or(home, "/home/"+d.User), key.PublicKey()); err != nil {
			return err
		}
		r.server.faults, r.server.machine = &r.faults, func() (Machine, error) { return l.machine(r) }
		if l.o.Before != nil {
			r.server.before = func() { l.o.Before(d.Name) }
		}
		r.server.prompt = d.User + "@" + d.Name + "$ "
		r.server.banner = "This is a simulation of " + d.Name + " (" + d.Target + "), made by rocec lab. It forwards no packets."
		if r.listener, r.port, err = l.listen(); err != nil {
			return err
		}
	}
	for name := range l.o.Faults {
		if l.named[name] == nil {
			return fmt.Errorf("no device of the lab is called %s", name)
		}
	}
	control, port, err := l.serveControl(key.PublicKey())
	if err != nil {
		return err
	}
	if err := l.write(private, port); err != nil {
		_ = control.Close()
		return err
	}
	l.desk = control
	go l.control.serve(control)
	for _, r := range l.list {
		go r.server.serve(r.listener)
	}
	return nil
}

func newKey() (ssh.Signer, []byte, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return nil, nil, err
	}
	block, err := ssh.MarshalPrivateKey(key, "rocec lab")
	if err != nil {
		return nil, nil, err
	}
	return signer, pem.EncodeToMemory(block), nil
}

func (l *Lab) server(name, user, home string, client ssh.PublicKey) (*server, error) {
	s := &server{name: name, user: user, home: home, clock: l.clock, client: client, conns: map[net.Conn]bool{}}
	var err error
	if s.key, _, err = newKey(); err != nil {
		return nil, err
	}
	s.other, _, err = newKey()
	return s, err
}

func (l *Lab) listen() (net.Listener, uint16, error) {
	n, err := net.Listen("tcp", net.JoinHostPort(l.address, "0"))
	if err != nil {
		return nil, 0, err
	}
	a, err := netip.ParseAddrPort(n.Addr().String())
	if err != nil {
		_ = n.Close()
		return nil, 0, err
	}
	return n, a.Port(), nil
}

// machine makes the machine of a device when it is first asked for.
func (l *Lab) machine(r *running) (Machine, error) {
	r.once.Do(func() {
		m, err := r.Make(r.Intent(), Environment{Clock: l.clock, User: r.User, Faults: &r.faults, Net: l.net})
		if err == nil && l.o.Keep {
			if err = l.restore(r, m); err != nil {
				_ = m.Close()
				m = nil
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.machine, r.err = m, err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.machine, r.err
}

var errUnknown = errors.New("the lab has no such device")

// Machine is the machine of a device.
func (l *Lab) Machine(name string) (Machine, error) {
	r := l.named[name]
	if r == nil {
		return nil, fmt.Errorf("%w: %s", errUnknown, name)
	}
	return l.machine(r)
}

// Inject lets something go wrong on a device.
func (l *Lab) Inject(name string, f Fault) error {
	r := l.named[name]
	if r == nil {
		return fmt.Errorf("%w: %s", errUnknown, name)
	}
	r.faults.Inject(f)
	return nil
}

// Heal takes back what Inject did to a device, and the limit of a full disk.
func (l *Lab) Heal(name string) error {
	r := l.named[name]
	if r == nil {
		return fmt.Errorf("%w: %s", errUnknown, name)
	}
	_, filled := r.faults.Has(FaultFull)
	r.faults.Clear()
	r.mu.Lock()
	defer r.mu.Unlock()
	if filled && r.machine != nil {
		r.machine.Disk().SetLimit(0)
	}
	return nil
}

// Spec is how a session to a device is opened.
func (l *Lab) Spec(name string) (session.Spec, error) {
	r := l.named[name]
	if r == nil {
		return session.Spec{}, fmt.Errorf("%w: %s", errUnknown, name)
	}
	return session.Spec{
		Device: name, Address: l.address, Port: r.port, User: r.User, Identity: []string{filepath.Join(l.Dir, keyFile)},
		HostKey: authorized(r.server.key.PublicKey()), Shell: r.Shell,
	}, nil
}

// Names are the devices of the lab, in the order in which they were given.
func (l *Lab) Names() []string {
	var list []string
	for _, r := range l.list {
		list = append(list, r.Name)
	}
	return list
}

// machines are those that somebody has come to.
func (l *Lab) machines(yield func(name string, m Machine) bool) {
	for _, r := range l.list {
		r.mu.Lock()
		m := r.machine
		r.mu.Unlock()
		if m != nil && !yield(r.Name, m) {
			return
		}
	}
}

// Used is how many machines somebody has come to.
func (l *Lab) Used() int {
	n := 0
	for range l.machines {
		n++
	}
	return n
}

// Done is closed when the lab has stopped.
func (l *Lab) Done() <-chan struct{} { return l.stopped }

// Err is what went wrong as the lab stopped; it is for those who have seen Done.
func (l *Lab) Err() error { return l.err }

// Close stops the lab.
func (l *Lab) Close() {
	_ = l.shutdown()
	l.stop.Do(func() {
		if l.desk != nil {
			_ = l.desk.Close()
			l.control.close()
		}
		close(l.stopped)
	})
}

// shutdown stops the machines, keeps their state where the lab does that, and then
// takes the file away that ROCEC_LAB names. Who asks the lab itself is still
// answered.
func (l *Lab) shutdown() error {
	l.shut.Do(func() {
		for _, r := range l.list {
			if r.listener != nil {
				_ = r.listener.Close()
			}
		}
		var wait sync.WaitGroup
		var mu sync.Mutex
		for part := range slices.Chunk(l.list, 64) {
			wait.Go(func() {
				for _, r := range part {
					m := r.close()
					if m == nil || !l.o.Keep {
						continue
					}
					if err := l.keep(r, m); err != nil {
						mu.Lock()
						l.err = errors.Join(l.err, err)
						mu.Unlock()
					}
				}
			})
		}
		wait.Wait()
		l.release()
	})
	return l.err
}

// close ends the sessions of a device, and then stops its machine, which it
// returns; nil where nobody has come to it.
func (r *running) close() Machine {
	if r.server != nil {
		r.server.close()
	}
	r.mu.Lock()
	m := r.machine
	r.mu.Unlock()
	if m != nil {
		_ = m.Close()
	}
	return m
}

func authorized(k ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k)))
}
