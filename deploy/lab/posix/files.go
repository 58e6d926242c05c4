package posix

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"strconv"
	"strings"

	"github.com/rocec/rocec/deploy/lab"
)

// cannot reports what an error of the disk kept a program from.
func (p *Proc) cannot(format string, args ...any) int {
	err := args[len(args)-1].(error)
	args[len(args)-1] = reason(err)
	p.errf("%s: "+format+": %s\n", append([]any{p.Name}, args...)...)
	return 1
}

// read is the content of a file, or of standard input for "-".
func (p *Proc) read(name string) ([]byte, error) {
	if name == "-" || name == "/dev/stdin" {
		if p.Stdin == nil {
			return nil, nil
		}
		return io.ReadAll(p.Stdin)
	}
	switch name {
	case "/dev/null":
		return nil, nil
	case "/dev/zero":
		return make([]byte, 1<<20), nil // as much as anyone asks for here
	}
	if key, ok := strings.CutPrefix(name, substitute); ok && p.sh != nil {
		return p.sh.take(key), nil
	}
	return p.Host.o.Disk.ReadFile(p.abs(name))
}

// target is where a file goes that is copied or moved to a file or a folder.
func (p *Proc) target(from, to string) string {
	full := p.abs(to)
	if info, err := p.Host.o.Disk.Stat(full); err == nil && info.IsDir() {
		return path.Join(full, path.Base(p.abs(from)))
	}
	return full
}

func install(_ context.Context, p *Proc) int {
	o, err := p.parse("dDm:o:g:vt: mode: directory owner: group:")
	if err != nil {
		return p.usage(err)
	}
	disk := p.Host.o.Disk
	mode := uint64(0o755)
	if m := o.value("m", "mode"); m != "" {
		if mode, err = strconv.ParseUint(m, 8, 12); err != nil {
			return p.Fail("install: invalid mode '%s'", m)
		}
	}
	if o.has("d", "directory") {
		for _, d := range o.rest {
			full := p.abs(d)
			if err := disk.MkdirAll(full, 0o755); err != nil {
				return p.cannot("cannot create directory '%s'", d, err)
			}
			if o.has("m", "mode") {
				_ = disk.Chmod(full, fs.FileMode(mode))
			}
		}
		return 0
	}
	if o.has("t") {
		o.rest = append(o.rest, o.value("t"))
	}
	if len(o.rest) < 2 {
		return p.Fail("install: missing file operand")
	}
	last := o.rest[len(o.rest)-1]
	for _, from := range o.rest[:len(o.rest)-1] {
		b, err := p.read(from)
		if err != nil {
			return p.cannot("cannot stat '%s'", from, err)
		}
		to := p.target(from, last)
		if strings.HasSuffix(last, "/") {
			to = path.Join(p.abs(last), path.Base(from))
		}
		if o.has("D") {
			if err := disk.MkdirAll(path.Dir(to), 0o755); err != nil {
				return p.cannot("cannot create directory '%s'", path.Dir(to), err)
			}
		}
		_ = disk.Remove(to) // install unlinks what is there
		if err := disk.WriteFile(to, b, fs.FileMode(mode)); err != nil {
			return p.cannot("cannot create regular file '%s'", to, err)
		}
		_ = disk.Chmod(to, fs.FileMode(mode))
	}
	return 0
}

func cp(_ context.Context, p *Proc) int {
	o, err := p.parse("arRpfdLPTv archive recursive preserve force no-dereference no-target-directory")
	if err != nil {
		return p.usage(err)
	}
	if len(o.rest) < 2 {
		return p.Fail("cp: missing file operand")
	}
	deep := o.has("a", "r", "R", "archive", "recursive")
	keep := o.has("a", "p", "archive", "preserve")
	links := o.has("a", "d", "P", "archive", "no-dereference")
	last, code := o.rest[len(o.rest)-1], 0
	for _, from := range o.rest[:len(o.rest)-1] {
		to := p.target(from, last)
		if o.has("T", "no-target-directory") {
			to = p.abs(last)
		}
		if strings.HasSuffix(from, "/.") { // the content
			to = p.abs(last)
		}
		if err := p.copy(p.abs(from), to, deep, keep, links); err != nil {
			code = p.cannot("cannot copy '%s' to '%s'", from, to, err)
		}
	}
	return code
}

