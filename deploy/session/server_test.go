package session_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// seeded is a source of bytes that is the same in every run. Keys of tests need
// no more.
func seeded(seed uint64) io.Reader {
	return rand.NewChaCha8([32]byte(binary.LittleEndian.AppendUint64(make([]byte, 24), seed)))
}

// ed25519Key is a key that the seed decides.
func ed25519Key(t testing.TB, seed uint64) ssh.Signer {
	t.Helper()
	var b [32]byte
	io.ReadFull(seeded(seed), b[:])
	return signer(t, ed25519.NewKeyFromSeed(b[:]))
}

func ecdsaKey(t testing.TB) ssh.Signer {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	return signer(t, k)
}

func rsaKey(t testing.TB) ssh.Signer {
	t.Helper()
	k, err := rsa.GenerateKey(seeded(1), 2048)
	if err != nil {
		t.Fatal(err)
	}
	return signer(t, k)
}

func signer(t testing.TB, k crypto.Signer) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromSigner(k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// certify makes a certificate of a key.
func certify(t testing.TB, key ssh.Signer, authority ssh.Signer, kind uint32, until uint64, names ...string) ssh.Signer {
	t.Helper()
	c := &ssh.Certificate{Key: key.PublicKey(), CertType: kind, ValidPrincipals: names, ValidBefore: until}
	if err := c.SignCert(seeded(7), authority); err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewCertSigner(c, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pw is long enough that it stands nowhere by chance.
const pw = "the password of the tests"

// call is one command that a server runs.
type call struct {
	command string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	conn    net.Conn // to break it
	over    <-chan struct{}
}

// Answers of a command other than its exit code.
const (
	noStatus = -1
	sigterm  = -2
	sigodd   = -3
)

// server is a real SSH server on loopback.
type server struct {
	keys  []ssh.Signer
	auth  ssh.ServerConfig
	exec  func(c *call) int
	shell func(ch ssh.Channel)
	sftp  func(ch io.ReadWriteCloser) error // nil: no such subsystem
	deaf  bool                              // answers no keepalive
	noRun bool                              // denies commands

	addr     *net.TCPAddr
	listener net.Listener
	done     sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]bool
	logins   int
	most     int // connections at once
}

// start serves until the test ends. A server that is told nothing has one key and
// lets everybody in whose password is pw.
func (s *server) start(t testing.TB) *server {
	t.Helper()
	if s.keys == nil {
		s.keys = []ssh.Signer{ed25519Key(t, 1)}
	}
	if s.auth.PasswordCallback == nil && s.auth.PublicKeyCallback == nil && s.auth.KeyboardInteractiveCallback == nil {
		s.auth.PasswordCallback = password(pw)
	}
	if s.exec == nil {
		s.exec = echo
	}
	for _, k := range s.keys {
		s.auth.AddHostKey(k)
	}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.addr = s.listener.Addr().(*net.TCPAddr)
	s.conns = map[net.Conn]bool{}
	s.done.Go(s.accept)
	t.Cleanup(s.stop)
	return s
}

func (s *server) stop() {
	s.listener.Close()
	s.cut()
	s.done.Wait()
}

// cut ends all connections, as a device does that loses power.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

func (s *server) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = true
		s.most = max(s.most, len(s.conns))
		s.mu.Unlock()
		s.done.Go(func() {
			s.serve(c)
			c.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
		})
	}
}

func (s *server) serve(nc net.Conn) {
	conn, channels, requests, err := ssh.NewServerConn(nc, &s.auth)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.logins++
	s.mu.Unlock()
	go func() {
		for r := range requests {
			if !s.deaf {
				r.Reply(false, nil)
			}
		}
	}()
	var work sync.WaitGroup
	defer work.Wait()
	for ch := range channels {
		switch ch.ChannelType() {
		case "session":
			work.Go(func() { s.session(ch, nc) })
		case "direct-tcpip":
			work.Go(func() { forward(ch) })
		default:
			ch.Reject(ssh.UnknownChannelType, "")
		}
	}
	conn.Close()
}

