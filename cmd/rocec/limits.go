package main

import (
	"bytes"
	"fmt"

	"github.com/rocec/rocec/deploy/verify"
	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/format"
)

// limitsPage lists what is read at most.
func limitsPage() []byte {
	var b bytes.Buffer
	b.WriteString(generated + "# Limits\n\nWhat is larger is refused with a message that names the limit, before it takes the memory or the time of the machine.\n" +
		"None of them is near the largest fabric that is served: 102,400 NICs and 307,200 cables.\n\n| what | at most | beyond that |\n| --- | --- | --- |\n")
	mib := func(n int) string { return fmt.Sprintf("%d MiB", n>>20) }
	for _, l := range append(lang.Limits(), []lang.Limit{
		{What: "a line that `fmt` lays out", Most: mib(format.MaxLineBytes), Why: "break it"},
		{What: "a block that `fmt` lays out", Most: mib(format.MaxPartBytes), Why: "split it"},
		{What: "a file of captured output", Most: mib(verify.MaxCaptureBytes), Why: "capture what is asked for only"},
	}...) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", l.What, l.Most, l.Why)
	}
	return b.Bytes()
}
