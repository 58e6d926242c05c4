package record

import (
	"strings"
	"testing"
)

// TestNoSecrets: no error of a server that refuses shows what it was sent.
func TestNoSecrets(t *testing.T) {
	s := newStateServer(t, true)
	s.user, s.password = "ci", "right"
	amazon := newBucketServer(t)
	env := func(name string) string {
		return map[string]string{"U": "ci", "P": "wrong-hunter2", "AWS_ACCESS_KEY_ID": "AKIDWRONG", "AWS_SECRET_ACCESS_KEY": "wrong-hunter2", "AWS_SESSION_TOKEN": "token-hunter2"}[name]
	}
	for name, settings := range map[string]Settings{
		"http": {Kind: HTTP, Address: s.URL + "/state?private_token=hunter2", UsernameEnv: "U", PasswordEnv: "P", Env: env},
		"s3":   {Kind: S3, Bucket: amazon.bucket, Region: amazon.region, Endpoint: amazon.URL, PathStyle: true, Env: env},
		"gone": {Kind: HTTP, Address: "http://127.0.0.1:1/state?private_token=hunter2", UsernameEnv: "U", PasswordEnv: "P", Env: env},
	} {
		t.Run(name, func(t *testing.T) {
			store := opened(t, settings)
			_, _, err := store.Get("tor")
			_, locked := store.Lock(t.Context(), "apply", "0.1.0", 0)
			_, listed := store.List()
			for _, err := range []error{err, locked, listed, store.ForceUnlock("x")} {
				if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "AKIDWRONG") {
					t.Errorf("with wrong credentials: %v", err)
				}
				if name != "gone" && !strings.Contains(err.Error(), "credentials") {
					t.Errorf("%v does not say that credentials are wrong", err)
				}
			}
			if strings.Contains(store.Where(), "hunter2") {
				t.Errorf("the place is %s", store.Where())
			}
		})
	}
}

// TestSettings: what settings lack or cannot have.
func TestSettings(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"P": "hunter2", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}[name]
	}
	for name, c := range map[string]struct {
		s         Settings
		workspace string
		want      string
	}{
		"kind":           {Settings{Kind: "ftp"}, "default", `no backend "ftp"`},
		"workspace":      {Settings{}, "../x", "workspace"},
		"no address":     {Settings{Kind: HTTP}, "default", "needs an address"},
		"user":           {Settings{Kind: HTTP, Address: "https://a:hunter2@b/c"}, "default", "name the variables"},
		"scheme":         {Settings{Kind: HTTP, Address: "file:///etc"}, "default", "https://HOST/PATH"},
		"fragment":       {Settings{Kind: HTTP, Address: "https://b/c#d"}, "default", "fragment"},
		"garbage":        {Settings{Kind: HTTP, Address: "http://hunter2\x7f/"}, "default", "address is no address"},
		"two workspaces": {Settings{Kind: HTTP, Address: "https://b/c"}, "lab", "{workspace}"},
		"not set":        {Settings{Kind: HTTP, Address: "https://b/c", PasswordEnv: "NOPE"}, "default", "NOPE, which is not set"},
		"in the clear":   {Settings{Kind: HTTP, Address: "http://b/c", PasswordEnv: "P", Env: env}, "default", "unencrypted"},
		"no bucket":      {Settings{Kind: S3, Env: env}, "default", "name of a bucket"},
		"bucket":         {Settings{Kind: S3, Bucket: "a/b", Env: env}, "default", "name of a bucket"},
		"prefix":         {Settings{Kind: S3, Bucket: "abc", Prefix: "/a", Env: env}, "default", "prefix"},
		"region":         {Settings{Kind: S3, Bucket: "abc", Region: "a b", Env: env}, "default", "region"},
		"keys":           {Settings{Kind: S3, Bucket: "abc"}, "default", "AWS_ACCESS_KEY_ID is not set: "},
		"half a key":     {Settings{Kind: S3, Bucket: "abc", Env: func(name string) string { return map[string]string{"AWS_ACCESS_KEY_ID": "hunter2"}[name] }}, "default", "AWS_SECRET_ACCESS_KEY is not set: "},
		"endpoint":       {Settings{Kind: S3, Bucket: "abc", Endpoint: "https://b/c", Env: env}, "default", "takes a host only"},
		"no work tree":   {Settings{Kind: Git, Source: t.TempDir()}, "default", "work tree"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := OpenAt(c.s, c.workspace)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, not %q", err, c.want)
			}
		})
	}
	s, err := OpenAt(Settings{Kind: S3, Bucket: "abc", Env: env}, "default")
	must(t, err)
	if at := s.Where(); at != "https://abc.s3.us-east-1.amazonaws.com/default/" {
		t.Errorf("the place is %s", at)
	}
	if _, err := s.Stamp("tor"); err == nil || s.Dir() != "" {
		t.Errorf("a record elsewhere has a folder: %q, %v", s.Dir(), err)
	}
}
