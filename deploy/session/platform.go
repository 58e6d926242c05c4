package session

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/scrapli/scrapligo/driver/network"
)

// platform is how a system with a prompt is talked to.
type platform struct {
	levels map[string]*network.PrivilegeLevel
	// Names of levels: where commands are run, and where lines are entered.
	exec, configuration string
	open                []string         // commands of each new session, before all others
	refused             []*regexp.Regexp // of a response, what says that its command was not taken
	comment             string           // lines that begin with it are not sent
	keys                string           // characters that act when they are typed, such as ? for help
}

// defaultPlatform is the one of a Spec that names none.
const defaultPlatform = "sonic-cli"

// platforms are those that are known, by the name that Spec.Platform has. A
// pattern holds at the end of what the device said only: a line of output that
// looks like a prompt is none as long as something follows.
func platforms() map[string]*platform {
	return map[string]*platform{
		// The Management Framework CLI of SONiC, which Enterprise SONiC has.
		// Prompts: sonic-net/sonic-mgmt-framework c0d9bb28 CLI/clitree/cli-xml (VIEW prompt="${SYSTEM_NAME}(config)# "), the sheet of
		// SONiC-derived systems section 4 (sonic(conf-if-Eth1/1)#) and ansible-collections/dellemc.enterprise_sonic 4.1.0
		// plugins/terminal/sonic.py (terminal_stdout_re, up to three groups in parentheses; a login into bash goes on with sonic-cli;
		// terminal length 0). configure terminal and end: plugins/cliconf/sonic.py edit_config.
		// Refusals: "% Error: Invalid input detected at "^" marker.", "% Error: Ambiguous command.", "% Error: The command is not
		// completed." of CLI/klish/patches/klish-2.1.4/clish/shell/shell_tinyrl.c.diff, "%Error: ..." of CLI/actioner/cli_client.py, and
		// terminal_stderr_re of plugins/terminal/sonic.py.
		"sonic-cli": {
			levels: map[string]*network.PrivilegeLevel{
				"linux": {Name: "linux", Pattern: `(?m)^[\w.\-]{1,64}@[\w.\-]{1,64}:[^\n$#]{0,256}\$ ?\z`},
				"exec":  {Name: "exec", Pattern: `(?m)^[\w.\-:/]{1,64}# ?\z`, PreviousPriv: "linux", Escalate: "sonic-cli", Deescalate: "exit"},
				"configuration": {
					Name: "configuration", Pattern: `(?m)^[\w.\-:/]{1,64}(?:\([^()\n]{1,200}\)){1,3}# ?\z`,
					PreviousPriv: "exec", Escalate: "configure terminal", Deescalate: "end",
				},
			},
			exec: "exec", configuration: "configuration",
			open: []string{"terminal length 0"},
			refused: []*regexp.Regexp{
				regexp.MustCompile(`(?m)^[ \t]*% ?(?:Error|Bad secret).*`),
				regexp.MustCompile(`(?m)^[ \t]*Syntax error:.*`),
				regexp.MustCompile(`(?mi)^[ \t]*(?:% ?)?(?:invalid input|incomplete command|ambiguous command).*`),
				regexp.MustCompile(`(?m)^.*returned error code: ?\d+.*`),
			},
			comment: "!", keys: "?",
		},
	}
}

// platformOf is the platform that a Spec names.
func platformOf(to *Spec) (*platform, error) {
	all := platforms()
	p := all[or(to.Platform, defaultPlatform)]
	if p == nil {
		return nil, failed(KindLocal, "known are: "+strings.Join(slices.Sorted(maps.Keys(all)), ", "), "no platform %q", to.Platform)
	}
	return p, nil
}

// refusal is what a response says against its command, "" when it was taken.
func (p *platform) refusal(response string) string {
	first, at := "", len(response)
	for _, re := range p.refused {
		if m := re.FindStringIndex(response); m != nil && m[0] < at {
			first, at = strings.TrimSpace(response[m[0]:m[1]]), m[0]
		}
	}
	return first
}

// lines are those of a configuration that are sent: neither blank ones nor
// comments, which may or may not yield a prompt. What would act on the terminal
// when it is typed is an error.
func (p *platform) lines(all []string) ([]string, error) {
	var sent []string
	for _, line := range all {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || p.comment != "" && strings.HasPrefix(trimmed, p.comment) {
			continue
		}
		if err := p.typable(line); err != nil {
			return nil, err
		}
		sent = append(sent, line)
	}
	return sent, nil
}

func (p *platform) typable(line string) error {
	switch {
	case strings.TrimSpace(line) == "":
		return failed(KindLocal, "", "a blank line for a prompt")
	case strings.ContainsFunc(line, unicode.IsControl):
		return failed(KindLocal, "", "the line %q holds control characters", line)
	case strings.ContainsAny(line, p.keys):
		return failed(KindLocal, "", "the line %q holds one of %q, which acts when it is typed", line, p.keys)
	}
	return nil
}