func (p *Proc) copy(from, to string, deep, keep, links bool) error {
	disk := p.Host.o.Disk
	stat := disk.Stat
	if links {
		stat = disk.Lstat
	}
	info, err := stat(from)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := disk.Readlink(from)
		if err != nil {
			return err
		}
		_ = disk.Remove(to)
		return disk.Symlink(target, to)
	case info.IsDir():
		if !deep {
			return errors.New("-r not specified; omitting directory")
		}
		if err := disk.Mkdir(to, info.Mode().Perm()); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		list, err := disk.ReadDir(from)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := p.copy(path.Join(from, e.Name()), path.Join(to, e.Name()), deep, keep, links); err != nil {
				return err
			}
		}
		return nil
	}
	b, err := disk.ReadFile(from)
	if err != nil {
		return err
	}
	if err := disk.WriteFile(to, b, info.Mode().Perm()); err != nil {
		return err
	}
	if keep {
		_ = disk.Chmod(to, info.Mode().Perm())
		_ = disk.Chtimes(to, info.ModTime())
	}
	return nil
}

func mv(_ context.Context, p *Proc) int {
	o, err := p.parse("fTv force no-target-directory")
	if err != nil {
		return p.usage(err)
	}
	if len(o.rest) < 2 {
		return p.Fail("mv: missing file operand")
	}
	last, code := o.rest[len(o.rest)-1], 0
	for _, from := range o.rest[:len(o.rest)-1] {
		to := p.target(from, last)
		if o.has("T", "no-target-directory") {
			to = p.abs(last)
		}
		if _, err := p.Host.o.Disk.Lstat(p.abs(from)); err != nil {
			code = p.cannot("cannot stat '%s'", from, err)
			continue
		}
		if err := p.Host.o.Disk.Rename(p.abs(from), to); err != nil {
			code = p.cannot("cannot move '%s' to '%s'", from, to, err)
		}
	}
	return code
}

func rm(_ context.Context, p *Proc) int {
	o, err := p.parse("rRf recursive force one-file-system")
	if err != nil {
		return p.usage(err)
	}
	if len(o.rest) == 0 && !o.has("f", "force") {
		return p.Fail("rm: missing operand")
	}
	code := 0
	for _, name := range o.rest {
		full := p.abs(name)
		info, err := p.Host.o.Disk.Lstat(full)
		switch {
		case err != nil && o.has("f", "force"):
			continue
		case err != nil:
			code = p.cannot("cannot remove '%s'", name, err)
			continue
		case info.IsDir() && !o.has("r", "R", "recursive"):
			code = p.Fail("rm: cannot remove '%s': Is a directory", name)
			continue
		}
		if err := p.Host.o.Disk.RemoveAll(full); err != nil {
			code = p.cannot("cannot remove '%s'", name, err)
		}
	}
	return code
}

func mkdir(_ context.Context, p *Proc) int {
	o, err := p.parse("pm:v parents mode:")
	if err != nil {
		return p.usage(err)
	}
	mode := uint64(0o755)
	if m := o.value("m", "mode"); m != "" {
		if mode, err = strconv.ParseUint(m, 8, 12); err != nil {
			return p.Fail("mkdir: invalid mode '%s'", m)
		}
	}
	code := 0
	for _, name := range o.rest {
		full := p.abs(name)
		if o.has("p", "parents") {
			if _, err := p.Host.o.Disk.Stat(full); err == nil {
				continue
			}
			err = p.Host.o.Disk.MkdirAll(full, 0o755)
		} else {
			err = p.Host.o.Disk.Mkdir(full, fs.FileMode(mode))
		}
		if err != nil {
			code = p.cannot("cannot create directory '%s'", name, err)
			continue
		}
		if o.has("m", "mode") {
			_ = p.Host.o.Disk.Chmod(full, fs.FileMode(mode))
		}
	}
	return code
}

func rmdir(_ context.Context, p *Proc) int {
	code := 0
	for _, name := range p.Args {
		if info, err := p.Host.o.Disk.Lstat(p.abs(name)); err == nil && !info.IsDir() {
			code = p.Fail("rmdir: failed to remove '%s': Not a directory", name)
		} else if err := p.Host.o.Disk.Remove(p.abs(name)); err != nil {
			code = p.cannot("failed to remove '%s'", name, err)
		}
	}
	return code
}

