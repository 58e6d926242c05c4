package document

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/picture"
	"github.com/rocec/rocec/compiler/derive"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
)

// maxRows is the largest number of devices that are listed one by one; more are
// counted by what they are.
const maxRows = 200

// Fabric writes a description of the fabric in Markdown: what there is, what
// each traffic class is promised, the segments, how much buffer lossless
// traffic takes, and what is cabled.
func Fabric(to io.Writer, f *fabric.Fabric, facts *derive.Facts) error {
	w := bufio.NewWriter(to)
	switches, nodes := split(f)
	fmt.Fprintf(w, "# Fabric\n\n%s, %s, %s, %s.\n", picture.Plural(len(switches), "switch", "switches"), picture.Count(len(nodes), "node"), picture.Count(len(f.NICs)-1, "NIC"), picture.Count(len(f.Links)-1, "cable"))
	devices(w, f, "Switches", switches)
	devices(w, f, "Nodes", nodes)
	contracts(w, f)
	segments(w, f)
	buffers(w, f, facts)
	if bill := billOf(cables(f)); len(bill) > 0 {
		fmt.Fprint(w, "\n## Cables\n\n")
		table(w, []string{"cables", "media", "length", "speed"}, bill)
	}
	lists(w, f)
	return w.Flush()
}

// lists shows what the cable lists are for, and how many of their rows are of no port
// of the fabric: those are passed over.
func lists(w io.Writer, f *fabric.Fabric) {
	if len(f.Cablings) == 1 {
		return
	}
	fmt.Fprint(w, "\n## Cable lists\n\n")
	var rows [][]string
	for _, c := range f.Cablings[1:] {
		does := "compared with the cables"
		if c.Mode == fabric.Define {
			does = "defines cables"
		}
		rows = append(rows, []string{code(f.Text(c.Address)), does, strconv.Itoa(int(c.Rows)), strconv.Itoa(int(c.Skipped))})
	}
	table(w, []string{"list", "purpose", "rows", "of other ports"}, rows)
}

func split(f *fabric.Fabric) (switches, nodes []fabric.DeviceID) {
	for d := 1; d < len(f.Devices); d++ {
		if f.Devices[d].Kind == fabric.Node {
			nodes = append(nodes, fabric.DeviceID(d))
		} else {
			switches = append(switches, fabric.DeviceID(d))
		}
	}
	return switches, nodes
}

// devices lists devices one by one, or counts equal ones where they are many.
func devices(w io.Writer, f *fabric.Fabric, title string, list []fabric.DeviceID) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n## %s\n\n", title)
	if len(list) <= maxRows {
		slices.SortStableFunc(list, func(a, b fabric.DeviceID) int {
			return intent.Natural(f.Text(f.Devices[a].Name), f.Text(f.Devices[b].Name))
		})
		var rows [][]string
		for _, d := range list {
			row := &f.Devices[d]
			cabled := 0
			first, end := f.PortsOf(d)
			for p := first; p < end; p++ {
				if f.Ports[p].Link != 0 {
					cabled++
				}
			}
			rows = append(rows, []string{f.Text(row.Name), code(f.Text(row.Address)), hardware(f, d), osOf(f, row), f.Text(row.Rack), f.Text(row.Role), strconv.Itoa(cabled), f.Text(row.About)})
		}
		table(w, described([]string{"name", "address", "hardware", "system", "rack", "role", "cabled ports"}, rows), rows)
		return
	}
	type key struct{ hardware, os, role string }
	number, keys := map[key]int{}, []key(nil)
	for _, d := range list {
		k := key{hardware(f, d), osOf(f, &f.Devices[d]), f.Text(f.Devices[d].Role)}
		if number[k]++; number[k] == 1 {
			keys = append(keys, k)
		}
	}
	var rows [][]string
	for _, k := range keys {
		rows = append(rows, []string{strconv.Itoa(number[k]), k.hardware, k.os, k.role})
	}
	table(w, []string{"devices", "hardware", "system", "role"}, rows)
}

// described is the heads of a table whose rows end in a description, and takes that column out where no row has one.
func described(heads []string, rows [][]string) []string {
	last := len(heads)
	if slices.ContainsFunc(rows, func(r []string) bool { return r[last] != "" }) {
		return append(heads, "description")
	}
	for i := range rows {
		rows[i] = rows[i][:last]
	}
	return heads
}

// hardware is a switch's model, or a node's NICs.
func hardware(f *fabric.Fabric, d fabric.DeviceID) string {
	row := &f.Devices[d]
	if row.Kind == fabric.Switch {
		return f.Text(f.Models[row.Model].Name)
	}
	number, order := map[string]int{}, []string(nil)
	first, end := f.PortsOf(d)
	for p := first; p < end; p++ {
		n := f.Ports[p].NIC
		if n == 0 {
			continue
		}
		name := strings.TrimSpace(f.Text(f.NICModels[f.NICs[n].Model].Name) + " " + picture.Speed(f.Ports[p].Mbps))
		if number[name]++; number[name] == 1 {
			order = append(order, name)
		}
	}
	for i, name := range order {
		order[i] = fmt.Sprintf("%d x %s", number[name], name)
	}
	return strings.Join(order, ", ")
}

func osOf(f *fabric.Fabric, d *fabric.Device) string {
	return strings.TrimSpace(f.Text(d.OSName) + " " + f.Text(d.OSVersion))
}

var carries = map[fabric.Carries]string{
	fabric.CarriesDefault: "everything else", fabric.CarriesRDMA: "RDMA", fabric.CarriesCNP: "CNP", fabric.CarriesCluster: "cluster", fabric.CarriesOther: "other",
}

