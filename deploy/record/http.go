package record

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rocec/rocec/deploy/disk"
)

// server is a backend: a server that keeps states and locks as Terraform's "http"
// backend asks it to, with the record of a workspace as one state. The protocol is
// that of Terraform's documentation (language/backend/http) and of its client
// (internal/backend/remote-state/http/client.go, v1.x): GET and POST of the state,
// LOCK and UNLOCK with the lock's object as body, 423 or 409 with that of the
// holder, ID=... on updates, Content-MD5. GitLab (lib/api/terraform/state.rb)
// asks for more: a state has a "serial" that grows, every field of the lock's object
// is there, and its methods are POST and DELETE. Others unlock for nobody who does
// not send the same object again, and say 400 to him (github.com/nimbolus/terraform-backend,
// pkg/terraform/terraform.go, pkg/server/handler.go, of 2025-10-29).
type server struct {
	caller
	workspace                      string
	state, lock, unlock            *url.URL
	update, lockMethod, freeMethod string
	user, password                 string
	now                            func() time.Time

	mu     sync.Mutex // plans read from several goroutines
	mine   Holder     // of the lock that was taken last
	known  *state     // nil: not read yet
	dirty  bool
	synced time.Time
}

// gatherFor is how long changes wait to be sent with others: a state is sent
// whole.
const gatherFor = 10 * time.Second

// placeholder stands for the workspace in an address.
const placeholder = "{workspace}"

func newHTTP(s Settings, workspace string) (*server, error) {
	h := &server{
		caller: *newCaller(), workspace: workspace, now: time.Now,
		update: method(s.UpdateMethod, http.MethodPost), lockMethod: method(s.LockMethod, "LOCK"), freeMethod: method(s.UnlockMethod, "UNLOCK"),
	}
	if s.Address == "" {
		return nil, errors.New(`backend "http" needs an address`)
	}
	for _, a := range []struct {
		what, text string
		to         **url.URL
	}{{"address", s.Address, &h.state}, {"lock_address", s.LockAddress, &h.lock}, {"unlock_address", s.UnlockAddress, &h.unlock}} {
		text := a.text
		if text == "" && a.what == "unlock_address" {
			text = s.LockAddress
		}
		if text == "" {
			text = s.Address
		}
		if workspace != "default" && !strings.Contains(text, placeholder) {
			return nil, fmt.Errorf("%s has no %s, and the workspace is %q: two of them would be one record", a.what, placeholder, workspace)
		}
		u, err := address(a.what, strings.ReplaceAll(text, placeholder, url.PathEscape(workspace)))
		if err != nil {
			return nil, err
		}
		*a.to = u
	}
	var err error
	if h.user, err = variable(s, "username_env", s.UsernameEnv); err != nil {
		return nil, err
	}
	if h.password, err = variable(s, "password_env", s.PasswordEnv); err != nil {
		return nil, err
	}
	if err := h.identify(s); err != nil {
		return nil, err
	}
	for _, u := range []*url.URL{h.state, h.lock, h.unlock} {
		if h.password != "" && !private(u) {
			return nil, fmt.Errorf("%s would carry the password unencrypted: use https", plainURL(u))
		}
	}
	return h, nil
}

