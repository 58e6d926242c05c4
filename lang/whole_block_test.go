package lang

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocec/rocec/lang/schema"
)

// TestAttributeForBlock writes each attribute of each block that can be named wherever a block is taken,
// as in `native = segment.s.vlan`, in sources that hold no expression: whose text is let go, and in others.
// What can name no block is refused with a sentence that says what to write.
func TestAttributeForBlock(t *testing.T) {
	const named = `
qos "q" {
  class "default" {
    default  = true
    priority = 0
  }
}
segment "s" {
  vlan = 7
}
connection "c" {
  user = "u"
}
routing "r" {
  paths = "ecmp"
}
switch "w" {
  os = "sonic/202505"
  port "p" {
    mtu = 9000
  }
  lag "l" {
    members = ["p"]
  }
  interface "i" {
    on = segment.s
  }
}
node "n" {
  os = "ubuntu/24.04"
  nic "c" {
    mtu = 9000
  }
  bond "b" {
    members = ["c"]
  }
}
`
	handles := map[schema.Kind]string{
		schema.QoS: `qos.q`, schema.Segment: `segment.s`, schema.Connection: `connection.c`, schema.Routing: `routing.r`,
		schema.Switch: `switch.w`, schema.Port: `switch.w.port["p"]`, schema.LAG: `switch.w.lag["l"]`, schema.Interface: `switch.w.interface["i"]`,
		schema.Node: `node.n`, schema.NIC: `node.n.nic["c"]`, schema.Bond: `node.n.bond["b"]`,
	}
	parents := map[schema.Kind]schema.Kind{}
	for k := schema.KindCount - 1; k > schema.None; k-- {
		for _, inner := range schema.Inside(k) {
			parents[inner] = k
		}
	}
	block := func(k schema.Kind, i int, body string) string {
		head := k.String()
		for _, l := range schema.Def(k).Labels {
			word := fmt.Sprintf("x%d", i)
			switch {
			case k == schema.Topology && l.Enum != nil:
				word = "clos3" // which has pods
			case l.Enum != nil:
				word = l.Enum[0]
			}
			head += fmt.Sprintf(" %q", word)
		}
		return head + " {\n" + body + "}\n"
	}
	tried := 0
	for k := schema.None + 1; k < schema.KindCount; k++ {
		for _, def := range schema.Def(k).Attrs {
			if k.Tier() { // what stands in a switch, and read as there
				continue
			}
			if def.Type.Base != schema.Ref || def.Num == schema.AOn && k == schema.Override { // that takes globs too
				continue
			}
			for of, handle := range handles {
				var b strings.Builder
				b.WriteString(named)
				var refused []string
				blocks := ""
				for i, a := range schema.Def(of).Attrs {
					text := block(k, i, "  "+def.Num.Name()+" = "+handle+"."+a.Num.Name()+"\n")
					if parent, inside := parents[k]; inside && k != schema.Wave {
						text = block(parent, i, text)
					}
					blocks += text
					if a.Type.Base != schema.Ref && a.Type.Base != schema.Any {
						refused = append(refused, handle+"."+a.Num.Name())
					}
				}
				if k == schema.Wave { // all of one rollout
					blocks = block(schema.Rollout, 0, blocks)
				}
				b.WriteString(blocks)
				for _, more := range []string{"", "locals {\n  l = 1 + 1\n}\n"} {
					_, diags := Load(Options{FS: fstest.MapFS{"a.roce.hcl": {Data: []byte(b.String() + more)}}})
					for _, r := range refused {
						tried++
						found := false
						for _, d := range diags {
							found = found || strings.Contains(d.Summary, "`"+r+"`") && strings.HasPrefix(d.Help, "write ")
						}
						if !found {
							t.Errorf("%s.%s = %s is not refused", k, def.Num.Name(), r)
						}
					}
				}
			}
		}
	}
	if tried < 10000 {
		t.Errorf("%d forms were tried", tried)
	}
}
