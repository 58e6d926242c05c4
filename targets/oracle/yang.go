package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Yang fails t unless the SONiC YANG models accept configDB, the text of a config_db.json: every table and field is known, every
// value has its type, range and pattern, every reference leads to a row, every must and when holds.
func Yang(t testing.TB, configDB []byte) {
	t.Helper()
	if err := SONiC(t).Valid(configDB); err != nil {
		t.Errorf("config_db.json is not what the SONiC models accept: %v", err)
	}
}

// Models are SONiC's YANG models, which yanglint has compiled. A table is a child of the container that carries its module's name.
// https://github.com/sonic-net/SONiC/blob/master/doc/mgmt/SONiC_YANG_Model_Guidelines.md
type Models struct {
	Tables map[string]*Statement // the container of each
	Module map[string]string     // of each table
	dir    string
}

// Statement is a statement of a compiled model: typedefs, groupings and augments are in their places.
type Statement struct {
	Keyword, Arg string
	Sub          []*Statement
}

var compiled sync.Map // by folder: func() (*Models, error)

// SONiC are the models among the oracles of others. It skips t, as Need does, where they or yanglint are not.
func SONiC(t testing.TB) *Models {
	t.Helper()
	Need(t, SONiCModels)
	dir, err := others(SONiCModels)
	if err != nil {
		t.Fatal(err)
	}
	once, _ := compiled.LoadOrStore(dir, sync.OnceValues(func() (*Models, error) { return compile(dir) }))
	ms, err := once.(func() (*Models, error))()
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

// compile reads what yanglint prints of all modules of a folder.
func compile(dir string) (*Models, error) {
	modules, err := modulesOf(dir)
	if err != nil {
		return nil, err
	}
	ms := &Models{Tables: map[string]*Statement{}, Module: map[string]string{}, dir: dir}
	for _, m := range modules {
		for _, top := range m.All("container") {
			for _, table := range top.All("container") {
				if other, twice := ms.Module[table.Arg]; twice {
					return nil, fmt.Errorf("table %s is in %s and in %s", table.Arg, other, m.Arg)
				}
				ms.Tables[table.Arg], ms.Module[table.Arg] = table, m.Arg
			}
		}
	}
	return ms, nil
}

// modulesOf are the modules of a folder, compiled.
func modulesOf(dir string) (list []*Statement, err error) {
	text, err := yanglint(dir, "-f", "info")
	if err != nil {
		return nil, err
	}
	for p := (printed{text: text}); p.peek() != 0; {
		m, err := p.statement()
		if err != nil {
			return nil, fmt.Errorf("yanglint -f info: %w", err)
		}
		list = append(list, m)
	}
	return list, nil
}

// InetTypes are types of ietf-inet-types, which are built into yanglint, by the patterns that compiled models have in their place.
func InetTypes(t testing.TB, names ...string) map[string]string {
	t.Helper()
	Need(t, "yanglint")
	text := "module probe { namespace probe; prefix p; import ietf-inet-types { prefix inet; }"
	for _, name := range names {
		text += " leaf " + name + " { type inet:" + name + "; }"
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "probe.yang"), []byte(text+" }"), 0o644); err != nil {
		t.Fatal(err)
	}
	modules, err := modulesOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	byPatterns := map[string]string{}
	for _, leaf := range modules[0].All("leaf") {
		byPatterns[leaf.Types()[0].Args("pattern")] = leaf.Arg
	}
	return byPatterns
}

// yanglint runs it with all modules of a folder.
func yanglint(dir, option, value string, files ...string) (string, error) {
	schemas, err := filepath.Glob(filepath.Join(dir, "*.yang"))
	if err != nil {
		return "", err
	}
	return run(dir, nil, "yanglint", slices.Concat([]string{"-Q", "-ii", "-p", dir, option, value}, schemas, files)...)
}

