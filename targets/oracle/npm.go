package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// npmPackages are packages of the npm registry that a checker needs: they are installed once, into rocec-oracles/<name> in the user's
// cache or into the folder that the variable env names.
type npmPackages struct {
	name, env string
	versions  map[string]string
}

// folder returns the folder with the packages and installs them first where they are not there yet. Test binaries of several packages
// come here at once: a lock lets one install and the others wait.
func (p npmPackages) folder() (string, error) {
	dir, err := cacheDir(p.env, p.name)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(dir, ".lock"))
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("lock of %s: %w", dir, err)
	}
	defer lock.Close()
	args := []string{
		"install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefix", dir,
		"--loglevel=http", "--fetch-retry-maxtimeout=10000", // says what it waits for, and gives up while run still listens
	}
	present := true
	for name, version := range p.versions {
		args = append(args, name+"@"+version)
		manifest, err := os.ReadFile(filepath.Join(dir, "node_modules", name, "package.json"))
		present = present && err == nil && strings.Contains(string(manifest), `"version": "`+version+`"`)
	}
	if present {
		return dir, nil
	}
	if _, err := run(dir, nil, "npm", args...); err != nil {
		return "", fmt.Errorf("the packages of %s cannot be installed in %s: %w", p.name, dir, err)
	}
	return dir, nil
}
