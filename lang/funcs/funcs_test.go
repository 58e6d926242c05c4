package funcs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/rocec/rocec/compiler/headroom"
)

// testEnv has the files that the examples name, one fact, and the reference
// formula of headroom.
func testEnv() Env {
	return Env{
		FS: fstest.MapFS{
			"inventory/nodes.csv":  {Data: []byte("name,rack,slot\ngpu01,r1,1\ngpu02,r1,2\n")},
			"inventory/site.txt":   {Data: []byte("berlin\n")},
			"inventory/deep/a.txt": {Data: []byte("a")},
			"inventory/binary":     {Data: []byte("\xff\x00")},
		},
		Headroom: func(a HeadroomArgs) (int64, error) {
			n, err := headroom.Reference(headroom.Link{
				Mbps: a.Mbps, CableMm: a.CableMm, LocalMTUBytes: a.MTURx, PeerMTUBytes: a.MTUTx,
				ExtraBytes: a.ExtraBytes, Quanta: a.Quanta,
			})
			if err != nil || a.CellBytes == 0 {
				return n, err
			}
			return headroom.CellRound(n, a.CellBytes)
		},
		Capability: func(model, fact string) (cty.Value, error) {
			if model == "nvidia/sn5600" && fact == "cell" {
				return cty.NumberIntVal(192), nil
			}
			return cty.NilVal, nil
		},
	}
}

func eval(env Env, src string) (cty.Value, error) {
	expr, diags := hclsyntax.ParseExpression([]byte(src), "x", hcl.InitialPos)
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	v, diags := expr.Value(&hcl.EvalContext{
		Functions: Map(Table(env)),
		Variables: map[string]cty.Value{
			"ones":  cty.StringVal(strings.Repeat("1", 1<<21)),
			"words": stringList(slices.Repeat([]string{"word"}, 20000)),
		},
	})
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	return v, nil
}

func TestExamples(t *testing.T) {
	t.Parallel()
	env := testEnv()
	for _, f := range Table(env) {
		t.Run(f.Name, func(t *testing.T) {
			if !strings.Contains(f.Example, f.Name+"(") {
				t.Errorf("example %s does not call the function", f.Example)
			}
			got, err := eval(env, f.Example)
			if err != nil {
				t.Fatalf("%s: %v", f.Example, err)
			}
			want, err := eval(env, f.Result)
			if err != nil {
				t.Fatalf("%s: %v", f.Result, err)
			}
			// [1, 2] is a tuple as it is written; the type is that of the function.
			want, err = convert.Convert(want, got.Type())
			if err != nil {
				t.Fatalf("%s gives %#v, which %s is not: %v", f.Example, got, f.Result, err)
			}
			if !got.RawEquals(want) {
				t.Errorf("%s gives %#v, want %#v", f.Example, got, want)
			}
		})
	}
}

func TestTableIsDocumented(t *testing.T) {
	list := Table(Env{})
	if !slices.IsSortedFunc(list, func(a, b Func) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("table is not sorted")
	}
	if len(Map(list)) != len(list) {
		t.Error("a name is there twice")
	}
	groups := []string{"numeric", "string", "collection", "encoding", "filesystem", "date", "hash", "network", "conversion", "fabric"}
	sentences := regexp.MustCompile(`^[A-Z"-].*[.]$`)
	for _, f := range list {
		if !slices.Contains(groups, f.Group) {
			t.Errorf("%s: group %q", f.Name, f.Group)
		}
		if !sentences.MatchString(f.Doc) || len(f.Doc) > 300 {
			t.Errorf("%s: doc %q", f.Name, f.Doc)
		}
		var params []string
		for _, p := range f.Impl.Params() {
			params = append(params, p.Name)
		}
		if v := f.Impl.VarParam(); v != nil {
			params = append(params, v.Name+"...")
		}
		if want := f.Name + "(" + strings.Join(params, ", ") + ")"; f.Signature != want {
			t.Errorf("signature %s, want %s", f.Signature, want)
		}
	}
}

