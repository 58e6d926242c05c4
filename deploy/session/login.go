package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/rocec/rocec/deploy/disk"
)

// identity is how one login proves who we are.
type identity struct {
	user    string
	methods []ssh.AuthMethod
	said    []string // what is tried, for messages
	local   error    // what failed here, in the middle of the login
	unasked error    // what the device asked that has no answer
	done    func()   // ends the connection to the agent
}

// identity gathers the keys and the password that a Spec names. Where it names
// nothing at all the login is as ssh's: the agent, and the keys under ~/.ssh.
func (c *Client) identity(ctx context.Context, to *Spec, hidden *secrets) (*identity, error) {
	me := &identity{user: to.User, done: func() {}}
	if me.user == "" {
		name, err := c.self()
		if err != nil {
			return nil, err
		}
		me.user = name
	}
	files, useAgent, must := to.Identity, to.Agent, true
	password := to.PasswordEnv != "" || len(to.PasswordCommand) > 0
	if len(files) == 0 && !useAgent && !password {
		_, useAgent = c.lookupEnv("SSH_AUTH_SOCK")
		files, must = []string{"~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa"}, false
	}
	var held []ssh.Signer // of the agent
	if useAgent {
		keys, closer, err := c.agentKeys(ctx)
		switch {
		case err == nil:
			held, me.done = keys, closer
			me.said = append(me.said, fmt.Sprintf("%d keys of the agent", len(keys)))
		case must:
			return nil, err
		}
	}
	signers, read, err := c.keysFrom(files, held, must)
	if err != nil {
		me.done()
		return nil, err
	}
	me.said = append(read, me.said...)
	for _, k := range held {
		if !slices.ContainsFunc(signers, func(s ssh.Signer) bool { return digest(s.PublicKey()) == digest(k.PublicKey()) }) {
			signers = append(signers, k)
		}
	}
	if len(signers) > 0 {
		me.methods = append(me.methods, ssh.PublicKeys(signers...))
	}
	if password {
		if to.PasswordEnv != "" {
			// Read now: a variable that is missing fails before a device sees anything of us.
			if _, err := c.fromEnv("password_env", to.PasswordEnv, hidden); err != nil {
				me.done()
				return nil, err
			}
		}
		me.addPassword(func() (string, error) { return c.passwordOf(ctx, to, hidden) })
	}
	if len(me.methods) == 0 {
		me.done()
		return nil, failed(KindLocal, "name a key file (identity), the agent or a password (password_env)", "there is no key and no password to log in with%s",
			strings.Join(append([]string{""}, me.said...), "; "))
	}
	return me, nil
}

// addPassword answers with the password, also where the device asks for it in a dialogue: once, and to one question that
// is for it. What an expired password, a second factor or a curious device asks has no answer.
func (me *identity) addPassword(ask func() (string, error)) {
	me.said = append(me.said, "a password")
	given := false
	get := func() (string, error) {
		given = true
		word, err := ask()
		if err != nil {
			me.local = err
		}
		return word, err
	}
	dialogue := func(name, instruction string, questions []string, echos []bool) ([]string, error) {
		switch {
		case len(questions) == 0:
			return nil, nil
		case len(questions) > 1:
			me.unasked = fmt.Errorf("it asks %d questions at once: %q", len(questions), questions)
		case echos[0] || !asksPassword(name, instruction, questions[0]):
			me.unasked = fmt.Errorf("it asks %q, which is not for the password", questions[0])
		case given:
			me.unasked = fmt.Errorf("it asks %q, and has had the password already", questions[0])
		}
		if me.unasked != nil {
			return nil, me.unasked
		}
		word, err := get()
		return []string{word}, err
	}
	me.methods = append(me.methods, ssh.PasswordCallback(get), ssh.KeyboardInteractive(dialogue))
}

var (
	passwordQuestion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^[^\n]*\bpassword\b[^\n]*$`) })
	anotherQuestion  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(new|old|current|again|re-?type|re-?enter|repeat|verify|confirm|change|expired?|next|previous|one-time|token|code)\b|\|`)
	})
)

// asksPassword reports whether a question of a dialogue, and what stands above it, is for the password and no other:
// "Password: ", "admin@leaf1's password:", "Password for admin:".
func asksPassword(name, instruction, question string) bool {
	question = strings.TrimSpace(question)
	return passwordQuestion().MatchString(question) && !anotherQuestion().MatchString(name+"\n"+instruction+"\n"+question)
}

