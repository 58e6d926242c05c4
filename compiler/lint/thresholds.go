package lint

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on ECN that judges thresholds and what they are made for.

var roce402 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE402", Name: "ecn_before_pfc_strict", Severity: diag.Warning, Fixable: true,
		Title:  "with every port congested, PFC pauses before ECN marks",
		Why:    "with all queues filling at once the shared buffer is divided by many: a threshold that holds for one congested port is then reached after the pause",
		Fix:    "lower the ECN minimum, or raise alpha",
		Source: "Zhu et al., SIGCOMM 2015, section 4: all queues fill at once",
		Formula: "ecn.min in bytes < alpha * shared / (ports * (1 + alpha * lossless priorities)), shared = pool after headroom " +
			"in bytes, alpha = the dynamic threshold of the group",
		Bad:      sharedBuffer(`{ min = "1400KB", max = "2MB", probability = 5 }`),
		Good:     sharedBuffer(`{ min = "500KB", max = "2MB", probability = 5 }`),
		Pedantic: true, // the thresholds that vendors ship are above it on every switch of some size
	},
	Run: ecnStrict,
}

// sharedBuffer is twoNodes with a shared buffer of 24 MB of which one queue gets
// what its alpha allows: 2.67 MB alone, and 1.33 MB where both ports are congested.
func sharedBuffer(ecn string) string {
	return edit(twoNodes(""), `ecn       = "auto"`, `ecn       = `+ecn, `os    = "sonic/202505"`, `os    = "sonic/202505"`+"\n"+`  buffer = { shared = "24MB", alpha = "1/8" }`)
}

func ecnStrict(p *Pass) {
	p.eachMarking(func(e End, c *fabric.Class, queue uint8, ports int) {
		x := p.Facts.Port(e.ID).ECN[queue]
		if !c.Lossless || x.StrictBytes == 0 || x.MinBytes < x.StrictBytes || x.MinBytes >= x.RelaxedBytes {
			return // ROCE401
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("queue %d of %s: ECN starts at %d B, and with all %d ports congested PFC fires at %d B", queue, p.Name(e), x.MinBytes, p.Facts.Buffers[e.Port.Device].Ports, x.StrictBytes),
			Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtContract(e, schema.AECN, c, schema.AECN, ""), p.Fabric.Label(e.Device.Decl, e.Device.Layers, schema.ABuffer, "the buffer")},
			Help:   "lower the ECN minimum, or raise alpha", Edits: atMost(p.AtContract(e, schema.AECN, c, schema.AECN, ""), "ecn.min", x.StrictBytes),
		})
	})
}

var roce405 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE405", Name: "ecn_colors", Severity: diag.Error,
		Title:  "an ECN profile does not mark green packets",
		Why:    "packets that no meter has coloured are green: a profile without green is bound and complete to look at, and never marks one packet",
		Fix:    "enable green in the profile, and bind it to the queue",
		Source: "sonic-net/sonic-buildimage #4545; sonic-net/SONiC #788",
		Bad:    foundSwitch("ecn = { min = \"150KB\", max = \"1500KB\", probability = 5 }\n    observed = { ecn_colors = [] }"),
		Good:   foundSwitch("ecn = { min = \"150KB\", max = \"1500KB\", probability = 5 }\n    observed = { ecn_colors = [\"green\"] }"),
	},
	Run: ecnColors,
}

func ecnColors(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if e.Profile.Host || c.Carries != fabric.CarriesRDMA || on.Queue > 7 || e.Profile.ECN[on.Queue].Unmarked&fabric.Green == 0 {
				return
			}
			at := p.AtPort(e, schema.AECN, "")
			if _, _, ok := p.Fabric.Origin(e.Port.Decl, e.Port.Layers, schema.AECNColors); ok {
				at = p.AtPort(e, schema.AECNColors, "")
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("ECN of class %s on %s never marks: green is not enabled", p.Fabric.Text(c.Name), p.Name(e)), Address: p.Fabric.PortAddress(e.ID), Count: ports,
				Labels: []diag.Label{at}, Help: "enable green",
			})
		})
	})
}