func forward(ch ssh.NewChannel) {
	var to struct {
		Host   string
		Port   uint32
		Origin string
		From   uint32
	}
	if err := ssh.Unmarshal(ch.ExtraData(), &to); err != nil {
		ch.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	nc, err := net.Dial("tcp", net.JoinHostPort(to.Host, fmt.Sprint(to.Port)))
	if err != nil {
		ch.Reject(ssh.ConnectionFailed, "no route")
		return
	}
	c, requests, err := ch.Accept()
	if err != nil {
		nc.Close()
		return
	}
	go ssh.DiscardRequests(requests)
	var both sync.WaitGroup
	both.Go(func() { io.Copy(nc, c); nc.Close() })
	both.Go(func() { io.Copy(c, nc); c.Close() })
	both.Wait()
}

func (s *server) session(nch ssh.NewChannel, nc net.Conn) {
	ch, requests, err := nch.Accept()
	if err != nil {
		return
	}
	defer ch.Close()
	over := make(chan struct{})
	var work sync.WaitGroup
	defer work.Wait()
	defer close(over)
	for r := range requests {
		var text struct{ Value string }
		ssh.Unmarshal(r.Payload, &text)
		switch {
		case r.Type == "exec" && !s.noRun:
			r.Reply(true, nil)
			work.Go(func() {
				finish(ch, s.exec(&call{text.Value, ch, ch, ch.Stderr(), nc, over}))
			})
		case r.Type == "subsystem" && text.Value == "sftp" && s.sftp != nil:
			r.Reply(true, nil)
			work.Go(func() {
				s.sftp(ch)
				finish(ch, 0)
			})
		case r.Type == "pty-req" && s.shell != nil:
			r.Reply(true, nil)
		case r.Type == "shell" && s.shell != nil:
			r.Reply(true, nil)
			work.Go(func() {
				s.shell(ch)
				ch.Close()
			})
		default:
			r.Reply(false, nil)
		}
	}
}

func finish(ch ssh.Channel, code int) {
	switch code {
	case noStatus:
	case sigterm:
		ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Signal string
			Core   bool
			Error  string
			Lang   string
		}{"TERM", false, "", ""}))
	case sigodd:
		ch.SendRequest("exit-status", false, []byte{1})
	default:
		ch.SendRequest("exit-status", false, binary.BigEndian.AppendUint32(nil, uint32(code)))
	}
	ch.Close()
}

// echo answers with the command and the input.
func echo(c *call) int {
	in, _ := io.ReadAll(c.stdin)
	fmt.Fprintf(c.stdout, "%s|%s", c.command, in)
	return 0
}

func password(word string) func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) {
	return func(_ ssh.ConnMetadata, got []byte) (*ssh.Permissions, error) {
		if string(got) == word {
			return nil, nil
		}
		return nil, errors.New("no")
	}
}

func publicKey(want ssh.PublicKey) func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
	return func(_ ssh.ConnMetadata, got ssh.PublicKey) (*ssh.Permissions, error) {
		if bytes.Equal(got.Marshal(), want.Marshal()) {
			return nil, nil
		}
		return nil, errors.New("no")
	}
}

// files is an SFTP server on the real file system.
func files(ch io.ReadWriteCloser) error {
	s, err := sftp.NewServer(ch)
	if err != nil {
		return err
	}
	return s.Serve()
}

// line is a server's line of a known-hosts file.
func (s *server) line(k ssh.PublicKey) string {
	return fmt.Sprintf("[127.0.0.1]:%d %s", s.addr.Port, ssh.MarshalAuthorizedKey(k))
}

// spec is the way to a server, whose keys are on file.
func (s *server) spec(t testing.TB) session.Spec {
	t.Helper()
	var lines []string
	for _, k := range s.keys {
		if _, ok := k.PublicKey().(*ssh.Certificate); !ok {
			lines = append(lines, s.line(k.PublicKey()))
		}
	}
	return session.Spec{
		Device: "leaf1", Address: "127.0.0.1", Port: uint16(s.addr.Port), User: "admin", PasswordEnv: "PW",
		KnownHosts: []string{write(t, "known_hosts", strings.Join(lines, ""))}, Shell: targets.POSIX,
	}
}

// write is a new file of a test.
func write(t testing.TB, name, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// client is one that sees nothing of the real environment.
func client(t testing.TB, env ...string) *session.Client {
	t.Helper()
	vars := map[string]string{"PW": pw, "HOME": t.TempDir(), "USER": "me"}
	for _, e := range env {
		k, v, ok := strings.Cut(e, "=")
		delete(vars, k)
		if ok {
			vars[k] = v
		}
	}
	return &session.Client{
		LookupEnv:  func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		SystemKeys: filepath.Join(t.TempDir(), "none"),
	}
}

// dial opens a session that ends with the test.
func dial(t testing.TB, c *session.Client, to session.Spec) session.Session {
	t.Helper()
	s, err := c.Dial(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// kindOf is the kind of an error, which has to be an Error of the device.
func kindOf(t testing.TB, err error) session.Kind {
	t.Helper()
	var e *session.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no session.Error", err)
	}
	if e.Device != "leaf1" {
		t.Errorf("the error is of device %q: %v", e.Device, err)
	}
	return e.Kind
}

func one(k ssh.Signer) []ssh.Signer { return []ssh.Signer{k} }
