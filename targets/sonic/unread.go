package sonic

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
)

// What cannot be read is nobody's to change: a row whose key or fields are none that
// SONiC's own models describe is set aside when a capture is read, so that no removal,
// split or rename can meet it, and stands in the target of every patch as it stood
// before. Where what is wanted cannot stand beside such a row there is no patch.

// unreadRow is a row of a table that is written here, or such a table as a whole
// where the key is not known.
type unreadRow struct {
	table, key string
	value      any
	why        string
	whole      bool // it is the table, which is none
	typed      bool // a field is neither text nor a list of texts, or there are no fields
}

func (u *unreadRow) String() string {
	if u.whole {
		return "table " + u.table
	}
	return u.table + "|" + u.key
}

var (
	keyWord  = regexp.MustCompile(`^[^\s|]+$`)
	keyRange = regexp.MustCompile(`^(0|[1-9][0-9]?)(-(0|[1-9][0-9]?))?$`)
)

// indexed are the tables whose keys end in numbers of queues or groups.
var indexed = []string{"QUEUE", "BUFFER_PG", "BUFFER_QUEUE"}

// modes are the words of tagging_mode [sonic-types.yang, vlan_tagging_mode].
var modes = []string{"tagged", "untagged", "priority_tagged"}

// rowReadable is what keeps a row from being read, "" if nothing does.
func rowReadable(table, key string, rows map[string]any) string {
	parts := strings.Split(key, "|")
	for _, part := range parts {
		switch {
		case part == "":
			return "a part of its key is empty"
		case !keyWord.MatchString(part):
			return "its key has a blank"
		}
	}
	isNumber := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	shape := func(n int) string {
		if len(parts) != n {
			return fmt.Sprintf("its key has %d parts and not %d", len(parts), n)
		}
		return ""
	}
	switch table {
	case "LOOPBACK_INTERFACE", "INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE":
		return ifaceReadable(table, parts, rows)
	case "VLAN":
		return vlanReadable(key)
	case "VLAN_MEMBER":
		if len(parts) != 2 {
			return shape(2)
		}
		fields, _ := rows[key].(map[string]any)
		if mode, is := fields["tagging_mode"]; is && !slices.Contains(modes, text(mode)) {
			return fmt.Sprintf("its tagging_mode is %q", text(mode))
		}
		return vlanReadable(parts[0])
	case "MCLAG_DOMAIN":
		if !isNumber(key) {
			return "its key is no number"
		}
	case "MCLAG_INTERFACE":
		if len(parts) == 2 && !isNumber(parts[0]) {
			return "the domain in its key is no number"
		}
		return shape(2)
	case "PORTCHANNEL_MEMBER", aclRule:
		return shape(2)
	case "BUFFER_PG", "BUFFER_QUEUE", "QUEUE":
		index := parts[len(parts)-1]
		if _, _, _, ok := span("|" + index); !ok || !keyRange.MatchString(index) {
			return "its key ends in no index or range"
		}
		if len(parts) != 4 { // those name the port of another card [sonic-queue.yang, VOQ_QUEUE_LIST]
			return shape(2)
		}
	default:
		return shape(1)
	}
	return ""
}

func vlanReadable(name string) string {
	if _, ok := vlanID(name); !ok {
		return fmt.Sprintf("%q is no VLAN", name)
	}
	return ""
}

func ifaceReadable(table string, parts []string, rows map[string]any) string {
	if table == "VLAN_INTERFACE" && vlanReadable(parts[0]) != "" {
		return vlanReadable(parts[0])
	}
	switch {
	case len(parts) == 1:
		return ""
	case len(parts) > 2:
		return fmt.Sprintf("its key has %d parts", len(parts))
	}
	if _, err := netip.ParseAddr(parts[1]); err == nil {
		return "its address has no length"
	}
	if _, err := netip.ParsePrefix(parts[1]); err != nil {
		return fmt.Sprintf("%q is no address", parts[1])
	}
	if _, ok := rows[parts[0]]; !ok {
		return "there is no row " + table + "|" + parts[0] + ", without which no address is set"
	}
	return ""
}

