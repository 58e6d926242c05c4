package lang

import (
	"encoding/base64"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/lang/schema"
)

// leafHost reads what connections are made of: hosts, names of environment
// variables and keys of hosts.
func leafHost(tb *tables, t *schema.Type, name, s string) (Value, *mistake) {
	switch t.Base {
	case schema.Host:
		if why := BadHost(s); why != "" {
			return Value{}, &mistake{name + " " + quoteWord(clipName(s)) + " " + why, "write " + wanted(t)}
		}
	case schema.EnvVar:
		if !envName(s) { // it may be the secret itself, and is not shown
			return Value{}, &mistake{name + " is not the name of an environment variable", "write " + wanted(t) + "; the secret itself stands in no file"}
		}
	case schema.HostKey:
		if !hostKey(s) {
			return Value{}, takes(t, name, quoteWord(clipName(s)), wanted(t))
		}
	}
	return tb.text(s), nil
}

// BadHost says what is wrong with the address of a host, "" if nothing. A port
// is no part of it.
func BadHost(s string) string {
	if _, err := netip.ParseAddr(s); err == nil {
		return ""
	}
	switch {
	case s == "":
		return "is empty"
	case len(s) > 253:
		return "is longer than 253 characters"
	case strings.Contains(s, "://"):
		return "is a URL, and no host"
	case strings.Contains(s, "@"):
		return "has a user, which stands in `user`"
	case strings.HasPrefix(s, "["), strings.Count(s, ":") == 1:
		return "has brackets or a port, which stands in `port`"
	case strings.Contains(s, "/"):
		return "has a prefix length, and is no host"
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if len(part) == 0 || len(part) > 63 || part[0] == '-' || part[len(part)-1] == '-' {
			return "is neither a host name nor an IP address"
		}
		for i := 0; i < len(part); i++ {
			c := part[i]
			if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c != '-' && c != '_' {
				return "is neither a host name nor an IP address"
			}
		}
	}
	return ""
}

func envName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// keyTypes are the public keys that host keys are of.
var keyTypes = []string{
	"ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
	"sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
}

// hostKey reports whether a text is a fingerprint, or a key as files of known
// hosts have it: its type, and in base64 the key, which begins with that type.
func hostKey(s string) bool {
	if sum, ok := strings.CutPrefix(s, "SHA256:"); ok {
		b, err := base64.RawStdEncoding.DecodeString(sum)
		return err == nil && len(b) == 32
	}
	kind, rest, ok := strings.Cut(s, " ")
	if !ok || !slices.Contains(keyTypes, kind) {
		return false
	}
	b, err := base64.StdEncoding.DecodeString(rest)
	return err == nil && len(b) > 4+len(kind) && binary.BigEndian.Uint32(b) == uint32(len(kind)) && string(b[4:4+len(kind)]) == kind
}
