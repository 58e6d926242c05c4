package session

import (
	"context"
	"path"

	"mvdan.cc/sh/v3/syntax"
)

// posix is a session with a shell: Linux, Cumulus Linux, SONiC.
type posix struct{ *link }

// Run runs a command line in the shell of the login.
func (s *posix) Run(ctx context.Context, command string, stdin []byte) (Output, error) {
	return s.do(ctx, opRun, func() (Output, error) { return s.exec(command, stdin) })
}

// Configure copies the files and then runs the command, in Dir.
func (s *posix) Configure(ctx context.Context, c Change) (Output, error) {
	err := c.check()
	var line string
	if err == nil {
		line, err = cdThen(c)
	}
	if err != nil {
		return Output{}, toError(s.spec.Device, opConfigure, KindLocal, err, s.secrets)
	}
	if err := s.copy(ctx, c, posixFiles{s.link}); err != nil || c.Command == "" {
		return Output{}, err
	}
	return s.do(ctx, opConfigure, func() (Output, error) { return s.exec(line, nil) })
}

// cdThen is the command of a change, run in its folder. The braces keep together
// a command line that is a list.
func cdThen(c Change) (string, error) {
	dir := c.Folder
	if c.Dir != "" {
		dir = path.Join(c.Folder, c.Dir)
	}
	if dir == "" {
		return c.Command, nil
	}
	q, err := quote(dir)
	return "cd " + q + " && {\n" + c.Command + "\n}", err
}

// quote is one word of a shell.
func quote(word string) (string, error) {
	q, err := syntax.Quote(word, syntax.LangPOSIX)
	if err != nil {
		return "", failed(KindLocal, "", "%q: %w", word, err)
	}
	return q, nil
}
