package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// exitCode is a code that some commands end with, for the help and the pages.
type exitCode struct{ commands, code, meaning string }

var exitCodes = []exitCode{
	{"every command", "0", "done; of `lint`: nothing at or above the threshold; of `verify` and `build --check`: in sync; of `whatif`: every property holds; of `test`: all passed"},
	{"every command", "1", "an error, or the source does not load; of `test`: a run failed; of `apply` and `rollback`: failed, and no device is left between two states"},
	{"lint", "2", "findings at or above the threshold, `--minimum-failure-severity`"},
	{"plan --detailed-exitcode", "2", "there are changes"},
	{"verify", "2", "drift, or what `--health` and `--lldp` find"},
	{"build --check", "2", "the files on disk are stale"},
	{"whatif", "2", "a property breaks"},
	{"test", "2", "there is no test"},
	{"fmt", "2", "a file has a syntax error"},
	{"fmt --fix", "2", "something is left to do by hand, and is named; or a file has a syntax error"},
	{"fmt --check", "3", "a file would change"},
	{"apply, rollback", "3", "a device is neither as it was nor as it should be: it is named, act now"},
	{"every command", "130", "interrupted"},
}

// exitTopic is the page of `rocec help exit-codes`; it runs nothing.
func exitTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Codes that rocec ends with:\n")
	for _, e := range exitCodes {
		b.WriteString("\n  " + e.code + "  " + e.commands + "\n      " + strings.ReplaceAll(e.meaning, "`", "") + "\n")
	}
	return &cobra.Command{Use: "exit-codes", Short: "Codes that rocec ends with", Long: b.String()}
}
