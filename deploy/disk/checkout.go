package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Checkout is a folder whose files others have written, as a clone of a repository is.
// A link in it does not decide what is read or written outside of it.
type Checkout struct {
	seen, real string // the folder as the caller's path leads to it, and without links
}

// CheckoutOf is the checkout that a folder lies in: the nearest folder upwards that is a
// work tree of git, the folder itself where none is.
func CheckoutOf(dir string) (Checkout, error) {
	seen, err := filepath.Abs(dir)
	if err != nil {
		return Checkout{}, err
	}
	real, err := filepath.EvalSymlinks(seen)
	if err != nil {
		return Checkout{}, err
	}
	c := Checkout{seen: seen, real: real}
	for at := real; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			c.real = at
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	top, err := os.Stat(c.real)
	if err != nil {
		return Checkout{}, err
	}
	for at := seen; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, top) {
			c.seen = at
			return c, nil
		}
		if at == filepath.Dir(at) {
			c.seen = c.real // a link leads into the middle of it
			return c, nil
		}
	}
}

// Top is the folder of the checkout, without links.
func (c Checkout) Top() string { return c.real }

// Folder is a folder that is held to be a checkout whatever lies above it.
func Folder(dir string) Checkout {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return Checkout{seen: dir, real: dir}
}

// rel is a path from the checkout on; false if its name leads elsewhere.
func (c Checkout) rel(path string) (string, bool) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	for _, top := range []string{c.seen, c.real} {
		if rel, err := filepath.Rel(top, abs); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// Holds reports whether a path lies in the checkout by its name, wherever links lead.
func (c Checkout) Holds(path string) bool {
	_, ok := c.rel(path)
	return ok
}

// LinkError is a link in a checkout that leads out of it, or may.
type LinkError struct{ Path, To, Checkout string }

// Error names the link and says what to do.
func (e *LinkError) Error() string {
	return fmt.Sprintf("%s is a link to %s: in %s only relative links that stay inside are followed; "+
		"write the path it leads to, or put a file or folder there", e.Path, e.To, e.Checkout)
}

// Check refuses a path that lies in the checkout by its name and that a link takes out of
// it: it is a *LinkError. A path that is named outside of the checkout is the business of
// whoever named it. Nothing need be there yet.
func (c Checkout) Check(path string) error {
	rel, ok := c.rel(path)
	if !ok || rel == "." {
		return nil
	}
	root, err := os.OpenRoot(c.real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	at := ""
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink == 0:
			continue
		}
		if _, err := root.Stat(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			to, err := root.Readlink(at)
			if err != nil {
				return err
			}
			named := strings.TrimSuffix(strings.TrimSuffix(path, strings.TrimPrefix(rel, at)), string(filepath.Separator))
			return &LinkError{named, to, c.real}
		}
	}
	return nil
}
