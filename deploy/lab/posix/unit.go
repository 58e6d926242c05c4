package posix

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unitFolders are where units lie, the first wins (systemd.unit(5)).
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/system", "/run/systemd/transient", "/usr/lib/systemd/system"}

// unitFile is one unit as it is written: values by "Section.Key".
type unitFile struct {
	path   string
	name   string // with the instance
	values map[string][]string
}

// load reads a unit; that of a template for its instance.
func (u *Units) load(name string) (*unitFile, bool) {
	files := []string{name}
	if at := strings.IndexByte(name, '@'); at >= 0 {
		files = append(files, name[:at+1]+path.Ext(name))
	}
	for _, file := range files {
		for _, dir := range unitFolders {
			full := path.Join(dir, file)
			b, err := u.h.o.Disk.ReadFile(full)
			if err != nil {
				continue
			}
			f := &unitFile{path: full, name: name, values: map[string][]string{}}
			f.read(string(b))
			if list, err := u.h.o.Disk.ReadDir(full + ".d"); err == nil {
				for _, e := range list {
					if more, err := u.h.o.Disk.ReadFile(path.Join(full+".d", e.Name())); err == nil && strings.HasSuffix(e.Name(), ".conf") {
						f.read(string(more))
					}
				}
			}
			return f, true
		}
	}
	return nil, false
}

func (f *unitFile) read(text string) {
	section := ""
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok {
				continue
			}
			key, value = section+"."+strings.TrimSpace(key), strings.TrimSpace(value)
			if value == "" {
				delete(f.values, key)
				continue
			}
			f.values[key] = append(f.values[key], f.specifiers(value))
		}
	}
}

// specifiers replaces what a unit's name gives (systemd.unit(5)).
func (f *unitFile) specifiers(s string) string {
	base := strings.TrimSuffix(f.name, path.Ext(f.name))
	prefix, instance, _ := strings.Cut(base, "@")
	return strings.NewReplacer("%%", "%", "%i", instance, "%I", unescape(instance), "%n", f.name, "%N", base, "%p", prefix).Replace(s)
}

func (f *unitFile) last(key string) string {
	if v := f.values[key]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// unknown tells of a command or condition that would be left out.
func (f *unitFile) unknown() error {
	for _, key := range slices.Sorted(maps.Keys(f.values)) {
		switch key {
		case "Service.ExecStart", "Service.ExecStop", "Unit.ConditionPathExists":
			continue
		}
		if strings.HasPrefix(key, "Service.Exec") || strings.HasPrefix(key, "Unit.Condition") || strings.HasPrefix(key, "Unit.Assert") || key == "Service.EnvironmentFile" {
			return fmt.Errorf("%s of %s is not simulated", key, f.name)
		}
	}
	return nil
}

func (f *unitFile) list(key string) []string {
	var list []string
	for _, v := range f.values[key] {
		list = append(list, strings.Fields(v)...)
	}
	return list
}

func (f *unitFile) yes(key string) bool {
	switch f.last(key) {
	case "yes", "true", "on", "1":
		return true
	}
	return false
}

// words splits a command line as systemd does: quotes group, backslashes escape.
func words(s string) ([]string, error) {
	var list []string
	var b strings.Builder
	open, some := byte(0), false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			text, n := escape(s[i:])
			b.WriteString(text)
			i += n - 1
			some = true
		case open != 0:
			if c == open {
				open = 0
			} else {
				b.WriteByte(c)
			}
		case c == '"' || c == '\'':
			open, some = c, true
		case c == ' ' || c == '\t':
			if some {
				list = append(list, b.String())
				b.Reset()
				some = false
			}
		case c == '$' && i+1 < len(s) && s[i+1] == '$':
			i++
			b.WriteByte('$')
			some = true
		default:
			b.WriteByte(c)
			some = true
		}
	}
	if open != 0 {
		return nil, fmt.Errorf("unbalanced quotes in %q", s)
	}
	if some {
		list = append(list, b.String())
	}
	return list, nil
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '-':
			b.WriteByte('/')
		case s[i] == '\\' && i+3 < len(s) && s[i+1] == 'x':
			n, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
			if err != nil {
				b.WriteByte(s[i])
				continue
			}
			b.WriteByte(byte(n))
			i += 3
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// span reads a length of time as systemd.time(7) has it: "90", "10min", "1h 30s".
func span(s string) (time.Duration, error) {
	total := time.Duration(0)
	rest := strings.TrimSpace(s)
	if rest == "" {
		return 0, fmt.Errorf("no length of time")
	}
	for rest != "" {
		n := 0
		for n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.') {
			n++
		}
		value, err := strconv.ParseFloat(rest[:n], 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no length of time", s)
		}
		rest = strings.TrimLeft(rest[n:], " ")
		n = 0
		for n < len(rest) && (rest[n] >= 'a' && rest[n] <= 'z' || rest[n] == 'M') {
			n++
		}
		unit, ok := map[string]time.Duration{
			"": time.Second, "s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second, "m": time.Minute, "min": time.Minute, "minute": time.Minute,
			"minutes": time.Minute, "h": time.Hour, "hr": time.Hour, "hour": time.Hour, "hours": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
			"ms": time.Millisecond, "msec": time.Millisecond, "us": time.Microsecond, "usec": time.Microsecond, "w": 7 * 24 * time.Hour,
		}[rest[:n]]
		if !ok {
			return 0, fmt.Errorf("%q is no unit of time", rest[:n])
		}
		total += time.Duration(value * float64(unit))
		rest = strings.TrimLeft(rest[n:], " ")
	}
	return total, nil
}

// calendar reads one point in time: "2026-11-21 20:15:00", with " UTC" or without,
// or "@SECONDS". Repeating events are not simulated.
func calendar(s string) (time.Time, error) {
	if n, ok := strings.CutPrefix(s, "@"); ok {
		v, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("%q is no point in time", s)
		}
		return time.Unix(v, 0).UTC(), nil
	}
	t, err := time.ParseInLocation(time.DateTime, strings.TrimSuffix(s, " UTC"), time.UTC)
	if err != nil {
		return t, fmt.Errorf("%q is no single point in time; only those are simulated", s)
	}
	return t, nil
}