// keysFrom reads private keys and the certificates beside them. Those that must
// not be there are left out when they cannot be used.
func (c *Client) keysFrom(files []string, held []ssh.Signer, must bool) (signers []ssh.Signer, read []string, err error) {
	for _, f := range files {
		path := c.expand(f)
		key, err := keyFrom(path, held)
		if err != nil {
			if !must {
				if errors.Is(err, disk.ErrOpenKey) {
					read = append(read, path+" left out, as others may read it")
				}
				continue
			}
			return nil, nil, err
		}
		if cert, err := certificateBeside(path, key); err != nil {
			return nil, nil, err
		} else if cert != nil {
			signers = append(signers, cert)
			read = append(read, path+"-cert.pub")
		}
		signers = append(signers, key)
		read = append(read, path)
	}
	return signers, read, nil
}

// maxPublicBytes bounds a public key or certificate.
const maxPublicBytes = 1 << 20

// keyFrom reads one private key. One behind a passphrase is used through the agent
// when the agent holds it.
func keyFrom(path string, held []ssh.Signer) (ssh.Signer, error) {
	b, err := disk.ReadKey(path)
	switch {
	case errors.Is(err, disk.ErrOpenKey):
		word, quoted := quote(path)
		if quoted != nil {
			word = "FILE"
		}
		return nil, failed(KindLocal, "take it away from the others: chmod 600 "+word+"; and make a new key if they may have read it", "the private key: %w", err)
	case err != nil:
		return nil, failed(KindLocal, "", "the private key: %w", err)
	}
	key, err := ssh.ParsePrivateKey(b)
	var locked *ssh.PassphraseMissingError
	switch {
	case err == nil:
		return key, nil
	case !errors.As(err, &locked):
		// The parser's own words are about the file's form and hold nothing of the key.
		return nil, failed(KindLocal, "", "the private key %s: %w", path, err)
	}
	public := locked.PublicKey
	if public == nil {
		if b, err := disk.ReadLinked(path+".pub", maxPublicBytes); err == nil {
			public, _, _, _, _ = ssh.ParseAuthorizedKey(b)
		}
	}
	for _, k := range held {
		if public != nil && digest(k.PublicKey()) == digest(public) {
			return k, nil
		}
	}
	return nil, failed(KindLocal, "add it to the agent with ssh-add and set agent = true", "the private key %s is behind a passphrase", path)
}

