package session

import (
	"context"
	"regexp"

	"github.com/scrapli/scrapligo/driver/network"
)

// DialEnable opens a session with a platform that has a mode behind a password.
func DialEnable(ctx context.Context, c *Client, to Spec) (Session, error) {
	s, err := c.Dial(ctx, to)
	if err != nil {
		return nil, err
	}
	l := s.(*posix).link
	p, err := openPrompt(ctx, l, &platform{
		levels: map[string]*network.PrivilegeLevel{
			"user": {Name: "user", Pattern: `(?m)^sw> ?\z`},
			"exec": {
				Name: "exec", Pattern: `(?m)^sw# ?\z`, PreviousPriv: "user",
				Escalate: "enable", Deescalate: "disable", EscalateAuth: true, EscalatePrompt: `(?m)^Password: ?\z`,
			},
		},
		exec:    "exec",
		refused: []*regexp.Regexp{regexp.MustCompile(`(?m)^%.*`)},
	})
	if err != nil {
		l.Close()
		return nil, toError(to.Device, opConnect, KindUnreachable, err, l.secrets)
	}
	return p, nil
}

// Refusal is what a response of sonic-cli says against its command.
func Refusal(response string) string { return platforms()[defaultPlatform].refusal(response) }
