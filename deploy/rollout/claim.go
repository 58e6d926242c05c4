package rollout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/rocec/rocec/deploy/disk"
)

// claimFile is what whoever writes journals in a folder keeps locked for as long as it
// lives. It stays: a lock on a file that others may remove excludes nobody.
const claimFile = ".claim"

// BusyError says that a process on this machine is at work with the journals of a
// folder, and lives.
type BusyError struct{ Dir string }

// Error names the folder and says what to do.
func (e *BusyError) Error() string {
	return fmt.Sprintf("another rocec on this machine is at work with %s, and lives, though its lock was broken: wait for it, or end it", e.Dir)
}

// Claim makes its caller the only one on this machine that writes journals in a folder,
// until it releases it or dies. The lock of the record excludes others too, but it can
// be broken while its holder lives, and two that write one journal leave none. With
// create the folder is made; without it, a folder that is not there needs no claim.
func Claim(dir string, create bool) (release func() error, err error) {
	if create {
		if err := disk.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
	} else if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f := flock.New(filepath.Join(dir, claimFile))
	switch ok, err := f.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("journal: %s: %w", f.Path(), err)
	case !ok:
		return nil, &BusyError{Dir: dir}
	}
	return f.Unlock, nil
}
