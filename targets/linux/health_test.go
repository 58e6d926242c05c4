package linux

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// Whatever a host prints, reading it ends, and names no port that is not the host's.
func FuzzHealth(f *testing.F) {
	f.Add("health/rail0/counters.txt", "NIC statistics:\n     rx_prio3_pause: 18446744073709551615\n     rx_prio9_pause: 1\n     tx_prio: 2\n")
	f.Add("health/rail0/pcie.txt", "/sys/class/net/rail0/device/current_link_speed:16.0 GT/s PCIe\n/sys/class/net/rail0/device/current_link_width:16\n")
	f.Add("health/rail0/gids.txt", "/sys/class/net/rail0/device/infiniband/mlx5_0/ports/1/gids/3:fe80::\n/gids/:\n")
	f.Add("health/rail0/ecn.txt", "/sys/class/net/rail0/ecn/roce_np/enable/3:0\n")
	f.Add("health/rail0/dcbx.json", `{"host":true,"lld-managed":false}`)
	f.Add("health/acs.txt", "3a:00.0 PCI bridge\n\t\tACSCtl: SrcValid+\n")
	f.Add("health/limits.txt", "Max locked memory         8388608 \nMax locked memory \n")
	f.Fuzz(func(t *testing.T, file, text string) {
		d := &intent.Device{Name: "h", Kind: intent.Node, Ports: []intent.Port{{Name: "rail0", NIC: &intent.NIC{Driver: mlx5, RDMA: intent.Some(true)}}}}
		v, _ := vitals(d, targets.Captured{Files: map[string][]byte{file: []byte(text)}})
		for name := range v.Ports {
			if name != "rail0" {
				t.Errorf("a port %q", name)
			}
		}
	})
}

func TestNumbered(t *testing.T) {
	for name, want := range map[string]struct {
		name     string
		priority int8
	}{
		"rx_prio3_pause": {"rx_prio#_pause", 3}, "rx_pfc_ena_frames_pri7": {"rx_pfc_ena_frames_pri#", 7}, "rx_prio9_pause": {"rx_prio9_pause", -1},
		"rx_prio": {"rx_prio", -1}, "rx_crc_errors_phy": {"rx_crc_errors_phy", -1},
	} {
		if got, p := numbered(name); got != want.name || p != want.priority {
			t.Errorf("%s is %s of %d", name, got, p)
		}
	}
}

// TestCounters reads statistics in the form of ethtool. Soft-RoCE has none.
func TestCounters(t *testing.T) {
	d := &intent.Device{Name: "h", Kind: intent.Node, Ports: []intent.Port{{Name: "eth0"}, {Name: "rxe0"}}}
	v, _ := vitals(d, targets.Captured{Files: map[string][]byte{
		"health/eth0/counters.txt": []byte("NIC statistics:\n     rx_prio3_discards: 7\n     rx_prio4_discards: 9\n     rx_packets: 12\n     rx_prio3_discards_x: 1\n     tx_pause_storm_warning_events: 1\n     tx_pause_storm_error_events: 5\n"),
		"health/rxe0/counters.txt": []byte("no stats available\n"),
	}})
	want := map[string]*targets.PortVitals{"eth0": {Counters: map[targets.Counter]uint64{
		{Of: targets.Discarded, Priority: 3}: 7, {Of: targets.Discarded, Priority: 4}: 9, {Of: targets.Storms, Priority: targets.NoPriority}: 1,
		{Of: targets.Stalls, Priority: targets.NoPriority}: 5,
	}}}
	if diff := cmp.Diff(want, v.Ports); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
