package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"
)

// server is sshd of one device.
type server struct {
	name    string
	user    string
	home    string
	prompt  string
	clock   Clock
	faults  *Faults
	key     ssh.Signer    // of the host
	other   ssh.Signer    // that it shows by a fault
	client  ssh.PublicKey // who may log in
	machine func() (Machine, error)
	before  func() // Options.Before; may be nil
	left    func() // called when a connection has ended; may be nil
	banner  string

	mu    sync.Mutex
	conns map[net.Conn]bool
	ended bool
	wait  sync.WaitGroup
}

// powered is a machine that tells when it loses power.
type powered interface{ Life() context.Context }

// worded is a machine to which command lines come encoded: faults are matched with
// what was written.
type worded interface{ Words(line string) string }

// serve accepts connections until the listener is closed.
func (s *server) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, for now
			time.Sleep(100 * time.Millisecond)
			continue
		}
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			_ = c.Close()
			return
		}
		s.conns[c] = true
		s.wait.Go(func() {
			s.connection(c)
			_ = c.Close()
			if s.left != nil {
				s.left()
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.conns, c)
		})
		s.mu.Unlock()
	}
}

// close ends all connections and returns when nobody serves them any more.
func (s *server) close() {
	s.mu.Lock()
	s.ended = true
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.wait.Wait()
}

func (s *server) connection(c net.Conn) {
	if _, down := s.faults.Has(FaultDown); down {
		return
	}
	config := &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-OpenSSH_9.6 rocec lab, simulated",
		PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if meta.User() != s.user || !bytes.Equal(key.Marshal(), s.client.Marshal()) {
				return nil, fmt.Errorf("the key is not that of the lab, or the user is not %s", s.user)
			}
			return nil, nil
		},
	}
	key := s.key
	if _, wrong := s.faults.Has(FaultHostKey); wrong {
		key = s.other
	}
	config.AddHostKey(key)
	conn, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	defer conn.Close()
	go ssh.DiscardRequests(requests)
	m, err := s.machine()
	if err != nil {
		m = broken{err}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if p, ok := m.(powered); ok {
		life := p.Life()
		if life.Err() != nil {
			return // it starts just now
		}
		defer context.AfterFunc(life, func() { _ = conn.Close() })()
	}
	if _, fullDisk := s.faults.Has(FaultFull); fullDisk {
		used, _ := m.Disk().Used()
		m.Disk().SetLimit(max(used, 1))
	}
	var open sync.WaitGroup
	defer open.Wait()
	defer cancel()
	for n := range channels {
		if n.ChannelType() != "session" {
			_ = n.Reject(ssh.UnknownChannelType, "only sessions are served")
			continue
		}
		ch, in, err := n.Accept()
		if err != nil {
			return
		}
		open.Go(func() { s.session(ctx, conn, m, ch, in) })
	}
}

// broken stands for a machine that could not be made, and says why.
type broken struct{ why error }

// Exec says it.
func (b broken) Exec(_ context.Context, _ string, _ io.Reader, _, stderr io.Writer) int {
	_, _ = fmt.Fprintf(stderr, "rocec lab: %v\n", b.why)
	return 255
}

// Disk is empty.
func (broken) Disk() *Disk { return NewDisk(DiskOptions{}) }

// Reboot does nothing.
func (broken) Reboot() {}

// Close does nothing.
func (broken) Close() error { return nil }

// silent tells whether the device answers nothing, or no longer.
func (s *server) silent() bool {
	_, mute := s.faults.Has(FaultMute)
	return mute || s.faults.Struck(FaultHang)
}

// delay waits as long as a slow device does.
func (s *server) delay(ctx context.Context) {
	if f, slow := s.faults.Has(FaultSlow); slow {
		_ = Sleep(ctx, s.clock, f.Delay)
	}
}

