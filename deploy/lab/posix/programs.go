package posix

import (
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/lab"
)

// basic are the programs that every machine has.
var basic = map[string]Program{
	"install": install, "cp": cp, "mv": mv, "rm": rm, "mkdir": mkdir, "rmdir": rmdir, "touch": touch, "ln": ln, "chmod": chmod, "chown": succeed, "chgrp": succeed,
	"readlink": readlink, "realpath": readlink, "stat": stat, "cmp": compareFiles, "diff": diff, "mktemp": mktemp, "df": df, "du": du, "find": find, "ls": ls, "sync": syncDisk,
	"sha256sum": sha256sum, "cat": cat, "tee": tee, "grep": grep, "egrep": grep, "sort": sortLines, "uniq": uniq, "cut": cut, "head": headTail, "tail": headTail,
	"tr": tr, "wc": wc, "sed": sed, "awk": awk, "basename": baseName, "dirname": dirName, "bash": bash, "sh": bash, "sudo": sudo, "env": env, "setsid": detached,
	"nohup": detached, "flock": flock, "sleep": sleep, "timeout": timeout, "date": date, "id": id, "whoami": whoami, "hostname": hostname, "uname": uname,
	"true": succeed, "false": failed, "logger": succeed, "seq": seq, "printf": func(ctx context.Context, p *Proc) int { return printf(ctx, p) }, "nproc": func(_ context.Context, p *Proc) int { p.outf("8\n"); return 0 },
	"kill": func(ctx context.Context, p *Proc) int { return kill(ctx, p) }, "uptime": uptime, "reboot": reboot, "systemctl": systemctl, "systemd-run": systemdRun,
	"systemd-escape": systemdEscape, "udevadm": udevadm, "journalctl": journalctl, "nice": nice, "ionice": nice, "echo": echo, "xargs": xargs, "base64": base64Lines,
}

func succeed(context.Context, *Proc) int { return 0 }
func failed(context.Context, *Proc) int  { return 1 }

// syncDisk has nothing to do: what is written is on the disk.
func syncDisk(_ context.Context, p *Proc) int {
	code := 0
	for _, name := range p.Args {
		if strings.HasPrefix(name, "-") {
			continue
		}
		if _, err := p.Host.o.Disk.Stat(p.abs(name)); err != nil {
			code = p.cannot("error opening '%s'", name, err)
		}
	}
	return code
}

func baseName(_ context.Context, p *Proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return p.Fail("basename: missing operand")
	}
	base := path.Base(args[0])
	if args[0] == "" {
		base = ""
	}
	if len(args) > 1 && base != args[1] {
		base = strings.TrimSuffix(base, args[1])
	}
	p.outf("%s\n", base)
	return 0
}

func dirName(_ context.Context, p *Proc) int {
	args := p.Args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	for _, a := range args {
		p.outf("%s\n", path.Dir(a))
	}
	return 0
}

// bash runs a script, or with -c a text.
func bash(ctx context.Context, p *Proc) int {
	args := p.Args
	set := ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if flags := strings.Trim(args[0], "-c"); flags != "" && strings.Trim(flags, "eux") == "" { // of set
			set = "set -" + flags + "\n"
			args = slices.Clone(args)
			args[0] = map[bool]string{true: "-c", false: "--"}[strings.Contains(args[0], "c")]
		}
		switch args[0] {
		case "-c", "-lc":
			if len(args) < 2 {
				p.errf("bash: -c: option requires an argument\n")
				return 2
			}
			name, rest := "bash", args[2:]
			if len(rest) > 0 {
				name, rest = rest[0], rest[1:]
			}
			return p.Host.shell(ctx, p, name, []byte(set+args[1]), rest)
		case "-s", "-":
			b, _ := p.read("-")
			c := *p
			c.Stdin = nil
			return p.Host.shell(ctx, &c, "bash", b, args[1:])
		case "-n":
			b, err := p.read(strings.Join(args[1:], ""))
			if err == nil {
				_, err = parse(args[1], b)
			}
			if err != nil {
				return p.Fail("bash: %v", err)
			}
			return 0
		case "--", "-l", "--norc", "--noprofile", "--login":
		default:
			p.errf("bash: %s: invalid option\n", args[0])
			return 2
		}
		args = args[1:]
	}
	if len(args) == 0 {
		b, _ := p.read("-")
		c := *p
		c.Stdin = nil
		return p.Host.shell(ctx, &c, "bash", b, nil)
	}
	b, err := p.read(args[0])
	if err != nil {
		p.errf("bash: %s: %s\n", args[0], reason(err))
		return 127
	}
	return p.Host.shell(ctx, p, args[0], append([]byte(set), b...), args[1:])
}

