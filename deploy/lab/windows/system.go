package windows

import (
	"fmt"
	"time"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

func (h *Host) system(r *powershell.Runner) {
	r.Cmdlets["get-ciminstance"] = func(c *powershell.Call) []any {
		if c.Str("classname") == "Win32_OperatingSystem" {
			return []any{powershell.NewObject("BuildNumber", fmt.Sprint(h.Build), "ProductType", int64(3), "LastBootUpTime", powershell.Time(time.Unix(h.Boot, 0)))}
		}
		return []any{powershell.NewObject("DNSHostName", h.Computer, "Domain", "corp.example.com")}
	}
	r.Cmdlets["get-windowsfeature"] = func(c *powershell.Call) (out []any) {
		for _, f := range powershell.Spread(c.Named["name"]) {
			out = append(out, powershell.NewObject("Name", f, "InstallState", when(h.has(powershell.String(f)), "Installed", "Available")))
		}
		return out
	}
	r.Cmdlets["install-windowsfeature"] = func(c *powershell.Call) []any {
		h.Features = append(h.Features, c.Str("name"))
		h.register(r)
		return h.did("install %s", c.Str("name"))
	}
	r.Cmdlets["get-storagejob"] = func(*powershell.Call) []any {
		if h.Jobs == 0 {
			return []any{powershell.NewObject("JobState", "Completed")}
		}
		h.Jobs--
		return []any{powershell.NewObject("JobState", "Running")}
	}
	r.Cmdlets["get-netoffloadglobalsetting"] = func(*powershell.Call) []any {
		return []any{powershell.NewObject("NetworkDirect", h.Direct, "NetworkDirectAcrossIPSubnets", h.Across)}
	}
	r.Cmdlets["set-netoffloadglobalsetting"] = func(c *powershell.Call) []any {
		if c.Has("networkdirect") {
			h.Direct = c.Str("networkdirect")
		}
		if c.Has("networkdirectacrossipsubnets") {
			h.Across = c.Str("networkdirectacrossipsubnets")
		}
		return h.did("offload")
	}
	if !h.has("FS-SMBBW") {
		return
	}
	r.Cmdlets["get-smbbandwidthlimit"] = func(c *powershell.Call) []any {
		if n, ok := h.Limit[c.Str("category")]; ok {
			return []any{powershell.NewObject("BytesPerSecond", n)}
		}
		return nil
	}
	r.Cmdlets["set-smbbandwidthlimit"] = func(c *powershell.Call) []any {
		h.Limit[c.Str("category")] = powershell.Int(c.Named["bytespersecond"])
		return h.did("smb limit")
	}
	r.Cmdlets["remove-smbbandwidthlimit"] = func(c *powershell.Call) []any {
		delete(h.Limit, c.Str("category"))
		return h.did("smb limit")
	}
}
