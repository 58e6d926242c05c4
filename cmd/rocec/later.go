package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// absent are commands that hands from elsewhere type, and what to do instead.
var absent = []struct{ name, says string }{
	{"init", "there is nothing to initialise: modules are folders, model data is part of rocec, and every command works in a fresh checkout (rocec validate)"},
	{"import", "this version of rocec has no import: describe the devices (rocec capabilities lists models), write what is there as it is found, and compare with rocec plan --from=DIR"},
	{"destroy", "rocec destroys no device: take it out of the source, and its settings off the device by other means"},
	{"lsp", "this version of rocec has no language server: rocec validate --json and rocec fmt - are there for editors"},
}

// absentCommands say so plainly, where "unknown command" would have people look for a typing error. They stand in no list.
func absentCommands() (list []*cobra.Command) {
	for _, x := range absent {
		list = append(list, &cobra.Command{
			Use: x.name, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error { return errors.New(x.says) },
		})
	}
	return list
}