// session serves one channel: a command line, a subsystem or a person.
func (s *server) session(ctx context.Context, conn ssh.Conn, m Machine, ch ssh.Channel, in <-chan *ssh.Request) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	terminal := false
	for r := range in {
		switch r.Type {
		case "env", "window-change", "signal":
			_ = r.Reply(true, nil)
		case "pty-req":
			terminal = true
			_ = r.Reply(true, nil)
		case "exec", "shell", "subsystem":
			var p struct{ Text string }
			if r.Type != "shell" && ssh.Unmarshal(r.Payload, &p) != nil || r.Type == "subsystem" && p.Text != "sftp" {
				_ = r.Reply(false, nil)
				continue
			}
			_ = r.Reply(true, nil)
			go func() { // what comes later: the end of the channel above all
				for r := range in {
					_ = r.Reply(r.Type != "exec", nil)
				}
				cancel()
			}()
			if s.silent() {
				<-ctx.Done()
				return
			}
			s.delay(ctx)
			code := 0
			switch r.Type {
			case "exec":
				var sent bool
				if code, sent = s.exec(ctx, m, ch, p.Text); !sent {
					_ = conn.Close()
					return
				}
			case "subsystem":
				if err := serveFiles(ch, m.Disk(), s.home, func() { s.delay(ctx) }); err != nil {
					code = 1
				}
			case "shell":
				code = s.person(ctx, m, ch, terminal)
			}
			_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(code)}))
			_ = ch.Close()
			return
		default:
			_ = r.Reply(false, nil)
		}
	}
}

// exec runs a command line. It is false where the connection has to end without a
// result.
func (s *server) exec(ctx context.Context, m Machine, ch ssh.Channel, line string) (int, bool) {
	words := line
	if w, ok := m.(worded); ok {
		words = w.Words(line)
	}
	if s.before != nil {
		s.before()
	}
	f, struck := s.faults.Next(Line, words)
	if struck && f.Kind == FaultDropBefore {
		return 0, false
	}
	if struck && f.Kind == FaultDrop {
		gone, cancel := context.WithCancel(ctx)
		cancel()
		m.Exec(gone, line, nil, io.Discard, io.Discard)
		return 0, false
	}
	if struck && f.Kind == FaultHang {
		m.Exec(ctx, line, nil, io.Discard, io.Discard)
		<-ctx.Done()
		return 0, false
	}
	code := s.bounded(ctx, m, line, ch, ch, ch.Stderr())
	if struck && f.Kind == FaultDropAfter || code < 0 {
		return 0, false
	}
	return code, true
}

// bounded runs a command line that prints no more than a session reads.
func (s *server) bounded(ctx context.Context, m Machine, line string, stdin io.Reader, stdout, stderr io.Writer) int {
	within, end := context.WithCancelCause(ctx)
	defer end(nil)
	f := &flood{left: mostOutput, end: end}
	code := m.Exec(within, line, stdin, &counted{f, stdout}, &counted{f, stderr})
	if !errors.Is(context.Cause(within), errFlood) {
		return code
	}
	_, _ = fmt.Fprintf(stderr, "rocec lab: the command printed more than %d MiB and was ended\n", mostOutput>>20)
	return 141 // as of a process that was ended by SIGPIPE
}

// person serves somebody at a terminal, line by line.
func (s *server) person(ctx context.Context, m Machine, ch ssh.Channel, terminal bool) int {
	if !terminal { // what is piped in, as into a shell
		return max(s.bounded(ctx, m, "bash", ch, ch, ch.Stderr()), 0)
	}
	t := term.NewTerminal(ch, s.prompt)
	_, _ = fmt.Fprintf(t, "%s\r\n", s.banner)
	for ctx.Err() == nil {
		line, err := t.ReadLine()
		if err != nil {
			return 0
		}
		switch strings.TrimSpace(line) {
		case "":
			continue
		case "exit", "logout":
			return 0
		}
		code := s.bounded(ctx, m, line, nil, t, t)
		if code < 0 {
			return 255
		}
		if code > 0 {
			_, _ = fmt.Fprintf(t, "(exit %d)\n", code)
		}
	}
	return 0
}
