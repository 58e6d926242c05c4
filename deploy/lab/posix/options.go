package posix

import (
	"fmt"
	"strings"
)

// options are what a program was told before and between its operands.
type options struct {
	set  map[string]string // by letter or long name; "" where it takes no value
	seen []string          // in their order
	rest []string
}

func (o options) has(names ...string) bool {
	for _, n := range names {
		if _, ok := o.set[n]; ok {
			return true
		}
	}
	return false
}

func (o options) value(names ...string) string {
	for _, n := range names {
		if v, ok := o.set[n]; ok {
			return v
		}
	}
	return ""
}

// Parse reads options as getopt_long does: spec is the letters and, after
// blanks, the long names; a colon behind one says that it takes a value.
func (p *Proc) parse(spec string) (options, error) {
	return parseOptions(p.Args, spec, true)
}

// parseOptions reads options; mixed allows them behind operands.
func parseOptions(args []string, spec string, mixed bool) (options, error) {
	letters, longs, _ := strings.Cut(spec, " ")
	o := options{set: map[string]string{}}
	put := func(name, value string) {
		if old, ok := o.set[name]; ok && old != "" && value != "" {
			value = old + "\n" + value
		}
		o.set[name] = value
		o.seen = append(o.seen, name)
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			o.rest = append(o.rest, args[i+1:]...)
			return o, nil
		case strings.HasPrefix(a, "--"):
			name, value, given := strings.Cut(a[2:], "=")
			found := ""
			for l := range strings.FieldsSeq(longs) {
				if strings.TrimSuffix(l, ":") == name {
					found = l
				}
			}
			switch {
			case found == "":
				return o, fmt.Errorf("unrecognized option '--%s'", name)
			case !strings.HasSuffix(found, ":"):
				if given {
					return o, fmt.Errorf("option '--%s' doesn't allow an argument", name)
				}
			case !given:
				if i++; i == len(args) {
					return o, fmt.Errorf("option '--%s' requires an argument", name)
				}
				value = args[i]
			}
			put(name, value)
		case len(a) > 1 && a[0] == '-':
			for j := 1; j < len(a); j++ {
				at := strings.IndexByte(letters, a[j])
				if at < 0 || a[j] == ':' {
					return o, fmt.Errorf("invalid option -- '%c'", a[j])
				}
				if at+1 == len(letters) || letters[at+1] != ':' {
					put(a[j:j+1], "")
					continue
				}
				value := a[j+1:]
				if value == "" {
					if i++; i == len(args) {
						return o, fmt.Errorf("option requires an argument -- '%c'", a[j])
					}
					value = args[i]
				}
				put(a[j:j+1], value)
				break
			}
		default:
			if !mixed {
				o.rest = append(o.rest, args[i:]...)
				return o, nil
			}
			o.rest = append(o.rest, a)
		}
	}
	return o, nil
}

// usage reports wrong options.
func (p *Proc) usage(err error) int {
	p.errf("%s: %v\nTry '%s --help' for more information.\n", p.Name, err, p.Name)
	return 1
}
