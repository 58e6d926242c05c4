package lab

import (
	"context"
	"errors"
	"io"
	"sync"
)

// mostOutput is what one command line may print, on both streams together: as much as
// a session reads of it.
const mostOutput = 64 << 20

// errFlood is what a command gets that prints more.
var errFlood = errors.New("too much output")

// flood bounds what a command line prints. The simulated shell knows no SIGPIPE: a loop
// whose reader has gone would go on for ever.
type flood struct {
	mu   sync.Mutex
	left int
	end  context.CancelCauseFunc
}

// counted is one stream of a command line.
type counted struct {
	*flood
	to io.Writer
}

// Write passes on what is within the bound. A reader that has gone ends the command too.
func (c *counted) Write(b []byte) (int, error) {
	c.mu.Lock()
	n := min(len(b), c.left)
	c.left -= n
	c.mu.Unlock()
	done, err := c.to.Write(b[:n])
	switch {
	case err != nil:
		c.end(err)
	case n < len(b):
		c.end(errFlood)
		err = errFlood
	}
	return done, err
}
