package lint

import (
	"fmt"
	"strings"
)

// netOf is the fabric that examples of rules on routing vary: a switch for each
// name that cables have, "a-b c-d", and a node n-x for each x of hosts, "a c".
// routing is what the routing block says; table is its file, a line of words
// for each row: at, from, to, next and perhaps the new priority.
func netOf(hosts, cables, routing string, table ...string) string {
	var b strings.Builder
	contract, _, _ := strings.Cut(twoNodesText, `segment "storage"`)
	b.WriteString(contract)
	var names []string
	ports := map[string]int{}
	port := func(name string) string {
		if _, known := ports[name]; !known {
			names = append(names, name)
		}
		ports[name]++
		return fmt.Sprintf(`switch.%s.port["Ethernet%d"]`, name, 4*(ports[name]-1))
	}
	cable := func(name, a, z string) {
		fmt.Fprintf(&b, "link \"%s\" {\n  ends  = [%s, %s]\n  cable = { media = \"dac\", length = \"3m\" }\n}\n", name, a, z)
	}
	for slot, h := range strings.Fields(hosts) {
		fmt.Fprintf(&b, `node "n-%s" {
  os   = "ubuntu/24.04"
  slot = %d
  nic "rail0" {
    model = "nvidia/connectx-6-dx"
    speed = "100G"
    fec   = "rs"
    qos   = qos.roce
    mtu   = 9000
  }
}
`, h, slot+1)
		cable("n-"+h, fmt.Sprintf(`node.n-%s.nic["rail0"]`, h), port(h))
	}
	for _, c := range strings.Fields(cables) {
		a, z, _ := strings.Cut(c, "-")
		cable(c, port(a), port(z))
	}
	for _, name := range names {
		fmt.Fprintf(&b, `switch "%s" {
  model = "nvidia/sn3700"
  os    = "sonic/202505"
  qos   = qos.roce
  role  = "%s"
  port "Ethernet[0-%d:4]" {
    speed = "100G"
    fec   = "rs"
    mtu   = 9000
  }
}
`, name, name, 4*(ports[name]-1))
	}
	if routing == "" {
		return b.String()
	}
	fmt.Fprintf(&b, "routing \"default\" {\n  %s\n}\n", routing)
	if len(table) > 0 {
		b.WriteString("-- ways.csv --\nat,from,to,next,priority\n")
		for _, row := range table {
			b.WriteString(strings.Join(strings.Fields(row), ",") + strings.Repeat(",", 5-len(strings.Fields(row))) + "\n")
		}
	}
	return b.String()
}
