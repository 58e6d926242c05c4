package posix

import (
	"context"
	"encoding/base64"
	"strconv"
)

// base64Lines prints what it reads in base64, 76 characters a line unless -w says
// otherwise [coreutils, base64 invocation], or with -d what was encoded so.
func base64Lines(_ context.Context, p *Proc) int {
	o, err := p.parse("dw: decode wrap:")
	if err != nil {
		return p.usage(err)
	}
	if o.has("d", "decode") {
		bad := 0
		code := p.each(o.rest, func(_ string, b []byte) {
			text := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
			n, err := base64.StdEncoding.Decode(text, b)
			_, _ = p.Stdout.Write(text[:n])
			if err != nil {
				bad = p.Fail("base64: invalid input")
			}
		})
		return max(code, bad)
	}
	width := 76
	if w := o.value("w", "wrap"); w != "" {
		if width, err = strconv.Atoi(w); err != nil || width < 0 {
			return p.Fail("base64: invalid wrap size: ‘%s’", w)
		}
	}
	return p.each(o.rest, func(_ string, b []byte) {
		text := base64.StdEncoding.EncodeToString(b)
		if width == 0 {
			p.outf("%s", text)
			return
		}
		for len(text) > 0 {
			n := min(width, len(text))
			p.outf("%s\n", text[:n])
			text = text[n:]
		}
	})
}