func touch(_ context.Context, p *Proc) int {
	o, err := p.parse("")
	if err != nil {
		return p.usage(err)
	}
	code := 0
	for _, name := range o.rest {
		f, err := p.Host.o.Disk.OpenFile(p.abs(name), lab.OpenWrite|lab.OpenCreate, 0o644)
		if err != nil {
			code = p.cannot("cannot touch '%s'", name, err)
			continue
		}
		_ = f.Close()
		_ = p.Host.o.Disk.Chtimes(p.abs(name), p.Host.o.Clock.Now())
	}
	return code
}

func ln(_ context.Context, p *Proc) int {
	o, err := p.parse("sfnTr symbolic force")
	if err != nil {
		return p.usage(err)
	}
	if !o.has("s", "symbolic") || len(o.rest) != 2 {
		return p.Fail("ln: only ln -s TARGET NAME is simulated")
	}
	to := p.abs(o.rest[1])
	if !o.has("T", "n") {
		to = p.target(o.rest[0], o.rest[1])
	}
	if o.has("f", "force") {
		_ = p.Host.o.Disk.Remove(to)
	}
	if err := p.Host.o.Disk.Symlink(o.rest[0], to); err != nil {
		return p.cannot("failed to create symbolic link '%s'", o.rest[1], err)
	}
	return 0
}

func chmod(_ context.Context, p *Proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) < 2 {
		return p.Fail("chmod: missing operand")
	}
	code := 0
	for _, name := range args[1:] {
		full := p.abs(name)
		info, err := p.Host.o.Disk.Stat(full)
		if err != nil {
			code = p.cannot("cannot access '%s'", name, err)
			continue
		}
		mode, ok := chmodTo(info.Mode().Perm(), args[0])
		if !ok {
			return p.Fail("chmod: invalid mode: '%s'", args[0])
		}
		_ = p.Host.o.Disk.Chmod(full, mode)
	}
	return code
}

// chmodTo is a mode in octal, or one changed by a word like u+x, go-rwx or +x.
func chmodTo(old fs.FileMode, word string) (fs.FileMode, bool) {
	if n, err := strconv.ParseUint(word, 8, 12); err == nil {
		return fs.FileMode(n), true
	}
	for one := range strings.SplitSeq(word, ",") {
		at := strings.IndexAny(one, "+-=")
		if at < 0 {
			return old, false
		}
		var who, bits fs.FileMode
		for _, c := range one[:at] {
			m, ok := map[rune]fs.FileMode{'u': 0o700, 'g': 0o070, 'o': 0o007, 'a': 0o777}[c]
			if !ok {
				return old, false
			}
			who |= m
		}
		if at == 0 {
			who = 0o777
		}
		for _, c := range one[at+1:] {
			m, ok := map[rune]fs.FileMode{'r': 0o444, 'w': 0o222, 'x': 0o111, 'X': 0o111}[c]
			if !ok {
				return old, false
			}
			bits |= m
		}
		switch one[at] {
		case '+':
			old |= who & bits
		case '-':
			old &^= who & bits
		case '=':
			old = old&^who | who&bits
		}
	}
	return old, true
}

func mktemp(_ context.Context, p *Proc) int {
	o, err := p.parse("dp:tq directory tmpdir:")
	if err != nil {
		return p.usage(err)
	}
	dir, template := "/tmp", "tmp.XXXXXXXXXX"
	if t := p.Env["TMPDIR"]; t != "" {
		dir = t
	}
	if len(o.rest) > 0 {
		dir, template = path.Dir(p.abs(o.rest[0])), path.Base(o.rest[0])
		if o.has("t") {
			dir = cmp.Or(p.Env["TMPDIR"], "/tmp")
		}
	}
	if d := o.value("p", "tmpdir"); d != "" {
		dir = p.abs(d)
	}
	marks := strings.Count(template, "X")
	if marks < 3 || !strings.Contains(template, strings.Repeat("X", marks)) {
		return p.Fail("mktemp: too few X's in template '%s'", template)
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for range 100 {
		name := make([]byte, marks)
		for i := range name {
			name[i] = letters[rand.IntN(len(letters))]
		}
		full := path.Join(dir, strings.Replace(template, strings.Repeat("X", marks), string(name), 1))
		if o.has("d", "directory") {
			err = p.Host.o.Disk.Mkdir(full, 0o700)
		} else {
			var f *lab.File
			if f, err = p.Host.o.Disk.OpenFile(full, lab.OpenWrite|lab.OpenCreate|lab.OpenExclusive, 0o600); err == nil {
				_ = f.Close()
			}
		}
		if err == nil {
			p.outf("%s\n", full)
			return 0
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return p.cannot("failed to create file via template '%s'", template, err)
}
