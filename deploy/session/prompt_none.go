//go:build !scrapligo

package session

import "context"

// newPrompt refuses: a build without scrapligo knows no prompts.
func newPrompt(context.Context, *link) (Session, error) {
	return nil, failed(KindLocal, "build with -tags scrapligo", "this build has no sessions of systems with a prompt only")
}
