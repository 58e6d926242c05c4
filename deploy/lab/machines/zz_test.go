package machines

import (
	"context"
	"testing"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/observe"
)

func TestZZ(t *testing.T) {
	devices := compiled(t, "smb-direct")
	for name, m := range devices {
		if m.target.Name != "netqos" {
			delete(devices, name)
		}
	}
	l := up(t, devices, lab.Options{})
	for name, m := range devices {
		s := dial(t, l, name)
		c, err := observe.Read(context.Background(), s, m.d, m.target)
		t.Log(err, len(c.Files))
		if err == nil { got, list := m.target.Parse(m.d, c); t.Log(list, m.differences(got)) }
		break
	}
}