// sudo: the user may do all, without a password.
func sudo(ctx context.Context, p *Proc) int {
	o, err := parseOptions(p.Args, "nEHSku:", false)
	if err != nil {
		return p.usage(err)
	}
	c := *p
	c.Env = maps.Clone(p.Env)
	if !o.has("E") {
		c.Env = map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": p.Env["LANG"], "SUDO_USER": p.Env["USER"]}
	}
	if u := o.value("u"); u != "" && u != "root" {
		return p.Fail("sudo: only the user root is simulated, not %s", u)
	}
	c.Env["USER"], c.Env["LOGNAME"], c.Env["HOME"] = "root", "root", "/root"
	rest := o.rest
	for len(rest) > 0 {
		name, value, ok := strings.Cut(rest[0], "=")
		if !ok || strings.ContainsAny(name, "/ ") {
			break
		}
		c.Env[name], rest = value, rest[1:]
	}
	if len(rest) == 0 {
		if o.has("k") {
			return 0
		}
		return p.Fail("usage: sudo [-n] command")
	}
	return c.exec(ctx, rest)
}

func env(ctx context.Context, p *Proc) int {
	c := *p
	c.Env = maps.Clone(p.Env)
	args := p.Args
	for len(args) > 0 {
		if args[0] == "-i" {
			c.Env = map[string]string{}
		} else if name, value, ok := strings.Cut(args[0], "="); ok {
			c.Env[name] = value
		} else {
			break
		}
		args = args[1:]
	}
	if len(args) == 0 {
		for _, name := range slices.Sorted(maps.Keys(c.Env)) {
			p.outf("%s=%s\n", name, c.Env[name])
		}
		return 0
	}
	if c.Env["PATH"] == "" {
		c.Env["PATH"] = "/usr/bin:/bin"
	}
	return c.exec(ctx, args)
}

func nice(ctx context.Context, p *Proc) int {
	o, err := parseOptions(p.Args, "n:c:", false)
	if err != nil || len(o.rest) == 0 {
		return p.Fail("%s: missing operand", p.Name)
	}
	c := *p
	return c.exec(ctx, o.rest)
}

// detached is setsid and nohup: what they run outlives who started it.
func detached(ctx context.Context, p *Proc) int {
	args := p.Args
	fork := false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		fork = fork || strings.Contains(args[0], "f")
		args = args[1:]
	}
	if len(args) == 0 {
		return p.Fail("%s: missing operand", p.Name)
	}
	c := *p
	life := p.Host.Life()
	if fork {
		c.Stdin = nil
		p.Host.spawn(func() { c.exec(life, args) })
		return 0
	}
	done := make(chan int, 1)
	if !p.Host.spawn(func() { done <- c.exec(life, args) }) {
		return 255
	}
	return <-done
}

func flock(ctx context.Context, p *Proc) int {
	o, err := parseOptions(p.Args, "xesnuw:E:oFc: exclusive shared nonblock nb unlock wait: timeout: conflict-exit-code: close no-fork command:", false)
	if err != nil || len(o.rest) == 0 && !o.has("c") {
		p.errf("flock: requires file descriptor, file or directory\n")
		return 64
	}
	wait := time.Duration(-1)
	if o.has("n", "nonblock", "nb") {
		wait = 0
	}
	if w := o.value("w", "wait", "timeout"); w != "" {
		s, err := strconv.ParseFloat(w, 64)
		if err != nil {
			p.errf("flock: invalid timeout value: '%s'\n", w)
			return 64
		}
		wait = time.Duration(s * float64(time.Second))
	}
	busy := 1
	if c := o.value("E", "conflict-exit-code"); c != "" {
		busy, _ = strconv.Atoi(c)
	}
	h := p.Host
	shared := o.has("s", "shared")
	if len(o.rest) == 1 && !o.has("c", "command") { // of a file that the shell has open
		if p.sh == nil {
			return 65
		}
		name, ok := p.sh.file(o.rest[0])
		if !ok {
			p.errf("flock: %s: Bad file descriptor\n", o.rest[0])
			return 65
		}
		if o.has("u", "unlock") {
			h.mu.Lock()
			h.unlock(name, p.sh.pid)
			h.mu.Unlock()
			return 0
		}
		if err := h.lock(ctx, name, p.sh.pid, shared, wait); err != nil {
			return busy
		}
		return 0
	}
	name := p.abs(o.rest[0])
	if f, err := h.o.Disk.OpenFile(name, lab.OpenWrite|lab.OpenCreate, 0o644); err == nil {
		_ = f.Close()
	} else if info, e := h.o.Disk.Stat(name); e != nil || !info.IsDir() {
		p.errf("flock: cannot open lock file %s: %s\n", o.rest[0], reason(err))
		return 66
	}
	if err := h.lock(ctx, name, p.PID, shared, wait); err != nil {
		return busy
	}
	args := o.rest[1:]
	if c := o.value("c", "command"); c != "" {
		args = []string{"sh", "-c", c}
	} else if len(args) == 2 && args[0] == "-c" {
		args = []string{"sh", "-c", args[1]}
	}
	c := *p
	return c.exec(ctx, args)
}

