package oracle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// npmDirEnv names the folder that holds, or is to hold, the two npm packages of PSCheck.
const npmDirEnv = "ROCEC_NPM_DIR"

// npmPackages are the packages pscheck.mjs imports. Pinned: the grammar decides what is an error.
func npmPackages() map[string]string {
	return map[string]string{"tree-sitter-powershell": "0.26.4", "web-tree-sitter": "0.27.1"}
}

// PSCheck fails t unless the PowerShell grammar and the documented cmdlets accept every one of files, which are paths of scripts. It
// runs pscheck.mjs with node; the npm packages are installed once, into rocec-oracles/npm in the user's cache or ROCEC_NPM_DIR.
func PSCheck(t testing.TB, files ...string) {
	t.Helper()
	Need(t, PSCheckTool)
	dir, err := npmDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := pscheck(Dir(t), dir, files); err != nil {
		t.Errorf("pscheck: %v", err)
	}
}

func pscheck(oracles, npm string, files []string) error {
	if len(files) == 0 {
		return errors.New("no files to check")
	}
	args := []string{filepath.Join(oracles, "pscheck.mjs"), filepath.Join(oracles, "powershell-cmdlets.json")}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return err
		}
		args = append(args, abs)
	}
	_, err := run(npm, []string{"NODE_MODULES=" + filepath.Join(npm, "node_modules")}, "node", append([]string{"--liftoff-only"}, args...)...)
	return err
}

// npmDir returns the folder with the packages and installs them first where they are not there yet. Test binaries of several packages
// come here at once: a lock lets one install and the others wait.
func npmDir() (string, error) {
	dir, err := cacheDir(npmDirEnv, "npm")
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
	for name, version := range npmPackages() {
		args = append(args, name+"@"+version)
		manifest, err := os.ReadFile(filepath.Join(dir, "node_modules", name, "package.json"))
		present = present && err == nil && strings.Contains(string(manifest), `"version": "`+version+`"`)
	}
	if present {
		return dir, nil
	}
	if _, err := run(dir, nil, "npm", args...); err != nil {
		return "", fmt.Errorf("the npm packages of pscheck cannot be installed in %s: %w", dir, err)
	}
	return dir, nil
}
