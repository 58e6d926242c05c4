//go:build linux

package session_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
)

// sshd is Debian's own OpenSSH server on loopback, with files of the test alone.
type sshd struct {
	dir  string // its keys and those of its users
	user string
	port uint16

	mu  sync.Mutex
	log []string
}

// startSSHD starts it until the test ends. Its folder has
//
//	host, host2     keys of the host; host has a certificate of host_ca for 127.0.0.1
//	me              a key in authorized_keys
//	guest           a key that only a certificate of user_ca lets in
//	old, alien      certified until long ago, certified by another
//	still           a key in authorized_keys that may forward nothing
//	stranger        a key that nothing lets in
func startSSHD(t *testing.T) *sshd {
	t.Helper()
	oracle.Need(t, "sshd")
	oracle.Need(t, "ssh-keygen")
	program, err := exec.LookPath("sshd")
	if err != nil {
		program = "/usr/sbin/sshd" // it wants an absolute path, as it runs itself anew for each connection
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if me.Uid == "0" {
		separationFolder(t)
	}
	s := &sshd{dir: t.TempDir(), user: me.Username}
	for _, name := range []string{"host", "host_ca", "user_ca", "alien_ca", "me", "still", "guest", "old", "alien", "stranger"} {
		s.keygen(t, "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name)
	}
	s.keygen(t, "-q", "-t", "ecdsa", "-N", "", "-f", "host2")
	s.keygen(t, "-q", "-s", "host_ca", "-I", "leaf1", "-h", "-n", "127.0.0.1", "host.pub")
	s.keygen(t, "-q", "-s", "user_ca", "-I", "guest", "-n", s.user, "guest.pub")
	s.keygen(t, "-q", "-s", "user_ca", "-I", "old", "-n", s.user, "-V", "20000101:20000102", "old.pub")
	s.keygen(t, "-q", "-s", "alien_ca", "-I", "alien", "-n", s.user, "alien.pub")
	s.put(t, "authorized_keys", s.text(t, "me")+"no-port-forwarding "+s.text(t, "still"))
	config := []string{
		"ListenAddress 127.0.0.1", "PidFile none", "UsePAM no", "StrictModes no", "LogLevel VERBOSE",
		"PermitRootLogin prohibit-password", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
		"HostKey " + s.path("host"), "HostKey " + s.path("host2"), "HostCertificate " + s.path("host-cert.pub"),
		"AuthorizedKeysFile " + s.path("authorized_keys"), "TrustedUserCAKeys " + s.path("user_ca.pub"),
		"Subsystem sftp /usr/lib/openssh/sftp-server", // as Debian's sshd_config has it
	}
	s.put(t, "sshd_config", strings.Join(config, "\n")+"\n")
	// The port is free when it is chosen; somebody else may be faster.
	for range 5 {
		if s.run(t, program) {
			return s
		}
	}
	t.Fatalf("sshd does not start:\n%s", s.said())
	return nil
}

// separationFolder makes the empty folder that sshd of root locks the part of
// itself in that talks with whoever comes; a service of the system makes it else.
func separationFolder(t *testing.T) {
	t.Helper()
	const dir = "/run/sshd"
	if _, err := os.Stat(dir); err == nil {
		return
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
}

// run starts sshd and returns once it listens, or false when it ends before.
func (s *sshd) run(t *testing.T, program string) bool {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = uint16(free.Addr().(*net.TCPAddr).Port)
	free.Close()
	cmd := exec.Command(program, "-D", "-e", "-f", s.path("sshd_config"), "-p", fmt.Sprint(s.port))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	errOut, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = in
	err = cmd.Start()
	in.Close()
	if err != nil {
		t.Fatal(err)
	}
	listens := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(errOut)
		for lines.Scan() {
			s.mu.Lock()
			s.log = append(s.log, lines.Text())
			s.mu.Unlock()
			if strings.HasPrefix(lines.Text(), "Server listening on ") {
				listens <- true
			}
		}
		close(listens)
	}()
	if !<-listens {
		_ = cmd.Wait()
		errOut.Close()
		return false
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		errOut.Close()
		if t.Failed() {
			t.Logf("sshd said:\n%s", s.said())
		}
	})
	return true
}

func (s *sshd) path(name string) string { return filepath.Join(s.dir, name) }

func (s *sshd) put(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.path(name)
}

// text is a public key as it stands in a file.
func (s *sshd) text(t *testing.T, key string) string {
	t.Helper()
	b, err := os.ReadFile(s.path(key + ".pub"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (s *sshd) keygen(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("ssh-keygen", args...)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen %q: %v\n%s", args, err, out)
	}
}

func (s *sshd) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// at is a line of a known-hosts file for a key.
func (s *sshd) at(t *testing.T, mark, key string) string {
	t.Helper()
	return strings.TrimSpace(fmt.Sprintf("%s [127.0.0.1]:%d %s", mark, s.port, s.text(t, key))) + "\n"
}

// spec is the way to it, with a key of the user and a known-hosts file.
func (s *sshd) spec(t *testing.T, key, known string) session.Spec {
	t.Helper()
	return session.Spec{
		Device: "leaf1", Address: "127.0.0.1", Port: s.port, User: s.user, Identity: []string{s.path(key)},
		KnownHosts: []string{write(t, "known_hosts", known)}, Shell: targets.POSIX,
	}
}

// TestOpenSSH holds sessions against the server that most devices run.
func TestOpenSSH(t *testing.T) {
	leakFree(t)
	s := startSSHD(t)
	t.Run("login", func(t *testing.T) { opensshLogin(t, s) })
	t.Run("run", func(t *testing.T) { opensshRun(t, s) })
	t.Run("configure", func(t *testing.T) { opensshConfigure(t, s) })
	t.Run("jump", func(t *testing.T) { opensshJump(t, s) })
	t.Run("lost", func(t *testing.T) { opensshLost(t, s) })
}

// Who is let in, by keys and by certificates of either side that ssh-keygen made.
func opensshLogin(t *testing.T, s *sshd) {
	both := s.at(t, "", "host") + s.at(t, "", "host2")
	authority := s.at(t, "@cert-authority", "host_ca")
	for _, c := range []struct {
		name, key, known string
		kind             session.Kind // "" = let in
		want             string       // in what sshd says, or in the error
	}{
		{"a key", "me", both, "", "Accepted publickey for " + s.user},
		{"one key of the host on file", "me", s.at(t, "", "host2"), "", ""},
		{"a certificate", "guest", both, "", "ID guest (serial 0) CA ED25519"},
		{"a host by its certificate", "me", authority, "", ""},
		{"certificates on both sides", "guest", authority, "", ""},
		{"a certificate of long ago", "old", both, session.KindAuth, "Certificate invalid: expired"},
		{"a certificate of another", "alien", both, session.KindAuth, ""},
		{"a key of nobody", "stranger", both, session.KindAuth, ""},
		{"another key of the host on file", "me", s.at(t, "", "stranger"), session.KindHostKey, "is not the one on file"},
		{"no key of the host on file", "me", "", session.KindHostKey, "is unknown"},
		{"a host certified by another", "me", s.at(t, "@cert-authority", "alien_ca"), session.KindHostKey, "no authority for this host has signed it"},
		{"a host that is revoked", "me", both + "@revoked * " + s.text(t, "host"), session.KindHostKey, "is revoked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sess, err := client(t).Dial(t.Context(), s.spec(t, c.key, c.known))
			if c.kind != "" {
				if err == nil {
					sess.Close()
					t.Fatal("it is let in")
				}
				if kindOf(t, err) != c.kind {
					t.Errorf("%v, want %s", err, c.kind)
				}
				if c.kind == session.KindHostKey && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			} else {
				if err != nil {
					t.Fatal(err)
				}
				defer sess.Close()
				if out, err := sess.Run(t.Context(), "id -un", nil); err != nil || string(out.Stdout) != s.user+"\n" {
					t.Errorf("%q, %v", out.Stdout, err)
				}
			}
			if c.kind != session.KindHostKey {
				waitFor(t, func() bool { return strings.Contains(s.said(), c.want) })
			}
		})
	}
	pinned := s.spec(t, "me", "")
	pinned.HostKey = strings.Join(strings.Fields(s.text(t, "host2"))[:2], " ")
	dial(t, client(t), pinned).Close()
	pinned.HostKey = strings.Join(strings.Fields(s.text(t, "stranger"))[:2], " ")
	if _, err := client(t).Dial(t.Context(), pinned); err == nil || kindOf(t, err) != session.KindHostKey {
		t.Errorf("a host without the pinned key: %v", err)
	}
}

// Commands, their input, both of their outputs and how they end.
func opensshRun(t *testing.T, s *sshd) {
	sess := dial(t, client(t), s.spec(t, "me", s.at(t, "", "host")))
	defer sess.Close()
	big := strings.Repeat("0123456789abcdef", 1<<16)
	for _, c := range []struct {
		command, stdin, stdout, stderr string
		exit                           int
	}{
		{"true", "", "", "", 0},
		{"exit 7", "", "", "", 7},
		{"echo out; echo err >&2; exit 255", "", "out\n", "err\n", 255},
		{"cat", "two\nlines\x00\xff", "two\nlines\x00\xff", "", 0},
		{"cat; exit 3", big, big, "", 3},
		{"true", big, "", "", 0}, // what nobody reads is left
		{"cat >&2", big, "", big, 0},
		{`printf '%s|' 'it'"'"'s' "a  b" '$HOME'`, "", "it's|a  b|$HOME|", "", 0},
		{"/nonexistent/program 2>/dev/null", "", "", "", 127},
	} {
		out, err := sess.Run(t.Context(), c.command, []byte(c.stdin))
		if err != nil {
			t.Errorf("%s: %v", c.command, err)
			continue
		}
		if string(out.Stdout) != c.stdout || string(out.Stderr) != c.stderr || out.Exit != c.exit {
			t.Errorf("%s: exit code %d, %d and %d bytes", c.command, out.Exit, len(out.Stdout), len(out.Stderr))
		}
	}
}

// Files over the SFTP server of OpenSSH, also over files that are there and are
// read meanwhile.
func opensshConfigure(t *testing.T, s *sshd) {
	sess := dial(t, client(t), s.spec(t, "me", s.at(t, "", "host")))
	defer sess.Close()
	root := filepath.Join(t.TempDir(), "a \"folder\" of it's own")
	change := session.Change{
		Folder: root, Dir: "leaf1", Command: "./run.sh",
		Files: []session.File{
			{Path: "leaf1/run.sh", Mode: 0o755, Bytes: []byte("#!/bin/sh\ncat data; exit 9\n")},
			{Path: "leaf1/data", Mode: 0o600, Bytes: []byte("old\n")},
			{Path: "common/linux/empty", Mode: 0o644},
		},
	}
	if out, err := sess.Configure(t.Context(), change); err != nil || out.Exit != 9 || string(out.Stdout) != "old\n" {
		t.Fatalf("%+v, %v", out, err)
	}
	reader, err := os.Open(filepath.Join(root, "leaf1", "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	big := strings.Repeat("new ", 100_000) + "\n"
	change.Files[1].Bytes, change.Files[1].Mode = []byte(big), 0o640
	if out, err := sess.Configure(t.Context(), change); err != nil || out.Exit != 9 || string(out.Stdout) != big {
		t.Fatalf("exit code %d, %d bytes, %v", out.Exit, len(out.Stdout), err)
	}
	if b := make([]byte, 10); true {
		if n, err := reader.Read(b); err != nil || string(b[:n]) != "old\n" {
			t.Errorf("who reads the old file sees %q, %v", b[:n], err)
		}
	}
	got := tree(t, root)
	for name, want := range map[string]string{
		"leaf1/run.sh": "-rwxr-xr-x #!/bin/sh\ncat data; exit 9\n", "leaf1/data": "-rw-r----- " + big, "common/linux/empty": "-rw-r--r-- ",
	} {
		if got[name] != want {
			t.Errorf("%s is %.60q", name, got[name])
		}
		delete(got, name)
	}
	if len(got) != 0 {
		t.Errorf("besides, there is %v", got)
	}
	// A file where a folder is wanted is a refusal, and the session goes on.
	change.Folder = filepath.Join(root, "leaf1", "data")
	if _, err := sess.Configure(t.Context(), change); err == nil || kindOf(t, err) != session.KindRefused {
		t.Errorf("a file as a folder: %v", err)
	}
	if out, err := sess.Run(t.Context(), "echo still", nil); err != nil || string(out.Stdout) != "still\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}

// Two hops through the same server, and one that forwards nothing.
func opensshJump(t *testing.T, s *sshd) {
	known := s.at(t, "", "host")
	to, outer, inner := s.spec(t, "guest", known), s.spec(t, "me", known), s.spec(t, "me", s.at(t, "@cert-authority", "host_ca"))
	outer.Device, inner.Device = "bastion", "inner"
	to.Jump = []session.Spec{outer, inner}
	c, before := client(t), strings.Count(s.said(), "Accepted publickey")
	sess, again := dial(t, c, to), dial(t, c, to)
	for _, x := range []session.Session{sess, again} {
		if out, err := x.Run(t.Context(), "cat; exit 4", []byte("through")); err != nil || out.Exit != 4 || string(out.Stdout) != "through" {
			t.Errorf("%+v, %v", out, err)
		}
	}
	folder := t.TempDir()
	if _, err := sess.Configure(t.Context(), session.Change{Folder: folder, Files: []session.File{{Path: "x", Mode: 0o644, Bytes: []byte("y")}}}); err != nil {
		t.Error(err)
	}
	if got := tree(t, folder)["x"]; got != "-rw-r--r-- y" {
		t.Errorf("the file is %q", got)
	}
	again.Close()
	sess.Close()
	// Each hop is one login, though two sessions pass.
	waitFor(t, func() bool { return strings.Count(s.said(), "Accepted publickey") >= before+4 })
	if n := strings.Count(s.said(), "Accepted publickey"); n != before+4 {
		t.Errorf("%d logins", n-before)
	}
	outer.Identity = []string{s.path("still")}
	to.Jump = []session.Spec{outer}
	if _, err := client(t).Dial(t.Context(), to); err == nil || kindOf(t, err) != session.KindUnreachable || !strings.Contains(err.Error(), "prohibited") {
		t.Errorf("a jump host that forwards nothing: %v", err)
	}
}

// A connection that is cut in the middle of a command is lost, and what the
// command started in a session of its own goes on: on that the changes of devices
// rest.
func opensshLost(t *testing.T, s *sshd) {
	dir := t.TempDir()
	for _, name := range []string{"go", "gone"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sess := dial(t, client(t), s.spec(t, "me", s.at(t, "", "host")))
	defer sess.Close()
	// The parent of the shell is the process of sshd that has the connection.
	cut := "cd '" + dir + "' && { setsid sh -c 'read word <go; echo \"$word after all\" >gone' </dev/null >out 2>&1 & kill -KILL $PPID; }"
	if _, err := sess.Run(t.Context(), cut, nil); err == nil || kindOf(t, err) != session.KindLost {
		t.Fatalf("%v, want %s", err, session.KindLost)
	}
	_, err := sess.Run(t.Context(), "true", nil)
	if err == nil || kindOf(t, err) != session.KindLost || !strings.Contains(err.Error(), "run: the other end closed the session (the log of its SSH server says why") {
		t.Errorf("the next command: %v, want %s", err, session.KindLost)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("done\n"), 0); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "gone")); err != nil || string(got) != "done after all\n" {
		t.Errorf("%q, %v", got, err)
	}
	if out, err := dial(t, client(t), s.spec(t, "me", s.at(t, "", "host"))).Run(t.Context(), "echo anew", nil); err != nil || string(out.Stdout) != "anew\n" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
}
