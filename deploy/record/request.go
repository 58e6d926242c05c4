package record

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Bounds of requests to servers.
const (
	requestWait  = 60 * time.Second
	attempts     = 4
	firstRetry   = 500 * time.Millisecond
	longestRetry = 30 * time.Second
	maxBody      = 64 << 20
)

// sleeper waits, unless a context ends.
type sleeper = func(context.Context, time.Duration) error

// caller sends requests to one server, and again where the server is to blame.
type caller struct {
	client *http.Client
	sleep  sleeper
	wait   time.Duration // for one request
}

func newCaller() *caller {
	return &caller{client: &http.Client{
		// A redirect would carry what is meant for one server to another.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, sleep: sleep, wait: requestWait}
}

// answer is what a server said.
type answer struct {
	code   int
	header http.Header
	body   []byte
	again  bool // an attempt before this one may have been carried out
}

// do sends a request that is made anew for each attempt. Broken connections,
// timeouts, 429 and 5xx are tried again; who cannot agree on TLS never will.
func (c *caller) do(ctx context.Context, make func() (*http.Request, error)) (*answer, error) {
	pause, again := firstRetry, false
	for n := 1; ; n++ {
		a, err := c.once(ctx, make)
		if err == nil {
			a.again = again
		}
		temporary := err != nil || a.code == http.StatusTooManyRequests || a.code >= 500 && a.code != http.StatusNotImplemented
		if !temporary || n == attempts || ctx.Err() != nil || errors.Is(err, errRequest) || untrusted(err) {
			return a, err
		}
		again = true
		if err == nil {
			pause = retryAfter(a.header, pause)
		}
		if e := c.sleep(ctx, pause); e != nil {
			return nil, e
		}
		pause *= 2
	}
}

// untrusted reports whether the two ends did not agree on TLS: a certificate of one that the other does not take, no
// version or algorithm in common, no TLS at all.
func untrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var alert *net.OpError
	if errors.As(err, &certificate) || errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error") {
		return true
	}
	// What crypto/tls and net/http say of it without a type.
	return err != nil && (strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "gave HTTP response to HTTPS client"))
}

// errRequest is a request that could not be made: another attempt makes the same.
var errRequest = errors.New("the request cannot be made")

func (c *caller) once(ctx context.Context, make func() (*http.Request, error)) (*answer, error) {
	req, err := make()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRequest, err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.wait)
	defer cancel()
	res, err := c.client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, plainURL(req.URL), bare(err))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", req.Method, plainURL(req.URL), bare(err))
	case len(body) > maxBody:
		return nil, fmt.Errorf("%s %s: the answer is larger than %d MiB", req.Method, plainURL(req.URL), maxBody>>20)
	}
	return &answer{code: res.StatusCode, header: res.Header, body: body}, nil
}

// retryAfter is how long a server asks to wait, within bounds.
func retryAfter(h http.Header, otherwise time.Duration) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 1 {
		return otherwise
	}
	return min(time.Duration(seconds)*time.Second, longestRetry)
}

// bare is an error without the address, which may hold more than is shown.
func bare(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		var unknown x509.UnknownAuthorityError
		switch {
		case e.Timeout():
			return errors.New("no answer in time")
		case errors.As(err, &unknown):
			return fmt.Errorf("%w: SSL_CERT_FILE names a file with authorities of your own", e.Err)
		}
		return e.Err
	}
	return err
}

// plainURL is an address without user and query.
func plainURL(u *url.URL) string {
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// unexpected is an answer that says that it did not work; more is what else it says.
// The codes are those of "Error responses" in the S3 API reference, as VersityGW
// v1.8.0 gives them too.
func unexpected(method string, u *url.URL, a *answer, more string) error {
	text := strconv.Itoa(a.code) + " " + http.StatusText(a.code)
	if more != "" {
		text += ", " + more
	}
	switch {
	case more == "RequestTimeTooSkewed":
		text += ": the clock here or there is wrong"
	case more == "AuthorizationHeaderMalformed", more == "PermanentRedirect":
		text += ": check the region"
	case a.code == http.StatusUnauthorized, a.code == http.StatusForbidden, more == "InvalidToken", more == "ExpiredToken":
		text += ": check the credentials in the environment"
	case a.code >= 300 && a.code < 400:
		text += ": it points elsewhere, and is not followed; write the address it points to"
	case more == "" && (a.code == http.StatusNotFound || a.code == http.StatusMethodNotAllowed || a.code == http.StatusNotImplemented):
		text += ": nothing there keeps records; check the address"
	}
	return fmt.Errorf("%s %s: %s", method, plainURL(u), text)
}

// address reads the address of a server, which holds no credentials.
func address(what, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is no address", what) // its text may hold a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%s is no address of the form https://HOST/PATH", what)
	case u.User != nil:
		return nil, fmt.Errorf("%s holds a user or a password: name the variables that hold them", what)
	case u.Fragment != "":
		return nil, fmt.Errorf("%s has a fragment, which no server sees", what)
	}
	return u, nil
}

// private reports whether nobody listens on the way to a server.
func private(u *url.URL) bool {
	if u.Scheme == "https" || strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}
