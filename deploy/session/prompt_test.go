package session_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

// sonic is a device with sonic-cli behind its login.
type sonic struct {
	bash    bool              // a login lands in bash
	answers map[string]string // of lines that say something
	silent  bool              // never prompts
	deaf    string            // the line after which nothing comes any more
	cut     string            // the line after which the connection is gone

	mu    sync.Mutex
	lines []string
}

func (d *sonic) took() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

func (d *sonic) shell(ch ssh.Channel) {
	if d.silent {
		io.Copy(io.Discard, ch)
		return
	}
	mode := ""
	prompt := func() string {
		if mode == "bash" {
			return "\x1b[01;32madmin@leaf1\x1b[00m:~$ "
		}
		return "leaf1" + mode + "# "
	}
	if d.bash {
		mode = "bash"
	}
	fmt.Fprint(ch, "Welcome to leaf1#\r\n\r\n"+prompt())
	in := bufio.NewReader(ch)
	for {
		line, ok := typed(in, ch)
		if !ok {
			return
		}
		if line != "" {
			d.mu.Lock()
			d.lines = append(d.lines, line)
			d.mu.Unlock()
		}
		switch {
		case line == d.deaf && line != "":
			io.Copy(io.Discard, ch)
			return
		case line == d.cut && line != "":
			return
		case line == "sonic-cli", line == "end":
			mode = ""
		case line == "configure terminal":
			if d.answers[line] == "" {
				mode = "(config)"
			}
		case strings.HasPrefix(line, "interface "):
			mode = "(conf-if-" + strings.TrimPrefix(line, "interface ") + ")"
		}
		fmt.Fprint(ch, d.answers[line]+prompt())
	}
}

// typed reads one line and echoes it, as a terminal does.
func typed(in *bufio.Reader, out io.Writer) (string, bool) {
	var line []byte
	for {
		b, err := in.ReadByte()
		if err != nil {
			return "", false
		}
		if b == '\n' || b == '\r' {
			fmt.Fprint(out, "\r\n")
			return string(line), true
		}
		line = append(line, b)
		out.Write([]byte{b})
	}
}

func (d *sonic) start(t testing.TB) (*server, session.Spec) {
	s := (&server{shell: d.shell}).start(t)
	to := s.spec(t)
	to.Shell = targets.Prompt
	return s, to
}

const refused = "        ^\r\n% Error: Invalid input detected at \"^\" marker.\r\n"

