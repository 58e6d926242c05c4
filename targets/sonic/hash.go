package sonic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
)

// The hash over flows stands in one row for the whole switch. [sonic-hash.yang]
const (
	hashTable = "SWITCH_HASH"
	hashRow   = "GLOBAL"
	hashField = "ecmp_hash_algorithm"
)

var hashPath = intent.Path{Object: intent.OfDevice, Field: "hash"}

// hashFunctions are the words of hash-algorithm in sonic-types.yang.
var hashFunctions = []string{"CRC", "XOR", "RANDOM", "CRC_32LO", "CRC_32HI", "CRC_CCITT", "CRC_XOR"}

func (l *limit) hash() {
	if h := l.device.Hash.Function; h.IsSet() && !slices.Contains(hashFunctions, h.Value) {
		l.refuse(fmt.Sprintf("sonic has no hash function %q", h.Value), "write one of "+strings.Join(hashFunctions, ", "), hashPath)
	}
}

// canHash stops where the switch says that it cannot choose the function:
// orchagent writes a line to its log then and leaves the old one. What it can
// is in STATE_DB since the image has the field; N/A is a chip that does not
// tell. [sonic-utilities config/plugins/sonic-hash.py, utilities_common/switch_hash.py]
func (s scriptFile) canHash(d *intent.Device) {
	h := d.Hash.Function
	if !h.IsSet() {
		return
	}
	s.Line("can=$(sonic-db-cli STATE_DB HGET 'SWITCH_CAPABILITY|switch' ECMP_HASH_ALGORITHM_CAPABLE)")
	s.Line("list=$(sonic-db-cli STATE_DB HGET 'SWITCH_CAPABILITY|switch' ECMP_HASH_ALGORITHM)")
	s.From(hashPath, "if [ \"$can\" != true ] || [[ $list != N/A && ,$list, != *,%s,* ]]; then", h.Value)
	s.From(hashPath, "    echo \"this switch cannot hash by %s; its functions: ${list:-none}\" >&2", h.Value)
	s.Line("    exit 1")
	s.Line("fi")
}

// hash reads the function.
func (p *parser) hash() {
	p.seen.Hash.Function.State = intent.Default
	switch f := p.db.value(hashTable, hashRow, hashField); {
	case slices.Contains(hashFunctions, f):
		p.seen.Hash.Function = intent.Some(f)
	case p.db.has(hashTable, hashRow, hashField):
		p.seen.Hash.Function = intent.Opt[string]{}
		p.odd(hashTable, hashRow, hashField)
	}
}
