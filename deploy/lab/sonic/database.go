package sonic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// database is ConfigDB: tables of rows of fields. Values are texts, or lists of
// texts as the YANG models have them.
type database map[string]map[string]map[string]any

// read takes a config_db.json.
func read(b []byte) (database, error) {
	var db database
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&db); err != nil {
		return nil, err
	}
	for _, rows := range db {
		for key, fields := range rows {
			if fields == nil {
				rows[key] = map[string]any{}
				continue
			}
			for name, v := range fields {
				if err := isValue(v); err != nil {
					return nil, fmt.Errorf("%s %s: %w", key, name, err)
				}
			}
			delete(fields, "NULL") // how ConfigDB stores a row without fields
		}
	}
	return db, nil
}

func isValue(v any) error {
	switch v := v.(type) {
	case string:
		return nil
	case []any:
		for _, one := range v {
			if _, ok := one.(string); !ok {
				return fmt.Errorf("%v is no text", one)
			}
		}
		return nil
	}
	return fmt.Errorf("%v is no text", v)
}

// print is what sonic-cfggen -d --print-data prints: sorted, four blanks.
func (db database) print() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	_ = enc.Encode(db) // texts and lists of texts
	return b.Bytes()
}

func (db database) clone() database {
	out := database{}
	for table, rows := range db {
		out[table] = map[string]map[string]any{}
		for key, fields := range rows {
			out[table][key] = maps.Clone(fields)
		}
	}
	return out
}

// merge sets fields as mod_config does: what is not among them stays.
func (db database) merge(more database) {
	for table, rows := range more {
		if db[table] == nil && len(rows) > 0 {
			db[table] = map[string]map[string]any{}
		}
		for key, fields := range rows {
			if db[table][key] == nil {
				db[table][key] = map[string]any{}
			}
			maps.Copy(db[table][key], fields)
		}
	}
}

func (db database) set(table, key string, pairs ...string) {
	row := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		row[pairs[i]] = pairs[i+1]
	}
	db.merge(database{table: {key: row}})
}

func (db database) text(table, key, field string) string {
	s, _ := db[table][key][field].(string)
	return s
}

// ports are the names of ports, in their order.
func (db database) ports() []string {
	return slices.SortedFunc(maps.Keys(db["PORT"]), intent.Natural)
}

// hwskus are those that the config updater knows among the models that fabrics
// name (generic_config_updater/gcu_field_operation_validators.conf.json of
// sonic-utilities, July 2026). Any other switch is "unknown" to it.
var hwskus = map[string]string{
	"nvidia/sn2700": "ACS-MSN2700", "nvidia/sn2410": "ACS-MSN2410", "nvidia/sn2100": "ACS-MSN2100", "nvidia/sn2010": "ACS-MSN2010",
	"nvidia/sn3420": "ACS-MSN3420", "nvidia/sn3700": "ACS-MSN3700", "nvidia/sn3700c": "ACS-MSN3700C", "nvidia/sn3800": "ACS-MSN3800",
	"nvidia/sn4410": "ACS-MSN4410", "nvidia/sn4600": "ACS-MSN4600", "nvidia/sn4600c": "ACS-MSN4600C", "nvidia/sn4700": "ACS-MSN4700",
	"nvidia/sn5400": "ACS-SN5400", "nvidia/sn5600": "ACS-SN5600", "nvidia/sn5640": "ACS-SN5640",
	"arista/7050cx3-32s": "Arista-7050CX3-32S-C32", "arista/7260cx3-64": "Arista-7260CX3-C64", "arista/7060x6-64pe": "Arista-7060X6-64PE",
}

// hwsku is the SKU of a model, and whether the config updater knows it.
func hwsku(model string) (string, bool) {
	if sku := hwskus[strings.ToLower(model)]; sku != "" {
		return sku, true
	}
	return strings.NewReplacer("/", "-", " ", "-").Replace(strings.ToUpper(model)), false
}

// traditional tells whether the image sizes buffers by its table: all but
// Spectrum do, unless the option says otherwise.
func traditional(d *intent.Device) bool {
	if m := d.Options["buffer_model"]; m != "" {
		return m == "traditional"
	}
	return !strings.HasPrefix(d.ASIC, "spectrum")
}

