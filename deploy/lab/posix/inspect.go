package posix

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/aymanbagabas/go-udiff"
)

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
		return "", syscall.ELOOP
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

func df(_ context.Context, p *Proc) int {
	o, err := p.parse("kPhBm: output: block-size:")
	if err != nil {
		return p.usage(err)
	}
	for _, name := range o.rest {
		if _, err := p.Host.o.Disk.Stat(p.abs(name)); err != nil {
			return p.cannot("%s", name, err)
		}
	}
	if o.value("output") == "" && o.has("B", "h", "block-size") {
		return p.Fail("df: the table is simulated in blocks of 1024 bytes only")
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

// sieve is what find is to do with what: -type, -name, -maxdepth, -mindepth, -print,
// -print0 and -delete, which is all that scripts ask.
type sieve struct {
	kind, name       string
	deepest, highest int
	remove, zero     bool
}

func sieveOf(args []string) (v sieve, err error) {
	v.deepest = 1 << 30
	for i := 0; i < len(args); i++ {
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		switch args[i] {
		case "-type":
			v.kind = value
		case "-name":
			v.name = value
		case "-maxdepth":
			v.deepest, err = strconv.Atoi(value)
		case "-mindepth":
			v.highest, err = strconv.Atoi(value)
		case "-print":
			continue
		case "-print0":
			v.zero = true
			continue
		case "-delete":
			v.remove = true
			continue
		default:
			return v, fmt.Errorf("unknown predicate `%s'", args[i])
		}
		if i++; err != nil || value == "" {
			return v, fmt.Errorf("`%s' has the argument `%s'", args[i-1], value)
		}
	}
	return v, nil
}

// takes reports whether something is let through.
func (v sieve) takes(shown string, info fs.FileInfo, depth int) bool {
	is := "f"
	if info.IsDir() {
		is = "d"
	} else if info.Mode()&fs.ModeSymlink != 0 {
		is = "l"
	}
	match, _ := path.Match(v.name, path.Base(shown))
	return (v.kind == "" || v.kind == is) && (v.name == "" || match) && depth >= v.highest
}

func find(_ context.Context, p *Proc) int {
	args := p.Args
	roots := []string{}
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		roots, args = append(roots, args[0]), args[1:]
	}
	v, err := sieveOf(args)
	if err != nil {
		return p.Fail("find: %v", err)
	}
	if len(roots) == 0 {
		roots = []string{"."}
	}
	code := 0
	visit := func(shown string) {
		switch {
		case v.remove:
			if err := p.Host.o.Disk.Remove(p.abs(shown)); err != nil {
				code = p.Fail("find: cannot delete ‘%s’: %s", shown, reason(err))
			}
		case v.zero:
			p.outf("%s\x00", shown)
		default:
			p.outf("%s\n", shown)
		}
	}
	var walk func(shown string, depth int)
	walk = func(shown string, depth int) {
		info, err := p.Host.o.Disk.Lstat(p.abs(shown))
		if err != nil {
			code = p.Fail("find: ‘%s’: %s", shown, reason(err))
			return
		}
		taken := v.takes(shown, info, depth)
		if taken && !v.remove {
			visit(shown)
		}
		if info.IsDir() && depth < v.deepest {
			list, _ := p.Host.o.Disk.ReadDir(p.abs(shown))
			for _, e := range list {
				walk(strings.TrimSuffix(shown, "/")+"/"+e.Name(), depth+1)
			}
		}
		if taken && v.remove { // what is in a folder goes first
			visit(shown)
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
		sums := 0
		for line := range strings.Lines(string(b)) {
			want, name, ok := strings.Cut(strings.TrimRight(line, "\n"), " ")
			if !ok || len(want) != 2*sha256.Size || len(name) < 2 {
				continue
			}
			name = name[1:] // behind a blank, or the asterisk of a binary file
			sums++
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
		if sums == 0 {
			code = p.Fail("sha256sum: %s: no properly formatted checksum lines found", list)
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
