// Command rocec compiles the description of an RDMA fabric into what each of
// its devices needs, proves every cable's two ends against each other, and
// plans and hands over the changes. One file per command; everything that
// knows something lives in the packages it calls.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func main() {
	os.Exit(process())
}

// process runs the program in the environment it was started in. Its first
// signal ends it with 130: at once while it reads and computes, after the write
// while it writes. A second one ends it wherever it is.
func process() int {
	ignoreFileSize()
	collectLess()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := newApp(os.Stdin, os.Stdout, os.Stderr, os.Environ())
	done := make(chan int, 1)
	go func() { done <- a.run(ctx, os.Args[1:]) }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	}
	stop()
	a.writing.Lock()
	if a.lock != nil {
		_ = a.lock.Unlock() // nobody is left to tell; the next run takes over what stays
	}
	select {
	case <-done:
		return interrupted
	default:
	}
	fmt.Fprintln(os.Stderr, "rocec: interrupted")
	return interrupted
}

// exit is a result that is not a failure to be described, or one that has been
// described already: the process ends with this code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// interrupted is the exit code of a run that a signal ended.
const interrupted = 130

func newApp(in io.Reader, out, errOut io.Writer, environ []string) *app {
	env := environment(environ)
	a := &app{in: in, env: env, trust: trustOf(env)}
	shown := func(to io.Writer) *sink {
		s := &sink{to: to, given: &a.given}
		s.screen.Color = func() bool { return a.colored(s) }
		return s
	}
	a.out, a.err = shown(out), shown(errOut)
	return a
}

// run is the whole program: arguments in, exit code out.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	a.args = args
	a.given.take(args, a.env)
	args, err := a.withExtra(root, args)
	if err == nil {
		root.SetArgs(normalise(root, args))
		root.SetIn(a.in)
		root.SetOut(a.out)
		root.SetErr(a.err)
		err = root.ExecuteContext(ctx)
	}
	// What was printed to a full disk or a closed pipe was not printed.
	if s, ok := a.out.(*sink); ok {
		if s.flush(); s.err != nil {
			err = fmt.Errorf("write output: %w", s.err)
		}
	}
	if s, ok := a.err.(*sink); ok {
		defer s.flush()
	}
	var code exit
	described := errors.As(err, &code)
	if a.stream != nil {
		if err != nil && !described {
			a.stream.failure(err)
			described, code = a.json, 1
		}
		if broken := a.stream.close(); broken != nil {
			described, err = false, broken
		}
	}
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return interrupted
	case described:
		return int(code)
	}
	fmt.Fprintf(a.err, "rocec: %s\n", strings.ReplaceAll(a.given.oneLine(err), "\n", "\n  "))
	return 1
}

// sink is a stream that people read: it shows what a terminal would obey, whoever
// prints it. It remembers that a write failed, which nobody who prints a line checks.
type sink struct {
	to     io.Writer
	given  *given
	mu     sync.Mutex
	screen diag.Screen
	err    error
}

// Write passes on to the stream what may be shown.
func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(b), s.exactly(s.screen.Show(s.given.show(b)))
}

// exactly passes on bytes as they are.
func (s *sink) exactly(b []byte) error {
	_, err := s.to.Write(b)
	if err != nil && s.err == nil {
		s.err = err
	}
	return err
}

// flush ends the stream.
func (s *sink) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rest := s.screen.Rest(); len(rest) > 0 {
		_ = s.exactly(rest)
	}
}

// exact is a stream for what is quoted for its reader already: source on its way
// through fmt, and the commands of a runner.
type exact struct{ to io.Writer }

