package sonic

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rocec/rocec/compiler/intent"
)

// modelsText are facts of SONiC's YANG models, one for each type that a field takes: those of every table that rocec writes and of the
// lists of buffer profiles. Of all other tables it has the name alone, and what is in them is taken as it is. A key is the names of the
// fields that make it up, or 'a name' that is given. What a field needs to be is
//
//	key, mandatory, optional
//	list         a list of texts
//	commas       a list that ConfigDB keeps as one text
//	name, value  of each of the fields of a row that is a map
//
// Of the cases of a choice one alone has fields. A string has its length behind it, and allowed are words, a pattern or a range.
//
//go:embed models.csv
var modelsText string

// errNoTable says that the models lack a table.
var errNoTable = errors.New("no such table in the models")

// fact is a type that a field takes. One that takes several has a fact for each.
type fact struct {
	field, need, choice, kind, allowed, fallback, table string
	pattern                                             *regexp.Regexp
	least, most                                         float64 // of a range or a length, none where most is 0
}

// form is what rows with one form of key are.
type form struct {
	key    []string
	names  []string           // of fields, in the order of the models
	fields map[string][]*fact // by name, those of a map by "<name>" and "<value>"
	rules  []*rule
}

// models are the forms of rows of each table; a table that is taken as it is has none.
var models = sync.OnceValue(func() map[string][]*form {
	r := csv.NewReader(strings.NewReader(modelsText))
	r.Comment = '#'
	lines, _ := r.ReadAll()
	tables := map[string][]*form{}
	for _, l := range lines[1:] {
		table, key, forms := l[0], l[1], tables[l[0]]
		if last := len(forms) - 1; key != "" && (last < 0 || strings.Join(forms[last].key, "|") != key) {
			f := &form{key: strings.Split(key, "|"), fields: map[string][]*fact{}}
			for i := range rules {
				if r := &rules[i]; r.table == table && (r.key == "" || r.key == key) {
					f.rules = append(f.rules, r)
				}
			}
			forms = append(forms, f)
		}
		tables[table] = forms
		if key != "" {
			forms[len(forms)-1].add(&fact{field: l[2], need: l[3], choice: l[4], kind: l[5], allowed: l[6], fallback: l[7], table: l[8]})
		}
	}
	return tables
})

func (f *form) add(x *fact) {
	bounds := x.allowed
	if kind, length, is := strings.Cut(x.kind, " "); is {
		x.kind, bounds = kind, length
	}
	if (x.kind == "string" || x.kind == "enumeration") && x.allowed != "" {
		x.pattern = regexp.MustCompile("^(?:" + x.allowed + ")$")
	}
	if least, most, is := strings.Cut(bounds, ".."); is {
		x.least, _ = strconv.ParseFloat(least, 64)
		x.most, _ = strconv.ParseFloat(most, 64)
	}
	name := x.field
	if x.need == "name" || x.need == "value" {
		name = "<" + x.need + ">"
	}
	if f.fields[name] == nil {
		f.names = append(f.names, name)
	}
	f.fields[name] = append(f.fields[name], x)
}

// valid is why the models do not accept a database, nil where they do. The words are libyang's.
func (db database) valid() error {
	names := slices.Sorted(maps.Keys(db))
	for _, table := range names {
		if _, known := models()[table]; !known {
			return fmt.Errorf("%s: %w", table, errNoTable)
		}
	}
	for _, table := range names {
		forms := models()[table]
		for _, key := range slices.SortedFunc(maps.Keys(db[table]), intent.Natural) {
			if forms == nil {
				break
			}
			e := entry{db: db, key: key, parts: strings.Split(key, "|"), row: db[table][key]}
			i := slices.IndexFunc(forms, e.is)
			if i < 0 {
				return refusal("%s|%s: no row of %d part(s) in the models", table, key, len(e.parts))
			}
			e.form = forms[i]
			if at, err := e.valid(); err != nil {
				return refusal("%s: %v", strings.TrimSuffix(table+"|"+key+", field "+at, ", field "), err)
			}
		}
	}
	return nil
}

// entry is a row that is held against the models.
type entry struct {
	db    database
	form  *form
	key   string
	parts []string
	row   map[string]any
}

// is tells whether the row has a form.
func (e entry) is(f *form) bool {
	if f.key[0][0] == '\'' {
		return f.key[0] == "'"+e.key+"'"
	}
	return len(f.key) == len(e.parts)
}