var roce407 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE407", Name: "ecn_speeds", Severity: diag.Warning, Fixable: true,
		Options: []diag.Option{{Name: "ratio", Default: 4, Min: 2, Max: 64, Doc: "how many times as fast the fastest port is as the slowest before their thresholds have to differ"}},
		Title:   "ports of very different speeds share one pair of thresholds",
		Why:     "a queue is worth the time that it takes to leave: what is 40 us at 400G is 640 us at 25G, and the slow ports react far too late, or the fast ones far too early",
		Fix:     `leave the thresholds at "auto", or give each speed a qos of its own`,
		Source: "Li et al., SIGCOMM 2019 (HPCC), section 5.1: thresholds of DCQCN in proportion to the rate; the ratio is a " +
			"house limit, option ratio",
		Formula: "time that a queue stands in us = threshold in bytes * 8 / rate in Mb/s",
		Bad:     twoSpeeds(`{ min = "150KB", max = "1500KB", probability = 5 }`),
		Good:    twoSpeeds(`"auto"`),
	},
	Run:   ecnSpeeds,
	mends: set("ecn", `"auto"`),
}

// twoSpeeds is twoNodes with a host at 25G beside those at 100G.
func twoSpeeds(ecn string) string {
	return strings.Replace(moreTor("Ethernet8", "25G", `node "slow" {
  os   = "ubuntu/24.04"
  slot = 9
  nic "rail0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "25G"
    untagged = segment.storage
  }
}
link "slow" {
  ends  = [node.slow.nic["rail0"], switch.tor.port["Ethernet8"]]
  cable = { media = "dac", length = "3m" }
}
`), `ecn       = "auto"`, `ecn       = `+ecn, 1)
}

func ecnSpeeds(p *Pass) {
	type key struct {
		qos   fabric.QoSID
		class int
		ecn   fabric.ECN
	}
	type span struct{ slow, fast fabric.PortID }
	f := p.Fabric
	spans := map[key]*span{}
	var order []key
	var last struct {
		profile fabric.ProfileID
		mbps    uint32
	}
	for id := fabric.PortID(1); int(id) < len(f.Ports); id++ {
		e := p.End(id)
		if e.Device.Kind != fabric.Switch || e.Port.Profile == 0 || e.Port.Link == 0 || e.Port.Mbps == 0 || last.profile == e.Port.Profile && last.mbps == e.Port.Mbps {
			continue
		}
		last.profile, last.mbps = e.Port.Profile, e.Port.Mbps
		for i, on := range e.Profile.On[:len(f.QoS[e.Profile.QoS].Classes)] {
			if on.Queue > 7 {
				continue
			}
			k := key{e.Profile.QoS, i, e.Profile.ECN[on.Queue]}
			k.ecn.Unmarked = 0
			if k.ecn.Mode != fabric.Written || k.ecn.MinBytes == 0 || k.ecn.MaxBytes == 0 || f.QoS[k.qos].Classes[i].Carries != fabric.CarriesRDMA {
				continue
			}
			s := spans[k]
			if s == nil {
				s = &span{id, id}
				spans[k] = s
				order = append(order, k)
			}
			if e.Port.Mbps < f.Ports[s.slow].Mbps {
				s.slow = id
			}
			if e.Port.Mbps > f.Ports[s.fast].Mbps {
				s.fast = id
			}
		}
	}
	for _, k := range order {
		slow, fast := p.End(spans[k].slow), p.End(spans[k].fast)
		if int64(fast.Port.Mbps) < p.option("ratio")*int64(slow.Port.Mbps) {
			continue
		}
		c := &f.QoS[k.qos].Classes[k.class]
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("class %s is marked %s at %s on %s and at %s on %s", f.Text(c.Name), ecnWords(k.ecn), fabric.Speed(slow.Port.Mbps), p.Name(slow), fabric.Speed(fast.Port.Mbps), p.Name(fast)),
			Address: f.PortAddress(slow.ID), Concerns: []string{f.PortAddress(fast.ID)},
			Labels: []diag.Label{p.AtContract(slow, schema.AECN, c, schema.AECN, ""), p.AtPort(slow, schema.ASpeed, "the slow port"), p.AtPort(fast, schema.ASpeed, "the fast port")},
			Help:   `leave the thresholds at "auto", or give each speed a qos of its own`,
		})
	}
}

