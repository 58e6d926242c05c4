package session_test

import (
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/rocec/rocec/deploy/session"
)

// keyFile is a new private key in a file, with what stands beside it.
func keyFile(t testing.TB, seed uint64, passphrase string) (path string, key ssh.Signer) {
	t.Helper()
	var b [32]byte
	io.ReadFull(seeded(seed), b[:])
	private := ed25519.NewKeyFromSeed(b[:])
	var block *pem.Block
	var err error
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(private, "")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	path = write(t, "key", string(pem.EncodeToMemory(block)))
	key = signer(t, private)
	beside(t, path+".pub", ssh.MarshalAuthorizedKey(key.PublicKey()))
	return path, key
}

func beside(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// keyring is an agent that holds keys, and how it is reached.
func keyring(t testing.TB, c *session.Client, seeds ...uint64) {
	t.Helper()
	ring := agent.NewKeyring()
	for _, seed := range seeds {
		var b [32]byte
		io.ReadFull(seeded(seed), b[:])
		if err := ring.Add(agent.AddedKey{PrivateKey: ed25519.NewKeyFromSeed(b[:])}); err != nil {
			t.Fatal(err)
		}
	}
	c.DialAgent = func(_ context.Context, socket string) (net.Conn, error) {
		if socket != "/agent" {
			return nil, errors.New("another socket")
		}
		here, there := net.Pipe()
		go agent.ServeAgent(ring, there)
		return here, nil
	}
}

func TestLogin(t *testing.T) {
	open, key := keyFile(t, 20, "")
	locked, lockedKey := keyFile(t, 21, "correct horse")
	certified, certKey := keyFile(t, 22, "")
	authority := ed25519Key(t, 23)
	cert := certify(t, certKey, authority, ssh.UserCert, ssh.CertTimeInfinity, "admin").PublicKey()
	beside(t, certified+"-cert.pub", ssh.MarshalAuthorizedKey(cert))
	users := ssh.CertChecker{IsUserAuthority: func(k ssh.PublicKey) bool { return string(k.Marshal()) == string(authority.PublicKey().Marshal()) }}
	ask := func(questions []string, echos []bool, want ...string) func(ssh.ConnMetadata, ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
		return func(_ ssh.ConnMetadata, challenge ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			got, err := challenge("", "", questions, echos)
			if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
				return nil, errors.New("no")
			}
			return nil, nil
		}
	}
	for _, c := range []struct {
		name string
		auth ssh.ServerConfig
		edit func(*session.Spec, *session.Client)
		kind session.Kind // "" = let in
		want string
	}{
		{name: "password", auth: ssh.ServerConfig{PasswordCallback: password(pw)}},
		{
			name: "dialogue", auth: ssh.ServerConfig{KeyboardInteractiveCallback: ask([]string{"Password: "}, []bool{false}, pw)},
		},
		{
			name: "dialogue without a question", auth: ssh.ServerConfig{KeyboardInteractiveCallback: ask(nil, nil)},
		},
		{
			name: "dialogue that is not for a password", auth: ssh.ServerConfig{KeyboardInteractiveCallback: ask([]string{"Code:"}, []bool{true}, pw)},
			kind: session.KindAuth, want: `does not let user "admin" in with a password`,
		},
		{
			name: "wrong password", auth: ssh.ServerConfig{PasswordCallback: password("other")},
			kind: session.KindAuth, want: `does not let user "admin" in with a password`,
		},
		{
			name: "no variable", auth: ssh.ServerConfig{PasswordCallback: password(pw)},
			edit: func(to *session.Spec, _ *session.Client) { to.PasswordEnv = "NOT_SET" },
			kind: session.KindLocal, want: "the variable NOT_SET, which password_env names, is not set",
		},
		{
			name: "command", auth: ssh.ServerConfig{PasswordCallback: password("from pass")},
			edit: func(to *session.Spec, c *session.Client) {
				to.PasswordEnv, to.PasswordCommand = "", []string{"pass", "show", "leaf"}
				c.Command = func(_ context.Context, argv []string) ([]byte, error) {
					if strings.Join(argv, " ") != "pass show leaf" {
						return nil, errors.New("another command")
					}
					return []byte("from pass\n"), nil
				}
			},
		},
		{
			name: "command that fails", auth: ssh.ServerConfig{PasswordCallback: password(pw)},
			edit: func(to *session.Spec, c *session.Client) {
				to.PasswordEnv, to.PasswordCommand = "", []string{"false", "secret-argument"}
			},
			kind: session.KindLocal, want: `the password command "false" ended with code 1`,
		},
		{
			name: "key", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())},
			edit: func(to *session.Spec, _ *session.Client) { to.PasswordEnv, to.Identity = "", []string{certified, open} },
		},
		{
			name: "key under ~", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())},
			edit: func(to *session.Spec, c *session.Client) {
				c.LookupEnv = func(name string) (string, bool) { return filepath.Dir(open), name == "HOME" }
				to.PasswordEnv, to.Identity = "", []string{"~/key"}
			},
		},
		{
			name: "no such key", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())},
			edit: func(to *session.Spec, _ *session.Client) { to.Identity = []string{"/none/key"} },
			kind: session.KindLocal, want: "/none/key",
		},
		{
			name: "not a key", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())},
			edit: func(to *session.Spec, _ *session.Client) { to.Identity = []string{open + ".pub"} },
			kind: session.KindLocal, want: "the private key " + open + ".pub",
		},
		{
			name: "wrong key", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())},
			edit: func(to *session.Spec, _ *session.Client) { to.PasswordEnv, to.Identity = "", []string{certified} },
			kind: session.KindAuth, want: certified,
		},
		{
			name: "certificate", auth: ssh.ServerConfig{PublicKeyCallback: users.Authenticate},
			edit: func(to *session.Spec, _ *session.Client) { to.PasswordEnv, to.Identity = "", []string{certified} },
		},
		{
			name: "key behind a passphrase", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(lockedKey.PublicKey())},
			edit: func(to *session.Spec, _ *session.Client) { to.Identity = []string{locked} },
			kind: session.KindLocal, want: "the private key " + locked + " is behind a passphrase (add it to the agent",
		},
		{
			name: "key behind a passphrase that the agent holds", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(lockedKey.PublicKey())},
			edit: func(to *session.Spec, c *session.Client) {
				to.PasswordEnv, to.Identity, to.Agent = "", []string{locked}, true
				c.LookupEnv = func(name string) (string, bool) { return "/agent", name == "SSH_AUTH_SOCK" }
				keyring(t, c, 21)
			},
		},
		{
			name: "agent", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())},
			edit: func(to *session.Spec, c *session.Client) {
				to.PasswordEnv, to.Agent = "", true
				c.LookupEnv = func(name string) (string, bool) { return "/agent", name == "SSH_AUTH_SOCK" }
				keyring(t, c, 21, 20)
			},
		},
		{
			name: "agent that nobody started", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())},
			edit: func(to *session.Spec, c *session.Client) { to.Agent = true },
			kind: session.KindLocal, want: "there is no agent: SSH_AUTH_SOCK is not set",
		},
		{
			name: "agent that is gone", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())},
			edit: func(to *session.Spec, c *session.Client) {
				to.PasswordEnv, to.Agent = "", true
				c.LookupEnv = func(name string) (string, bool) { return "/none/agent", name == "SSH_AUTH_SOCK" }
			},
			kind: session.KindLocal, want: "the agent: ",
		},
		{
			name: "nothing said, a key of the user", auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())},
			edit: func(to *session.Spec, c *session.Client) {
				home := t.TempDir()
				os.Mkdir(filepath.Join(home, ".ssh"), 0o700)
				b, _ := os.ReadFile(open)
				beside(t, filepath.Join(home, ".ssh/id_ed25519"), b)
				c.LookupEnv = func(name string) (string, bool) { return home, name == "HOME" }
				to.PasswordEnv = ""
			},
		},
		{
			name: "nothing at all", auth: ssh.ServerConfig{PasswordCallback: password(pw)},
			edit: func(to *session.Spec, _ *session.Client) { to.PasswordEnv = "" },
			kind: session.KindLocal, want: "there is no key and no password",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := (&server{auth: c.auth}).start(t)
			to, cl := s.spec(t), client(t)
			if c.edit != nil {
				c.edit(&to, cl)
			}
			sess, err := cl.Dial(t.Context(), to)
			if c.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer sess.Close()
				if out, err := sess.Run(t.Context(), "x", nil); err != nil || string(out.Stdout) != "x|" {
					t.Errorf("%q, %v", out.Stdout, err)
				}
				return
			}
			if err == nil || kindOf(t, err) != c.kind || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s: %s", err, c.kind, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret-argument") {
				t.Errorf("the arguments are in %v", err)
			}
		})
	}
}