// Valid is why the models do not accept a config_db.json, nil where they do.
func (ms *Models) Valid(configDB []byte) error {
	data, err := ms.translate(configDB)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp("", "rocec-config-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = yanglint(ms.dir, "-t", "config", f.Name())
	return err
}

// Accepts tells of many config_db.json whether the models accept each. One yanglint judges them all: what it takes it prints.
func (ms *Models) Accepts(t testing.TB, many [][]byte) []bool {
	t.Helper()
	dir, file := t.TempDir(), func(i int, kind string) string { return fmt.Sprintf("%d.%s.json", i, kind) }
	schemas, err := filepath.Glob(filepath.Join(ms.dir, "*.yang"))
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	fmt.Fprintf(&lines, "searchpath %s\nadd -ii %s\n", ms.dir, strings.Join(schemas, " "))
	for i, configDB := range many {
		data, err := ms.translate(configDB)
		if err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, file(i, "in")), data, 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "data -t config -f json -o %s %s\n", file(i, "out"), file(i, "in"))
	}
	cmd := exec.CommandContext(t.Context(), "yanglint")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, append(os.Environ(), "HOME="+dir, "LC_ALL=C"), &lines
	said, err := cmd.CombinedOutput()
	accepted := make([]bool, len(many))
	for i := range many {
		out, err := os.ReadFile(filepath.Join(dir, file(i, "out")))
		accepted[i] = err == nil && len(out) > 0
	}
	if err != nil && !slices.Contains(accepted, true) {
		t.Fatalf("yanglint: %v: %s", err, said)
	}
	return accepted
}

// All are the statements directly below with a keyword.
func (s *Statement) All(keyword string) (list []*Statement) {
	for _, c := range s.Sub {
		if c.Keyword == keyword {
			list = append(list, c)
		}
	}
	return list
}

// ArgOf is the argument of the first statement below with the keyword, "" if there is none.
func (s *Statement) ArgOf(keyword string) string {
	for _, c := range s.All(keyword) {
		return c.Arg
	}
	return ""
}

// Args are the arguments of the statements below with the keyword, one a line.
func (s *Statement) Args(keyword string) string {
	var list []string
	for _, c := range s.All(keyword) {
		list = append(list, c.Arg)
	}
	return strings.Join(list, "\n")
}

// Nodes are the nodes of data directly below, those of choices among them.
func (s *Statement) Nodes() (list []*Statement) {
	for _, c := range s.Sub {
		switch c.Keyword {
		case "leaf", "leaf-list", "list", "container":
			list = append(list, c)
		case "choice", "case":
			list = append(list, c.Nodes()...)
		}
	}
	return list
}

// Keys are the names of a list's keys. Yanglint 2.1 prints them without what parts them; they are its first leaves.
func (s *Statement) Keys() (names []string) {
	left := strings.NewReplacer(",", "", " ", "").Replace(s.ArgOf("key"))
	for _, n := range s.Nodes() {
		if left == "" {
			break
		}
		names, left = append(names, n.Arg), strings.TrimPrefix(left, n.Arg)
	}
	return names
}

// Types are those of a leaf, each member of a union for itself.
func (s *Statement) Types() (list []*Statement) {
	for _, typ := range s.All("type") {
		if typ.Arg == "union" {
			list = append(list, typ.Types()...)
		} else {
			list = append(list, typ)
		}
	}
	return list
}

// printed is text that yanglint printed, of which some is read.
type printed struct {
	text string
	pos  int
}

// peek is the next character that is no blank, 0 at the end.
func (p *printed) peek() byte {
	p.pos = len(p.text) - len(strings.TrimLeft(p.text[p.pos:], " \t\r\n"))
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

var word = regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"|[^\s;{}"]+)`)

// word is a word, or what quotes hold.
func (p *printed) word() string {
	p.peek()
	found := word.FindString(p.text[p.pos:])
	p.pos += len(found)
	if !strings.HasPrefix(found, `"`) {
		return found
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace(found[1 : len(found)-1])
}

func (p *printed) statement() (*Statement, error) {
	s := &Statement{Keyword: p.word(), Arg: p.word()}
	switch end := p.peek(); {
	case s.Keyword == "" || end != ';' && end != '{':
		return nil, fmt.Errorf("no statement: %.40q", p.text[p.pos:])
	case end == ';':
		p.pos++
		return s, nil
	}
	for p.pos++; p.peek() != '}'; {
		c, err := p.statement()
		if err != nil {
			return nil, err
		}
		s.Sub = append(s.Sub, c)
	}
	p.pos++
	return s, nil
}