// User is whose process it is.
func (p *Proc) User() string {
	if u := p.Env["USER"]; u != "" {
		return u
	}
	return "root"
}

func id(_ context.Context, p *Proc) int {
	o, err := p.parse("ungGr user name group")
	if err != nil {
		return p.usage(err)
	}
	number, name := "0", p.User()
	if name != "root" {
		number = "1000"
	}
	switch {
	case o.has("n", "name"):
		p.outf("%s\n", name)
	case o.has("u", "g", "G", "user", "group"):
		p.outf("%s\n", number)
	default:
		p.outf("uid=%s(%s) gid=%s(%s) groups=%s(%s)\n", number, name, number, name, number, name)
	}
	return 0
}

func whoami(_ context.Context, p *Proc) int {
	p.outf("%s\n", p.User())
	return 0
}

func hostname(_ context.Context, p *Proc) int {
	name := p.Host.o.Name
	if len(p.Args) > 0 {
		switch p.Args[0] {
		case "-s", "--short":
			name, _, _ = strings.Cut(name, ".")
		case "-f", "--fqdn":
		default:
			return p.Fail("hostname: %s: only -s and -f are simulated", p.Args[0])
		}
	}
	p.outf("%s\n", name)
	return 0
}

// Release is the kernel that machines say they run.
const Release = "6.8.0-48-generic"

func uname(_ context.Context, p *Proc) int {
	o, err := p.parse("rsnma")
	if err != nil {
		return p.usage(err)
	}
	var words []string
	for _, w := range [][2]string{{"s", "Linux"}, {"n", p.Host.o.Name}, {"r", Release}, {"m", "x86_64"}} {
		if o.has(w[0], "a") || w[0] == "s" && len(o.set) == 0 {
			words = append(words, w[1])
		}
	}
	p.outf("%s\n", strings.Join(words, " "))
	return 0
}

func reboot(ctx context.Context, p *Proc) int {
	go p.Host.Reboot()
	<-ctx.Done()
	return 143
}

func seq(ctx context.Context, p *Proc) int {
	n := []int{1, 1, 1} // first, step, last
	for i, a := range p.Args {
		v, err := strconv.Atoi(a)
		if err != nil || i > 2 {
			return p.Fail("seq: invalid floating point argument: ‘%s’", a)
		}
		switch len(p.Args) {
		case 1:
			n[2] = v
		case 2:
			n[i*2] = v
		default:
			n[i] = v
		}
	}
	if len(p.Args) == 0 || n[1] == 0 {
		return p.Fail("seq: missing operand")
	}
	for v := n[0]; ctx.Err() == nil && (n[1] > 0 && v <= n[2] || n[1] < 0 && v >= n[2]); v += n[1] {
		p.outf("%d\n", v)
		if n[1] > 0 && v > n[2]-n[1] || n[1] < 0 && v < n[2]-n[1] {
			break // the next one may be none
		}
	}
	return 0
}

func xargs(ctx context.Context, p *Proc) int {
	o, err := parseOptions(p.Args, "0rn: null no-run-if-empty max-args:", false)
	if err != nil {
		return p.usage(err)
	}
	b, _ := p.read("-")
	words := strings.Fields(string(b))
	if o.has("0", "null") {
		words = strings.FieldsFunc(string(b), func(r rune) bool { return r == 0 })
	}
	if len(words) == 0 && o.has("r", "no-run-if-empty") {
		return 0
	}
	args := o.rest
	if len(args) == 0 {
		args = []string{"echo"}
	}
	most := max(len(words), 1)
	if text := o.value("n", "max-args"); text != "" {
		if most, err = strconv.Atoi(text); err != nil || most < 1 {
			return p.Fail("xargs: invalid number for -n option: \"%s\"", text)
		}
	}
	code := 0
	for {
		some := words[:min(most, len(words))]
		c := *p
		c.Stdin = nil
		if c.exec(ctx, slices.Concat(args, some)) != 0 {
			code = 123
		}
		if words = words[len(some):]; len(words) == 0 {
			return code
		}
	}
}

// Basic is a program that every machine has, for one that does more.
func Basic(name string) Program { return basic[name] }
