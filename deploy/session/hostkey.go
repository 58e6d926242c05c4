package session

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"mvdan.cc/sh/v3/syntax"
)

// hostKeys decides whether a host is the one that is meant.
type hostKeys struct {
	address    string // host:port
	algorithms []string
	check      func(key ssh.PublicKey) error
	refused    error // what check said, which the handshake wraps
	passed     bool

	// Of a pinned key: itself, the algorithms left to ask for, and what was seen.
	pinned *pin
	left   []string
	seen   []string
}

// hostKeys is what a Spec says about the key of its host.
func (c *Client) hostKeys(to *Spec, address string) (*hostKeys, error) {
	// As ssh does: names are looked up in lower case.
	address = strings.ToLower(address)
	h := &hostKeys{address: address}
	names, must := c.knownHostsOf(to)
	k, err := c.files.open(names, must)
	if err != nil {
		return nil, err
	}
	if to.HostKey != "" {
		pin, err := parsePin(to.HostKey)
		if err != nil {
			return nil, failed(KindLocal, `written as "SHA256:..." or as "ssh-ed25519 AAAA..."`, "host_key: %w", err)
		}
		h.pin(pin, k.revoked)
		return h, nil
	}
	keys, authorities, err := k.entries(address)
	if err != nil {
		return nil, err
	}
	// A host is asked for a key that is on file: one that has several would else show
	// whichever comes first, which looks as if its key had changed.
	if len(authorities) > 0 {
		h.algorithms = certificates()
	}
	for _, w := range keys {
		for _, a := range algorithmsOf(w.key.Type()) {
			if !slices.Contains(h.algorithms, a) {
				h.algorithms = append(h.algorithms, a)
			}
		}
	}
	if len(keys) == 0 {
		// Also where only a certificate would do: the message then names what the host has.
		h.algorithms = append(h.algorithms, plainKeys()...)
	}
	f := &onFile{address, names, keys, authorities, k.revoked}
	h.check = f.check
	return h, nil
}

// callback is the check as the handshake wants it.
func (h *hostKeys) callback(_ string, _ net.Addr, key ssh.PublicKey) error {
	h.refused = h.check(key)
	h.passed = h.refused == nil
	return h.refused
}

// another reports whether the host may be asked for a key of another type.
func (h *hostKeys) another() bool {
	if h.passed || h.refused == nil || len(h.left) == 0 {
		return false
	}
	h.algorithms, h.refused = h.left, nil
	return true
}

// pin makes one key the only one that is right, unless a file of known hosts revokes it.
func (h *hostKeys) pin(p pin, revoked map[[sha256.Size]byte]knownKey) {
	h.pinned = &p
	if p.key != nil {
		h.algorithms = algorithmsOf(p.key.Type())
	} else {
		h.algorithms = plainKeys()
		h.left = h.algorithms
	}
	h.check = func(key ssh.PublicKey) error {
		if digest(key) == p.digest {
			if r, ok := revoked[p.digest]; ok {
				h.left = nil
				return isRevoked(h.address, key, r)
			}
			return nil
		}
		mine := algorithmsOf(key.Type())
		h.left = slices.DeleteFunc(slices.Clone(h.left), func(a string) bool { return slices.Contains(mine, a) })
		h.seen = append(h.seen, fingerprint(key))
		return h.unlike(strings.Join(h.seen, ", "))
	}
}

// unlike is the failure of a host that has not the pinned key.
func (h *hostKeys) unlike(offered string) error {
	return failed(KindHostKey, "either the host was set up anew or another one answers in its place: find out which before host_key is changed",
		"the key of %s is not the one that host_key names: expected %s, offered %s", h.address, h.pinned, offered)
}

// pin is a key, or the fingerprint of one.
type pin struct {
	digest [sha256.Size]byte
	key    ssh.PublicKey // nil when only the fingerprint is known
}

func (p pin) String() string {
	if p.key != nil {
		return fingerprint(p.key)
	}
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(p.digest[:])
}

// parsePin reads "SHA256:..." or a public key as it stands in a file, without
// options.
func parsePin(s string) (pin, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "MD5:") {
		return pin{}, errors.New("an MD5 fingerprint proves nothing")
	}
	if sum, ok := strings.CutPrefix(s, "SHA256:"); ok {
		b, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(sum, "="))
		if err != nil || len(b) != sha256.Size {
			return pin{}, fmt.Errorf("%q is no fingerprint: SHA256: and 43 characters of base64", s)
		}
		return pin{digest: [sha256.Size]byte(b)}, nil
	}
	words := strings.Fields(s)
	if len(words) < 2 {
		return pin{}, fmt.Errorf("%q is neither a fingerprint nor a key", s)
	}
	b, err := base64.StdEncoding.DecodeString(words[1])
	if err != nil {
		return pin{}, fmt.Errorf("%q is neither a fingerprint nor a key", s)
	}
	key, err := ssh.ParsePublicKey(b)
	if err != nil {
		return pin{}, fmt.Errorf("the key %q: %w", s, err)
	}
	if _, ok := key.(*ssh.Certificate); ok {
		return pin{}, errors.New("a certificate cannot be pinned, its key can")
	}
	if key.Type() != words[0] {
		return pin{}, fmt.Errorf("the key says that it is %s, and the word before it %q", key.Type(), words[0])
	}
	return pin{digest(key), key}, nil
}

// learn is how a key is put on file, the first of those that are read.
func learn(address string, files []string) string {
	host, port, _ := net.SplitHostPort(address)
	into := "~/.ssh/known_hosts"
	if len(files) > 0 {
		into = files[0]
	}
	for _, word := range []*string{&host, &into} {
		if q, err := syntax.Quote(*word, syntax.LangPOSIX); err == nil && *word != "~/.ssh/known_hosts" {
			*word = q
		}
	}
	return fmt.Sprintf("compare the fingerprint with what the console of the host shows, then add the key: ssh-keyscan -p %s %s >> %s; "+
		"ssh-keyscan believes whoever answers, only the comparison proves anything", port, host, into)
}

// untyped is the failure of a host that has no key of the types asked for.
func (h *hostKeys) untyped(e *ssh.AlgorithmNegotiationError) error {
	has := strings.Join(e.RequestedAlgorithms, ", ")
	switch {
	case len(h.seen) > 0:
		return h.unlike(strings.Join(h.seen, ", "))
	case h.pinned != nil:
		return h.unlike(has)
	}
	return failed(KindHostKey, "either the host was set up anew or another one answers in its place: compare its key at the console, then change what is on file",
		"%s has no key of a type on file: expected %s, the host has %s", h.address, strings.Join(h.algorithms, ", "), has)
}
