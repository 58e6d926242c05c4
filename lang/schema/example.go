package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// examples are values of attributes that are text, or whose type alone says too little.
var examples = map[Attr]string{
	AName: `"tor-${each.key}"`, AOS: `"sonic/202505"`, AVRF: `"Vrf-storage"`, AMgmt: `"192.0.2.7"`, AModel: `"nvidia/sn5600"`, ABreakout: `"4x100G"`,
	AFirmware: `"28.43.*"`, ADriver: `">= 24.10"`, ARole: `"storage"`, APCI: `"0000:41:00.0"`, AMAC: `"b8:3f:d2:00:00:01"`, AIfname: `"ens1f0np0"`,
	AHashPolicy: `"layer3+4"`, AExpires: `"2027-03-31"`, AVLAN: "100", APriority: "3", AMTU: "9000", ADSCP: "26", ASlot: "1", AFirst: "11",
	AAddress: `"10.0.0.11/24"`, ASubnet: `"10.0.0.0/24"`, AGateway: `"10.0.0.1"`, ASource: `"./pod"`, ATo: `segment.storage`, AForEach: `toset(["a", "b"])`,
}

// Example is one value of an attribute, as source.
func Example(n Attr, t Type) string {
	if v, ok := examples[n]; ok && (t.Base != Ref || t.Many) && t.Base != Object && t.Base != Map {
		return v
	}
	one := t
	one.Many = false
	v := exampleOf(&one)
	if t.Many {
		v = "[" + v + "]"
	}
	return v
}

func exampleOf(t *Type) string {
	switch t.Base {
	case String:
		if len(t.Enum) > 0 {
			return strconv.Quote(t.Enum[0])
		}
		return `"text"`
	case Bool:
		return "true"
	case Int:
		return strconv.FormatInt(max(t.Min, 1), 10)
	case Percent:
		return "50"
	case Speed, Cap:
		return `"100G"`
	case Length:
		return `"3m"`
	case Time:
		return `"200ms"`
	case Delay:
		return `"250ns"`
	case Bytes:
		return `"150KB"`
	case DSCP:
		return "26"
	case Alpha:
		return `"1/8"`
	case Range:
		return `"swp[1-4]"`
	case CIDR:
		return `"10.0.0.11/24"`
	case Addr:
		return `"10.0.0.1"`
	case Date:
		return `"2027-03-31"`
	case Number:
		return "1.5"
	case Scalar:
		return `"2"`
	case Host:
		return `"tor.oob.example.net"`
	case EnvVar:
		return `"ROCEC_PASSWORD"`
	case HostKey:
		return `"SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8"`
	case Ref:
		return exampleRef(t.Refs[0])
	case Object:
		var fields []string
		for i := range t.Fields {
			if f := &t.Fields[i]; f.Required || len(fields) < 2 {
				fields = append(fields, f.Num.Name()+" = "+Example(f.Num, f.Type))
			}
		}
		return "{ " + strings.Join(fields, ", ") + " }"
	case Map:
		return "{ " + exampleOf(t.Key) + " = " + Example(0, *t.Elem) + " }"
	}
	return `"text"`
}

func exampleRef(k Kind) string {
	switch k {
	case Port:
		return `switch.tor.port["Ethernet0"]`
	case NIC:
		return `node.h["h1"].nic["p0"]`
	}
	return fmt.Sprintf("%s.%s", k, map[Kind]string{QoS: "roce", Segment: "storage", Switch: "tor", Node: "h"}[k]+map[bool]string{true: "a"}[k != QoS && k != Segment && k != Switch && k != Node])
}
