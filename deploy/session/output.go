package session

import (
	"bytes"
	"sync"
)

// bounded keeps what a stream of the device says, as far as there is room for it;
// over is called when there is more. Once taken it takes no more.
type bounded struct {
	own  *Client
	most int
	over func(error)

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
		err := failed(KindLocal, "", "%w: a stream is longer than %d bytes; the session is ended", errTooMuch, b.most)
		b.over(err)
		return 0, err
	}
	if most := or(b.own.MaxHeld, 1<<30); b.own.held.Add(int64(len(p))) > int64(most) {
		b.own.held.Add(-int64(len(p)))
		err := failed(KindLocal, "have fewer sessions at once", "%w: all commands under way have said more than %d bytes; the session is ended", errTooMuch, most)
		b.over(err)
		return 0, err
	}
	return b.buf.Write(p)
}

// take is what was kept; nothing is written to it any more.
func (b *bounded) take() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.taken {
		b.taken = true
		b.own.held.Add(-int64(b.buf.Len()))
	}
	return b.buf.Bytes()
}
