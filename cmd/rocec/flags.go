package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// normalise turns Terraform's `-flag value` and `-flag=value` into the double
// dash that cobra reads, for the long flags of the command on the line. It
// skips values, leaves one-letter flags alone and stops at `--`. The word that
// is being completed is left as it is.
func normalise(root *cobra.Command, args []string) []string {
	out := make([]string, 0, len(args))
	cmd := root
	last := len(args)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		last--
	}
	for i := 0; i < last; i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			out = append(out, arg)
			if next := child(cmd, arg); next != nil {
				cmd = next
			}
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f := longFlag(cmd, name)
		if f != nil && !strings.HasPrefix(arg, "--") {
			arg = "-" + arg
		}
		out = append(out, arg)
		if f != nil && !hasValue && f.NoOptDefVal == "" && i+1 < last {
			i++
			out = append(out, args[i])
		}
	}
	return append(out, args[last:]...)
}

// withExtra adds the arguments of ROCEC_CLI_ARGS and ROCEC_CLI_ARGS_<command>
// behind the name of the command, where those of the line come after them and
// win. Dashes and the space before a sub-command are underscores in the name.
func (a *app) withExtra(root *cobra.Command, args []string) ([]string, error) {
	cmd, at := root, 0
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" || !strings.HasPrefix(arg, "-") && child(cmd, arg) == nil {
			break
		}
		if next := child(cmd, arg); next != nil {
			cmd, at = next, i+1
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if f := longFlag(cmd, name); f != nil && !hasValue && f.NoOptDefVal == "" {
			i++
		}
	}
	if cmd == root {
		return args, nil
	}
	path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
	var extra []string
	for _, name := range []string{"ROCEC_CLI_ARGS", "ROCEC_CLI_ARGS_" + strings.NewReplacer(" ", "_", "-", "_").Replace(path)} {
		words, err := words(a.env[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		extra = append(extra, words...)
	}
	return slices.Concat(args[:at], extra, args[at:]), nil
}

// words splits a line as a shell does, without expanding anything: quotes hold
// together, a backslash takes the next character as it is.
func words(line string) ([]string, error) {
	var list []string
	var word strings.Builder
	open, quote, escaped := false, rune(0), false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			open, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			open, quote = true, r
		case strings.ContainsRune(" \t\r\n", r):
			if open {
				list = append(list, word.String())
				word.Reset()
				open = false
			}
		default:
			open = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("a quote is not closed in %q", line)
	}
	if open {
		list = append(list, word.String())
	}
	return list, nil
}

// oneOf checks a flag that takes some words only.
func oneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	last := len(known) - 1
	return fmt.Errorf("%s is %s or %s, not %q", flag, strings.Join(known[:last], ", "), known[last], value)
}

func child(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return c
		}
	}
	return nil
}

// longFlag is a flag of a command by its name of more than one letter.
func longFlag(cmd *cobra.Command, name string) *pflag.Flag {
	if len(name) < 2 {
		return nil
	}
	cmd.InitDefaultHelpFlag()
	cmd.InheritedFlags() // merges those of the parents and of the root
	return cmd.Flags().Lookup(name)
}