// identify makes the client show a certificate, if settings name one.
func (h *server) identify(s Settings) error {
	switch {
	case s.ClientCertificate == "" && s.ClientKey == "":
		return nil
	case s.ClientCertificate == "" || s.ClientKey == "":
		return errors.New("client_certificate and client_key are named together, or neither is")
	}
	for _, u := range []*url.URL{h.state, h.lock, h.unlock} {
		if u.Scheme != "https" {
			return fmt.Errorf("%s asks for no client_certificate: use https", plainURL(u))
		}
	}
	certificate, err := disk.ReadLinked(atHome(s, s.ClientCertificate), maxCertificateBytes)
	if err != nil {
		return fmt.Errorf("client_certificate: %w", err)
	}
	key, err := disk.ReadKey(atHome(s, s.ClientKey))
	if errors.Is(err, disk.ErrOpenKey) {
		err = fmt.Errorf("%w; take it away from the others with chmod 600, and make a new one if they may have read it", err)
	}
	if err != nil {
		return fmt.Errorf("client_key: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("client_certificate and client_key: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	h.client.Transport = transport
	return nil
}

// maxCertificateBytes bounds a file of certificates.
const maxCertificateBytes = 1 << 20

// atHome writes out a leading ~/.
func atHome(s Settings, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && s.Env("HOME") != "" {
		return filepath.Join(s.Env("HOME"), rest)
	}
	return filepath.FromSlash(path)
}

func method(written, otherwise string) string {
	if written == "" {
		return otherwise
	}
	return written
}

// variable is a variable of the environment that settings name.
func variable(s Settings, what, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	v := s.Env(name)
	if v == "" {
		return "", fmt.Errorf("%s names %s, which is not set", what, name)
	}
	return v, nil
}

// Where is the address of the state.
func (h *server) Where() string { return plainURL(h.state) }

// send sends one request.
func (h *server) send(ctx context.Context, method string, to *url.URL, body []byte) (*answer, error) {
	return h.do(ctx, func() (*http.Request, error) {
		var req *http.Request
		var err error
		if body == nil {
			req, err = http.NewRequest(method, to.String(), nil)
		} else {
			req, err = http.NewRequest(method, to.String(), bytes.NewReader(body))
		}
		if err != nil {
			return nil, errors.New("method or address is none")
		}
		if h.user != "" || h.password != "" {
			req.SetBasicAuth(h.user, h.password)
		}
		if body != nil {
			sum := md5.Sum(body)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
		}
		return req, nil
	})
}

// load reads the state, unless that was done.
func (h *server) load(ctx context.Context) error {
	if h.known != nil {
		return nil
	}
	a, err := h.send(ctx, http.MethodGet, h.state, nil)
	if err != nil {
		return err
	}
	switch a.code {
	case http.StatusOK:
	case http.StatusNoContent, http.StatusNotFound:
		a.body = nil
	default:
		return unexpected(http.MethodGet, h.state, a, "")
	}
	if sum := a.header.Get("Content-MD5"); sum != "" && len(a.body) > 0 {
		have := md5.Sum(a.body)
		if base64.StdEncoding.EncodeToString(have[:]) != sum {
			return fmt.Errorf("%s: the state is not what its Content-MD5 says", h.Where())
		}
	}
	known, err := parseState(a.body, h.workspace)
	if err != nil {
		return fmt.Errorf("%s: %w", h.Where(), err)
	}
	h.known = known
	return nil
}

// List names the devices of the state.
func (h *server) List(ctx context.Context) ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.load(ctx); err != nil {
		return nil, err
	}
	return h.known.names(), nil
}

// Get is an entry of the state.
func (h *server) Get(ctx context.Context, device string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.load(ctx); err != nil {
		return nil, err
	}
	return h.known.get(device)
}

// Put changes the state, and sends it if the last time is long ago.
func (h *server) Put(ctx context.Context, id, device string, b []byte, version string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.load(ctx); err != nil {
		return err
	}
	if err := h.known.put(device, b, version); err != nil {
		return err
	}
	h.dirty = true
	if h.now().Sub(h.synced) < gatherFor {
		return nil
	}
	return h.sync(ctx, id)
}

// Sync sends the state if it changed.
func (h *server) Sync(ctx context.Context, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sync(ctx, id)
}

func (h *server) sync(ctx context.Context, id string) error {
	if !h.dirty {
		return nil
	}
	h.known.serial++
	body, err := h.known.encode(h.workspace)
	if err != nil {
		return err
	}
	if len(body) > maxBody {
		return fmt.Errorf("%s: the state has become larger than %d MiB, which is the most that is read; a record of that size goes into git or an object store", h.Where(), maxBody>>20)
	}
	to := *h.state
	query := to.Query()
	query.Set("ID", id)
	to.RawQuery = query.Encode()
	a, err := h.send(ctx, h.update, &to, body)
	if err != nil {
		return err
	}
	switch a.code {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
	case http.StatusConflict, http.StatusLocked:
		return &LostError{ID: id}
	default:
		if a.again && h.arrived(ctx, body) {
			break
		}
		more := ""
		if a.code == http.StatusBadRequest {
			more = "it does not take this state, or the lock was broken"
		}
		return unexpected(h.update, h.state, a, more)
	}
	h.dirty, h.synced = false, h.now()
	return nil
}

// arrived reports whether an attempt whose answer was lost has put the state in
// place: a server may refuse the same one twice.
func (h *server) arrived(ctx context.Context, body []byte) bool {
	a, err := h.send(ctx, http.MethodGet, h.state, nil)
	return err == nil && a.code == http.StatusOK && bytes.Equal(a.body, body)
}

// lockInfo is a lock's object in the words of Terraform. GitLab asks for every
// field.
type lockInfo struct {
	ID        string `json:"ID"`
	Operation string `json:"Operation"`
	Info      string `json:"Info"`
	Who       string `json:"Who"`
	Version   string `json:"Version"`
	Created   string `json:"Created"`
	Path      string `json:"Path"`
}

// infoOf is what the object of a lock of rocec says of it, before its ID.
const infoOf = "rocec record, lock "

func (h *server) info(of Holder) []byte {
	who := of.Who
	if of.Host != "" {
		who += "@" + of.Host
	}
	created := ""
	if !of.Created.IsZero() {
		created = of.Created.UTC().Format(time.RFC3339)
	}
	b, _ := json.Marshal(lockInfo{ID: of.ID, Operation: of.Operation, Info: infoOf + of.ID, Who: who, Version: of.Version, Created: created, Path: h.workspace}) // texts only
	return b
}

// holderOf reads the object of whoever has the lock; what is none tells nothing.
func holderOf(body []byte) Holder {
	var in lockInfo
	if json.Unmarshal(body, &in) != nil {
		return Holder{}
	}
	who, host, _ := strings.Cut(in.Who, "@")
	out := Holder{ID: in.ID, Operation: in.Operation, Who: who, Host: host, Version: in.Version}
	out.Created, _ = time.Parse(time.RFC3339, in.Created) // else it is not known
	if of, ours := strings.CutPrefix(in.Info, infoOf); ours && of != in.ID {
		out.Operation, out.Version = "", "" // GitLab gives those of who asks with the ID of who has it
	}
	return out
}

// Lock asks for the lock, and reads the state anew.
func (h *server) Lock(ctx context.Context, of Holder) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	a, err := h.send(ctx, h.lockMethod, h.lock, h.info(of))
	if err != nil {
		return err
	}
	switch a.code {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
	case http.StatusConflict, http.StatusLocked:
		if holder := holderOf(a.body); holder.ID != of.ID { // else the answer to the attempt before was lost
			return &LockedError{Holder: holder}
		}
	default:
		return unexpected(h.lockMethod, h.lock, a, "")
	}
	h.mine, h.known, h.dirty, h.synced = of, nil, false, h.now()
	if err := h.load(ctx); err != nil {
		return errors.Join(err, h.free(ctx, of.ID, h.info(of)))
	}
	return nil
}

