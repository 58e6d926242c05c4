package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/machines"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/spf13/cobra"
)

func (a *app) labCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "lab", Short: "Simulated devices of a fabric, behind SSH on this computer", Args: cobra.NoArgs,
		Long: `lab starts a simulation of every device of a configuration: each behind an SSH server of its
own on this computer, with settings that last until the lab stops, or longer with lab up --keep,
commands that answer as documented, and timers that take back what is not confirmed. With ROCEC_LAB set to the file that
lab up names, plan, apply, verify, confirm and rollback work on them as on real devices, in a
workspace of their own.

They are simulations: they forward no packets, and a command that is not simulated fails.`,
	}
	c.AddCommand(a.labUpCommand(), a.labAskCommand("status", "Tell whether a lab runs"), a.labAskCommand("down", "Stop a lab"),
		a.labDeviceCommand("fault", "FAULT", "Let something go wrong on a device"),
		a.labDeviceCommand("heal", "DEVICE", "Take back what went wrong on a device"),
		a.labDeviceCommand("reboot", "DEVICE", "Cut the power of a device, and give it back"))
	return c
}

func (a *app) labUpCommand() *cobra.Command {
	in := &inputs{}
	var o labStart
	c := &cobra.Command{
		Use: "up [DIR]", Short: "Start a lab and serve it until Ctrl-C", Args: cobra.MaximumNArgs(1),
		Long: `up compiles the configuration in DIR, that of this folder unless given, and serves a simulation
of each of its devices until it is interrupted or told so by rocec lab down. It writes the files of
the lab into DIR/` + lab.Folder + `: lab.json for ROCEC_LAB, ssh_config for ssh -F.

Devices start as they are found, without any setting of the configuration, and are forgotten when
the lab stops. With --keep they start with what they had stored when the last lab with --keep
stopped here, as after a loss of power, and what they have stored is kept in DIR/` + lab.Folder + `/kept;
remove that folder to start anew. Windows hosts cannot be kept. With --detach the lab goes on in
the background.

A fault is written DEVICE=KIND, DEVICE=KIND:N or DEVICE=KIND:N:PATTERN. Those that strike a command
which changes settings, the N-th that fits the regular expression: refuse (it fails and does
nothing), lie (it says that all is well and does nothing), stall, reboot. Those of a command line
that comes over the connection: drop-before, drop, drop-after, hang (it runs, and nothing is
answered any more). Those that hold for all of a device: slow, mute (never answers), host-key (shows
another), down, disk-full, drops and storm (counters of lossless queues that grow at every look),
lost (RDMA that it sends, gets or passes on is lost, which rping tells).`,
		Example: "  rocec lab up\n  export ROCEC_LAB=.rocec/lab/lab.json; rocec plan; rocec apply      # in another terminal\n  ssh -F .rocec/lab/ssh_config leaf1\n  rocec lab up --fault=leaf1=drop --fault='leaf2=refuse:3:^dcb pfc'\n  rocec lab up --keep --detach; rocec lab down",
		RunE: func(c *cobra.Command, args []string) error {
			if err := labData(labFolder(args)); err != nil {
				return err
			}
			if o.detach && a.env[labAnnounce] == "" {
				return a.labDetach(c.Context(), labFolder(args))
			}
			return a.labUp(c.Context(), in, labFolder(args), o)
		},
	}
	in.flags(c)
	c.Flags().StringVar(&o.address, "addr", "127.0.0.1", "`ADDRESS` of this computer alone to listen on")
	c.Flags().BoolVar(&o.detach, "detach", false, "serve in the background, until rocec lab down (Linux, macOS)")
	c.Flags().BoolVar(&o.keep, "keep", false, "start devices with what they had stored when the last lab with this flag stopped here, and keep it for the next")
	c.Flags().StringArrayVar(&o.faults, "fault", nil, "`FAULT` of a device: DEVICE=KIND[:N[:PATTERN]] (repeatable)")
	return c
}

func labFolder(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return "."
}

// labStart is how a lab is to start.
type labStart struct {
	address      string
	faults       []string
	keep, detach bool
}

