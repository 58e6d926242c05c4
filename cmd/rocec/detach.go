package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/rocec/rocec/deploy/lab"
)

// labAnnounce names the file descriptor into which a lab in the background writes a
// byte once it serves. Only rocec itself sets it, for the process that it starts.
const labAnnounce = "ROCEC_LAB_ANNOUNCE"

// labDetach starts this very command once more, in the background, and returns when
// its lab serves.
func (a *app) labDetach(ctx context.Context, dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(program, a.args...)
	if err := separate(c); err != nil {
		return err
	}
	log, err := lab.Log(dir)
	if err != nil {
		return err
	}
	defer log.Close()
	serves, announce, err := os.Pipe()
	if err != nil {
		return err
	}
	defer serves.Close()
	for name, value := range a.env {
		c.Env = append(c.Env, name+"="+value)
	}
	slices.Sort(c.Env)
	c.Env = append(c.Env, labAnnounce+"=3") // the first of ExtraFiles
	c.Dir, c.Stdout, c.Stderr, c.ExtraFiles = a.started, log, log, []*os.File{announce}
	err = c.Start()
	_ = announce.Close()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = c.Process.Signal(syscall.SIGTERM) })()
	heard, err := io.ReadAll(serves)
	text, unread := os.ReadFile(log.Name())
	if err = errors.Join(err, unread); err != nil {
		return err
	}
	if len(heard) == 0 { // it has ended, and said why
		err = c.Wait()
		fmt.Fprint(a.err, string(text))
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			return exit(max(ended.ExitCode(), 1))
		}
		return errors.Join(errors.New("the lab ended at once"), err)
	}
	fmt.Fprint(a.out, string(text))
	fmt.Fprintf(a.out, "It is process %d, and writes into %s.\n", c.Process.Pid, log.Name())
	return c.Process.Release()
}

// announced tells whoever started this lab in the background that it serves.
func (a *app) announced() error {
	f := os.NewFile(3, "announce")
	_, err := f.Write([]byte{'\n'})
	return errors.Join(err, f.Close())
}
