package linux

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// rping is rping of rdmacm-utils, as a client (-c) and as a server (-s) of one client.
// What it prints, how it ends, and what its options mean is from
// librdmacm/examples/rping.c of rdma-core; the errors that the kernel gives it are from
// drivers/infiniband/core/addr.c and cma.c, and include/rdma/ib_cm.h. It does not wait
// for answers that do not come: it says at once what rping says in the end.
func (m *Machine) rping(ctx context.Context, p *posix.Proc) int {
	o, code := rpingOptions(p)
	switch {
	case code != 0:
		return code
	case o.server:
		return m.rpingServer(ctx, p, o)
	}
	return m.rpingClient(ctx, p, o)
}

// Codes that rping ends with: what main returns, and exit(-1) of the thread that takes
// events.
const (
	rpingUsage  = 22 // EINVAL
	rpingFailed = 255
)

type rpingOption struct {
	server, verbose bool
	at, from        netip.Addr
	port            uint16
	count           int
}

// rpingOptions reads them with getopt's "a:I:Pp:C:S:t:scvVdq".
func rpingOptions(p *posix.Proc) (o rpingOption, code int) {
	o = rpingOption{port: 7174, at: netip.IPv4Unspecified()}
	role := byte(0)
	usage := func() (rpingOption, int) {
		p.Printf("rping -s [-vVd] [-S size] [-C count] [-a addr] [-p port]\nrping -c [-vVd] [-S size] [-C count] [-I addr] -a addr [-p port]\n")
		return o, rpingUsage
	}
	for args := p.Args; len(args) > 0; args = args[1:] {
		word := args[0]
		if len(word) < 2 || word[0] != '-' {
			continue // getopt passes over what is no option
		}
		for i := 1; i < len(word); i++ {
			letter, value := word[i], ""
			if strings.IndexByte("aIpCSt", letter) >= 0 {
				if value = word[i+1:]; value == "" {
					if args = args[1:]; len(args) == 0 {
						return usage()
					}
					value = args[0]
				}
				i = len(word)
			}
			var err error
			switch letter {
			case 'a':
				o.at, err = netip.ParseAddr(value)
			case 'I':
				o.from, err = netip.ParseAddr(value)
			case 'p':
				var n int
				n, _ = strconv.Atoi(value)
				o.port = uint16(n)
			case 'C':
				if o.count, _ = strconv.Atoi(value); o.count < 0 {
					says(p, "Invalid count %d\n", o.count)
					return o, rpingUsage
				}
			case 's', 'c':
				role = letter
			case 'v':
				o.verbose = true
			case 'P', 'S':
				return o, p.Fail("rping: -%c is not simulated", letter)
			case 't', 'V', 'd', 'q':
			default:
				return usage()
			}
			if err != nil {
				p.Printf("getaddrinfo failed (Name or service not known) - invalid hostname or IP address\n")
				return o, 254 // EAI_NONAME, -2
			}
		}
	}
	if role == 0 {
		return usage()
	}
	o.server = role == 's'
	return o, 0
}

func says(p *posix.Proc, format string, args ...any) { _, _ = fmt.Fprintf(p.Stderr, format, args...) }

// RDMA are the ports by which an address of the host is reached over RDMA.
func (m *Machine) RDMA(at netip.Addr) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.links {
		if hasAddress(l, at) {
			return m.rdmaPorts(l)
		}
	}
	return nil
}

func hasAddress(l *link, at netip.Addr) bool {
	return slices.ContainsFunc(l.addrs, func(s string) bool {
		p, err := netip.ParsePrefix(s)
		return err == nil && p.Addr() == at
	})
}

// rdmaPorts are the ports below a network device with an RDMA device, by the names that
// cables have; none where it carries nothing now.
func (m *Machine) rdmaPorts(l *link) (ports []string) {
	if !m.running(l) || !slices.ContainsFunc(m.rdma, func(r *rdmaDevice) bool { return m.over(l, r.netdev) }) {
		return nil
	}
	if l.kind == "vlan" {
		l = m.links[l.parent]
	}
	for name, n := range m.nics {
		for _, x := range m.links {
			if x.nic == n && x.up && (x == l || l.kind == "bond" && x.master == l.name) {
				ports = append(ports, name)
			}
		}
	}
	return ports
}

func (m *Machine) rpingServer(ctx context.Context, p *posix.Proc, o rpingOption) int {
	m.mu.Lock()
	found := o.at.IsUnspecified()
	for _, l := range m.links {
		found = found || hasAddress(l, o.at)
	}
	m.mu.Unlock()
	switch {
	case !found: // rdma_translate_ip
		says(p, "rdma_bind_addr: Cannot assign requested address\n")
		return rpingFailed
	case o.at.IsUnspecified():
		return p.Fail("rping: a server without an address is not simulated")
	case len(m.RDMA(o.at)) == 0 || m.net == nil:
		says(p, "rdma_bind_addr: No such device\n")
		return rpingFailed
	}
	messages, err := m.net.Listen(ctx, m.Name(), netip.AddrPortFrom(o.at, o.port))
	switch {
	case errors.Is(err, lab.ErrTaken):
		says(p, "rdma_bind_addr: Address already in use\n")
		return rpingFailed
	case err != nil: // killed
		return rpingFailed
	}
	if o.verbose {
		for i := range messages {
			p.Printf("server ping data: %s\n", rpingData(i))
		}
	}
	says(p, "server DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 10\n")
	return 0
}

func (m *Machine) rpingClient(ctx context.Context, p *posix.Proc, o rpingOption) int {
	event := func(name string, status int) int {
		says(p, "cma event RDMA_CM_EVENT_%s, error %d\n", name, status)
		return rpingFailed
	}
	if o.count == 0 {
		return p.Fail("rping: a client without -C, which does not end, is not simulated")
	}
	m.mu.Lock()
	var ports []string
	for _, l := range m.links {
		for _, s := range l.addrs {
			if own, err := netip.ParsePrefix(s); err == nil && own.Contains(o.at) && (!o.from.IsValid() || own.Addr() == o.from) {
				ports = append(ports, m.rdmaPorts(l)...)
			}
		}
	}
	m.mu.Unlock()
	if len(ports) == 0 || m.net == nil { // by way of a device without RDMA
		return event("ADDR_ERROR", -19)
	}
	err := m.net.Call(ctx, m.Name(), ports, netip.AddrPortFrom(o.at, o.port), o.count)
	switch {
	case errors.Is(err, lab.ErrNobody):
		return event("ADDR_ERROR", -110)
	case errors.Is(err, lab.ErrLost):
		return event("UNREACHABLE", -110)
	case errors.Is(err, lab.ErrRefused):
		return event("REJECTED", 8) // IB_CM_REJ_INVALID_SERVICE_ID
	case err != nil: // killed
		return rpingFailed
	}
	if o.verbose {
		for i := range o.count {
			p.Printf("ping data: %s\n", rpingData(i))
		}
	}
	says(p, "client DISCONNECT EVENT...\n")
	return 0
}

// rpingData is what a message of rping has in it.
func rpingData(number int) string {
	const size = 64 // where -S says nothing
	text := fmt.Appendf(nil, "rdma-ping-%d: ", number)
	for c := 'A' + number%58; len(text) < size-1; c++ {
		if c > 'z' {
			c = 'A'
		}
		text = append(text, byte(c))
	}
	return string(text[:size-1])
}