func (a *app) labUp(ctx context.Context, in *inputs, dir string, start labStart) error {
	o := lab.Options{Address: start.address, Faults: map[string][]lab.Fault{}, Keep: start.keep}
	for _, text := range start.faults {
		name, f, err := lab.ParseFault(text)
		if err != nil {
			return err
		}
		o.Faults[name] = append(o.Faults[name], f)
	}
	delete(a.env, labVariable) // of a lab that ran here before
	p, err := a.loadFrom(dir, in, false)
	if err != nil {
		return err
	}
	list := p.devices()
	if err := a.stopOnErrors(p); err != nil {
		return err
	}
	devices, others := labDevices(p, list)
	if len(devices) == 0 {
		return errors.New("no device of this configuration can be simulated")
	}
	if i := slices.IndexFunc(devices, func(d lab.Device) bool { return !machines.Keeps(d.Target) }); start.keep && i >= 0 {
		return fmt.Errorf("--keep: the state of %s cannot be kept: it is a simulation for %s, and only those of Linux, SONiC and Cumulus can", devices[i].Name, devices[i].Target)
	}
	o.Cables = p.cables
	a.writing.Lock() // a signal waits until the machines have stopped
	defer a.writing.Unlock()
	l, err := lab.Up(ctx, devices, dir, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s on %s. %s\n", simulated(len(devices)), start.address, lab.Notice)
	if len(others) > 0 {
		fmt.Fprintf(a.out, "Not simulated: %s.\n", strings.Join(others, ", "))
	}
	end := "Ctrl-C stops the lab."
	if start.detach {
		end = strings.TrimSuffix("rocec lab down "+pathWord(dir), " .") + " stops the lab."
	}
	config := pathWord(filepath.Join(filepath.Dir(l.File), "ssh_config"))
	fmt.Fprintf(a.out, "\nIn another terminal:\n\n  export ROCEC_LAB=%s\n  rocec plan\n  rocec apply\n  ssh -F %s %s\n\n%s\n",
		pathWord(l.File), config, devices[0].Name, end)
	if a.env[labAnnounce] != "" {
		if err := a.announced(); err != nil {
			l.Close()
			return err
		}
	}
	<-l.Done()
	if err := l.Err(); err != nil { // be the lab interrupted or not
		fmt.Fprintf(a.err, "rocec: %v\n", err)
		return exit(1)
	}
	return nil
}

// pathWord is a path as a reader copies it into a shell.
func pathWord(path string) string {
	word, err := emit.Shell(path)
	if err != nil {
		return path // with a NUL it is no path
	}
	return word
}

// simulated counts simulated devices.
func simulated(n int) string {
	if n == 1 {
		return "1 simulated device"
	}
	return fmt.Sprintf("%d simulated devices", n)
}

// labDevices are the machines for the devices of a configuration, and what has none.
func labDevices(p *project, list []served) (devices []lab.Device, others []string) {
	var all machines.All
	for i := range list {
		s := &list[i]
		maker := all.Maker(s.target.Name)
		if maker == nil {
			others = append(others, s.name)
			continue
		}
		shell := targets.POSIX
		if s.target.Live != nil {
			shell = s.target.Live.Shell
		}
		devices = append(devices, lab.Device{
			Name: s.name, Target: s.target.Name, User: machines.User(s.target.Name), Shell: shell, Intent: func() *intent.Device { return p.alone(s) }, Make: maker,
		})
	}
	slices.SortFunc(devices, func(x, y lab.Device) int { return intent.Natural(x.Name, y.Name) })
	return devices, others
}

// cables are those of the fabric, as the lab takes them.
func (p *project) cables() []lab.Cable {
	f := p.res.Fabric
	end := func(id fabric.PortID) lab.End {
		port := &f.Ports[id]
		return lab.End{Device: f.Text(f.Devices[port.Device].Name), Port: f.Text(port.Name), Switch: f.Devices[port.Device].Kind == fabric.Switch}
	}
	var list []lab.Cable
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		list = append(list, lab.Cable{end(f.Links[l].A), end(f.Links[l].B)})
	}
	return list
}

// labAskCommand asks a lab that runs.
func (a *app) labAskCommand(verb, short string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " [DIR]", Short: short, Args: cobra.MaximumNArgs(1), Example: "  rocec lab " + verb,
		Long: short + ": that of DIR, of this folder unless given. It fails where none runs.",
		RunE: func(_ *cobra.Command, args []string) error { return a.labAsk(labFolder(args), verb) },
	}
}

// labData refuses the data of a lab that came with the checkout.
func labData(dir string) error { return ownData(filepath.Join(dir, filepath.FromSlash(lab.Folder))) }

func (a *app) labAsk(dir, command string) error {
	if err := labData(dir); err != nil {
		return err
	}
	answer, err := lab.Ask(filepath.Join(dir, filepath.FromSlash(lab.Folder), "lab.json"), command)
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, answer)
	return nil
}

// labDeviceCommand does something to a device of a lab that runs.
func (a *app) labDeviceCommand(verb, operand, short string) *cobra.Command {
	var dir string
	example := map[string]string{"FAULT": "leaf1=drop", "DEVICE": "leaf1"}[operand]
	c := &cobra.Command{
		Use: verb + " " + operand, Short: short, Args: cobra.ExactArgs(1), Example: "  rocec lab " + verb + " " + example,
		Long: short + ", in a lab that runs." + map[string]string{"FAULT": " rocec help lab up tells how faults are written."}[operand],
		RunE: func(_ *cobra.Command, args []string) error { return a.labAsk(dir, verb+" "+args[0]) },
	}
	c.Flags().StringVar(&dir, "dir", ".", "`FOLDER` of the configuration that the lab was started for")
	return c
}
