package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// outsideEnv names the folder of data that others wrote and that is not committed. By default it is shared/oracles beside the checkout.
const outsideEnv = "ROCEC_ORACLES"

// Outside is the folder of that name among the data that others wrote. Without it t is skipped, or fails where ROCEC_CHECKS=required is set.
func Outside(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv(outsideEnv)
	if dir == "" {
		root, err := repository()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(filepath.Dir(root), "shared", "oracles")
	}
	dir = filepath.Join(dir, name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		err = fmt.Errorf("the data of %s are not here: %s has no such folder; %s names the one that has them", name, dir, outsideEnv)
		if os.Getenv(checksEnv) == "required" {
			t.Fatalf("%s=required, and %v", checksEnv, err)
		}
		t.Skip(err)
	}
	return dir
}
