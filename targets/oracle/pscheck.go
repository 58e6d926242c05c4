package oracle

import (
	"errors"
	"path/filepath"
	"testing"
)

// pscheckPackages are the packages pscheck.mjs imports. Pinned: the grammar decides what is an error.
func pscheckPackages() npmPackages {
	return npmPackages{"npm", "ROCEC_NPM_DIR", map[string]string{"tree-sitter-powershell": "0.26.4", "web-tree-sitter": "0.27.1"}}
}

// PSCheck fails t unless the PowerShell grammar and the documented cmdlets accept every one of files, which are paths of scripts. It
// runs pscheck.mjs with node; the npm packages are installed once, into rocec-oracles/npm in the user's cache or ROCEC_NPM_DIR.
func PSCheck(t testing.TB, files ...string) {
	t.Helper()
	Need(t, PSCheckTool)
	dir, err := pscheckPackages().folder()
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
