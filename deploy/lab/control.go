package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/session"
)

// Files of a lab.
const (
	labFile    = "lab.json"
	keyFile    = "key"
	hostsFile  = "known_hosts"
	configFile = "ssh_config"
	logFile    = "log"
)

// formatVersion is that of lab.json.
const formatVersion = "1.0"

// file is lab.json.
type file struct {
	FormatVersion string           `json:"format_version"`
	Notice        string           `json:"notice"`
	Control       entry            `json:"control"` // answers rocec lab status and down
	Devices       map[string]entry `json:"devices"`
}

// entry is how one device is reached.
type entry struct {
	Address  string `json:"address"`
	Port     uint16 `json:"port"`
	User     string `json:"user"`
	Identity string `json:"identity"` // from the folder of the file
	HostKey  string `json:"host_key"`
	Target   string `json:"target,omitempty"`
}

// Notice is what every output of a lab says of itself.
const Notice = "These devices are simulated: they keep settings and answer commands, and forward no packets."

const controlUser = "lab"

// serveControl listens for those who ask the lab itself.
func (l *Lab) serveControl(client ssh.PublicKey) (net.Listener, uint16, error) {
	s, err := l.server("lab", controlUser, "/", client)
	if err != nil {
		return nil, 0, err
	}
	s.machine = func() (Machine, error) { return desk{lab: l}, nil }
	s.left = func() {
		if l.down.Load() {
			go l.Close()
		}
	}
	l.control = s
	return l.listen()
}

// desk answers those who ask the lab itself.
type desk struct {
	broken // which has no files and nothing to stop
	lab    *Lab
}