// certificateBeside is the key with the certificate that lies beside its file, nil
// when there is none.
func certificateBeside(path string, key ssh.Signer) (ssh.Signer, error) {
	path += "-cert.pub"
	b, err := disk.ReadLinked(path, maxPublicBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(KindLocal, "", "the certificate: %w", err)
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey(b)
	if err != nil {
		return nil, failed(KindLocal, "", "the certificate %s: %w", path, err)
	}
	cert, ok := public.(*ssh.Certificate)
	if !ok {
		return nil, failed(KindLocal, "", "%s holds a key and no certificate", path)
	}
	signer, err := ssh.NewCertSigner(cert, key)
	if err != nil {
		return nil, failed(KindLocal, "", "the certificate %s: %w", path, err)
	}
	return signer, nil
}

// agentKeys are the keys of the agent, which signs as long as the connection to it
// is open.
func (c *Client) agentKeys(ctx context.Context) ([]ssh.Signer, func(), error) {
	socket, ok := c.lookupEnv("SSH_AUTH_SOCK")
	if !ok || socket == "" {
		return nil, nil, failed(KindLocal, "start one: eval $(ssh-agent); ssh-add", "there is no agent: SSH_AUTH_SOCK is not set")
	}
	dial := c.DialAgent
	if dial == nil {
		dial = func(ctx context.Context, socket string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
	}
	conn, err := dial(ctx, socket)
	if err != nil {
		return nil, nil, failed(KindLocal, "", "the agent: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	done := func() {
		stop()
		conn.Close()
	}
	keys, err := agent.NewClient(conn).Signers()
	if err != nil {
		done()
		return nil, nil, failed(KindLocal, "", "the agent: %w", err)
	}
	return keys, done, nil
}

// self is the name of the user that the process runs for.
func (c *Client) self() (string, error) {
	for _, v := range []string{"USER", "LOGNAME", "USERNAME"} {
		if name, _ := c.lookupEnv(v); name != "" {
			return name, nil
		}
	}
	u, err := user.Current()
	if err != nil {
		return "", failed(KindLocal, "write user in the connection", "the name of the user: %w", err)
	}
	return u.Username, nil
}

// home is the user's folder, "" when it is not known.
func (c *Client) home() string {
	for _, v := range []string{"HOME", "USERPROFILE"} {
		if dir, _ := c.lookupEnv(v); dir != "" {
			return dir
		}
	}
	return ""
}

// expand writes out a leading ~/.
func (c *Client) expand(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if home := c.home(); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// macSHA1 begins the names of MACs that rest on SHA-1, of which x/crypto holds one for safe.
const macSHA1 = "hmac-sha1"

// algorithms are those that are offered: safe ones, and with legacy, behind them, those on SHA-1 that servers have which
// know nothing newer. Keys of hosts are never proven with SHA-1.
func algorithms(legacy bool) ssh.Config {
	safe := ssh.SupportedAlgorithms()
	c := ssh.Config{KeyExchanges: safe.KeyExchanges, Ciphers: safe.Ciphers, MACs: safe.MACs}
	c.MACs = slices.DeleteFunc(c.MACs, func(name string) bool { return strings.HasPrefix(name, macSHA1) })
	if legacy {
		c.KeyExchanges = append(c.KeyExchanges, ssh.InsecureKeyExchangeDH14SHA1)
		c.MACs = append(c.MACs, ssh.HMACSHA1)
	}
	return c
}

// handshake makes an SSH connection of a transport and logs in. It returns as soon
// as the context ends, also when the transport cannot be closed at once, as that
// through a jump host that hangs.
func handshake(ctx context.Context, conn net.Conn, to *Spec, me *identity, keys *hostKeys) (*ssh.Client, error) {
	address := addressOf(to)
	config := &ssh.ClientConfig{
		Config: algorithms(to.Legacy),
		User:   me.user, Auth: me.methods,
		HostKeyCallback: keys.callback, HostKeyAlgorithms: keys.algorithms,
		ClientVersion: "SSH-2.0-rocec",
	}
	type result struct {
		client *ssh.Client
		err    error
	}
	done := make(chan result, 1)
	go func() {
		c, channels, requests, err := ssh.NewClientConn(&wire{Conn: conn}, address, config)
		if err != nil {
			done <- result{nil, err}
			return
		}
		done <- result{ssh.NewClient(c, channels, requests), nil}
	}()
	select {
	case r := <-done:
		if r.err == nil {
			return r.client, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, fmt.Errorf("%s: %w", address, cause)
		}
		return nil, explainLogin(r.err, address, me, keys)
	case <-ctx.Done():
		go func() {
			conn.Close()
			if r := <-done; r.err == nil {
				r.client.Close()
			}
		}()
		return nil, fmt.Errorf("%s: %w", address, context.Cause(ctx))
	}
}

// explainLogin says why a host did not let us in.
func explainLogin(err error, address string, me *identity, keys *hostKeys) error {
	var nothing *ssh.AlgorithmNegotiationError
	switch {
	case keys.refused != nil:
		return keys.refused
	case errors.As(err, &nothing) && nothing.What == "host key":
		return keys.untyped(nothing)
	case errors.As(err, &nothing):
		help := "its SSH server is too old or too strict for the safe algorithms"
		old := algorithms(true)
		if slices.ContainsFunc(nothing.RequestedAlgorithms, func(a string) bool { return slices.Contains(old.KeyExchanges, a) || slices.Contains(old.MACs, a) }) {
			help = "its SSH server has nothing newer than SHA-1: update it, or let its connection say legacy_algorithms = true"
		}
		return failed(KindUnreachable, help, "%s: %w", address, err)
	case me.local != nil:
		return me.local
	case me.unasked != nil:
		err = me.unasked
		fallthrough
	// The text of x/crypto/ssh for a login that was refused, which has no type.
	case keys.passed && (strings.Contains(err.Error(), "unable to authenticate") || strings.Contains(err.Error(), "ssh: disconnect")):
		return failed(KindAuth, "", "%s does not let user %q in with %s: %w", address, me.user, strings.Join(me.said, ", "), err)
	}
	if cut(err) { // sshd_config(5)
		return failed(KindUnreachable, "see MaxStartups and PerSourcePenalties of its sshd_config, and whether an SSH server is behind that port",
			"%s: the other end closed the connection before it let us in", address)
	}
	return failed(KindUnreachable, "", "%s: %w", address, err)
}
