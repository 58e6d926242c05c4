package yang

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// stmt is one YANG statement (RFC 7950 section 6.3): keyword, argument, substatements.
type stmt struct {
	keyword, arg string
	sub          []*stmt
	line         int
}

// one returns the first substatement with the keyword, nil if there is none.
func (s *stmt) one(keyword string) *stmt {
	for _, c := range s.sub {
		if c.keyword == keyword {
			return c
		}
	}
	return nil
}

// argOf returns the argument of the first substatement with the keyword, "" if there is none.
func (s *stmt) argOf(keyword string) string {
	if c := s.one(keyword); c != nil {
		return c.arg
	}
	return ""
}

// module is one parsed .yang file.
type module struct {
	name     string
	body     *stmt
	imports  map[string]string // prefix -> module name; the module's own prefix is among them
	typedefs map[string]*stmt
	groups   map[string]*stmt
}

// table is one ConfigDB table: a child of the container that carries its module's name.
// https://github.com/sonic-net/SONiC/blob/master/doc/mgmt/SONiC_YANG_Model_Guidelines.md
type table struct {
	mod  *module
	node *stmt
}

// models is a folder of SONiC YANG modules.
type models struct {
	modules map[string]*module
	tables  map[string]table
}

// load parses every .yang file of a folder.
func load(fsys fs.FS) (*models, error) {
	names, err := fs.Glob(fsys, "*.yang")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("there are no .yang files")
	}
	ms := &models{modules: map[string]*module{}, tables: map[string]table{}}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		if err := ms.add(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return ms, nil
}

// add parses one module and enters its tables.
func (ms *models) add(text string) error {
	body, err := parse(text)
	if err != nil {
		return err
	}
	m := &module{
		name:     body.arg,
		body:     body,
		imports:  map[string]string{body.argOf("prefix"): body.arg},
		typedefs: map[string]*stmt{},
		groups:   map[string]*stmt{},
	}
	ms.modules[m.name] = m
	if err := m.types(body); err != nil {
		return err
	}
	for _, s := range body.sub {
		switch s.keyword {
		case "import":
			m.imports[s.argOf("prefix")] = s.arg
		case "grouping":
			m.groups[s.arg] = s
		case "augment", "deviation", "include":
			return fmt.Errorf("line %d: %s is not understood here", s.line, s.keyword)
		}
	}
	for _, top := range body.sub {
		if top.keyword != "container" {
			continue
		}
		for _, s := range top.sub {
			if s.keyword != "container" {
				continue
			}
			if old, ok := ms.tables[s.arg]; ok {
				return fmt.Errorf("line %d: table %s is in %s too", s.line, s.arg, old.mod.name)
			}
			ms.tables[s.arg] = table{mod: m, node: s}
		}
	}
	return nil
}

// types enters every typedef below s. One inside a container is visible in that container only; the models use no name twice in a
// module, so that a flat table does, and a second use is an error.
func (m *module) types(s *stmt) error {
	for _, c := range s.sub {
		if c.keyword == "typedef" {
			if m.typedefs[c.arg] != nil {
				return fmt.Errorf("line %d: typedef %s is there twice", c.line, c.arg)
			}
			m.typedefs[c.arg] = c
		}
		if err := m.types(c); err != nil {
			return err
		}
	}
	return nil
}

// nodes returns the data nodes directly below s, with the groupings it uses put in their place.
func (m *module) nodes(s *stmt) ([]*stmt, error) {
	var out []*stmt
	for _, c := range s.sub {
		switch c.keyword {
		case "leaf", "leaf-list", "list", "container":
			out = append(out, c)
		case "uses":
			g, ok := m.groups[c.arg]
			if !ok {
				return nil, fmt.Errorf("%s line %d: grouping %s is not in the module", m.name, c.line, c.arg)
			}
			inner, err := m.nodes(g)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		case "choice", "anydata", "anyxml", "augment":
			return nil, fmt.Errorf("%s line %d: %s is not understood here", m.name, c.line, c.keyword)
		}
	}
	return out, nil
}