var roce411 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE411", Name: "ecn_not_capable", Severity: diag.Warning,
		Title:  "a class without ECN shares a queue that marks",
		Why:    "where a packet cannot be marked the same profile drops it: the class that shares the queue loses packets long before the queue is full",
		Fix:    "give it a queue of its own, or set ECT on its packets and write ecn on the class",
		Source: "RFC 3168, section 5: where a packet cannot be marked, it is dropped",
		Bad:    sharedQueue("queue     = 1\n"),
		Good:   sharedQueue("queue     = 2\n"),
	},
	Run: notCapable,
}

// sharedQueue is twoNodes with lossy RDMA in queue 1 and one more lossy class.
func sharedQueue(queue string) string {
	return twoNodesEdit("bandwidth = 50\n", "bandwidth = 50\n    lossless  = false\n    queue     = 1\n", `  class "default" {`, `  class "bulk" {
    carries   = "other"
    dscp      = [10]
    priority  = 2
    bandwidth = 10
    marked_by = "application"
    `+queue+`  }
  class "default" {`, "bandwidth = 50", "bandwidth = 40")
}

func notCapable(p *Pass) {
	p.eachMarking(func(e End, marked *fabric.Class, queue uint8, ports int) {
		if marked.ECN.Mode != fabric.Auto && marked.ECN.Mode != fabric.Written {
			return
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			// A lossy neighbour of a lossless class is ROCE209, 210 or 227, and CNPs are ROCE220.
			capable := c.ECN.Mode != fabric.Unwritten && c.ECN.Mode != fabric.Off
			if on.Queue != queue || capable || c.Carries == fabric.CarriesCNP || marked.Lossless != c.Lossless || Displaced(c, on) {
				return
			}
			help := "give it a queue of its own"
			if c.Lossless {
				help = "give it a priority and a queue of its own, or set ECT on its packets and write ecn on it"
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("class %s shares queue %d of class %s on %s, has no ECN, and is dropped from %d B", p.Fabric.Text(c.Name), queue, p.Fabric.Text(marked.Name), p.Name(e), p.Facts.Port(e.ID).ECN[queue].MinBytes),
				Address: p.Fabric.PortAddress(e.ID), Count: ports,
				Labels: []diag.Label{p.atQueue(e, c, schema.AQueue, ""), p.Fabric.Label(marked.Decl, 0, schema.AECN, "the marking")},
				Help:   help,
			})
		})
	})
}

var roce413 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE413", Name: "ecn_min_frames", Severity: diag.Warning, Fixable: true,
		Options: []diag.Option{{Name: "packets", Default: 2, Min: 1, Max: 1000, Doc: "least packets that a queue holds before it is marked"}},
		Title:   "the ECN minimum is less than two packets",
		Why:     "one packet that waits for the one before it is no congestion: marking it makes every sender slow down all the time",
		Fix:     "raise the minimum",
		Source: "Zhu et al., SIGCOMM 2015, section 4: a threshold below one packet cannot work; two packets are a house limit, " +
			"option packets",
		Formula: "ecn.min in bytes >= packets * (RDMA MTU + 102 bytes of headers)",
		Bad:     twoNodesEdit(`ecn       = "auto"`, `ecn       = { min = "5KB", max = "200KB", probability = 1 }`),
		Good:    twoNodesEdit(`ecn       = "auto"`, `ecn       = { min = "10KB", max = "200KB", probability = 1 }`),
	},
	Run: minFrames,
}

// rdmaOverhead is what a RoCE v2 packet has around its data on the wire: Ethernet
// with tag and checksum, IPv6, UDP, BTH, RETH and ICRC [roce-theory E.1].
const rdmaOverhead = 22 + 40 + 8 + 12 + 16 + 4

