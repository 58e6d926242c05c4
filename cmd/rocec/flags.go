package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// normalise turns Terraform's `-flag value` and `-flag=value` into the double
// dash that cobra reads, for the long flags of the command on the line. It
// skips values, leaves one-letter flags alone and stops at `--`.
func normalise(root *cobra.Command, args []string) []string {
	out := make([]string, 0, len(args))
	cmd := root
	for i := 0; i < len(args); i++ {
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
		if f != nil && !strings.HasPrefix(arg, "--") && len(name) > 1 {
			arg = "-" + arg
		}
		out = append(out, arg)
		if f != nil && !hasValue && f.NoOptDefVal == "" && i+1 < len(args) && strings.HasPrefix(arg, "--") {
			i++
			out = append(out, args[i])
		}
	}
	return out
}

func child(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return c
		}
	}
	return nil
}

func longFlag(cmd *cobra.Command, name string) *pflag.Flag {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f
	}
	return cmd.InheritedFlags().Lookup(name)
}
