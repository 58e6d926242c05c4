package targettest

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// change is one difference to a base.
type change struct {
	key, path     string
	before, after string
	apply         func(*intent.Device)
}

// place finds a field again in a copy of the base.
type place func(root reflect.Value) reflect.Value

// walker lists the changes of one base.
type walker struct {
	base *intent.Device
	used map[string]bool // QoS that reach a device
	list []change
}

// node is one value of the base on the way down.
type node struct {
	key   string // Struct.Field it belongs to
	path  string
	v     reflect.Value
	at    place
	total bool // zero is a value here
}

func changes(base *intent.Device, options []targets.Option) []change {
	w := &walker{base: base, used: map[string]bool{}}
	for _, p := range base.Ports {
		w.used[p.QoS] = w.used[p.QoS] || !p.Verify
	}
	for _, f := range base.Ifaces {
		w.used[f.QoS] = true
	}
	w.fields(node{v: reflect.ValueOf(base).Elem(), at: func(root reflect.Value) reflect.Value { return root }})
	w.options(options)
	return w.list
}

func (w *walker) add(n node, after string, apply func(*intent.Device)) {
	w.list = append(w.list, change{key: n.key, path: n.path, before: show(n.v), after: after, apply: apply})
}

// put adds the change that gives a value to a field.
func (w *walker) put(n node, value any) {
	x := reflect.ValueOf(value).Convert(n.v.Type())
	w.add(n, show(x), func(d *intent.Device) { n.at(reflect.ValueOf(d).Elem()).Set(x) })
}

func show(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	s := fmt.Sprintf("%+v", v.Interface())
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	return strconv.Quote(s)
}

func (w *walker) fields(n node) {
	t := n.v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		at := n.at
		w.value(node{
			key: fieldKey(t, f.Name), path: strings.TrimPrefix(n.path+"."+f.Name, "."), v: n.v.Field(i),
			at: func(root reflect.Value) reflect.Value { return at(root).Field(i) },
		}, n.v)
	}
}

// value lists the changes of one value; owner is the struct it is a field of.
func (w *walker) value(n node, owner reflect.Value) {
	if owner.IsValid() && (silent(n.key, owner) || w.special(n, owner)) {
		return
	}
	switch x := n.v.Interface().(type) {
	case netip.Addr:
		if x.IsValid() {
			w.put(n, x.Next())
		} else if n.key == "MLAG.Source" || n.key == "MLAG.PeerAddress" {
			w.put(n, netip.MustParseAddr("192.0.2.77"))
		}
		return
	case netip.Prefix:
		w.put(n, netip.PrefixFrom(x.Addr().Next(), x.Bits()))
		if x.Bits() > 0 {
			w.put(n, netip.PrefixFrom(x.Addr(), x.Bits()-1))
		}
		return
	case intent.PrioritySet:
		w.put(n, x^1<<4)
		return
	}
	switch k := n.v.Kind(); {
	case isOpt(n.v.Type()):
		w.opt(n)
	case k == reflect.Struct:
		w.fields(n)
	case k == reflect.Bool:
		w.put(n, !n.v.Bool())
	case k == reflect.String:
		w.str(n)
	case n.v.CanUint(), n.v.CanInt():
		w.number(n)
	case k == reflect.Array:
		w.elements(n, true)
	case k == reflect.Slice:
		w.elements(n, false)
		w.removed(n)
	case k == reflect.Pointer && !n.v.IsNil():
		at := n.at
		w.add(n, "nil", func(d *intent.Device) { at(reflect.ValueOf(d).Elem()).SetZero() })
		n.v, n.at, n.total = n.v.Elem(), func(root reflect.Value) reflect.Value { return at(root).Elem() }, true
		w.value(n, reflect.Value{})
	}
}

func isOpt(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "Opt[")
}

// opt changes the state of a setting, and its value if it has one.
func (w *walker) opt(n node) {
	at := n.at
	state := func(s intent.State, v reflect.Value) func(*intent.Device) {
		return func(d *intent.Device) {
			o := at(reflect.ValueOf(d).Elem())
			o.SetZero()
			o.Field(0).Set(reflect.ValueOf(s))
			if v.IsValid() {
				o.Field(1).Set(v.Convert(o.Field(1).Type()))
			}
		}
	}
	if n.v.Field(0).Interface() != intent.Set {
		for _, s := range settings[n.key] {
			v := reflect.ValueOf(s)
			w.add(n, "set to "+show(v), state(intent.Set, v))
		}
		if n.v.Field(0).Interface() == intent.Default {
			return // unmanaged and default may well read alike
		}
		return
	}
	w.add(n, "unmanaged", state(intent.Unmanaged, reflect.Value{}))
	w.add(n, "default", state(intent.Default, reflect.Value{}))
	w.value(node{
		key: n.key, path: n.path, v: n.v.Field(1), total: true,
		at: func(root reflect.Value) reflect.Value { return at(root).Field(1) },
	}, reflect.Value{})
}