// A password command is asked once, however many devices share it, and again when
// it failed.
func TestPasswordCommandOnce(t *testing.T) {
	s := (&server{}).start(t)
	to, cl := s.spec(t), client(t)
	to.PasswordEnv, to.PasswordCommand = "", []string{"pass"}
	var asked atomic.Int32
	cl.Command = func(context.Context, []string) ([]byte, error) {
		if asked.Add(1) == 1 {
			return nil, errors.New("the card is not in")
		}
		return []byte(pw + "\r\n"), nil
	}
	if _, err := cl.Dial(t.Context(), to); err == nil || kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "the card is not in") {
		t.Error(err)
	}
	for range 3 {
		dial(t, cl, to)
	}
	if asked.Load() != 2 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestUser(t *testing.T) {
	var got atomic.Value
	s := (&server{auth: ssh.ServerConfig{PasswordCallback: func(c ssh.ConnMetadata, _ []byte) (*ssh.Permissions, error) {
		got.Store(c.User())
		return nil, nil
	}}}).start(t)
	to := s.spec(t)
	to.User = ""
	dial(t, client(t), to)
	if got.Load() != "me" {
		t.Errorf("user %v", got.Load())
	}
}

func TestUnreachable(t *testing.T) {
	s := (&server{}).start(t)
	to := s.spec(t)
	for _, c := range []struct {
		name string
		edit func(*session.Spec, *session.Client)
		kind session.Kind
		want string
	}{
		{"no address", func(to *session.Spec, _ *session.Client) { to.Address = "" }, session.KindLocal, "leaf1 has no address"},
		{"no shell", func(to *session.Spec, _ *session.Client) { to.Shell = "fish" }, session.KindLocal, `shell "fish"`},
		{"no such name", func(_ *session.Spec, c *session.Client) {
			c.DialNet = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no such host") }
		}, session.KindUnreachable, "no such host"},
		{"no SSH", func(_ *session.Spec, c *session.Client) {
			c.DialNet = func(context.Context, string, string) (net.Conn, error) {
				here, there := net.Pipe()
				go func() {
					go io.Copy(io.Discard, there)
					io.WriteString(there, "HTTP/1.1 400 Bad Request\r\n\r\n")
					there.Close()
				}()
				return here, nil
			}
		}, session.KindUnreachable, "whether an SSH server is behind that port"},
		{"at its limit", func(to *session.Spec, _ *session.Client) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			go func() {
				if conn, err := l.Accept(); err == nil {
					conn.Close()
				}
			}()
			to.Port = uint16(l.Addr().(*net.TCPAddr).Port)
		}, session.KindUnreachable, "the other end closed the connection before it let us in (see MaxStartups"},
		{"hostile text", func(_ *session.Spec, c *session.Client) {
			c.DialNet = func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("\x1b[2Jgone\nleaf2: fine \xff")
			}
		}, session.KindUnreachable, `\x1b[2Jgone\nleaf2: fine \xff`},
	} {
		t.Run(c.name, func(t *testing.T) {
			to, cl := to, client(t)
			c.edit(&to, cl)
			_, err := cl.Dial(t.Context(), to)
			if err == nil || kindOf(t, err) != c.kind || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s: %s", err, c.kind, c.want)
			}
		})
	}
}