// asFound is a switch with a new image and no preset: its ports are down, as the
// default of admin_status is [sonic-buildimage, sonic-port.yang], and nothing is bound
// to them. Ports that the intent splits are whole.
func asFound(d *intent.Device) database {
	db := database{}
	sku, _ := hwsku(d.Model)
	model := "traditional"
	if !traditional(d) {
		model = "dynamic"
	}
	db.set("DEVICE_METADATA", "localhost", "hostname", d.Name, "hwsku", sku, "platform", "x86_64-rocec_lab-r0", "mac", "02:00:00:00:00:01", "type", "ToRRouter", "buffer_model", model)
	db.set("BUFFER_POOL", "ingress_lossless_pool", "type", "ingress", "mode", "dynamic", "size", "26451968")
	db.set("BUFFER_POOL", "egress_lossless_pool", "type", "egress", "mode", "dynamic", "size", "60817392")
	db.set("BUFFER_POOL", "egress_lossy_pool", "type", "egress", "mode", "dynamic", "size", "26451968")
	db.set("BUFFER_PROFILE", "ingress_lossy_profile", "pool", "ingress_lossless_pool", "size", "0", "dynamic_th", "3")
	db.set("BUFFER_PROFILE", "egress_lossless_profile", "pool", "egress_lossless_pool", "size", "0", "dynamic_th", "7")
	db.set("BUFFER_PROFILE", "egress_lossy_profile", "pool", "egress_lossy_pool", "size", "0", "dynamic_th", "3")
	for i := range d.Ports {
		p := &d.Ports[i]
		name, lanes, alias, index, speed := p.Name, laneOf(p.Name, i), fmt.Sprintf("etp%d", i+1), fmt.Sprint(i+1), p.Mbps.Or(100_000)
		if s := p.Split; s != nil {
			if s.Number != 1 {
				continue
			}
			name, alias, index = s.Parent, strings.TrimRight(s.Alias, "abcdefgh"), fmt.Sprint(s.Index)
			lanes, speed = wholeLanes(d, s.Parent), 100_000
			db.set("BREAKOUT_CFG", s.Parent, "brkout_mode", wholeMode)
		}
		db.set("PORT", name, "lanes", lanes, "alias", alias, "index", index, "speed", fmt.Sprint(speed), "mtu", "9100", "admin_status", "down")
	}
	return db
}

// wholeMode is the mode of ports that are not split.
const wholeMode = "1x100G[50G,40G,25G,10G]"

// laneOf is a number that no other port has.
func laneOf(name string, at int) string {
	digits := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	if digits == "" || len(digits) > 4 || strings.Trim(digits, "0123456789") != "" {
		return fmt.Sprint(9000 + at)
	}
	return strings.TrimLeft(digits, "0") + map[bool]string{true: "0", false: ""}[strings.Trim(digits, "0") == ""]
}

func wholeLanes(d *intent.Device, parent string) string {
	var list []string
	for i := range d.Ports {
		if s := d.Ports[i].Split; s != nil && s.Parent == parent {
			list = append(list, s.Lanes)
		}
	}
	return strings.Join(list, ",")
}

// bufferManager is buffermgrd of the traditional model (sonic-swss cfgmgr/buffermgr.cpp): it hears of rows that change and makes
// the lossless groups of ports of what it has heard. What it made it does not take away, and of PFC it hears only what is set,
// not that the field goes; that the row goes, since 202605 (sonic-swss#4003).
type bufferManager struct {
	branch   func(since string) bool // the image is older
	mellanox bool
	headroom func(port, group string) (intent.Headroom, bool) // of its table

	pfc     map[string]string // by port, as heard last
	waiting map[string]bool   // ports whose cable or state is not known
}

