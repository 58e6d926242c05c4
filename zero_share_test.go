package rocec_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

const scavenger = `
qos "a" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 60
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "backup" {
    carries   = "other"
    marked_by = "application"
    dscp      = [8]
    priority  = 1
    bandwidth = 0
  }
  class "default" {
    default   = true
    priority  = 0
    bandwidth = 40
  }
}
segment "st" {
  vlan   = 10
  subnet = "10.1.0.0/24"
  mtu    = 9000
  qos    = qos.a
}
switch "sw" {
  model = "nvidia/sn3700"
  os    = "cumulus-linux/5.11"
  port "swp[1-2]" {
    untagged = segment.st
    admin    = "up"
    fec      = "rs"
    cable    = { media = "dac", length = "3m" }
  }
}
node "h" {
  for_each = { h1 = 1, h2 = 2 }
  os       = "ubuntu/24.04"
  slot     = each.value
  nic "p0" {
    model    = "nvidia/connectx-6-dx"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.st
    at       = switch.sw.port["swp${each.value}"]
  }
}
`

// TestShareOfNothing: bandwidth = 0 of a lossy class is what the others leave, and is
// refused at its line where a target cannot say it or nothing lossless may have it.
func TestShareOfNothing(t *testing.T) {
	const zero = "bandwidth = 0"
	for name, c := range map[string]struct {
		edits []string
		want  string // in the findings; "" = none
	}{
		"mlx5 and Cumulus Linux": {nil, ""},
		"SONiC":                  {[]string{"cumulus-linux/5.11", "sonic/202505", "swp[1-2]", "Ethernet[0-4:4]", "swp${each.value}", "Ethernet${4 * each.value - 4}"}, "the weights of SONiC begin at 1"},
		"Enterprise SONiC": {
			[]string{"nvidia/sn3700", "dell/z9332f-on", "cumulus-linux/5.11", "sonic-enterprise/4.5.0", "swp[1-2]", "Ethernet[0-8:8]", "swp${each.value}", "Ethernet${8 * each.value - 8}"},
			"the weights of Enterprise SONiC begin at 1",
		},
		"Windows":          {[]string{"ubuntu/24.04", "windows-server/2022", "carries   = \"rdma\"", "carries   = \"rdma\"\n    match     = { netdirect_port = 445 }"}, "a traffic class of Windows has 1 percent at least"},
		"bnxt":             {[]string{"nvidia/connectx-6-dx", "broadcom/bcm575xx"}, "is driven by bnxt, which has no such share"},
		"lossless":         {[]string{zero, zero + "\n    lossless  = true"}, "ROCE202"},
		"nothing but zero": {[]string{"bandwidth = 60", "bandwidth = 0\n    lossless  = false", "bandwidth = 40", zero}, "ROCE201"},
		"not written":      {[]string{zero, ""}, "ROCE202"},
	} {
		t.Run(name, func(t *testing.T) {
			m := build(fstest.MapFS{"fabric.roce.hcl": {Data: []byte(strings.NewReplacer(c.edits...).Replace(scavenger))}}, "2026-01-01")
			switch {
			case c.want == "" && m.Findings != "":
				t.Errorf("refused:\n%s", m.Findings)
			case !strings.Contains(strings.Join(strings.Fields(m.Findings), " "), c.want):
				t.Errorf("%q is not told:\n%s", c.want, m.Findings)
			case strings.HasPrefix(c.want, "the weights") && !strings.Contains(m.Findings, zero):
				t.Errorf("the line is not shown:\n%s", m.Findings)
			}
			if c.want != "" {
				return
			}
			text := map[string]string{}
			for _, d := range m.Devices {
				for _, f := range d.Files {
					text[d.Address] += string(f.Bytes)
				}
			}
			if !strings.Contains(text[`node.h["h1"]`], "bw='40 0 - 60 ") || !strings.Contains(text[`node.h["h1"]`], "tsa='ets ets strict ets ") {
				t.Error("the host does not serve the class after the others")
			}
			if s := text["switch.sw"]; !strings.Contains(s, "traffic-class 3 bw-percent 60") || strings.Contains(s, "traffic-class 1 bw-percent") {
				t.Error("the switch gives the class a share")
			}
		})
	}
}
