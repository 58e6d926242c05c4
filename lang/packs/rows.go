package packs

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/headroom"
)

// table is the rows of pg_profile_lookup.ini of SONiC platforms. Rows of one
// platform stand together.
//
//go:embed sonic_pg_profiles.csv
var table string

// Columns of the table. The third, the chip, is for readers.
const (
	colPlatform = iota
	colSKU
	_
	colMbps
	colCableM
	colSize
	colXon
	colXonOffset // empty where the file has no such column
	colXoff
	colThreshold
	columns
)

// HeadroomRows are the rows of the named platforms, in the order of their files.
// It looks at nothing else of the table, so that a fabric pays for its own
// platforms only.
func HeadroomRows(platforms ...string) []headroom.Row {
	var rows []headroom.Row
	for _, platform := range platforms {
		for line := range strings.Lines(section(table, platform)) {
			rows = append(rows, row(strings.TrimSuffix(line, "\n")))
		}
	}
	return rows
}

// section is the lines of a table that begin with a platform.
func section(table, platform string) string {
	prefix := "\n" + platform + ","
	start := strings.Index(table, prefix)
	if platform == "" || start < 0 {
		return ""
	}
	rest := table[start+1:]
	end := 0
	for strings.HasPrefix(rest[end:], prefix[1:]) {
		n := strings.IndexByte(rest[end:], '\n') + 1
		if n == 0 {
			return rest
		}
		end += n
	}
	return rest[:end]
}

func row(line string) headroom.Row {
	var f [columns]string
	for i := range f {
		f[i], line, _ = strings.Cut(line, ",")
	}
	return headroom.Row{
		Platform: f[colPlatform], SKU: f[colSKU], Mbps: number(f[colMbps]), CableMm: number(f[colCableM]) * 1000,
		SizeBytes: number(f[colSize]), XonBytes: number(f[colXon]), XoffBytes: number(f[colXoff]),
		XonOffsetBytes: number(f[colXonOffset]), HasXonOffset: f[colXonOffset] != "", Threshold: number(f[colThreshold]),
	}
}

// number reads a cell; a test reads every one of them more strictly.
func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
