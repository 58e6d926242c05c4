package sonicent

import (
	"net/netip"
	"strconv"
	"strings"
)

// config is a running configuration as far as this target writes it, by name.
// What is not there is absent or at the switch's default.
type config struct {
	roce, buffers bool // roce enable, buffer init lossless
	dcbx          bool
	pool          string // shared-headroom-size
	arp, mac      string // ip arp timeout, mac address-table aging-time
	poll          string
	breakouts     map[string]string // cage -> mode
	unsplit       []string          // breakouts that are not understood
	maps          map[string]map[string][]int
	policies      map[string]map[int]*scheduler
	marks         map[string]*wred
	lists         map[string]map[int]string // access lists: what they are made with -> number -> rule
	ifaces        map[string]*iface
	order         []string // of ifaces
	domain        *domain
	lines         int // that were understood
	odd           []oddity
}

// oddity is a line that is not what its place asks for.
type oddity struct {
	offset, length int
	text           string
}

type scheduler struct {
	kind   string
	weight string
	pir    string
}

type wred struct {
	min, max, probability string
	green                 bool // green packets are marked
}

type domain struct {
	id, source, peer, link, interval, timeout string
}

// iface is what stands in the mode of an interface. Fields of text are "" where
// nothing stands.
type iface struct {
	mtu, speed, fec, shutdown string
	group                     string // of channel-group
	static, fast              bool
	access, trunk             string
	vrf                       string
	addresses                 []netip.Prefix
	spelled                   map[netip.Prefix]string // as it stands there
	unread                    []string                // addresses that are none
	separate                  bool
	mclag                     string
	cable, policy             string
	maps                      map[string]string // kind -> name
	lists                     map[string]string // kind of access list -> name of the one inbound
	queues                    map[int]string    // -> WRED policy
	pfc                       []string
	action, detect, restore   string
	watching                  bool
}

// maxLine bounds a line of a hostile capture; maxQueue is the last queue of the
// CPU port, whose policy is of the same kind [grammar qos_scheduler.xml].
const maxLine, maxQueue = 4096, 47

// reader takes a configuration line by line. Modes are told by the commands
// that enter them, since listings differ in their indentation: a line at the left
// edge that is no command of the current mode ends it, where a mark stands before
// it or the mode was indented.
type reader struct {
	*config
	marked   bool   // the last line was a mark
	indented bool   // a line of the current mode was
	at       oddity // the line under way
	iface    *iface
	table    *table
	group    string // name of the map
	sched    map[int]*scheduler
	queue    *scheduler
	mark     *wred
	mclag    *domain
	list     map[int]string
}

// read parses the output of show running-configuration. It takes anything.
func read(text string) *config {
	r := &reader{config: &config{
		breakouts: map[string]string{}, maps: map[string]map[string][]int{}, policies: map[string]map[int]*scheduler{},
		marks: map[string]*wred{}, ifaces: map[string]*iface{}, lists: map[string]map[int]string{},
	}}
	offset := 0
	for raw := range strings.SplitAfterSeq(text, "\n") {
		l := strings.TrimRight(raw, "\r\n")
		r.at = oddity{offset: offset, length: len(l)}
		offset += len(raw)
		words := strings.Fields(l)
		if len(l) > maxLine {
			r.strange(strconv.Quote(strings.Join(words[:min(3, len(words))], " ")) + " with " + strconv.Itoa(len(l)) + " characters")
			continue
		}
		if len(words) == 0 {
			continue
		}
		marked, edge := r.marked, l[0] != ' ' && l[0] != '\t'
		if r.marked = words[0][0] == '!'; r.marked {
			continue
		}
		switch {
		case r.enter(words):
			r.lines++
			r.indented = false
		case r.inside(words):
			r.lines++
		case edge && (marked || r.indented) && words[0] != "exit":
			r.leave()
		}
		r.indented = r.indented || !edge
	}
	return r.config
}

func (r *reader) leave() {
	r.iface, r.table, r.sched, r.queue, r.mark, r.mclag, r.list = nil, nil, nil, nil, nil, nil, nil
}

func (r *reader) strange(what string) {
	r.at.text = what
	r.odd = append(r.odd, r.at)
}