func (w *walker) str(n node) {
	now := n.v.String()
	if known, ok := words[n.key]; ok {
		for _, word := range known {
			if word != now {
				w.put(n, word)
			}
		}
		return
	}
	if now != "" {
		w.put(n, now+"x")
	}
}

// number adds one where that is a value of the field, else another value.
func (w *walker) number(n node) {
	if n.v.CanInt() {
		w.put(n, n.v.Int()+1)
		return
	}
	now, known := n.v.Uint(), numbers[n.key]
	switch {
	case n.key == "Port.Mbps" || now == 0 && !n.total:
		for _, x := range known {
			if x != now {
				w.put(n, x)
			}
		}
		return
	case isVLAN(n.key):
		w.put(n, spareVLAN)
		return
	}
	top := uint64(1)<<n.v.Type().Bits() - 1
	switch n.key {
	case "Port.CableMm":
		w.put(n, now+1000) // devices count in metres
	case "QoS.DSCP", "QoS.PCP", "QoS.TC", "QoS.Group", "QoS.PFCQueue", "Mark.Priority", "Headroom.Group":
		top = 7
	case "QoS.Rewrite", "Mark.DSCP":
		top = 63
	case "Sched.Percent", "ECN.Probability":
		top = 100
	}
	if now >= top {
		w.put(n, now-1)
		return
	}
	w.put(n, now+1)
}

func isVLAN(key string) bool {
	return slices.Contains([]string{"Port.Native", "Port.Tagged", "LAG.Native", "LAG.Tagged", "Iface.VLAN", "VFs.VLAN"}, key)
}

func (w *walker) elements(n node, total bool) {
	at := n.at
	for i := range n.v.Len() {
		e := n.v.Index(i)
		w.value(node{
			key: n.key, path: n.path + "[" + label(e, i) + "]", v: e, total: total,
			at: func(root reflect.Value) reflect.Value { return at(root).Index(i) },
		}, reflect.Value{})
	}
}

func label(e reflect.Value, i int) string {
	if e.Kind() == reflect.Struct {
		for _, name := range []string{"Name", "Class"} {
			if f := e.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
				return f.String()
			}
		}
	}
	return strconv.Itoa(i)
}

// removed takes each element out of a list of plain values, and adds one.
func (w *walker) removed(n node) {
	at := n.at
	for i := range n.v.Len() {
		w.add(node{key: n.key, path: n.path + "[" + label(n.v.Index(i), i) + "]", v: n.v.Index(i)}, "removed", func(d *intent.Device) {
			s := at(reflect.ValueOf(d).Elem())
			s.Set(reflect.AppendSlice(s.Slice(0, i), s.Slice(i+1, s.Len())))
		})
	}
	for _, extra := range w.extras(n) {
		x := reflect.ValueOf(extra)
		w.add(n, "one more: "+show(x), func(d *intent.Device) {
			s := at(reflect.ValueOf(d).Elem())
			s.Set(reflect.Append(s, x))
		})
	}
}

// extras are elements that a list may gain.
func (w *walker) extras(n node) []any {
	switch n.key {
	case "Port.Tagged", "LAG.Tagged":
		return []any{uint16(spareVLAN)}
	case "Port.Deny", "LAG.Deny":
		return []any{intent.RoCEv2, intent.RoCEv1}
	case "Iface.Addresses":
		return []any{netip.MustParsePrefix("203.0.113.7/24"), netip.MustParsePrefix("2001:db8:9::7/64")}
	case "LAG.Members":
		if free := w.freePort(); free != "" {
			return []any{free}
		}
	}
	return nil
}

func (w *walker) options(options []targets.Option) {
	for _, o := range options {
		now := o.Value(w.base)
		var others []string
		switch o.Kind {
		case targets.OptionBool:
			others = []string{strconv.FormatBool(now != "true")}
		case targets.OptionEnum:
			others = slices.DeleteFunc(slices.Clone(o.Values), func(v string) bool { return v == now })
		case targets.OptionNumber, targets.OptionBytes:
			n, _ := strconv.ParseInt(now, 10, 64) // no default: count from zero
			others = []string{strconv.FormatInt(n+1, 10)}
		default:
			others = []string{now + "x"}
		}
		for _, v := range others {
			n := node{key: "Device.Options", path: "Options[" + o.Name + "]", v: reflect.ValueOf(now)}
			w.add(n, strconv.Quote(v), func(d *intent.Device) {
				if d.Options == nil {
					d.Options = map[string]string{}
				}
				d.Options[o.Name] = v
			})
		}
	}
}
