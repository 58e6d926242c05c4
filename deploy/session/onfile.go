package session

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// onFile is what the known-hosts files say of one host.
type onFile struct {
	address           string
	files             []string // that were asked
	keys, authorities []knownKey
	revoked           map[[sha256.Size]byte]knownKey
}

// check decides whether a key is the host's. A certificate that does not hold is
// taken for the key in it, as ssh does: the host may have that on file.
func (f *onFile) check(key ssh.PublicKey) error {
	cert, certified := key.(*ssh.Certificate)
	if certified {
		key = cert.Key
	}
	if r, ok := f.revoked[digest(key)]; ok {
		return isRevoked(f.address, key, r)
	}
	var refused error
	if certified {
		if r, ok := f.revoked[digest(cert.SignatureKey)]; ok {
			return failed(KindHostKey, "do not log in there: whoever revoked the authority held its key for stolen",
				"the certificate of %s is signed by an authority that is revoked in %s line %d: %s", f.address, r.file, r.line, fingerprint(cert.SignatureKey))
		}
		if refused = f.certificate(cert); refused == nil {
			return nil
		}
	}
	if slices.ContainsFunc(f.keys, func(w knownKey) bool { return digest(w.key) == digest(key) }) {
		return nil
	}
	switch {
	case len(f.keys) > 0:
		return failed(KindHostKey, "either the host was set up anew or another one answers in its place: find out which before the line is changed",
			"the key of %s is not the one on file: expected %s; offered %s%s", f.address, listed("", f.keys, f.files), fingerprint(key), besides(refused))
	case refused != nil:
		return failed(KindHostKey, "", "the certificate of %s is refused: %w; it certifies %s; %s",
			f.address, refused, fingerprint(key), listed("authorities for it", f.authorities, f.files))
	case len(f.authorities) > 0:
		return failed(KindHostKey, "give the host a certificate, or "+learn(f.address, f.files), "%s shows no certificate but %s; %s",
			f.address, fingerprint(key), listed("authorities for it", f.authorities, f.files))
	}
	return failed(KindHostKey, learn(f.address, f.files), "the key of %s is unknown: it offers %s; no line for it in %s",
		f.address, fingerprint(key), strings.Join(f.files, ", "))
}

// isRevoked is the failure of a host whose key a file revokes.
func isRevoked(address string, key ssh.PublicKey, r knownKey) error {
	return failed(KindHostKey, "do not log in there: whoever revoked the key held it for stolen",
		"the key of %s is revoked in %s line %d: %s", address, r.file, r.line, fingerprint(key))
}

// certificate decides whether a certificate holds for the host.
func (f *onFile) certificate(cert *ssh.Certificate) error {
	host, _, err := net.SplitHostPort(f.address)
	if err != nil {
		return err
	}
	switch {
	case cert.CertType != ssh.HostCert:
		return fmt.Errorf("it is one of a user, type %d", cert.CertType)
	case !slices.ContainsFunc(f.authorities, func(a knownKey) bool { return digest(a.key) == digest(cert.SignatureKey) }):
		return fmt.Errorf("no authority for this host has signed it, but %s", fingerprint(cert.SignatureKey))
	// OpenSSH's CASignatureAlgorithms leave them out too.
	case slices.Contains(ssh.InsecureAlgorithms().HostKeys, cert.Signature.Format):
		return fmt.Errorf("it is signed with %s, which can be forged", cert.Signature.Format)
	// As OpenSSH does from 10.3 on: whoever gets an authority to sign one without names could be any host (CVE-2024-7594).
	case len(cert.ValidPrincipals) == 0:
		return errors.New("it names no host: sign it with the names of its host, ssh-keygen -h -n")
	}
	// A principal may be a pattern, from 10.3 on (sshkey.c, sshkey_cert_check_host).
	principal := host
	if i := slices.IndexFunc(cert.ValidPrincipals, func(p string) bool { return wildcard(p, host) }); i >= 0 {
		principal = cert.ValidPrincipals[i]
	}
	if err := new(ssh.CertChecker).CheckCert(principal, cert); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "ssh: "))
	}
	return nil
}

// besides is what is wrong with a certificate too.
func besides(refused error) string {
	if refused == nil {
		return ""
	}
	return fmt.Sprintf(", with a certificate that is refused: %v", refused)
}

// listed names keys with the lines that they stand in.
func listed(what string, keys []knownKey, files []string) string {
	if len(keys) == 0 {
		return "no " + what + " in " + strings.Join(files, ", ")
	}
	var b []string
	for _, k := range keys {
		b = append(b, fmt.Sprintf("%s (%s line %d)", fingerprint(k.key), k.file, k.line))
	}
	if what != "" {
		what += ": "
	}
	return what + strings.Join(b, ", ")
}
