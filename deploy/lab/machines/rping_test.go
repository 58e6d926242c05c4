package machines

import (
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/linux"
)

// TestRping sends RDMA between two hosts on one switch: it needs addresses on devices
// with RDMA that are up, cables, and somebody who listens.
func TestRping(t *testing.T) {
	devices := compiled(t, "storage")
	for name := range devices {
		if name != "stor01" && name != "stor02" {
			delete(devices, name)
		}
	}
	cables := []lab.Cable{
		{{Device: "stor01", Port: "nvme_a"}, {Device: "tor-a", Port: "Ethernet0", Switch: true}},
		{{Device: "tor-a", Port: "Ethernet4", Switch: true}, {Device: "spine", Port: "p1", Switch: true}},
		{{Device: "spine", Port: "p2", Switch: true}, {Device: "stor02", Port: "nvme_a"}},
		{{Device: "stor01", Port: "nvme_b"}, {Device: "tor-b", Port: "Ethernet0", Switch: true}},
	}
	l := up(t, devices, lab.Options{Cables: func() []lab.Cable { return cables }})
	host := func(name string) *linux.Machine {
		m, err := l.Machine(name)
		if err != nil {
			t.Fatal(err)
		}
		return m.(*linux.Machine)
	}
	client, server := host("stor01"), host("stor02")
	run := func(m *linux.Machine, want int, command, says string) string {
		t.Helper()
		out, code := m.Run(t.Context(), "bash", "-c", command)
		if code != want || !strings.Contains(out, says) {
			t.Errorf("%s: exit code %d, expected %d with %q:\n%s", command, code, want, says, out)
		}
		return out
	}
	name := func(m *linux.Machine, i int) string { // what the kernel calls a port before it is renamed
		out, _ := m.Run(t.Context(), "bash", "-c", "ls /sys/class/net")
		return strings.Fields(out)[i]
	}
	const serve, call = "timeout 60 rping -s -a 10.30.1.12 -v -C 2", "rping -c -a 10.30.1.12 -p 7174 -v -C2"
	run(server, 255, serve, "rdma_bind_addr: Cannot assign requested address\n")
	run(client, 255, call, "cma event RDMA_CM_EVENT_ADDR_ERROR, error -19\n")
	for i, at := range []string{"10.30.1.11/24", "10.30.2.11/24"} {
		run(client, 0, "ip addr add "+at+" dev "+name(client, i)+"; ip link set dev "+name(client, i)+" up", "")
	}
	run(client, 255, call, "cma event RDMA_CM_EVENT_ADDR_ERROR, error -110\n")
	port := name(server, 0)
	run(server, 0, "ip addr add 10.30.1.12/24 dev "+port, "")
	run(server, 0, "ip link set dev "+port+" down", "")
	run(server, 255, serve, "rdma_bind_addr: No such device\n")
	run(server, 0, "ip link set dev "+port+" up", "")
	if ports := server.RDMA(netip.MustParseAddr("10.30.1.12")); len(ports) != 1 || ports[0] != "nvme_a" {
		t.Errorf("reached by %v", ports)
	}
	run(client, 255, call, "cma event RDMA_CM_EVENT_REJECTED, error 8\n")
	run(client, 255, "rping -c -a 10.30.2.12 -C 1", "cma event RDMA_CM_EVENT_ADDR_ERROR, error -110\n")
	for command, code := range map[string]int{"rping -a 10.30.1.12": 22, "rping -s -x": 22, "rping -s -a": 22, "rping -c -a nobody -C 1": 254, "rping -c -a 10.30.1.12 -C -1": 22, "rping -s -a 10.30.1.12 -P": 1} {
		run(client, code, command, "")
	}
	for _, c := range []struct {
		device string
		lost   bool
	}{{"", false}, {"stor02", true}, {"stor01", true}, {"", false}} {
		var work sync.WaitGroup
		var served string
		work.Go(func() {
			served, _ = server.Run(t.Context(), "bash", "-c", serve+"; echo ended $?")
		})
		if c.device != "" {
			if err := l.Inject(c.device, lab.Fault{Kind: lab.FaultLost}); err != nil {
				t.Fatal(err)
			}
			run(client, 255, "while :; do out=$("+call+" 2>&1); code=$?; [[ $out == *REJECTED* ]] || break; done; echo \"$out\"; exit $code", "cma event RDMA_CM_EVENT_UNREACHABLE, error -110\n")
			if err := l.Heal(c.device); err != nil {
				t.Fatal(err)
			}
		}
		run(client, 0, "while ! "+call+" 2>/dev/null; do :; done", "ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr\nping data: rdma-ping-1: BCDEF")
		work.Wait()
		if !strings.HasPrefix(served, "server ping data: rdma-ping-0: ABC") || !strings.HasSuffix(served, "server DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 10\nended 0\n") {
			t.Errorf("the server printed\n%s", served)
		}
	}
}