// typeReadable is what is wrong with the fields of a row, "" if nothing is.
func typeReadable(row any) string {
	fields, ok := row.(map[string]any)
	if !ok {
		return "it holds no fields"
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		list, ok := fields[name].([]any)
		if !ok {
			list = []any{fields[name]}
		}
		for _, v := range list {
			switch v.(type) {
			case map[string]any, []any:
				return "its field " + name + " is no text"
			}
		}
	}
	return ""
}

// unreadOf sets the rows of a table aside that cannot be read, and keeps the others.
func (db *database) unreadOf(table string, rows map[string]any) map[string]any {
	kept := make(map[string]any, len(rows))
	for _, key := range slices.SortedFunc(maps.Keys(rows), intent.Natural) {
		value := rows[key]
		if value == nil {
			continue // no such row: see rowsOf
		}
		u := unreadRow{table: table, key: key, value: value, why: typeReadable(value)}
		if u.typed = u.why != ""; !u.typed {
			u.why = rowReadable(table, key, rows)
		}
		if u.why == "" {
			kept[key] = value
			continue
		}
		db.unread = append(db.unread, u)
	}
	return kept
}

// mostTold is how many rows of one table are told one by one.
const mostTold = 8

// told are the findings about what was not read.
func (db *database) told(device string) (list diag.List) {
	of := ""
	if device != "" {
		of = " of " + device
	}
	count := map[string]int{}
	for i := range db.unread {
		u := &db.unread[i]
		if count[u.table]++; count[u.table] > mostTold {
			continue
		}
		summary := fmt.Sprintf("%s%s cannot be read and stays as it is: %s", u, of, u.why)
		if u.whole {
			summary = fmt.Sprintf("table %s of %s %s, and stays as it is", u.table, cmp.Or(device, db.file), u.why)
		}
		list.Add(diag.Diagnostic{
			Severity: diag.Warning, Summary: summary,
			Help:   "correct or remove it on the switch: it was passed over, and config apply-patch may refuse every patch while it is there",
			Labels: db.at(u.table, u.key),
		})
	}
	for _, table := range order {
		if more := count[table] - mostTold; more > 0 {
			list.Add(diag.Diagnostic{
				Severity: diag.Warning, Summary: fmt.Sprintf("%d more rows of %s%s cannot be read and stay as they are", more, table, of),
				Help: "correct them on the switch or remove them there", Labels: db.at(table),
			})
		}
	}
	return list
}

// restore puts what was not read back where it stood.
func (db *database) restore(to map[string]any) map[string]any {
	for i := range db.unread {
		u := &db.unread[i]
		if u.whole {
			to[u.table] = u.value
			continue
		}
		rows, ok := to[u.table].(map[string]any)
		if !ok {
			rows = map[string]any{}
			to[u.table] = rows
		}
		rows[u.key] = u.value
	}
	return to
}

// claim takes back what is wanted all the same: rows that cannot be read for what their
// fields say, or for the row of the interface that is missing, where just these are
// written.
func (db *database) claim(want config) {
	db.unread = slices.DeleteFunc(db.unread, func(u unreadRow) bool {
		if u.whole || u.typed || want.normal.at(u.table, u.key) == nil {
			return false
		}
		rows := db.tables[u.table]
		if rows == nil {
			rows = map[string]map[string]any{}
			db.tables[u.table] = rows
		}
		rows[u.key], _ = u.value.(map[string]any)
		return true
	})
}

// spell writes the addresses of the wanted rows as the switch has them: in capitals,
// or with blanks about them. One address is one address, however it is spelled.
func (db *database) spell(want config) {
	for _, table := range ifaceTables {
		x := want.normal[table]
		if x == nil {
			continue
		}
		spelled := map[string]string{}
		for key := range db.rows(table) {
			if name := canonical(key); name != key {
				spelled[name] = key
			}
		}
		for i, key := range x.keys {
			if other := cmp.Or(spelled[key], db.spelled(table, key)); other != "" && db.rows(table)[key] == nil {
				x.keys[i] = other
				x.rows[other] = x.rows[key]
				delete(x.rows, key)
			}
		}
	}
}

// spelled is the key of a row that cannot be read for blanks about an address, "" if
// there is none.
func (db *database) spelled(table, key string) string {
	for i := range db.unread {
		if u := &db.unread[i]; u.table == table && !u.typed && u.key != key && canonical(u.key) == key {
			return u.key
		}
	}
	return ""
}