// Unlock gives the lock back, with the object by which it was taken.
func (h *server) Unlock(ctx context.Context, id string) error {
	of := h.mine
	of.ID = id
	return h.free(ctx, id, h.info(of))
}

// free asks for the end of a lock, which the server compares with its object.
func (h *server) free(ctx context.Context, id string, object []byte) error {
	a, err := h.send(ctx, h.freeMethod, h.unlock, object)
	if err != nil {
		return err
	}
	lost := false
	switch a.code {
	case http.StatusOK, http.StatusNoContent:
		return nil
	case http.StatusConflict, http.StatusLocked, http.StatusNotFound:
		lost = true
	case http.StatusBadRequest:
		lost = holderOf(a.body).ID != ""
	}
	switch {
	case lost && a.again:
		return nil // the attempt before was carried out, and its answer lost
	case lost:
		return &LostError{ID: id}
	}
	return unexpected(h.freeMethod, h.unlock, a, "")
}

// Break ends the lock with this ID. Who has it, and with which object, the server
// says to who asks for the lock.
func (h *server) Break(ctx context.Context, id string) error {
	asking := Holder{ID: newID(), Operation: "force-unlock", Who: who(), Created: h.now()}
	a, err := h.send(ctx, h.lockMethod, h.lock, h.info(asking))
	if err != nil {
		return err
	}
	have, object := asking.ID, a.body
	switch a.code {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
	case http.StatusConflict, http.StatusLocked:
		have = holderOf(a.body).ID
	default:
		return unexpected(h.lockMethod, h.lock, a, "")
	}
	switch have {
	case id:
	case asking.ID: // nobody had it
		return errors.Join(notLocked(h.workspace), h.free(ctx, have, h.info(asking)))
	case "": // it does not say
		asking.ID = id
		object = h.info(asking)
	default:
		return otherID(have, id)
	}
	err = h.free(ctx, id, object)
	var lost *LostError
	if errors.As(err, &lost) {
		return fmt.Errorf("%s has no lock with the ID %q", plainURL(h.unlock), short(id))
	}
	return err
}

// Holder is not told by the protocol: who asks for the lock is told who has it.
func (h *server) Holder(context.Context) (*Holder, error) { return nil, nil }
