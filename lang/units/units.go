// Package units knows how people and programs spell values with a unit, and the one spelling of the language for each: "100g", "100 G" and
// "100gbps" are "100G". It computes nothing but what a spelling needs; the values themselves are read by lang/funcs.
package units

import (
	"strconv"
	"strings"

	"github.com/rocec/rocec/lang/schema"
)

// words are the units by the form of a value: how each is spelled, and the spelling of the language. Letters whose case tells one unit from
// another stand as they are; "\x00" before a spelling says that any case will do.
var words = map[schema.Base]map[string]string{
	schema.Speed: {
		"M": "M", "G": "G", "T": "T", "g": "G", "t": "T", "Mb": "M", "Gb": "G", "Tb": "T", "Mb/s": "M", "Gb/s": "G", "Tb/s": "T",
		"\x00mbps": "M", "\x00gbps": "G", "\x00tbps": "T", "\x00mbit": "M", "\x00gbit": "G", "\x00tbit": "T",
		"\x00mbit/s": "M", "\x00gbit/s": "G", "\x00tbit/s": "T", "\x00gbe": "G", "\x00ge": "G",
		"k": kilo, "K": kilo, "kb/s": kilo, "\x00kbps": kilo, "\x00kbit": kilo, "\x00kbit/s": kilo,
	},
	schema.Length: {"m": "m", "km": "km"},
	schema.Time:   {"us": "us", "ms": "ms", "s": "s", "m": "m", "h": "h", "µs": "us", "μs": "us", "sec": "s", "min": "m"},
	schema.Delay:  {"ns": "ns", "us": "us", "ms": "ms", "µs": "us", "μs": "us"},
	schema.Bytes: {
		"": "", "B": "B", "KB": "KB", "MB": "MB", "GB": "GB", "KiB": "KiB", "MiB": "MiB", "GiB": "GiB", // "kb" may be bits
		"kB": "KB", "k": "KB", "K": "KB", "M": "MB", "G": "GB",
	},
}

// kilo is a unit of speeds that the language does not have: its numbers are divided.
const kilo = "k"

// Canonical returns a value with a unit as the language spells it. False: it is not understood, or could be meant in two ways.
func Canonical(base schema.Base, text string) (string, bool) {
	if base == schema.Cap {
		base = schema.Speed
	}
	known, ok := words[base]
	if !ok {
		return "", false
	}
	text = strings.Trim(text, " ")
	n := 0
	for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n] == '.') {
		n++
	}
	number, unit := text[:n], strings.TrimLeft(text[n:], " ")
	if number == "" || number[0] == '.' || strings.Count(number, ".") > 1 || strings.HasSuffix(number, ".") {
		return "", false
	}
	word, ok := known[unit]
	if !ok && (strings.ToLower(unit) == unit || strings.ToUpper(unit) == unit || !strings.Contains(unit, "B")) {
		word, ok = known["\x00"+strings.ToLower(unit)] // GBps are bytes
	}
	switch {
	case !ok:
		return "", false
	case word == kilo:
		return thousands(number)
	}
	return number + word, true
}

// thousands is a speed in kbit/s as a whole number of Mbit/s, or of Gbit/s.
func thousands(number string) (string, bool) {
	k, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err != nil || k%1000 != 0:
		return "", false
	case k%1_000_000 == 0:
		return strconv.FormatInt(k/1_000_000, 10) + "G", true
	}
	return strconv.FormatInt(k/1000, 10) + "M", true
}
