package intent

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fillAny fills a value at random: every field of an intent, of those that come
// to it later as well, zero and nil now and then, and text that JSON escapes.
func fillAny(r *rand.Rand, v reflect.Value) {
	texts := []string{"", "a", "Ethernet0", "a\"b\\c", "<&>", "\u2028\u00e9", "\x00\x1f\x7f", "bad \xff utf8"}
	if r.IntN(6) == 0 {
		return
	}
	switch x := v.Addr().Interface().(type) {
	case *netip.Addr:
		*x = netip.AddrFrom4([4]byte{10, 0, 0, byte(r.IntN(256))})
		return
	case *netip.Prefix:
		*x = netip.PrefixFrom(netip.MustParseAddr("2001:db8::1"), r.IntN(129))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(int64(r.IntN(256) - 128))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint(uint64(r.IntN(256)))
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Struct:
		for i := range v.NumField() {
			fillAny(r, v.Field(i))
		}
		if _, ok := v.Interface().(setting); ok {
			v.Field(0).SetUint(uint64(r.IntN(3)))
		}
	case reflect.Array:
		for i := range v.Len() {
			fillAny(r, v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		for i := range v.Len() {
			fillAny(r, v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillAny(r, v.Elem())
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range r.IntN(4) {
			value := reflect.New(v.Type().Elem()).Elem()
			fillAny(r, value)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint(texts[r.IntN(len(texts))], i)).Convert(v.Type().Key()), value)
		}
	default:
		panic("a kind that no intent has had: " + v.Type().String())
	}
}

// The text under a digest is that of encoding/json, byte by byte.
func TestCanon(t *testing.T) {
	for seed := range uint64(400) {
		d := &Device{}
		fillAny(rand.New(rand.NewPCG(seed, 1)), reflect.ValueOf(d).Elem())
		want, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		got := canonOf(reflect.TypeFor[Device](), false)(nil, reflect.ValueOf(d).Elem())
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("seed %d (-library +own):\n%s", seed, diff)
		}
		var tree any
		number := json.NewDecoder(bytes.NewReader(want))
		number.UseNumber()
		if err := number.Decode(&tree); err != nil {
			t.Fatal(err)
		}
		// The library escapes its own replacement of a bad byte only.
		sorted := bytes.ReplaceAll(Sorted(d), []byte(`\ufffd`), []byte("\ufffd"))
		if want, err := json.Marshal(tree); err != nil || !bytes.Equal(want, sorted) {
			t.Fatalf("seed %d: sorted it is %s, want %s (%v)", seed, sorted, want, err)
		}
		if digest := fmt.Sprintf("sha256:%x", sha256.Sum256(want)); Digest(d) != digest {
			t.Fatalf("seed %d: the digest is %s, that of the text %s", seed, Digest(d), digest)
		}
	}
}

// The digest of a part is that of the part as a device of its own, and differs
// from that of the whole if the two differ.
func TestPart(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for seed := range 100 {
		d, other := &Device{}, &Device{}
		fillAny(random, reflect.ValueOf(d).Elem())
		fillAny(random, reflect.ValueOf(other).Elem())
		part, whole := *d, Canonical(d)
		for i := range reflect.TypeFor[Device]().NumField() {
			switch field := reflect.ValueOf(&part).Elem().Field(i); random.IntN(4) {
			case 0:
				field.Set(reflect.ValueOf(other).Elem().Field(i))
			case 1:
				field.SetZero()
			case 2:
				if field.Kind() == reflect.Slice && field.Len() > 0 {
					field.Set(field.Slice(0, field.Len()-1)) // begins where the device's own begins
				}
			}
		}
		got := whole.Part(&part)
		if got != Canonical(&part).Part(&part) {
			t.Fatalf("pair %d: the digest of a part depends on what it was made from", seed)
		}
		if same := Digest(&part) == Digest(d); same != (got == whole.Part(d)) {
			t.Fatalf("pair %d: part and whole are equal: %t, by their digests %t", seed, same, !same)
		}
		if whole.Digest() != Digest(d) {
			t.Fatalf("pair %d: the digest of the whole has changed", seed)
		}
	}
}

// No part of a device falls back to the library, which is the slow way.
func TestCanonIsOwn(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(x reflect.Type) {
		if seen[x] {
			return
		}
		seen[x] = true
		switch x.Kind() {
		case reflect.Struct:
			if x.Implements(textMarshal) {
				return
			}
			for i := range x.NumField() {
				walk(x.Field(i).Type)
			}
		case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map:
			walk(x.Elem())
		}
		if reflect.ValueOf(canonOf(x, false)).Pointer() == reflect.ValueOf(canon(canonByLibrary)).Pointer() {
			t.Errorf("%s is written by the library", x)
		}
	}
	walk(reflect.TypeFor[Device]())
}

func BenchmarkDigest(b *testing.B) {
	d := filled()
	for range 6 {
		d.Ports = append(d.Ports, d.Ports...)
	}
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Digest(d)
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = json.Marshal(d)
		}
	})
}
