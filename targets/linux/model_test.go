package linux

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The model stands in for ports of mlx5, bnxt and ice and the programs that reach it. The test
// binary is each of the programs, by the name it is started with.

const modelEnv = "ROCEC_MODEL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(modelEnv); dir != "" {
		os.Exit(program(dir, filepath.Base(os.Args[0]), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// modelPort is what the driver keeps. A class that is not ets shows bandwidth
// 100, as mlx5e_dcbnl_ieee_getets reads it from the hardware.
type modelPort struct {
	Driver string
	Agent  bool // of ice: the firmware runs LLDP
	Newer  bool // dcb of iproute2 6.5 or newer, which prints a blank behind an entry of app
	RoCE   int  // of bnxt: the priority of UDP port 4791, 0 for none
	Shares bool // of bnxt: ETS was set
	Host   bool
	DSCP   map[int]int
	TSA    [8]string
	BW     [8]int
	Prio   [8]int
	PFC    [8]bool
	Cable  int
	Storm  int    // of mlx5: pfc-prevention-tout
	Mbps   [8]int // rate limits
	RX, TX bool
	Pause  bool // of bnxt: it is negotiated
	FEC    string
	Auto   bool
	Refuse string // a concern that the kernel refuses without a word, as dcb 6.1 shows it
	// Turn lets the clock's second turn between the read and the write of every dcb command: dcb 6.1 then reports an error of a
	// write that took effect, and stops there. Left are the entries that a replace did not come to remove.
	Turn bool
	Left map[int]int
}

func newPort(driver string) *modelPort {
	p := &modelPort{Driver: driver, DSCP: map[int]int{}, Prio: [8]int{1, 0, 2, 3, 4, 5, 6, 7}, Cable: 7, Storm: 8000, RX: true, TX: true, FEC: "Auto", Auto: true}
	for i := range 8 {
		p.TSA[i], p.BW[i] = "vendor", 100
	}
	switch driver {
	case bnxt: // bnxt_dcb_init, bnxt_dcbnl_ieee_getets
		p.Host, p.Pause, p.Cable, p.Prio, p.BW = true, true, 0, [8]int{}, [8]int{}
		for i := range 8 {
			p.TSA[i] = "strict"
		}
	case ice: // ice_dcb_sw_dflt_cfg
		p.Agent, p.Cable, p.Prio, p.BW = true, 0, [8]int{}, [8]int{100}
		for i := range 8 {
			p.TSA[i] = "ets"
		}
	}
	return p
}

func program(dir, name string, args []string) int {
	log, _ := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	fmt.Fprintln(log, name, strings.Join(args, " "))
	log.Close()
	b, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		return 9
	}
	ports := map[string]*modelPort{}
	if json.Unmarshal(b, &ports) != nil {
		return 9
	}
	m := model{dir, ports}
	code := 0
	switch name {
	case "dcb":
		code = m.dcb(args)
	case "mlnx_qos":
		code = m.mlnx(args)
	case "ethtool":
		code = m.ethtool(args)
	case "rdma":
		fmt.Println(`[{"ifindex":0,"ifname":"mlx5_0","port":1,"state":"ACTIVE","physical_state":"LINK_UP","netdev":"rail0","netdev_index":3},{"ifindex":1,"ifname":"mlx5_1","port":1,"state":"ACTIVE","physical_state":"LINK_UP","netdev":"rail1","netdev_index":4}]`)
	case "python3": // dcbx.py of the kit, which TestDCBX runs
		p := m.ports[args[len(args)-1]]
		if len(args) != 2 || filepath.Base(args[0]) != "dcbx.py" || p == nil || p.Driver != mlx5 {
			return fail("%v: No such device", args)
		}
		p.Host = false
	case "ip":
		switch strings.Join(args[:min(3, len(args))], " ") {
		case "-o -4 rule", "-o -6 rule":
			fmt.Print(m.file("rules"))
		case "-o address show":
			fmt.Print(m.file("addresses"))
		}
		if args[0] == "-d" {
			fmt.Printf("3: %s: <UP> mtu 9000\n    link/ether b8:3f:d2:00:00:0%d brd ff:ff:ff:ff:ff:ff\n", args[4], args[4][4]-'0'+1)
		}
	case "systemctl":
		if args[0] == "is-enabled" {
			return len(m.file("disabled"))
		}
		fmt.Println("inactive")
		return 3
	case "ibv_devinfo":
		fmt.Printf("hca_id:\t%s\n\t\tport:\t1\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t%s\n", args[1], m.file("active_mtu"))
	case "mstconfig":
		fmt.Printf("Configurations:        Next Boot\n         %s     %s\n", args[3], m.file("mask"))
	}
	b, _ = json.Marshal(ports)
	if os.WriteFile(filepath.Join(dir, "state.json"), b, 0o644) != nil {
		return 9
	}
	return code
}

type model struct {
	dir   string
	ports map[string]*modelPort
}

func (m model) file(name string) string {
	b, _ := os.ReadFile(filepath.Join(m.dir, name))
	return string(b)
}

func fail(format string, args ...any) int {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	return 1
}

// dcb as of iproute2 6.1: a refusal of the kernel still exits 0.
func (m model) dcb(args []string) int {
	asJSON := args[0] == "-j"
	if asJSON {
		args = args[1:]
	}
	object, verb := args[0], args[1]
	p := m.ports[args[3]]
	if p == nil {
		return fail("Attribute read: No such device")
	}
	if verb == "show" {
		if !asJSON {
			return fail("only JSON is modelled")
		}
		return p.show(object)
	}
	if p.Refuse == object || p.Driver == ice && p.Agent || p.Driver == bnxt && object == "pfc" && !p.Shares {
		return 0
	}
	if object == "ets" {
		p.Shares = true
	}
	// KEY PAIR PAIR KEY PAIR: pairs belong to the word before them.
	key := ""
	next := *p
	before := maps.Clone(p.DSCP)
	if p.Driver != mlx5 && verb == "replace" {
		return fail("replace loses entries on %s", p.Driver)
	}
	for _, a := range args[4:] {
		left, right, pair := strings.Cut(a, ":")
		if !pair {
			key = a
		}
		if code := next.put(object, verb, key, left, right, pair, a); code != 0 {
			return code
		}
	}
	if object == "ets" {
		sum, any := 0, false
		for i := range 8 {
			sum += next.BW[i]
			any = any || next.TSA[i] == "ets"
		}
		if expected := map[bool]int{true: 100, false: 0}[any]; sum != expected {
			return fail("Bandwidth percentages in tc-bw sum to %d%%, expected %d%%", sum, expected)
		}
		for i := range 8 {
			if next.TSA[i] != "ets" && p.Driver == mlx5 {
				next.BW[i] = 100
			}
		}
		if p.Driver == ice && len(p.DSCP) > 0 { // ice_dcbnl_setets: in DSCP mode the map cannot change
			next.Prio = [8]int{0, 1, 2, 3, 4, 5, 6, 7}
		}
	}
	*p = next
	if object == "app" && verb == "replace" {
		p.Left = nil
	}
	if !p.Turn || object == "dcbx" || verb == "del" { // these two only write
		return 0
	}
	if object != "app" || verb != "replace" {
		return fail("Attribute write: Protocol error")
	}
	// Entries are added first; a replace that has none to add gets as far as removing. Its exit code is 0 in any case.
	if !maps.Equal(before, p.DSCP) {
		p.Left = maps.Clone(before)
		maps.DeleteFunc(p.Left, func(d, prio int) bool { return p.DSCP[d] == prio })
		fail("Attribute write: Protocol error")
	}
	return 0
}

func (p *modelPort) put(object, verb, key, left, right string, pair bool, word string) int {
	n, _ := strconv.Atoi(left)
	switch object + " " + key {
	case "dcbx host", "dcbx ieee":
		p.Host = true
	case "app dscp-prio":
		v, _ := strconv.Atoi(right)
		switch {
		case verb == "flush":
			p.DSCP = map[int]int{}
			if p.Driver == ice { // back to VLAN mode and its defaults
				p.Prio, p.PFC = [8]int{}, [8]bool{}
			}
		case pair && verb == "add":
			if _, taken := p.DSCP[n]; taken {
				return fail("already user mapped")
			}
			if p.Driver == ice && len(p.DSCP) == 0 { // the first entry switches to DSCP mode
				p.Prio, p.BW = [8]int{0, 1, 2, 3, 4, 5, 6, 7}, [8]int{100}
			}
			p.DSCP[n] = v
		case pair && verb == "replace":
			p.DSCP[n] = v
		case pair && verb == "del" && p.DSCP[n] == v:
			delete(p.DSCP, n)
		}
	case "app dgram-port-prio":
		v, _ := strconv.Atoi(right)
		switch {
		case !pair:
		case p.Driver != bnxt || n != 4791:
			return fail("Attribute write: Invalid argument")
		case verb == "add":
			p.RoCE = v
		case verb == "del" && p.RoCE == v:
			p.RoCE = 0
		}
	case "ets willing", "ets off":
	case "ets tc-tsa", "ets tc-bw", "ets prio-tc":
		if !pair {
			return 0
		}
		for i := range 8 {
			if left != "all" && i != n {
				continue
			}
			v, _ := strconv.Atoi(right)
			switch key {
			case "tc-tsa":
				p.TSA[i] = right
			case "tc-bw":
				p.BW[i] = v
			case "prio-tc":
				p.Prio[i] = v
			}
		}
	case "pfc prio-pfc":
		for i := range 8 {
			if pair && (left == "all" || i == n) {
				p.PFC[i] = right == "on"
			}
		}
	case "pfc delay":
	default:
		if v, err := strconv.Atoi(word); err == nil && object == "pfc" {
			p.Cable = v
			return 0
		}
		return fail("What is %q?", word)
	}
	return 0
}

func (p *modelPort) show(object string) int {
	var v any
	switch object {
	case "dcbx":
		v = map[string]bool{"host": p.Host, "ieee": true}
	case "ets":
		v = map[string]any{"willing": false, "ets_cap": 8, "tc_bw": p.BW, "tc_tsa": p.TSA, "prio_tc": p.Prio}
	case "pfc":
		v = map[string]any{"pfc_cap": 8, "delay": p.Cable, "prio_pfc": p.PFC}
	case "app":
		entry := func(id, prio int) []any {
			if p.Newer {
				return []any{id, prio, " "}
			}
			return []any{id, prio}
		}
		list := [][]any{}
		for d := range 64 {
			if prio, ok := p.DSCP[d]; ok {
				list = append(list, entry(d, prio))
			}
			if prio, ok := p.Left[d]; ok {
				list = append(list, entry(d, prio))
			}
		}
		table := map[string]any{}
		if len(list) > 0 {
			table["dscp_prio"] = list
		}
		if p.RoCE > 0 {
			table["dgram_port_prio"] = [][]any{entry(4791, p.RoCE)}
		}
		v = table
	default:
		return fail("Object %q is unknown", object)
	}
	b, _ := json.Marshal(v)
	fmt.Println(string(b))
	return 0
}

// mlnx is mlnx_qos 26.07: its checks, its order inside one call, its text.
func (m model) mlnx(args []string) int {
	p := m.ports[args[1]]
	if p == nil || args[0] != "-i" {
		return fail("Interface name is required")
	}
	o := map[string]string{}
	var maps []string
	for i := 2; i < len(args); i++ {
		if args[i] == "-a" {
			continue
		}
		if i+1 == len(args) {
			return 2
		}
		if args[i] == "--dscp2prio" {
			maps = append(maps, args[i+1])
		}
		o[args[i]] = args[i+1]
		i++
	}
	if o["-d"] != "" {
		p.Host = o["-d"] == "os"
	}
	if n, err := strconv.Atoi(o["--cable_len"]); err == nil && n > 0 && n < 1000 {
		p.Cable = n
	}
	if list, ok := eight(o["--pfc"]); ok {
		for i, v := range list {
			p.PFC[i] = v == "1"
		}
	}
	if len(maps) > 0 && o["--trust"] != "" {
		return fail("trust and dscp2prio commands cannot be used at the same time.")
	}
	for _, e := range maps {
		f := strings.Split(e, ",")
		d, _ := strconv.Atoi(f[1])
		prio, _ := strconv.Atoi(f[2])
		if f[0] == "set" {
			p.DSCP[d] = prio
		} else if p.DSCP[d] == prio {
			delete(p.DSCP, d)
		}
	}
	switch {
	case o["--trust"] == "pcp":
		p.DSCP = map[int]int{}
	case o["--trust"] == "dscp" && len(p.DSCP) == 0:
		for d := range 64 {
			p.DSCP[d] = d >> 3
		}
	}
	if list, ok := eight(o["-r"]); ok {
		for i, v := range list {
			g, err := strconv.Atoi(v)
			if err != nil {
				return fail("Bad value for ratelimit")
			}
			p.Mbps[i] = g * 1000
		}
	}
	if tsa, ok := eight(o["-s"]); ok && p.Refuse != "ets" {
		bw, _ := eight(o["-t"])
		prio, _ := eight(o["-p"])
		sum := 0
		for i := range 8 {
			p.TSA[i] = tsa[i]
			p.BW[i], _ = strconv.Atoi(bw[i])
			p.Prio[i], _ = strconv.Atoi(prio[i])
			if tsa[i] != "ets" && p.BW[i] != 0 {
				return fail("ETS BW for a strict/vendor TC must be 0")
			}
			if sum += p.BW[i]; tsa[i] != "ets" {
				p.BW[i] = 100
			}
		}
		if sum != 100 && sum != 0 {
			return fail("Netlink error: Bad value. see dmesg.")
		}
	}
	p.print()
	return 0
}

func eight(s string) ([]string, bool) {
	list := strings.Split(s, ",")
	return list, len(list) == 8
}

// print is the output that the captures of mlnx_qos show, of all classes.
func (p *modelPort) print() {
	fmt.Print("****** WARNING: lldpad service is running and may overwrite your settings ******\n\n")
	fmt.Println("DCBX mode: " + map[bool]string{true: "OS", false: "Firmware"}[p.Host] + " controlled")
	fmt.Println("Priority trust state: " + map[bool]string{true: "dscp", false: "pcp"}[len(p.DSCP) > 0])
	if len(p.DSCP) > 0 {
		fmt.Println("dscp2prio mapping:")
	}
	for prio := range 8 {
		var list []string
		for d := range 64 {
			if v, ok := p.DSCP[d]; ok && v == prio {
				list = append(list, fmt.Sprintf("%02d,", d))
			}
		}
		for len(list) > 0 {
			n := min(8, len(list))
			fmt.Printf("\tprio:%d dscp:%s\n", prio, strings.Join(list[:n], ""))
			list = list[n:]
		}
	}
	fmt.Println("Receive buffer size (bytes): 130944,131072,0,0,0,0,0,0,max_buffer_size=262016")
	fmt.Printf("Cable len: %d\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     ", p.Cable)
	for _, on := range p.PFC {
		fmt.Print(map[bool]string{true: "1   ", false: "0   "}[on])
	}
	fmt.Println("\n\tbuffer      0   0   0   1   0   0   0   0   ")
	for tc := range 8 {
		rate := "unlimited"
		if p.Mbps[tc] > 0 {
			rate = fmt.Sprintf("%.1f Gbps", float64(p.Mbps[tc])/1000)
		}
		line := fmt.Sprintf("tc: %d ratelimit: %s, tsa: %s", tc, rate, p.TSA[tc])
		if p.TSA[tc] == "ets" {
			line += fmt.Sprintf(", bw: %d%%", p.BW[tc])
		}
		fmt.Println(line)
		for prio, t := range p.Prio {
			if t == tc {
				fmt.Printf("\t priority:  %d\n", prio)
			}
		}
	}
}

func (m model) ethtool(args []string) int {
	p := m.ports[args[len(args)-1]]
	if p == nil && len(args) > 1 {
		p = m.ports[args[1]]
	}
	if p == nil {
		return fail("netlink error: No such device")
	}
	switch args[0] {
	case "--json": // while there is PFC, ice_get_pauseparam shows none
		negotiated, rx, tx := p.Pause, p.RX, p.TX
		if p.Driver == ice {
			negotiated, rx, tx = p.Auto, p.RX && p.PFC == [8]bool{}, p.TX && p.PFC == [8]bool{}
		}
		fmt.Printf("[ {\n        \"ifname\": \"x\",\n        \"autonegotiate\": %v,\n        \"rx\": %v,\n        \"tx\": %v\n    } ]\n", negotiated, rx, tx)
	case "-A":
		return p.setPause(args[2:])
	case "--show-fec": // ice_get_fecparam: what the module can; bnxt_get_fecparam
		text := p.FEC
		switch {
		case p.Driver == ice:
			text = "Auto RS BaseR"
		case p.Driver == bnxt && p.FEC == "Auto":
			text = "Auto RS"
		case p.Driver == bnxt && p.FEC == "Off":
			text = "None"
		}
		fmt.Printf("FEC parameters for x:\nSupported/Configured FEC encodings: %s\nActive FEC encoding: RS\n", text)
	case "--get-tunable":
		if p.Driver != mlx5 {
			return fail("pfc-prevention-tout: Cannot get tunable")
		}
		fmt.Printf("pfc-prevention-tout: %d\n", p.Storm)
	case "--set-tunable": // mlx5e_set_pfc_prevention_tout
		ms, err := strconv.Atoi(args[3])
		if p.Driver != mlx5 || err != nil || ms != 0 && (ms < 80 || ms > 8000) {
			return fail("pfc-prevention-tout: Invalid argument")
		}
		p.Storm = ms
	case "--set-fec":
		p.FEC = map[string]string{"rs": "RS", "off": "Off", "baser": "BaseR", "auto": "Auto"}[args[3]]
	case "--show-priv-flags":
		if p.Driver != ice {
			return fail("netlink error: Operation not supported")
		}
		fmt.Printf("Private flags for x:\nlink-down-on-close : off\nfw-lldp-agent      : %s\n", map[bool]string{true: "on", false: "off"}[p.Agent])
	case "--set-priv-flags":
		if args[3] == "on" && len(p.DSCP) > 0 {
			return fail("FW-LLDP cannot be enabled in L3 QoS mode")
		}
		p.Agent, p.Host = args[3] == "on", args[3] == "off"
	case "-s":
		p.Auto = args[3] == "on"
	case "-i":
		fmt.Println("driver: mlx5_core\nversion: 6.8.0\nfirmware-version: 22.41.1000 (MT_0000000359)\nbus-info: 0000:3b:00.0")
	default:
		modes := map[string]string{"Auto": "None\t RS\t BASER", "RS": "None\t RS", "BaseR": "None\t BASER", "Off": "None"}
		if p.Driver != ice {
			modes[p.FEC] = "Not reported"
		}
		fmt.Printf("Settings for x:\n\tSupported FEC modes: None\t RS\t BASER\n\tAdvertised FEC modes: %s\n\tSpeed: 100000Mb/s\n\tAuto-negotiation: %s\n",
			modes[p.FEC], map[bool]string{true: "on", false: "off"}[p.Auto])
	}
	return 0
}

// setPause is what ice_set_pauseparam and mlx5e_ethtool_set_pauseparam refuse, and bnxt_set_pauseparam keeps.
func (p *modelPort) setPause(words []string) int {
	negotiated, rx, tx := p.Pause, p.RX, p.TX
	if p.Driver == ice {
		negotiated = p.Auto
	}
	for i := 0; i+1 < len(words); i += 2 {
		on := words[i+1] == "on"
		switch words[i] {
		case "autoneg":
			negotiated = on
		case "rx":
			rx = on
		case "tx":
			tx = on
		}
	}
	if p.Driver == ice && (negotiated != p.Auto || p.PFC != [8]bool{}) || p.Driver == mlx5 && negotiated {
		return fail("netlink error: Operation not supported")
	}
	p.RX, p.TX = rx, tx
	if p.Driver == bnxt {
		p.Pause = negotiated
	}
	return 0
}
