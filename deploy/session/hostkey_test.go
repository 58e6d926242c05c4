package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/rocec/rocec/deploy/session"
)

func TestHostKey(t *testing.T) {
	first, second, third := ed25519Key(t, 1), ecdsaKey(t), rsaKey(t)
	other := ed25519Key(t, 9)
	authority := ed25519Key(t, 8)
	cert := certify(t, first, authority, ssh.HostCert, ssh.CertTimeInfinity, "127.0.0.1")
	old := certify(t, first, authority, ssh.HostCert, uint64(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()), "127.0.0.1")
	alien := certify(t, first, authority, ssh.HostCert, ssh.CertTimeInfinity, "spine1")
	pattern := certify(t, first, authority, ssh.HostCert, ssh.CertTimeInfinity, "spine1", "127.0.0.*")
	nameless := certify(t, first, authority, ssh.HostCert, ssh.CertTimeInfinity)
	sha1, err := ssh.NewSignerWithAlgorithms(third.(ssh.AlgorithmSigner), []string{ssh.KeyAlgoRSA})
	if err != nil {
		t.Fatal(err)
	}
	forgeable := certify(t, first, sha1, ssh.HostCert, ssh.CertTimeInfinity, "127.0.0.1")
	users := certify(t, first, authority, ssh.UserCert, ssh.CertTimeInfinity, "127.0.0.1")
	sum := func(k ssh.Signer) string { return ssh.FingerprintSHA256(k.PublicKey()) }
	text := func(k ssh.Signer) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.PublicKey()))) }
	for _, c := range []struct {
		name  string
		keys  []ssh.Signer
		known func(s *server) string
		pin   string
		want  []string // in the error; none = it is let through
	}{
		{name: "on file", keys: []ssh.Signer{first}, known: func(s *server) string { return s.line(first.PublicKey()) }},
		{
			name: "one of three on file", keys: []ssh.Signer{first, second, third},
			known: func(s *server) string { return s.line(third.PublicKey()) },
		},
		{
			name: "hashed", keys: []ssh.Signer{first},
			known: func(s *server) string {
				return knownhosts.HashHostname("["+s.addr.IP.String()+"]:"+portOf(s)) + " " + text(first)
			},
		},
		{
			name: "unknown", keys: []ssh.Signer{first}, known: func(*server) string { return "other.example.net " + text(other) },
			want: []string{"is unknown: it offers ssh-ed25519 " + sum(first), "known_hosts", "ssh-keyscan -p ", "compare"},
		},
		{
			name: "changed", keys: []ssh.Signer{first}, known: func(s *server) string { return "\n" + s.line(other.PublicKey()) },
			want: []string{"is not the one on file: expected ssh-ed25519 " + sum(other), "known_hosts line 2)", "offered ssh-ed25519 " + sum(first)},
		},
		{
			name: "of another type", keys: []ssh.Signer{first}, known: func(s *server) string { return s.line(second.PublicKey()) },
			want: []string{"has no key of a type on file: expected ecdsa-sha2-nistp256, the host has ssh-ed25519"},
		},
		{
			name: "revoked", keys: []ssh.Signer{first},
			known: func(s *server) string { return s.line(first.PublicKey()) + "@revoked * " + text(first) },
			want:  []string{"is revoked in ", "line 2: ssh-ed25519 " + sum(first)},
		},
		{
			name: "certified", keys: []ssh.Signer{cert},
			known: func(s *server) string { return "@cert-authority [127.0.0.*]:" + portOf(s) + " " + text(authority) },
		},
		{
			name: "certified, and another key is on file", keys: []ssh.Signer{second, cert},
			known: func(s *server) string {
				return s.line(other.PublicKey()) + "@cert-authority [127.0.0.1]:" + portOf(s) + " " + text(authority)
			},
		},
		{
			name: "certified until long ago", keys: []ssh.Signer{old},
			known: func(s *server) string { return "@cert-authority [127.0.0.1]:" + portOf(s) + " " + text(authority) },
			want:  []string{"the certificate of 127.0.0.1:", "expired", sum(authority)},
		},
		{
			name: "certified for another", keys: []ssh.Signer{alien},
			known: func(s *server) string { return "@cert-authority [127.0.0.1]:" + portOf(s) + " " + text(authority) },
			want:  []string{"the certificate of 127.0.0.1:", "principal"},
		},
		{
			name: "certified by a pattern", keys: []ssh.Signer{pattern},
			known: func(*server) string { return "@cert-authority * " + text(authority) },
		},
		{
			name: "certified for nobody", keys: []ssh.Signer{nameless},
			known: func(*server) string { return "@cert-authority * " + text(authority) },
			want:  []string{"the certificate of 127.0.0.1:", "names no host", "-h -n"},
		},
		{
			name: "certified with SHA-1", keys: []ssh.Signer{forgeable},
			known: func(*server) string { return "@cert-authority * " + text(third) },
			want:  []string{"the certificate of 127.0.0.1:", "signed with ssh-rsa, which can be forged"},
		},
		{
			name: "no certificate", keys: []ssh.Signer{first},
			known: func(*server) string { return "@cert-authority * " + text(authority) },
			want:  []string{"shows no certificate but ssh-ed25519 " + sum(first) + "; authorities for it: ssh-ed25519 " + sum(authority), "ssh-keyscan -p "},
		},
		{
			name: "the certificate of a user", keys: []ssh.Signer{users},
			known: func(s *server) string { return "@cert-authority [127.0.0.1]:" + portOf(s) + " " + text(authority) },
			want:  []string{"the certificate of 127.0.0.1:", "one of a user"},
		},
		{
			name: "certified by another", keys: []ssh.Signer{cert},
			known: func(s *server) string { return "@cert-authority [127.0.0.1]:" + portOf(s) + " " + text(other) },
			want:  []string{"the certificate of 127.0.0.1:", "no authority for this host has signed it, but ssh-ed25519 " + sum(authority), sum(other) + " (", "line 1)"},
		},
		{
			name: "revoked authority", keys: []ssh.Signer{cert},
			known: func(s *server) string {
				return "@cert-authority [127.0.0.1]:" + portOf(s) + " " + text(authority) + "\n@revoked * " + text(authority)
			},
			want: []string{"the certificate of 127.0.0.1:", "revoked"},
		},
		{
			name: "the key of an authority as a host's", keys: []ssh.Signer{authority},
			known: func(s *server) string {
				return s.line(first.PublicKey()) + "@cert-authority [127.0.0.1]:" + portOf(s) + " " + text(authority)
			},
			want: []string{"is not the one on file", sum(first), "offered ssh-ed25519 " + sum(authority)},
		},
		{
			name: "garbage in the file", keys: []ssh.Signer{first}, known: func(s *server) string { return s.line(first.PublicKey()) + "x ssh-ed25519 ???" },
			want: []string{"known_hosts:2: "},
		},
		{name: "pinned fingerprint", keys: []ssh.Signer{first}, pin: sum(first)},
		{name: "pinned fingerprint of one of three", keys: []ssh.Signer{first, second, third}, pin: sum(third)},
		{name: "pinned key", keys: []ssh.Signer{second, first}, pin: text(first) + " a comment"},
		{
			name: "another fingerprint is pinned", keys: []ssh.Signer{first, second}, pin: sum(other),
			want: []string{"the one that host_key names", "offered ssh-ed25519 " + sum(first) + ", ecdsa-sha2-nistp256 " + sum(second)},
		},
		{
			name: "another key is pinned", keys: []ssh.Signer{first}, pin: text(other),
			want: []string{"expected ssh-ed25519 " + sum(other) + ", offered ssh-ed25519 " + sum(first)},
		},
		{name: "a key of another type is pinned", keys: []ssh.Signer{first}, pin: text(second), want: []string{"expected ecdsa-sha2-nistp256 " + sum(second) + ", offered ssh-ed25519 ("}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := (&server{keys: c.keys}).start(t)
			to := s.spec(t)
			to.HostKey = c.pin
			if c.known != nil {
				to.KnownHosts = []string{write(t, "known_hosts", c.known(s))}
			}
			sess, err := client(t).Dial(t.Context(), to)
			if len(c.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				sess.Close()
				return
			}
			if err == nil {
				t.Fatal("let through")
			}
			kind := session.KindHostKey
			if strings.HasPrefix(c.name, "garbage") {
				kind = session.KindLocal
			}
			if kindOf(t, err) != kind {
				t.Errorf("kind %s: %v", kindOf(t, err), err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%v\nlacks %q", err, w)
				}
			}
			if s.logins != 0 {
				t.Error("it logged in")
			}
		})
	}
}

