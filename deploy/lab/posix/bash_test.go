package posix

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/targets/oracle"
)

func newHost(t testing.TB, o Options) *Host {
	t.Helper()
	if o.Clock == nil {
		o.Clock = lab.RealTime{}
	}
	if o.Disk == nil {
		o.Disk = lab.NewDisk(lab.DiskOptions{Now: o.Clock.Now, Volatile: []string{"/run", "/tmp", "/proc"}})
	}
	if o.Name == "" {
		o.Name = "host1"
	}
	h := NewHost(o)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// do runs a command line and returns what it prints, and its exit code.
func do(h *Host, line string) string {
	var out bytes.Buffer
	code := h.Exec(context.Background(), line, strings.NewReader(""), &out, &out)
	return fmt.Sprintf("%sexit %d\n", out.String(), code)
}

// scripts are run by bash and by the simulated shell, in a folder of their own.
// Each uses what the interpreter does otherwise, or what our scripts stand on.
var scripts = map[string]string{
	"programs": `printf 'b 2\na 10\nc 1\na 10\n' >f; sort -u f; sort -k2,2n f; sort -rn -k 2 f | head -n 1
grep -c a f nofile 2>/dev/null; echo $?; grep -qs a nofile f; echo $?; grep -qs x f nofile; echo $?
printf 'äbc' | head -c 3 | wc -c; printf 'äbc' | tail -c 2; echo
seq 5 | xargs -n 2 echo -; seq 3 | xargs echo; printf '' | xargs -r echo no
head -c 90 /dev/zero | base64 -w 0 | wc -c; head -c 90 /dev/zero | base64 | wc -l; printf eA== | base64 -d; echo
touch g; rm -rf "" g; echo $?; ls; rm nofile 2>/dev/null; echo $?; rm -f nofile; echo $?; cat "" 2>/dev/null; echo $?; mkdir "" 2>/dev/null; echo $?
seq 6 | sed -n 2,3p; seq 6 | sed 5,2d; seq 3 | sed '2s/2/x&/'; seq 3 | sed '/2/d'
sha256sum f >sums; sha256sum -c sums; sha256sum -c --status sums; echo $?; : >none; sha256sum -c none 2>/dev/null; echo $?; echo "$(sha256sum <f | cut -d ' ' -f 1) *f" | sha256sum -c
printf 'aXbX' | tr -d X; printf 'aab' | tr -s a-b; printf 'a b' | tr -c 'a-z' .; echo; chmod 600 f; stat -c %a f; chmod u+x,g=r f; stat -c %a f
df nofile 2>/dev/null; echo $?`,
	"regular expressions": `x='{"a":[1,2],"tc_tsa":["ets","strict"]}'
[[ $x =~ \"tc_tsa\":\[([a-z\",]*)\] ]] && echo "${BASH_REMATCH[1]}"
n=.; [[ axb =~ a"$n"b ]] || echo quoted
[[ '>=1.2' =~ ^\ *(!=|>=|<=|=|>|<|~>)?\ *([^ ]+)\ *$ ]] && echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"`,
	"return without a number": `f() { false || return; echo no; }; f; echo $?
f() { bash -c 'exit 3' || return; }; f; echo $?
f() { true && return; }; f; echo $?
f() { if ! true; then return; fi; (exit 4); return; }; f; echo $?`,
	"not binds to one test": `a=/nowhere
[[ ! -e $a || x == y ]]; echo $?
[[ ! -e / || x == x ]]; echo $?
[[ ! -e / && x == x || y == y ]]; echo $?
[[ ! ( -e / || x == x ) ]]; echo $?
[[ ! x == y && z == z ]]; echo $?`,
	"arrays": `m=(); m[3]=x; m[3]+=+y; m+=(z); echo "${m[3]} ${#m[@]} ${m[*]} ${!m[@]}"
declare -A d=([k]=v [other]=w); d[k]+=2; echo "${d[k]} ${d[other]}"
local_() { local list=(a b) i; for i in "${!list[@]}"; do printf '%s=%s ' "$i" "${list[i]}"; done; echo; }; local_
IFS=, read -ra f <<<"1,2,3"; echo "${f[2]} ${f[-1]} ${f[@]:1}"`,
	"printf": `printf -- '- '; printf '%s|%5d|%-4s|%x|%03o\n' a 7 b 255 8; printf '%q\n' 'a b'; printf '%b' 'x\ty\n'; printf '%s,' 1 2 3; echo
printf -v v '%s-%d' a 5; echo "$v"; printf '%%\n'; printf '%c%c\n' xy z; printf 0x%x 26; echo; printf '%d\n' 010 0x1f`,
	"process substitution": `while IFS='|' read -r a b; do echo "$b $a"; done < <(printf '1|2\n3|4\n')
n=0; while read -r _; do n=$((n + 1)); done < <(printf ''); echo $n
cmp -s <(echo 1) <(echo 1) && echo same; cmp -s <(echo 1) <(echo 2) || echo other`,
	"descriptors": `exec 9>lock; flock -n 9 && echo held; flock -n lock true || echo busy; exec 9>&-; flock -n lock echo free
( flock -n 8 || exit 3; echo in ) 8>other; echo $?
printf 'a\tb\nc\td\n' >list; while IFS=$'\t' read -r -u 3 x y; do echo "$y $x"; done 3<list
if ! { exec 7>nowhere/x && true; } 2>/dev/null; then echo refused; fi`,
	"functions in shells of their own": `f() ( x=1; [[ -n $x ]] || return 1; return 4 ); f; echo $?
g() { local v; v=$(for i in 1 2; do echo $i; [[ $i == 1 ]] || return 3; done); echo "$? $v"; }; g
h() { echo a | while read -r l; do return 5; done; echo "after $?"; }; h
x=1; echo 2 | read -r x; echo $x`,
	"exit and traps": `bash -c 'trap "echo end" EXIT; kill -0 $$ && echo alive; exit 7'; echo $?
set -e; false || echo kept; if false; then :; fi; (exit 3) && :; echo going; bash -ec 'false; echo never'; echo never`,
	"expansions": `y=ABC; echo "${y,,} ${y%C} ${y//B/x} ${y:1:1} ${#y} ${z:-d} ${z+set}|${y+set}"; z=a.b.c; echo "${z##*.} ${z%%.*} ${z#*.}"
d=08; echo $((10#$d)) $((0x1f)) $((3 > 2 ? 1 : 0)); ((d=5, d>4)) && echo yes; echo $((1<<4|1)); i=5; echo $((i++ + ++i))`,
	"set -u": `set -u; echo "${nothing-}"; list=(); echo "${#list[@]} ${list[*]-}"; bash -c 'set -u; echo $nothing; echo never' 2>/dev/null || echo refused`,
	"elements under set -u": `set -u; a=(x); echo "${a[0]} ${a[1]-none} ${#a[@]} ${a[@]} ${a[*]}"; ( echo "${a[1]}"; echo never ) 2>/dev/null; [[ $? != 0 ]] && echo refused
f() { local i=0 b=(1 2); echo "${b[i]} ${b[i + 1]}"; v=$(echo "${b[2]}"; echo never) 2>/dev/null || echo "refused too$v"; }; f 2>/dev/null; declare -A m=([k]=v); echo "${m[k]}"`,
	"tests of numbers": `[ abc -eq 0 ] 2>/dev/null; echo $?; [ "" -ne 0 ] 2>/dev/null; echo $?; test 3 -gt 2; echo $?; [ -1 -lt 0 ]; echo $?; [ " 4 " -eq 4 ]; echo $?; [ 1x -le 2 ] 2>/dev/null; echo $?; [ -e / ] && [ 0 -ne 1 ] && echo yes`,
	"umask and files": `umask 077; echo x >f; stat -c %a f; umask 022; mkdir -p a/b; install -D -m 640 f a/b/c/g; stat -c '%a %s %F' a/b/c/g; cp -a f h; cmp f h && mv h a/b/; find a | sort
ln -s b a/link; readlink a/link; readlink -f a/link/c/g | sed 's/.*\(a\/b\)/\1/'; rm -rf a/b/c; ls a/b; rm nowhere 2>/dev/null; echo $?; rm -f nowhere; echo $?; rmdir a 2>/dev/null; echo $?`,
	"text": `printf 'b 2\na 10\nc 1\na 10\n' >t; sort t; sort -u t | wc -l; sort -k2,2n t; cut -d ' ' -f 2 t; cut -c2- t; head -n 2 t; tail -n 1 t; tail -n +3 t; head -c 3 t; echo
grep -c a t; grep -n 'a.*0$' t; grep -v a t; grep -qx 'c 1' t && echo x; grep -E '^(b|c) ' t; grep -o '[0-9]*' t; grep zzz t; echo $?; tr a-z A-Z <t; tr -d ' \n' <t; echo; echo 'a   b' | tr -s ' '
sed -n 's/^a \(.*\)/<\1>/p' t; sed 's/ /_/g; s/a/x/' t; sed -n '2,3p' t; awk '{print $2, $1}' t; uniq -c t | tr -s ' '; basename /a/b.c .c; dirname /a/b/c; seq 2 4 | tr '\n' ' '; echo`,
	"redirections": `{ echo out; echo err >&2; } 2>&1 | sort; echo a >f; echo b >>f; cat <f; cat f nowhere 2>/dev/null; echo $?; x=$(<f); echo "$x"; cat <<E | tr a-z A-Z
here $((1+1))
E
cat <<'E'
no $x
E
set -o noclobber 2>/dev/null; echo c >|f; cat f`,
	"background": `sleep 0.01 & wait $!; echo $?; (exit 6) & wait $!; echo $?; setsid -w bash -c 'echo apart; exit 5'; echo $?; timeout 5 echo in time; timeout 0.01 sleep 5; echo $?`,
	"pipes that nobody reads": `while :; do echo x; done | head -n 1; echo $?; while :; do printf 'y\n'; done | head -n 2; for i in 1 2 3; do while :; do echo $i; done; echo never >&2; done | head -n 1
set -o pipefail; while :; do echo z; done | head -n 1; echo $?; { while :; do echo x; done; echo never >&2; } | { read -r a; echo $a; }; bash -c 'while :; do echo n; done' | head -n 1; echo $?`,
	"echo": `echo -ne 'a\tb\n'; echo -n x; echo; echo -e 'a\\b' c; echo 'a\tb'; echo -- x; echo -x -n; echo -nE 'a\t'; echo -; echo ""; echo -e -n 'q\n'; { echo e >/nowhere/x; } 2>/dev/null; echo $?`,
	"shift": `set -- a b; shift 3; echo $? $#; shift 2; echo $? $#; shift; echo $? $#; f() { shift 2 || echo no; echo $#; shift 0 && echo $#; }; f x
set -- 1 2 3; while (($# > 0)); do echo $1; shift; done; n=1; set -- a b; shift $n; echo "$@"; (set -e; shift 5; echo never); echo $?`,
	"numbers in tests": `[[ 010 -eq 10 ]]; echo $?; [[ 010 -eq 8 && 0x10 -gt 15 ]]; echo $?; [ 010 -eq 10 ]; echo $?; x=3; [[ x -eq 3 ]]; echo $?; [[ ! $x -lt "4" ]]; echo $?; [[ "" -eq 0 ]]; echo $?
y=" 5 "; [[ $y -ge 5 || $y -ne 5 ]]; echo $?; [[ -1 -lt 0 ]]; echo $?; a=(7 8); [[ ${a[1]} -le ${#a[@]} ]]; echo $?; [[ $((1 + 1)) -eq $(echo 2) ]]; echo $?`,
	"commands": `command -v nosuch; echo $?; nosuch 2>/dev/null; echo $?; echo 'exit 9' >s; chmod +x s; ./s; echo $?; chmod -x s; ./s 2>/dev/null; echo $?; env A=1 bash -c 'echo $A'; A=2 bash -c 'echo $A'; echo "${A-unset}"; eval 'B=3; echo $B'; . ./s`,
	"read and empty fields": `IFS='|' read -r a b c <<<'x||z'; echo "$a|$b|$c"; IFS='|' read -r a b <<<'|y|'; echo "$a|$b"; IFS=: read -r a b <<<'1:2:3:'; echo "$a|$b"; IFS=, read -r a <<<'x,'; echo "$a"
IFS=, read -r a b c <<<'x , y,,z'; echo "$a|$b|$c"; IFS=', ' read -r a b c <<<' x , y  z w '; echo "$a|$b|$c"; IFS=', ' read -ra a <<<' x ,, y  z'; printf '<%s>' "${a[@]}"; echo; IFS=, read -ra a <<<',,'; echo ${#a[@]}
printf "a|it's|c d\n|\$x\\|\nlast||x" | while IFS='|' read -r a b c || [[ $a ]]; do echo "$a/$b/$c"; done
while IFS=$'\x1f' read -r -a step; do printf '<%s>' "${step[@]}"; echo; done < <(printf 'a\x1f\x1fb\x1f\nc\n'); while IFS='|' read -r -u 3 x y; do echo "$y $x"; done 3< <(printf '|1\n2|\n')
f() { local b; IFS=: read -r b q <<<"1::2"; echo "$b $q"; }; b=9; f; echo $b; set -e; IFS=: read -r q < <(printf z) || echo "end $q"`,
	"globs": `touch a1 a2 b1; echo a*; echo z*; for f in ./a?; do echo "$f"; done; case a1 in a[0-9]) echo one ;; *) echo two ;; esac; [[ abc == a* && ab != *[0-9]* ]] && echo fits`,
}

// TestUnlikeBash: what the interpreter would run without a word, and not as bash
// does, is refused before anything runs.
func TestUnlikeBash(t *testing.T) {
	for _, script := range []string{
		`true | false; echo "${PIPESTATUS[@]}"`,
		`x=abc; echo "${x/#a/b}"`,
		`x=abc; echo "${x/%c/}"`,
		`x=abc; echo "${x@Q}"`,
		`( trap 'echo end' EXIT; echo in )`,
		`x=$(trap 'echo end' 0)`,
		`f() ( trap 'rm x' EXIT; echo in ); f`,
		`f() { trap 'echo end' RETURN; }; f`,
		`echo() { :; }; echo x`,
		`x=$((08 + 1))`,
		`((x == 1 || 19 == 019)) && echo y`,
	} {
		if got := do(newHost(t, Options{}), "echo begins\n"+script); !strings.Contains(got, "does not do as bash does") || strings.Contains(got, "begins\n") {
			t.Errorf("%s: %s", script, got)
		}
	}
	for _, script := range []string{`x='#a'; echo "${x//#a/b}"`, `trap 'echo end' EXIT; ( echo in )`, `f() { trap 'echo end' EXIT; }; f`, `x=1%; echo "${x//%/}"`, `echo $((010 + 10#08 + 0x89))`} {
		if got := do(newHost(t, Options{}), script); !strings.HasSuffix(got, "exit 0\n") {
			t.Errorf("%s: %s", script, got)
		}
	}
}

// TestLikeBash: what the simulated shell prints and ends with is what bash does.
func TestLikeBash(t *testing.T) {
	oracle.Need(t, "bash")
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command("bash", "-c", script)
			c.Dir, c.Env = t.TempDir(), []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "HOME=" + t.TempDir()}
			var out bytes.Buffer
			c.Stdout, c.Stderr = &out, &out
			if err := c.Run(); err != nil && c.ProcessState == nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("%sexit %d\n", out.String(), c.ProcessState.ExitCode())
			h := newHost(t, Options{})
			if err := h.Disk().MkdirAll("/root/w", 0o755); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(do(h, "cd /root/w\n"+script), "\n")); diff != "" {
				t.Errorf("(-bash +simulated):\n%s", diff)
			}
		})
	}
}
