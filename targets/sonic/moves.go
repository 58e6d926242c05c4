package sonic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// An interface cannot change its VRF: intfmgrd writes a line to its log and
// leaves it where it is, though ConfigDB says otherwise [sonic-swss
// cfgmgr/intfmgr.cpp isIntfChangeVrf, alike from 202205 to master]. It has to go
// with its addresses, and to come again once it is gone, as config interface vrf
// bind does it [sonic-utilities config/main.py].

// ifaceRow is the row of an interface without its addresses.
type ifaceRow struct{ table, name string }

// moved are the interfaces of the capture that are in another VRF than is wanted.
// The updater never lets Loopback0 go [generic_config_updater/gu_common.py
// validate_field_operation].
func (m *merge) moved() (list []ifaceRow, refused diag.List) {
	for _, table := range ifaceTables {
		for name, r := range m.want.normal.each(table) {
			vrf, set := r["vrf_name"]
			if !set && !slices.ContainsFunc(m.device.Ifaces, func(f intent.Iface) bool {
				t, n := place(&f)
				return t == table && n == name && inDefault(&f)
			}) {
				continue
			}
			if m.db.rows(table)[name] == nil || m.db.value(table, name, "vrf_name") == vrf.value {
				continue
			}
			if name == "Loopback0" {
				refused.Add(diag.Diagnostic{
					Summary: fmt.Sprintf("Loopback0 is in %s and shall be in %s", cmp.Or(m.db.value(table, name, "vrf_name"), "the default VRF"), vrf.value),
					Help:    "leave its vrf out, or use another loopback: config apply-patch never takes Loopback0 away, and an interface cannot change its VRF otherwise",
					Labels:  m.db.at(table, name),
				})
				continue
			}
			list = append(list, ifaceRow{table, name})
		}
	}
	slices.SortFunc(list, func(a, b ifaceRow) int {
		return cmp.Or(strings.Compare(a.table, b.table), strings.Compare(a.name, b.name))
	})
	return list, refused
}

// inDefault reports whether an interface is in the default VRF: its addresses are
// managed, and no other is named.
func inDefault(f *intent.Iface) bool {
	return f.VRF == "" && f.Addresses.IsSet() && f.Kind != intent.Loopback
}

// rates warns of LAGs whose rate is set in vain for now.
func rates(db *database, d *intent.Device, list *diag.List) {
	for i := range d.LAGs {
		g := &d.LAGs[i]
		if g.Rate == "" || db.rows("PORTCHANNEL")[g.Name] == nil || (db.value("PORTCHANNEL", g.Name, "fast_rate") == "true") == (g.Rate == "fast") {
			continue
		}
		list.Add(diag.Diagnostic{
			Severity: diag.Warning, Summary: fmt.Sprintf("%s is there with another LACP rate than %s", g.Name, g.Rate),
			Help: "that " + keepsRate, Labels: db.at("PORTCHANNEL", g.Name),
		})
	}
}

// without takes interfaces and their addresses out.
func without(db map[string]any, moved []ifaceRow) map[string]any {
	for _, f := range moved {
		rows, _ := db[f.table].(map[string]any)
		for key := range rows {
			if key == f.name || strings.HasPrefix(key, f.name+"|") {
				delete(rows, key)
			}
		}
		if rows != nil && len(rows) == 0 {
			delete(db, f.table)
		}
	}
	return db
}

// gone waits for intfmgrd to let interfaces go: what comes again before that is
// lost [config/main.py, vrf bind, which waits for the same key].
func (s scriptFile) gone(moved []ifaceRow) {
	for _, f := range moved {
		s.Line("for try in {1..60}; do")
		s.Line("    [ -n \"$(sonic-db-cli STATE_DB KEYS 'INTERFACE_TABLE|%s')\" ] || break", f.name)
		s.Line("    if [ \"$try\" = 60 ]; then")
		s.Line("        echo \"%s did not leave its VRF\" >&2", f.name)
		s.Text("        exit 1\n    fi\n    sleep 1\ndone\n")
	}
}
