package record

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// bucket is a backend: an object for each device in a bucket of Amazon S3 or of
// what speaks its protocol, and one for the lock. It rests on conditional writes
// (S3 User Guide, "How to prevent object overwrites with conditional writes" and
// "How to perform conditional deletes"): If-None-Match: * for what shall not be
// there yet, If-Match with the ETag for what shall be as it was read; 412 says that
// it is not, 409 that another write was under way. A store that passes over the
// conditions is refused when the lock is taken.
type bucket struct {
	caller
	signer
	workspace string
	base      *url.URL // of the bucket
	prefix    string   // of the keys: "fabric/default/"
	now       func() time.Time
}

func newS3(s Settings, workspace string) (*bucket, error) {
	b := &bucket{caller: *newCaller(), workspace: workspace, now: time.Now}
	switch {
	case !bucketForm().MatchString(s.Bucket):
		return nil, errors.New(`backend "s3" needs the name of a bucket`)
	case strings.Contains(s.Prefix, "//") || strings.HasPrefix(s.Prefix, "/"):
		return nil, fmt.Errorf("prefix %q is no prefix of keys: write it as \"fabric/record\"", short(s.Prefix))
	}
	b.region = firstOf(s.Region, s.Env("AWS_REGION"), s.Env("AWS_DEFAULT_REGION"), "us-east-1")
	if !regionForm().MatchString(b.region) {
		return nil, fmt.Errorf("region %q is none", short(b.region))
	}
	b.keyID, b.secret, b.token = s.Env("AWS_ACCESS_KEY_ID"), s.Env("AWS_SECRET_ACCESS_KEY"), s.Env("AWS_SESSION_TOKEN")
	for _, v := range []struct{ name, value string }{{"AWS_ACCESS_KEY_ID", b.keyID}, {"AWS_SECRET_ACCESS_KEY", b.secret}} {
		if v.value == "" {
			return nil, fmt.Errorf("%s is not set: backend \"s3\" takes its credentials from the environment, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN), not from profiles or roles", v.name)
		}
	}
	endpoint := s.Endpoint
	if endpoint == "" {
		endpoint = "https://s3." + b.region + ".amazonaws.com"
	}
	u, err := address("endpoint", endpoint)
	if err != nil {
		return nil, err
	}
	if u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("endpoint has a path or a query, and takes a host only")
	}
	u.Path = ""
	if s.PathStyle {
		u.Path = "/" + s.Bucket
	} else {
		u.Host = s.Bucket + "." + u.Host
	}
	b.base = u
	if p := strings.Trim(s.Prefix, "/"); p != "" {
		b.prefix = p + "/"
	}
	b.prefix += workspace + "/"
	return b, nil
}

var (
	bucketForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{1,253}$`) })
	regionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9-]{1,64}$`) })
)

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// Where is the bucket with the prefix.
func (b *bucket) Where() string { return plainURL(b.at(b.prefix)) }

// at is the address of a key.
func (b *bucket) at(key string) *url.URL {
	u := *b.base
	u.Path += "/" + key
	u.RawPath = escapePath(u.Path)
	return &u
}

// condition is what an object shall be for a request to be carried out.
type condition struct{ name, value string }

var absent = condition{"If-None-Match", "*"}

func tagged(etag string) condition { return condition{"If-Match", etag} }

// send sends one request; body nil is none.
func (b *bucket) send(ctx context.Context, method string, to *url.URL, body []byte, on ...condition) (*answer, error) {
	return b.do(ctx, func() (*http.Request, error) {
		req, err := http.NewRequest(method, to.String(), bytes.NewReader(body))
		if err != nil {
			return nil, errors.New("address is none")
		}
		for _, c := range on {
			req.Header.Set(c.name, c.value)
		}
		if method == http.MethodPut {
			req.Header.Set("Content-Type", "application/json")
		}
		b.sign(req, body, b.now())
		return req, nil
	})
}

// problem is what an answer says in XML.
func problem(a *answer) string {
	var text struct {
		Code string `xml:"Code"`
	}
	if xml.Unmarshal(a.body, &text) != nil || !codeForm().MatchString(text.Code) {
		return ""
	}
	return text.Code
}

var codeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`) })

// object is what a key holds; a zero one is not there.
type object struct {
	bytes []byte
	etag  string
}

func (b *bucket) read(ctx context.Context, key string) (object, error) {
	to := b.at(key)
	a, err := b.send(ctx, http.MethodGet, to, nil)
	if err != nil {
		return object{}, err
	}
	switch code := problem(a); {
	case a.code == http.StatusOK:
		if a.header.Get("ETag") == "" {
			return object{}, fmt.Errorf("%s: the answer has no ETag", plainURL(to))
		}
		return object{a.body, a.header.Get("ETag")}, nil
	case a.code == http.StatusNotFound && code == "NoSuchKey":
		return object{}, nil
	default:
		return object{}, unexpected(http.MethodGet, to, a, code)
	}
}

// errMoved is an object that is not what a write was made for.
var errMoved = errors.New("the object has moved")

// write puts an object in place under a condition, or deletes it if body is nil.
func (b *bucket) write(ctx context.Context, key string, body []byte, on condition) error {
	to, method := b.at(key), http.MethodPut
	if body == nil {
		method = http.MethodDelete
	}
	a, err := b.send(ctx, method, to, body, on)
	for n := 1; n < attempts && err == nil && a.code == http.StatusConflict; n++ { // another write was under way
		if err = b.sleep(ctx, firstRetry); err == nil {
			a, err = b.send(ctx, method, to, body, on)
		}
	}
	if err != nil {
		return err
	}
	switch a.code {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		return nil
	case http.StatusPreconditionFailed, http.StatusConflict, http.StatusNotFound:
		if code := problem(a); a.code == http.StatusNotFound && code != "NoSuchKey" && code != "" {
			return unexpected(method, to, a, code)
		}
		if a.again { // the attempt before may have been carried out
			now, err := b.read(ctx, key)
			if err == nil && (body == nil && now.etag == "" || body != nil && bytes.Equal(now.bytes, body)) {
				return nil
			}
		}
		return errMoved
	}
	return unexpected(method, to, a, problem(a))
}

// maxPages bounds the pages of a list, of a thousand keys each.
const maxPages = 10_000

// List names the objects under the prefix.
func (b *bucket) List(ctx context.Context) ([]string, error) {
	var names []string
	token := ""
	for range maxPages {
		to := *b.base
		if to.Path == "" {
			to.Path = "/"
		}
		query := url.Values{"list-type": {"2"}, "prefix": {b.prefix}, "delimiter": {"/"}}
		if token != "" {
			query.Set("continuation-token", token)
		}
		to.RawQuery = escapeQuery(query)
		a, err := b.send(ctx, http.MethodGet, &to, nil)
		if err != nil {
			return nil, err
		}
		if a.code != http.StatusOK {
			return nil, unexpected(http.MethodGet, &to, a, problem(a))
		}
		var page struct {
			Contents []struct {
				Key string `xml:"Key"`
			} `xml:"Contents"`
			Truncated bool   `xml:"IsTruncated"`
			Next      string `xml:"NextContinuationToken"`
		}
		if err := xml.Unmarshal(a.body, &page); err != nil {
			return nil, fmt.Errorf("%s: the list is not understood: %w", b.Where(), err)
		}
		for _, c := range page.Contents {
			name, ok := strings.CutPrefix(c.Key, b.prefix)
			if name, is := strings.CutSuffix(name, suffix); ok && is && !strings.HasPrefix(name, ".") {
				names = append(names, name)
			}
		}
		if !page.Truncated {
			return names, nil
		}
		if page.Next == "" || page.Next == token {
			return nil, fmt.Errorf("%s: the list does not end", b.Where())
		}
		token = page.Next
	}
	return nil, fmt.Errorf("%s: the list does not end", b.Where())
}

func (b *bucket) key(device string) string { return b.prefix + device + suffix }

// Get reads an object.
func (b *bucket) Get(ctx context.Context, device string) ([]byte, error) {
	o, err := b.read(ctx, b.key(device))
	if err == nil && len(o.bytes) > maxEntryBytes {
		return nil, fmt.Errorf("it has %d bytes, which is more than is read", len(o.bytes))
	}
	return o.bytes, err
}

// Put writes an object if the lock is held and it is as it was read.
func (b *bucket) Put(ctx context.Context, id, device string, body []byte, version string) error {
	if _, err := b.held(ctx, id); err != nil {
		return err
	}
	old, err := b.read(ctx, b.key(device))
	if err != nil {
		return err
	}
	conflict := func(o object) error {
		have := ""
		if o.etag != "" {
			have = Digest(o.bytes)
		}
		return &ConflictError{Device: device, Want: version, Have: have}
	}
	on := absent
	switch {
	case old.etag == "" && version == "":
		if body == nil {
			return nil
		}
	case old.etag == "" || Digest(old.bytes) != version:
		return conflict(old)
	default:
		on = tagged(old.etag)
	}
	err = b.write(ctx, b.key(device), body, on)
	if !errors.Is(err, errMoved) {
		return err
	}
	if old, err = b.read(ctx, b.key(device)); err != nil {
		return err
	}
	return conflict(old)
}

// Sync has nothing to do: Put has done it.
func (b *bucket) Sync(context.Context, string) error { return nil }

func (b *bucket) lockKey() string { return b.prefix + objectFile }

// Lock writes the lock's object where there is none.
func (b *bucket) Lock(ctx context.Context, h Holder) error {
	body, err := Canonical(h)
	if err != nil {
		return err
	}
	err = b.write(ctx, b.lockKey(), body, absent)
	if errors.Is(err, errMoved) {
		locked := &LockedError{}
		o, err := b.read(ctx, b.lockKey())
		if err == nil && o.etag != "" {
			var holder *Holder
			if holder, err = decodeHolder(o.bytes); err == nil {
				locked.Holder = *holder
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", plainURL(b.at(b.lockKey())), err)
		}
		return locked // given back meanwhile: nobody is named, and the next attempt has it
	}
	if err != nil {
		return err
	}
	if err := b.conditional(ctx, body); err != nil {
		return errors.Join(err, b.Unlock(ctx, h.ID))
	}
	return nil
}

// conditional makes sure that what is there is not written again: a store that
// does it keeps no locks.
func (b *bucket) conditional(ctx context.Context, body []byte) error {
	to := b.at(b.lockKey())
	a, err := b.send(ctx, http.MethodPut, to, body, absent)
	switch {
	case err != nil:
		return err
	case a.code == http.StatusPreconditionFailed || a.code == http.StatusConflict:
		return nil
	case a.code == http.StatusOK || a.code == http.StatusCreated || a.code == http.StatusNoContent || a.code == http.StatusNotImplemented:
		return fmt.Errorf("%s does not keep to If-None-Match, and so keeps no locks: use a store with conditional writes", plainURL(b.base))
	}
	return unexpected(http.MethodPut, to, a, problem(a))
}

// held reads the lock's object and makes sure that it is the one with this ID.
func (b *bucket) held(ctx context.Context, id string) (object, error) {
	o, err := b.read(ctx, b.lockKey())
	if err != nil {
		return o, err
	}
	h, err := decodeHolder(o.bytes)
	if o.etag == "" || err == nil && h.ID != id {
		return o, &LostError{ID: id}
	}
	return o, err
}

// Unlock deletes the lock's object.
func (b *bucket) Unlock(ctx context.Context, id string) error {
	o, err := b.held(ctx, id)
	if err != nil {
		return err
	}
	if err := b.remove(ctx, o); errors.Is(err, errMoved) {
		return &LostError{ID: id}
	} else if err != nil {
		return err
	}
	return nil
}

// remove deletes the lock's object as it was read. A store that knows no
// conditional deletes says so, and deletes without.
func (b *bucket) remove(ctx context.Context, o object) error {
	to := b.at(b.lockKey())
	a, err := b.send(ctx, http.MethodDelete, to, nil, tagged(o.etag))
	if err == nil && (a.code == http.StatusNotImplemented || problem(a) == "NotImplemented") {
		a, err = b.send(ctx, http.MethodDelete, to, nil)
	}
	if err != nil {
		return err
	}
	switch a.code {
	case http.StatusOK, http.StatusNoContent:
		return nil
	case http.StatusNotFound, http.StatusPreconditionFailed, http.StatusConflict:
		if a.again {
			if now, err := b.read(ctx, b.lockKey()); err == nil && now.etag == "" {
				return nil
			}
		}
		return errMoved
	}
	return unexpected(http.MethodDelete, to, a, problem(a))
}

// Holder reads the lock's object.
func (b *bucket) Holder(ctx context.Context) (*Holder, error) {
	o, err := b.read(ctx, b.lockKey())
	if err != nil || o.etag == "" {
		return nil, err
	}
	return decodeHolder(o.bytes)
}

// Break deletes the lock's object with this ID, or one that cannot be read.
func (b *bucket) Break(ctx context.Context, id string) error {
	o, err := b.read(ctx, b.lockKey())
	if err != nil {
		return err
	}
	if o.etag == "" {
		return notLocked(b.workspace)
	}
	if h, err := decodeHolder(o.bytes); err == nil && h.ID != id {
		return otherID(h.ID, id)
	}
	if err := b.remove(ctx, o); errors.Is(err, errMoved) {
		return errors.New("the lock has moved meanwhile: try again")
	} else if err != nil {
		return err
	}
	return nil
}
