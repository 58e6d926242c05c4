package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/scrapli/scrapligo/driver/network"
	"github.com/scrapli/scrapligo/driver/options"
	scrapli "github.com/scrapli/scrapligo/util"
)

// prompt is a session with a system that has no other way in than its prompt.
type prompt struct {
	*link
	platform *platform
	terminal *terminal
	driver   *network.Driver
}

// newPrompt waits for the first prompt and prepares the terminal.
func newPrompt(ctx context.Context, l *link) (Session, error) {
	kind, err := platformOf(&l.spec)
	if err != nil {
		return nil, err
	}
	return openPrompt(ctx, l, kind)
}

func openPrompt(ctx context.Context, l *link, kind *platform) (Session, error) {
	s := &prompt{link: l, platform: kind, terminal: &terminal{link: l}}
	opts := []scrapli.Option{
		options.WithCustomTransport(s.terminal),
		// Time is kept by the link, whose clock is the client's; when it ends the link,
		// the terminal reports its end and scrapligo gives up.
		options.WithTimeoutOps(24 * time.Hour),
		options.WithReadDelay(10 * time.Millisecond),
		options.WithTransportReadSize(32 << 10),
		options.WithPrivilegeLevels(levels(kind)),
		options.WithDefaultDesiredPriv(kind.exec),
	}
	if l.spec.EnableEnv != "" {
		word, err := l.own.fromEnv("enable_env", l.spec.EnableEnv, l.secrets)
		if err != nil {
			return nil, err
		}
		opts = append(opts, options.WithAuthSecondary(word))
	}
	var err error
	if s.driver, err = network.NewDriver(l.spec.Address, opts...); err != nil {
		return nil, failed(KindLocal, "", "platform %s: %w", l.spec.Platform, err)
	}
	done := make(chan error, 1)
	go func() { done <- s.start() }()
	select {
	case err = <-done:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for a prompt: %w", context.Cause(ctx))
	case <-l.gone:
		err = errors.New("no prompt")
	}
	if cause := l.ended(); err != nil && cause != nil {
		return nil, fmt.Errorf("waiting for a prompt: %w", cause)
	}
	return s, err
}

// levels are the platform's own copies: the driver writes into them.
func levels(p *platform) map[string]*network.PrivilegeLevel {
	own := maps.Clone(p.levels)
	for name, l := range own {
		copied := *l
		own[name] = &copied
	}
	return own
}

func (s *prompt) start() error {
	if err := s.driver.Open(); err != nil {
		return lostPrompt(err)
	}
	if err := s.acquire(s.platform.exec); err != nil {
		return err
	}
	for _, c := range s.platform.open {
		if _, err := s.say(c); err != nil {
			return err
		}
	}
	return nil
}

// acquire goes to a level of the prompt.
func (s *prompt) acquire(level string) error {
	err := s.driver.AcquirePriv(level)
	if errors.Is(err, scrapli.ErrPrivilegeError) {
		if s.driver.AuthSecondary != "" && level == s.platform.exec {
			return failed(KindAuth, "does enable_env hold the right password?", "the device does not give its %s mode: %w", level, err)
		}
		return failed(KindRefused, "", "the device does not give its %s mode: %w", level, err)
	}
	return lostPrompt(err)
}

// say types one line where the prompt is and returns what the device says to it,
// which may be that it does not take it.
func (s *prompt) say(line string) (string, error) {
	r, err := s.driver.Driver.SendCommand(line)
	if err != nil {
		return "", lostPrompt(err)
	}
	if words := s.platform.refusal(r.Result); words != "" {
		return r.Result, failed(KindRefused, "", "the device refuses %q: %s", line, words)
	}
	return r.Result, nil
}

// lostPrompt says in other words that the terminal has ended.
func lostPrompt(err error) error {
	if errors.Is(err, scrapli.ErrConnectionError) {
		return failed(KindLost, "", "the device closed its prompt")
	}
	return err
}

// Run runs one command at the prompt. One that the device refuses is an error,
// since a prompt tells no exit code.
func (s *prompt) Run(ctx context.Context, command string, stdin []byte) (Output, error) {
	err := s.platform.typable(command)
	if err == nil && len(stdin) > 0 {
		err = failed(KindLocal, "", "a prompt takes no input beside its lines")
	}
	if err != nil {
		return Output{}, toError(s.spec.Device, opRun, KindLocal, err, s.secrets)
	}
	return s.do(ctx, opRun, func() (Output, error) {
		s.terminal.said.Store(0)
		if err := s.acquire(s.platform.exec); err != nil {
			return Output{}, err
		}
		said, err := s.say(command)
		return Output{Stdout: []byte(said), Exit: -1}, err
	})
}

// Configure enters the lines one by one, up to the first that is refused, leaves
// the configuration mode and then runs the command.
func (s *prompt) Configure(ctx context.Context, c Change) (Output, error) {
	lines, err := s.platform.lines(c.Lines)
	if err == nil && (len(c.Files) > 0 || c.Folder != "" || c.Dir != "") {
		err = failed(KindLocal, "", "files for a device that has a prompt only")
	}
	if err == nil && c.Command != "" {
		err = s.platform.typable(c.Command)
	}
	if err != nil {
		return Output{}, toError(s.spec.Device, opConfigure, KindLocal, err, s.secrets)
	}
	return s.do(ctx, opConfigure, func() (Output, error) {
		s.terminal.said.Store(0)
		if err := s.acquire(s.platform.exec); err != nil {
			return Output{}, err
		}
		var said strings.Builder
		if len(lines) > 0 {
			if err := s.enter(lines, &said); err != nil {
				return Output{}, err
			}
		}
		if c.Command != "" {
			answer, err := s.say(c.Command)
			if err != nil {
				return Output{}, err
			}
			said.WriteString(answer)
		}
		return Output{Stdout: []byte(said.String()), Exit: -1}, nil
	})
}

// enter types lines in the configuration mode and comes back from it.
func (s *prompt) enter(lines []string, said *strings.Builder) error {
	// In the device's own words, which acquiring the level would swallow.
	if escalate := s.platform.levels[s.platform.configuration].Escalate; escalate != "" {
		if _, err := s.say(escalate); err != nil {
			return err
		}
	}
	if err := s.acquire(s.platform.configuration); err != nil {
		return err
	}
	for i, line := range lines {
		answer, err := s.say(line)
		if answer != "" {
			said.WriteString(answer + "\n")
		}
		var f *failure
		if errors.As(err, &f) {
			f.err = fmt.Errorf("line %d of %d, the lines before it are in: %w", i+1, len(lines), f.err)
			if back := s.acquire(s.platform.exec); back != nil {
				return fmt.Errorf("%w; and no way back from the configuration mode: %w", f, back)
			}
		}
		if err != nil {
			return err
		}
	}
	return s.acquire(s.platform.exec)
}
