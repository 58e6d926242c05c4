package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyCables: a list of another fabric, of whatever length, is told of on few pages and soon, and an override reaches what was only counted.
func TestManyCables(t *testing.T) {
	const source = `
qos "roce" {
  trust = "dscp"
  class "default" {
    priority  = 0
    bandwidth = 100
    default   = true
  }
}
node "n" {
  for_each = toset(expand_range("n[001-300]"))
  os       = "ubuntu/24.04"
  manage   = "none"
  nic "p0" {
    model = "nvidia/connectx-7"
    qos   = qos.roce
    speed = "400G"
  }
}
cabling "c" {
  file   = "cables.csv"
  format = "csv"
  mode   = "verify"
}
`
	const override = `
override {
  on      = "node.n[*]"
  accept  = "ROCE121"
  reason  = "the list is of the hall next door"
  expires = "2099-01-01"
}
`
	dir := t.TempDir()
	list := func(rows int) {
		var b strings.Builder
		b.WriteString("a_device,a_port,b_device,b_port\n")
		for i := range rows {
			fmt.Fprintf(&b, "n%03d,p0,n%03d,p0\n", i%150+1, i/150%150+151)
		}
		put(t, dir, "cables.csv", []byte(b.String()))
	}
	validate := func(findings int, want ...string) {
		t.Helper()
		_, out, errOut := rocec(t, dir, nil, "validate")
		text := out + errOut
		if n := strings.Count(text, "Error: "); n != findings {
			t.Errorf("%d findings, want %d", n, findings)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not said", w)
			}
		}
	}
	const beyond = " more cables are there that the source does not have in c, beyond the first 100"
	put(t, dir, "f.roce.hcl", []byte(source))
	list(2000)
	validate(101, "1900"+beyond)
	list(22_500)
	validate(101, "9900"+beyond, "c differs from the source in 12500 places more")
	list(2000)
	put(t, dir, "o.roce.hcl", []byte(override))
	validate(0)
}
