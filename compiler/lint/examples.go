package lint

import "strings"

// twoNodes is the fabric that most examples vary: two hosts on one switch. port
// is said of one switch port besides.
func twoNodes(port string) string { return strings.Replace(twoNodesText, "#PORT", port, 1) }

// twoNodesEdit is twoNodes with edits: pairs of a text and its replacement,
// each found after the one before.
func twoNodesEdit(pairs ...string) string { return edit(twoNodes(""), pairs...) }

func edit(text string, pairs ...string) string {
	done := ""
	for i := 0; i+1 < len(pairs); i += 2 {
		before, after, ok := strings.Cut(text, pairs[i])
		if !ok {
			return "the example has no " + pairs[i]
		}
		done, text = done+before+pairs[i+1], after
	}
	return done + text
}

// fourNodes is four hosts on one switch; port is said of the first switch port,
// nic of every NIC.
func fourNodes(port, nic string) string {
	return edit(twoNodes(port), `port "Ethernet4" {`, `port "Ethernet[4-12:4]" {`, `n2 = 2 }`, `n2 = 2, n3 = 3, n4 = 4 }`, `nic "rail0" {`, "nic \"rail0\" {\n    "+nic,
		`n2 = "Ethernet4" }`, `n2 = "Ethernet4", n3 = "Ethernet8", n4 = "Ethernet12" }`)
}

// moreTor is twoNodes with more switch ports on its segment, at some speed, and
// blocks about what is on them.
func moreTor(ports, speed, blocks string) string {
	return twoNodesEdit(`  port "Ethernet4" {`, `  port "`+ports+`" {
    speed    = "`+speed+`"
    untagged = segment.storage
  }
  port "Ethernet4" {`, `node "n" {`, blocks+`node "n" {`)
}

// twoTors is twoNodes with a second switch; far is said of that, and link of the
// cable between them.
func twoTors(far, cable, link string) string {
	return moreTor("Ethernet8", "100G", `switch "far" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  `+far+`
  port "Ethernet0" {
    speed    = "100G"
    untagged = segment.storage
    mtu      = 9216
  }
}
link "far" {
  ends  = [switch.tor.port["Ethernet8"], switch.far.port["Ethernet0"]]
  cable = `+cable+`
  `+link+`
}
`)
}

// bonded is a host with a LACP bond; nic is said of its second port.
func bonded(nic string) string {
	return moreTor("Ethernet[8-12:4]", "100G", `node "b" {
  os   = "ubuntu/24.04"
  slot = 9
  nic "p0" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
  }
  nic "p1" {
    model = "nvidia/connectx-6-dx"
    `+nic+`
  }
  bond "bond0" {
    mode    = "lacp"
    members = "p[0-1]"
    untagged = segment.storage
  }
}
`) + cabled("b", `p0 = "Ethernet8", p1 = "Ethernet12"`)
}

// cabled are cables from NICs of a node to ports of tor.
func cabled(node, cables string) string {
	return `link "` + node + `" {
  for_each = { ` + cables + ` }
  ends     = [node.` + node + `.nic[each.key], switch.tor.port[each.value]]
  cable    = { media = "dac", length = "3m" }
}
`
}

// backToBack is two hosts on one cable; nic is said of both NICs.
func backToBack(nic string) string {
	start, _, _ := strings.Cut(twoNodes(""), `switch "tor"`)
	return start + `node "n" {
  for_each = { n1 = 1, n2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "rail0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    untagged = segment.storage
    ` + nic + `
  }
}
link "direct" {
  ends  = [node.n["n1"].nic["rail0"], node.n["n2"].nic["rail0"]]
  cable = { media = "dac", length = "1m" }
}
`
}

// cnpClass is the class for CNPs of twoNodes, which no cmdlet of Windows sets the mark of.
const cnpClass = `  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
`

// windowsPair is backToBack for two Windows hosts with a tagged segment and PCP;
// class is said of the class that carries SMB Direct.
func windowsPair(class string) string {
	return strings.NewReplacer("trust = \"dscp\"", "trust = \"pcp\"", "    dscp      = [26]\n", "    "+class+"\n", "ubuntu/24.04", "windows-server/2025", cnpClass, "",
		"untagged = segment.storage", "segment = segment.storage").Replace(backToBack(""))
}

// iwarpPair is backToBack with iWARP; class is said of the class that carries it.
func iwarpPair(class string) string {
	return strings.NewReplacer("trust = \"dscp\"\n", "trust = \"dscp\"\n  transport = \"iwarp\"\n", "    carries   = \"rdma\"\n",
		"    carries   = \"rdma\"\n    marked_by = \"application\"\n", "    ecn       = \"auto\"\n", "    "+class+"\n",
		"  class \"cnp\" {\n    carries  = \"cnp\"\n    dscp     = [48]\n    priority = 6\n  }\n", "",
		"nvidia/connectx-6-dx", "intel/e810").Replace(backToBack(""))
}

// pcpAccess is twoNodes with tags and PCP, and a spare port without a cable.
func pcpAccess(port string) string {
	return edit(strings.NewReplacer("trust = \"dscp\"", "trust = \"pcp\"",
		"    untagged = segment.storage\n  }\n}\nlink", "    segment = segment.storage\n  }\n}\nlink", "untagged = segment.storage", "tagged = segment.storage").Replace(twoNodes("")),
		`port "Ethernet4" {`, "port \"Ethernet8\" {\n    "+port+"\n  }\n  port \"Ethernet4\" {")
}

// given is an output of a segment that an example has no port in.
func given(segment string) string {
	return "output \"" + segment + "\" {\n  value = segment." + segment + ".vlan\n}\n"
}

// spareHost is a host on the spare port of pcpAccess.
const spareHost = `node "s" {
  os   = "ubuntu/24.04"
  slot = 9
  nic "rail0" {
    model   = "nvidia/connectx-6-dx"
    speed   = "100G"
    fec     = "rs"
    segment = segment.storage
  }
}
link "s" {
  ends  = [node.s.nic["rail0"], switch.tor.port["Ethernet8"]]
  cable = { media = "dac", length = "3m" }
}
`

// noDSCP is a switch model with or without PFC by DSCP.
func noDSCP(has string) string {
	return `
asic "example/plain" {
  vendor       = "example"
  family       = "plain"
  cell         = 256
  buffer       = "32MB"
  max_lossless = 2
  queues       = 8
  dscp_pfc     = ` + has + `
  has_pfc      = true
  has_ecn      = true
  has_ets      = true
  has_watchdog = true
  max_mtu      = 9216
  speeds       = ["10G", "25G", "40G", "50G", "100G", "200G", "400G"]
}
switch_model "example/no-dscp" {
  asic      = "example/plain"
  ports     = { sonic = "Ethernet[0-124:4]" }
  speeds    = { "*" = "100G" }
  lanes     = 4
  jumbo_mtu = 9216
}
`
}

const twoNodesText = `
qos "roce" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}
segment "storage" {
  vlan   = 100
  subnet = "10.100.0.0/24"
  qos    = qos.roce
  mtu      = 9000
}
switch "tor" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  port "Ethernet0" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
    #PORT
  }
  port "Ethernet4" {
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
  }
}
node "n" {
  for_each = { n1 = 1, n2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "rail0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.storage
  }
}
link "tor" {
  for_each = { n1 = "Ethernet0", n2 = "Ethernet4" }
  ends     = [node.n[each.key].nic["rail0"], switch.tor.port[each.value]]
  cable    = { media = "dac", length = "3m" }
}
`