func minFrames(p *Pass) {
	p.eachMarking(func(e End, c *fabric.Class, queue uint8, ports int) {
		x := p.Facts.Port(e.ID)
		data := uint32(x.RDMAMTU)
		if c.RDMAMTU != 0 {
			data = min(data, uint32(c.RDMAMTU))
		}
		packet, least := data+rdmaOverhead, uint64(p.option("packets"))
		if c.Carries != fabric.CarriesRDMA || data == 0 || e.Profile.ECN[queue].MinBytes == 0 || uint64(x.ECN[queue].MinBytes) >= least*uint64(packet) {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("ECN of class %s on %s starts at %d B, which is less than %s packets of %d B", p.Fabric.Text(c.Name), p.Name(e), x.ECN[queue].MinBytes, twoWord(least), packet),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.AtContract(e, schema.AECN, c, schema.AECN, "")}, Help: "raise the minimum",
			Edits: setAt(p.AtContract(e, schema.AECN, c, schema.AECN, ""), "ecn.min", roundBytes((least*uint64(packet)+999)/1000*1000)),
		})
	})
}

// twoWord is a small number as a sentence has it.
func twoWord(n uint64) string {
	if n == 2 {
		return "two"
	}
	return fmt.Sprint(n)
}

var roce414 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE414", Name: "ecn_latency", Severity: diag.Notice, Fixable: true,
		Title:   "a queue filled to the ECN maximum takes longer than the latency budget of its class",
		Why:     "up to the maximum only a share of the packets is marked: a queue may stand there, and every packet waits behind it",
		Fix:     "lower the maximum",
		Source:  "the formula; the budget is the latency_budget that the source states",
		Formula: "delay in us = ecn.max in bytes * 8 / rate of the port in Mb/s",
		Bad:     twoNodesEdit(`ecn       = "auto"`, "ecn       = { min = \"150KB\", max = \"1500KB\", probability = 5 }\n    latency_budget = \"100us\""),
		Good:    twoNodesEdit(`ecn       = "auto"`, "ecn       = { min = \"150KB\", max = \"1500KB\", probability = 5 }\n    latency_budget = \"120us\""),
	},
	Run: ecnLatency,
}

func ecnLatency(p *Pass) {
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Switch || e.Port.Mbps == 0 {
			return
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			if c.LatencyBudgetUs == 0 || on.Queue > 7 || !p.Facts.Port(e.ID).ECN[on.Queue].On {
				return
			}
			most := p.Facts.Port(e.ID).ECN[on.Queue].MaxBytes
			us := uint64(most) * 8 / uint64(e.Port.Mbps) // bits by bits per microsecond
			if us <= uint64(c.LatencyBudgetUs) {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("a queue of %d B, the ECN maximum of class %s on %s, adds %d us at %s, and the budget is %d us", most, p.Fabric.Text(c.Name), p.Name(e), us, fabric.Speed(e.Port.Mbps), c.LatencyBudgetUs),
				Address: p.Fabric.PortAddress(e.ID), Labels: []diag.Label{p.AtContract(e, schema.AECN, c, schema.AECN, ""), p.Fabric.Label(c.Decl, 0, schema.ALatencyBudget, "the budget")},
				Help: "lower the maximum", Edits: p.ecnMaxWithin(e, c, on.Queue),
			})
		})
	})
}

// ecnMaxWithin are the edits that lower an ECN maximum to what leaves a port
// within the latency budget of a class; none if that is not above the minimum.
func (p *Pass) ecnMaxWithin(e End, c *fabric.Class, queue uint8) []diag.Edit {
	bytes := uint64(c.LatencyBudgetUs) * uint64(e.Port.Mbps) / 8 / 1000 * 1000
	if bytes <= uint64(p.Facts.Port(e.ID).ECN[queue].MinBytes) {
		return nil
	}
	return setAt(p.AtContract(e, schema.AECN, c, schema.AECN, ""), "ecn.max", roundBytes(bytes))
}

