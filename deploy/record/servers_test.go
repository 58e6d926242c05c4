package record

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fault is what a server does instead of answering a request: it is asked before
// the request is carried out, and after.
type fault struct {
	before int    // status; 0: none
	body   string // of before
	after  int    // status after the request was carried out
	cut    bool   // the connection ends after the request was carried out
	header string // Retry-After
}

// faults are those of the next requests, by method; tests add them.
type faults struct {
	mu   sync.Mutex
	next map[string][]fault
	seen []string // requests: "PUT /bucket/key"
}

func (f *faults) add(method string, list ...fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = map[string][]fault{}
	}
	f.next[method] = append(f.next[method], list...)
}

func (f *faults) take(r *http.Request) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, r.Method+" "+r.URL.Path)
	list := f.next[r.Method]
	if len(list) == 0 {
		return fault{}
	}
	f.next[r.Method] = list[1:]
	return list[0]
}

// carried runs a handler with the faults.
func (f *faults) carried(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := f.take(r)
		if x.before != 0 {
			if x.header != "" {
				w.Header().Set("Retry-After", x.header)
			}
			w.WriteHeader(x.before)
			_, _ = io.WriteString(w, x.body)
			return
		}
		if x.after == 0 && !x.cut {
			h(w, r)
			return
		}
		h(httptest.NewRecorder(), r)
		if x.cut {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(x.after)
	}
}

// stateServer keeps states and locks by the rules of Terraform's protocol. With
// gitlab, by those that GitLab adds. With whole it answers as
// github.com/nimbolus/terraform-backend of 2025-10-29 was seen to: who has a lock is
// who sends the same object, and what is wrong with a lock is a 400.
type stateServer struct {
	faults
	*httptest.Server
	gitlab, whole  bool
	user, password string

	mu     sync.Mutex
	states map[string][]byte
	serial map[string]int64
	locks  map[string][]byte
}

