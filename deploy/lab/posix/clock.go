package posix

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/lab"
)

// seconds reads a length of time as sleep and timeout do.
func seconds(s string) (time.Duration, error) {
	unit := time.Second
	if s != "" {
		switch s[len(s)-1] {
		case 's':
			s = s[:len(s)-1]
		case 'm':
			unit, s = time.Minute, s[:len(s)-1]
		case 'h':
			unit, s = time.Hour, s[:len(s)-1]
		case 'd':
			unit, s = 24*time.Hour, s[:len(s)-1]
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n > 1e9 {
		return 0, errors.New("invalid time interval")
	}
	return time.Duration(n * float64(unit)), nil
}

func sleep(ctx context.Context, p *Proc) int {
	if len(p.Args) == 0 {
		return p.Fail("sleep: missing operand")
	}
	total := time.Duration(0)
	for _, a := range p.Args {
		d, err := seconds(a)
		if err != nil {
			return p.Fail("sleep: invalid time interval ‘%s’", a)
		}
		total += d
	}
	if lab.Sleep(ctx, p.Host.o.Clock, total) != nil {
		return 143
	}
	return 0
}

func timeout(ctx context.Context, p *Proc) int {
	o, err := parseOptions(p.Args, "k:s:v kill-after: signal: foreground", false)
	if err != nil || len(o.rest) < 2 {
		p.errf("timeout: missing operand\n")
		return 125
	}
	d, err := seconds(o.rest[0])
	if err != nil {
		p.errf("timeout: invalid time interval ‘%s’\n", o.rest[0])
		return 125
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	late := make(chan struct{})
	if d > 0 {
		defer p.Host.o.Clock.AfterFunc(d, func() { close(late); cancel() })()
	}
	c := *p
	code := c.exec(inner, o.rest[1:])
	select {
	case <-late:
		return 124
	default:
		return code
	}
}

func date(_ context.Context, p *Proc) int {
	o, err := p.parse("ud: utc date:")
	if err != nil {
		return p.usage(err)
	}
	at := p.Host.o.Clock.Now().UTC()
	if d := o.value("d", "date"); d != "" {
		n, err := strconv.ParseInt(strings.TrimPrefix(d, "@"), 10, 64)
		if err != nil || d[0] != '@' {
			return p.Fail("date: invalid date ‘%s’: only @SECONDS is simulated", d)
		}
		at = time.Unix(n, 0).UTC()
	}
	format := "%a %b %e %H:%M:%S %Z %Y"
	if len(o.rest) > 0 {
		if o.rest[0] == "" || o.rest[0][0] != '+' {
			return p.Fail("date: invalid date ‘%s’", o.rest[0])
		}
		format = o.rest[0][1:]
	}
	p.outf("%s\n", strftime(at, format))
	return 0
}

// strftime writes a time by the letters of strftime(3).
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch format[i] {
		case 's':
			b.WriteString(strconv.FormatInt(t.Unix(), 10))
		case 'N':
			b.WriteString(pad(t.Nanosecond(), 9))
		case 'F':
			b.WriteString(t.Format("2006-01-02"))
		case 'T':
			b.WriteString(t.Format("15:04:05"))
		case 'R':
			b.WriteString(t.Format("15:04"))
		case 'j':
			b.WriteString(pad(t.YearDay(), 3))
		case '%':
			b.WriteByte('%')
		default:
			layout, ok := map[byte]string{
				'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'M': "04", 'S': "05", 'Z': "MST", 'z': "-0700", 'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January",
			}[format[i]]
			if !ok {
				b.WriteString("%" + format[i:i+1])
				continue
			}
			b.WriteString(t.Format(layout))
		}
	}
	return b.String()
}

func pad(n, width int) string {
	s := strconv.Itoa(n)
	return strings.Repeat("0", max(width-len(s), 0)) + s
}

func uptime(_ context.Context, p *Proc) int {
	o, err := p.parse("sp since pretty")
	if err != nil {
		return p.usage(err)
	}
	if o.has("s", "since") {
		p.outf("%s\n", p.Host.Booted().UTC().Format(time.DateTime))
		return 0
	}
	p.outf("up %d minutes\n", int(p.Host.o.Clock.Now().Sub(p.Host.Booted())/time.Minute))
	return 0
}