// object is a JSON object.
type object = map[string]any

// parseObject reads one JSON object. A name given twice is an error, since a reader of the file would see only one of the two.
func parseObject(text []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d, "")
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the JSON value")
	}
	o, ok := v.(object)
	if !ok {
		return nil, errors.New("a JSON object is wanted")
	}
	return o, nil
}

func parseValue(d *json.Decoder, path string) (any, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d, path)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		o := object{}
		for d.More() {
			tok, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := tok.(string) // the decoder accepts nothing else before a colon
			if _, twice := o[name]; twice {
				return nil, fmt.Errorf("%s|%s is there twice", path, name)
			}
			if o[name], err = parseValue(d, strings.TrimPrefix(path+"|"+name, "|")); err != nil {
				return nil, err
			}
		}
		_, err := d.Token()
		return o, err
	}
	return tok, nil
}

// translate turns the text of a config_db.json into the JSON encoding (RFC 7951) of the same data under the models. Everything the
// models do not know, and every shape ConfigDB does not have, is an error; all of them are reported.
func (ms *Models) translate(configDB []byte) ([]byte, error) {
	db, err := parseObject(configDB)
	if err != nil {
		return nil, err
	}
	out, errs := object{}, []error(nil)
	for _, name := range slices.Sorted(maps.Keys(db)) {
		rows, ok := db[name].(object)
		switch table := ms.Tables[name]; {
		case table == nil:
			errs = append(errs, fmt.Errorf("%s: no such table in the models", name))
		case !ok:
			errs = append(errs, fmt.Errorf("%s: rows are wanted", name))
		default:
			body, err := translateTable(table, rows)
			errs = append(errs, err)
			m := ms.Module[name]
			top, _ := out[m+":"+m].(object)
			if top == nil {
				top = object{}
				out[m+":"+m] = top
			}
			top[m+":"+name] = body
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return json.MarshalIndent(out, "", " ")
}

// translateTable turns the rows of one table into the content of its container: a list entry per row, or a container where the model
// names the row itself (DEVICE_METADATA|localhost).
func translateTable(table *Statement, rows object) (object, error) {
	out, errs := object{}, []error(nil)
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		path := table.Arg + "|" + key
		fields, ok := rows[key].(object)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: fields are wanted", path))
			continue
		}
		node, parts := rowNode(table, key)
		if node == nil {
			errs = append(errs, fmt.Errorf("%s: no row of %d part(s) in the models", path, strings.Count(key, "|")+1))
			continue
		}
		entry, err := translateRow(node, parts, table.Arg, path, fields)
		errs = append(errs, err)
		if node.Keyword == "container" {
			out[node.Arg] = entry
			continue
		}
		list, _ := out[node.Arg].([]any)
		out[node.Arg] = append(list, entry)
	}
	return out, errors.Join(errs...)
}

// rowNode finds the node a row belongs to: the container of its name, else the one list with as many keys as the name has parts.
func rowNode(table *Statement, row string) (*Statement, []string) {
	parts := strings.Split(row, "|")
	for _, n := range table.Nodes() {
		switch {
		case n.Keyword == "container" && n.Arg == row:
			return n, nil
		case n.Keyword == "list" && len(n.Keys()) == len(parts):
			return n, parts
		}
	}
	return nil, nil
}