// heard is what becomes of a database that another one takes the place of.
func (b *bufferManager) heard(old, db database) {
	if db.text("DEVICE_METADATA", "localhost", "buffer_model") != "traditional" {
		return
	}
	for _, port := range slices.Sorted(maps.Keys(db["PORT_QOS_MAP"])) {
		enabled, is := db["PORT_QOS_MAP"][port]["pfc_enable"].(string)
		if have, known := b.pfc[port]; !is || port == "global" || known && have == enabled {
			continue
		}
		b.pfc[port] = enabled
		b.groups(db, port)
	}
	for port := range old["PORT_QOS_MAP"] {
		if db["PORT_QOS_MAP"][port] == nil && !b.branch("202605") {
			delete(b.pfc, port)
		}
	}
	for _, port := range db.ports() {
		anew := !equalRow(old["PORT"][port], db["PORT"][port]) || !b.branch("202511") && old.cable(port) != db.cable(port) // sonic-swss#4004
		if anew && !b.groups(db, port) {
			b.waiting[port] = true
		}
	}
	for port := range b.waiting {
		if b.groups(db, port) {
			delete(b.waiting, port)
		}
	}
}

// groups is doSpeedUpdateTask: it makes the groups of a port, and is false where it has to be asked again.
func (b *bufferManager) groups(db database, port string) bool {
	speed, cable, admin := db.text("PORT", port, "speed"), db.cable(port), db.text("PORT", port, "admin_status")
	enabled, known := b.pfc[port]
	switch {
	case cable == "" || admin == "" && b.branch("202511"):
		return false
	case cable == "0m" || !known || speed == "":
		return true
	}
	name := "pg_lossless_" + speed + "_" + cable + "_profile"
	for _, run := range runs(enabled) {
		key := port + "|" + run
		if b.mellanox && admin == "down" {
			if db.text("BUFFER_PG", key, "profile") == name {
				delete(db["BUFFER_PG"], key)
			}
			continue
		}
		if db["BUFFER_PROFILE"][name] == nil {
			h, alpha := intent.Headroom{XonBytes: 18432, XoffBytes: 165888, SizeBytes: 184320}, int8(0)
			if own, is := b.headroom(port, run[:1]); is {
				h = own
			}
			if h.SizeBytes == 0 {
				h.SizeBytes = h.XonBytes + h.XoffBytes
			}
			if h.Alpha != nil {
				alpha = *h.Alpha
			}
			db.set("BUFFER_PROFILE", name, "pool", "ingress_lossless_pool", "xon", fmt.Sprint(h.XonBytes), "xoff", fmt.Sprint(h.XoffBytes), "size", fmt.Sprint(h.SizeBytes), "dynamic_th", fmt.Sprint(alpha))
		}
		db.set("BUFFER_PG", key, "profile", name)
	}
	return true
}

// cable is the length of a port's cable, in whichever row.
func (db database) cable(port string) string {
	for _, lengths := range db["CABLE_LENGTH"] {
		if c, is := lengths[port].(string); is {
			return c
		}
	}
	return ""
}

// newBufferManager is one that has just started.
func (m *Machine) newBufferManager() *bufferManager {
	return &bufferManager{
		branch: m.before, mellanox: m.asicType() == "mellanox", pfc: map[string]string{}, waiting: map[string]bool{},
		headroom: func(port, group string) (intent.Headroom, bool) {
			p := m.device.PortNamed(port)
			if p == nil {
				return intent.Headroom{}, false
			}
			i := slices.IndexFunc(p.Headroom, func(h intent.Headroom) bool { return strconv.Itoa(int(h.Group)) == group && h.XoffBytes > 0 })
			if i < 0 {
				return intent.Headroom{}, false
			}
			return p.Headroom[i], true
		},
	}
}

// runs are the keys for some groups: neighbours stand in one row, 3-4
// (sonic-swss orchagent/orch.cpp generateIdListFromMap).
func runs(groups string) (list []string) {
	const most = 8
	for g := 0; g < most; g++ {
		low := g
		for g < most && slices.Contains(strings.Split(groups, ","), strconv.Itoa(g)) {
			g++
		}
		switch g - low {
		case 0:
		case 1:
			list = append(list, strconv.Itoa(low))
		default:
			list = append(list, fmt.Sprintf("%d-%d", low, g-1))
		}
	}
	return list
}
