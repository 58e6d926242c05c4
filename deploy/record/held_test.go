package record

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestEndlessAnswer has a server whose answers do not end: little more than the bound is read of them.
func TestEndlessAnswer(t *testing.T) {
	var sent atomic.Int64
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			n, err := w.Write(make([]byte, 1<<20))
			if sent.Add(int64(n)); err != nil || sent.Load() > 1<<30 {
				return
			}
		}
	}))
	defer endless.Close()
	s := opened(t, Settings{Kind: HTTP, Address: endless.URL + "/s"})
	if _, _, err := s.Get("tor"); err == nil || !strings.Contains(err.Error(), "the answer is larger than 64 MiB") {
		t.Errorf("an answer without end: %v", err)
	}
	if sent.Load() > attempts*(128<<20) {
		t.Errorf("%d MiB were sent", sent.Load()>>20)
	}
}

// TestLargeState puts more than would be read again: it is not sent.
func TestLargeState(t *testing.T) {
	states := newStateServer(t, false)
	s := opened(t, Settings{Kind: HTTP, Address: states.URL + "/s"})
	l := locked(t, s)
	var err error
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		b := []byte(`{"device":"` + name + `","large":"` + strings.Repeat("x", maxEntryBytes/2) + `"}`)
		if err = s.backend.Put(t.Context(), l.Holder.ID, name, b, ""); err != nil {
			break
		}
	}
	if err == nil {
		err = s.backend.Sync(t.Context(), l.Holder.ID)
	}
	if err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") || len(states.states["/s"]) > maxBody {
		t.Errorf("%d bytes are kept: %v", len(states.states["/s"]), err)
	}
}

// connections counts those that a server took.
func connections(s *httptest.Server) *atomic.Int64 {
	n := &atomic.Int64{}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.Add(1)
		}
	}
	return n
}

// TestDisagreed has servers with which no TLS comes about: each is asked once, and nothing is waited for.
func TestDisagreed(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	for name, start := range map[string]func(s *httptest.Server) (address string){
		"unknown authority": func(s *httptest.Server) string { s.StartTLS(); return s.URL },
		"another name": func(s *httptest.Server) string {
			s.StartTLS()
			return strings.Replace(s.URL, "127.0.0.1", "127.0.0.2", 1)
		},
		"no TLS": func(s *httptest.Server) string { s.Start(); return strings.Replace(s.URL, "http:", "https:", 1) },
		"old version": func(s *httptest.Server) string {
			s.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
			s.StartTLS()
			return s.URL
		},
		"certificate": func(s *httptest.Server) string {
			s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
			s.StartTLS()
			return s.URL
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(handler)
			s.Config.ErrorLog = nil
			seen := connections(s)
			if name == "another name" && runtime.GOOS != "linux" {
				s.Listener.Close()
				return // only there is all of 127.0.0.0/8 this computer
			}
			if name == "another name" {
				s.Listener.Close()
				var err error
				if s.Listener, err = net.Listen("tcp", "0.0.0.0:0"); err != nil {
					t.Fatal(err)
				}
			}
			address := start(s)
			defer s.Close()
			address = strings.Replace(address, "0.0.0.0", "127.0.0.2", 1)
			store := opened(t, Settings{Kind: HTTP, Address: address + "/s"})
			slept := 0
			h := store.backend.(*server)
			h.sleep = func(context.Context, time.Duration) error { slept++; return nil }
			if name != "unknown authority" && name != "no TLS" {
				roots := x509.NewCertPool()
				roots.AddCert(s.Certificate())
				h.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
			}
			_, _, err := store.Get("tor")
			if err == nil || slept > 0 || seen.Load() > 1 {
				t.Errorf("%d connections, %d pauses: %v", seen.Load(), slept, err)
			}
		})
	}
}

// pair is a certificate for clients in two files.
func pair(t *testing.T) (certificate, key string, of *x509.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	text := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, text, text, private.Public(), private)
	must(t, err)
	of, err = x509.ParseCertificate(der)
	must(t, err)
	b, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	must(t, os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b}), 0o600))
	return certificate, key, of
}

// TestClientCertificate shows one to a server that asks for it.
func TestClientCertificate(t *testing.T) {
	certificate, key, of := pair(t)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNotFound)
	}))
	clients := x509.NewCertPool()
	clients.AddCert(of)
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	s.StartTLS()
	defer s.Close()
	home := func(name string) string { return map[string]string{"HOME": filepath.Dir(key)}[name] }
	settings := Settings{Kind: HTTP, Address: s.URL + "/s", ClientCertificate: certificate, ClientKey: "~/k.pem", Env: home}
	store := opened(t, settings)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	store.backend.(*server).client.Transport.(*http.Transport).TLSClientConfig.RootCAs = roots
	if e, _, err := store.Get("tor"); err != nil || e != nil {
		t.Errorf("%v, %v", e, err)
	}

	open := filepath.Join(t.TempDir(), "open.pem")
	b, err := os.ReadFile(key)
	must(t, err)
	must(t, os.WriteFile(open, b, 0o644))
	must(t, os.Chmod(open, 0o644)) // whatever the umask
	_, other, _ := pair(t)
	for name, c := range map[string]struct {
		edit func(*Settings)
		want string
	}{
		"no key":         {func(s *Settings) { s.ClientKey = "" }, "named together"},
		"no certificate": {func(s *Settings) { s.ClientCertificate = "" }, "named together"},
		"not there":      {func(s *Settings) { s.ClientKey = "none.pem" }, "client_key: "},
		"endless":        {func(s *Settings) { s.ClientCertificate = os.DevNull }, "client_certificate: "},
		"key for all":    {func(s *Settings) { s.ClientKey = open }, "chmod 600"},
		"another key":    {func(s *Settings) { s.ClientKey = other }, "client_certificate and client_key: "},
		"plain":          {func(s *Settings) { s.Address = strings.Replace(s.Address, "https", "http", 1) }, "use https"},
		"plain lock":     {func(s *Settings) { s.LockAddress = "http://127.0.0.1/l" }, "use https"},
	} {
		bad := settings
		c.edit(&bad)
		if runtime.GOOS == "windows" && name == "key for all" {
			continue
		}
		if _, err := OpenAt(bad, "default"); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "PRIVATE KEY") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
