package record

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

	"github.com/rocec/rocec/deploy/checkout"
)

// repository runs the git program in a work tree. Names that come from elsewhere
// are never options of it, and nothing asks for a password.
type repository struct {
	dir string // where the program runs: a folder of the work tree
	now func() time.Time
}

// gitWait bounds one run of the program.
const gitWait = 3 * time.Minute

// run runs the program and returns what it printed. The error has its last words.
func (r *repository) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	c := checkout.Command(ctx, r.dir, args...)
	c.Stdin = bytes.NewReader(stdin)
	if args[0] == "commit-tree" && !r.known(ctx) {
		c.Env = append(c.Env, "GIT_AUTHOR_NAME=rocec", "GIT_AUTHOR_EMAIL=rocec@localhost", "GIT_COMMITTER_NAME=rocec", "GIT_COMMITTER_EMAIL=rocec@localhost")
	}
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, errors.New("the program git is not installed")
		}
		text := checkout.Words(said.Bytes())
		if args[0] == "push" {
			text = pushWords(out.Bytes(), text)
		}
		return out.Bytes(), &gitError{what: args[0], text: text, code: c.ProcessState.ExitCode(), err: err}
	}
	return out.Bytes(), nil
}

// gitError is a run that failed.
type gitError struct {
	what, text string
	code       int
	err        error
}

func (e *gitError) Error() string {
	if e.text == "" {
		return "git " + e.what + ": " + e.err.Error()
	}
	return "git " + e.what + ": " + e.text
}

func (e *gitError) Unwrap() error { return e.err }

// pushWords are why a push was rejected: what --porcelain prints of the reference,
// and what the remote says.
func pushWords(out []byte, said string) string {
	for line := range strings.Lines(string(out)) {
		if parts := strings.Split(strings.TrimSpace(line), "\t"); len(parts) == 3 && parts[0] == "!" {
			return checkout.Words([]byte(parts[2])) + "; " + said
		}
	}
	return said
}

// line is what the program printed, as one line.
func (r *repository) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// known reports whether git knows who commits here.
func (r *repository) known(ctx context.Context) bool {
	return checkout.Command(ctx, r.dir, "var", "GIT_COMMITTER_IDENT").Run() == nil
}

// identity is who commits and when, as a commit has it.
func (r *repository) identity(ctx context.Context) string {
	if out, err := r.line(ctx, "var", "GIT_COMMITTER_IDENT"); err == nil && out != "" && !strings.Contains(out, "\n") {
		return out
	}
	return fmt.Sprintf("rocec <rocec@localhost> %d +0000", r.now().Unix())
}

// onRemote is the object that a reference on a remote points to, "" if there is none.
func (r *repository) onRemote(ctx context.Context, remote, ref string) (string, error) {
	out, err := r.run(ctx, nil, "ls-remote", "--", remote, ref)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if at, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && name == ref && objectForm().MatchString(at) {
			return at, nil
		}
	}
	return "", nil
}

var objectForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40,64}$`) })

// tip is the commit of a revision, "" if there is none.
func (r *repository) tip(ctx context.Context, revision string) (string, error) {
	out, err := r.line(ctx, "rev-parse", "--verify", "--quiet", revision+"^{commit}")
	var failed *gitError
	if errors.As(err, &failed) && failed.code == 1 {
		return "", nil
	}
	return out, err
}

// sameFiles reports whether two commits have the same files; "" is none.
func (r *repository) sameFiles(ctx context.Context, a, b string) (bool, error) {
	if a == "" || b == "" {
		return false, nil
	}
	out, err := r.line(ctx, "rev-parse", a+"^{tree}", b+"^{tree}")
	one, other, _ := strings.Cut(out, "\n")
	return one == other, err
}

// change is a file of a commit; nil bytes delete it.
type change struct {
	path  string // from the root of the work tree
	bytes []byte
}

// pendingRef keeps a commit until it is where it belongs.
const pendingRef = "refs/rocec/pending"

// commit makes a commit on top of another ("" for none) and returns it. Neither
// the work tree nor its index is touched.
func (r *repository) commit(ctx context.Context, on, message string, changes []change) (string, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "feature done\ncommit %s\ncommitter %s\ndata %d\n%s\n", pendingRef, r.identity(ctx), len(message), message)
	if on != "" {
		fmt.Fprintf(&b, "from %s\n", on)
	}
	for _, c := range changes {
		if c.bytes == nil {
			fmt.Fprintf(&b, "D %s\n", quotePath(c.path))
			continue
		}
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n", quotePath(c.path), len(c.bytes))
		b.Write(c.bytes)
		b.WriteByte('\n')
	}
	b.WriteString("done\n")
	if _, err := r.run(ctx, b.Bytes(), "fast-import", "--quiet", "--force", "--date-format=raw"); err != nil {
		return "", err
	}
	return r.tip(ctx, pendingRef)
}

// quotePath is a path as fast-import reads it.
func quotePath(p string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(p) + `"`
}

