package record

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/checkout"
)

// TestSign: the examples of the S3 API reference, "Signature Calculations for the
// Authorization Header: Transferring Payload in a Single Chunk".
func TestSign(t *testing.T) {
	s := signer{keyID: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1"}
	at := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, method, path, query, body string
		headers                         map[string]string
		signed, want                    string
	}{
		{
			"get object", "GET", "/test.txt", "", "",
			map[string]string{"Range": "bytes=0-9"},
			"host;range;x-amz-content-sha256;x-amz-date", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
		},
		{
			"put object", "PUT", "/test$file.text", "", "Welcome to Amazon S3.",
			map[string]string{"Date": "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Storage-Class": "REDUCED_REDUNDANCY"},
			"date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
		},
		{
			"lifecycle", "GET", "/", "lifecycle", "", nil,
			"host;x-amz-content-sha256;x-amz-date", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
		},
		{
			"list objects", "GET", "/", "prefix=J&max-keys=2", "", nil,
			"host;x-amz-content-sha256;x-amz-date", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := url.URL{Scheme: "https", Host: "examplebucket.s3.amazonaws.com", Path: c.path, RawPath: escapePath(c.path), RawQuery: c.query}
			req, err := http.NewRequest(c.method, u.String(), nil)
			must(t, err)
			for k, v := range c.headers {
				req.Header.Set(k, v)
			}
			s.sign(req, []byte(c.body), at)
			want := "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=" + c.signed + ",Signature=" + c.want
			if got := req.Header.Get("Authorization"); got != want {
				t.Errorf("it is signed\n%s\nnot\n%s", got, want)
			}
		})
	}
	req, err := http.NewRequest("GET", "https://b.s3.amazonaws.com/", nil)
	must(t, err)
	s.token = "session"
	s.sign(req, nil, at)
	if req.Header.Get("X-Amz-Security-Token") != "session" || !strings.Contains(req.Header.Get("Authorization"), ";x-amz-security-token,") {
		t.Error("the token of a session is not signed")
	}
}

// FuzzEscape: what is escaped has plain characters only, and reads back.
func FuzzEscape(f *testing.F) {
	f.Add("a b/c+d=é%20")
	f.Fuzz(func(t *testing.T, s string) {
		got := escapePath(s)
		if strings.ContainsFunc(got, func(r rune) bool {
			return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~%/", r)
		}) {
			t.Fatalf("%q becomes %q", s, got)
		}
		if back, err := url.PathUnescape(got); err != nil || back != s {
			t.Fatalf("%q reads back as %q, %v", got, back, err)
		}
	})
}

// FuzzState: whatever a server sends, a state that is read is written and read
// again as the same.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"kind": "rocec record", "format_version": "1.0", "workspace": "default", "serial": 7, "devices": {"tor": {"a": [1, 2.50, "\u00e9"]}}}`))
	f.Add([]byte(`{"kind": "rocec record", "format_version": "1.0", "workspace": "default", "devices": {"": null}}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseState(b, "default")
		if err != nil {
			return
		}
		text, err := s.encode("default")
		if err != nil {
			t.Fatalf("it was read and cannot be written: %v", err)
		}
		again, err := parseState(text, "default")
		if err != nil || again.serial != s.serial || len(again.entries) != len(s.entries) {
			t.Fatalf("it reads back as %+v, %v", again, err)
		}
		for _, name := range s.names() {
			was, err := s.get(name)
			must(t, err)
			now, err := again.get(name)
			must(t, err)
			if Digest(was) != Digest(now) {
				t.Fatalf("%q is %q and then %q", name, was, now)
			}
		}
	})
}

// FuzzLastWords: no credentials of an address, no control characters, no length.
func FuzzLastWords(f *testing.F) {
	f.Add([]byte("fatal: unable to access 'https://ci:hunter2@example.net/a.git/': nope\nhint: x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := checkout.Words(b)
		if len(got) > 300 || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f }) || strings.Contains(got, "hunter2@") && strings.Contains(got, "://ci:hunter2@") {
			t.Fatalf("%q", got)
		}
	})
}
