package rollout

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const head = `{"event":"open","kind":"rocec journal","format_version":"1.0","id":"tx1","workspace":"lab","at":"2026-11-21T18:00:00Z"}` + "\n"

// TestDecodeJournal reads journals that are whole, torn, broken or of strangers.
func TestDecodeJournal(t *testing.T) {
	device := `{"event":"device","device":"a"}` + "\n"
	for _, c := range []struct{ name, text, fails, outcome string }{
		{"empty", "", "", ""},
		{"torn head", head[:20], "", ""},
		{"head", head, "", ""},
		{"device", head + device, "", "unchanged"},
		{"begun", head + device + `{"event":"begin","device":"a","observed_digest":"x"}` + "\n", "", "in_doubt"},
		{"torn", head + device + `{"event":"begin","dev`, "", "unchanged"},
		{"torn with room", head + device + "\x00\x00\x00\n", "", "unchanged"},
		{"broken in the middle", head + "{\n" + device, "line 2: ", ""},
		{"later event", head + device + `{"event":"weighed","device":"a"}` + "\n" + `{"event":"moon"}` + "\n", "", "unchanged"},
		{"later version", strings.Replace(head, "1.0", "1.7", 1) + device, "", "unchanged"},
		{"another version", strings.Replace(head, "1.0", "2.0", 1), "line 1: its format", ""},
		{"another kind", strings.Replace(head, "rocec journal", "diary", 1), "line 1: it is not a journal", ""},
		{"bad ID", strings.Replace(head, "tx1", "../x", 1), "line 1: the ID is", ""},
		{"no head", device, "line 1: the event is \"device\"", ""},
		{"two heads", head + head, "line 2: the event is \"open\"", ""},
		{"bad name", head + `{"event":"device","device":"../a"}` + "\n" + device, "line 2: device name", ""},
		{"unknown device", head + device + `{"event":"begin","device":"b"}` + "\n" + device, "line 3: device \"b\" is none of the run", ""},
	} {
		h, err := decodeJournal([]byte(c.text))
		if c.fails != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.fails) {
				t.Errorf("%s: %v, expected %q", c.name, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		outcome := ""
		if p := h.Past("a"); p != nil {
			outcome = string(p.Outcome())
		}
		if outcome != c.outcome {
			t.Errorf("%s: %q, expected %q", c.name, outcome, c.outcome)
		}
	}
}

// TestJournalGoesOn writes on after a torn line, flushes each write, and refuses
// after the first that failed.
func TestJournalGoesOn(t *testing.T) {
	dir := t.TempDir()
	now := func() time.Time { return time.Unix(0, 0) }
	j, err := CreateJournal(dir, "tx1", now)
	if err != nil {
		t.Fatal(err)
	}
	syncs := 0
	flush := j.sync
	j.sync = func(f *os.File) error { syncs++; return flush(f) }
	for _, l := range []line{
		{Step: stepOpen, Kind: journalKind, FormatVersion: JournalVersion, ID: "tx1"},
		{Step: stepDevice, Device: "a"},
		{Step: stepBegin, Device: "a", Observed: "x"},
	} {
		if err := j.write(l); err != nil {
			t.Fatal(err)
		}
	}
	if syncs != 3 {
		t.Errorf("%d flushes of 3 lines", syncs)
	}
	if _, err := j.file.WriteString(`{"event":"beg`); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := ReadJournal(filepath.Join(dir, "tx1.ndjson"))
	if err != nil || !h.Open() || h.Past("a").Observed != "x" {
		t.Fatal(err)
	}
	if j, err = h.Continue(now); err != nil {
		t.Fatal(err)
	}
	if err := j.write(line{Step: stepBack, Device: "a"}, line{Step: stepEnd}); err != nil {
		t.Fatal(err)
	}
	j.sync = func(*os.File) error { return errors.New("the disk is full") }
	for range 2 {
		if err := j.write(line{Step: stepBegin, Device: "a"}); err == nil || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("after a failed write: %v", err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := CreateJournal(dir, "tx1", now); err == nil {
		t.Error("a journal that is there was made again")
	}
	if _, err := CreateJournal(dir, "../x", now); err == nil {
		t.Error("an ID that is a path made a journal")
	}
	for _, id := range []string{"tx0", "tx2"} {
		text := strings.Replace(head, "tx1", id, 1) + `{"event":"end","at":"2026-11-21T18:00:00Z"}` + "\n"
		if err := os.WriteFile(filepath.Join(dir, id+JournalSuffix), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tx3.ndjson"), []byte("no\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := Journals(dir)
	var ids []string
	for _, h := range list {
		ids = append(ids, h.ID)
	}
	if d := cmp.Diff([]string{"tx2", "tx1", "tx0"}, ids); d != "" || err == nil {
		t.Error(d, err)
	}
	_ = Prune(dir, 1)
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 3 { // tx2 as the newest, tx1 as open, tx3 as nobody's
		t.Errorf("left are %v", left)
	}
}

// TestPrune: runs that changed nothing do not push out those that did.
func TestPrune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a")
		if rep := s.run(t.Context()); rep.Exit() != 0 {
			t.Fatal(reportText(rep))
		}
		s.plan.Devices = nil
		for _, s.plan.ID = range []string{"tx2", "tx3", "tx4"} {
			if rep := s.run(t.Context()); rep.Exit() != 0 {
				t.Fatal(reportText(rep))
			}
		}
		if err := Prune(s.dir, 2); err != nil {
			t.Fatal(err)
		}
		var ids []string
		list, err := Journals(s.dir)
		for _, h := range list {
			ids = append(ids, h.ID)
		}
		if d := cmp.Diff([]string{"tx4", "tx3", "tx1"}, ids); d != "" || err != nil {
			t.Error(d, err)
		}
	})
}

// TestPack packs entries and bounds what comes out.
func TestPack(t *testing.T) {
	text := []byte(strings.Repeat(`{"a": 1}`, 5000))
	b, err := pack(text)
	if err != nil || len(b) > len(text)/10 {
		t.Fatal(len(b), err)
	}
	if out, err := unpack(b); err != nil || !bytes.Equal(out, text) {
		t.Error(err)
	}
	bomb, err := pack(make([]byte, maxEntryBytes+1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(bomb); err == nil {
		t.Error("a bomb was unpacked")
	}
}

// FuzzJournal reads anything as a journal: an error or a history whose devices can
// be told about, never a panic.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(head))
	f.Add([]byte(head + `{"event":"device","device":"a"}` + "\n" + `{"event":"record","device":"a","entry":"H4sI"}` + "\n" + `{"event":"beg`))
	for _, s := range []step{stepBegin, stepBegun, stepChange, stepConfirm, stepNoted, stepRevert, stepBack, stepClean, stepStuck, stepPending} {
		f.Add([]byte(head + `{"event":"device","device":"a"}` + "\n" + fmt.Sprintf(`{"event":%q,"device":"a","until":"2026-11-21T18:00:00Z"}`, s) + "\n"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeJournal(b)
		if err != nil {
			return
		}
		if h.size > int64(len(b)) {
			t.Fatalf("%d bytes of %d are whole", h.size, len(b))
		}
		for _, p := range h.Devices {
			if _, err := p.before(h.Workspace); err == nil && p.Outcome() == "" {
				t.Fatal("no outcome")
			}
		}
		_, _ = h.Open(), h.Changed()
	})
}

// FuzzState reads anything as the answer to status.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"id":"tx1","phase":"begun","left_seconds":3,"open":"tx1","message":""}`))
	f.Add([]byte("banner\n{\"id\":\"other\",\"phase\":\"changed\"}\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		st, err := decodeState(sessionOutput(b), "tx1")
		if err == nil && st.Phase != "none" && st.ID != "tx1" {
			t.Fatalf("%+v is taken for tx1", st)
		}
	})
}

// TestNewID: IDs sort as the runs began, also those of one second, whatever their other part is.
func TestNewID(t *testing.T) {
	began := time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)
	last := ""
	for _, after := range []time.Duration{0, time.Microsecond, 31 * time.Microsecond, 32 * time.Microsecond, time.Millisecond, 999_999 * time.Microsecond, time.Second, time.Hour} {
		id := NewID(began.Add(after).In(time.FixedZone("east", 3600)))
		if !idForm().MatchString(id) || len(id) != 23 || id <= last {
			t.Errorf("after %v: %q does not come after %q", after, id, last)
		}
		last = id
	}
}