// files are the entries of a folder in a commit, by device.
func (r *repository) files(ctx context.Context, commit, dir string) (*state, error) {
	s := &state{entries: map[string]rawJSON{}}
	if commit == "" {
		return s, nil
	}
	out, err := r.run(ctx, nil, "ls-tree", "-z", "--full-tree", commit, "--", dir+"/")
	if err != nil {
		return nil, err
	}
	var names []string
	var ask bytes.Buffer
	for row := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		head, path, ok := strings.Cut(row, "\t")
		fields := strings.Fields(head)
		name, entry := strings.CutSuffix(path[strings.LastIndexByte(path, '/')+1:], suffix)
		if !ok || len(fields) != 3 || fields[1] != "blob" || !entry || strings.HasPrefix(name, ".") {
			continue
		}
		names = append(names, name)
		ask.WriteString(fields[2] + "\n")
	}
	if len(names) == 0 {
		return s, nil
	}
	if out, err = r.run(ctx, ask.Bytes(), "cat-file", "--batch"); err != nil {
		return nil, err
	}
	in := bufio.NewReader(bytes.NewReader(out))
	for _, name := range names {
		head, err := in.ReadString('\n')
		fields := strings.Fields(head)
		if err != nil || len(fields) != 3 {
			return nil, fmt.Errorf("git cat-file: %s is not there", name)
		}
		n, err := strconv.Atoi(fields[2])
		if err != nil || n < 0 || n > len(out) {
			return nil, fmt.Errorf("git cat-file: %s has no size", name)
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, fmt.Errorf("git cat-file: %s: %w", name, err)
		}
		if _, err := in.Discard(1); err != nil {
			return nil, fmt.Errorf("git cat-file: %s: %w", name, err)
		}
		s.entries[name] = text
	}
	return s, nil
}

// workTree finds the work tree of a folder that need not be there yet: a folder
// of it to work in, and the path of the folder in it. Within is the work tree that it has to be, "" for any.
func workTree(ctx context.Context, source, within string) (*repository, string, error) {
	abs, err := filepath.Abs(source)
	if err != nil {
		return nil, "", err
	}
	there, rest := abs, ""
	for {
		if info, err := os.Stat(there); err == nil && info.IsDir() {
			break
		}
		up := filepath.Dir(there)
		if up == there {
			return nil, "", fmt.Errorf("%s has no folder above it", source)
		}
		there, rest = up, filepath.Join(filepath.Base(there), rest)
	}
	tree, err := checkout.In(ctx, there)
	if err != nil {
		return nil, "", fmt.Errorf("%s is in no work tree of git: %w", source, err)
	}
	if within != "" && !same(tree.Top, within) {
		return nil, "", fmt.Errorf("%s is in another work tree of git, %s, than the configuration", source, tree.Top)
	}
	return &repository{dir: there, now: time.Now}, strings.Trim(filepath.ToSlash(filepath.Join(tree.Prefix, rest)), "/"), nil
}

// same reports whether two names are of one folder.
func same(a, b string) bool {
	x, err := os.Stat(a)
	y, bad := os.Stat(b)
	return err == nil && bad == nil && os.SameFile(x, y)
}
