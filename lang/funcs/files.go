package funcs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func fileFuncs(r *reader) []Func {
	const group = "filesystem"
	return []Func{
		{"basename", "basename(path)", "The last element of a path.", `basename("inventory/nodes.csv")`, `"nodes.csv"`, group, pathFunc(path.Base)},
		{"dirname", "dirname(path)", "A path without its last element.", `dirname("inventory/nodes.csv")`, `"inventory"`, group, pathFunc(path.Dir)},
		{"file", "file(path)", "The text of a file of the module; it must be UTF-8.", `file("inventory/site.txt")`, `"berlin\n"`, group, fileFunc(r)},
		{"fileexists", "fileexists(path)", "Whether there is a file at a path of the module.", `fileexists("inventory/none.txt")`, `false`, group, fileExistsFunc(r)},
		{"fileset", "fileset(path, pattern)", "The files below a directory of the module that match a pattern, in which * stands for any text within a name, ** for any directories, and {a,b} for either.", `fileset("inventory", "*.{csv,txt}")`, `toset(["nodes.csv", "site.txt"])`, group, fileSetFunc(r)},
	}
}

// reader reads files of the module, each once: a file is the same for every
// expression of one compilation, and is reported to OnRead once.
type reader struct {
	env  Env
	mu   sync.Mutex
	seen map[string]*entry
	rows map[string]*table
}

type entry struct {
	once    sync.Once
	content []byte
	kept    bool
	err     error
}

func newReader(env Env) *reader {
	return &reader{env: env, seen: map[string]*entry{}, rows: map[string]*table{}}
}

// read returns the cleaned name of a file and its content, which is not to be
// changed. Only files within the limit for text are kept.
func (r *reader) read(name string, limit int) (string, []byte, error) {
	clean, err := modulePath(name)
	if err != nil {
		return "", nil, err
	}
	r.mu.Lock()
	e := r.seen[clean]
	if e == nil {
		e = &entry{}
		r.seen[clean] = e
	}
	r.mu.Unlock()
	var first []byte
	e.once.Do(func() {
		first, e.err = readFile(r.env.FS, clean, MaxFileBytes)
		if e.err != nil {
			return
		}
		if r.env.OnRead != nil {
			r.env.OnRead(clean, first)
		}
		if len(first) <= MaxTextBytes {
			e.content, e.kept = first, true
		}
	})
	content, err := e.content, e.err
	if err == nil && !e.kept {
		if content = first; content == nil {
			content, err = readFile(r.env.FS, clean, MaxFileBytes)
		}
	}
	if err == nil && len(content) > limit {
		err = tooLongFile(clean, len(content), limit)
	}
	return clean, content, err
}

func (r *reader) text(name string) (string, error) {
	clean, content, err := r.read(name, MaxTextBytes)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(content) {
		return "", fmt.Errorf("file %q is not UTF-8 text: save it as UTF-8; filebase64 reads what is no text", clean)
	}
	return string(content), nil
}