// The functions of Terraform 1.13, from its documentation's list of functions.
func TestTerraformSet(t *testing.T) {
	names := strings.Fields(`abs ceil floor log max min parseint pow signum
		chomp endswith format formatlist indent join lower regex regexall replace split startswith strcontains strrev
		substr templatestring title trim trimprefix trimspace trimsuffix upper
		alltrue anytrue chunklist coalesce coalescelist compact concat contains distinct element flatten index keys length
		list lookup map matchkeys merge one range reverse setintersection setproduct setsubtract setunion slice sort sum
		transpose values zipmap
		base64decode base64encode base64gzip csvdecode jsondecode jsonencode textdecodebase64 textencodebase64 urlencode
		yamldecode yamlencode
		abspath dirname pathexpand basename file fileexists fileset filebase64 templatefile
		formatdate plantimestamp timeadd timecmp timestamp
		base64sha256 base64sha512 bcrypt filebase64sha256 filebase64sha512 filemd5 filesha1 filesha256 filesha512 md5
		rsadecrypt sha1 sha256 sha512 uuid uuidv5
		cidrhost cidrnetmask cidrsubnet cidrsubnets
		can ephemeralasnull issensitive nonsensitive sensitive tobool tolist tomap tonumber toset tostring try type`)
	have := Map(Table(Env{}))
	for _, n := range names {
		_, ok := have[n]
		if ok == (Absent(n) != "") {
			t.Errorf("%s: in the table %v, absent because %q", n, ok, Absent(n))
		}
	}
	ours := []string{"capability", "cidrcontains", "dscp", "expand_range", "headroom", "rows"}
	for n := range have {
		if !slices.Contains(names, n) && !slices.Contains(ours, n) {
			t.Errorf("%s is neither Terraform's nor ours", n)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	tests := []struct{ expr, want string }{
		{`ceil(-5.1)`, `-5`},
		{`parseint("-zz", 36)`, `-1295`},
		{`formatlist("%s-%d", ["a", "b"], 7)`, `["a-7", "b-7"]`},
		{`format("%5.1f|%-4s|%05d", 3.14159, "x", 42)`, `"  3.1|x   |00042"`},
		{`replace("a.b.c", ".", "-")`, `"a-b-c"`},
		{`replace("aaa", "/a*?/", "x")`, `"xaxaxax"`},
		{`replace("eth1", "/(?P<n>[0-9])/", "$${n}$${n}")`, `"eth11"`},
		{`replace("", "", "x")`, `"x"`},
		{`split("", "abc")`, `["a", "b", "c"]`},
		{`regex("(?P<a>.)(?P<b>.)", "xy").b`, `"y"`},
		{`alltrue([])`, `true`},
		{`anytrue([])`, `false`},
		{`alltrue([true, null])`, `false`},
		{`coalesce(null, "", 3)`, `"3"`},
		{`coalesce([], [1])`, `[]`},
		{`concat([], [])`, `[]`},
		{`distinct([1, 2, 1.0, 3])`, `[1, 2, 3]`},
		{`distinct([[1], [2], [1]])`, `[[1], [2]]`},
		{`index(["a", 1, true], true)`, `2`},
		{`length("héllo")`, `5`},
		{`length({ a = 1, b = 2 })`, `2`},
		{`length(toset(["a", "a"]))`, `1`},
		{`lookup({ a = 1 }, "a")`, `1`},
		{`lookup(tomap({ a = 1 }), "b", "2")`, `2`},
		{`one(toset([]))`, `null`},
		{`range(3)`, `[0, 1, 2]`},
		{`range(-3)`, `[0, -1, -2]`},
		{`range(5, 2)`, `[5, 4, 3]`},
		{`range(0, 1, 0.25)`, `[0, 0.25, 0.5, 0.75]`},
		{`range(10, 4, -3)`, `[10, 7]`},
		{`range(0)`, `[]`},
		{`length(range(1048576))`, `1048576`},
		{`setproduct(["a"], [])`, `[]`},
		{`sum(["1", 2])`, `3`},
		{`sum(toset([1, 2, 2]))`, `3`},
		{"csvdecode(\"\ufeffa\\r\\nx\\r\\n\")", `[{ a = "x" }]`}, // as spreadsheets save it
		{"jsondecode(\"\ufeff[1]\")", `[1]`},
		{`csvdecode("a,b\n\"x,y\",\"\"\"\"")`, `[{ a = "x,y", b = "\"" }]`},
		{`jsondecode("null")`, `null`},
		{`basename("./a/b/")`, `"b"`},
		{`dirname("b")`, `"."`},
		{`file("./inventory/../inventory/site.txt")`, `"berlin\n"`},
		{`fileexists("inventory/site.txt")`, `true`},
		{`fileset(".", "**/*.txt")`, `toset(["inventory/site.txt", "inventory/deep/a.txt"])`},
		{`fileset("inventory", "{deep/*,site}.txt")`, `toset(["deep/a.txt", "site.txt"])`},
		{`fileset("inventory", "x*")`, `toset([])`},
		{`cidrhost("2001:db8::/64", 16)`, `"2001:db8::10"`},
		{`cidrhost("10.0.0.0/24", -2)`, `"10.0.0.254"`},
		{`cidrsubnet("2001:db8::/56", 8, 255)`, `"2001:db8:0:ff::/64"`},
		{`cidrsubnet("10.1.2.240/28", 0, 0)`, `"10.1.2.240/28"`},
		{`cidrsubnets("fd00::/48", 16)`, `["fd00::/64"]`},
		{`cidrcontains("10.0.0.0/8", "10.1.2.3")`, `true`},
		{`cidrcontains("10.0.0.0/8", "::1")`, `false`},
		{`cidrcontains("10.0.0.0/16", "10.0.0.0/8")`, `false`},
		{`can(file("none"))`, `false`},
		{`issensitive(nonsensitive([sensitive(1)])[0])`, `true`},
		{`issensitive(sensitive(null))`, `true`},
		{`issensitive(join(",", ["a", sensitive("b")]))`, `true`},
		{`issensitive(upper("a"))`, `false`},
		{`tostring(null)`, `null`},
		{`tonumber("0x1")`, `error`},
		{`dscp(26)`, `26`},
		{`expand_range("gpu[08-10]")`, `["gpu08", "gpu09", "gpu10"]`},
		{`toset(expand_range("sw"))`, `toset(["sw"])`},
		{`headroom({ speed = "100G", length = "3m", mtu_rx = 9216, mtu_tx = "4200B" })`, `39179`},
		{`headroom({ speed = "100G", length = "5m", mtu_rx = 1500, cell = 144 })`, `29088`},
		{`headroom({ speed = "100G", length = "5m", mtu_rx = 1500, extra = 100, quanta = 395, mtu_tx = null })`, `29180`},
		{`keys(rows("./inventory/nodes.csv", "slot"))`, `["1", "2"]`},
		{`[for k, r in rows("inventory/nodes.csv", "name") : "${k}=${r.rack}"]`, `["gpu01=r1", "gpu02=r1"]`},
	}
	env := testEnv()
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			got, err := eval(env, tt.expr)
			if tt.want == "error" {
				if err == nil {
					t.Fatalf("got %#v, want an error", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := eval(env, tt.want)
			if err != nil {
				t.Fatal(err)
			}
			want, err = convert.Convert(want, got.Type())
			if err != nil || !got.RawEquals(want) {
				t.Errorf("got %#v, want %#v (%v)", got, want, err)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ expr, want string }{
		{`parseint("12", 99)`, "base"},
		{`sum([])`, "no element"},
		{`sum(["x"])`, "not a number"},
		{`one([1, 2])`, "2 elements"},
		{`index(["a"], "b")`, "no such element"},
		{`lookup({}, "a")`, `no element "a"`},
		{`length(1)`, "collection"},
		{`range()`, "one, two or three"},
		{`range(0, 1, 0)`, "step is zero"},
		{`range(0, 1, -1)`, "away from the limit"},
		{`coalesce(null, "")`, "other than null"},
		{`yamldecode("a: &x [*x]")`, "contains itself"},
		{`yamldecode("a: 1\na: 2")`, "twice"},
		{`yamldecode("a: 1\n---\nb: 1")`, "more than one"},
		{`yamldecode("!Foo 1")`, "!Foo"},
		{`yamldecode("a: [")`, "does not read"},
		{`yamldecode("{[a]: 1}")`, "key is text"},
		{`yamldecode(".inf")`, "finite"},
		{`file("/etc/passwd")`, "absolute"},
		{`file("C:/x")`, "absolute"},
		{`file("../x")`, "out of the module"},
		{`file("a/../../x")`, "out of the module"},
		{`file("a\\b")`, "backslash"},
		{`file("")`, "empty"},
		{`file("none.txt")`, `no file "none.txt"`},
		{`file("inventory")`, "not a regular file"},
		{`file("inventory/binary")`, "not UTF-8"},
		{`fileexists("/x")`, "absolute"},
		{`fileset("..", "*")`, "out of the module"},
		{`fileset(".", "../*")`, "does not read"},
		{`fileset(".", "/*")`, "relative"},
		{`fileset(".", "[")`, "does not read"},
		{`cidrhost("10.0.0.0/24", 256)`, "no host number 256"},
		{`cidrhost("10.0.0.0/33", 1)`, "not a prefix"},
		{`cidrhost("10.0.0.0/24", 0.5)`, "whole number"},
		{`cidrnetmask("fd00::/8")`, "IPv6"},
		{`cidrsubnet("10.0.0.0/24", 9, 0)`, "no room"},
		{`cidrsubnet("10.0.0.0/24", 4, 16)`, "no subnet number 16"},
		{`cidrsubnet("10.0.0.0/24", 4, -1)`, "no subnet number -1"},
		{`cidrsubnets("10.0.0.0/24", 1, 1, 1)`, "no room left for subnet 3"},
		{`cidrsubnets("10.0.0.0/24", 0)`, "1 to 8"},
		{`cidrsubnets("255.255.255.0/24", 1, 1, 1)`, "no room left for subnet 3"},
		{`cidrcontains("10.0.0.0/8", "x")`, "neither"},
		{`dscp("af44")`, "af11 to af43"},
		{`dscp(64)`, "0 to 63"},
		{`expand_range("swp[4-1]")`, "at byte 4"},
		{`expand_range("swp[1-100000]")`, "100000 members"},
		{`headroom({ speed = "100G" })`, `"length" is missing`},
		{`headroom({ speed = "100G", length = "5m", mtu_rx = 1, b = 1, a = 1 })`, `no attribute "a"`},
		{`headroom({ speed = "fast", length = "5m", mtu_rx = 1 })`, `speed "fast"`},
		{`headroom({ speed = "100G", length = "5m", mtu_rx = [] })`, "text or a number"},
		{`headroom({ speed = "7G", length = "5m", mtu_rx = 1500 })`, "7"},
		{`headroom("x")`, "object"},
		{`capability("x", "y")`, "states no fact"},
		{`rows("inventory/nodes.csv", "rank")`, `no column "rank"`},
		{`rows("../nodes.csv", "rank")`, "out of the module"},
	}
	env := testEnv()
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			got, err := eval(env, tt.expr)
			if err == nil {
				t.Fatalf("got %#v, want an error", got)
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "panic") {
				t.Errorf("error %q lacks %q", err, tt.want)
			}
		})
	}
}

// A few words must not become gigabytes: each of these is refused before it is
// made.
func TestAmplificationIsRefused(t *testing.T) {
	t.Parallel()
	tests := []string{
		`range(1048577)`,
		`range(0, 1, 1e-300)`,
		`range(1e300)`,
		`setproduct(range(2000), range(2000))`,
		`setproduct(range(200), range(200), range(200), range(200), range(200), range(200), range(200), range(200), range(200))`,
		`concat([for i in range(60) : words]...)`,
		`flatten([for i in range(60) : words])`,
		`format("%2000000000d", 1)`,
		`format("%.2000000000f", 1)`,
		`format(replace(ones, "1", "%1000d"), 1)`,
		`format(replace(join("", words), "word", "%[1]s"), ones)`,
		`format("%d", 1e600000000)`,
		`formatlist("%9000000d", words)`,
		`formatlist("%s%s", words, ones)`,
		`join(ones, words)`,
		`replace(ones, "1", ones)`,
		`replace(ones, "/./", ones)`,
		`replace(ones, "/.+/", "$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0$0")`,
		`split("", ones)`,
		`regexall(".", ones)`,
		`tostring(1e600000000)`,
		`tostring(1e-600000000)`,
		`jsonencode([1e600000000])`,
		`floor(1e600000000)`,
		`cidrhost("fd00::/8", 1e600000000)`,
		`jsondecode(replace(ones, "1", "["))`,
		`jsondecode("[${replace(ones, "1", "1,")}1]")`,
		`csvdecode(replace(ones, "1", "a\n"))`,
		`yamldecode(replace(substr(ones, 0, 5000), "1", "["))`,
		`yamldecode("a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n")`,
		`expand_range("a[0-999999999999999999][0-9]x[0-999999999999999999]")`,
		`fileset(".", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}")`,
	}
	env := testEnv()
	for _, expr := range tests {
		t.Run(expr[:min(len(expr), 40)], func(t *testing.T) {
			if v, err := eval(env, expr); err == nil {
				t.Errorf("gives a %s", v.Type().FriendlyName())
			} else if strings.Contains(err.Error(), "panic") {
				t.Error(err)
			}
		})
	}
}

func TestNothingIsPossibleWithoutEnv(t *testing.T) {
	for _, expr := range []string{`file("x")`, `fileexists("x")`, `fileset(".", "*")`, `rows("x", "y")`, `headroom({})`, `capability("x", "y")`} {
		if v, err := eval(Env{}, expr); err == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("%s gives %#v, %v", expr, v, err)
		}
	}
}

func TestOnRead(t *testing.T) {
	env := testEnv()
	var got []string
	env.OnRead = func(name string, content []byte) { got = append(got, fmt.Sprintf("%s %d", name, len(content))) }
	_, err := eval(env, `[file("./inventory/site.txt"), rows("inventory/nodes.csv", "name"),
		rows("inventory/nodes.csv", "slot"), try(file("none"), 1), fileexists("inventory/binary")]`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"inventory/site.txt 7", "inventory/nodes.csv 37"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