// translateRow turns one row's fields into the members of its list entry. Where the model has a list in it (DSCP_TO_TC_MAP,
// CABLE_LENGTH), each field is an entry there: its name is the key, its value the one other leaf.
func translateRow(node *Statement, parts []string, table, path string, fields object) (object, error) {
	out, errs := object{}, []error(nil)
	byName := map[string]*Statement{}
	keys := node.Keys()
	for _, n := range node.Nodes() {
		byName[n.Arg] = n
	}
	for i, name := range keys {
		out[name] = encode(byName[name], parts[i])
	}
	if inner := node.All("list"); len(inner) == 1 && len(inner[0].Nodes()) == 2 {
		list, leaves := []any{}, inner[0].Nodes()
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			s, ok := fields[name].(string)
			if !ok {
				errs = append(errs, fmt.Errorf("%s|%s: a string is wanted", path, name))
			}
			list = append(list, object{leaves[0].Arg: encode(leaves[0], name), leaves[1].Arg: encode(leaves[1], s)})
		}
		out[inner[0].Arg] = list
		return out, errors.Join(errs...)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		n := byName[name]
		if n == nil || slices.Contains(keys, name) {
			errs = append(errs, fmt.Errorf("%s: no field %s in the models", path, name))
			continue
		}
		v, err := translateField(n, table, fields[name])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s|%s: %w", path, name, err))
		}
		out[name] = v
	}
	return out, errors.Join(errs...)
}

// translateField converts one field. ConfigDB knows strings, and arrays of strings for most leaf-lists.
func translateField(n *Statement, table string, value any) (any, error) {
	text, isText := value.(string)
	switch n.Keyword {
	case "leaf":
		if !isText {
			return nil, errors.New("a string is wanted")
		}
		return encode(n, text), nil
	case "leaf-list":
		list := []any{}
		items, isList := value.([]any)
		if isText && CommaList(table, n.Arg) {
			isList = true
			for item := range strings.SplitSeq(text, ",") {
				items = append(items, strings.TrimSpace(item))
			}
		}
		for _, item := range items {
			s, ok := item.(string)
			isList = isList && ok
			list = append(list, encode(n, s))
		}
		if !isList {
			return nil, errors.New("an array of strings is wanted")
		}
		return list, nil
	}
	return nil, fmt.Errorf("%s %s is not a field", n.Keyword, n.Arg)
}

// CommaList says whether ConfigDB keeps the leaf-list as one string with commas: the table LEAF_LIST_WITH_STRING_VALUE_DICT of
// sonic-buildimage src/sonic-yang-mgmt/sonic_yang_ext.py (commit 0f249daa), for the tables of the models here. All others are arrays.
func CommaList(table, field string) bool {
	switch table + "." + field {
	case "MIRROR_SESSION.src_ip",
		"BUFFER_PORT_EGRESS_PROFILE_LIST.profile_list",
		"BUFFER_PORT_INGRESS_PROFILE_LIST.profile_list",
		"PORT.adv_speeds",
		"PORT.adv_interface_types":
		return true
	}
	return false
}

// encode encodes the text of one leaf, or of one element of a leaf-list, as RFC 7951 section 6 wants it for the leaf's type. Text that
// the type does not take stays a string: yanglint then rejects it with the model's own message.
func encode(leaf *Statement, text string) any {
	for _, typ := range leaf.Types() {
		for typ.Arg == "leafref" {
			typ = typ.Types()[0] // of the leaf that it leads to
		}
		switch typ.Arg {
		case "int8", "int16", "int32", "uint8", "uint16", "uint32":
			if integer.MatchString(text) {
				return json.Number(text)
			}
		case "boolean":
			if text == "true" || text == "false" {
				return text == "true"
			}
		case "enumeration":
			if slices.ContainsFunc(typ.All("enum"), func(e *Statement) bool { return e.Arg == text }) {
				return text
			}
		default:
			if !slices.ContainsFunc(typ.All("pattern"), func(p *Statement) bool { return !matches(p.Arg, text) }) {
				return text
			}
		}
	}
	return text
}

// integer is what JSON takes for one.
var integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// matches says whether text fits a pattern. XSD patterns are anchored; those that Go's regexp does not understand are taken to match,
// and yanglint decides.
func matches(pattern, text string) bool {
	re, known := patterns.Load(pattern)
	if !known {
		compiled, _ := regexp.Compile("^(?:" + pattern + ")$")
		re, _ = patterns.LoadOrStore(pattern, compiled)
	}
	return re.(*regexp.Regexp) == nil || re.(*regexp.Regexp).MatchString(text)
}

var patterns sync.Map // compiled, nil where Go cannot
