package session

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Marks of lines, without their @.
const (
	markAuthority = "cert-authority"
	markRevoked   = "revoked"
)

// knownKey is a key and the line that it stands in.
type knownKey struct {
	key  ssh.PublicKey
	file string
	line int
}

// knownLine is a line of a known-hosts file: for which hosts it is, and what it
// says of its key.
type knownLine struct {
	knownKey
	mark         string
	names        []string // to match, in lower case; literal or with * and ?
	not          []string // that take a host out again
	wild         bool     // a literal does not do: patterns, or a hash
	salt, digest []byte   // of a hashed name, in place of names
}

// parseKnownLine reads one line. It is nil for lines that say nothing, and for
// keys of a kind that is not known here, which no host is asked for.
func parseKnownLine(text []byte) (*knownLine, error) {
	text = bytes.Trim(text, " \t\r")
	if len(text) == 0 || text[0] == '#' {
		return nil, nil
	}
	mark, names, key, _, _, err := ssh.ParseKnownHosts(text)
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it holds one word, not names and a key")
	// The words of x/crypto/ssh; ssh passes over such lines too.
	case err != nil && strings.Contains(err.Error(), "unknown key algorithm"):
		return nil, nil
	case err != nil:
		return nil, err
	case mark != "" && mark != markAuthority && mark != markRevoked:
		return nil, fmt.Errorf("%q is no mark, those are @%s and @%s", "@"+mark, markAuthority, markRevoked)
	}
	l := &knownLine{knownKey: knownKey{key: key}, mark: mark}
	// As ssh takes it: what begins with | is one hash, commas are for names.
	if hash, ok := strings.CutPrefix(names[0], "|"); ok {
		return l, l.hashed(strings.Join(append([]string{hash}, names[1:]...), ","))
	}
	for _, n := range names {
		n, not := strings.CutPrefix(strings.ToLower(n), "!")
		switch {
		case n == "" && not:
			return nil, errors.New("! stands before no name")
		case n == "":
		case not:
			l.not, l.wild = append(l.not, n), true
		default:
			l.names, l.wild = append(l.names, n), l.wild || strings.ContainsAny(n, "*?")
		}
	}
	return l, nil
}

// hashed reads a name that ssh-keygen -H has hashed: 1|salt|hash.
func (l *knownLine) hashed(text string) error {
	parts := strings.Split(text, "|")
	if len(parts) != 3 || parts[0] != "1" {
		return errors.New("a hashed name is written |1|salt|hash")
	}
	var err error
	if l.salt, err = base64.StdEncoding.DecodeString(parts[1]); err != nil {
		return fmt.Errorf("the salt of a hashed name: %w", err)
	}
	if l.digest, err = base64.StdEncoding.DecodeString(parts[2]); err != nil {
		return fmt.Errorf("the hash of a name: %w", err)
	}
	l.wild = true
	return nil
}

// hostNames are the words that a host is looked up by, the first before the second:
// OpenSSH matches "[host]:port" as one text, and when no line has that, the host
// alone (sshconnect.c, check_host_key, "checking without port identifier").
func hostNames(address string) ([]string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	host = strings.ToLower(host)
	if port == "22" {
		return []string{host}, nil
	}
	return []string{"[" + host + "]:" + port, host}, nil
}

// match reports which of a host's names a line is for. A name that is taken out by
// ! takes out the whole host: to ssh the line "*,!leaf1" is for leaf1 at every port
// but 22, which nobody means who writes it.
func (l *knownLine) match(names []string) []bool {
	hit := make([]bool, len(names))
	for i, name := range names {
		for _, n := range l.not {
			if wildcard(n, name) {
				return make([]bool, len(names))
			}
		}
		if l.digest != nil {
			mac := hmac.New(sha1.New, l.salt)
			mac.Write([]byte(name))
			hit[i] = hmac.Equal(mac.Sum(nil), l.digest)
		}
		for _, n := range l.names {
			hit[i] = hit[i] || wildcard(n, name)
		}
	}
	return hit
}

// wildcard matches a text whole: * is any bytes or none, ? is one byte (OpenSSH,
// match.c, match_pattern).
func wildcard(pattern, text string) bool {
	star, from, p, t := -1, 0, 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p, t = p+1, t+1
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
