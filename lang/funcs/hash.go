package funcs

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func hashFuncs(r *reader) []Func {
	const group = "hash"
	return []Func{
		{"base64sha256", "base64sha256(str)", "The SHA-256 digest of a text in Base64.", `base64sha256("hello world")`, `"uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="`, group, hashText(sha256.New, to64)},
		{"base64sha512", "base64sha512(str)", "The SHA-512 digest of a text in Base64.", `base64sha512("hello world")`, `"MJ7MSJwS1utMxA9QyQLytNDtd+5RGnx6m808qG1M2G+YndNbxf9JlnDaNCVbRbDP2DDoH2Bdz33FVC6TrpzXbw=="`, group, hashText(sha512.New, to64)},
		{"filebase64sha256", "filebase64sha256(path)", "The SHA-256 digest of a file of the module in Base64.", `filebase64sha256("inventory/site.txt")`, `base64sha256(file("inventory/site.txt"))`, group, hashFile(r, sha256.New, to64)},
		{"filebase64sha512", "filebase64sha512(path)", "The SHA-512 digest of a file of the module in Base64.", `filebase64sha512("inventory/site.txt")`, `base64sha512(file("inventory/site.txt"))`, group, hashFile(r, sha512.New, to64)},
		{"filemd5", "filemd5(path)", "The MD5 digest of a file of the module in hexadecimal.", `filemd5("inventory/site.txt")`, `md5(file("inventory/site.txt"))`, group, hashFile(r, md5.New, hex.EncodeToString)},
		{"filesha1", "filesha1(path)", "The SHA-1 digest of a file of the module in hexadecimal.", `filesha1("inventory/site.txt")`, `sha1(file("inventory/site.txt"))`, group, hashFile(r, sha1.New, hex.EncodeToString)},
		{"filesha256", "filesha256(path)", "The SHA-256 digest of a file of the module in hexadecimal.", `filesha256("inventory/site.txt")`, `sha256(file("inventory/site.txt"))`, group, hashFile(r, sha256.New, hex.EncodeToString)},
		{"filesha512", "filesha512(path)", "The SHA-512 digest of a file of the module in hexadecimal.", `filesha512("inventory/site.txt")`, `sha512(file("inventory/site.txt"))`, group, hashFile(r, sha512.New, hex.EncodeToString)},
		{"md5", "md5(str)", "The MD5 digest of a text in hexadecimal.", `md5("hello world")`, `"5eb63bbbe01eeed093cb22bb8f5acdc3"`, group, hashText(md5.New, hex.EncodeToString)},
		{"sha1", "sha1(str)", "The SHA-1 digest of a text in hexadecimal.", `sha1("hello world")`, `"2aae6c35c94fcfb415dbe95f408b9ce91ee846ed"`, group, hashText(sha1.New, hex.EncodeToString)},
		{"sha256", "sha256(str)", "The SHA-256 digest of a text in hexadecimal.", `sha256("hello world")`, `"b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"`, group, hashText(sha256.New, hex.EncodeToString)},
		{"sha512", "sha512(str)", "The SHA-512 digest of a text in hexadecimal.", `sha512("hello world")`, `"309ecc489c12d6eb4cc40f50c902f2b4d0ed77ee511a7c7a9bcd3ca86d4cd86f989dd35bc5ff499670da34255b45b0cfd830e81f605dcf7dc5542e93ae9cd76f"`, group, hashText(sha512.New, hex.EncodeToString)},
		{"uuidv5", "uuidv5(namespace, name)", "A stable UUID made of a namespace (dns, url, oid, x500 or a UUID) and a name, after RFC 9562.", `uuidv5("dns", "www.example.com")`, `"2ed6657d-e927-568b-95e1-2665a8aea6a2"`, group, uuidFunc()},
	}
}

func to64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func hashText(algorithm func() hash.Hash, show func([]byte) string) function.Function {
	return fn(text("str"), cty.String, func(args []cty.Value) (cty.Value, error) {
		h := algorithm()
		h.Write([]byte(args[0].AsString()))
		return cty.StringVal(show(h.Sum(nil))), nil
	})
}

func hashFile(r *reader, algorithm func() hash.Hash, show func([]byte) string) function.Function {
	return fn(text("path"), cty.String, func(args []cty.Value) (cty.Value, error) {
		_, content, err := r.read(args[0].AsString(), MaxFileBytes)
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		h := algorithm()
		h.Write(content)
		return cty.StringVal(show(h.Sum(nil))), nil
	})
}

func uuidFunc() function.Function {
	return fn(text("namespace", "name"), cty.String, func(args []cty.Value) (cty.Value, error) {
		space, ok := namespace(args[0].AsString())
		if !ok {
			return cty.NilVal, function.NewArgErrorf(0, "namespace %q is none of dns, url, oid, x500 and no UUID", clip(args[0].AsString()))
		}
		sum := sha1.Sum(append(space, args[1].AsString()...))
		id := sum[:16]
		id[6] = id[6]&0x0f | 0x50 // version 5
		id[8] = id[8]&0x3f | 0x80 // variant of RFC 9562
		x := hex.EncodeToString(id)
		return cty.StringVal(strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")), nil
	})
}

// namespace returns the 16 bytes of a UUID or of a namespace of RFC 9562
// section 6.6, whose UUIDs differ in one byte only.
func namespace(name string) ([]byte, bool) {
	known := map[string]string{"dns": "10", "url": "11", "oid": "12", "x500": "14"}
	if last, ok := known[name]; ok {
		name = "6ba7b8" + last + "-9dad-11d1-80b4-00c04fd430c8"
	}
	if len(name) != 36 || name[8] != '-' || name[13] != '-' || name[18] != '-' || name[23] != '-' {
		return nil, false
	}
	b, err := hex.DecodeString(strings.ReplaceAll(name, "-", ""))
	return b, err == nil && len(b) == 16
}
