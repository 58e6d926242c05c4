package linux

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocec/rocec/targets/oracle"
)

// kernel is a module of Python that stands in for netlink: it prints what is
// sent, and answers with what its environment has.
const kernel = `
import os
AF_NETLINK, SOCK_RAW = 16, 3
class socket:
    def __init__(self, *a): assert a == (AF_NETLINK, SOCK_RAW, 0), a
    def __enter__(self): return self
    def __exit__(self, *a): pass
    def settimeout(self, s): pass
    def send(self, b):
        print(b.hex())
        self.answers = [bytes.fromhex(x) for x in os.environ["ANSWERS"].split()]
    def recv(self, n): return self.answers.pop(0)
`

// message is one of netlink, in the order of bytes of this computer.
func message(kind uint16, body ...byte) string {
	b := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	return hex.EncodeToString(append(append(b, make([]byte, 10)...), body...))
}

// attribute is one of netlink's.
func attribute(kind uint16, value string) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), value...)
	return append(b, make([]byte, (4-len(b)%4)%4)...)
}

func errno(n int32) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(-n)) }

// TestDCBX: dcbx.py sends what mlnx_qos -d fw sends, RTM_SETDCB with DCB_CMD_SDCBX and no flag, and believes neither silence nor a
// refusal, be it the driver's or the kernel's.
func TestDCBX(t *testing.T) {
	t.Parallel()
	oracle.Need(t, "python3")
	dir := t.TempDir()
	for name, text := range map[string]string{"socket.py": kernel, "dcbx.py": script("dcbx.py")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const setDCB, nlError = 79, 2
	answer := func(value string) string {
		return message(setDCB, append([]byte{0, 23, 0, 0}, attribute(14, value)...)...)
	}
	for name, c := range map[string]struct {
		answers []string
		says    string
	}{
		"done":            {[]string{answer("\x00"), message(nlError, errno(0)...)}, ""},
		"in one read":     {[]string{answer("\x00") + message(nlError, errno(0)...)}, ""},
		"driver refuses":  {[]string{answer("\x01"), message(nlError, errno(0)...)}, "rail0: DCBX does not go back to the firmware: the driver refuses"},
		"not supported":   {[]string{message(nlError, errno(95)...)}, "rail0: DCBX does not go back to the firmware: Operation not supported"},
		"no such device":  {[]string{message(nlError, errno(19)...)}, "No such device"},
		"nothing at all":  {nil, "Error"},
		"broken messages": {[]string{"00", strings.Repeat("00", 20), message(setDCB, 0, 23, 0, 0, 0, 0, 0, 0), message(nlError, errno(1)...)}, "Operation not permitted"},
	} {
		program := exec.Command("python3", "-B", "dcbx.py", "rail0")
		program.Dir = dir
		program.Env = append(os.Environ(), "ANSWERS="+strings.Join(c.answers, " "), "PYTHONPATH="+dir)
		var errs strings.Builder
		program.Stderr = &errs
		out, err := program.Output()
		if (err == nil) != (c.says == "") || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: %v: %s", name, err, errs.String())
		}
		body := append(append([]byte{0, 23, 0, 0}, attribute(1, "rail0\x00")...), attribute(14, "\x00")...)
		head := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
		head = binary.NativeEndian.AppendUint16(head, setDCB)
		head = binary.NativeEndian.AppendUint16(head, 5) // NLM_F_REQUEST | NLM_F_ACK
		head = append(binary.NativeEndian.AppendUint32(head, 1), 0, 0, 0, 0)
		if want := hex.EncodeToString(append(head, body...)); strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: sends\n%s, wanted\n%s", name, out, want)
		}
	}
}
