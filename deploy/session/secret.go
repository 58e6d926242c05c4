package session

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// secrets are the words that one session was told and that no message may hold.
type secrets struct {
	mu    sync.Mutex
	words []string
}

func (s *secrets) add(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if word != "" && !slices.Contains(s.words, word) {
		s.words = append(s.words, word)
		// The longest first: a word may be a part of another.
		slices.SortFunc(s.words, func(a, b string) int { return len(b) - len(a) })
	}
}

// hide puts stars for each secret in a text, also where the text quotes it as %q
// does or was made plain before.
func (s *secrets) hide(text string) string {
	if s == nil {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.words {
		for _, form := range []string{w, inner(strconv.Quote(w)), inner(strconv.QuoteToASCII(w)), plain(w)} {
			text = strings.ReplaceAll(text, form, "***")
		}
	}
	return text
}

func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

// vault keeps what password commands printed, so that a thousand devices that
// share one ask for it once. A command that fails is asked again.
type vault struct {
	mu      sync.Mutex
	entries map[string]*entry
}

type entry struct {
	turn chan struct{} // holds one token while nobody asks
	word string
	ok   bool
}

func (v *vault) ask(ctx context.Context, argv []string, run func(context.Context, []string) ([]byte, error)) (string, error) {
	e := v.entry(strings.Join(argv, "\x00"))
	select {
	case <-e.turn:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { e.turn <- struct{}{} }()
	if e.ok {
		return e.word, nil
	}
	out, err := run(ctx, argv)
	if err != nil {
		return "", err
	}
	e.word = strings.TrimRight(string(out), "\r\n")
	e.ok = true
	return e.word, nil
}

func (v *vault) entry(key string) *entry {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.entries == nil {
		v.entries = map[string]*entry{}
	}
	e := v.entries[key]
	if e == nil {
		e = &entry{turn: make(chan struct{}, 1)}
		e.turn <- struct{}{}
		v.entries[key] = e
	}
	return e
}

// passwordOf is the password that a Spec names. What the command prints beside it
// may hold a secret too and is left out of the error.
func (c *Client) passwordOf(ctx context.Context, to *Spec, hidden *secrets) (string, error) {
	if to.PasswordEnv != "" {
		return c.fromEnv("password_env", to.PasswordEnv, hidden)
	}
	run := c.Command
	if run == nil {
		run = c.printed
	}
	word, err := c.vault.ask(ctx, to.PasswordCommand, run)
	var status *exec.ExitError
	switch {
	case errors.As(err, &status):
		return "", failed(KindLocal, "run it by hand to see why", "the password command %q ended with code %d", to.PasswordCommand[0], status.ExitCode())
	case err != nil:
		return "", failed(KindLocal, "", "the password command %q: %w", to.PasswordCommand[0], err)
	case word == "":
		return "", failed(KindLocal, "", "the password command %q printed nothing", to.PasswordCommand[0])
	}
	hidden.add(word)
	return word, nil
}

// needed are variables that any program may need: where things are, who runs it, how it is spoken to, and the agents
// that keep secrets. A name that ends in an underscore stands for all that begin with it.
var needed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_", "TZ", "TERM", "TMPDIR", "TMP", "TEMP", "DISPLAY", "WAYLAND_DISPLAY",
	"XDG_", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "GNUPGHOME", "GPG_TTY", "PASSWORD_STORE_", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
}

// small is what of an environment a password command gets: other secrets are none of its business.
func small(environ, more []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return !slices.Contains(more, name) && !slices.ContainsFunc(needed, func(n string) bool {
			upper := strings.ToUpper(name) // Windows has them in any case
			return upper == n || strings.HasSuffix(n, "_") && strings.HasPrefix(upper, n)
		})
	})
}

// printed runs a program and returns what it writes to stdout.
func (c *Client) printed(ctx context.Context, argv []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = small(os.Environ(), c.PassEnv)
	cmd.WaitDelay = time.Second // where what it started holds on to its output
	return cmd.Output()
}

// fromEnv is the value of a variable that an attribute of a connection names.
func (c *Client) fromEnv(attribute, name string, hidden *secrets) (string, error) {
	word, ok := c.lookupEnv(name)
	switch {
	case !ok:
		return "", failed(KindLocal, "export it in the environment that runs rocec", "the variable %s, which %s names, is not set", name, attribute)
	case word == "":
		return "", failed(KindLocal, "", "the variable %s, which %s names, is empty", name, attribute)
	}
	hidden.add(word)
	return word, nil
}
