package linux

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// The JSON of dcb of iproute2 5.11 to 7.1; lists have eight entries, by traffic
// class or priority.
type (
	etsJSON struct {
		TSA  []string `json:"tc_tsa"`
		BW   []uint8  `json:"tc_bw"`
		Prio []uint8  `json:"prio_tc"`
	}
	pfcJSON struct {
		Delay *uint32 `json:"delay"`
		Prio  []bool  `json:"prio_pfc"`
	}
	appJSON struct {
		DSCP []appEntry `json:"dscp_prio"`
		UDP  []appEntry `json:"dgram_port_prio"`
	}
	dcbxJSON struct {
		Host bool `json:"host"`
		IEEE bool `json:"ieee"`
	}
	pauseJSON struct {
		RX *bool `json:"rx"`
		TX *bool `json:"tx"`
	}
)

// appEntry is a DSCP or a port and its priority. Since iproute2 6.5 dcb prints the blank that
// its text has behind an entry as a third element (dcb_app_print_filtered in dcb/dcb_app.c).
type appEntry []uint16

// UnmarshalJSON takes an entry of any version.
func (e *appEntry) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	if len(parts) == 3 && string(parts[2]) == `" "` {
		parts = parts[:2]
	}
	*e = make(appEntry, len(parts))
	for i := range parts {
		if err := json.Unmarshal(parts[i], &(*e)[i]); err != nil {
			return err
		}
	}
	return nil
}

// decoded is a file of a port as it was read last: the ports of a host show the
// same, most often.
type decoded struct {
	text  string
	value any
}

// decodePort reads one JSON file of a port as decode does. What it returns is
// shared by ports, and not to be changed.
func decodePort[T any](r *reader, port, name string) (v *T, ok bool) {
	file := port + "/" + name
	last := r.read[name]
	if v, same := last.value.(*T); same && last.text == string(r.c.Files[file]) {
		return v, true
	}
	v = new(T)
	if !r.decode(file, v) {
		return v, false
	}
	if r.read == nil {
		r.read = map[string]decoded{}
	}
	r.read[name] = decoded{string(r.c.Files[file]), v}
	return v, true
}

// decode reads one JSON file; a missing one is no error and not read.
func (r *reader) decode(file string, into any) bool {
	text, ok := r.text(file)
	if !ok {
		return false
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		offset := 0
		if s := (*json.SyntaxError)(nil); errors.As(err, &s) {
			offset = int(s.Offset)
		}
		if u := (*json.UnmarshalTypeError)(nil); errors.As(err, &u) {
			offset = int(u.Offset)
		}
		r.bad(file, min(offset, len(text)), "not the JSON that the command prints: %v", err)
		return false
	}
	return true
}

// renumber gives the classes of ice and bnxt the numbers that the intent has for
// them, as long as the priorities are grouped as there. On ice classes of
// priorities that the map never gives say nothing.
func (r *reader) renumber(p *intent.Port, q *intent.QoS) {
	w := r.want.port[p.Name]
	if w == nil || !q.Sched.IsSet() || p.NIC.Driver != ice && p.NIC.Driver != bnxt {
		return
	}
	want := r.want.qos[w.QoS]
	if want == nil || !want.TC.IsSet() || !want.Sched.IsSet() {
		return
	}
	seen := intent.PrioritySet(0xff)
	if isOwn(p, q) {
		seen = reached(q.DSCP.Value)
	}
	if tc, _ := classesOn(w, want); tc != q.TC.Value {
		return
	}
	var sched [8]intent.Sched
	for _, prio := range seen.List() {
		sched[want.TC.Value[prio]&7] = q.Sched.Value[q.TC.Value[prio]&7]
	}
	q.TC, q.Sched = want.TC, intent.Some(sched)
}

// cableMm takes the delay of PFC for metres, as mlx5 does. A length that
// rounds up to the same metres is the same cable.
func (r *reader) cableMm(p *intent.Port, m uint32) {
	if w := r.want.port[p.Name]; w != nil && w.CableMm.IsSet() && metres(w.CableMm.Value) == m {
		p.CableMm = w.CableMm
		return
	}
	if m <= maxCableMetres {
		p.CableMm = intent.Some(m * 1000)
	}
}

