//go:build linux

package session_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets/oracle"
)

// TestKnownHosts lets a session and OpenSSH's own client decide by the same
// known-hosts files.
func TestKnownHosts(t *testing.T) {
	oracle.Need(t, "ssh")
	first, second, ca, other := ed25519Key(t, 1), ecdsaKey(t), ed25519Key(t, 8), ed25519Key(t, 9)
	s := &server{keys: []ssh.Signer{first, second, certify(t, first, ca, ssh.HostCert, ssh.CertTimeInfinity, "127.0.0.1")}}
	s.auth.NoClientAuth = true
	s.start(t)
	text := func(k ssh.Signer) string { return string(ssh.MarshalAuthorizedKey(k.PublicKey())) }
	authority, alien, host, host2 := text(ca), text(other), text(first), text(second)
	at := "[127.0.0.1]:" + portOf(s)
	plain := strings.Fields(host)[1]
	for _, c := range []struct {
		name, known string
		want        string // in the error; "" = let in
		ssh         bool   // lets in
	}{
		{"any host", "@cert-authority * " + authority, "", true},
		{"hosts by a pattern", "@cert-authority 127.0.0.? " + authority, "", true},
		{"hosts by patterns, in vain", "@cert-authority 127.0.1.*,*.example.net " + authority, "no line for it", false},
		{"any port", "@cert-authority [127.0.0.1]:* " + authority, "", true},
		{"any host at any port", "@cert-authority [*]:* " + authority, "", true},
		{"another port", "@cert-authority [127.0.0.1]:22 " + authority, "no line for it", false},
		{"a star for nothing", "@cert-authority 127.0.0.1* " + authority, "", true},
		{"blanks and a tab", "  @cert-authority  *\t" + authority, "", true},
		{"ends of lines of Windows", "# one\r\n@cert-authority * " + strings.TrimSpace(authority) + "\r\n", "", true},
		{"without a comment or an end", "@cert-authority * " + strings.Join(strings.Fields(authority)[:2], " "), "", true},
		{"an authority for another", "@cert-authority *.example.net " + authority, "no line for it", false},
		{"another authority", "@cert-authority * " + alien, "no authority for this host has signed it", false},
		{"two authorities", "@cert-authority * " + alien + "@cert-authority 127.* " + authority, "", true},
		{"an authority as a host", "* " + authority, "is not the one on file", false},
		{"a host as an authority", "@cert-authority * " + host, "no authority for this host has signed it", false},

		{"all but one, at its port", "@cert-authority *,!" + at + " " + authority, "no line for it", true}, // ssh lets it in as 127.0.0.1
		{"all but one", "@cert-authority *,!127.0.0.1 " + authority, "no line for it", true},               // ssh lets it in as [127.0.0.1]:port
		{"all but one, both ways", "@cert-authority *,!127.0.0.1,!" + at + " " + authority, "no line for it", false},
		{"all but another", "@cert-authority *,!127.0.0.2 " + authority, "", true},
		{"only a no", "@cert-authority !127.0.0.2 " + authority, "no line for it", false},

		{"a key without its port", "127.0.0.1 " + host, "", true},
		{"a key for all", "* " + host, "", true},
		{"a key at its port, another without", at + " " + host + "127.0.0.1 " + alien, "", true},
		{"a key without its port, another at it", at + " " + alien + "127.0.0.1 " + host, "is not the one on file", true}, // ssh only when the host shows a certificate too
		{"a list of names", "leaf1,127.0.0.1,leaf2 " + host, "", true},
		{"hashed", knownhosts.HashHostname(at) + " " + host, "", true},
		{"hashed without its port", knownhosts.HashHostname("127.0.0.1") + " " + host, "", true},
		{"hashed, another", knownhosts.HashHostname("127.0.0.2") + " " + host, "no line for it", false},
		{"a hashed authority", "@cert-authority " + knownhosts.HashHostname(at) + " " + authority, "", true},
		{"the key in a certificate of another", "@cert-authority * " + alien + at + " " + host, "", true},
		{"a certificate, and the other key on file", "@cert-authority * " + authority + at + " " + host2, "", true},
		{"a certificate of another, and the other key on file", "@cert-authority * " + alien + at + " " + host2, "is not the one on file", false},
		{"a key of a kind to come", "leaf9 ssh-new AAAAB3NzaC1uZXcAAAAA\n" + at + " " + host, "", true},

		{"revoked", at + " " + host + "@revoked * " + host, "is revoked", false},
		{"revoked, another", at + " " + host + "@revoked * " + host2, "", true},
		{"revoked at its port", at + " " + host + "@revoked " + at + " " + host, "is revoked", false},
		{"revoked for another", at + " " + host + "@revoked leaf9 " + host, "is revoked", true}, // "must not ever be accepted", says sshd(8)
		{"a revoked authority", "@cert-authority * " + authority + "@revoked * " + authority, "signed by an authority that is revoked", false},
		{"a revoked key in a certificate", "@cert-authority * " + authority + "@revoked * " + host, "is revoked", false},
		{"a revoked authority, and the key on file", "@cert-authority * " + authority + "@revoked * " + authority + at + " " + host, "signed by an authority that is revoked", false},

		{"a mark of nobody", "@authority * " + authority + at + " " + host, `"@authority" is no mark`, true},
		{"one word", "leaf9\n" + at + " " + host, ":1: it holds one word", true},
		{"a key cut short", "leaf9 ssh-ed25519 " + plain[:20] + "\n" + at + " " + host, ":1: ", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := s.spec(t)
			to.KnownHosts = []string{write(t, "known_hosts", c.known)}
			sess, err := client(t).Dial(t.Context(), to)
			if err == nil {
				sess.Close()
			}
			if got := fmt.Sprint(err); (c.want == "") != (err == nil) || !strings.Contains(got, c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			said, ok := sshLogin(t.Context(), portOf(s), to.KnownHosts[0])
			if ok != c.ssh {
				t.Errorf("ssh lets in: %v\n%s", ok, said)
			}
			if err == nil && !ok {
				t.Error("ssh refuses what a session trusts")
			}
		})
	}
}

