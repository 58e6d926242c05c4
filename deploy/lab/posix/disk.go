package posix

import "github.com/rocec/rocec/deploy/lab"

// NewDisk is the disk of a machine that starts: empty, with the folders whose
// content a loss of power takes.
func NewDisk(clock lab.Clock) *lab.Disk {
	return lab.NewDisk(lab.DiskOptions{Now: clock.Now, Volatile: []string{"/run", "/tmp", "/sys", "/proc", "/dev"}})
}
