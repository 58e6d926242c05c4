// Package checkout runs the program git in a checkout that a stranger may have written. What the user's own
// configuration and environment say goes on to hold: remotes, ssh, helpers for credentials, drivers of filters.
// What a file of the checkout says does not: no repository that was committed into the work tree is opened, no
// hook runs, and no submodule is entered.
package checkout

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// guards are settings of each run, which win over those of any file.
var guards = []string{
	"safe.bareRepository=explicit", // git 2.38 and later; In looks for itself
	"core.hooksPath=" + os.DevNull, // a user's may lead into the checkout
	"core.fsmonitor=false",
	"protocol.ext.allow=never",
	"submodule.recurse=false", "fetch.recurseSubmodules=false", "push.recurseSubmodules=no",
}

// Command is a run of the program in a folder that In has found to be of a work tree. It asks nobody anything.
func Command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	var line []string
	for _, g := range guards {
		line = append(line, "-c", g)
	}
	c := exec.CommandContext(ctx, "git", append(append(line, "--no-optional-locks"), args...)...)
	c.Dir, c.WaitDelay = dir, time.Second
	c.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return c
}

// Tree is a work tree, and a folder in it.
type Tree struct {
	Top    string // its own folder
	Prefix string // of the folder, from Top, with slashes; "" for Top itself
}

// In finds the work tree that a folder is in. A repository that is not the one of the work tree's own .git is none,
// unless the environment names it (GIT_DIR).
func In(ctx context.Context, dir string) (*Tree, error) {
	c := Command(ctx, dir, "rev-parse", "--absolute-git-dir", "--show-toplevel", "--show-prefix")
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("the program git is not installed: %w", err)
	case err != nil && bytes.Contains(said.Bytes(), []byte("safe.bareRepository")):
		return nil, ErrCommitted
	case err != nil:
		return nil, fmt.Errorf("git rev-parse: %s", Words(said.Bytes()))
	}
	lines := strings.Split(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n")
	if len(lines) < 3 {
		return nil, errors.New("it is in no work tree of git")
	}
	t := &Tree{Top: filepath.FromSlash(lines[1]), Prefix: strings.Trim(lines[2], "/")}
	if os.Getenv("GIT_DIR") == "" && !owns(t.Top, filepath.FromSlash(lines[0])) {
		return nil, ErrCommitted
	}
	return t, nil
}

// ErrCommitted says that a repository was committed into the work tree.
var ErrCommitted = errors.New("files of the work tree look like a repository of git themselves, and such a one is not opened: delete HEAD, config, objects and refs there")

// owns reports whether a repository is that of a work tree: its .git, or what the file .git there names, as it does
// for further work trees and submodules.
func owns(top, repository string) bool {
	is, err := os.Stat(repository)
	if err != nil {
		return false
	}
	name := filepath.Join(top, ".git")
	has, err := os.Stat(name)
	if err != nil {
		return false
	}
	if has.IsDir() {
		return os.SameFile(is, has)
	}
	text, err := os.ReadFile(name)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return false
	}
	if to = filepath.FromSlash(to); !filepath.IsAbs(to) {
		to = filepath.Join(top, to)
	}
	has, err = os.Stat(to)
	return err == nil && os.SameFile(is, has)
}

// RemoteError is a remote that source may not name.
type RemoteError struct{ Remote, Why string }

// Error quotes the remote.
func (e *RemoteError) Error() string {
	return fmt.Sprintf("remote %q %s", e.Remote, e.Why)
}

var (
	// network are addresses behind which another machine is: no path, no file, no program.
	network = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:(?:https?|ssh|git)://[^/\s-]|(?:[A-Za-z0-9._-]+@)?(?:[A-Za-z0-9][A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?:[^:/]|/[^/]))`)
	})
	userInURL = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s'"]*@`) })
)

// CheckRemote refuses a remote that source names unless the user's configuration of git has it by this name, or it is
// an address over a network: the hooks and settings of a repository in a folder would be those of whoever wrote it.
func CheckRemote(ctx context.Context, dir, remote string) error {
	if !strings.HasPrefix(remote, "-") && !strings.ContainsAny(remote, "\n\x00") {
		if Command(ctx, dir, "config", "--get-all", "remote."+remote+".url").Run() == nil || network().MatchString(remote) {
			return nil
		}
	}
	return &RemoteError{Remote: remote, Why: "is neither the name of a remote that git knows here nor an address over a network"}
}

// Words is the line of what the program said that tells what is wrong, without credentials of addresses.
func Words(b []byte) string {
	last, before := "", ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if before != "" && strings.HasPrefix(line, "fatal: Could not read from remote repository") {
			last = before // ssh's words, or the remote's: why
			break
		}
		// That something was not pushed says less than why.
		follows := strings.HasPrefix(line, "error: failed to push some refs") || strings.HasPrefix(line, "remote: error: hook declined")
		if line == "" || strings.HasPrefix(line, "hint:") || last != "" && follows {
			continue
		}
		before = line
		if last == "" || strings.HasPrefix(line, "fatal:") || strings.HasPrefix(line, "error:") || strings.HasPrefix(line, "remote:") {
			last = line
		}
	}
	last = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, userInURL().ReplaceAllString(last, "://"))
	if len(last) > 300 {
		last = last[:297] + "..."
	}
	return last
}

// File is one of a commit.
type File struct {
	Path string // from the folder that was asked for, with slashes
	Link bool   // a symbolic link; Text is where it leads
	Text []byte
}

// Files gives the files that a folder of a work tree has at a commit, as they were committed: no filter sees them.
// Those of submodules are none of them.
func Files(ctx context.Context, dir, commit string, each func(File) error) error {
	list, err := output(Command(ctx, dir, "ls-tree", "-r", "-z", commit))
	if err != nil {
		return err
	}
	var files []File
	var ask bytes.Buffer
	for row := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		head, path, _ := strings.Cut(row, "\t")
		if fields := strings.Fields(head); len(fields) == 3 && fields[1] == "blob" {
			files = append(files, File{Path: path, Link: fields[0] == "120000"})
			ask.WriteString(fields[2] + "\n")
		}
	}
	c := Command(ctx, dir, "cat-file", "--batch")
	c.Stdin = &ask
	text, err := output(c)
	if err != nil {
		return err
	}
	in := bufio.NewReader(bytes.NewReader(text))
	for _, f := range files {
		if f.Text, err = object(in, len(text)); err == nil {
			err = each(f)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return nil
}

// object is the next of what `cat-file --batch` printed.
func object(in *bufio.Reader, most int) ([]byte, error) {
	head, err := in.ReadString('\n')
	fields := strings.Fields(head)
	if err != nil || len(fields) != 3 {
		return nil, errors.New("git cat-file does not have it")
	}
	n, err := strconv.Atoi(fields[2])
	if err != nil || n < 0 || n > most {
		return nil, errors.New("git cat-file gives it no size")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, err
	}
	_, err = in.Discard(1)
	return text, err
}

// Run runs a command that only reads, in a work tree that In finds, and returns what it prints.
func Run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	if _, err := In(ctx, dir); err != nil {
		return nil, err
	}
	return output(Command(ctx, dir, args...))
}

func output(c *exec.Cmd) ([]byte, error) {
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if text := Words(said.Bytes()); err != nil && text != "" {
		return nil, fmt.Errorf("git: %s", text)
	}
	if err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}
	return out, nil
}
