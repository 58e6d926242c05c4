package linux

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/deploy/lab/posix"
)

// dcb is dcb of iproute2 6.1.
func (m *Machine) dcb(_ context.Context, p *posix.Proc) int {
	args, asJSON := p.Args, false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] != "-j" && args[0] != "-p" && args[0] != "-jp" {
			return p.Fail("dcb: unrecognized option '%s'", args[0])
		}
		asJSON = asJSON || strings.Contains(args[0], "j")
		args = args[1:]
	}
	if len(args) < 4 || args[2] != "dev" {
		return p.Fail("Usage: dcb [ OPTIONS ] OBJECT { COMMAND | help }")
	}
	object, verb := args[0], args[1]
	if !slices.Contains([]string{"app", "buffer", "dcbx", "ets", "pfc"}, object) {
		return p.Fail("Object \"%s\" is unknown, try \"dcb help\".", object)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nics[args[3]]
	switch {
	case n == nil && m.links[args[3]] == nil:
		return p.Fail("Cannot find device \"%s\"", args[3])
	case n == nil || !n.dcbs():
		return p.Fail("Attribute read: Operation not supported")
	}
	switch verb {
	case "show":
		if !asJSON {
			return p.Fail("dcb: only JSON is simulated: dcb -j %s show dev %s", object, n.name)
		}
		if object == "buffer" && n.driver != mlx5 {
			return p.Fail("Attribute read: Operation not supported")
		}
		b, err := json.Marshal(n.shown(object))
		if err != nil {
			return p.Fail("dcb: %v", err)
		}
		p.Printf("%s\n", b)
		return 0
	case "set", "add", "del", "replace", "flush":
		if object == "buffer" {
			return p.Fail("Attribute write: Operation not supported")
		}
		if n.driver != mlx5 && object == "app" && verb == "replace" {
			return p.Fail("Attribute write: File exists")
		}
		words := args[4:]
		if err := n.setDCB(object, verb, words); err != nil {
			return p.Fail("%v", err)
		}
		return 0
	}
	return p.Fail("What is \"%s\"?", verb)
}

// shown is what dcb -j prints of an object.
func (n *nic) shown(object string) any {
	switch object {
	case "dcbx":
		return map[string]bool{"host": n.host, "ieee": true}
	case "ets":
		return map[string]any{"willing": false, "ets_cap": 8, "cbs": false, "tc_bw": n.bw, "tc_tsa": n.tsa, "prio_tc": n.prio}
	case "pfc":
		return map[string]any{"pfc_cap": 8, "macsec_bypass": false, "delay": n.cable, "prio_pfc": n.pfc}
	case "buffer":
		prio, size := n.buffers()
		return map[string]any{"prio_buffer": prio, "buffer_size": size, "total_size": totalBuffer}
	}
	list := [][2]int{}
	for d := range 64 {
		if prio, ok := n.dscp[d]; ok {
			list = append(list, [2]int{d, prio})
		}
	}
	table := map[string]any{}
	if len(list) > 0 {
		table["dscp_prio"] = list
	}
	if n.roce > 0 {
		table["dgram_port_prio"] = [][2]int{{4791, n.roce}}
	}
	return table
}

const totalBuffer = 1 << 20

// buffers are those of mlx5, which computes them by itself: one for lossy
// priorities, one for those with PFC.
func (n *nic) buffers() (prio, size [8]int) {
	const lossy = 20_352
	size[0] = lossy
	for i, on := range n.pfc {
		if on {
			prio[i], size[1] = 1, totalBuffer-lossy
		}
	}
	return prio, size
}