func newStateServer(t testing.TB, gitlab bool) *stateServer {
	s := &stateServer{gitlab: gitlab, states: map[string][]byte{}, serial: map[string]int64{}, locks: map[string][]byte{}}
	s.Server = httptest.NewServer(s.carried(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *stateServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if user, password, _ := r.BasicAuth(); user != s.user || password != s.password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if sum := md5.Sum(body); len(body) > 0 && r.Header.Get("Content-MD5") != base64.StdEncoding.EncodeToString(sum[:]) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	name, isLock := strings.CutSuffix(r.URL.Path, "/lock")
	var info lockInfo
	if isLock || r.Method == "LOCK" || r.Method == "UNLOCK" {
		fields := map[string]*string{}
		if json.Unmarshal(body, &fields) != nil || json.Unmarshal(body, &info) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, f := range []string{"ID", "Operation", "Info", "Who", "Version", "Created", "Path"} {
			if s.gitlab && fields[f] == nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
		}
	}
	var held lockInfo
	_ = json.Unmarshal(s.locks[name], &held) // none is no ID
	switch {
	case isLock && r.Method == http.MethodPost, r.Method == "LOCK" && !s.gitlab:
		if held.ID != "" && !(s.whole && held == info) {
			code := http.StatusLocked
			if s.gitlab {
				code = http.StatusConflict
			}
			if s.gitlab { // lib/api/terraform/state.rb: the rest is of who asks
				info.ID, info.Who, info.Created = held.ID, held.Who, held.Created
				held = info
			}
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(held)
			return
		}
		s.locks[name] = body
	case isLock && r.Method == http.MethodDelete, r.Method == "UNLOCK" && !s.gitlab:
		if s.whole && held != info {
			w.WriteHeader(http.StatusBadRequest)
			if held.ID == "" {
				held = info
			}
			_ = json.NewEncoder(w).Encode(held)
			return
		}
		if held.ID != info.ID {
			w.WriteHeader(http.StatusConflict)
			return
		}
		delete(s.locks, name)
	case r.Method == http.MethodGet:
		if s.states[name] == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		sum := md5.Sum(s.states[name])
		w.Header().Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
		_, _ = w.Write(s.states[name])
	case r.Method == http.MethodPost:
		if id := r.URL.Query().Get("ID"); s.whole && held.ID != id {
			w.WriteHeader(http.StatusBadRequest)
			return
		} else if held.ID != "" && held.ID != id {
			w.WriteHeader(http.StatusConflict)
			return
		}
		var text struct {
			Serial *int64 `json:"serial"`
		}
		if json.Unmarshal(body, &text) != nil || s.gitlab && (text.Serial == nil || *text.Serial <= s.serial[name]) {
			w.WriteHeader(http.StatusUnprocessableEntity) // one version for each serial
			return
		}
		s.states[name] = body
		if text.Serial != nil {
			s.serial[name] = *text.Serial
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// bucketServer is an object store by the rules of Amazon's for what is used here:
// signatures, conditional writes and deletes, lists in pages.
type bucketServer struct {
	faults
	*httptest.Server
	signer
	bucket        string
	careless      bool // passes over conditions
	noConditional bool // of deletes: 501
	page          int

	mu      sync.Mutex
	objects map[string][]byte
}

func newBucketServer(t testing.TB) *bucketServer {
	s := &bucketServer{bucket: "fabric", page: 2, signer: signer{keyID: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", region: "eu-central-1"}, objects: map[string][]byte{}}
	s.Server = httptest.NewServer(s.carried(s.serve))
	t.Cleanup(s.Close)
	return s
}

func etagOf(b []byte) string {
	sum := md5.Sum(b)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func (s *bucketServer) fail(w http.ResponseWriter, code int, word string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>m</Message></Error>", word)
}

// signed makes the signature again from what came in.
func (s *bucketServer) signed(r *http.Request, body []byte) bool {
	at, err := time.Parse(stampForm, r.Header.Get("X-Amz-Date"))
	_, names, ok := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ = strings.Cut(names, ",")
	if err != nil || !ok {
		return false
	}
	again, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), nil)
	if err != nil {
		return false
	}
	for _, n := range strings.Split(names, ";") {
		if n != "host" {
			again.Header[http.CanonicalHeaderKey(n)] = r.Header.Values(n)
		}
	}
	for _, must := range []string{"If-Match", "If-None-Match"} {
		if r.Header.Get(must) != "" && !slices.Contains(strings.Split(names, ";"), strings.ToLower(must)) {
			return false
		}
	}
	s.sign(again, body, at)
	return again.Header.Get("Authorization") == r.Header.Get("Authorization") && r.Header.Get("X-Amz-Content-Sha256") == hexSum(body)
}

func (s *bucketServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil || !s.signed(r, body) {
		s.fail(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	key := strings.TrimPrefix(r.URL.Path, "/")
	if host, _, _ := strings.Cut(r.Host, ":"); host != s.bucket+".localhost" {
		bucket, rest, _ := strings.Cut(key, "/")
		if bucket != s.bucket {
			s.fail(w, http.StatusNotFound, "NoSuchBucket")
			return
		}
		key = rest
	}
	if key == "" {
		s.list(w, r.URL.Query())
		return
	}
	old, there := s.objects[key]
	match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
	if s.careless {
		match, none = "", ""
	}
	switch r.Method {
	case http.MethodGet:
		if !there {
			s.fail(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		w.Header().Set("ETag", etagOf(old))
		_, _ = w.Write(old)
	case http.MethodPut:
		switch {
		case none == "*" && there:
			s.fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		case match != "" && !there:
			s.fail(w, http.StatusNotFound, "NoSuchKey")
		case match != "" && match != etagOf(old):
			s.fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		default:
			s.objects[key] = body
			w.Header().Set("ETag", etagOf(body))
		}
	case http.MethodDelete:
		switch {
		case match != "" && s.noConditional:
			s.fail(w, http.StatusNotImplemented, "NotImplemented")
		case match != "" && there && match != etagOf(old):
			s.fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		default:
			delete(s.objects, key)
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *bucketServer) list(w http.ResponseWriter, q url.Values) {
	type content struct {
		Key string
	}
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []content
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
	}
	var keys []string
	for k := range s.objects {
		rest, ok := strings.CutPrefix(k, q.Get("prefix"))
		if ok && !strings.Contains(rest, q.Get("delimiter")) && k > q.Get("continuation-token") {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	if len(keys) > s.page {
		keys, page.IsTruncated, page.NextContinuationToken = keys[:s.page], true, keys[s.page-1]
	}
	for _, k := range keys {
		page.Contents = append(page.Contents, content{k})
	}
	b, err := xml.Marshal(page)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(b)
}
