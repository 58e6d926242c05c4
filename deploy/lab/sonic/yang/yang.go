// Package yang decides whether a config_db.json is what SONiC's YANG models
// accept: every table and field is known, every value has its type, range and
// pattern, every reference leads to a row, every must and when holds. It takes the
// text and returns why not. Yanglint, which has to be installed, judges; the
// package writes the text as data of the models before. What the models do not
// demand, such as lanes that no other port has, is left to the caller.
package yang

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	sonicyang "github.com/rocec/rocec/testdata/oracles/sonic-yang"
)

// What judges, and the package of Debian 12 that brings it.
const (
	Program = "yanglint"
	Package = "libyang2-tools"
)

// ErrNoTable says that the models lack a table.
var ErrNoTable = errors.New("no such table in the models")

// Check judges configurations. It is safe for concurrent use.
type Check struct {
	program string
	dir     string // of the models, where yanglint reads them
	models  *models
	schemas []string
}

// New lays the models into a folder of its own, which Close removes. The error
// wraps exec.ErrNotFound where yanglint is not installed.
func New() (*Check, error) {
	program, err := exec.LookPath(Program)
	if err != nil {
		return nil, err
	}
	files := sonicyang.Files()
	models, err := load(files)
	if err != nil {
		return nil, fmt.Errorf("read the YANG models: %w", err)
	}
	dir, err := os.MkdirTemp("", "rocec-yang-")
	if err != nil {
		return nil, err
	}
	c := &Check{program: program, dir: dir, models: models}
	err = os.CopyFS(dir, files)
	if err == nil {
		c.schemas, err = filepath.Glob(filepath.Join(dir, "*.yang"))
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Close removes the folder.
func (c *Check) Close() error { return os.RemoveAll(c.dir) }

// Valid is why the models do not accept a config_db.json, nil where they do. It
// wraps ErrNoTable where they know a table not at all.
func (c *Check) Valid(ctx context.Context, configDB []byte) error {
	data, err := c.models.translate(configDB)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, "config-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	args := append([]string{"-Q", "-ii", "-p", c.dir, "-t", "config"}, c.schemas...)
	cmd := exec.CommandContext(ctx, c.program, append(args, f.Name())...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.dir, append(os.Environ(), "LC_ALL=C"), 5*time.Second
	out, err := cmd.CombinedOutput()
	switch text := strings.TrimSpace(string(out)); {
	case ctx.Err() != nil:
		return fmt.Errorf("%s did not end: %w", Program, ctx.Err())
	case err != nil && text == "":
		return fmt.Errorf("%s: %w", Program, err)
	case err != nil:
		return errors.New(text)
	}
	return nil
}
