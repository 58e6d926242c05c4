package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// jumpHost [closed] starts a jump host: an SSH server on loopback that lets the key of
// the lab in, as user gate, and opens channels to where it is told, or none if it is
// closed, in the words of OpenSSH. Its port is in $JUMP, its key in jump_hosts, another
// one for it in wrong_hosts, and jump.log has a line for each login and each channel
// asked for. It stops with the script.
func jumpHost(ts *testscript.TestScript, neg bool, args []string) {
	closed := len(args) == 1 && args[0] == "closed"
	if neg || len(args) > 0 && !closed {
		ts.Fatalf("usage: jump [closed]")
	}
	private, err := ssh.ParsePrivateKey([]byte(ts.ReadFile(".rocec/lab/key")))
	ts.Check(err)
	allowed := ssh.FingerprintSHA256(private.PublicKey())
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "gate" || ssh.FingerprintSHA256(key) != allowed {
			return nil, fmt.Errorf("%s is not let in", c.User())
		}
		return nil, nil
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	for _, name := range []string{"wrong_hosts", "jump_hosts"} { // the key of the last is its own
		_, key, err := ed25519.GenerateKey(rand.Reader)
		ts.Check(err)
		signer, err := ssh.NewSignerFromKey(key)
		ts.Check(err)
		if name == "jump_hosts" {
			config.AddHostKey(signer)
		}
		line := knownhosts.Line([]string{l.Addr().String()}, signer.PublicKey())
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(line+"\n"), 0o600))
	}
	log, err := os.Create(ts.MkAbs("jump.log"))
	ts.Check(err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	ts.Setenv("JUMP", port)

	var mu sync.Mutex
	var open []net.Conn
	var work sync.WaitGroup
	work.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, nc)
			mu.Unlock()
			work.Go(func() { jump(nc, config, closed, log) })
		}
	})
	ts.Defer(func() {
		_ = l.Close()
		mu.Lock()
		for _, nc := range slices.Clone(open) {
			_ = nc.Close()
		}
		mu.Unlock()
		work.Wait()
		_ = log.Close()
	})
}

// jump serves one connection of a jump host.
func jump(nc net.Conn, config *ssh.ServerConfig, closed bool, log io.Writer) {
	defer nc.Close()
	_, channels, requests, err := ssh.NewServerConn(nc, config)
	if err != nil {
		return
	}
	fmt.Fprintln(log, "login")
	go ssh.DiscardRequests(requests)
	var work sync.WaitGroup
	defer work.Wait()
	for ch := range channels {
		var to struct {
			Host   string
			Port   uint32
			Origin string
			From   uint32
		}
		switch {
		case ch.ChannelType() != "direct-tcpip" || ssh.Unmarshal(ch.ExtraData(), &to) != nil:
			_ = ch.Reject(ssh.UnknownChannelType, "unknown channel type")
			continue
		case closed:
			_ = ch.Reject(ssh.Prohibited, "open failed")
			continue
		}
		fmt.Fprintln(log, "to", to.Host, to.Port)
		there, err := net.Dial("tcp", net.JoinHostPort(to.Host, fmt.Sprint(to.Port)))
		if err != nil {
			_ = ch.Reject(ssh.ConnectionFailed, "Connection refused")
			continue
		}
		c, requests, err := ch.Accept()
		if err != nil {
			_ = there.Close()
			continue
		}
		go ssh.DiscardRequests(requests)
		work.Go(func() { _, _ = io.Copy(there, c); _ = there.Close() })
		work.Go(func() { _, _ = io.Copy(c, there); _ = c.Close() })
	}
}
