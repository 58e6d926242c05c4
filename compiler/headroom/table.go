package headroom

import "slices"

// Row is one line of a SONiC pg_profile_lookup.ini: the lossless profile a
// platform ships for a speed and a cable length [roce-theory A.7].
type Row struct {
	Platform       string
	SKU            string
	Mbps           int64
	CableMm        int64
	SizeBytes      int64
	XonBytes       int64
	XonOffsetBytes int64 // meaningful if HasXonOffset
	HasXonOffset   bool
	XoffBytes      int64
	// Threshold is the exponent of a dynamic threshold or, on platforms with
	// static thresholds, bytes.
	Threshold int64
}

// RowKey names the row a port looks up.
type RowKey struct {
	Platform string
	SKU      string
	Mbps     int64
	CableMm  int64
}

// Near tells what a table has instead of a row that is missing.
type Near struct {
	KnownSKU  bool    // the platform and SKU have rows at all
	Mbps      []int64 // their speeds, ascending
	ShorterMm int64   // longest length below the one asked for at that speed, -1 if none
	LongerMm  int64   // shortest length above it, -1 if none
}

// Lookup returns the row for a port, found the way the device finds it: speed and
// length must both be equal, no length is rounded to a longer one, and a port
// without row gets no lossless group at all. Of equal rows the last counts, since
// the device reads the file into a map [sonic-swss cfgmgr/buffermgr.cpp,
// readPgProfileLookupFile]. When nothing is found, near says what there is.
func Lookup(rows []Row, k RowKey) (row Row, near Near, found bool) {
	for i := len(rows) - 1; i >= 0; i-- {
		if r := &rows[i]; r.Mbps == k.Mbps && r.CableMm == k.CableMm && r.of(k) {
			return *r, Near{}, true
		}
	}
	return Row{}, nearest(rows, k), false
}

func nearest(rows []Row, k RowKey) Near {
	near := Near{ShorterMm: -1, LongerMm: -1}
	for i := range rows {
		r := &rows[i]
		if !r.of(k) {
			continue
		}
		near.KnownSKU = true
		near.Mbps = append(near.Mbps, r.Mbps)
		if r.Mbps != k.Mbps {
			continue
		}
		if r.CableMm < k.CableMm {
			near.ShorterMm = max(near.ShorterMm, r.CableMm)
		} else if near.LongerMm < 0 || r.CableMm < near.LongerMm {
			near.LongerMm = r.CableMm
		}
	}
	slices.Sort(near.Mbps)
	near.Mbps = slices.Compact(near.Mbps)
	return near
}

func (r *Row) of(k RowKey) bool { return r.Platform == k.Platform && r.SKU == k.SKU }
