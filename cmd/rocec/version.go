package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the module's version as it was built, "dev" from a work tree.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.writeJSON(map[string]string{"rocec_version": version(), "go_version": runtime.Version(), "platform": runtime.GOOS + "_" + runtime.GOARCH})
			}
			fmt.Fprintf(a.out, "rocec %s\non %s_%s\n", version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}