func TestPrompt(t *testing.T) {
	for _, bash := range []bool{false, true} {
		t.Run(fmt.Sprintf("bash %v", bash), func(t *testing.T) {
			d := &sonic{bash: bash, answers: map[string]string{
				"show version": "Software Version  : 4.1.0\r\nleaf1#\r\nPlatform : x86\r\n",
				"write memory": "Ok\r\n",
			}}
			_, to := d.start(t)
			s := dial(t, client(t), to)
			out, err := s.Run(t.Context(), "show version", nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("Software Version  : 4.1.0\nleaf1#\nPlatform : x86", string(out.Stdout)); diff != "" || out.Exit != -1 {
				t.Errorf("exit %d, %s", out.Exit, diff)
			}
			out, err = s.Configure(t.Context(), session.Change{
				Lines:   []string{"! a comment", "", "interface Eth1/1", "  mtu 9100", "   ", "qos-map dscp-tc roce"},
				Command: "write memory",
			})
			if err != nil || string(out.Stdout) != "Ok" || out.Exit != -1 {
				t.Errorf("%+v, %v", out, err)
			}
			want := []string{"terminal length 0", "show version", "configure terminal", "interface Eth1/1", "  mtu 9100", "qos-map dscp-tc roce", "end", "write memory"}
			if bash {
				want = append([]string{"sonic-cli"}, want...)
			}
			if diff := cmp.Diff(want, d.took()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPromptRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers map[string]string
		call    func(context.Context, session.Session) error
		want    string
		last    []string // lines that the device took at the end
	}{
		{
			"a line in the middle",
			map[string]string{"mtu 99999": "%Error: Value out of range(1312..9216).\r\n"},
			func(ctx context.Context, s session.Session) error {
				_, err := s.Configure(ctx, session.Change{Lines: []string{"interface Eth1/1", "mtu 99999", "no shutdown"}, Command: "write memory"})
				return err
			},
			`leaf1: configure: line 2 of 3, the lines before it are in: the device refuses "mtu 99999": %Error: Value out of range(1312..9216).`,
			[]string{"configure terminal", "interface Eth1/1", "mtu 99999", "end"},
		},
		{
			"the configuration mode",
			map[string]string{"configure terminal": "%Error: not authorized\r\n"},
			func(ctx context.Context, s session.Session) error {
				_, err := s.Configure(ctx, session.Change{Lines: []string{"mtu 9100"}})
				return err
			},
			`leaf1: configure: the device refuses "configure terminal": %Error: not authorized`,
			[]string{"configure terminal"},
		},
		{
			"a command",
			map[string]string{"show qoss": refused},
			func(ctx context.Context, s session.Session) error {
				_, err := s.Run(ctx, "show qoss", nil)
				return err
			},
			`leaf1: run: the device refuses "show qoss": % Error: Invalid input detected at "^" marker.`,
			[]string{"show qoss"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &sonic{answers: c.answers}
			_, to := d.start(t)
			s := dial(t, client(t), to)
			err := c.call(t.Context(), s)
			if err == nil || err.Error() != c.want || kindOf(t, err) != session.KindRefused {
				t.Errorf("%v, want %s", err, c.want)
			}
			if diff := cmp.Diff(append([]string{"terminal length 0"}, c.last...), d.took()); diff != "" {
				t.Error(diff)
			}
			if _, err := s.Run(t.Context(), "show version", nil); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestPromptTakesNoSuchThing(t *testing.T) {
	d := &sonic{}
	_, to := d.start(t)
	s := dial(t, client(t), to)
	for _, c := range []session.Change{
		{Lines: []string{"description what?"}},
		{Lines: []string{"mtu 9100\nreload"}},
		{Lines: []string{"a\x03b"}},
		{Files: []session.File{{Path: "a"}}},
		{Folder: "/r"},
		{Command: "reload\n"},
	} {
		if _, err := s.Configure(t.Context(), c); err == nil || kindOf(t, err) != session.KindLocal {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := s.Run(t.Context(), "", nil); err == nil || kindOf(t, err) != session.KindLocal {
		t.Errorf("a blank command: %v", err)
	}
	if _, err := s.Run(t.Context(), "show x", []byte("input")); err == nil || kindOf(t, err) != session.KindLocal {
		t.Errorf("input: %v", err)
	}
	if got := d.took(); !slices.Equal(got, []string{"terminal length 0"}) {
		t.Errorf("the device got %q", got)
	}
	to.Platform = "ios"
	if _, err := client(t).Dial(t.Context(), to); err == nil || kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "known are: sonic-cli") {
		t.Error(err)
	}
}

// A prompt that never comes ends with the time for it, and nothing stays behind.
func TestPromptNever(t *testing.T) {
	for _, c := range []struct {
		name string
		d    *sonic
		want session.Kind
	}{
		{"at login", &sonic{silent: true}, session.KindTimeout},
		{"paging is not switched off", &sonic{deaf: "terminal length 0"}, session.KindTimeout},
		{"cut", &sonic{cut: "terminal length 0"}, session.KindLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			leakFree(t)
			s, to := c.d.start(t)
			cl, clock := timed(t)
			done := make(chan error, 1)
			go func() {
				_, err := cl.Dial(t.Context(), to)
				done <- err
			}()
			if c.want == session.KindTimeout {
				waitFor(t, func() bool { return s.open() == 1 && (c.d.silent || len(c.d.took()) > 0) })
				clock.expire(dialTime)
			}
			if err := <-done; kindOf(t, err) != c.want {
				t.Error(err)
			}
		})
	}
}

func TestPromptGoesSilent(t *testing.T) {
	leakFree(t)
	d := &sonic{deaf: "mtu 9100"}
	_, to := d.start(t)
	cl, clock := timed(t)
	s := dial(t, cl, to)
	done := make(chan error, 1)
	go func() {
		_, err := s.Configure(t.Context(), session.Change{Lines: []string{"mtu 9100"}})
		done <- err
	}()
	waitFor(t, func() bool { return slices.Contains(d.took(), "mtu 9100") })
	clock.expire(opTime)
	if err := <-done; kindOf(t, err) != session.KindTimeout {
		t.Error(err)
	}
}

func TestPromptTooMuch(t *testing.T) {
	d := &sonic{answers: map[string]string{"show all": strings.Repeat("x y z\r\n", 20_000)}}
	_, to := d.start(t)
	cl := client(t)
	cl.MaxOutput = 10_000
	s := dial(t, cl, to)
	if _, err := s.Run(t.Context(), "show all", nil); err == nil || kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "too much output") {
		t.Error(err)
	}
}

// A device whose prompt is behind a password.
func enabling(word string) func(ssh.Channel) {
	return func(ch ssh.Channel) {
		in := bufio.NewReader(ch)
		prompt := "sw> "
		fmt.Fprint(ch, prompt)
		for {
			line, ok := typed(in, ch)
			if !ok {
				return
			}
			switch line {
			case "enable":
				fmt.Fprint(ch, "Password: ")
				got, _ := typed(in, io.Discard)
				if got == word {
					prompt = "sw# "
				} else {
					fmt.Fprintf(ch, "\r\n%% Bad secret %s\r\n", got)
				}
				fmt.Fprint(ch, "\r\n")
			case "show":
				fmt.Fprint(ch, "shown\r\n")
			}
			fmt.Fprint(ch, prompt)
		}
	}
}

func TestPromptEnable(t *testing.T) {
	s := (&server{shell: enabling("s3cret")}).start(t)
	to := s.spec(t)
	to.EnableEnv = "ENABLE"
	sess, err := session.DialEnable(t.Context(), client(t, "ENABLE=s3cret"), to)
	if err != nil {
		t.Fatal(err)
	}
	defer sess.Close()
	if out, err := sess.Run(t.Context(), "show", nil); err != nil || string(out.Stdout) != "shown" {
		t.Errorf("%q, %v", out.Stdout, err)
	}
	_, err = session.DialEnable(t.Context(), client(t, "ENABLE=wr0ng"), to)
	if err == nil || kindOf(t, err) != session.KindAuth || strings.Contains(err.Error(), "wr0ng") {
		t.Error(err)
	}
	_, err = session.DialEnable(t.Context(), client(t), to)
	if err == nil || kindOf(t, err) != session.KindLocal || !strings.Contains(err.Error(), "ENABLE") {
		t.Error(err)
	}
}

func TestRefusal(t *testing.T) {
	for _, c := range []struct{ response, want string }{
		{"", ""},
		{"errors: 0\nno % Error in here", ""},
		{"  \n%Error: Ambiguous command.\nmore", "%Error: Ambiguous command."},
		{"% Error: The command is not completed.", "% Error: The command is not completed."},
		{"Syntax error: Illegal command line", "Syntax error: Illegal command line"},
		{"x\n'sonic' returned error code: 3", "'sonic' returned error code: 3"},
		{"ok\nInvalid Input", "Invalid Input"},
	} {
		if got := session.Refusal(c.response); got != c.want {
			t.Errorf("%q: %q, want %q", c.response, got, c.want)
		}
	}
}

// Whatever a device says, a session ends with an answer or an error, and never
// takes a refusal for an answer.
func FuzzPrompt(f *testing.F) {
	for _, s := range []string{"", "a\r\n", refused, "leaf1# \r\n", "\x1b[31mred\x1b[0m\r\n", "\xff\x00\r\n", "leaf1(config)# ", "%Error"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, said string) {
		if got := session.Refusal(said); got != "" && !strings.Contains(said, got) {
			t.Errorf("%q is nothing that the device said: %q", got, said)
		}
	})
}
