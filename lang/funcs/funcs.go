// Package funcs is the function table of the language, and the readers of
// written values that the rest of lang shares: ranges such as "swp[1-4]", sizes,
// speeds, lengths, times, DSCP names, CSV rows.
//
// Table gives every function with its documentation; the examples in it are
// executed by a test. The names and meanings are Terraform's, less whatever is
// not a pure function of the source (see Absent), plus what a fabric needs. The
// package does no I/O of its own: files come through an fs.FS rooted at the
// module, and the functions that need capability data or the headroom formula
// call what the caller hands in. Functions that ask the compiled fabric (links,
// ports, peers, paths) are not here.
package funcs

import (
	"cmp"
	"io/fs"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Limits that keep hostile input from becoming memory: what would pass them is
// an error.
const (
	MaxElements  = 1 << 20  // elements of a collection that a function makes or walks
	MaxTextBytes = 16 << 20 // bytes of a string that a function makes or reads
)

// Func is one function of the language.
type Func struct {
	Name      string
	Signature string // "cidrhost(prefix, hostnum)"; "..." follows a parameter that repeats
	Doc       string // one or two sentences
	Example   string // an expression
	Result    string // what the example evaluates to, as an expression
	Group     string // "numeric", "string", "collection", "encoding", "filesystem", "network", "conversion", "fabric"
	Impl      function.Function
}

// Env is what some functions need from outside. A field that is nil makes the
// functions that need it fail with a message; none of them panics. The functions
// of one Table may be called from several goroutines if the fields may.
type Env struct {
	FS         fs.FS                                       // rooted at the module directory
	Headroom   func(HeadroomArgs) (int64, error)           // bytes
	Capability func(model, fact string) (cty.Value, error) // a fact of a switch or NIC model
	OnRead     func(name string, content []byte)           // once for each file of the Table that is read, with its path below the module
}

// HeadroomArgs is what headroom() was asked. The formula behind it is the
// caller's.
type HeadroomArgs struct {
	Mbps       int64 // speed of the link
	CableMm    int64 // length of the cable
	MTURx      int64 // largest frame the pausing port may be sending, of any class, in bytes
	MTUTx      int64 // largest frame of the paused class at its peer, in bytes
	ExtraBytes int64 // further local delay; 0 if none
	Quanta     int64 // response time in pause quanta of 512 bit times; 0: the standard's for the speed
	CellBytes  int64 // round up to whole cells of this size; 0: do not
}

// Table returns all functions, sorted by name.
func Table(env Env) []Func {
	files := newReader(env)
	all := slices.Concat(
		numericFuncs(), stringFuncs(), collectionFuncs(), encodingFuncs(),
		fileFuncs(files),
		networkFuncs(), conversionFuncs(), fabricFuncs(env, files),
	)
	for i := range all {
		all[i].Impl = uniform(all[i].Impl)
	}
	slices.SortFunc(all, func(a, b Func) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Map returns the functions by name, as hcl.EvalContext takes them.
func Map(list []Func) map[string]function.Function {
	m := make(map[string]function.Function, len(list))
	for _, f := range list {
		m[f.Name] = f.Impl
	}
	return m
}

// Absent says why a function that Terraform has does not exist here, or "" if
// the name is not one of those.
func Absent(name string) string {
	switch name {
	case "timestamp", "plantimestamp":
		return "compiling knows no clock: pass the time in as a variable"
	case "uuid":
		return "compiling knows no randomness: pass the identifier in as a variable"
	case "bcrypt":
		return "its result is random: pass the hash in as a variable"
	case "rsadecrypt":
		return "source holds no secrets: connections name where a secret is kept"
	case "abspath", "pathexpand":
		return "its result depends on the machine: paths are relative to the module"
	case "ephemeralasnull":
		return "there are no ephemeral values"
	case "base64decode", "base64encode", "base64gzip", "base64sha256", "base64sha512", "textdecodebase64", "textencodebase64", "urlencode", "yamlencode",
		"filebase64", "filebase64sha256", "filebase64sha512", "filemd5", "filesha1", "filesha256", "filesha512", "md5", "sha1", "sha256", "sha512", "uuidv5",
		"formatdate", "timeadd", "timecmp", "templatefile", "templatestring", "transpose", "matchkeys", "chunklist", "signum", "pow", "log",
		"strrev", "title", "indent":
		return "no attribute takes its result"
	case "list":
		return "write [ ... ] or use tolist"
	case "map":
		return "write { ... } or use tomap"
	case "type":
		return "there is no function for the type of a value"
	}
	return ""
}