func portOf(s *server) string { return strings.TrimPrefix(s.listener.Addr().String(), "127.0.0.1:") }

// Without files named, those of the user and of the system are asked; they need
// not be there. A file that has changed is read anew.
func TestKnownHostsFiles(t *testing.T) {
	s := (&server{}).start(t)
	to := s.spec(t)
	to.KnownHosts = nil
	home := t.TempDir()
	c := client(t, "HOME="+home)
	c.SystemKeys = filepath.Join(t.TempDir(), "ssh_known_hosts")
	_, err := c.Dial(t.Context(), to)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(home, ".ssh/known_hosts")+", "+c.SystemKeys) || kindOf(t, err) != session.KindHostKey {
		t.Error(err)
	}
	beside(t, c.SystemKeys, []byte(s.line(s.keys[0].PublicKey())))
	dial(t, c, to)
	beside(t, c.SystemKeys, []byte("# none\n"))
	os.Mkdir(filepath.Join(home, ".ssh"), 0o700)
	beside(t, filepath.Join(home, ".ssh/known_hosts"), []byte(s.line(s.keys[0].PublicKey())))
	dial(t, c, to)

	to.KnownHosts = []string{"~/.ssh/known_hosts"}
	dial(t, c, to)
	to.KnownHosts = []string{"/none/known_hosts"}
	if _, err := c.Dial(t.Context(), to); err == nil || kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "/none/known_hosts") {
		t.Error(err)
	}
	to.KnownHosts = []string{home}
	if _, err := c.Dial(t.Context(), to); err == nil || kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
}

func TestPinSyntax(t *testing.T) {
	s := (&server{}).start(t)
	to := s.spec(t)
	for _, pin := range []string{
		"SHA256:", "SHA256:short", "sha256:" + strings.Repeat("A", 43), "MD5:00:11", "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-rsa " + strings.Fields(string(ssh.MarshalAuthorizedKey(s.keys[0].PublicKey())))[1], "x y z",
	} {
		to.HostKey = pin
		if _, err := client(t).Dial(t.Context(), to); err == nil || kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "host_key") {
			t.Errorf("%q: %v", pin, err)
		}
	}
}