// Write passes on bytes as they are.
func (e exact) Write(b []byte) (int, error) {
	s, ok := e.to.(*sink)
	if !ok {
		return e.to.Write(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(b), s.exactly(b)
}

// app is one run of the program.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      map[string]string
	trust    trust        // what source may do
	stream   *stream      // of --json and --json-into on the commands that stream
	writing  sync.Mutex   // held while files are exchanged: a signal waits for it
	lock     *record.Lock // of the record, while this run holds it
	claim    func() error // gives back the journals of a workspace; nil: not claimed

	args    []string // of this run, as they were given
	given   given    // the line ends in them
	started string   // the folder that it began in

	dialer session.Dialer // for tests: instead of SSH
	// For tests: instead of the constant and of the clock.
	settledFrom int
	now         func() time.Time
	after       func(time.Duration) <-chan time.Time

	chdir   string
	color   string
	noColor bool
	quiet   bool
	verbose bool
	json    bool
	jsonTo  string
}

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, e := range environ {
		if k, v, ok := strings.Cut(e, "="); ok {
			env[k] = v
		}
	}
	return env
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "rocec",
		Short: "Compile, prove and roll out the configuration of an RDMA fabric",
		Long: `rocec reads the description of a fabric (*.roce.hcl in the current folder), joins
both ends of every cable, proves every traffic class at every hop, and writes
what each device needs: SONiC tables, Cumulus patches, Windows and Linux host scripts.`,
		Example: `  rocec validate                      # is the fabric sound?
  rocec build --out-dir=out           # write every device's files
  rocec plan                          # what would change, against the record
  rocec explain ROCE301               # what a rule means, and what to do`,
		SilenceUsage: true, SilenceErrors: true, Version: version(),
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return errors.Join(a.trust.refuses(c), a.begin()) },
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	flags := root.PersistentFlags()
	flags.StringVar(&a.chdir, "chdir", "", "work in `DIR` instead of the current folder")
	flags.StringVar(&a.color, "color", "auto", "`WHEN` to use colour: auto, always, never")
	flags.BoolVar(&a.noColor, "no-color", false, "no colour")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print findings and results only")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "print more")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	flags.StringVar(&a.jsonTo, "json-into", "", "print JSON to `FILE` besides the text")
	a.trust.flags(flags)
	root.Flags().Bool("version", false, "print the version")
	for _, c := range a.commands() {
		root.AddCommand(c)
	}
	root.AddCommand(absentCommands()...)
	return root
}

func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.fmtCommand(), a.validateCommand(), a.lintCommand(), a.buildCommand(), a.planCommand(), a.applyCommand(), a.confirmCommand(), a.rollbackCommand(), a.verifyCommand(),
		a.showCommand(), a.explainCommand(), a.traceCommand(), a.whatifCommand(), a.graphCommand(), a.docCommand(), a.expandCommand(), a.consoleCommand(), a.testCommand(), a.capabilitiesCommand(), a.recordCommand(), a.unlockCommand(), a.labCommand(), a.versionCommand(), a.docsCommand(), environmentTopic(), exitTopic(), a.generateCommand(),
	}
}

// begin checks what all commands take and enters the working folder.
func (a *app) begin() error {
	if err := oneOf("color", a.color, "auto", "always", "never"); err != nil {
		return err
	}
	if a.chdir == "" {
		return nil
	}
	a.started, _ = os.Getwd() // "" is where processes begin that nobody tells
	if err := os.Chdir(a.chdir); err != nil {
		return fmt.Errorf("work in %s: %w", a.chdir, errors.Unwrap(err))
	}
	return nil
}

// write runs what exchanges files; a signal waits until it is done.
func (a *app) write(f func() error) error {
	a.writing.Lock()
	defer a.writing.Unlock()
	return f()
}

// colored reports whether a stream gets colour.
func (a *app) colored(w io.Writer) bool {
	switch {
	case a.noColor || a.color == "never" || a.json:
		return false
	case a.color == "always" || a.env["CLICOLOR_FORCE"] != "" && a.env["CLICOLOR_FORCE"] != "0":
		return true
	case a.env["NO_COLOR"] != "":
		return false
	}
	return terminal(w)
}

func terminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

func fileOf(w io.Writer) *os.File {
	if s, ok := w.(*sink); ok {
		w = s.to
	}
	f, _ := w.(*os.File)
	return f
}

// width is how wide text may be.
func (a *app) width(w io.Writer) int {
	if f := fileOf(w); f != nil {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 20 {
			return min(n, 120)
		}
	}
	return 100
}

// hint prints what to do next, for people only.
func (a *app) hint(format string, args ...any) {
	if a.quiet || a.json || a.env["ROCEC_IN_AUTOMATION"] != "" {
		return
	}
	fmt.Fprintf(a.out, "\n"+format+"\n", args...)
}
