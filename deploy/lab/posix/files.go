package posix

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

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
	o, err := p.parse("dDm:o:g:vCpTt: mode: directory owner: group:")
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
	o, err := p.parse("arRpfdLPTtv archive recursive preserve force no-dereference no-target-directory")
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
	o, err := p.parse("fTnv force no-target-directory exchange")
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
	o, err := p.parse("rRfd recursive force one-file-system")
	if err != nil {
		return p.usage(err)
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
	code := 0
	for _, name := range p.Args {
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
	if len(args) > 0 && (args[0] == "-R" || args[0] == "--") {
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

func readlink(_ context.Context, p *Proc) int {
	o, err := p.parse("fenq canonicalize canonicalize-existing quiet no-newline")
	if err != nil {
		return p.usage(err)
	}
	code, end := 0, "\n"
	if o.has("n", "no-newline") {
		end = ""
	}
	for _, name := range o.rest {
		if p.Name == "realpath" || o.has("f", "e", "canonicalize", "canonicalize-existing") {
			full, err := p.real(p.abs(name), 0)
			if err == nil && o.has("e", "canonicalize-existing") {
				_, err = p.Host.o.Disk.Stat(full)
			}
			if err != nil {
				code = 1
				continue
			}
			p.outf("%s%s", full, end)
			continue
		}
		target, err := p.Host.o.Disk.Readlink(p.abs(name))
		if err != nil {
			code = 1
			continue
		}
		p.outf("%s%s", target, end)
	}
	return code
}

// real is a path without links; its last part may be missing.
func (p *Proc) real(full string, depth int) (string, error) {
	if depth > 40 {
		return "", errors.New("Too many levels of symbolic links")
	}
	at := "/"
	parts := strings.Split(strings.Trim(full, "/"), "/")
	for i, part := range parts {
		at = path.Join(at, part)
		info, err := p.Host.o.Disk.Lstat(at)
		if err != nil {
			if i == len(parts)-1 {
				return at, nil
			}
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := p.Host.o.Disk.Readlink(at)
		if err != nil {
			return "", err
		}
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(at), target)
		}
		return p.real(path.Join(append([]string{target}, parts[i+1:]...)...), depth+1)
	}
	return at, nil
}

func stat(_ context.Context, p *Proc) int {
	o, err := p.parse("c:Lf format: printf: dereference")
	if err != nil {
		return p.usage(err)
	}
	format := o.value("c", "format")
	if format == "" || o.has("f") {
		return p.Fail("stat: only stat -c FORMAT is simulated")
	}
	code := 0
	for _, name := range o.rest {
		look := p.Host.o.Disk.Lstat
		if o.has("L", "dereference") {
			look = p.Host.o.Disk.Stat
		}
		info, err := look(p.abs(name))
		if err != nil {
			code = p.cannot("cannot statx '%s'", name, err)
			continue
		}
		kind := "regular file"
		switch {
		case info.IsDir():
			kind = "directory"
		case info.Mode()&fs.ModeSymlink != 0:
			kind = "symbolic link"
		case info.Size() == 0:
			kind = "regular empty file"
		}
		p.outf("%s\n", strings.NewReplacer(
			"%%", "%", "%a", fmt.Sprintf("%o", info.Mode().Perm()), "%s", strconv.FormatInt(info.Size(), 10), "%n", name, "%U", "root", "%G", "root", "%u", "0", "%g", "0",
			"%Y", strconv.FormatInt(info.ModTime().Unix(), 10), "%F", kind, "%A", info.Mode().String(),
		).Replace(format))
	}
	return code
}

func compareFiles(_ context.Context, p *Proc) int {
	o, err := p.parse("sl silent quiet")
	if err != nil || len(o.rest) != 2 {
		return p.Fail("cmp: missing operand") + 1
	}
	quiet := o.has("s", "silent", "quiet")
	a, errA := p.read(o.rest[0])
	b, errB := p.read(o.rest[1])
	for i, err := range []error{errA, errB} {
		if err != nil {
			if !quiet {
				p.errf("cmp: %s: %s\n", o.rest[i], reason(err))
			}
			return 2
		}
	}
	if bytes.Equal(a, b) {
		return 0
	}
	if !quiet {
		at := 0
		for at < len(a) && at < len(b) && a[at] == b[at] {
			at++
		}
		p.outf("%s %s differ: byte %d, line %d\n", o.rest[0], o.rest[1], at+1, 1+bytes.Count(a[:at], []byte("\n")))
	}
	return 1
}

func diff(_ context.Context, p *Proc) int {
	o, err := p.parse("uqNr unified brief new-file recursive")
	if err != nil || len(o.rest) != 2 {
		return p.Fail("diff: missing operand") + 1
	}
	a, errA := p.read(o.rest[0])
	b, errB := p.read(o.rest[1])
	for i, err := range []error{errA, errB} {
		if err != nil && !(o.has("N", "new-file") && errors.Is(err, fs.ErrNotExist)) {
			p.errf("diff: %s: %s\n", o.rest[i], reason(err))
			return 2
		}
	}
	if bytes.Equal(a, b) {
		return 0
	}
	if o.has("q", "brief") {
		p.outf("Files %s and %s differ\n", o.rest[0], o.rest[1])
	} else {
		p.outf("%s", udiff.Unified(o.rest[0], o.rest[1], string(a), string(b)))
	}
	return 1
}

func mktemp(_ context.Context, p *Proc) int {
	o, err := p.parse("dp:tuq directory tmpdir: dry-run")
	if err != nil {
		return p.usage(err)
	}
	dir, template := "/tmp", "tmp.XXXXXXXXXX"
	if t := p.Env["TMPDIR"]; t != "" {
		dir = t
	}
	if len(o.rest) > 0 {
		dir, template = path.Dir(p.abs(o.rest[0])), path.Base(o.rest[0])
		if o.has("t") || o.has("p", "tmpdir") {
			dir = "/tmp"
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

func df(_ context.Context, p *Proc) int {
	o, err := p.parse("kPhBm: output: block-size:")
	if err != nil {
		return p.usage(err)
	}
	used, limit := p.Host.o.Disk.Used()
	const free = 20 << 30 // of a disk without a limit
	if limit == 0 {
		limit = used + free
	}
	total, taken := limit/1024, (used+1023)/1024
	unit := "1024-blocks"
	if field := o.value("output"); field != "" {
		if field != "avail" {
			return p.Fail("df: option --output: field '%s' unknown", field)
		}
		scale := int64(1024)
		if o.has("B") || strings.HasPrefix(o.value("block-size"), "1") && o.value("block-size") != "1K" {
			scale = 1
		}
		p.outf("    Avail\n%9d\n", (limit-used)/scale)
		return 0
	}
	p.outf("Filesystem     %s Used Available Capacity Mounted on\n/dev/vda1 %d %d %d %d%% /\n", unit, total, taken, max(total-taken, 0), taken*100/max(total, 1))
	return 0
}

// find takes what the scripts ask: a folder and -type, -name, -maxdepth,
// -mindepth, -print, -delete.
func find(_ context.Context, p *Proc) int {
	var roots []string
	i := 0
	for ; i < len(p.Args) && !strings.HasPrefix(p.Args[i], "-"); i++ {
		roots = append(roots, p.Args[i])
	}
	kind, name, deepest, highest, remove := "", "", 1<<30, 0, false
	zero := false
	for ; i < len(p.Args); i++ {
		value := ""
		if i+1 < len(p.Args) {
			value = p.Args[i+1]
		}
		n, _ := strconv.Atoi(value)
		switch p.Args[i] {
		case "-type":
			kind = value
		case "-name":
			name = value
		case "-maxdepth":
			deepest = n
		case "-mindepth":
			highest = n
		case "-print":
			continue
		case "-print0":
			zero = true
			continue
		case "-delete":
			remove = true
			continue
		default:
			return p.Fail("find: unknown predicate `%s'", p.Args[i])
		}
		i++
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	code := 0
	var walk func(shown string, depth int)
	walk = func(shown string, depth int) {
		info, err := p.Host.o.Disk.Lstat(p.abs(shown))
		if err != nil {
			code = p.Fail("find: ‘%s’: %s", shown, reason(err))
			return
		}
		visit := func() {
			is := "f"
			if info.IsDir() {
				is = "d"
			} else if info.Mode()&fs.ModeSymlink != 0 {
				is = "l"
			}
			match, _ := path.Match(name, path.Base(shown))
			if kind != "" && kind != is || name != "" && !match || depth < highest {
				return
			}
			switch {
			case remove:
				if err := p.Host.o.Disk.Remove(p.abs(shown)); err != nil {
					code = p.Fail("find: cannot delete ‘%s’: %s", shown, reason(err))
				}
			case zero:
				p.outf("%s\x00", shown)
			default:
				p.outf("%s\n", shown)
			}
		}
		if !remove {
			visit()
		}
		if info.IsDir() && depth < deepest {
			list, _ := p.Host.o.Disk.ReadDir(p.abs(shown))
			for _, e := range list {
				walk(strings.TrimSuffix(shown, "/")+"/"+e.Name(), depth+1)
			}
		}
		if remove {
			visit()
		}
	}
	for _, r := range roots {
		walk(r, 0)
	}
	return code
}

func ls(_ context.Context, p *Proc) int {
	o, err := p.parse("1ald all")
	if err != nil {
		return p.usage(err)
	}
	if len(o.rest) == 0 {
		o.rest = []string{"."}
	}
	code := 0
	for _, name := range o.rest {
		info, err := p.Host.o.Disk.Stat(p.abs(name))
		if err != nil {
			code = 1 + p.cannot("cannot access '%s'", name, err)
			continue
		}
		show := func(info fs.FileInfo, shown string) {
			if o.has("l") {
				p.outf("%s 1 root root %8d %s %s\n", info.Mode(), info.Size(), info.ModTime().UTC().Format("Jan _2 15:04"), shown)
			} else {
				p.outf("%s\n", shown)
			}
		}
		if !info.IsDir() || o.has("d") {
			show(info, name)
			continue
		}
		list, _ := p.Host.o.Disk.ReadDir(p.abs(name))
		for _, e := range list {
			if info, err := e.Info(); err == nil && (o.has("a", "all") || !strings.HasPrefix(e.Name(), ".")) {
				show(info, e.Name())
			}
		}
	}
	return code
}

func sha256sum(_ context.Context, p *Proc) int {
	o, err := p.parse("c check status quiet")
	if err != nil {
		return p.usage(err)
	}
	names := o.rest
	if len(names) == 0 {
		names = []string{"-"}
	}
	if !o.has("c", "check") {
		code := 0
		for _, name := range names {
			b, err := p.read(name)
			if err != nil {
				code = p.Fail("sha256sum: %s: %s", name, reason(err))
				continue
			}
			sum := sha256.Sum256(b)
			p.outf("%s  %s\n", hex.EncodeToString(sum[:]), name)
		}
		return code
	}
	code := 0
	for _, list := range names {
		b, err := p.read(list)
		if err != nil {
			return p.Fail("sha256sum: %s: %s", list, reason(err))
		}
		for line := range strings.Lines(string(b)) {
			want, name, ok := strings.Cut(strings.TrimRight(line, "\n"), "  ")
			if !ok {
				continue
			}
			content, err := p.read(name)
			sum := sha256.Sum256(content)
			same := err == nil && hex.EncodeToString(sum[:]) == want
			if !same {
				code = 1
			}
			if !o.has("status") && !(same && o.has("quiet")) {
				p.outf("%s: %s\n", name, map[bool]string{true: "OK", false: "FAILED"}[same])
			}
		}
	}
	return code
}

func du(_ context.Context, p *Proc) int {
	names := slices.DeleteFunc(slices.Clone(p.Args), func(a string) bool { return strings.HasPrefix(a, "-") })
	for _, name := range names {
		total := int64(0)
		var add func(full string)
		add = func(full string) {
			if info, err := p.Host.o.Disk.Lstat(full); err == nil {
				total += (info.Size() + 1023) / 1024
			}
			list, _ := p.Host.o.Disk.ReadDir(full)
			for _, e := range list {
				add(path.Join(full, e.Name()))
			}
		}
		add(p.abs(name))
		p.outf("%d\t%s\n", total, name)
	}
	return 0
}
