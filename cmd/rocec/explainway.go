package main

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// reached is how a device is reached and who carries its artifacts there.
type reached struct {
	Delivery   string   `json:"delivery"`
	Connection string   `json:"connection,omitempty"` // `connection.tor`
	Host       string   `json:"host,omitempty"`       // user, address and port
	By         []string `json:"by,omitempty"`         // what it is logged in with, by name
	Jump       []string `json:"jump,omitempty"`       // hosts on the way, the nearest first
	Problems   []string `json:"problems,omitempty"`   // why the connection cannot be used
	Places     []place  `json:"places,omitempty"`     // that name the connection
}

// reached says so; nil for a device that is never contacted.
func (p *project) reached(id fabric.DeviceID) *reached {
	f := p.res.Fabric
	dev := &f.Devices[id]
	if dev.Manage == fabric.HandsOff {
		return nil
	}
	r := &reached{Delivery: p.delivery(id)}
	if dev.Connection == 0 {
		return r
	}
	r.Connection = f.Text(f.Ways[dev.Connection].Address)
	r.Places = p.places([]diag.Label{f.Label(dev.Decl, dev.Layers, schema.AConnection, "")})
	way, ok, diags := p.res.Connection(id)
	if !ok {
		for _, d := range diags {
			r.Problems = append(r.Problems, d.Summary)
		}
		return r
	}
	r.Host, r.By = hostOf(&way), logins(&way)
	for i := range way.Jump {
		r.Jump = append(r.Jump, hostOf(&way.Jump[i]))
	}
	return r
}

func hostOf(c *fabric.Connection) string {
	host := c.Address
	if c.Port != 0 {
		host = net.JoinHostPort(c.Address, strconv.Itoa(int(c.Port)))
	}
	if c.User != "" {
		host = c.User + "@" + host
	}
	return host
}

// logins are the ways to log in that a connection names, in the order they are written.
func logins(c *fabric.Connection) []string {
	var list []string
	for _, k := range c.Identity {
		list = append(list, "key file "+k)
	}
	if c.Agent {
		list = append(list, "the SSH agent")
	}
	if c.PasswordEnv != "" {
		list = append(list, "the password in $"+c.PasswordEnv)
	}
	if len(c.PasswordCommand) > 0 {
		list = append(list, "the password that "+c.PasswordCommand[0]+" prints")
	}
	return list
}

func (r *reached) text(w io.Writer) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "  delivery: %s\n", r.Delivery)
	if r.Connection == "" {
		return
	}
	text := r.Connection
	if r.Host != "" {
		text += ", " + r.Host
	}
	if len(r.Jump) > 0 {
		text += " by way of " + strings.Join(r.Jump, ", ")
	}
	if len(r.By) > 0 {
		text += ", with " + strings.Join(r.By, ", ")
	}
	fmt.Fprintf(w, "  connection: %s\n", diag.Printable(text))
	for _, at := range r.Places {
		fmt.Fprintf(w, "    %s:%d, in %s\n", at.File, at.Line, at.In)
	}
	for _, problem := range r.Problems {
		fmt.Fprintf(w, "    it cannot be used: %s\n", diag.Printable(problem))
	}
}
