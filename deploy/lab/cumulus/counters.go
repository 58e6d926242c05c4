package cumulus

import (
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// showCounted prints what is counted on a port, in the form of the user guide: the
// counters of RoCE traffic, as far as they tell of discards [RDMA over Converged
// Ethernet], and those of the watchdog where it is on [Quality of Service, PFC
// watchdog]. It is false for any other path.
func (m *Machine) showCounted(p *posix.Proc, path []string) bool {
	if len(path) < 4 || path[0] != "interface" || path[2] != "qos" {
		return false
	}
	port := m.device.PortNamed(path[1])
	if port == nil {
		return false
	}
	q := m.device.QoSNamed(port.QoS)
	switch {
	case len(path) == 5 && path[3] == "roce" && path[4] == "counters":
		drops := uint64(0)
		if q != nil && q.PFC.Value != 0 {
			drops = m.faults.Count(lab.FaultDrops, port.Name)
		}
		p.Printf("                               operational  applied  description\n"+
			"-----------------------------  -----------  -------  -----------------------------------\n"+
			"rx-stats\n  rx-roce-stats\n    no-buffer-discard          %-11d           Rx buffer discards for RoCE traffic\n"+
			"tx-stats\n  tx-roce-stats\n    unicast-no-buffer-discard  0                     Tx buffer discards for RoCE traffic\n", drops)
	case len(path) == 4 && path[3] == "pfc-watchdog":
		if state := m.revs[m.applied-1].tree.at("interface", port.Name, "qos", "pfc-watchdog", "state"); q == nil || state == nil || state.text != "enable" {
			return false
		}
		p.Printf("traffic-class  status  deadlock-count\n-------------  ------  --------------\n")
		for _, n := range q.PFC.Value.List() {
			p.Printf("%-13d  OK      %d\n", n, m.faults.Count(lab.FaultStorm, port.Name))
		}
	default:
		return false
	}
	return true
}
