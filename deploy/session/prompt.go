package session

import "context"

func newPrompt(_ context.Context, l *link) (Session, error) {
	return nil, failed(KindLocal, "", "%s: sessions of a prompt", l.spec.Device)
}