// mlnxQoS is mlnx_qos 26.07: its checks, its order inside one call, its text.
func (m *Machine) mlnxQoS(_ context.Context, p *posix.Proc) int {
	o := map[string]string{}
	var pairs []string
	for i := 0; i < len(p.Args); i++ {
		a := p.Args[i]
		if a == "-a" {
			continue
		}
		if i+1 == len(p.Args) || !slices.Contains([]string{"-i", "-d", "-p", "-s", "-t", "-r", "--trust", "--dscp2prio", "--pfc", "--cable_len"}, a) {
			p.Fail("Usage:\nmlnx_qos -i <interface> [options]\n\nmlnx_qos: error: no such option: %s", a)
			return 2
		}
		i++
		if a == "--dscp2prio" {
			pairs = append(pairs, p.Args[i])
		}
		o[a] = p.Args[i]
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nics[o["-i"]]
	switch {
	case o["-i"] == "":
		return p.Fail("Interface name is required")
	case n == nil || n.driver != mlx5:
		return p.Fail("%s: no such device, or not one of mlx5", o["-i"])
	}
	if err := n.mlnx(o, pairs); err != nil {
		return p.Fail("%v", err)
	}
	n.printMLNX(p)
	return 0
}

func (n *nic) mlnx(o map[string]string, pairs []string) error {
	if d, ok := o["-d"]; ok {
		if d != "os" && d != "fw" {
			return refusal("Bad value for dcbx mode")
		}
		n.host = d == "os"
	}
	if text, ok := o["--cable_len"]; ok {
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 || v > 1000 {
			return refusal("Bad value for cable length")
		}
		n.cable = v
	}
	if text, ok := o["--pfc"]; ok {
		list, err := eight(text, 1)
		if err != nil {
			return err
		}
		for i, v := range list {
			n.pfc[i] = v == 1
		}
	}
	if len(pairs) > 0 && o["--trust"] != "" {
		return refusal("trust and dscp2prio commands cannot be used at the same time.")
	}
	for _, e := range pairs {
		f := strings.Split(e, ",")
		if len(f) != 3 || f[0] != "set" && f[0] != "del" {
			return refusal("Bad value for dscp2prio: %s", e)
		}
		d, err := number(f[1], 63)
		if err != nil {
			return err
		}
		prio, err := number(f[2], 7)
		if err != nil {
			return err
		}
		if f[0] == "set" {
			n.dscp[d] = prio
		} else if have, ok := n.dscp[d]; ok && have == prio {
			delete(n.dscp, d)
		}
	}
	switch trust := o["--trust"]; {
	case trust == "pcp":
		n.dscp = map[int]int{}
	case trust == "dscp" && len(n.dscp) == 0:
		for d := range 64 {
			n.dscp[d] = d >> 3
		}
	case trust != "" && trust != "dscp":
		return refusal("Bad value for trust state")
	}
	if text, ok := o["-r"]; ok {
		list, err := eight(text, 800)
		if err != nil {
			return err
		}
		for i, v := range list {
			n.mbps[i] = v * 1000
		}
	}
	return n.mlnxETS(o)
}

func (n *nic) mlnxETS(o map[string]string) error {
	text, ok := o["-s"]
	if !ok {
		return nil
	}
	tsa := strings.Split(text, ",")
	bw, err := eight(o["-t"], 100)
	if err != nil {
		return err
	}
	prio, err := eight(o["-p"], 7)
	if err != nil {
		return err
	}
	if len(tsa) != 8 {
		return refusal("Bad value for tsa: %s", text)
	}
	sum := 0
	for i := range 8 {
		switch {
		case tsa[i] != "ets" && tsa[i] != "strict" && tsa[i] != "vendor":
			return refusal("Bad TSA value: %s", tsa[i])
		case tsa[i] != "ets" && bw[i] != 0:
			return refusal("ETS BW for a strict/vendor TC must be 0")
		}
		sum += bw[i]
	}
	if sum != 100 && sum != 0 {
		return refusal("Netlink error: Bad value. see dmesg.")
	}
	for i := range 8 {
		n.tsa[i], n.bw[i], n.prio[i] = tsa[i], bw[i], prio[i]
		if tsa[i] != "ets" {
			n.bw[i] = 100
		}
	}
	return nil
}

func eight(s string, most int) ([8]int, error) {
	var list [8]int
	f := strings.Split(s, ",")
	if len(f) != 8 {
		return list, refusal("Bad value: %q has %d entries, not 8", s, len(f))
	}
	for i, t := range f {
		v, err := number(t, most)
		if err != nil {
			return list, err
		}
		list[i] = v
	}
	return list, nil
}

func (n *nic) printMLNX(p *posix.Proc) {
	p.Printf("DCBX mode: %s controlled\n", map[bool]string{true: "OS", false: "Firmware"}[n.host])
	p.Printf("Priority trust state: %s\n", map[bool]string{true: "dscp", false: "pcp"}[len(n.dscp) > 0])
	if len(n.dscp) > 0 {
		p.Printf("dscp2prio mapping:\n")
	}
	for prio := range 8 {
		var list []string
		for d := range 64 {
			if v, ok := n.dscp[d]; ok && v == prio {
				list = append(list, fmt.Sprintf("%02d,", d))
			}
		}
		for part := range slices.Chunk(list, 8) {
			p.Printf("\tprio:%d dscp:%s\n", prio, strings.Join(part, ""))
		}
	}
	prios, sizes := n.buffers()
	p.Printf("Receive buffer size (bytes): %s,max_buffer_size=%d\n", join(sizes, ","), totalBuffer)
	p.Printf("Cable len: %d\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     ", n.cable)
	for _, on := range n.pfc {
		p.Printf("%s", map[bool]string{true: "1   ", false: "0   "}[on])
	}
	p.Printf("\n\tbuffer      %s   \n", join(prios, "   "))
	for tc := range 8 {
		rate := "unlimited"
		if n.mbps[tc] > 0 {
			rate = fmt.Sprintf("%.1f Gbps", float64(n.mbps[tc])/1000)
		}
		line := fmt.Sprintf("tc: %d ratelimit: %s, tsa: %s", tc, rate, n.tsa[tc])
		if n.tsa[tc] == "ets" {
			line += fmt.Sprintf(", bw: %d%%", n.bw[tc])
		}
		p.Printf("%s\n", line)
		for prio, t := range n.prio {
			if t == tc {
				p.Printf("\t priority:  %d\n", prio)
			}
		}
	}
}

func join(list [8]int, sep string) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = strconv.Itoa(v)
	}
	return strings.Join(words, sep)
}
