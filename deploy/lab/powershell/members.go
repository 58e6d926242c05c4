package powershell

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"syscall"
	"time"
	"unicode/utf16"
)

// Members is a value of .NET that has properties and methods. Names are in lower
// case; false is for what it has not.
type Members interface {
	Member(name string, args []any) (any, bool)
}

// Void is what a method gives that gives nothing.
type Void struct{}

// properties is PSObject.Properties: by name or one by one, each with its value.
type properties struct{ of *Object }

// char is a UTF-16 unit, as [char] is.
type char uint16

// Time is a DateTime.
type Time time.Time

// fileTimeEpoch is the second, before that of Unix, at which file times begin: 1601.
const fileTimeEpoch = 11_644_473_600

// Member is a member of DateTime.
func (t Time) Member(name string, args []any) (any, bool) {
	switch {
	case name == "tostring" && len(args) > 0:
		return timeText(time.Time(t), String(args[0])), true
	case name == "addseconds" && len(args) == 1:
		return Time(time.Time(t).Add(time.Duration(Int(args[0])) * time.Second)), true
	case name == "tofiletimeutc":
		return (time.Time(t).Unix() + fileTimeEpoch) * 10_000_000, true
	}
	return nil, false
}

// timeText is a time in a format of .NET.
func timeText(t time.Time, format string) string {
	layout := strings.NewReplacer("yyyy", "2006", "MM", "01", "dd", "02", "HH", "15", "mm", "04", "ss", "05").Replace(format)
	return strings.ReplaceAll(t.Format(layout), "fff", fmt.Sprintf("%03d", t.Nanosecond()/int(time.Millisecond)))
}

// String is the time as a script shows it.
func (t Time) String() string { return time.Time(t).Format("01/02/2006 15:04:05") }

// Span is a TimeSpan.
type Span time.Duration

// String is the span as a script shows it.
func (s Span) String() string { return time.Duration(s).String() }

// octets are a byte[].
type octets []byte

// Member is a member of an array.
func (b octets) Member(name string, _ []any) (any, bool) {
	return int64(len(b)), name == "length"
}

type encoding struct{}

// Member is a member of Encoding.
func (encoding) Member(name string, args []any) (any, bool) {
	if name == "getbytes" && len(args) == 1 {
		return octets(String(args[0])), true
	}
	return nil, false
}

type console struct{ line func(string) }

// Member is a member of TextWriter.
func (c console) Member(name string, args []any) (any, bool) {
	if name != "writeline" || len(args) != 1 {
		return nil, false
	}
	if c.line != nil {
		c.line(String(args[0]))
	}
	return Void{}, true
}

func stringMember(s, name string, args []any) (any, bool) {
	arg := func(i int) string {
		if i < len(args) {
			return String(args[i])
		}
		return ""
	}
	switch name {
	case "length":
		return int64(len(utf16.Encode([]rune(s)))), true
	case "tochararray":
		var out []any
		for _, u := range utf16.Encode([]rune(s)) {
			out = append(out, char(u))
		}
		return out, true
	case "tolowerinvariant":
		return strings.ToLower(s), true
	case "contains":
		return strings.Contains(s, arg(0)), true
	case "startswith":
		return strings.HasPrefix(s, arg(0)), true
	case "endswith":
		return strings.HasSuffix(s, arg(0)), true
	case "trim":
		return strings.TrimSpace(s), true
	case "substring":
		from := int(Int(arg(0)))
		if from < 0 || from > len(s) {
			Throw("startIndex cannot be larger than length of string.")
		}
		return s[from:], true
	case "split":
		var out []any
		for _, part := range strings.Split(s, arg(0)) {
			out = append(out, part)
		}
		return out, true
	}
	return nil, false
}

