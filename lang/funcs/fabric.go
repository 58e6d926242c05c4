package funcs

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

func fabricFuncs(env Env, r *reader) []Func {
	const group = "fabric"
	return []Func{
		{"capability", "capability(model, fact)", "A fact that capability data states of a switch or NIC model.", `capability("nvidia/sn5600", "cell")`, `192`, group, capabilityFunc(env)},
		{"dscp", "dscp(value)", "The number of a DSCP, which is given by name (CS0 to CS7, AF11 to AF43, EF, VA, LE) or by number.", `dscp("AF31")`, `26`, group, dscpFunc()},
		{"expand_range", "expand_range(range)", "The names that a range stands for. At most 65536 of them.", `expand_range("swp[1-3,9]")`, `["swp1", "swp2", "swp3", "swp9"]`, group, expandRangeFunc()},
		{"headroom", "headroom(link)", "Bytes of headroom one lossless class needs on a port by the reference formula. The object has speed, length and mtu_rx, and optionally mtu_tx (mtu_rx), extra (0), quanta (the standard's) and cell.", `headroom({ speed = "100G", length = "5m", mtu_rx = 1500 })`, `29016`, group, headroomFunc(env)},
		{"rows", "rows(file, key)", "The rows of a CSV file of the module as a map of objects by a key column. A table without rows is an error. As the whole of for_each it is read row by row; elsewhere at most 1048576 cells.", `rows("inventory/nodes.csv", "name")["gpu02"].slot`, `"2"`, group, rowsFunc(r)},
	}
}

func capabilityFunc(env Env) function.Function {
	return fn(text("model", "fact"), dyn, func(args []cty.Value) (cty.Value, error) {
		if env.Capability == nil {
			return cty.NilVal, errors.New("capability data cannot be asked here")
		}
		v, err := env.Capability(args[0].AsString(), args[1].AsString())
		if err == nil && v == cty.NilVal {
			err = fmt.Errorf("model %q states no fact %q", clip(args[0].AsString()), clip(args[1].AsString()))
		}
		return v, err
	})
}

func dscpFunc() function.Function {
	return fn(text("value"), cty.Number, func(args []cty.Value) (cty.Value, error) {
		n, err := ParseDSCP(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		return cty.NumberIntVal(int64(n)), nil
	})
}

func expandRangeFunc() function.Function {
	return fn(text("range"), cty.List(cty.String), func(args []cty.Value) (cty.Value, error) {
		r, err := ParseRange(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "range %q at byte %d: %s", clip(args[0].AsString()), err.(*RangeError).Offset, err)
		}
		names, err := r.Names()
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		return stringList(names), nil
	})
}

func headroomFunc(env Env) function.Function {
	return fn([]function.Parameter{param("link", dyn)}, cty.Number, func(args []cty.Value) (cty.Value, error) {
		if env.Headroom == nil {
			return cty.NilVal, errors.New("headroom cannot be computed here")
		}
		t := args[0].Type()
		if !t.IsObjectType() && !t.IsMapType() {
			return cty.NilVal, function.NewArgErrorf(0, "an object is needed, with speed, length and mtu_rx")
		}
		link, err := linkArgs(args[0].AsValueMap())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		n, err := env.Headroom(link)
		return cty.NumberIntVal(n), err
	})
}

func linkArgs(attrs map[string]cty.Value) (HeadroomArgs, error) {
	a := linkReader{attrs: attrs}
	h := HeadroomArgs{
		Mbps:       a.written("speed", ParseSpeed),
		CableMm:    a.written("length", ParseLength),
		MTURx:      a.written("mtu_rx", ParseBytes),
		MTUTx:      -1,
		ExtraBytes: a.optional("extra", ParseBytes),
		Quanta:     a.optional("quanta", plainNumber),
		CellBytes:  a.optional("cell", ParseBytes),
	}
	h.MTUTx = h.MTURx
	if a.has("mtu_tx") {
		h.MTUTx = a.written("mtu_tx", ParseBytes)
	}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		switch name {
		case "speed", "length", "mtu_rx", "mtu_tx", "extra", "quanta", "cell":
		default:
			return h, fmt.Errorf("there is no attribute %q: speed, length, mtu_rx, mtu_tx, extra, quanta and cell are understood", clip(name))
		}
	}
	return h, a.err
}

// linkReader reads attributes of the object given to headroom and keeps the
// first error.
type linkReader struct {
	attrs map[string]cty.Value
	err   error
}

func (a *linkReader) has(name string) bool {
	v, ok := a.attrs[name]
	return ok && !v.IsNull()
}

func (a *linkReader) optional(name string, parse func(string) (int64, error)) int64 {
	if !a.has(name) {
		return 0
	}
	return a.written(name, parse)
}

func (a *linkReader) written(name string, parse func(string) (int64, error)) int64 {
	if a.err != nil {
		return 0
	}
	if !a.has(name) {
		a.err = fmt.Errorf("attribute %q is missing", name)
		return 0
	}
	v := a.attrs[name]
	if err := numberLimit([]cty.Value{v}); err != nil {
		a.err = fmt.Errorf("%s: %w", name, err)
		return 0
	}
	s, err := convert.Convert(v, cty.String)
	if err != nil {
		a.err = fmt.Errorf("%s: a text or a number is needed", name)
		return 0
	}
	n, err := parse(s.AsString())
	if err != nil {
		a.err = fmt.Errorf("%s: %w", name, err)
	}
	return n
}

func plainNumber(s string) (int64, error) {
	f, _, err := big.ParseFloat(s, 10, 512, big.ToNearestEven)
	if err == nil {
		if n, acc := f.Int64(); acc == big.Exact && n > 0 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%q is not a whole number above 0", clip(s))
}

// table is the value of rows for one file and key, made once.
type table struct {
	once sync.Once
	v    cty.Value
	err  error
}

func rowsFunc(r *reader) function.Function {
	return fn(text("file", "key"), dyn, func(args []cty.Value) (cty.Value, error) {
		name, key := args[0].AsString(), args[1].AsString()
		r.mu.Lock()
		t := r.rows[name+"\x00"+key]
		if t == nil {
			t = &table{}
			r.rows[name+"\x00"+key] = t
		}
		r.mu.Unlock()
		t.once.Do(func() { t.v, t.err = r.table(name, key) })
		return t.v, t.err
	})
}

func (r *reader) table(name, key string) (cty.Value, error) {
	clean, content, err := r.read(name, MaxFileBytes)
	if err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	t, err := ParseRows(content, clean, key)
	if err != nil {
		return cty.NilVal, err
	}
	if cells := len(t.Keys) * len(t.Header); cells > MaxElements {
		return cty.NilVal, fmt.Errorf("file %q has %d cells, at most %d are allowed in an expression: for_each = rows(...) reads it row by row", clean, cells, MaxElements)
	}
	out := make(map[string]cty.Value, len(t.Keys))
	for i, rec := range t.Records {
		row := make(map[string]cty.Value, len(rec))
		for c, cell := range rec {
			row[t.Header[c]] = cty.StringVal(cell)
		}
		out[t.Keys[i]] = cty.ObjectVal(row)
	}
	return cty.MapVal(out), nil
}
