package lint

import (
	"fmt"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/headroom"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// The part of the family on classes that is about how much RDMA gets: of the
// rate of a port, and of a packet.

var roce239 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE239", Name: "lossless_class_share", Severity: diag.Notice,
		Options: []diag.Option{{Name: "share", Unit: "%", Default: 10, Min: 1, Max: 100, Doc: "least share of a lossless class that " +
			"carries RDMA"}},
		Title: "a lossless class has only a few percent of a port that other classes share",
		Why: "what does not fit its share waits, and what waits in a lossless class is paused: under load of the others the " +
			"class runs on pauses, which spread to the senders",
		Fix:   "give it the share that it needs under load, as 50 %",
		Steps: "both ends of each link in one wave",
		Source: "house limit: 10 %, option share. Microsoft Learn, Azure Local, Host network requirements, and NVIDIA Cumulus " +
			"Linux 5, RDMA over Converged Ethernet, give RDMA 50 %",
		Bad:  twoNodesEdit("bandwidth = 50", "bandwidth = 5", "bandwidth = 50", "bandwidth = 95"),
		Good: twoNodes(``),
	},
	Run: losslessShare,
}

func losslessShare(p *Pass) {
	p.EachProfile(func(e End, ports int) {
		if p.untrusted(e) {
			return
		}
		p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
			s := e.Profile.Sched[on.Queue&7]
			// A share of nothing is ROCE202, that of SMB Direct ROCE240.
			if c.Carries != fabric.CarriesRDMA || !c.Lossless || c.NetDirectPort != 0 || on.Queue > 7 || s.Strict || s.Percent == 0 ||
				int64(s.Percent) >= p.option("share") || Displaced(c, on) {
				return
			}
			p.Report(diag.Diagnostic{
				Summary: fmt.Sprintf("lossless class %s has %d %% of %s: beyond that it is paused while others "+
					"send", p.Fabric.Text(c.Name), s.Percent, p.Name(e)),
				Address: p.Fabric.PortAddress(e.ID), Count: ports,
				Labels: []diag.Label{p.AtContract(e, schema.AETS, c, schema.ABandwidth, "")},
				Help:   fmt.Sprintf("give it %d %% or more", p.option("share")),
			})
		})
	})
}

var roce240 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE240", Name: "cluster_smb_share", Severity: diag.Warning,
		Options: []diag.Option{
			{Name: "smb", Unit: "%", Default: 50, Min: 1, Max: 98, Doc: "least share of SMB Direct"},
			{Name: "heartbeat", Unit: "%", Default: 2, Min: 1, Max: 50, Doc: "largest share of the heartbeat of a cluster"},
		},
		Title: "SMB Direct or the heartbeat of a Windows cluster has another share than the requirements of Microsoft give it",
		Why: "storage of a cluster that gets less than half of its ports resynchronises for hours and times out under load; what " +
			"a heartbeat is given beyond one or two percent is taken from it",
		Fix:   "give SMB Direct 50 % and the heartbeat 1 %, at 10G and below 2 %",
		Steps: "one node at a time, paused in its cluster first",
		Source: "Microsoft Learn, Azure Local, Host network requirements, traffic bandwidth allocation; microsoft/Validate-DCB: the " +
			"share of the cluster's class is 2 % or less",
		Bad:  clusterShares(50, 20),
		Good: clusterShares(50, 1),
	},
	Run: clusterShare,
}

// clusterShares is clusterPair with shares of SMB Direct and of its heartbeat.
func clusterShares(smb, heartbeat int) string {
	return edit(clusterPair(fmt.Sprintf("  class \"heartbeat\" {\n    carries   = \"cluster\"\n    priority  = 7\n    bandwidth = "+
		"%d\n  }\n", heartbeat)),
		"bandwidth = 50", fmt.Sprintf("bandwidth = %d", smb), "bandwidth = 49", fmt.Sprintf("bandwidth = %d", 100-smb-heartbeat))
}

