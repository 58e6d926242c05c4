package sonic

import (
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// family is what SONiC calls the ASIC type, as far as the templates and the
// buffer manager tell families apart.
type family string

const (
	mellanox family = "mellanox"
	broadcom family = "broadcom"
	barefoot family = "barefoot"
	other    family = "other"
)

// familyOf finds the ASIC type of a family of the model's data.
func familyOf(asic string) family {
	for _, f := range []struct {
		prefix string
		family family
	}{
		{"spectrum", mellanox}, {"trident", broadcom}, {"tomahawk", broadcom}, {"jericho", broadcom}, {"qumran", broadcom}, {"tofino", barefoot},
	} {
		if strings.HasPrefix(strings.ToLower(asic), f.prefix) {
			return f.family
		}
	}
	return other
}

// mapsPFCToGroup reports whether the image takes PFC_PRIORITY_TO_PRIORITY_GROUP_MAP:
// pfc_to_pg_map_supported_asics of qos_config.j2. On others pfc_to_pg_map must be absent.
func (f family) mapsPFCToGroup() bool { return f == mellanox || f == barefoot }

// onlyThreeAndFour reports whether PFC is limited to priorities 3 and 4, the
// LOSSLESS_TC of qos_config.j2. The dynamic model of Spectrum takes others.
func (f family) onlyThreeAndFour() bool { return f != mellanox }

// bufferModel is how the image of a device sizes buffers. The Mellanox images
// start with the dynamic model (config qos reload without --no-dynamic-buffer).
func bufferModel(d *intent.Device) string {
	if m := d.Options[optionModel]; m != "" {
		return m
	}
	if familyOf(d.ASIC) == mellanox {
		return dynamic
	}
	return traditional
}

// patchable says since which branch the generic config updater accepts changes
// of PFC_WD on an ASIC family: gcu_field_operation_validators.conf.json, read
// on every branch from 202205 to 202605. A family without a row is refused.
var patchable = map[string]string{
	"spectrum-1": "202205", "spectrum-2": "202205", "spectrum-3": "202205", "spectrum-4": "202305", "spectrum-5": "202505", "spectrum-6": "202605",
	"trident2": "202205", "trident3": "202205", "trident4": "202505",
	"tomahawk": "202205", "tomahawk1": "202205", "tomahawk2": "202205", "tomahawk3": "202405", "tomahawk4": "202405", "tomahawk5": "202405", "tomahawk6": "202605",
}

// wredPatchable reports whether apply-patch may make WRED profiles. Up to 202505
// gcu_field_operation_validators.conf.json lets it replace thresholds of the
// image's own profile at most; 202211 has no such file, and since 202511 the
// table is free.
func wredPatchable(d *intent.Device) bool {
	return compare(d.OS.Version, "202211") == 0 || compare(d.OS.Version, "202511") >= 0
}

// watchdogPatchable reports whether apply-patch may change PFC_WD. An unknown
// version counts as the newest.
func watchdogPatchable(d *intent.Device) bool {
	since, ok := patchable[strings.ToLower(d.ASIC)]
	return ok && compare(d.OS.Version, since) >= 0
}
