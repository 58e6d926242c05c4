// Package powershell runs scripts of Windows PowerShell 5.1 in process, for
// simulated hosts: the part of the language that the scripts for Windows use,
// in strict mode. It takes a script, what the cmdlets of the host are (Host) and
// where its files lie, and returns the exit code. What it does not know fails as
// an unknown command or a syntax error does in PowerShell. Left out are remoting,
// jobs, classes, modules and formatting. What a cmdlet throws ends the run only
// under -ErrorAction Stop; all other errors do unless they are caught, as under an
// ErrorActionPreference of Stop.
package powershell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Host is what a script finds around it.
type Host struct {
	// Cmdlets and Natives are by name in lower case, with ".exe"; Statics are by
	// type and member: "system.io.file::open".
	Cmdlets map[string]func(*Call) []any
	Natives map[string]func(r *Runner, args []string) (lines []string, code int)
	Statics map[string]func(r *Runner, args []any) any
	// Command, when not nil, is asked before every cmdlet. What it throws is the
	// cmdlet's error; the cmdlet is left out where it says so.
	Command func(*Call) (instead bool)
	// Switches are parameters that take no value, in lower case, of any cmdlet.
	Switches func(cmdlet, parameter string) bool
	// Function tells of a cmdlet that is a function of a module: preferences that a
	// script sets for itself do not reach it (PowerShell/PowerShell#4568).
	Function func(cmdlet string) bool
	// Idle are parameters by cmdlet, in lower case, that may be given and change
	// nothing that is simulated.
	Idle    map[string][]string
	Files   Files
	Scripts *Scripts          // that were read; nil: none are kept
	Env     map[string]string // names in lower case
	// Now is the time of the clock on the wall, Sleep waits.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// Files are what scripts read and write. Paths are absolute and begin with a
// drive: `C:\a\b`. Errors are those of package fs.
type Files interface {
	ReadFile(path string) ([]byte, error)
	WriteFile(path string, data []byte) error
	MkdirAll(path string) error
	Remove(path string) error
	Rename(from, to string) error
	// Stat reports whether there is something, and whether that is a folder.
	Stat(path string) (dir, there bool)
	// List is the names in a folder, sorted.
	List(path string) ([]string, error)
}

// Trees are files of which a folder can be removed with all that is in it.
type Trees interface{ RemoveAll(path string) error }

// Runner runs scripts, one after the other. Values are nil, bool, int64, string,
// []any, *Object, *Block, Time, Span and whatever cmdlets keep for themselves.
type Runner struct {
	Host
	Ctx context.Context
	Dir string // the current folder
	// Out takes what goes to the pipeline and Say what Write-Host says, line by
	// line; Err what goes to the standard error. Nil ones take nothing.
	Out func(value any)
	Say func(line string)
	Err func(line string)
	// Mistakes are commands and parameters that PowerShell does not know, also
	// those whose error was caught.
	Mistakes []string

	builtins map[string]func(*Call) []any
	funcs    map[string]*Block
	scope    *scope // the innermost
	script   *scope
	global   *scope
	merged   []*[]any // where Write-Host goes, the innermost last
	open     []*stream
	depth    int
	well     bool     // $?: the last command did
	broken   bool     // the last loop was left by break
	caught   []thrown // what is being caught, the innermost last
}

type scope struct {
	vars map[string]any
	up   *scope
}

type (
	thrown struct {
		message, id string
		ends        bool // a mistake of the script and not of a cmdlet: it ends the statement
	}
	exited struct {
		code int
		out  []any // what the script had put out in the statement that ended it
	}
	returned struct{ out []any }
	jumped   struct{ word string }
	ended    struct{ err error } // the process was killed
)

// deepestCall is how deep functions may call each other, as PowerShell has a limit too.
const deepestCall = 200

// Throw ends the statement that runs with an error, as a cmdlet does.
func Throw(format string, args ...any) { panic(thrown{message: fmt.Sprintf(format, args...)}) }

// RunFile runs a script as powershell.exe -File does.
func (r *Runner) RunFile(path string, params map[string]any) int {
	return r.guard(func() {
		if _, there := r.Files.Stat(r.Path(path)); !there {
			r.say(r.Err, fmt.Sprintf("The argument '%s' to the -File parameter does not exist. Provide the path to an existing '.ps1' file as an argument to the -File parameter.", path))
			panic(exited{code: -196608})
		}
		if code, exits := r.runScript(path, params, nil, r.emit); exits {
			panic(exited{code: code})
		}
	})
}

// RunText runs a text as powershell.exe -Command does: where it does not exit, the
// code is that of $?.
func (r *Runner) RunText(src string) int {
	return r.guard(func() {
		b, err := Parse(src)
		if err != nil {
			panic(thrown{message: err.Error(), id: "ParserError"})
		}
		for _, n := range b.Body {
			r.emit(r.statement(n))
		}
		if !r.well {
			panic(exited{code: 1})
		}
	})
}

// guard runs the outermost part of a script. What panics besides is a defect of
// this package or of a cmdlet, and is passed on.
func (r *Runner) guard(f func()) (code int) {
	if r.Ctx == nil {
		r.Ctx = context.Background()
	}
	r.global = &scope{vars: map[string]any{
		"true": true, "false": false, "null": nil, "whatifpreference": false, "erroractionpreference": "Continue", "pshome": `C:\Windows\System32\WindowsPowerShell\v1.0`,
	}}
	if r.builtins == nil {
		r.builtins = builtins()
	}
	r.funcs, r.merged, r.caught, r.depth = map[string]*Block{}, nil, nil, 0
	r.script, r.scope, r.well = r.global, r.global, true
	defer func() {
		x := recover()
		for _, f := range r.open {
			f.release()
		}
		r.open = nil
		switch x := x.(type) {
		case nil:
		case exited:
			r.emit(x.out)
			code = x.code
		case returned:
			r.emit(x.out)
		case thrown:
			r.tell(x)
			code = 1
		case jumped:
		case ended:
			code = 1
		default:
			panic(x)
		}
	}()
	f()
	return 0
}

// tell writes an error to the standard error.
func (r *Runner) tell(t thrown) {
	r.say(r.Err, t.message)
	if t.id != "" {
		r.say(r.Err, "    + FullyQualifiedErrorId : "+t.id)
	}
}

func (r *Runner) emit(out []any) {
	if r.Out == nil {
		return
	}
	for _, v := range out {
		if v == nil {
			continue // prints nothing
		}
		r.Out(v)
	}
}

func (r *Runner) say(to func(string), line string) {
	if to != nil {
		to(line)
	}
}

// Killed ends the run where the process was ended.
func (r *Runner) Killed() {
	if err := r.Ctx.Err(); err != nil {
		panic(ended{err})
	}
}

// runScript runs a script in a scope of its own. It ends by itself, or exits
// with a code, which is that of the process only where the script is all that runs.
func (r *Runner) runScript(path string, params map[string]any, rest []any, emit func([]any)) (code int, exits bool) {
	full := r.Path(path)
	text, err := r.Files.ReadFile(full)
	if err != nil {
		r.unknown(path)
	}
	b, err := r.Scripts.Parse(string(text))
	if err != nil {
		panic(thrown{message: fmt.Sprintf("At %s: %v", full, err), id: "ParserError"})
	}
	if len(rest) > 0 {
		r.mistake("A positional parameter cannot be found that accepts argument '%s'.", String(rest[0]))
	}
	inner := &scope{vars: map[string]any{"psscriptroot": parent(full), "pscommandpath": full, "whatifpreference": false}, up: r.global}
	funcs, script, outer := r.funcs, r.script, r.scope
	r.funcs, r.script, r.scope = map[string]*Block{}, inner, inner
	defer func() {
		r.funcs, r.script, r.scope = funcs, script, outer
		switch x := recover().(type) {
		case nil:
		case exited:
			emit(x.out)
			code, exits = x.code, true
		case returned:
			emit(x.out)
		default:
			panic(x)
		}
	}()
	r.bind(&b.signature, params)
	for _, n := range b.Body {
		emit(r.statement(n))
	}
	return 0, false
}

// unknown is the error of a name that is no command.
func (r *Runner) unknown(name string) {
	r.Mistakes = append(r.Mistakes, "unknown command "+name)
	panic(thrown{
		message: fmt.Sprintf("The term '%s' is not recognized as the name of a cmdlet, function, script file, or operable program. Check the spelling of the name, or if a path was included, verify that the path is correct and try again.", name),
		id:      "CommandNotFoundException", ends: true,
	})
}

func (r *Runner) mistake(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.Mistakes = append(r.Mistakes, text)
	panic(thrown{text, "ParameterBindingException", true})
}

// Mistake throws the error of a parameter that a cmdlet does not take.
func (c *Call) Mistake(format string, args ...any) { c.r.mistake(format, args...) }

// Path is the absolute path of a name, with backslashes and without "." and "..".
func (r *Runner) Path(name string) string {
	name = strings.ReplaceAll(name, "/", `\`)
	if !(len(name) > 1 && name[1] == ':') {
		if strings.HasPrefix(name, `\`) {
			name = r.Dir[:2] + name
		} else {
			name = r.Dir + `\` + name
		}
	}
	var parts []string
	for _, p := range strings.Split(name[2:], `\`) {
		switch {
		case p == "" || p == ".":
		case p == "..":
			parts = parts[:max(0, len(parts)-1)]
		default:
			parts = append(parts, p)
		}
	}
	return strings.ToUpper(name[:1]) + `:\` + strings.Join(parts, `\`)
}

func parent(path string) string {
	i := strings.LastIndexByte(path, '\\')
	if i <= 2 {
		return path[:min(3, len(path))]
	}
	return path[:i]
}

// Call is one call of a cmdlet.
type Call struct {
	Name  string         // in lower case
	Named map[string]any // by parameter, in lower case; cmdlets read them by Arg
	Rest  []any          // by position
	Input []any          // what is piped in; nil for no pipeline
	r     *Runner
	read  map[string]bool // parameters that the cmdlet asked for
}

// Runner runs the script that calls.
func (c *Call) Runner() *Runner { return c.r }

// Arg is an argument, nil where there is none. What a cmdlet is given and does not
// ask for is a mistake of the simulation, unless it is in Host.Idle.
func (c *Call) Arg(name string) any {
	c.read[name] = true
	return c.Named[name]
}

// Str is an argument as a string.
func (c *Call) Str(name string) string { return String(c.Arg(name)) }

// Has reports whether a parameter was given; a switch is where it is not $false.
func (c *Call) Has(name string) bool {
	v, ok := c.Named[name]
	c.read[name] = true
	return ok && v != false
}

// action is what the caller wants where the cmdlet fails, in lower case.
func (c *Call) action() string {
	if v, ok := c.Named["erroraction"]; ok {
		return strings.ToLower(String(v))
	}
	if c.r.Function != nil && c.r.Function(c.Name) {
		return strings.ToLower(String(c.r.global.vars["erroractionpreference"]))
	}
	return strings.ToLower(String(c.r.lookup("", "erroractionpreference")))
}

// Silent reports whether the caller wants no error.
func (c *Call) Silent() bool {
	return slices.Contains([]string{"silentlycontinue", "ignore"}, c.action())
}