// canonical is the key of an address as it is written here, any other key as it is.
func canonical(key string) string {
	name, address, ok := strings.Cut(key, "|")
	a, err := netip.ParsePrefix(strings.TrimSpace(address))
	if !ok || err != nil {
		return key
	}
	return name + "|" + a.String()
}

// ifaceTables are the tables of interfaces, in the order of their kinds.
var ifaceTables = []string{"LOOPBACK_INTERFACE", "INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE"}

// blocked are the rows that cannot be read and that cannot stay beside what is wanted.
func (db *database) blocked(d *intent.Device, want config, gone []absence, moved []ifaceRow) (list diag.List) {
	for i := range db.unread {
		u := &db.unread[i]
		if in := db.blocks(u, want, gone, moved); in != "" {
			list.Add(diag.Diagnostic{
				Summary: fmt.Sprintf("%s of %s cannot be read (%s), and %s", u, d.Name, u.why, in),
				Help:    "correct it on the switch or remove it there, capture the running configuration again and repeat this",
				Labels:  db.at(u.table, u.key),
			})
		}
	}
	return list
}

// blocks says what a row stands in the way of, "" if of nothing.
func (db *database) blocks(u *unreadRow, want config, gone []absence, moved []ifaceRow) string {
	written := func(key string) bool {
		return want.normal.at(u.table, key) != nil || want.maintenance.at(u.table, key) != nil
	}
	name, rest, _ := strings.Cut(u.key, "|")
	switch {
	case u.whole:
		if want.normal[u.table] != nil || want.maintenance[u.table] != nil {
			return "rows of it are to be written"
		}
		return ""
	case written(u.key):
		return "it is to be written"
	case u.table == "MCLAG_DOMAIN" && want.normal[u.table] != nil:
		return "a switch has one domain [sonic-mclag.yang]"
	case slices.Contains(ifaceTables, u.table) && rest != "" && db.rows(u.table)[name] == nil && written(name) && canonical(u.key) == u.key:
		return "comes into force with " + u.table + "|" + name + ", which is to be written"
	case rest != "" && slices.Contains(moved, ifaceRow{u.table, name}):
		return name + " has to leave its VRF with all of its addresses"
	}
	for i := range gone {
		if a := &gone[i]; a.alone && a.table == u.table && matches(a.key, u.key) {
			return fmt.Sprintf("it excludes what is wanted of %s %s", a.from.Object, a.from.Name)
		}
	}
	return u.meets(want)
}

// leading is what stoul makes of a text: blanks, zeros and a sign may stand before it,
// and what follows it is not looked at.
var leading = regexp.MustCompile(`^\s*\+?0*([0-9]{1,2})`)

// meets finds a written row for queues or groups that a row may be for too: orchagent
// reads numbers by stoul, and several ports in one key [sonic-swss orchagent/orch.cpp
// parseIndexRange; qosorch.cpp, bufferorch.cpp: tokenize of list_item_delimiter].
func (u *unreadRow) meets(want config) string {
	if !slices.Contains(indexed, u.table) {
		return ""
	}
	ports, index, _ := strings.Cut(u.key, "|")
	var ends []string
	for end := range strings.SplitSeq(index, "-") {
		m := leading.FindStringSubmatch(end)
		if m == nil {
			return ""
		}
		ends = append(ends, m[1])
	}
	for port := range strings.SplitSeq(ports, ",") {
		for _, part := range []tables{want.normal, want.maintenance} {
			for key := range part.each(u.table) {
				if overlap(port+"|"+strings.Join(ends, "-"), key) {
					return u.table + "|" + key + " is to be written, which it may be for too"
				}
			}
		}
	}
	return ""
}

// spare keeps what was not read from the list of what must not be there.
func (db *database) spare(all []absence) []absence {
	for i := range all {
		a := &all[i]
		for j := range db.unread {
			if u := &db.unread[j]; !u.whole && u.table == a.table && matches(a.key, u.key) {
				a.keep = append(a.keep, u.key)
			}
		}
		slices.Sort(a.keep)
	}
	return all
}
