//go:build unix

package session_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// TestOffered looks at the first packet: nothing on SHA-1 is in it unless the connection asks, and never for keys of hosts.
func TestOffered(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		packet := make(chan []byte, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				packet <- nil
				return
			}
			defer c.Close()
			_, _ = io.WriteString(c, "SSH-2.0-x\r\n")
			var b []byte
			for len(b) < 4<<10 && !bytes.Contains(b, []byte("none")) {
				_ = c.SetReadDeadline(time.Now().Add(time.Second))
				room := make([]byte, 1<<10)
				n, err := c.Read(room)
				if b = append(b, room[:n]...); err != nil {
					break
				}
			}
			packet <- b
		}()
		to := session.Spec{Device: "leaf1", Address: "127.0.0.1", Port: uint16(l.Addr().(*net.TCPAddr).Port), User: "admin", PasswordEnv: "PW", Shell: targets.POSIX, Legacy: legacy}
		if s, err := client(t).Dial(t.Context(), to); err == nil {
			s.Close()
		}
		l.Close()
		b := string(<-packet)
		if !strings.Contains(b, "diffie-hellman-group16-sha512") || !strings.Contains(b, "kex-strict-c-v00@openssh.com") {
			t.Fatalf("no algorithms: %q", b)
		}
		for _, old := range []string{"diffie-hellman-group14-sha1", "hmac-sha1"} {
			if strings.Contains(b, old) != legacy {
				t.Errorf("legacy %v, offered: %q", legacy, b)
			}
		}
		for _, never := range []string{"hmac-sha1-96", "group1-sha1", "exchange-sha1", "ssh-rsa,", "ssh-dss", "-cbc", "arcfour"} {
			if strings.Contains(b, never) {
				t.Errorf("legacy %v: %s is offered: %q", legacy, never, b)
			}
		}
	}
}

// TestOldServers logs in to servers that have nothing newer only where the connection asks for it.
func TestOldServers(t *testing.T) {
	for name, c := range map[string]struct {
		config       ssh.Config
		plain, asked bool
	}{
		"key exchange":      {ssh.Config{KeyExchanges: []string{ssh.InsecureKeyExchangeDH14SHA1}}, false, true},
		"integrity":         {ssh.Config{Ciphers: []string{ssh.CipherAES128CTR}, MACs: []string{ssh.HMACSHA1}}, false, true},
		"half of integrity": {ssh.Config{Ciphers: []string{ssh.CipherAES128CTR}, MACs: []string{ssh.InsecureHMACSHA196}}, false, false},
		"group 1":           {ssh.Config{KeyExchanges: []string{ssh.InsecureKeyExchangeDH1SHA1}}, false, false},
		"group 16":          {ssh.Config{KeyExchanges: []string{ssh.KeyExchangeDH16SHA512}}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := (&server{auth: ssh.ServerConfig{Config: c.config}}).start(t)
			for legacy, ok := range map[bool]bool{false: c.plain, true: c.asked} {
				to := s.spec(t)
				to.Legacy = legacy
				before := s.logins
				sess, err := client(t).Dial(t.Context(), to)
				if (err == nil) != ok {
					t.Errorf("legacy %v: %v", legacy, err)
				}
				if err == nil {
					sess.Close()
				} else if kindOf(t, err) != session.KindUnreachable || strings.Contains(err.Error(), "legacy_algorithms = true") != (c.asked && !c.plain) || s.logins != before {
					t.Errorf("legacy %v: %v, %d logins", legacy, err, s.logins)
				}
			}
		})
	}
}

