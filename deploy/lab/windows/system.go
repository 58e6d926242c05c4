package windows

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

func (h *Host) system(r *powershell.Runner) {
	r.Cmdlets["get-ciminstance"] = func(c *powershell.Call) []any {
		switch strings.ToLower(c.Str("classname")) {
		case "win32_operatingsystem":
			return []any{powershell.NewObject("BuildNumber", fmt.Sprint(h.Build), "ProductType", int64(3), "LastBootUpTime", powershell.Time(time.Unix(h.Boot, 0)))}
		case "win32_computersystem":
			return []any{powershell.NewObject("DNSHostName", h.Computer, "Domain", "corp.example.com")}
		}
		if rows, known := h.counters(c.Str("classname")); known {
			return rows
		}
		powershell.Throw("Invalid class ")
		return nil
	}
	r.Cmdlets["get-windowsfeature"] = func(c *powershell.Call) (out []any) {
		for _, v := range powershell.Spread(c.Arg("name")) {
			if f := known(powershell.String(v)); f != "" { // names that Windows has not are passed over
				out = append(out, powershell.NewObject("Name", f, "InstallState", when(h.has(f), "Installed", "Available")))
			}
		}
		return out
	}
	r.Cmdlets["install-windowsfeature"] = func(c *powershell.Call) []any {
		for _, v := range powershell.Spread(c.Arg("name")) {
			f := known(powershell.String(v))
			if f == "" {
				powershell.Throw("ArgumentNotValid: The role, role service, or feature name is not valid: '%s'. The name was not found.", powershell.String(v))
			}
			if !h.has(f) {
				h.Features = append(h.Features, f)
				h.did("install %s", f)
			}
		}
		h.register(r)
		return []any{powershell.NewObject("Success", true, "RestartNeeded", "No")}
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
	if h.has("FS-SMBBW") {
		h.smbLimits(r)
	}
}

// known is the name of a feature as Windows has it, "" for none.
func known(name string) string {
	for _, f := range []string{"Data-Center-Bridging", "Hyper-V", "Failover-Clustering", "NetworkATC", "FS-SMBBW", "FS-FileServer"} {
		if strings.EqualFold(f, name) {
			return f
		}
	}
	return ""
}

func (h *Host) smbLimits(r *powershell.Runner) {
	r.Cmdlets["get-smbbandwidthlimit"] = func(c *powershell.Call) []any {
		if n, ok := h.Limit[c.Str("category")]; ok {
			return []any{powershell.NewObject("BytesPerSecond", n)}
		}
		return nil
	}
	r.Cmdlets["set-smbbandwidthlimit"] = func(c *powershell.Call) []any {
		h.Limit[c.Str("category")] = within(c, "BytesPerSecond", c.Arg("bytespersecond"), 1, math.MaxInt64)
		return h.did("smb limit")
	}
	r.Cmdlets["remove-smbbandwidthlimit"] = func(c *powershell.Call) []any {
		if _, there := h.Limit[c.Str("category")]; !there {
			powershell.Throw("No MSFT_SmbBandwidthLimit objects found with property 'Category' equal to '%s'.", c.Str("category"))
		}
		delete(h.Limit, c.Str("category"))
		return h.did("smb limit")
	}
}