// Exec carries out status, down, reboot DEVICE, heal DEVICE and fault
// DEVICE=KIND.
func (d desk) Exec(_ context.Context, command string, _ io.Reader, stdout, stderr io.Writer) int {
	verb, rest, _ := strings.Cut(command, " ")
	var err error
	switch verb {
	case "status":
		_, err = fmt.Fprintf(stdout, "%d simulated devices, %d in use\n", len(d.lab.list), d.lab.Used())
	case "down": // the lab ends when whoever asked has read the answer and left
		err = d.lab.shutdown()
		d.lab.down.Store(true)
		if err == nil {
			_, err = fmt.Fprintln(stdout, "stopped")
		}
	case "reboot":
		var m Machine
		if m, err = d.lab.Machine(rest); err == nil {
			m.Reboot()
		}
	case "heal":
		err = d.lab.Heal(rest)
	case "fault":
		var name string
		var f Fault
		if name, f, err = ParseFault(rest); err == nil {
			err = d.lab.Inject(name, f)
		}
	default:
		err = fmt.Errorf("the lab knows no %q", verb)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// claim makes a folder the one of a lab. A lab that runs there is left alone.
func claim(folder string) error {
	if out, err := Ask(filepath.Join(folder, labFile), "status"); err == nil {
		return fmt.Errorf("a lab runs there already (%s): rocec lab down", strings.TrimSpace(out))
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, ".gitignore"), []byte("*\n"), 0o644)
}

// Log opens, empty, the file for what a lab prints that is to be started in the
// background. It fails where a lab runs.
func Log(dir string) (*os.File, error) {
	folder := filepath.Join(dir, filepath.FromSlash(Folder))
	if err := claim(folder); err != nil {
		return nil, fmt.Errorf("start lab: %w", err)
	}
	return os.Create(filepath.Join(folder, logFile))
}

// write writes the files of the lab; lab.json comes last.
func (l *Lab) write(private []byte, control uint16) error {
	f := file{FormatVersion: formatVersion, Notice: Notice, Devices: map[string]entry{}}
	f.Control = entry{Address: l.address, Port: control, User: controlUser, Identity: keyFile, HostKey: authorized(l.control.key.PublicKey())}
	var hosts, config bytes.Buffer
	dir, err := filepath.Abs(l.Dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(&config, "# %s\n", Notice)
	for _, r := range l.list {
		key := authorized(r.server.key.PublicKey())
		f.Devices[r.Name] = entry{Address: l.address, Port: r.port, User: r.User, Identity: keyFile, HostKey: key, Target: r.Target}
		fmt.Fprintf(&hosts, "[%s]:%d %s\n", l.address, r.port, key)
		if plain(r.Name) {
			fmt.Fprintf(&config, "\nHost %s\n  HostName %s\n  Port %d\n  User %s\n  IdentityFile %q\n  IdentitiesOnly yes\n  UserKnownHostsFile %q\n  StrictHostKeyChecking yes\n",
				r.Name, l.address, r.port, r.User, filepath.Join(dir, keyFile), filepath.Join(dir, hostsFile))
		}
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	for _, one := range []struct {
		name string
		text []byte
		mode os.FileMode
	}{{keyFile, private, 0o600}, {hostsFile, hosts.Bytes(), 0o644}, {configFile, config.Bytes(), 0o644}, {labFile, append(text, '\n'), 0o644}} {
		if err := disk.WriteFile(filepath.Join(l.Dir, one.name), one.text, one.mode); err != nil {
			return err
		}
	}
	return nil
}

// plain tells a name that stands for itself in the configuration of ssh.
func plain(s string) bool {
	return s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}

// release takes lab.json away, if it is this lab's.
func (l *Lab) release() {
	if l.control == nil {
		return
	}
	f, err := read(l.File)
	if err == nil && f.Control.HostKey == authorized(l.control.key.PublicKey()) {
		_ = os.Remove(l.File)
	}
}

func read(name string) (*file, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f.FormatVersion != formatVersion {
		return nil, fmt.Errorf("%s has format version %q, this program reads %s", name, f.FormatVersion, formatVersion)
	}
	return &f, nil
}

// Load reads the file that Up wrote: how sessions to the devices of the lab are
// opened, by name. The shell is for the caller to say.
func Load(name string) (map[string]session.Spec, error) {
	f, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("read lab: %w", err)
	}
	specs := map[string]session.Spec{}
	for device, e := range f.Devices {
		if e.Address == "" || e.Port == 0 || e.HostKey == "" {
			return nil, fmt.Errorf("read lab: %s: device %q lacks its address, port or host_key", name, device)
		}
		specs[device] = session.Spec{
			Device: device, Address: e.Address, Port: e.Port, User: e.User, HostKey: e.HostKey, Identity: []string{filepath.Join(filepath.Dir(name), filepath.FromSlash(e.Identity))},
		}
	}
	return specs, nil
}

// ErrNotRunning says that no lab runs.
var ErrNotRunning = errors.New("no lab runs there")

// Ask sends a command to the lab whose file it is, and returns what it answers.
func Ask(name, command string) (string, error) {
	f, err := read(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", ErrNotRunning
	}
	if err != nil {
		return "", err
	}
	private, err := os.ReadFile(filepath.Join(filepath.Dir(name), keyFile))
	if err != nil {
		return "", err
	}
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return "", err
	}
	host, _, _, _, err := ssh.ParseAuthorizedKey([]byte(f.Control.HostKey))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	client, err := reach(net.JoinHostPort(f.Control.Address, strconv.Itoa(int(f.Control.Port))), &ssh.ClientConfig{
		User: f.Control.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.FixedHostKey(host),
	})
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	defer client.Close()
	s, err := client.NewSession()
	if err != nil {
		return "", err
	}
	defer s.Close()
	var out, errs bytes.Buffer
	s.Stdout, s.Stderr = &out, &errs
	if err := s.Run(command); err != nil {
		if errs.Len() > 0 {
			return "", errors.New(strings.TrimSpace(errs.String()))
		}
		return "", err
	}
	return out.String(), nil
}

// reach opens a connection to a lab. What listens where a lab was once may be
// anything: it gets some time to show that it is one, and no more.
func reach(address string, config *ssh.ClientConfig) (*ssh.Client, error) {
	const patience = 30 * time.Second
	c, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	conn, channels, requests, err := ssh.NewClientConn(c, address, config)
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	_ = c.SetDeadline(time.Time{})
	return ssh.NewClient(conn, channels, requests), nil
}
