package cabling

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// node is a value of JSON with its place.
type node struct {
	kind  byte // '{', '[', '"', or 'x' for all others
	text  string
	start uint32
	end   uint32
	names []node // of an object, beside kids
	kids  []node
}

const maxJSONDepth = 32

var errDeep = errors.New("values stand more than 32 deep in each other")

// tree reads JSON with the places of its texts.
func tree(src []byte) (node, int, error) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	t := treeReader{src: src, d: d}
	n, err := t.value(0)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows the value")
		}
	}
	return n, int(d.InputOffset()), err
}

type treeReader struct {
	src []byte
	d   *json.Decoder
}

func (t *treeReader) token() (json.Token, uint32, uint32, error) {
	from := int(t.d.InputOffset())
	tok, err := t.d.Token()
	end := int(t.d.InputOffset())
	for from < end && bytes.IndexByte([]byte(" \t\r\n,:"), t.src[from]) >= 0 {
		from++
	}
	return tok, uint32(from), uint32(end), err
}

func (t *treeReader) value(depth int) (node, error) {
	tok, start, end, err := t.token()
	if err != nil {
		return node{}, err
	}
	return t.rest(tok, start, end, depth)
}

func (t *treeReader) rest(tok json.Token, start, end uint32, depth int) (node, error) {
	if depth > maxJSONDepth {
		return node{}, errDeep
	}
	n := node{kind: 'x', start: start, end: end}
	switch tok := tok.(type) {
	case string:
		n.kind, n.text = '"', tok
	case json.Number:
		n.text = tok.String()
	case json.Delim:
		n.kind = byte(tok)
		for t.d.More() {
			if n.kind == '{' {
				name, start, end, err := t.token()
				if err != nil {
					return n, err
				}
				text, _ := name.(string)
				n.names = append(n.names, node{kind: '"', text: text, start: start, end: end})
			}
			kid, err := t.value(depth + 1)
			if err != nil {
				return n, err
			}
			n.kids = append(n.kids, kid)
		}
		_, _, close, err := t.token()
		if err != nil {
			return n, err
		}
		n.end = close
	}
	return n, nil
}

// get is a member of an object, or of the only object in a list; nil if there is none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	if n.kind == '[' && len(n.kids) == 1 {
		n = &n.kids[0]
	}
	if n.kind != '{' {
		return nil
	}
	for i := range n.names {
		if n.names[i].text == name {
			return &n.kids[i]
		}
	}
	return nil
}

// str is a text, also in the forms {"value": "x"} and [{"value": "x"}]; nil if there is none.
func (n *node) str() *node {
	if n == nil {
		return nil
	}
	if n.kind == '[' && len(n.kids) > 0 {
		n = &n.kids[0]
	}
	if n.kind == '{' {
		n = n.get("value")
	}
	if n == nil || n.kind != '"' {
		return nil
	}
	return n
}