// enter takes the commands of configure terminal.
func (r *reader) enter(w []string) bool {
	has := func(prefix ...string) bool {
		if len(w) < len(prefix) {
			return false
		}
		for i, p := range prefix {
			if w[i] != p {
				return false
			}
		}
		return true
	}
	switch {
	case has("roce", "enable"):
		r.leave()
		r.roce = true
	case has("buffer", "init", "lossless"):
		r.leave()
		r.buffers = true
	case has("buffer", "pool", "ingress_lossless_pool", "shared-headroom-size") && len(w) == 5:
		r.leave()
		r.pool = w[4]
	case has("priority-flow-control", "watchdog", "polling-interval") && len(w) == 4:
		r.leave()
		r.poll = w[3]
	case has("ip", "arp", "timeout") && len(w) == 4:
		r.leave()
		r.arp = w[3]
	case has("mac", "address-table", "aging-time") && len(w) == 4:
		r.leave()
		r.mac = w[3]
	case len(w) == 3 && w[1] == "access-list" && (w[0] == "ip" || w[0] == "ipv6" || w[0] == "mac"):
		r.leave()
		r.newList(w[0] + " access-list " + w[2])
	case has("dcbx", "enable") && r.iface == nil:
		r.dcbx = true
	case has("interface", "breakout", "port") && len(w) == 6 && w[4] == "mode":
		r.leave()
		r.breakouts[w[3]] = w[5]
	case has("interface", "range"):
		r.leave()
		return false
	case has("interface", "breakout"):
		r.leave()
		text := strconv.Quote(strings.Join(w, " "))
		r.unsplit = append(r.unsplit, text)
		r.strange(text)
	case has("interface") && len(w) > 1:
		r.leave()
		return r.interfaces(w[1:])
	case has("ip", "vrf") && len(w) == 3 && w[2] != "mgmt":
		r.leave()
	case has("mclag", "domain") && len(w) == 3:
		r.leave()
		r.domain = &domain{id: w[2]}
		r.mclag = r.domain
	case has("qos", "map") && len(w) == 4:
		r.leave()
		return r.newMap(w[2], w[3])
	case has("qos", "scheduler-policy") && len(w) == 3:
		r.leave()
		r.sched = r.policies[w[2]]
		if r.sched == nil {
			r.sched = map[int]*scheduler{}
			r.policies[w[2]] = r.sched
		}
	case has("qos", "wred-policy") && len(w) == 3:
		r.leave()
		r.mark = r.marks[w[2]]
		if r.mark == nil {
			r.mark = &wred{}
			r.marks[w[2]] = r.mark
		}
	default:
		return false
	}
	return true
}

// interfaces enters an interface: "Eth1/5", "Eth 1/5", "PortChannel 10 mode on".
func (r *reader) interfaces(w []string) bool {
	name, rest := w[0], w[1:]
	switch name {
	case "Eth", "Ethernet", "PortChannel", "Loopback", "Vlan":
		if len(rest) == 0 {
			return false
		}
		name, rest = name+rest[0], rest[1:]
	}
	if !native.MatchString(name) && !standard.MatchString(name) && !lagName.MatchString(name) && !loopName.MatchString(name) && !vlanNumber(name) {
		return false
	}
	f := r.ifaces[name]
	if f == nil {
		f = &iface{maps: map[string]string{}, spelled: map[netip.Prefix]string{}, lists: map[string]string{}, queues: map[int]string{}}
		r.ifaces[name] = f
		r.order = append(r.order, name)
	}
	for i, word := range rest {
		switch {
		case word == "on" && i > 0 && rest[i-1] == "mode":
			f.static = true
		case word == "fast_rate":
			f.fast = true
		}
	}
	r.iface = f
	return true
}

func vlanNumber(name string) bool {
	rest, ok := strings.CutPrefix(name, "Vlan")
	id, err := strconv.ParseUint(rest, 10, 16)
	return ok && err == nil && id >= 1 && id <= 4094 && strconv.Itoa(int(id)) == rest
}

func (r *reader) newMap(kind, name string) bool {
	for _, t := range tables {
		if t.kind != kind {
			continue
		}
		if r.maps[kind] == nil {
			r.maps[kind] = map[string][]int{}
		}
		if r.maps[kind][name] == nil {
			values := make([]int, t.keys)
			for i := range values {
				values[i] = -1
			}
			r.maps[kind][name] = values
		}
		r.table, r.group = t, name
		return true
	}
	return false
}

// inside takes the commands of the current mode.
func (r *reader) inside(w []string) bool {
	switch {
	case r.iface != nil:
		return r.inInterface(w)
	case r.table != nil:
		return r.inMap(w)
	case r.sched != nil:
		return r.inPolicy(w)
	case r.mark != nil:
		return r.inMark(w)
	case r.mclag != nil:
		return r.inDomain(w)
	case r.list != nil:
		return r.inList(w)
	}
	return false
}

func (r *reader) inMap(w []string) bool {
	t := r.table
	if len(w) != 4 || w[0] != t.key || w[2] != t.val {
		return false
	}
	keys, ok := numbers(w[1], t.keys-1)
	to, err := strconv.Atoi(w[3])
	if !ok || err != nil || to < 0 || to >= t.values {
		r.strange("an entry of " + t.kind + " " + strconv.Quote(r.group))
		return true
	}
	for _, k := range keys {
		r.maps[t.kind][r.group][k] = to
	}
	return true
}

