package headroom

import (
	"fmt"
	"strconv"
	"strings"
)

// Generation is a version of the headroom algorithm in SONiC images for NVIDIA
// switches [roce-theory A.6; sonic-swss cfgmgr/buffer_headroom_mellanox.lua].
// The zero value is none.
type Generation uint8

// The generations, named after the first or, for the oldest, the last branch
// that has them.
const (
	// Spectrum202311 is the algorithm of 202111 to 202311.
	Spectrum202311 Generation = iota + 1
	// Spectrum202405 came with sonic-swss #3235 and is in 202405 (images built
	// since 2024-11-01), 202411, 202505 and 202511.
	Spectrum202405
	// Spectrum202605 adds the compensations of sonic-swss #4757 and #4797; it is
	// in 202605 (images built since August 2026) and master.
	Spectrum202605
)

// String is the range of SONiC releases that compute alike.
func (g Generation) String() string {
	switch g {
	case Spectrum202311:
		return "202311 and older"
	case Spectrum202405:
		return "202405 to 202511"
	case Spectrum202605:
		return "202605 and newer"
	}
	return "Generation(" + strconv.Itoa(int(g)) + ")"
}

// ReleaseError reports a release string that names no image whose headroom
// algorithm is known.
type ReleaseError struct {
	Release string
	Reason  string
}

// Error names the release and why it has no algorithm.
func (e *ReleaseError) Error() string {
	return fmt.Sprintf("SONiC release %q: %s", e.Release, e.Reason)
}

// firstRelease is the oldest branch with the algorithm of Spectrum202311: before
// it the response time was one figure for all speeds.
const firstRelease = 202111

// GenerationOf returns the generation of a SONiC release: a branch name such as
// "202305" or "master", or a build version that begins with one, such as
// "202405.3", "20230531.12" or "SONiC.202311.1-ab12cd3".
//
// Releases between branches count as the branch before them. 202405 counts as
// Spectrum202405 although images of that branch built before 2024-11-01 still
// have the older algorithm, and 202605 as Spectrum202605 although images built
// before August 2026 lack the compensations: the branch name cannot tell.
// Releases before 202111 and anything else are a *ReleaseError.
func GenerationOf(release string) (Generation, error) {
	s := release
	for _, prefix := range [...]string{"SONiC-OS-", "SONiC."} {
		if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			s = s[len(prefix):]
			break
		}
	}
	branch := s
	if i := strings.IndexAny(s, ".-_+"); i >= 0 {
		branch = s[:i]
	}
	if branch == "master" {
		return Spectrum202605, nil
	}
	yyyymm, ok := branchMonth(branch)
	switch {
	case !ok:
		return 0, &ReleaseError{release, `neither a branch of the form YYYYMM nor "master"`}
	case yyyymm < firstRelease:
		return 0, &ReleaseError{release, fmt.Sprintf("older than %d, the first with a known headroom algorithm", firstRelease)}
	case yyyymm < 202405:
		return Spectrum202311, nil
	case yyyymm < 202605:
		return Spectrum202405, nil
	}
	return Spectrum202605, nil
}

// branchMonth reads YYYYMM, or YYYYMMDD as dated builds have it.
func branchMonth(s string) (int, bool) {
	if len(s) != 6 && len(s) != 8 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s[:6])
	if err != nil || n < 201500 || n%100 < 1 || n%100 > 12 {
		return 0, false
	}
	if len(s) == 8 && (s[6:] < "01" || s[6:] > "31") {
		return 0, false
	}
	return n, true
}
