package session

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// knownFiles are the known-hosts files that were read, so that a file is parsed
// once for all devices and again only when it has changed.
type knownFiles struct {
	mu   sync.Mutex
	read map[string]*known // by the names
}

// known is what a set of known-hosts files says.
type known struct {
	files       []string // that are there
	stamps      string
	check       ssh.HostKeyCallback
	authorities map[string]map[int]bool // lines marked @cert-authority, by file
}

// open reads the files. Of those that must not be there, the missing are left out.
func (k *knownFiles) open(names []string, must bool) (*known, error) {
	key := strings.Join(names, "\x00")
	k.mu.Lock()
	defer k.mu.Unlock()
	found, stamps, err := stat(names, must)
	if err != nil {
		return nil, err
	}
	if old := k.read[key]; old != nil && old.stamps == stamps {
		return old, nil
	}
	n := &known{files: found, stamps: stamps, authorities: map[string]map[int]bool{}}
	for _, f := range found {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, failed(KindLocal, "", "known hosts: %w", err)
		}
		lines := map[int]bool{}
		for i, line := range bytes.Split(b, []byte("\n")) {
			if w := bytes.Fields(line); len(w) > 0 && string(w[0]) == "@cert-authority" {
				lines[i+1] = true
			}
		}
		n.authorities[f] = lines
	}
	if n.check, err = knownhosts.New(found...); err != nil {
		return nil, failed(KindLocal, "mend or remove the line, or name other files with known_hosts", "%w", err)
	}
	if k.read == nil {
		k.read = map[string]*known{}
	}
	k.read[key] = n
	return n, nil
}

// stat finds the files and what changes when they do.
func stat(names []string, must bool) (found []string, stamps string, err error) {
	var b strings.Builder
	for _, f := range names {
		info, err := os.Stat(f)
		switch {
		case err == nil && info.IsDir():
			return nil, "", failed(KindLocal, "", "known hosts: %s is a folder", f)
		case err == nil:
			found = append(found, f)
			fmt.Fprintf(&b, "%s %d %d\n", f, info.Size(), info.ModTime().UnixNano())
		case errors.Is(err, fs.ErrNotExist) && !must:
		default:
			return nil, "", failed(KindLocal, "", "known hosts: %w", err)
		}
	}
	return found, b.String(), nil
}

// entries are the lines that are for a host: its keys and the authorities whose
// certificates it may show.
func (k *known) entries(address string) (keys, authorities []knownhosts.KnownKey, err error) {
	var all *knownhosts.KeyError
	if err := k.check(address, &net.TCPAddr{}, noKey{}); !errors.As(err, &all) {
		return nil, nil, failed(KindLocal, "", "known hosts: %w", err)
	}
	for _, w := range all.Want {
		if k.authorities[w.Filename][w.Line] {
			authorities = append(authorities, w)
		} else {
			keys = append(keys, w)
		}
	}
	return keys, authorities, nil
}

// noKey is a key that no file holds: asking for it yields all that are on file.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return nil }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }

// certificates and plainKeys are the algorithms by which a host may prove its key,
// safe ones only, the best first.
func certificates() []string { return hostAlgorithms(true) }
func plainKeys() []string    { return hostAlgorithms(false) }

func hostAlgorithms(certificate bool) []string {
	list := slices.DeleteFunc(ssh.SupportedAlgorithms().HostKeys, func(a string) bool {
		return strings.Contains(a, "-cert-v01@") != certificate
	})
	slices.SortStableFunc(list, func(a, b string) int {
		return cmp.Compare(preference(a), preference(b))
	})
	return list
}

// preference is the order in which ssh asks.
func preference(algorithm string) int {
	for i, prefix := range []string{"ssh-ed25519", "ecdsa-"} {
		if strings.HasPrefix(algorithm, prefix) {
			return i
		}
	}
	return 2
}

// algorithmsOf are those that prove a key of one type. RSA keys have several.
func algorithmsOf(keyType string) []string {
	if keyType == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{keyType}
}

// knownHostsOf are the files that speak for a host, and whether they must be there.
func (c *Client) knownHostsOf(to *Spec) (files []string, must bool) {
	for _, f := range to.KnownHosts {
		files = append(files, c.expand(f))
	}
	if len(files) > 0 {
		return files, true
	}
	if home := c.home(); home != "" {
		files = append(files, filepath.Join(home, ".ssh", "known_hosts"))
	}
	return append(files, or(c.SystemKeys, "/etc/ssh/ssh_known_hosts")), false
}

// fingerprint is a key as ssh-keygen -l shows it.
func fingerprint(k ssh.PublicKey) string {
	if cert, ok := k.(*ssh.Certificate); ok {
		k = cert.Key
	}
	return k.Type() + " " + ssh.FingerprintSHA256(k)
}

// digest is a fingerprint's bytes.
func digest(k ssh.PublicKey) [sha256.Size]byte { return sha256.Sum256(k.Marshal()) }
