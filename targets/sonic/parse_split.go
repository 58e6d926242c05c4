package sonic

import (
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// split reads what port a row of PORT was split off, and into what. Its parent is the nearest
// port before it that has a mode; a port that is whole has the subport 0 or none
// (sonic-config-engine portconfig.py, get_config).
func (p *parser) split(port string, hint *intent.Port) (string, *intent.Split) {
	const table = "PORT"
	n := number[uint8](p, table, port, "subport", 8).Or(0)
	if n == 0 && hint.Breakout == "" {
		return "", nil
	}
	if n == 0 { // whole, and it should not be: that has to differ
		return speedOf(p.db.value(breakoutTable, port, breakoutColumn)), nil
	}
	parent := ""
	for _, key := range p.db.keys(breakoutTable) {
		if lane(key) <= lane(port) && lane(key) >= 0 {
			parent = key // in natural order: the last one that fits
		}
	}
	s := &intent.Split{
		Parent: parent, Mode: p.db.value(breakoutTable, parent, breakoutColumn), Number: n, Lanes: p.db.value(table, port, "lanes"),
		Alias: p.db.value(table, port, "alias"), Index: number[uint16](p, table, port, "index", 1<<16-1).Or(0),
	}
	switch {
	case n > 1:
		return "", s
	case hint.Split != nil && *hint.Split == *s:
		return hint.Breakout, s // at another speed of the same mode
	}
	return ownSplit(s.Mode), s
}

// lane is the number in the name of a port, -1 if it has none.
func lane(port string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(port, "Ethernet"))
	if err != nil {
		return -1
	}
	return n
}