func (r *reader) inPolicy(w []string) bool {
	if len(w) != 2 {
		if len(w) == 1 && w[0] == "port" {
			r.queue = &scheduler{} // the port's own, which no intent has
			return true
		}
		return false
	}
	if w[0] == "queue" {
		n, err := strconv.Atoi(w[1])
		r.queue = &scheduler{}
		if err != nil || n < 0 || n > maxQueue {
			r.strange("a queue of a scheduler-policy")
			return true
		}
		r.sched[n] = r.queue
		return true
	}
	if r.queue == nil {
		return false
	}
	switch w[0] {
	case "type":
		r.queue.kind = w[1]
	case "weight":
		r.queue.weight = w[1]
	case "pir":
		r.queue.pir = w[1]
	default:
		return false
	}
	return true
}

func (r *reader) inMark(w []string) bool {
	switch {
	case len(w) == 7 && w[0] == "green" && w[1] == "minimum-threshold" && w[3] == "maximum-threshold" && w[5] == "drop-probability":
		r.mark.min, r.mark.max, r.mark.probability = w[2], w[4], w[6]
	case len(w) == 2 && w[0] == "ecn":
		r.mark.green = w[1] == "green" || w[1] == "all"
	default:
		return false
	}
	return true
}

func (r *reader) inDomain(w []string) bool {
	if len(w) < 2 {
		return false
	}
	value := strings.Join(w[1:], "") // peer-link has a blank in some listings
	switch w[0] {
	case "source-ip":
		r.mclag.source = value
	case "peer-ip":
		r.mclag.peer = value
	case "peer-link":
		r.mclag.link = value
	case "keepalive-interval":
		r.mclag.interval = value
	case "session-timeout":
		r.mclag.timeout = value
	default:
		return false
	}
	return true
}

// inInterface takes the commands of an interface.
func (r *reader) inInterface(w []string) bool {
	f := r.iface
	last := w[len(w)-1]
	switch strings.Join(w[:len(w)-1], " ") {
	case "":
		switch last {
		case "shutdown":
			f.shutdown = "shutdown"
		case "fast_rate":
			f.fast = true
		case "mclag-separate-ip":
			f.separate = true
		default:
			return false
		}
	case "no":
		if last != "shutdown" {
			return false
		}
		f.shutdown = "no shutdown"
	case "mtu":
		f.mtu = last
	case "speed", "speed auto":
		f.speed = strings.Join(w[1:], " ")
	case "fec":
		f.fec = last
	case "channel-group":
		f.group = last
	case "switchport access Vlan":
		f.access = last
	case "switchport trunk allowed Vlan":
		f.trunk = last
	case "switchport trunk allowed Vlan add":
		f.trunk = strings.TrimPrefix(f.trunk+","+last, ",")
	case "ip vrf forwarding":
		f.vrf = last
	case "mclag":
		f.mclag = last
	case "cable-length":
		f.cable = last
	case "scheduler-policy":
		f.policy = last
	case "priority-flow-control priority":
		f.pfc = append(f.pfc, strings.Split(last, ",")...)
	case "priority-flow-control watchdog action":
		f.action = last
	case "priority-flow-control watchdog on detect-time", "priority-flow-control watchdog detect-time":
		f.detect, f.watching = last, true
	case "priority-flow-control watchdog restore-time":
		f.restore = last
	case "priority-flow-control watchdog":
		f.watching = last == "on"
	default:
		return r.others(w)
	}
	return true
}

// others takes the commands of an interface that have more than one argument.
func (r *reader) others(w []string) bool {
	f := r.iface
	switch {
	case len(w) == 4 && w[1] == "access-group":
		if w[3] != "in" {
			return false
		}
		f.lists[w[0]] = w[2]
	case len(w) == 3 && w[0] == "qos-map":
		f.maps[w[1]] = w[2]
	case len(w) == 4 && w[0] == "queue" && w[2] == "wred-policy":
		n, err := strconv.Atoi(w[1])
		if err != nil || n < 0 || n > 7 {
			r.strange("a queue of an interface")
			return true
		}
		f.queues[n] = w[3]
	case len(w) >= 3 && (w[0] == "ip" || w[0] == "ipv6") && w[1] == "address":
		a, err := netip.ParsePrefix(w[2])
		if text := strings.Join(w[2:], " "); err != nil || len(w) > 4 || len(w) > 3 && w[3] != "secondary" {
			if text != "autoconfig" && text != "dhcp" {
				f.unread = append(f.unread, text)
				r.strange("the address " + strconv.Quote(text))
			}
			return true
		}
		f.addresses, f.spelled[a] = append(f.addresses, a), w[2]
	default:
		return false
	}
	return true
}
