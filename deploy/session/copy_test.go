package session_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pkg/sftp"

	"github.com/rocec/rocec/deploy/session"
)

// sh runs commands in the shell of the machine that tests.
func sh(c *call) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-c.over
		cancel()
	}()
	cmd := exec.CommandContext(ctx, "sh", "-c", c.command)
	cmd.Stdout, cmd.Stderr = c.stdout, c.stderr
	in, _ := io.ReadAll(c.stdin)
	cmd.Stdin = strings.NewReader(string(in))
	if err := cmd.Run(); err != nil {
		return cmd.ProcessState.ExitCode()
	}
	return 0
}

// tree is what lies in a folder: contents and modes by path.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		info, err := e.Info()
		rel, _ := filepath.Rel(root, p)
		got[rel] = info.Mode().String() + " " + string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestConfigureCopies(t *testing.T) {
	for _, way := range []struct {
		name string
		sftp func(io.ReadWriteCloser) error
	}{
		{"sftp", files},
		{"sftp without the extensions of OpenSSH", files},
		{"shell", nil},
		{"a subsystem that is not installed", func(io.ReadWriteCloser) error { return nil }},
		{"a subsystem that talks nonsense", func(c io.ReadWriteCloser) error { _, err := io.WriteString(c, "Welcome to leaf1!\n"); return err }},
	} {
		t.Run(way.name, func(t *testing.T) {
			if way.name == "sftp without the extensions of OpenSSH" {
				if err := sftp.SetSFTPExtensions(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					sftp.SetSFTPExtensions("hardlink@openssh.com", "posix-rename@openssh.com", "statvfs@openssh.com")
				})
			}
			s := (&server{sftp: way.sftp, exec: sh}).start(t)
			sess := dial(t, client(t), s.spec(t))
			root := filepath.Join(t.TempDir(), "it's a \"root\" $HOME")
			big := strings.Repeat("x", 300_000) + "\n"
			change := session.Change{
				Folder: root,
				Files: []session.File{
					{Path: "leaf1/run.sh", Mode: 0o755, Bytes: []byte("echo $1; cat data; exit 9\n")},
					{Path: "leaf1/data", Mode: 0o600, Bytes: []byte(big)},
					{Path: "common/kit/-n", Mode: 0o644},
					{Path: "common/a 'b' $(c)\\d", Mode: 0o444, Bytes: []byte{0, 255}},
				},
				Dir: "leaf1", Command: "false; sh ./run.sh begin",
			}
			want := map[string]string{
				"leaf1/run.sh":         "-rwxr-xr-x echo $1; cat data; exit 9\n",
				"leaf1/data":           "-rw------- " + big,
				"common/kit/-n":        "-rw-r--r-- ",
				"common/a 'b' $(c)\\d": "-r--r--r-- \x00\xff",
			}
			for range 2 { // the second time the files are there
				out, err := sess.Configure(t.Context(), change)
				if err != nil {
					t.Fatal(err)
				}
				if out.Exit != 9 || string(out.Stdout) != "begin\n"+big {
					t.Errorf("code %d, %d bytes: %.80s %s", out.Exit, len(out.Stdout), out.Stdout, out.Stderr)
				}
				if diff := cmp.Diff(want, tree(t, root)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// A command is not run in another folder than that of the change.
func TestConfigureWithoutItsFolder(t *testing.T) {
	s := (&server{sftp: files, exec: sh}).start(t)
	sess := dial(t, client(t), s.spec(t))
	out, err := sess.Configure(t.Context(), session.Change{Folder: t.TempDir(), Dir: "none", Command: "true; echo ran"})
	if err != nil || out.Exit == 0 || len(out.Stdout) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestConfigureRefuses(t *testing.T) {
	s := (&server{sftp: files}).start(t)
	sess := dial(t, client(t), s.spec(t))
	for _, c := range []struct {
		change session.Change
		want   string
	}{
		{session.Change{Folder: "rocec", Files: []session.File{{Path: "a"}}}, `folder "rocec" is not absolute`},
		{session.Change{Files: []session.File{{Path: "a"}}}, "files without a folder"},
		{session.Change{Folder: "/r", Files: []session.File{{Path: "../a"}}}, `"../a" is no path below`},
		{session.Change{Folder: "/r", Files: []session.File{{Path: "/a"}}}, `"/a" is no path below`},
		{session.Change{Folder: "/r", Files: []session.File{{Path: "a"}, {Path: "a"}}}, "a is there twice"},
		{session.Change{Folder: "/r", Dir: "../..", Command: "x"}, `"../.." is no folder below`},
		{session.Change{Folder: "/r\x00", Command: "x"}, "holds control characters"},
		{session.Change{Folder: "/r", Files: []session.File{{Path: "a\nb"}}}, "holds control characters"},
		{session.Change{Lines: []string{"qos"}}, "lines for a prompt"},
	} {
		_, err := sess.Configure(t.Context(), c.change)
		if err == nil || !strings.Contains(err.Error(), c.want) || kindOf(t, err) != session.KindLocal {
			t.Errorf("%+v: %v, want %q", c.change, err, c.want)
		}
	}
	if _, err := sess.Run(t.Context(), "still there", nil); err != nil {
		t.Error(err)
	}
}

// Handlers of a file system in memory of which parts fail.
type failing struct {
	sftp.Handlers
	write  error // of any byte
	rename error
	short  bool // takes the bytes and forgets them
	full   bool // says so when it is asked
}

func (f failing) serve(ch io.ReadWriteCloser) error {
	h := f.Handlers
	h.FilePut = f
	h.FileCmd = f
	return sftp.NewRequestServer(ch, h).Serve()
}

func (f failing) Filewrite(r *sftp.Request) (io.WriterAt, error) {
	w, err := f.FilePut.Filewrite(r)
	if f.write != nil || f.short {
		return lost{f.write}, err
	}
	return w, err
}

func (f failing) Filecmd(r *sftp.Request) error {
	if f.rename != nil && (r.Method == "Rename" || r.Method == "PosixRename") {
		return f.rename
	}
	return f.FileCmd.Filecmd(r)
}

func (f failing) StatVFS(*sftp.Request) (*sftp.StatVFS, error) {
	v := &sftp.StatVFS{Bsize: 4096, Blocks: 100, Bavail: 50, Files: 100, Ffree: 50}
	if f.full {
		v.Bavail = 0
	}
	return v, nil
}

func (f failing) PosixRename(r *sftp.Request) error { return f.Filecmd(r) }

type lost struct{ err error }

func (l lost) WriteAt(p []byte, _ int64) (int, error) { return len(p), l.err }

func TestCopyFails(t *testing.T) {
	mem := sftp.InMemHandler()
	for _, c := range []struct {
		name string
		disk failing
		want string
	}{
		{"full", failing{Handlers: mem, write: syscall.ENOSPC, full: true}, ": the file system is full (make room there)"},
		{"fails", failing{Handlers: mem, write: syscall.EIO}, "write /r/d/a: "},
		{"denied", failing{Handlers: mem, write: os.ErrPermission}, "write /r/d/a: "},
		{"rename", failing{Handlers: mem, rename: os.ErrPermission}, "write /r/d/a: "},
		{"says yes and does nothing", failing{Handlers: mem, short: true}, "write /r/d/a: the device kept 0 of 3 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := (&server{sftp: c.disk.serve}).start(t)
			sess := dial(t, client(t), s.spec(t))
			_, err := sess.Configure(t.Context(), session.Change{Folder: "/r", Files: []session.File{{Path: "d/a", Mode: 0o644, Bytes: []byte("abc")}}, Command: "never"})
			if err == nil || !strings.Contains(err.Error(), c.want) || kindOf(t, err) != session.KindRefused {
				t.Fatalf("%v, want %q", err, c.want)
			}
			var e *session.Error
			if errors.As(err, &e); e.Op != "copy files" {
				t.Errorf("it was %q", e.Op)
			}
			if out, err := sess.Run(t.Context(), "after", nil); err != nil || string(out.Stdout) != "after|" {
				t.Errorf("%q, %v", out.Stdout, err)
			}
		})
	}
}
