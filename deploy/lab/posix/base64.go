package posix

import (
	"context"
	"encoding/base64"
)

// base64Lines prints what it reads in base64, 76 characters a line [coreutils,
// base64 invocation], or with -d what was encoded so.
func base64Lines(_ context.Context, p *Proc) int {
	o, err := p.parse("dw: decode wrap:")
	if err != nil {
		return p.usage(err)
	}
	code := 0
	if o.has("d", "decode") {
		return max(code, p.each(o.rest, func(_ string, b []byte) {
			text := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
			n, err := base64.StdEncoding.Decode(text, b)
			_, _ = p.Stdout.Write(text[:n])
			if err != nil {
				code = p.Fail("base64: invalid input")
			}
		}), code)
	}
	return p.each(o.rest, func(_ string, b []byte) {
		text := base64.StdEncoding.EncodeToString(b)
		for len(text) > 0 {
			n := min(76, len(text))
			p.outf("%s\n", text[:n])
			text = text[n:]
		}
	})
}