// sshLogin logs in with OpenSSH's own client.
func sshLogin(ctx context.Context, port, known string) (string, bool) {
	cmd := exec.CommandContext(ctx, "ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "UserKnownHostsFile="+known,
		"-o", "GlobalKnownHostsFile=none", "-o", "UpdateHostKeys=no", "-o", "IdentityFile=none", "-o", "IdentityAgent=none", "-p", port, "me@127.0.0.1", "in")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil && string(out) == "in|"
}

// TestKnownNames holds the matching of names against ssh-keygen -F, which looks a
// name up in a file as ssh does, over lines made by chance.
func TestKnownNames(t *testing.T) {
	oracle.Need(t, "ssh-keygen")
	r := rand.New(rand.NewPCG(5, 22))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	name := func() string {
		return pick("leaf1", "leaf2", "LEAF1", "leaf1.example.net", "10.0.0.1", "10.0.0.12", "fd00::1", "[leaf1]:2222", "[leaf2]:2222", "[leaf1]:22",
			"[10.0.0.1]:830", "[fd00::1]:2222", "leaf1:2222", "a", "[a]:1")
	}
	pattern := func() string {
		b := []byte(name())
		for range r.IntN(4) {
			switch i := r.IntN(len(b) + 1); r.IntN(4) {
			case 0:
				b = slices.Insert(b, i, '*')
			case 1:
				b = slices.Insert(b, i, '?')
			case 2:
				b = append(b[:i:i], '*')
			default:
				b = append([]byte("*"), b[i:]...)
			}
		}
		return pick("", "", "", "!") + string(b)
	}
	key := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(ed25519Key(t, 1).PublicKey())))
	var file strings.Builder
	for range 400 {
		names := pattern()
		for range r.IntN(3) {
			names += "," + pattern()
		}
		if r.IntN(8) == 0 {
			names = knownhosts.HashHostname(strings.ToLower(name()))
		}
		fmt.Fprintf(&file, "%s%s %s\n", pick("", "", "@cert-authority "), names, key)
	}
	path := write(t, "known_hosts", file.String())
	found := regexp.MustCompile(`(?m)^# Host .* found: line (\d+)`)
	for _, h := range []string{"leaf1:22", "leaf1:2222", "leaf2:2222", "leaf1.example.net:22", "10.0.0.1:22", "10.0.0.1:830", "[fd00::1]:22", "[fd00::1]:2222", "a:1", "b:22"} {
		lookup := knownhosts.Normalize(h)
		out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-F", lookup, "-f", path).Output()
		if err != nil && len(out) > 0 {
			t.Fatal(err)
		}
		var want []int
		for _, m := range found.FindAllStringSubmatch(string(out), -1) {
			n, _ := strconv.Atoi(m[1])
			want = append(want, n)
		}
		got, err := session.KnownLines(path, lookup)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s as %s is in lines %v, ssh-keygen says %v", h, lookup, got, want)
		}
		if h != "b:22" && len(want) < 10 {
			t.Errorf("%s is in %d lines only", h, len(want))
		}
	}
}

// FuzzKnownHosts reads known-hosts files of any kind, and holds patterns against
// the same as regular expressions.
func FuzzKnownHosts(f *testing.F) {
	key := string(ssh.MarshalAuthorizedKey(ed25519Key(f, 1).PublicKey()))
	for _, s := range []string{
		"leaf1 " + key, "@cert-authority *,!leaf1 " + key, "@revoked [leaf?]:* " + key, "|1|AAAA|AAAA " + key, "|1| " + key, "! " + key, ", " + key, "@x", "leaf1 ssh-ed25519",
		"leaf1 ssh-new AAAAB3NzaC1uZXcAAAAA", "\x00 " + key, "a**b*c?d " + key,
	} {
		f.Add([]byte(s), "leaf1")
	}
	f.Fuzz(func(t *testing.T, file []byte, host string) {
		path := filepath.Join(t.TempDir(), "known_hosts")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := session.KnownLines(path, host); err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%v names no file", err)
		}
		for words := bufio.NewScanner(bytes.NewReader(file)); words.Scan(); {
			pattern, _, _ := strings.Cut(words.Text(), " ")
			if len(pattern) > 20 || len(host) > 20 {
				continue
			}
			var b strings.Builder
			for i := range len(pattern) {
				switch c := pattern[i]; c {
				case '*':
					b.WriteString(`(?:[0-9a-f]{2})*`)
				case '?':
					b.WriteString(`[0-9a-f]{2}`)
				default:
					fmt.Fprintf(&b, "%02x", c)
				}
			}
			// In hexadecimal, as a regular expression is of runes and a pattern of bytes.
			if got, want := session.Wildcard(pattern, host), regexp.MustCompile("^"+b.String()+"$").MatchString(fmt.Sprintf("%x", host)); got != want {
				t.Errorf("%q matches %q: %v, want %v", pattern, host, got, want)
			}
		}
	})
}
