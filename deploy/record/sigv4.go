package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// signer signs requests as Amazon S3 and what speaks its protocol ask for:
// "Authenticating Requests (AWS Signature Version 4)" of the S3 API reference, with
// the payload signed in one chunk.
type signer struct {
	keyID, secret, token string // of the environment; token may be ""
	region               string
}

// service is what requests are signed for.
const service = "s3"

const stampForm = "20060102T150405Z"

// sign adds the headers of a request with this body. The URL's path must be
// escaped as escapePath does it. Every header that is there is signed.
func (s *signer) sign(req *http.Request, body []byte, now time.Time) {
	stamp := now.UTC().Format(stampForm)
	sum := hexSum(body)
	req.Header.Set("X-Amz-Date", stamp)
	req.Header.Set("X-Amz-Content-Sha256", sum)
	if s.token != "" {
		req.Header.Set("X-Amz-Security-Token", s.token)
	}
	names := []string{"host"}
	for name := range req.Header {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	var headers strings.Builder
	for _, name := range names {
		value := req.URL.Host
		if name != "host" {
			value = strings.Join(strings.Fields(strings.Join(req.Header.Values(name), ",")), " ")
		}
		headers.WriteString(name + ":" + value + "\n")
	}
	path := req.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	signed := strings.Join(names, ";")
	canonical := strings.Join([]string{req.Method, path, escapeQuery(req.URL.Query()), headers.String(), signed, sum}, "\n")
	scope := stamp[:8] + "/" + s.region + "/" + service + "/aws4_request"
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hexSum([]byte(canonical))
	key := []byte("AWS4" + s.secret)
	for _, part := range strings.Split(scope, "/") {
		key = mac(key, part)
	}
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+s.keyID+"/"+scope+",SignedHeaders="+signed+",Signature="+hex.EncodeToString(mac(key, text)))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// escape encodes all but the characters that RFC 3986 leaves alone.
func escape(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '.', c == '~':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}

// escapePath encodes a path, segment by segment.
func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = escape(parts[i])
	}
	return strings.Join(parts, "/")
}

// escapeQuery encodes a query in the order of its names and values.
func escapeQuery(q url.Values) string {
	var list []string
	for name, values := range q {
		for _, v := range values {
			list = append(list, escape(name)+"="+escape(v))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "&")
}
