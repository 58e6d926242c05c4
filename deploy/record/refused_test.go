package record

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemoteRefuses: a remote that takes no lock is no lock that somebody has, and
// its own words say why it refuses; what it does not take lies here until it does.
func TestRemoteRefuses(t *testing.T) {
	bare, clones := workTrees(t, 1)
	hook := func(ref string) {
		must(t, os.WriteFile(filepath.Join(bare, "hooks", "update"), []byte("#!/bin/sh\ncase $1 in "+ref+") echo 'GL-HOOK-ERR: not allowed' >&2; exit 1 ;; esac\n"), 0o755))
	}
	settings := Settings{Kind: Git, Source: filepath.Join(clones[0], "record"), Push: true, Branch: "record", Spool: t.TempDir()}
	says := func(err error, words ...string) {
		t.Helper()
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%v does not say %q", err, w)
			}
		}
	}

	hook("refs/rocec/*")
	_, err := opened(t, settings).Lock(t.Context(), "apply", "0.1.0", 0)
	says(err, "the remote does not take the reference refs/rocec/lock/default, which is the lock", "hook declined", "GL-HOOK-ERR: not allowed")
	var held *LockedError
	if errors.As(err, &held) {
		t.Errorf("somebody is said to have the lock: %v", err)
	}

	hook("refs/heads/record")
	l := locked(t, opened(t, settings))
	_, err = l.Put(sample("tor", 1500), "")
	must(t, err)
	says(l.Unlock(), "hook declined", "GL-HOOK-ERR: not allowed", "what was recorded lies in "+settings.Spool, "the next apply from here sends it")

	must(t, os.Remove(filepath.Join(bare, "hooks", "update")))
	must(t, locked(t, opened(t, settings)).Unlock())
	if e, _, err := opened(t, settings).Get("tor"); err != nil || e == nil {
		t.Errorf("afterwards the entry is %v, %v", e, err)
	}
}

// TestWrongAddress: what answers there and keeps no records is no empty record.
func TestWrongAddress(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	env := func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}[name]
	}
	store := opened(t, Settings{Kind: S3, Bucket: "abc", Endpoint: web.URL, PathStyle: true, Env: env})
	_, _, got := store.Get("tor")
	_, listed := store.List()
	_, held := store.Holder()
	_, locked := store.Lock(t.Context(), "apply", "0.1.0", 0)
	_, http := opened(t, Settings{Kind: HTTP, Address: web.URL}).Lock(t.Context(), "apply", "0.1.0", 0)
	for i, err := range []error{got, listed, held, locked, store.ForceUnlock("x"), http} {
		if err == nil || !strings.Contains(err.Error(), "404 Not Found: nothing there keeps records; check the address") {
			t.Errorf("%d: %v", i, err)
		}
	}
}