var roce415 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE415", Name: "ecn_max_before_pfc", Severity: diag.Warning, Fixable: true,
		Title:  "PFC pauses before the ECN maximum is reached",
		Why:    "the slope of the marking ends above what the queue can hold: senders are never told with the full probability, and PFC does the rest",
		Fix:    "lower the maximum, or raise alpha",
		Source: "Zhu et al., SIGCOMM 2015, section 4; Choudhury and Hahne, IEEE/ACM ToN 6(2), 1998",
		Formula: "ecn.max in bytes <= alpha * shared / (1 + alpha), shared = pool after headroom in bytes, alpha = the dynamic " +
			"threshold of the group",
		Bad:  sharedBuffer(`{ min = "500KB", max = "3MB", probability = 5 }`),
		Good: sharedBuffer(`{ min = "500KB", max = "2MB", probability = 5 }`),
	},
	Run: maxBeforePFC,
}

func maxBeforePFC(p *Pass) {
	p.eachMarking(func(e End, c *fabric.Class, queue uint8, ports int) {
		x := p.Facts.Port(e.ID).ECN[queue]
		// What nobody wrote follows from the minimum, and ROCE401 speaks of that.
		if !c.Lossless || x.RelaxedBytes == 0 || x.MinBytes >= x.RelaxedBytes || x.MaxBytes <= x.RelaxedBytes || e.Profile.ECN[queue].MaxBytes == 0 {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("queue %d of %s: PFC fires at %d B, and ECN reaches its probability of %d %% at %d B", queue, p.Name(e), x.RelaxedBytes, x.Probability, x.MaxBytes),
			Address: p.Fabric.PortAddress(e.ID), Count: ports,
			Labels: []diag.Label{p.AtContract(e, schema.AECN, c, schema.AECN, ""), p.Fabric.Label(e.Device.Decl, e.Device.Layers, schema.ABuffer, "the buffer")},
			Help:   "lower the maximum, or raise alpha", Edits: atMost(p.AtContract(e, schema.AECN, c, schema.AECN, ""), "ecn.max", x.RelaxedBytes),
		})
	})
}

var roce418 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE418", Name: "ecn_step", Severity: diag.Warning, Fixable: true,
		Title: "a class under DCQCN is marked by a step",
		Why: "at a step all senders are marked at once and slow down together: the queue swings between full and empty. " +
			"Of Windows hosts it is a notice: the switch configuration that Microsoft publishes has a step at 300 KB",
		Fix: "use a ramp: a maximum above the minimum, and a probability below 100",
		Source: "Zhu et al., SIGCOMM 2015, section 5: marking by a ramp against the cut-off of DCTCP; for Windows " +
			"Azure/AzureLocal-Supportability, Reference-TOR-QOS-Policy-Configuration.md",
		Bad:  twoNodesEdit(`ecn       = "auto"`, `ecn       = { min = "150KB", max = "150KB", probability = 100 }`),
		Good: twoNodesEdit(`ecn       = "auto"`, `ecn       = { min = "150KB", max = "1500KB", probability = 100 }`),
	},
	Run:   ecnStep,
	mends: set("ecn", `"auto"`),
}

func ecnStep(p *Pass) {
	hosts := p.contractHosts()
	p.eachMarking(func(e End, c *fabric.Class, queue uint8, ports int) {
		x := p.Facts.Port(e.ID).ECN[queue]
		if c.Carries != fabric.CarriesRDMA || c.Congestion == fabric.Receiver || c.ByRTT || c.Transport == fabric.IWARP || x.MinBytes != x.MaxBytes || x.MinBytes == 0 || x.Probability != 100 {
			return
		}
		severity := diag.Warning
		if hosts(e.Profile.QoS).windows {
			severity = diag.Notice // Microsoft's own configuration of switches has one
		}
		p.Report(diag.Diagnostic{
			Severity: severity, Summary: fmt.Sprintf("ECN of class %s on %s is a step at %d B", p.Fabric.Text(c.Name), p.Name(e), x.MinBytes),
			Address: p.Fabric.PortAddress(e.ID), Count: ports, Labels: []diag.Label{p.AtContract(e, schema.AECN, c, schema.AECN, "")}, Help: "use a ramp",
		})
	})
}
