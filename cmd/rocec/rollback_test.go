package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/rollout"
)

// TestToTakeBack: the last apply is taken back once. A rollback that died when all was
// taken back is that last one and takes no other; by its ID an apply is taken back
// however often that is asked, and not under a later one of the same device.
func TestToTakeBack(t *testing.T) {
	const (
		applied  = "begin begun change changed confirm confirmed record recorded"
		back     = "revert reverted restore restored"
		died     = applied + " end " + back
		finished = died + " end"
	)
	for _, c := range []struct {
		name     string
		journals []string // the oldest first: what happened to its device
		to, only string
		want     string // IDs, the newest first; a dot behind one that has nothing left
		fails    string
	}{
		{name: "the last", journals: []string{"a " + applied + " end", "a " + applied + " end"}, want: "tx2"},
		{name: "taken back", journals: []string{"a " + applied + " end", "a " + finished}, want: "tx1"},
		{name: "a rollback that died", journals: []string{"a " + applied + " end", "a " + died}, want: "tx2."},
		{name: "after one", journals: []string{"a " + applied + " end", "a " + applied + " end", "a " + applied + " end"}, to: "tx1", want: "tx3 tx2"},
		{name: "by its ID", journals: []string{"a " + applied + " end", "a " + finished}, only: "tx1", want: "tx1"},
		{name: "again by its ID", journals: []string{"a " + applied + " end", "a " + finished}, only: "tx2", want: "tx2."},
		{name: "under another", journals: []string{"a " + applied + " end", "a " + applied + " end"}, only: "tx1", fails: "apply tx2 changed a after it"},
		{name: "beside another", journals: []string{"a " + applied + " end", "b " + applied + " end"}, only: "tx1", want: "tx1"},
		{name: "unknown", journals: []string{"a " + applied + " end"}, only: "tx9", fails: `no apply has the ID "tx9"`},
	} {
		dir := t.TempDir()
		for i, events := range c.journals {
			id := fmt.Sprintf("tx%d", i+1)
			device, rest, _ := strings.Cut(events, " ")
			text := fmt.Sprintf(`{"event":"open","kind":"rocec journal","format_version":"1.0","id":%q,"workspace":"lab","at":"2026-11-21T18:00:00Z"}`+"\n", id)
			text += fmt.Sprintf(`{"event":"device","device":%q,"address":%q}`+"\n", device, device)
			for _, e := range strings.Fields(rest) {
				if e == "end" {
					text += `{"event":"end"}` + "\n"
					continue
				}
				text += fmt.Sprintf(`{"event":%q,"device":%q}`+"\n", e, device)
			}
			if err := os.WriteFile(filepath.Join(dir, id+rollout.JournalSuffix), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		list, err := rollout.Journals(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := toTakeBack(list, c.to, c.only)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, expected %q", c.name, err, c.fails)
			}
			continue
		}
		var ids []string
		for _, h := range got {
			id := h.ID
			if !h.Changed() {
				id += "."
			}
			ids = append(ids, id)
		}
		if err != nil || strings.Join(ids, " ") != c.want {
			t.Errorf("%s: %q, %v, expected %q", c.name, ids, err, c.want)
		}
	}
}