// static is a static member of a type; "System." before its name is optional.
func (r *Runner) static(n *static) any {
	var args []any
	for _, a := range n.args {
		args = append(args, r.eval(a))
	}
	name := strings.TrimPrefix(n.typ, "system.") + "::" + strings.ToLower(n.name)
	if f, ok := r.Statics[name]; ok {
		return f(r, args)
	}
	arg := func(i int) any {
		if i >= len(args) {
			Throw("Cannot find an overload for \"%s\" and the argument count: \"%d\".", n.name, len(args))
		}
		return args[i]
	}
	switch name {
	case "management.automation.wildcardpattern::escape":
		return Escape(String(arg(0)))
	case "math::floor":
		return math.Floor(number(arg(0)))
	case "math::abs":
		return int64(math.Abs(float64(Int(arg(0)))))
	case "math::max":
		return max(Int(arg(0)), Int(arg(1)))
	case "datetime::utcnow":
		return Time(r.Now().UTC())
	case "globalization.cultureinfo::invariantculture":
		return "invariant"
	case "timespan::fromseconds":
		return Span(time.Duration(Int(arg(0))) * time.Second)
	case "timespan::fromminutes":
		return Span(time.Duration(Int(arg(0))) * time.Minute)
	case "text.encoding::utf8":
		return encoding{}
	case "console::error":
		return console{r.Err}
	case "io.directory::getfiles":
		return r.list(String(arg(0)), String(arg(1)))
	case "io.file::readalltext":
		text, err := r.Files.ReadFile(r.Path(String(arg(0))))
		r.check(err, String(arg(0)))
		return strings.TrimPrefix(string(text), "\ufeff")
	case "io.file::open":
		return r.openFile(String(arg(0)), String(arg(1)), String(arg(3)))
	case "io.file::move":
		return r.move(String(arg(0)), String(arg(1)))
	case "io.file::replace":
		return r.replace(String(arg(0)), String(arg(1)), String(arg(2)))
	}
	panic(thrown{message: fmt.Sprintf("Unable to find type or member [%s]::%s.", n.typ, n.name), id: "TypeNotFound"})
}

func (r *Runner) list(folder, mask string) any {
	names, err := r.Files.List(r.Path(folder))
	r.check(err, folder)
	out := []any{}
	prefix, suffix, _ := strings.Cut(mask, "*")
	for _, name := range names {
		if len(name) >= len(prefix)+len(suffix) && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) {
			out = append(out, strings.TrimRight(folder, `\`)+`\`+name)
		}
	}
	return out
}

func (r *Runner) move(from, to string) any {
	if _, there := r.Files.Stat(r.Path(to)); there {
		Throw("Cannot create a file when that file already exists.")
	}
	r.check(r.Files.Rename(r.Path(from), r.Path(to)), from)
	return Void{}
}

// replace puts a file in the place of another, which becomes the backup.
func (r *Runner) replace(from, to, backup string) any {
	for _, p := range []string{from, to} {
		if _, there := r.Files.Stat(r.Path(p)); !there {
			r.check(fs.ErrNotExist, p)
		}
	}
	if backup == "" {
		Throw("The path is not of a legal form.")
	}
	if _, there := r.Files.Stat(r.Path(backup)); there {
		r.check(r.Files.Remove(r.Path(backup)), backup)
	}
	r.check(r.Files.Rename(r.Path(to), r.Path(backup)), to)
	r.check(r.Files.Rename(r.Path(from), r.Path(to)), from)
	return Void{}
}

// Locker is a Files that keeps a file for one process, as FileShare.None does.
type Locker interface {
	// Lock fails where another process has the file.
	Lock(path string) (release func(), err error)
}

// stream is a FileStream. What is written is on the disk after Flush or Dispose.
type stream struct {
	r       *Runner
	path    string
	data    []byte
	dirty   bool
	release func()
}

func (r *Runner) openFile(path, mode, share string) any {
	full := r.Path(path)
	f := &stream{r: r, path: full, release: func() {}}
	if l, ok := r.Files.(Locker); ok && strings.EqualFold(share, "None") {
		release, err := l.Lock(full)
		if err != nil {
			Throw("The process cannot access the file '%s' because it is being used by another process.", full)
		}
		f.release = release
	}
	r.open = append(r.open, f)
	if _, there := r.Files.Stat(full); !there || strings.EqualFold(mode, "Create") {
		r.check(r.Files.WriteFile(full, nil), full)
	}
	return f
}

// Member is a member of FileStream.
func (f *stream) Member(name string, args []any) (any, bool) {
	switch name {
	case "write":
		if len(args) != 3 {
			return nil, false
		}
		if b, ok := args[0].(octets); ok && Int(args[1]) == 0 && Int(args[2]) == int64(len(b)) {
			f.data, f.dirty = append(f.data, b...), true
			return Void{}, true
		}
	case "setlength":
		if len(args) != 1 {
			return nil, false
		}
		n := Int(args[0])
		if n < 0 || n > 1<<24 {
			Throw("There is not enough space on the disk.")
		}
		f.data, f.dirty = make([]byte, n), true
		return Void{}, true
	case "flush":
		f.flush()
		return Void{}, true
	case "dispose":
		f.flush()
		f.release()
		f.release = func() {}
		return Void{}, true
	}
	return nil, false
}

func (f *stream) flush() {
	if f.dirty {
		f.dirty = false
		f.r.check(f.r.Files.WriteFile(f.path, f.data), f.path)
	}
}

// check throws what a file gave.
func (r *Runner) check(err error, path string) {
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		Throw("Could not find file '%s'.", r.Path(path))
	case errors.Is(err, syscall.ENOSPC):
		Throw("There is not enough space on the disk.")
	default:
		Throw("%v", err)
	}
}
