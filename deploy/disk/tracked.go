package disk

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxIndexBytes bounds what is read of git's index: some three million files.
const maxIndexBytes = 512 << 20

// Tracked is a file at or below a path that the checkout's git has in its index, or the
// folder above it that is a repository or a link of its own there; "" if there is none, or
// no git. The index is read as it lies (git's gitformat-index, versions 2 to 4), without the
// program git, which need not be there and would ask the repository how to run. Letters
// count alike in upper and lower case, as on some file systems. Of a split index, files
// that were taken out of it since still count.
func (c Checkout) Tracked(path string) (string, error) {
	rel, ok := c.rel(path)
	if !ok {
		return "", nil
	}
	git, err := gitFolder(c.real)
	if git == "" || err != nil {
		return "", err
	}
	b, err := readIndex(filepath.Join(git, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	found := ""
	want := strings.ToLower(filepath.ToSlash(rel))
	see := func(name []byte) {
		is := strings.ToLower(strings.TrimSuffix(string(name), "/"))
		if found == "" && is != "" && (is == want || strings.HasPrefix(is, want+"/") || strings.HasPrefix(want, is+"/")) {
			found = string(name)
		}
	}
	hash := 20
	if err == nil {
		hash, err = hashBytes(git)
	}
	base := ""
	if err == nil {
		base, err = eachIndexed(b, hash, see)
	}
	if err == nil && base != "" {
		if b, err = readIndex(filepath.Join(git, "sharedindex."+base)); err == nil {
			_, err = eachIndexed(b, hash, see)
		}
	}
	if err != nil {
		return "", fmt.Errorf("what git tracks in %s cannot be told: %w", c.real, err)
	}
	return found, nil
}

func readIndex(path string) ([]byte, error) { return ReadFile(path, maxIndexBytes) }

// gitFolder is where git keeps the index of a work tree, "" if there is no git.
func gitFolder(top string) (string, error) {
	dot := filepath.Join(top, ".git")
	info, err := os.Lstat(dot)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return dot, nil
	}
	// Of a submodule, and of a work tree beside the first.
	b, err := ReadFile(dot, 1<<16)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir:")
	if !ok {
		return "", fmt.Errorf("%s names no folder of git", dot)
	}
	to = filepath.FromSlash(strings.TrimSpace(to))
	if !filepath.IsAbs(to) {
		to = filepath.Join(top, to)
	}
	return to, nil
}

// hashBytes is the length of the repository's object names.
func hashBytes(git string) (int, error) {
	if b, err := ReadFile(filepath.Join(git, "commondir"), 1<<16); err == nil {
		common := filepath.FromSlash(strings.TrimSpace(string(b)))
		if !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
		git = common
	}
	b, err := ReadFile(filepath.Join(git, "config"), 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), "="); ok && strings.EqualFold(strings.TrimSpace(name), "objectformat") {
			if strings.EqualFold(strings.TrimSpace(value), "sha256") {
				return 32, nil
			}
		}
	}
	return 20, nil
}

var errIndex = errors.New("its index is none")

// eachIndexed calls a function for the name of each entry of an index. Base is the name of
// the index that this one goes on from, in hex, "" if it is whole.
func eachIndexed(b []byte, hash int, see func(name []byte)) (base string, err error) {
	if len(b) < 12+hash || string(b[:4]) != "DIRC" {
		return "", errIndex
	}
	version, entries := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 {
		return "", fmt.Errorf("its index is of version %d, known are 2 to 4", version)
	}
	b = b[:len(b)-hash] // the sum of all before it
	at := 12
	var name []byte
	for range entries {
		start := at
		const stat = 40
		if at += stat + hash + 2; at > len(b) {
			return "", errIndex
		}
		if extended := b[at-2]&0x40 != 0; extended && version >= 3 {
			at += 2
		}
		if version == 4 {
			keep, n := offset(b[min(at, len(b)):])
			if at += n; n == 0 || keep > len(name) {
				return "", errIndex
			}
			name = name[:len(name)-keep]
		} else {
			name = name[:0]
		}
		n := bytes.IndexByte(b[min(at, len(b)):], 0)
		if n < 0 {
			return "", errIndex
		}
		name = append(name, b[at:at+n]...)
		if at += n + 1; version < 4 {
			at = start + (at-1-start+8)&^7
		}
		see(name)
	}
	for at+8 <= len(b) {
		kind, size := string(b[at:at+4]), int(binary.BigEndian.Uint32(b[at+4:]))
		if at += 8; size > len(b)-at {
			return "", errIndex
		}
		if kind == "link" && size >= hash && !allZero(b[at:at+hash]) {
			base = hex.EncodeToString(b[at : at+hash])
		}
		at += size
	}
	return base, nil
}

// offset reads a number as git packs offsets, and how many bytes it takes; none if it does not end.
func offset(b []byte) (value, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		if n++; n > 1 {
			value++
		}
		if value = value<<7 | int(c&0x7f); c < 0x80 {
			return value, n
		}
	}
	return 0, 0
}

func allZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