func (r *reader) dcb(p *intent.Port, q *intent.QoS) {
	dir := p.Name + "/"
	if ets, ok := decodePort[etsJSON](r, p.Name, "ets.json"); ok {
		r.ets(dir+"ets.json", ets.TSA, ets.BW, ets.Prio, q)
	}
	if pfc, ok := decodePort[pfcJSON](r, p.Name, "pfc.json"); ok {
		if len(pfc.Prio) != 8 {
			r.bad(dir+"pfc.json", 0, "prio_pfc has %d entries, not 8", len(pfc.Prio))
		} else {
			r.pfc(pfc.Prio, q)
		}
		if pfc.Delay != nil && familyOf(p).cable {
			r.cableMm(p, *pfc.Delay)
		}
	}
	if app, ok := decodePort[appJSON](r, p.Name, "app.json"); ok {
		r.app(dir+"app.json", app.DSCP, q)
		if p.NIC.Driver == bnxt {
			r.roceEntries(p.Name, app.UDP)
		}
	}
	r.renumber(p, q)
	if dcbx, ok := decodePort[dcbxJSON](r, p.Name, "dcbx.json"); ok {
		r.dcbx(p, dcbx.Host)
	}
}

func (r *reader) dcbx(p *intent.Port, host bool) {
	if host {
		p.NIC.DCBX = intent.Some(intent.DCBX{Mode: "off", Version: "ieee", Owner: "os"})
		if w := r.want.port[p.Name]; w != nil && w.NIC != nil && w.NIC.DCBX.Or(intent.DCBX{}).Mode == "off" {
			p.NIC.DCBX = w.NIC.DCBX // the same, with the words left out that were left out there
		}
		return
	}
	p.NIC.DCBX = intent.Some(intent.DCBX{Mode: "willing", Version: "ieee", Owner: "firmware"})
}

func (r *reader) pfc(on []bool, q *intent.QoS) {
	var set intent.PrioritySet
	for p, yes := range on {
		if yes {
			set = set.With(uint8(p))
		}
	}
	q.PFC, q.Lossless = intent.Some(set), set
}

func (r *reader) ets(file string, tsa []string, bw, prio []uint8, q *intent.QoS) {
	if len(tsa) != 8 || len(bw) != 8 || len(prio) != 8 {
		r.bad(file, 0, "ETS lists of %d, %d and %d entries, not 8", len(tsa), len(bw), len(prio))
		return
	}
	var tc [8]uint8
	var used [8]bool
	for p, t := range prio {
		if t > 7 {
			r.bad(file, 0, "priority %d is in traffic class %d", p, t)
			return
		}
		tc[p], used[t] = t, true
	}
	var sched [8]intent.Sched
	for t, kind := range tsa {
		switch {
		case !used[t]:
		case kind == "ets":
			sched[t] = intent.Sched{Kind: intent.SchedETS, Percent: bw[t]}
		case kind == "strict":
			sched[t] = intent.Sched{Kind: intent.SchedStrict}
		case kind == "vendor" || kind == "cbs":
			sched[t] = intent.Sched{} // no word of the intent: not what anyone asked for
		default:
			r.bad(file, 0, "traffic class %d has the scheduler %q", t, kind)
			return
		}
	}
	q.TC, q.Sched = intent.Some(tc), intent.Some(sched)
}

// app: an empty table means trust in PCP; a DSCP without an entry goes to
// priority 0 (mlx5e_dcbnl_ieee_delapp resets it).
func (r *reader) app(file string, entries []appEntry, q *intent.QoS) {
	if len(entries) == 0 {
		q.Trust = intent.Some(intent.TrustPCP)
		return
	}
	var m [64]uint8
	for _, e := range entries {
		if len(e) != 2 || e[0] > 63 || e[1] > 7 {
			r.bad(file, 0, "the entry %v is no DSCP and priority", e)
			return
		}
		m[e[0]] = uint8(e[1])
	}
	q.Trust, q.DSCP = intent.Some(intent.TrustDSCP), intent.Some(m)
}

// roceEntries keeps the priorities that the entries for UDP port 4791 give to RoCE,
// which is 0 where there is none.
func (r *reader) roceEntries(port string, entries []appEntry) {
	list := []uint8{}
	for _, e := range entries {
		if len(e) == 2 && e[0] == 4791 && e[1] <= 7 {
			list = append(list, uint8(e[1]))
		}
	}
	if len(list) == 0 {
		list = append(list, 0)
	}
	if r.roce == nil {
		r.roce = map[string][]uint8{}
	}
	r.roce[port] = list
}

func (r *reader) pause(name string, q *intent.QoS) {
	v, ok := decodePort[[]pauseJSON](r, name, "pause.json") // [] is ethtool's answer for a device without pause
	if !ok || len(*v) != 1 || (*v)[0].RX == nil || (*v)[0].TX == nil {
		return
	}
	rx, tx := *(*v)[0].RX, *(*v)[0].TX
	if w := r.want.port[name]; w != nil && r.want.qos[w.QoS] != nil && r.want.qos[w.QoS].Pause.Or(false) {
		q.Pause = intent.Some(rx && tx)
		return
	}
	q.Pause = intent.Some(rx || tx) // in one direction is not off
}

