//go:build !scrapligo

package session_test

import (
	"testing"

	"github.com/rocec/rocec/deploy/session"
	"github.com/rocec/rocec/targets"
)

func TestNoPrompt(t *testing.T) {
	leakFree(t)
	s := (&server{}).start(t)
	to := s.spec(t)
	to.Shell = targets.Prompt
	if _, err := client(t).Dial(t.Context(), to); err == nil || kindOf(t, err) != session.KindLocal {
		t.Error(err)
	}
}