// parse parses the text of one module.
func parse(text string) (*stmt, error) {
	p := &parser{text: text, line: 1}
	s, err := p.statement()
	if err != nil {
		return nil, err
	}
	if s.keyword != "module" {
		return nil, fmt.Errorf("line %d: %s where module is wanted", s.line, s.keyword)
	}
	if p.space(); p.pos < len(p.text) {
		return nil, fmt.Errorf("line %d: text after the module", p.line)
	}
	return s, nil
}

type parser struct {
	text      string
	pos, line int
}

// space skips white space and comments.
func (p *parser) space() {
	for p.pos < len(p.text) {
		rest := p.text[p.pos:]
		n := 0
		switch {
		case strings.HasPrefix(rest, "//"):
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			if n = strings.Index(rest, "*/") + 2; n < 2 {
				n = len(rest)
			}
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			n = 1
		default:
			return
		}
		p.line += strings.Count(rest[:n], "\n")
		p.pos += n
	}
}

// word reads an unquoted string.
func (p *parser) word() string {
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n;{}", p.text[p.pos]) < 0 {
		p.pos++
	}
	return p.text[start:p.pos]
}

// statement reads one statement with all below it.
func (p *parser) statement() (*stmt, error) {
	p.space()
	s := &stmt{line: p.line, keyword: p.word()}
	if s.keyword == "" {
		return nil, fmt.Errorf("line %d: a statement is wanted", p.line)
	}
	var err error
	if s.arg, err = p.argument(); err != nil {
		return nil, err
	}
	if p.space(); p.pos == len(p.text) {
		return nil, fmt.Errorf("line %d: %s has no end", s.line, s.keyword)
	}
	p.pos++
	switch p.text[p.pos-1] {
	case ';':
		return s, nil
	case '{':
	default:
		return nil, fmt.Errorf("line %d: ; or { is wanted after %s", p.line, s.keyword)
	}
	for {
		if p.space(); p.pos < len(p.text) && p.text[p.pos] == '}' {
			p.pos++
			return s, nil
		}
		c, err := p.statement()
		if err != nil {
			return nil, err
		}
		s.sub = append(s.sub, c)
	}
}

// argument reads a statement's argument: a bare word, or quoted strings joined by +.
func (p *parser) argument() (string, error) {
	if p.space(); p.pos == len(p.text) {
		return "", nil
	}
	if c := p.text[p.pos]; c != '"' && c != '\'' {
		return p.word(), nil
	}
	var out strings.Builder
	for {
		quote := p.text[p.pos]
		p.pos++
		for p.pos < len(p.text) && p.text[p.pos] != quote {
			c := p.text[p.pos]
			if c == '\n' {
				p.line++
			}
			if c == '\\' && quote == '"' && p.pos+1 < len(p.text) {
				p.pos++
				c = unescape(p.text[p.pos], &out)
			}
			out.WriteByte(c)
			p.pos++
		}
		if p.pos == len(p.text) {
			return "", fmt.Errorf("line %d: a quoted string has no end", p.line)
		}
		p.pos++
		if p.space(); p.pos == len(p.text) || p.text[p.pos] != '+' {
			return out.String(), nil
		}
		p.pos++
		if p.space(); p.pos == len(p.text) || p.text[p.pos] != '"' && p.text[p.pos] != '\'' {
			return "", fmt.Errorf("line %d: a quoted string is wanted after +", p.line)
		}
	}
}

// unescape returns the byte an escape stands for. Another character than the four of RFC 7950 section 6.1.3 keeps its backslash,
// which YANG 1.0 modules rely on in patterns.
func unescape(c byte, out *strings.Builder) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case '"', '\\':
		return c
	}
	out.WriteByte('\\')
	return c
}