// TestRevokedPin has a key that is pinned and revoked, in a file that is named and in the user's own.
func TestRevokedPin(t *testing.T) {
	s := (&server{}).start(t)
	key := s.keys[0].PublicKey()
	revoked := "@revoked * " + string(ssh.MarshalAuthorizedKey(key))
	for _, pin := range []string{ssh.FingerprintSHA256(key), string(ssh.MarshalAuthorizedKey(key))} {
		to := s.spec(t)
		to.HostKey = pin
		dial(t, client(t), to)
		to.KnownHosts = []string{write(t, "known_hosts", revoked)}
		_, named := client(t).Dial(t.Context(), to)
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
			t.Fatal(err)
		}
		beside(t, filepath.Join(home, ".ssh", "known_hosts"), []byte(revoked))
		to.KnownHosts = nil
		_, own := client(t, "HOME="+home).Dial(t.Context(), to)
		for _, err := range []error{named, own} {
			if err == nil || kindOf(t, err) != session.KindHostKey || !strings.Contains(err.Error(), "is revoked in") {
				t.Errorf("%s: %v", pin, err)
			}
		}
	}
}

// TestOpenKeys has private keys that others can read: named ones are refused, and those that ssh would look for are left out
// with a word.
func TestOpenKeys(t *testing.T) {
	path, key := keyFile(t, 30, "")
	s := (&server{auth: ssh.ServerConfig{PublicKeyCallback: publicKey(key.PublicKey())}}).start(t)
	to := s.spec(t)
	to.PasswordEnv, to.Identity = "", []string{path}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(home, ".ssh", "id_ed25519")); err != nil {
		t.Fatal(err)
	}
	asked := to
	asked.Identity = nil
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o700: true, 0o640: false, 0o604: false, 0o644: false, 0o620: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		sess, err := client(t).Dial(t.Context(), to)
		if ok != (err == nil) || !ok && (kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "chmod 600")) {
			t.Errorf("%04o: %v", mode, err)
		}
		if err == nil {
			sess.Close()
		}
		sess, err = client(t, "HOME="+home).Dial(t.Context(), asked)
		if ok != (err == nil) || !ok && !strings.Contains(err.Error(), "left out, as others may read it") {
			t.Errorf("%04o, not named: %v", mode, err)
		}
		if err == nil {
			sess.Close()
		}
	}
}

