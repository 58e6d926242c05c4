package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rocec/rocec/deploy/disk"
)

// checkoutAt is the checkout that a folder is held to: that of the working folder where it lies in it, else its own.
func checkoutAt(dir string) (disk.Checkout, error) {
	here, err := disk.CheckoutOf(".")
	if err != nil || here.Holds(dir) {
		return here, err
	}
	return disk.CheckoutOf(dir)
}

// within refuses a path that lies in the checkout of the working folder and that a link takes out of it. A path that is
// named elsewhere is the choice of whoever runs the program.
func within(path string) error {
	here, err := disk.CheckoutOf(".")
	if err != nil {
		return err
	}
	return here.Check(path)
}

// ownData refuses working data that came with the checkout: whoever made the commit would decide what apply takes back,
// sends to the record or talks to.
func ownData(path string) error {
	if err := within(path); err != nil {
		return err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c, err := checkoutAt(filepath.Dir(path))
	if err != nil {
		return err
	}
	name, err := c.Tracked(path)
	if name == "" || err != nil {
		return err
	}
	return fmt.Errorf("git tracks %s, which is working data of rocec: what comes with a commit is not believed. "+
		"Take it out of the repository (git rm -r --cached -- %s), remove it here unless this computer wrote it, "+
		"and keep .rocec/ in .gitignore", name, path)
}
