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
	"golang.org/x/crypto/ssh/knownhosts"
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
	if to.HostKey != "" {
		pin, err := parsePin(to.HostKey)
		if err != nil {
			return nil, failed(KindLocal, `written as "SHA256:..." or as "ssh-ed25519 AAAA..."`, "host_key: %w", err)
		}
		h.pin(pin)
		return h, nil
	}
	names, must := c.knownHostsOf(to)
	k, err := c.files.open(names, must)
	if err != nil {
		return nil, err
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
		for _, a := range algorithmsOf(w.Key.Type()) {
			if !slices.Contains(h.algorithms, a) {
				h.algorithms = append(h.algorithms, a)
			}
		}
	}
	if len(h.algorithms) == 0 {
		h.algorithms = plainKeys()
	}
	h.check = func(key ssh.PublicKey) error {
		err := k.check(address, &net.TCPAddr{}, key)
		if err == nil && !isCertificate(key) && !slices.ContainsFunc(keys, func(w knownhosts.KnownKey) bool { return digest(w.Key) == digest(key) }) {
			err = &knownhosts.KeyError{Want: keys} // the key of an authority is no host's key
		}
		return explain(err, address, key, keys, authorities, names)
	}
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

// pin makes one key the only one that is right.
func (h *hostKeys) pin(p pin) {
	h.pinned = &p
	if p.key != nil {
		h.algorithms = algorithmsOf(p.key.Type())
	} else {
		h.algorithms = plainKeys()
		h.left = h.algorithms
	}
	h.check = func(key ssh.PublicKey) error {
		if digest(key) == p.digest {
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
	if isCertificate(key) {
		return pin{}, errors.New("a certificate cannot be pinned, its key can")
	}
	if key.Type() != words[0] {
		return pin{}, fmt.Errorf("the key says that it is %s, and the word before it %q", key.Type(), words[0])
	}
	return pin{digest(key), key}, nil
}

func isCertificate(k ssh.PublicKey) bool {
	_, ok := k.(*ssh.Certificate)
	return ok
}

// explain says what is wrong with a key and what to do.
func explain(err error, address string, key ssh.PublicKey, keys, authorities []knownhosts.KnownKey, files []string) error {
	if err == nil {
		return nil
	}
	var revoked *knownhosts.RevokedError
	var unequal *knownhosts.KeyError
	switch {
	case errors.As(err, &revoked):
		return failed(KindHostKey, "do not log in there: whoever revoked the key held it for stolen",
			"the key of %s is revoked in %s line %d: %s", address, revoked.Revoked.Filename, revoked.Revoked.Line, fingerprint(key))
	case isCertificate(key):
		return failed(KindHostKey, "", "the certificate of %s is refused: %w; it certifies %s; %s", address, err, fingerprint(key), listed("authorities for it", authorities, files))
	case !errors.As(err, &unequal):
		return failed(KindHostKey, "", "the key of %s: %w", address, err)
	case len(keys) == 0 && len(authorities) == 0:
		return failed(KindHostKey, learn(address, files), "the key of %s is unknown: it offers %s; no line for it in %s", address, fingerprint(key), strings.Join(files, ", "))
	case len(keys) == 0:
		return failed(KindHostKey, "give the host a certificate, or put its key on file", "%s shows no certificate but %s; %s",
			address, fingerprint(key), listed("authorities for it", authorities, files))
	}
	return failed(KindHostKey, "either the host was set up anew or another one answers in its place: find out which before the line is changed",
		"the key of %s is not the one on file: expected %s; offered %s", address, listed("", keys, files), fingerprint(key))
}

// listed names keys with the lines that they stand in.
func listed(what string, keys []knownhosts.KnownKey, files []string) string {
	if len(keys) == 0 {
		return "no " + what + " in " + strings.Join(files, ", ")
	}
	var b []string
	for _, k := range keys {
		b = append(b, fmt.Sprintf("%s (%s line %d)", fingerprint(k.Key), k.Filename, k.Line))
	}
	if what != "" {
		what += ": "
	}
	return what + strings.Join(b, ", ")
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