// TestEndlessFiles names what does not end, or says nothing, in the place of each file of a connection.
func TestEndlessFiles(t *testing.T) {
	s := (&server{}).start(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	large := write(t, "large", "")
	if err := os.Truncate(large, 1<<33); err != nil {
		t.Fatal(err)
	}
	locked, _ := keyFile(t, 31, "behind a word")
	plain, _ := keyFile(t, 32, "")
	for _, bad := range []string{"/dev/zero", pipe, large, t.TempDir()} {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(bad, link); err != nil {
			t.Fatal(err)
		}
		for name, edit := range map[string]func(*session.Spec){
			"known_hosts":       func(to *session.Spec) { to.KnownHosts = []string{bad} },
			"known_hosts, link": func(to *session.Spec) { to.KnownHosts = []string{link} },
			"known_hosts, pinned key": func(to *session.Spec) {
				to.KnownHosts, to.HostKey = []string{bad}, ssh.FingerprintSHA256(s.keys[0].PublicKey())
			},
			"identity":       func(to *session.Spec) { to.Identity = []string{bad} },
			"identity, link": func(to *session.Spec) { to.Identity = []string{link} },
			"certificate": func(to *session.Spec) {
				to.Identity = []string{plain}
				at := plain + "-cert.pub"
				_ = os.Remove(at)
				if err := os.Symlink(bad, at); err != nil {
					t.Fatal(err)
				}
			},
			"public key": func(to *session.Spec) {
				to.Identity = []string{locked}
				at := locked + ".pub"
				_ = os.Remove(at)
				if err := os.Symlink(bad, at); err != nil {
					t.Fatal(err)
				}
			},
		} {
			to := s.spec(t)
			edit(&to)
			done := make(chan error, 1)
			go func() { _, err := client(t).Dial(t.Context(), to); done <- err }()
			select {
			case err := <-done:
				if err == nil || kindOf(t, err) != session.KindLocal {
					t.Errorf("%s is %s: %v", name, bad, err)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("%s is %s: it does not end", name, bad)
			}
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	to := s.spec(t)
	if err := os.Symlink(to.KnownHosts[0], link); err != nil {
		t.Fatal(err)
	}
	to.KnownHosts = []string{link}
	dial(t, client(t), to)
}

// TestPasswordOnce asks for more than the password: the device gets it once, for one question that is for it.
func TestPasswordOnce(t *testing.T) {
	type round struct {
		name, above string
		questions   []string
		echos       []bool
	}
	one := func(q string) []round { return []round{{questions: []string{q}, echos: []bool{false}}} }
	for name, c := range map[string]struct {
		rounds []round
		gives  int // how often the password is given
	}{
		"plain":              {one("Password: "), 1},
		"no colon":           {one("password"), 1},
		"of a user":          {one("admin@leaf1's password:"), 1},
		"for a user":         {one("Password for admin@leaf1: "), 1},
		"enter":              {one("Enter your TACACS+ password: "), 1},
		"nothing, then it":   {append([]round{{}}, one("Password: ")...), 1},
		"another secret":     {one("Your AWS key?"), 0},
		"empty":              {one(""), 0},
		"a new one":          {one("New password: "), 0},
		"the current one":    {one("(current) UNIX password: "), 0},
		"a choice":           {one("Password:|New password:"), 0},
		"again":              {one("Retype password: "), 0},
		"one-time":           {one("One-time password: "), 0},
		"a code":             {one("Password & verification code: "), 0},
		"with echo":          {[]round{{questions: []string{"Password: "}, echos: []bool{true}}}, 0},
		"two at once":        {[]round{{questions: []string{"Password: ", "Password: "}, echos: []bool{false, false}}}, 0},
		"twice":              {append(one("Password: "), one("Password: ")...), 1},
		"expired":            {append(one("Password: "), one("New password: ")...), 1},
		"expired, above":     {[]round{{above: "Your password has expired.", questions: []string{"Password: "}, echos: []bool{false}}}, 0},
		"change, as a title": {[]round{{name: "Change of password", questions: []string{"Password: "}, echos: []bool{false}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			given, asked := 0, 0
			s := (&server{auth: ssh.ServerConfig{KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
				mu.Lock()
				defer mu.Unlock()
				for _, r := range c.rounds {
					answers, err := ask(r.name, r.above, r.questions, r.echos)
					if err != nil {
						return nil, err
					}
					asked++
					for _, a := range answers {
						if a == pw {
							given++
						}
					}
				}
				return nil, nil
			}}}).start(t)
			sess, err := client(t).Dial(t.Context(), s.spec(t))
			if err == nil {
				sess.Close()
			}
			mu.Lock()
			defer mu.Unlock()
			if given != c.gives || (err == nil) != (asked == len(c.rounds)) {
				t.Errorf("given %d times in %d rounds: %v", given, asked, err)
			}
			if err != nil && (kindOf(t, err) != session.KindAuth || !strings.Contains(err.Error(), "it asks ")) {
				t.Error(err)
			}
		})
	}
}

// TestPasswordOneWay has a server that takes the password neither plainly nor in a dialogue: it is told once.
func TestPasswordOneWay(t *testing.T) {
	var mu sync.Mutex
	told := 0
	count := func(word string) {
		mu.Lock()
		defer mu.Unlock()
		if word == pw {
			told++
		}
	}
	s := (&server{auth: ssh.ServerConfig{
		PasswordCallback: func(_ ssh.ConnMetadata, word []byte) (*ssh.Permissions, error) {
			count(string(word))
			return nil, errors.New("no")
		},
		KeyboardInteractiveCallback: func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			answers, err := ask("", "", []string{"Password: "}, []bool{false})
			for _, a := range answers {
				count(a)
			}
			return nil, errors.Join(err, errors.New("no"))
		},
	}}).start(t)
	_, err := client(t).Dial(t.Context(), s.spec(t))
	mu.Lock()
	defer mu.Unlock()
	if err == nil || kindOf(t, err) != session.KindAuth || told != 1 {
		t.Errorf("told %d times: %v", told, err)
	}
}
