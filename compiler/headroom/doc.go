// Package headroom holds the buffer arithmetic of lossless Ethernet: PFC
// headroom by the reference formula and by the formulas of the platforms that
// compute their own, ECN bounds, dynamic thresholds, pool sizes, RDMA MTU.
//
// Every function is pure: integers in small structs go in, integers or exact
// fractions come out, on every machine the same. Where a device computes in
// floating point the formula is evaluated exactly instead; the tests hold the
// device's own arithmetic against it. A sum that leaves 64 bits is ErrOverflow,
// a figure out of range an *InputError, a speed without a table entry a
// *SpeedError; nothing wraps and nothing panics.
//
// Left out on purpose: figures of ASICs, NICs and platforms (cell sizes,
// latencies, buffer sizes, shipped tables), which callers bring; which formula
// goes before which; and the judgement whether a result is an error. KB is 1000
// bytes, KiB 1024; Mbps counts 10^6 bit/s.
package headroom