var trusts = map[fabric.Trust]string{fabric.TrustUnset: "", fabric.TrustDSCP: "DSCP", fabric.TrustPCP: "PCP", fabric.TrustNone: "nothing"}

// contracts shows the classes of every qos that some port has.
func contracts(w io.Writer, f *fabric.Fabric) {
	used := make([]bool, len(f.QoS))
	for p := 1; p < len(f.Ports); p++ {
		used[f.Profiles[f.Ports[p].Profile].QoS] = true
	}
	for q := 1; q < len(f.QoS); q++ {
		if !used[q] {
			continue
		}
		contract := &f.QoS[q]
		fmt.Fprintf(w, "\n## Traffic classes of qos.%s\n\n", cell(f.Text(contract.Name)))
		if t := trusts[contract.Trust]; t != "" {
			fmt.Fprintf(w, "Frames are classified by %s.\n\n", t)
		}
		var rows [][]string
		for i := range contract.Classes {
			c := &contract.Classes[i]
			share := ""
			switch {
			case c.Strict:
				share = "strict"
			case c.Percent > 0:
				share = fmt.Sprintf("%d %%", c.Percent)
			}
			lossless := "no"
			if c.Lossless {
				lossless = "PFC"
			}
			rows = append(rows, []string{f.Text(c.Name), carries[c.Carries], codePoints(c.DSCP, c.Default), strconv.Itoa(int(c.Priority)), strconv.Itoa(int(c.Queue)), lossless, share})
		}
		table(w, []string{"class", "carries", "DSCP", "priority", "queue", "lossless", "bandwidth"}, rows)
	}
}

func codePoints(set uint64, rest bool) string {
	if rest {
		return "all others"
	}
	var list []string
	for n := range 64 {
		if set&(1<<n) != 0 {
			list = append(list, strconv.Itoa(n))
		}
	}
	return strings.Join(list, ", ")
}

func segments(w io.Writer, f *fabric.Fabric) {
	if len(f.Segments) == 1 {
		return
	}
	fmt.Fprint(w, "\n## Segments\n\n")
	var rows [][]string
	for s := 1; s < len(f.Segments); s++ {
		row := &f.Segments[s]
		subnet, gateway, mtu := "", "none", ""
		if row.Subnet.IsValid() {
			subnet = row.Subnet.String()
		}
		if row.Gateway.IsValid() {
			gateway = row.Gateway.String()
		}
		if row.MTU > 0 {
			mtu = strconv.Itoa(int(row.MTU))
		}
		rows = append(rows, []string{code(f.Text(row.Address)), strconv.Itoa(int(row.VLAN)), subnet, gateway, f.Text(row.VRF), mtu, f.Text(row.About)})
	}
	table(w, described([]string{"segment", "VLAN", "subnet", "gateway", "VRF", "MTU"}, rows), rows)
}

// buffers shows what lossless traffic takes on each kind of switch port.
func buffers(w io.Writer, f *fabric.Fabric, facts *derive.Facts) {
	if facts == nil {
		return
	}
	type key struct {
		model    fabric.ModelID
		mbps     uint32
		cableMm  uint32
		priority int
		xoff     uint32
	}
	number, keys := map[key]int{}, []key(nil)
	for p := 1; p < len(f.Ports); p++ {
		port := &f.Ports[p]
		if f.Devices[port.Device].Kind != fabric.Switch || port.Link == 0 {
			continue
		}
		fact := facts.Port(fabric.PortID(p))
		for priority := range fact.Headroom {
			h := &fact.Headroom[priority]
			if h.Xoff == 0 {
				continue
			}
			k := key{f.Devices[port.Device].Model, port.Mbps, fact.CableMm, priority, h.Xoff}
			if number[k]++; number[k] == 1 {
				keys = append(keys, k)
			}
		}
	}
	if len(keys) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Headroom of lossless priorities\n\n")
	var rows [][]string
	for _, k := range keys {
		length := strconv.FormatFloat(float64(k.cableMm)/1000, 'f', -1, 64) + " m"
		rows = append(rows, []string{strconv.Itoa(number[k]), f.Text(f.Models[k.model].Name), picture.Speed(k.mbps), length, strconv.Itoa(k.priority), strconv.Itoa(int(k.xoff)) + " B"})
	}
	table(w, []string{"ports", "switch", "speed", "cable", "priority", "xoff"}, rows)
}

// table writes a table. Its cells are escaped, but those made by code.
func table(w io.Writer, head []string, rows [][]string) {
	line := func(cells []string) {
		for _, c := range cells {
			if ready, ok := strings.CutPrefix(c, asCode); ok {
				fmt.Fprintf(w, "| %s ", ready)
				continue
			}
			fmt.Fprintf(w, "| %s ", cell(c))
		}
		fmt.Fprintln(w, "|")
	}
	line(head)
	fmt.Fprintln(w, strings.Repeat("| --- ", len(head))+"|")
	for _, r := range rows {
		line(r)
	}
}

// cell escapes what Markdown, or HTML in it, would read as more than text.
func cell(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "\n", " ", "\r", " ").Replace(s)
}

// code is an address between backticks. Names hold no backtick; in a table a
// bar is escaped even there.
func code(s string) string {
	return asCode + "`" + strings.NewReplacer("`", "'", "|", `\|`, "\n", " ").Replace(s) + "`"
}

// asCode marks a cell that is escaped already. No name can hold it.
const asCode = "\x00"
