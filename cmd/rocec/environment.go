package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// variable is one that the program reads from its environment.
type variable struct{ name, doc string }

// variables are all of them, for the help and the pages.
var variables = []variable{
	{"ROCEC_VAR_<name>", "sets an input variable; files of values, `--var` and `--var-file` win over it"},
	{"ROCEC_CLI_ARGS", "more arguments of every command; the line wins"},
	{"ROCEC_CLI_ARGS_<command>", "more arguments of one command, `ROCEC_CLI_ARGS_record_list`; the line wins"},
	{"ROCEC_WORKSPACE", "the workspace of the record, `default` unless set"},
	{"ROCEC_LAB", "the file of a lab (`rocec lab up`): devices are those that are simulated there, and the workspace is `lab` unless set"},
	{"ROCEC_DATA_DIR", "the folder of working data, `.rocec` unless set; no command looks for configuration in it"},
	{"ROCEC_CACHE_DIR", "the folder of what makes the next run faster, `cache` in that of working data unless set; `off`: nothing is kept. It may be removed at any time"},
	{"ROCEC_CONFIG_FILE", "the file of settings, instead of the nearest `.rocec.hcl`; `--config` wins"},
	{"ROCEC_PATIENCE", "for how long `rocec apply` asks a device that does not answer, from when it should have gone back by itself: as long as the slowest takes to boot; `2m` unless set. Also how long one answer may take while devices are read; `5m` unless set"},
	{allowEnv, "variables that source may name as `password_env`, `username_env` and `enable_env` beside those that begin with `ROCEC_`; commas between them. Password commands get them too"},
	{allowCommands, "programs that source may name as `password_command`, as they are written there; commas between them"},
	{untrustedEnv, "`1`: nobody has looked at the source, as with `--untrusted`"},
	{baseEnv, "the git revision whose record may be opened with `--untrusted`; `--base` wins"},
	{"ROCEC_IN_AUTOMATION", "anything: no hints on what to run next"},
	{"ROCEC_INPUT", "`0` or `false`: never ask"},
	{"NO_COLOR", "anything: no colour"},
	{"CLICOLOR_FORCE", "anything but `0`: colour, be it a terminal or not"},
	{"GITHUB_ACTIONS, GITLAB_CI", "`true`: `--format=auto` writes for the platform"},
	{"GITHUB_WORKSPACE, CI_PROJECT_DIR", "the root of the repository, from which reports for a platform name files"},
}

// environmentTopic is the page of `rocec help environment`; it runs nothing.
func environmentTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Variables that rocec reads from its environment:\n")
	for _, v := range variables {
		b.WriteString("\n  " + v.name + "\n      " + strings.ReplaceAll(v.doc, "`", "") + "\n")
	}
	return &cobra.Command{Use: "environment", Short: "Variables that rocec reads from its environment", Long: b.String()}
}

// isDataDir reports whether a folder is the one of working data, in which no
// command looks for configuration.
func (a *app) isDataDir(dir string) bool {
	x, err := filepath.Abs(dir)
	y, bad := filepath.Abs(a.dataDir())
	return err == nil && bad == nil && x == y
}

func (a *app) dataDir() string {
	if dir := a.env["ROCEC_DATA_DIR"]; dir != "" {
		return dir
	}
	return ".rocec"
}
