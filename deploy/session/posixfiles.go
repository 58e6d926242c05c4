package session

import (
	"fmt"
	"path"
	"strings"
)

// posixFiles copies to a device with a POSIX shell.
type posixFiles struct{ *link }

func (posixFiles) modes() bool { return true }

func (posixFiles) path(p string) (string, error) {
	if !path.IsAbs(p) || strings.ContainsRune(p, 0) {
		return "", failed(KindLocal, "", "the folder %q is not absolute", p)
	}
	return path.Clean(p), nil
}

// without copies through the shell's standard input. The shell cannot tell an end
// of input from a connection that broke, so the size decides.
func (l posixFiles) without(c *Change, _ error) error {
	root, err := l.path(c.Folder)
	if err != nil {
		return err
	}
	if err := l.step("make the folder "+root, "mkdir -p -- %s", nil, root); err != nil {
		return err
	}
	for _, f := range c.Files {
		at := path.Join(root, f.Path)
		script := "mkdir -p -- %[1]s && rm -f -- %[2]s && (umask 077 && cat > %[2]s) && " +
			fmt.Sprintf(`test "$(wc -c < %%[2]s)" -eq %d && chmod %04o %%[2]s && mv -f -- %%[2]s %%[3]s || { rm -f -- %%[2]s; exit 1; }`, len(f.Bytes), f.Mode&0o777)
		if err := l.step("write "+at, script, f.Bytes, path.Dir(at), partOf(at), at); err != nil {
			return err
		}
	}
	return nil
}

// step runs a script, whose words are quoted, in a shell that is POSIX's whatever
// that of the login is.
func (l posixFiles) step(what, script string, stdin []byte, words ...string) error {
	quoted := make([]any, len(words))
	for i, w := range words {
		q, err := quote(w)
		if err != nil {
			return err
		}
		quoted[i] = q
	}
	whole, err := quote(fmt.Sprintf(script, quoted...))
	if err != nil {
		return err
	}
	out, err := l.exec("sh -c "+whole, stdin)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case out.Exit != 0:
		return failed(KindRefused, "", "%s: %s", what, or(lastLine(out.Stderr), fmt.Sprintf("code %d", out.Exit)))
	}
	return nil
}

// lastLine is the last line that says something.
func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
