package apply

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/rocec/rocec/deploy/disk"
)

// Devices are the devices of a delivery. Each is made when its turn comes and
// dropped when it is written, so that nothing holds the files of all of them.
type Devices struct {
	Places []Place
	// Make makes the device of a place with its artifacts, the same each time. It
	// is called from several goroutines at once, and may be called again for a
	// place; what it returns is not changed.
	Make func(i int) (*Device, error)
}

// Place is where a device's files go. It is known before the device is made.
type Place struct {
	Name   string
	Output string // folder of the target block inside the tree, "" for none
}

// Folder is where the device's artifacts lie in a tree.
func (p Place) Folder() string { return path.Join(p.Output, p.Name) }

// sorted are the devices in the order of their folders.
func (d Devices) sorted() Devices {
	order := make([]int, len(d.Places))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(d.Places[a].Folder(), d.Places[b].Folder()) })
	out := Devices{Places: make([]Place, len(order)), Make: func(i int) (*Device, error) { return d.Make(order[i]) }}
	for i, from := range order {
		out.Places[i] = d.Places[from]
	}
	return out
}

// check refuses names and folders that a file system could not hold, or that meet.
func (d Devices) check() error {
	names, folders := map[string]string{}, map[string]string{}
	for _, p := range d.Places {
		if err := disk.CheckName(p.Name); err != nil {
			return fmt.Errorf("device %w", err)
		}
		if p.Output != "" {
			if err := disk.CheckPath(p.Output); err != nil {
				return fmt.Errorf("output of device %s: %w", p.Name, err)
			}
		}
		if other, taken := names[strings.ToLower(p.Name)]; taken {
			return fmt.Errorf("device %s is there twice, as %s", p.Name, other)
		}
		names[strings.ToLower(p.Name)] = p.Name
		folder := strings.ToLower(p.Folder())
		if top, _, _ := strings.Cut(folder, "/"); top == manifestPath {
			return fmt.Errorf("%s is a file, and a folder of %s", manifestPath, p.Folder())
		}
		folders[folder] = p.Name
	}
	for _, p := range d.Places {
		for dir := path.Dir(strings.ToLower(p.Folder())); dir != "."; dir = path.Dir(dir) {
			if other, ok := folders[dir]; ok {
				return fmt.Errorf("the folder of device %s lies in that of %s", p.Name, other)
			}
		}
	}
	return nil
}

// each makes every device and hands it over, on every core and so in no order.
// Of several errors it returns the one of the first device.
func (d Devices) each(take func(i int, device *Device) error) error {
	failed := make([]error, len(d.Places))
	work, ctx := errgroup.WithContext(context.Background())
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i := range d.Places {
		if ctx.Err() != nil {
			break
		}
		work.Go(func() error {
			device, err := d.Make(i)
			if err == nil {
				err = take(i, device)
			}
			failed[i] = err
			return err
		})
	}
	if work.Wait() == nil {
		return nil
	}
	return failed[slices.IndexFunc(failed, func(err error) bool { return err != nil })]
}

// inOrder makes devices on every core, a few ahead, and hands them over one by
// one in their order.
func (d Devices) inOrder(take func(i int, device *Device) error) error {
	type result struct {
		device *Device
		err    error
	}
	const perCore = 4 // devices differ in size, and whoever takes them has to write now and then
	cores := runtime.GOMAXPROCS(0)
	made := make([]chan result, perCore*cores) // device i comes through i modulo their number
	for i := range made {
		made[i] = make(chan result, 1)
	}
	ahead := make(chan struct{}, len(made)) // one for each device that was begun and not taken
	stop := make(chan struct{})
	defer close(stop)
	var next atomic.Int64
	for range min(cores, len(d.Places)) {
		go func() {
			for {
				select {
				case ahead <- struct{}{}:
				case <-stop:
					return
				}
				i := int(next.Add(1)) - 1
				if i >= len(d.Places) {
					return
				}
				device, err := d.Make(i)
				made[i%len(made)] <- result{device, err}
			}
		}()
	}
	for i := range d.Places {
		r := <-made[i%len(made)]
		<-ahead
		if r.err == nil {
			r.err = take(i, r.device)
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}