// valid is what is wrong with the row, and the field that has it, "" where the row itself does.
func (e entry) valid() (field string, err error) {
	there := map[string]bool{"": true} // fields and cases that the row has
	for i, name := range e.form.key {
		there[name] = true
		if facts := e.form.fields[name]; facts != nil {
			if err := e.db.takes(facts, e.parts[i]); err != nil {
				return name, err
			}
		}
	}
	cases := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(e.row)) {
		facts := e.form.fields[name]
		if names := e.form.fields["<name>"]; names != nil {
			facts = e.form.fields["<value>"]
			if err := e.db.takes(names, name); err != nil {
				return name, err
			}
		}
		if facts == nil || facts[0].need == "key" {
			return "", refusal("no field %s in the models", name)
		}
		list, err := e.values(facts[0].need, name)
		for i := 0; i < len(list) && err == nil; i++ {
			if err = e.db.takes(facts, list[i]); err == nil && slices.Contains(list[:i], list[i]) {
				err = refusal("Duplicate instance of %q.", list[i])
			}
		}
		if err != nil {
			return name, err
		}
		there[name], there[facts[0].choice] = true, true
		choice, one, _ := strings.Cut(facts[0].choice, "/")
		if other := cases[choice]; other != "" && other != one {
			return name, refusal("Data for both cases %q and %q exist.", other, one)
		}
		cases[choice] = one
	}
	for _, r := range e.form.rules {
		switch holds := r.holds(e); {
		case there[r.at] && !holds:
			return r.at, refusal("%s condition not satisfied: %s.", map[bool]string{true: "When", false: "Must"}[r.when], r.says)
		case r.when && !holds:
			there[r.at] = true // it cannot be there, mandatory as it may be
		}
	}
	for _, name := range e.form.names {
		if e.form.fields[name][0].need == "mandatory" && !there[name] {
			return name, refusal("Mandatory node %q instance does not exist.", name)
		}
	}
	return "", nil
}

// values are the texts of a field.
func (e entry) values(need, name string) (list []string, err error) {
	text, isText := e.row[name].(string)
	switch items, isList := e.row[name].([]any); {
	case need == "list" && isList:
		for _, v := range items {
			list = append(list, fmt.Sprint(v))
		}
	case need == "list":
		return nil, refusal("an array of strings is wanted")
	case need == "commas" && isText:
		for v := range strings.SplitSeq(text, ",") {
			list = append(list, strings.TrimSpace(v))
		}
	case !isText:
		return nil, refusal("a string is wanted")
	default:
		list = []string{text}
	}
	return list, nil
}

// takes is why none of the types of a field takes a text.
func (db database) takes(facts []*fact, text string) (err error) {
	for _, x := range facts {
		if err = db.fits(x, text); err == nil {
			return nil
		}
	}
	if len(facts) > 1 {
		return refusal("Invalid union value %q - no matching subtype found.", text)
	}
	return err
}

var (
	integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9])?$`)
)

// fits is why a type does not take a text.
func (db database) fits(x *fact, text string) error {
	size := float64(utf8.RuneCountInString(text))
	wrong := func() error { return refusal("Invalid type %s value %q.", x.kind, text) }
	switch x.kind {
	case "leafref":
		if db[x.table][text] == nil {
			return refusal("Invalid leafref value %q - no row of %s has that name.", text, x.table)
		}
	case "enumeration":
		if !x.pattern.MatchString(text) {
			return refusal("Invalid enumeration value %q.", text)
		}
	case "string":
		if x.pattern != nil && !x.pattern.MatchString(text) {
			return refusal("Unsatisfied pattern - %q does not conform to %q.", text, x.allowed)
		}
		if x.most > 0 && (size < x.least || size > x.most) {
			return refusal("Unsatisfied length - string %q length is not allowed.", text)
		}
	case "boolean":
		if text != "true" && text != "false" {
			return wrong()
		}
	case "decimal64":
		if !decimal.MatchString(text) {
			return wrong()
		}
	case "ipv4-address", "ipv6-address":
		text, _, _ = strings.Cut(text, "%")
		if a, err := netip.ParseAddr(text); err != nil || a.Is4() != (x.kind == "ipv4-address") {
			return wrong()
		}
	case "ipv4-prefix", "ipv6-prefix":
		if p, err := netip.ParsePrefix(text); err != nil || p.Addr().Is4() != (x.kind == "ipv4-prefix") {
			return wrong()
		}
	default:
		v, err := strconv.ParseFloat(text, 64)
		bits, _ := strconv.Atoi(strings.TrimLeft(x.kind, "uint"))
		if _, over := strconv.ParseUint(text, 10, bits); x.kind[0] == 'u' {
			err = errors.Join(err, over)
		} else if _, over := strconv.ParseInt(text, 10, bits); over != nil {
			err = over
		}
		switch {
		case err != nil || bits < 64 && !integer.MatchString(text): // JSON has 64 bits as text
			return wrong()
		case x.most > 0 && (v < x.least || v > x.most):
			return refusal("Unsatisfied range - value %q is out of the allowed range %s.", text, x.allowed)
		}
	}
	return nil
}
