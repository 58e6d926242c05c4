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

// patchable are the SKUs on which the generic config updater accepts changes of
// PFC_WD, by the branch since which it does: those of its own list whose ASIC has
// a row there (gcu_field_operation_validators.conf.json, read on every branch from
// 202205 to 202605 and on master). Any other SKU is unknown to it and refused.
var patchable = map[string][]string{
	"202205": {
		"ACS-MSN2700", "ACS-MSN2740", "ACS-MSN2100", "ACS-MSN2410", "ACS-MSN2010", "Mellanox-SN2700", "Mellanox-SN2700-D48C8", "ACS-MSN3800",
		"Mellanox-SN3800-D112C8", "ACS-MSN4700", "ACS-MSN4600", "ACS-MSN4600C", "ACS-MSN4410", "Mellanox-SN4600C-D112C8", "Mellanox-SN4600C-C64",
		"Mellanox-SN4700-O8C48", "Force10-S6100", "Arista-7060CX-32S-C32", "Arista-7060CX-32S-C32-T1", "Arista-7060CX-32S-D48C8", "Celestica-DX010-C32",
		"Seastone-DX010", "Arista-7260CX3-D108C8", "Arista-7260CX3-C64", "Arista-7260CX3-Q64", "Force10-S6000", "Force10-S6000-Q24S32", "Arista-7050-QX32",
		"Arista-7050-QX-32S", "Nexus-3164", "Arista-7050QX32S-Q32", "Arista-7050CX3-32S-C32", "Arista-7050CX3-32S-D48C8",
	},
	"202305": {
		"Mellanox-SN2700-C28D8", "Mellanox-SN2700-D40C8S8", "Mellanox-SN2700-D44C10", "ACS-MSN2700-A1", "Mellanox-SN2700-A1", "Mellanox-SN2700-A1-C28D8",
		"Mellanox-SN2700-A1-D40C8S8", "Mellanox-SN2700-A1-D44C10", "Mellanox-SN2700-A1-D48C8", "ACS-MSN3420", "ACS-MSN3700C", "ACS-MSN3700",
		"Mellanox-SN3800-C64", "Mellanox-SN3800-D100C12S2", "Mellanox-SN3800-D24C52", "Mellanox-SN3800-D28C49S1", "Mellanox-SN3800-D28C50",
		"Mellanox-SN4600C-D100C12S2", "Mellanox-SN4600C-D48C40", "Mellanox-SN4700-A96C8V8", "Mellanox-SN4700-C128", "Mellanox-SN4700-O28",
		"Mellanox-SN4700-O8V48", "Mellanox-SN4700-V48C32", "ACS-SN5600",
	},
	"202311": {"Mellanox-SN4700-O32", "Mellanox-SN4700-V64", "Mellanox-SN5600-O128", "Mellanox-SN5600-V256", "ACS-SN5400"},
	"202405": {
		"ACS-SN4280", "Mellanox-SN4280-O28", "Mellanox-SN5600-C256S1", "Mellanox-SN5600-C224O8", "Arista-7260CX3-D108C10", "Arista-7050CX3-32S-C28S4",
		"Nokia-IXR7220-H3", "Nokia-IXR7220-H4-64D", "Nokia-IXR7220-H4-32D", "Nokia-IXR7220-H5-64D",
	},
	"202411": {
		"Mellanox-SN4280-C48", "Mellanox-SN4280-O8C40", "Mellanox-SN4280-O8V40", "Mellanox-SN5610N-C256S2", "Mellanox-SN5610N-C224O8",
		"Arista-7060X6-64DE", "Arista-7060X6-64PE",
	},
	"202505": {
		"Mellanox-SN4280-O8C80", "ACS-SN5640", "Mellanox-SN5640-C512S2", "Mellanox-SN5640-C448O16", "Arista-7050CX3-32C-C32", "Nokia-IXR7220-D4-36D",
		"Nokia-IXR7220-H5-64O", "Nokia-IXR7220-H5-32D", "Arista-7060X6-16PE-384C-B-O128S2",
	},
	"202511": {"Mellanox-SN4280-O4X96", "Mellanox-SN5640-C512X2", "Mellanox-SN5640-C508O1X2", "Mellanox-SN5640-O128X2", "Arista-7260CX3-Q44"},
	"202605": {"Arista-7050CX3-32C-C28S4", "Nokia-IXR7220-H6-64", "Nokia-IXR7220-H6-P128", "Nokia-IXR7220-H6-O256"},
	"master": {"ACS-SN6600_LD", "Mellanox-SN6600_LD-P128C2", "Mellanox-SN6600_LD-P64O128C2", "ACS-SN6810_LD"},
}

// wredPatchable reports whether apply-patch may make WRED profiles. Up to 202505
// gcu_field_operation_validators.conf.json lets it replace thresholds of the
// image's own profile at most; 202211 has no such file, and since 202511 the
// table is free.
func wredPatchable(d *intent.Device) bool {
	return compare(d.OS.Version, "202211") == 0 || compare(d.OS.Version, "202511") >= 0
}

// watchdogPatchable reports whether apply-patch may change PFC_WD on a SKU, that of
// DEVICE_METADATA. 202211 asks nothing (it has no validators). Cases are alike,
// and a SKU of Broadcom is known by a known name in it, as get_asic_name of
// field_operation_validators.py has it.
func watchdogPatchable(d *intent.Device, sku string) bool {
	if compare(d.OS.Version, "202211") == 0 {
		return true
	}
	sku = strings.ToLower(sku)
	for since, known := range patchable {
		if compare(d.OS.Version, since) < 0 {
			continue
		}
		for _, name := range known {
			name = strings.ToLower(name)
			if sku == name || familyOf(d.ASIC) == broadcom && strings.Contains(sku, name) {
				return true
			}
		}
	}
	return false
}