// modulePath cleans a path that the source gives and refuses one that leads out
// of the module. Separators are slashes on every operating system.
func modulePath(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("path is empty")
	case strings.Contains(name, `\`):
		return "", fmt.Errorf("path %q has a backslash: directories are separated by /", clip(name))
	case name[0] == '/' || len(name) > 1 && name[1] == ':' && isLetter(name[0]):
		return "", fmt.Errorf("path %q is absolute: files are read inside the module only", clip(name))
	}
	clean := path.Clean(name)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("path %q leads out of the module: files are read inside it only", clip(name))
	}
	if !fs.ValidPath(clean) || strings.ContainsRune(clean, 0) {
		return "", fmt.Errorf("path %q is not a path", clip(name))
	}
	return clean, nil
}

// readFile reads a regular file of at most limit bytes.
func readFile(fsys fs.FS, clean string, limit int) ([]byte, error) {
	if fsys == nil {
		return nil, fmt.Errorf("file %q: files cannot be read here", clean)
	}
	f, err := fsys.Open(clean)
	if err != nil {
		return nil, fileError(clean, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fileError(clean, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", clean)
	}
	if info.Size() > int64(limit) {
		return nil, tooLongFile(clean, int(info.Size()), limit)
	}
	content := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		if err == io.EOF {
			return content, nil
		}
		if err != nil {
			return nil, fileError(clean, err)
		}
		if len(content) > limit {
			return nil, tooLongFile(clean, len(content), limit)
		}
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
	}
}

func fileError(clean string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %q in the module", clean)
	}
	return fmt.Errorf("read file: %w", err)
}

func tooLongFile(clean string, size, limit int) error {
	return fmt.Errorf("file %q has %d bytes, at most %d are allowed", clean, size, limit)
}

func pathFunc(f func(string) string) function.Function {
	return fn(text("path"), cty.String, func(args []cty.Value) (cty.Value, error) {
		return cty.StringVal(f(args[0].AsString())), nil
	})
}

func fileFunc(r *reader) function.Function {
	return fn(text("path"), cty.String, func(args []cty.Value) (cty.Value, error) {
		s, err := r.text(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		return cty.StringVal(s), nil
	})
}

func fileExistsFunc(r *reader) function.Function {
	return fn(text("path"), cty.Bool, func(args []cty.Value) (cty.Value, error) {
		clean, err := modulePath(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		if r.env.FS == nil {
			return cty.NilVal, errors.New("files cannot be read here")
		}
		info, err := fs.Stat(r.env.FS, clean)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return cty.False, nil
		case err != nil:
			return cty.NilVal, function.NewArgError(0, fileError(clean, err))
		case !info.Mode().IsRegular():
			return cty.NilVal, function.NewArgErrorf(0, "%q is not a regular file", clean)
		}
		return cty.True, nil
	})
}

func fileSetFunc(r *reader) function.Function {
	return fn(text("path", "pattern"), cty.Set(cty.String), func(args []cty.Value) (cty.Value, error) {
		dir, err := modulePath(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		if r.env.FS == nil {
			return cty.NilVal, errors.New("files cannot be read here")
		}
		patterns, err := globs(args[1].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		found, err := glob(r.env.FS, dir, patterns)
		if err != nil {
			return cty.NilVal, err
		}
		if len(found) == 0 {
			return cty.SetValEmpty(cty.String), nil
		}
		return cty.SetVal(found), nil
	})
}

// glob walks dir and returns the regular files, as paths below it, that match
// one of the patterns. Links to directories are not followed.
func glob(fsys fs.FS, dir string, patterns [][]string) ([]cty.Value, error) {
	var found []cty.Value
	visited := 0
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fileError(name, err)
		}
		if visited++; visited > MaxElements {
			return elementLimit(visited)
		}
		if d.IsDir() {
			return nil
		}
		below := name
		if dir != "." {
			below = strings.TrimPrefix(name, dir+"/")
		}
		parts := strings.Split(below, "/")
		for _, p := range patterns {
			if !globMatch(p, parts) {
				continue
			}
			if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
				found = append(found, cty.StringVal(below))
			}
			return nil
		}
		return nil
	})
	return found, err
}

const maxGlobs = 256

// globs expands braces and splits the patterns into their parts.
func globs(pattern string) ([][]string, error) {
	if strings.Contains(pattern, `\`) || strings.HasPrefix(pattern, "/") {
		return nil, fmt.Errorf("pattern %q is not relative with / between names", clip(pattern))
	}
	todo := []string{pattern}
	var out [][]string
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		head, options, tail, ok := braces(p)
		if ok {
			for _, o := range options {
				todo = append(todo, head+o+tail)
			}
			if len(todo)+len(out) > maxGlobs {
				return nil, fmt.Errorf("pattern %q stands for more than %d", clip(pattern), maxGlobs)
			}
			continue
		}
		parts := strings.Split(path.Clean(p), "/")
		for _, part := range parts {
			if _, err := path.Match(part, ""); err != nil || part == ".." {
				return nil, fmt.Errorf("pattern %q does not read", clip(pattern))
			}
		}
		out = append(out, parts)
	}
	return out, nil
}

// braces finds the first innermost {a,b}.
func braces(p string) (head string, options []string, tail string, ok bool) {
	end := strings.IndexByte(p, '}')
	if end < 0 {
		return "", nil, "", false
	}
	start := strings.LastIndexByte(p[:end], '{')
	if start < 0 {
		return "", nil, "", false
	}
	return p[:start], strings.Split(p[start+1:end], ","), p[end+1:], true
}

// globMatch matches part by part; ** stands for any number of parts. The table
// of what has been reached keeps many ** from taking exponential time.
func globMatch(pattern, name []string) bool {
	reached := make([]bool, len(name)+1)
	reached[0] = true
	for _, p := range pattern {
		next := make([]bool, len(name)+1)
		for i, ok := range reached {
			switch {
			case p == "**":
				next[i] = ok || i > 0 && next[i-1]
			case ok && i < len(name):
				next[i+1], _ = path.Match(p, name[i])
			}
		}
		reached = next
	}
	return reached[len(name)]
}