func clusterShare(p *Pass) {
	f := p.Fabric
	type place struct {
		profile fabric.ProfileID
		slow    bool
	}
	said := map[place]bool{}
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if dev.Kind != fabric.Node || dev.Cluster == 0 || !p.windows(dev) {
			continue
		}
		first, end := f.PortsOf(d)
		for id := first; id < end; id++ {
			e := p.End(id)
			k := place{e.Port.Profile, e.Port.Mbps != 0 && e.Port.Mbps <= 10_000}
			if e.Port.Profile == 0 || said[k] || !p.RDMA(e) {
				continue
			}
			said[k] = true
			p.Classes(e, func(c *fabric.Class, on fabric.ClassOn) {
				s := e.Profile.Sched[on.Queue&7]
				if on.Queue > 7 || s.Strict || s.Percent == 0 || Displaced(c, on) {
					return
				}
				share, least, most, what := int64(s.Percent), int64(0), int64(100), "SMB Direct"
				switch {
				case c.Carries == fabric.CarriesRDMA && c.NetDirectPort == smbPort:
					least = p.option("smb")
				case c.Carries == fabric.CarriesCluster:
					what, most = "the heartbeat", p.option("heartbeat")
					if k.slow {
						least = min(2, most) // 1 % of 10G is less than a heartbeat takes
					}
				}
				wants := fmt.Sprintf("%d %% or more", least)
				if share > most {
					wants = fmt.Sprintf("%d %% or less", most)
				}
				if share >= least && share <= most {
					return
				}
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("%s of cluster %s has %d %% on %s, "+
						"class %s", what, f.Text(dev.Cluster), share, p.Name(e), f.Text(c.Name)),
					Address: f.PortAddress(id),
					Labels: []diag.Label{
						p.AtContract(e, schema.AETS, c, schema.ABandwidth, ""), f.Label(dev.Decl, dev.Layers, schema.ACluster, "the cluster"),
					},
					Help: "give it " + wants,
				})
			})
		}
	}
}

// smbPort is the port of SMB Direct.
const smbPort = 445

var roce241 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE241", Name: "class_small_mtu", Severity: diag.Notice,
		Title: "RDMA runs with packets of 1024 bytes or less, and nothing asks for that",
		Why: "the RDMA MTU follows from the MTU of the segment: at 1500 it is 1024, four times the packets of 4096 for the " +
			"same data, each with its headers, its share of the NIC's packet rate and its chance of a pause",
		Fix:        "write mtu = 9000 on the segment, 4200 is enough for 4096; where it shall stay, say so with rdma_mtu on the class",
		Steps:      "every switch first, hosts last",
		Interrupts: "the traffic of a NIC while its driver opens its queues again",
		Source: "torvalds/linux include/rdma/ib_addr.h, iboe_get_mtu; NVIDIA MLNX_OFED, RoCE: MTU 4200 for RDMA; Microsoft " +
			"Learn, Azure Local, Host network requirements: jumbo frames",
		Formula: "RDMA MTU = the largest of 256, 512, 1024, 2048, 4096 that is no more than MTU - 96, in bytes",
		Bad:     twoNodesEdit("  mtu      = 9000\n", ""),
		Good:    twoNodesEdit("mtu      = 9000", "mtu      = 4200"),
	},
	Run:    smallPackets,
	yields: true, // hosts of two MTUs are ROCE806
}

func smallPackets(p *Pass) {
	p.Managed(func(e End) {
		if e.Device.Kind != fabric.Node || !e.Device.Trusted || e.Port.MTU == 0 || e.Port.Link == 0 {
			return
		}
		mtu, err := headroom.RDMAMTU(int64(e.Port.MTU))
		c := p.rdmaClass(e)
		if e.Port.NIC != 0 && p.Fabric.NICModels[p.Fabric.NICs[e.Port.NIC].Model].MaxMTU <= e.Port.MTU {
			return // nobody says that it takes more
		}
		if err != nil || mtu > 1024 || c == nil || c.Transport == fabric.IWARP || c.RDMAMTU != 0 {
			return
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("RDMA of %s has packets of %d B, as its MTU is %d", p.Name(e), mtu, e.Port.MTU),
			Address: p.Fabric.PortAddress(e.ID),
			Labels:  []diag.Label{p.AtPort(e, schema.AMTU, ""), p.Fabric.DeclLabel(c.Decl, "the class")},
			Help:    "write mtu = 9000, or rdma_mtu on the class where it shall stay",
		})
	})
}
