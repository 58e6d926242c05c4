package session

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/rocec/rocec/deploy/disk"
)

// knownFiles are the known-hosts files that were read, so that a file is parsed
// once for all devices and again only when it has changed.
type knownFiles struct {
	mu   sync.Mutex
	read map[string]*known // by the names
}

// known is what a set of known-hosts files says.
type known struct {
	files  []string // that are there
	stamps string
	lines  []*knownLine

	literal map[string][]int // lines by the names that stand there in full
	wild    []int            // all others
	revoked map[[sha256.Size]byte]knownKey
}

// maxKnownBytes bounds a file of known hosts: some 200,000 keys.
const maxKnownBytes = 64 << 20

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
	n := &known{files: found, stamps: stamps, literal: map[string][]int{}, revoked: map[[sha256.Size]byte]knownKey{}}
	for _, f := range found {
		b, err := disk.ReadLinked(f, maxKnownBytes)
		if err != nil {
			return nil, failed(KindLocal, "", "known hosts: %w", err)
		}
		number := 0
		for text := range bytes.Lines(b) {
			number++
			line, err := parseKnownLine(bytes.TrimSuffix(text, []byte("\n")))
			if err != nil {
				return nil, failed(KindLocal, "mend or remove the line, or name other files with known_hosts", "known hosts: %s:%d: %w", f, number, err)
			}
			if line != nil {
				line.file, line.line = f, number
				n.add(line)
			}
		}
	}
	if k.read == nil {
		k.read = map[string]*known{}
	}
	k.read[key] = n
	return n, nil
}

// add takes in a line.
func (k *known) add(l *knownLine) {
	if l.mark == markRevoked {
		// For which hosts does not matter: sshd(8) has it that a revoked key must never be
		// accepted, and who holds a stolen key chooses the host to show it for.
		k.revoked[digest(l.key)] = l.knownKey
		return
	}
	i := len(k.lines)
	k.lines = append(k.lines, l)
	if l.wild {
		k.wild = append(k.wild, i)
		return
	}
	for _, n := range l.names {
		k.literal[n] = append(k.literal[n], i)
	}
}

// stat finds the files and what changes when they do.
func stat(names []string, must bool) (found []string, stamps string, err error) {
	var b strings.Builder
	for _, f := range names {
		info, err := os.Stat(f)
		switch {
		case err == nil && info.IsDir():
			return nil, "", failed(KindLocal, "", "known hosts: %s is a folder", f)
		case err == nil && !info.Mode().IsRegular():
			return nil, "", failed(KindLocal, "", "known hosts: %s is not a regular file", f)
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
// certificates it may show. As with ssh, a line for the host at this very port puts
// those for the host alone aside, and authorities count either way.
func (k *known) entries(address string) (keys, authorities []knownKey, err error) {
	names, err := hostNames(address)
	if err != nil {
		return nil, nil, failed(KindLocal, "", "known hosts: %w", err)
	}
	at := slices.Clone(k.wild)
	for _, n := range names {
		at = append(at, k.literal[n]...)
	}
	slices.Sort(at)
	var alone []knownKey
	for _, i := range slices.Compact(at) {
		l := k.lines[i]
		hit := l.match(names)
		switch {
		case !slices.Contains(hit, true):
		case l.mark == markAuthority:
			authorities = append(authorities, l.knownKey)
		case hit[0]:
			keys = append(keys, l.knownKey)
		default:
			alone = append(alone, l.knownKey)
		}
	}
	if len(keys) == 0 {
		keys = alone
	}
	return keys, authorities, nil
}

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
