package linux

import (
	"fmt"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/posix"
)

// showCounters is ethtool -S, as far as counters tell of lossless priorities. Names
// are those of the drivers: mlx5_core [kernel Documentation/networking/
// device_drivers/ethernet/mellanox/mlx5/counters.rst; drivers/net/ethernet/mellanox/
// mlx5/core/en_stats.c] and bnxt_en [drivers/net/ethernet/broadcom/bnxt/
// bnxt_ethtool.c]. Nothing is ever counted but what a fault makes up.
func (m *Machine) showCounters(p *posix.Proc, n *nic) int {
	switch n.driver {
	case mlx5:
		p.Printf("NIC statistics:\n     rx_crc_errors_phy: 0\n     rx_symbol_err_phy: 0\n")
		storms := uint64(0)
		for i, on := range n.pfc {
			drops := uint64(0)
			if on {
				counter := fmt.Sprint(n.name, " ", i)
				drops = m.faults.Count(lab.FaultDrops, counter)
				storms += m.faults.Count(lab.FaultStorm, counter)
			}
			p.Printf("     rx_prio%d_discards: %d\n     rx_prio%d_buf_discard: 0\n     rx_prio%d_pause: 0\n     tx_prio%d_pause: 0\n", i, drops, i, i, i)
		}
		p.Printf("     tx_pause_storm_warning_events: 0\n     tx_pause_storm_error_events: %d\n", storms)
	case bnxt:
		p.Printf("NIC statistics:\n     rx_fcs_err_frames: 0\n")
		for i := range n.pfc {
			p.Printf("     rx_pfc_ena_frames_pri%d: 0\n     tx_pfc_ena_frames_pri%d: 0\n", i, i)
		}
	default:
		return p.Fail("ethtool: the counters of %s are not simulated", kernelDrivers[n.driver])
	}
	return 0
}
