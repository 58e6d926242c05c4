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
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}

// exit is a result that is not a failure to be described, or one that has been
// described already: the process ends with this code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// interrupted is the exit code of a run that a signal ended.
const interrupted = 130

// run is the whole program: arguments and streams in, exit code out.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer, environ []string) int {
	a := &app{in: in, out: out, err: errOut, env: environment(environ)}
	root := a.root()
	root.SetArgs(normalise(root, append(a.extraArgs("ROCEC_CLI_ARGS"), args...)))
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	var code exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		fmt.Fprintln(errOut, "rocec: interrupted")
		return interrupted
	}
	fmt.Fprintf(errOut, "rocec: %v\n", err)
	return 1
}

// app is one run of the program.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      map[string]string

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

// extraArgs are arguments from the environment.
func (a *app) extraArgs(name string) []string { return strings.Fields(a.env[name]) }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "rocec",
		Short: "Compile, prove and roll out the configuration of an RDMA fabric",
		Long: `rocec reads the description of a fabric (*.roce.hcl in the current folder), joins
both ends of every cable, proves every traffic class at every hop, and writes
what each device needs: SONiC tables, Windows NetQos scripts, Linux host files.`,
		Example: `  rocec validate                      # is the fabric sound?
  rocec build --out-dir=out           # write every device's files
  rocec plan                          # what would change, against the record
  rocec explain ROCE301               # what a rule means, and what to do`,
		SilenceUsage: true, SilenceErrors: true, Version: version(),
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
	root.Flags().Bool("version", false, "print the version")
	for _, c := range a.commands() {
		root.AddCommand(c)
	}
	return root
}

func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.fmtCommand(), a.validateCommand(), a.lintCommand(), a.buildCommand(), a.planCommand(), a.applyCommand(), a.verifyCommand(),
		a.showCommand(), a.explainCommand(), a.consoleCommand(), a.capabilitiesCommand(), a.recordCommand(), a.unlockCommand(), a.versionCommand(), a.docsCommand(),
	}
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
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is how wide text may be.
func (a *app) width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
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
