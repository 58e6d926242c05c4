package record

import (
	"errors"
	"io"
	"log"
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

// TestSSHRefuses: why ssh could not reach the remote is told, and not that it could
// not.
func TestSSHRefuses(t *testing.T) {
	_, clones := workTrees(t, 1)
	ssh := filepath.Join(t.TempDir(), "ssh")
	must(t, os.WriteFile(ssh, []byte("#!/bin/sh\necho 'Authorized users only.' >&2\necho 'git@git.example.net: Permission denied (publickey).' >&2\nexit 255\n"), 0o755)) // as OpenSSH 9.2 says it
	t.Setenv("GIT_SSH_COMMAND", ssh)
	git(t, clones[0], "remote", "set-url", "origin", "ssh://git@git.example.net/fabric.git")
	s := opened(t, Settings{Kind: Git, Source: filepath.Join(clones[0], "record"), Push: true, Branch: "record"})
	if _, err := s.List(); err == nil || !strings.HasSuffix(err.Error(), "git ls-remote: git@git.example.net: Permission denied (publickey).") {
		t.Error(err)
	}
}

// TestRefusals: what a store says of credentials, region and clock is told with what
// to do. The answers are those of VersityGW v1.8.0, shortened; that of the clock and
// the redirect are of the S3 API reference.
func TestRefusals(t *testing.T) {
	objects := newBucketServer(t)
	env := func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": objects.keyID, "AWS_SECRET_ACCESS_KEY": objects.secret}[name]
	}
	s := opened(t, Settings{Kind: S3, Bucket: objects.bucket, Region: objects.region, Endpoint: objects.URL, PathStyle: true, Env: env})
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{403, "<Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated does not match.</Message>", "403 Forbidden, SignatureDoesNotMatch: check the credentials in the environment"},
		{403, "<Code>InvalidAccessKeyId</Code>", "403 Forbidden, InvalidAccessKeyId: check the credentials in the environment"},
		{400, "<Code>InvalidToken</Code><Message>The provided token is malformed or otherwise invalid.</Message>", "400 Bad Request, InvalidToken: check the credentials in the environment"},
		{400, "<Code>AuthorizationHeaderMalformed</Code><Message>the region &#34;us-west-2&#34; is wrong</Message><Region>eu-central-1</Region>", "400 Bad Request, AuthorizationHeaderMalformed: check the region"},
		{301, "<Code>PermanentRedirect</Code>", "301 Moved Permanently, PermanentRedirect: check the region"},
		{403, "<Code>RequestTimeTooSkewed</Code>", "403 Forbidden, RequestTimeTooSkewed: the clock here or there is wrong"},
		{404, "<Code>NoSuchBucket</Code>", "404 Not Found, NoSuchBucket"},
	} {
		objects.add("GET", fault{before: c.status, body: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>" + c.body + "<RequestId>L31A18TP85DPL38T</RequestId></Error>"})
		if _, _, err := s.Get("tor"); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v does not end in %q", err, c.want)
		}
	}
}

// TestOwnAuthority: who has an authority of his own is told where to name it.
func TestOwnAuthority(t *testing.T) {
	web := httptest.NewUnstartedServer(http.NotFoundHandler())
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	t.Cleanup(web.Close)
	if _, err := opened(t, Settings{Kind: HTTP, Address: web.URL}).List(); err == nil || !strings.Contains(err.Error(), "SSL_CERT_FILE names a file") {
		t.Error(err)
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
