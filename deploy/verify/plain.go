package verify

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// Plain is captured output in UTF-8, without a byte order mark. What is already
// so is returned as it is, whatever its line ends. Windows PowerShell writes what
// > redirects in UTF-16 with a mark and CR LF [about_Redirection, about_Out-File];
// of that the line ends are LF too. What is no UTF-16 comes out with replacement
// characters, for the target to complain of.
func Plain(b []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return b[3:]
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	case !bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		return b
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 2; i+1 < len(b); i += 2 {
		units = append(units, order.Uint16(b[i:]))
	}
	return bytes.ReplaceAll([]byte(string(utf16.Decode(units))), []byte("\r\n"), []byte("\n"))
}
