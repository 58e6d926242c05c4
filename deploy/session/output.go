package session

import (
	"bytes"
	"sync"
)

// bounded keeps what a stream of the device says, up to a limit; over is called
// when there is more. Once taken it takes no more.
type bounded struct {
	most int
	over func()

	mu    sync.Mutex
	buf   bytes.Buffer
	taken bool
}

// Write keeps p.
func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken {
		return len(p), nil
	}
	if len(p) > b.most-b.buf.Len() {
		b.over()
		return 0, errTooMuch
	}
	return b.buf.Write(p)
}

// take is what was kept; nothing is written to it any more.
func (b *bounded) take() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken = true
	return b.buf.Bytes()
}