// Lines of mlnx_qos of OFED 4.2 to mlnx-tools 26.07; a warning about lldpad may stand before them. Its tabs are
// blanks where the text went through a terminal.
var (
	mlnxDCBX    = regexp.MustCompile(`^DCBX mode: (OS|Firmware) controlled`)
	mlnxTrust   = regexp.MustCompile(`^Priority trust state: (\w+)`)
	mlnxDSCP    = regexp.MustCompile(`^\s+prio:([0-7]) dscp:([\d,]+)`)
	mlnxCable   = regexp.MustCompile(`^Cable len: (\d{1,5})$`)
	mlnxPFC     = regexp.MustCompile(`^\s+enabled\s+((?:[01]\s*){8})$`)
	mlnxTC      = regexp.MustCompile(`^tc: ([0-7]) ratelimit: (unlimited|[\d.]+ Gbps), tsa: (ets|strict|vendor|unknown)(?:, bw: (\d+)%)?`)
	mlnxPrio    = regexp.MustCompile(`^\s+priority:\s+([0-7])`)
	mlnxNothing = regexp.MustCompile(`not supported on your system`)
)

// mlnx reads the text of mlnx_qos -i IF -a.
func (r *reader) mlnx(p *intent.Port, q *intent.QoS) {
	file := p.Name + "/mlnx_qos.txt"
	text, ok := r.text(file)
	if !ok {
		return
	}
	var (
		dscp     []appEntry
		tsa      = [8]string{}
		bw, prio [8]uint8
		caps     [8]uint32
		tc       = -1
		mapped   int
	)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case mlnxNothing.MatchString(line):
		case mlnxDCBX.MatchString(line):
			r.dcbx(p, mlnxDCBX.FindStringSubmatch(line)[1] == "OS")
		case mlnxTrust.MatchString(line):
			if t := intent.Trust(mlnxTrust.FindStringSubmatch(line)[1]); t == intent.TrustPCP || t == intent.TrustDSCP {
				q.Trust = intent.Some(t)
			}
		case mlnxDSCP.MatchString(line):
			m := mlnxDSCP.FindStringSubmatch(line)
			for d := range strings.SplitSeq(strings.Trim(m[2], ","), ",") {
				dscp = append(dscp, appEntry{uint16(number(d)), uint16(number(m[1]))})
			}
		case mlnxCable.MatchString(line):
			n, _ := strconv.ParseUint(mlnxCable.FindStringSubmatch(line)[1], 10, 32)
			r.cableMm(p, uint32(n))
		case mlnxPFC.MatchString(line):
			var on []bool
			for _, b := range strings.Fields(mlnxPFC.FindStringSubmatch(line)[1]) {
				on = append(on, b == "1")
			}
			r.pfc(on, q)
		case mlnxTC.MatchString(line):
			m := mlnxTC.FindStringSubmatch(line)
			tc = int(number(m[1]))
			tsa[tc], bw[tc] = m[3], number(m[4])
			if g, err := strconv.ParseFloat(strings.TrimSuffix(m[2], " Gbps"), 64); err == nil && g < 1e6 {
				caps[tc] = uint32(g*1000 + 0.5)
			}
		case tc >= 0 && mlnxPrio.MatchString(line):
			prio[number(mlnxPrio.FindStringSubmatch(line)[1])] = uint8(tc)
			mapped++
		}
	}
	switch {
	case !q.PFC.IsSet():
		r.bad(file, 0, "no line shows PFC of 8 priorities")
		return
	case q.Trust.Or("") == intent.TrustDSCP && len(dscp) == 0:
		r.bad(file, 0, "the port trusts DSCP, and no line shows a priority of one")
		return
	case q.Trust.Or("") == intent.TrustDSCP:
		r.app(file, dscp, q)
	}
	if mapped != 8 {
		if tc >= 0 {
			r.bad(file, 0, "%d of 8 priorities have a traffic class", mapped)
		}
		return
	}
	r.ets(file, tsa[:], bw[:], prio[:], q)
	if q.Sched.IsSet() {
		for t := range q.Sched.Value {
			if q.Sched.Value[t].Kind != intent.SchedIdle {
				q.Sched.Value[t].CapMbps = caps[t]
			}
		}
	}
}

// number is a small number that a pattern has matched; one too large becomes
// 255, which no field takes.
func number(s string) uint8 {
	if s == "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return 255
	}
	return uint8(n)
}
