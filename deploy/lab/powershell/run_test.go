package powershell

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// disk is a Files in memory; names end in a backslash for folders.
type disk map[string]string

func (d disk) ReadFile(path string) ([]byte, error) {
	if text, ok := d[path]; ok {
		return []byte(text), nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}
func (d disk) WriteFile(path string, data []byte) error { d[path] = string(data); return nil }
func (d disk) MkdirAll(path string) error               { d[path+`\`] = ""; return nil }
func (d disk) Remove(path string) error                 { delete(d, path); return nil }
func (d disk) Rename(from, to string) error {
	d[to] = d[from]
	delete(d, from)
	return nil
}

func (d disk) Stat(path string) (dir, there bool) {
	if _, ok := d[path]; ok {
		return false, true
	}
	_, ok := d[path+`\`]
	return ok, ok
}

func (d disk) List(path string) (names []string, err error) {
	for p := range d {
		if name, ok := strings.CutPrefix(p, path+`\`); ok && name != "" && !strings.Contains(name, `\`) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// machine runs scripts with a few commands of its own.
func machine(d disk) (r *Runner, said *[]string) {
	said = new([]string)
	say := func(kind string) func(string) {
		return func(line string) { *said = append(*said, kind+line) }
	}
	out := say("")
	return &Runner{
		Host: Host{
			Cmdlets: map[string]func(*Call) []any{
				"get-thing": func(c *Call) []any {
					return []any{NewObject("Name", "a", "Size", int64(3)), NewObject("Name", "b", "Size", int64(1))}
				},
			},
			Natives:  map[string]func(*Runner, []string) ([]string, int){"tool.exe": func(_ *Runner, args []string) ([]string, int) { return args, len(args) }},
			Switches: func(_, parameter string) bool { return parameter == "compress" },
			Files:    d, Env: map[string]string{"who": "me"},
			Now:   func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 5_000_000, time.UTC) },
			Sleep: func(context.Context, time.Duration) error { return nil },
		},
		Dir: `C:\home`,
		Out: func(v any) { out(String(v)) }, Say: say("said "), Err: say("error "),
	}, said
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		script string
		code   int
		want   []string
	}{
		{`1 + 2 * 3; 'a' + 1; 7 % 4`, 0, []string{"7", "a1", "3"}},
		{`$x = 'a', 'b'; $x += 'c'; $x -join '-'`, 0, []string{"a-b-c"}},
		{`Get-Thing | Where-Object { $_.Size -gt 2 } | ForEach-Object { $_.Name }`, 0, []string{"a"}},
		{`function F { param([string]$A = 'x', [switch]$B) '{0}:{1}' -f $A, $B }; F; F -A 'y' -B`, 0, []string{"x:False", "y:True"}},
		{`try { throw 'bad' } catch { $_.Exception.Message } finally { 'last' }`, 0, []string{"bad", "last"}},
		{`foreach ($i in 1, 2) { 'x' | ForEach-Object { try { throw 'bad' } catch { }; $_ } }`, 0, []string{"x", "x"}},
		{`try { try { throw 'bad' } catch { throw } } catch { $_.Exception.Message }`, 0, []string{"bad"}},
		{`foreach ($i in 1, 2) { switch ($i) { 1 { continue } }; $i }`, 0, []string{"1", "2"}},
		{`function F { 1, 2 | ForEach-Object { if ($_ -eq 1) { return }; $_ }; 'end' }; F`, 0, []string{"2", "end"}},
		{`(1, 5, 9) -gt 4; ('ab', 'b') -like 'a*'; ('ab', 'b') -match '^b' -join '-'`, 0, []string{"5", "9", "ab", "b"}},
		{`7 / 2; 6 / 2; [Math]::Floor(7 / 2); [int](5 / 2); 0 -eq ''`, 0, []string{"3.5", "3", "3", "2", "True"}},
		{`[int]4294967295`, 1, []string{"error Cannot convert value \"4294967295\" to type \"System.Int32\". Error: \"Value was either too large or too small for an Int32.\""}},
		{`(Get-Thing | Select-Object -First 1).Count`, 1, []string{"error The property 'count' cannot be found on this object. Verify that the property exists."}},
		{`@().Name`, 1, []string{"error The property 'name' cannot be found on this object. Verify that the property exists."}},
		{`([pscustomobject]@{ a = 1 })['a']`, 1, []string{"error Unable to index into an object of type *powershell.Object."}},
		{`$t = @{ a = 1; b = 2 }; $t.Keys -join ','; ([ordered]@{ a = 1; b = 2 }).Keys -join ','`, 0, []string{"b,a", "a,b"}},
		{`Get-Location -Path; 'on'`, 1, []string{"error get-location: Missing an argument for parameter 'path'.", "error     + FullyQualifiedErrorId : ParameterBindingException"}},
		{`Set-Location -LiteralPath 'C:\none'; 'on'`, 0, []string{"error Cannot find path 'C:\\none' because it does not exist.", "error     + FullyQualifiedErrorId : PathNotFound,Microsoft.PowerShell.Commands.SetLocationCommand", "on"}},
		{`Set-Location -LiteralPath 'C:\none' -ErrorAction SilentlyContinue`, 1, nil},
		{`$ErrorActionPreference = 'Stop'; Set-Location -LiteralPath 'C:\none'; 'on'`, 1, []string{"error Cannot find path 'C:\\none' because it does not exist.", "error     + FullyQualifiedErrorId : PathNotFound,Microsoft.PowerShell.Commands.SetLocationCommand"}},
		{`function F { param([Parameter(Mandatory = $true)][string]$A) }; F`, 1, []string{"error Cannot process command because of one or more missing mandatory parameters: a.", "error     + FullyQualifiedErrorId : ParameterBindingException"}},
		{`function F { param([bool]$A) }; F -A 'x'`, 1, []string{"error Cannot process argument transformation on parameter 'a'. Cannot convert value \"x\" to type \"System.Boolean\".", "error     + FullyQualifiedErrorId : ParameterBindingException"}},
		{`$more = @{ A = 1 }; function F { param($A) }; F -A 2 @more`, 1, []string{"error f: Cannot bind parameter because parameter 'a' is specified more than once.", "error     + FullyQualifiedErrorId : ParameterBindingException"}},
		{`(ConvertTo-Json -InputObject @{ a = @('x', @(1, 2)) } -Depth 1 -Compress); ConvertTo-Json -InputObject @{ a = 'b' }`, 0, []string{`{"a":["x","1 2"]}`, "{\r\n    \"a\": \"b\"\r\n}"}},
		{`'{"b":1,"a":2.5} x' | ConvertFrom-Json`, 1, []string{"error Invalid JSON primitive: {\"b\":1,\"a\":2.5} x.", "error     + FullyQualifiedErrorId : System.ArgumentException,Microsoft.PowerShell.Commands.ConvertFromJsonCommand"}},
		{`@('{"b":1,', '"a":2.5}') | ConvertFrom-Json | ForEach-Object { $_.PSObject.Properties | ForEach-Object { '{0}={1}' -f $_.Name, $_.Value } }`, 0, []string{"b=1", "a=2.5"}},
		{`Set-Content -LiteralPath 'f' -Value 'ä' -Encoding 'UTF8'; Get-Content -LiteralPath 'f'; Set-Content -LiteralPath 'f' -Value 'ä'; Get-Content -LiteralPath 'f'`, 0, []string{"ä", "?"}},
		{`'a[1]' -like 'a[1]'; 'a[1]' -like [System.Management.Automation.WildcardPattern]::Escape('a[1]'); 'a1' -like 'A[0-2]'`, 0, []string{"False", "True", "True"}},
		{`'before'; throw 'bad'`, 1, []string{"before", "error bad"}},
		{`$none.Name`, 1, []string{"error The variable '$none' cannot be retrieved because it has not been set.", "error     + FullyQualifiedErrorId : VariableIsUndefined"}},
		{`Get-Nothing`, 1, []string{
			"error The term 'get-nothing' is not recognized as the name of a cmdlet, function, script file, or operable program. Check the spelling of the name, or if a path was included, verify that the path is correct and try again.",
			"error     + FullyQualifiedErrorId : CommandNotFoundException",
		}},
		{`& 'C:\home\sub.ps1' -Name 'x'; $LASTEXITCODE; exit $LASTEXITCODE`, 5, []string{"said hello x", "out", "5"}},
		{`$lines = @(& '.\sub.ps1' -Name 'y' 6>&1 | ForEach-Object { [string]$_ }); $lines -join '|'`, 0, []string{"hello y|out"}},
		{`tool.exe -a b '/c:d'; $?; $LASTEXITCODE`, 0, []string{"-a", "b", "/c:d", "False", "3"}},
		{`$global:LASTEXITCODE = $null; if ($null -eq $global:LASTEXITCODE) { 'none' }; $?`, 0, []string{"none", "True"}},
		{`Set-Location -LiteralPath 'C:/home/deep'; (Get-Location).Path; Test-Path -LiteralPath '..\sub.ps1'`, 0, []string{`C:\home\deep`, "True"}},
		{`foreach ($i in 1..4) { if ($i -eq 2) { continue }; if ($i -eq 4) { break }; $i }`, 0, []string{"1", "3"}},
		{`switch ('b') { 'a' { 1 } 'b' { 2 } }`, 0, []string{"2"}},
		{`$t = @{ A = 1 }; $t['B'] = 2; $t.ContainsKey('b'); ($t.Values | Sort-Object) -join ','`, 0, []string{"True", "1,2"}},
		{`('{"a":[1,"x"],"b":null}' | ConvertFrom-Json).a -join ' '`, 0, []string{"1 x"}},
		{`ConvertTo-Json -InputObject ([pscustomobject]@{ a = 1; b = 'x' }) -Compress`, 0, []string{`{"a":1,"b":"x"}`}},
		{`(Get-Date).ToString('yyyyMMdd-HHmmss-fff')`, 0, []string{"20261121-120000-005"}},
		{`[Math]::Max(1, 2 + 3); 'Ab' -match '^a'; 'Ab' -notmatch '^a'; 'a b' -replace '\s+', '-'`, 0, []string{"5", "True", "False", "a-b"}},
		{`1 / 0`, 1, []string{"error Attempted to divide by zero."}},
		{`[NoSuch]::Thing()`, 1, []string{"error Unable to find type or member [nosuch]::Thing.", "error     + FullyQualifiedErrorId : TypeNotFound"}},
		{`function F { F }; F`, 1, []string{"error The script failed due to call depth overflow.", "error     + FullyQualifiedErrorId : CallDepthOverflow"}},
		{`if (1 -eq 1) { 'said'; exit 3 }`, 3, []string{"said"}},
		{`$x = @(if ($true) { 'lost'; exit 4 })`, 4, nil},
		{`[Console]::Error.WriteLine('why'); exit 10`, 10, []string{"error why"}},
		{`$env:who; [string]$env:nobody -eq ''`, 0, []string{"me", "True"}},
		{`3..1 -join ','; 'ab' * 3; (@(1) -is [array]); ('a' -is [string]); ('a' -is [array])`, 0, []string{"3,2,1", "ababab", "True", "True", "False"}},
		{`@{ A = 1; a = 2 }`, 1, []string{"error Duplicate keys 'a' are not allowed in hash literals.", "error     + FullyQualifiedErrorId : DuplicateKeyInHashLiteral"}},
		{`if (`, 1, []string{"error line 1: want ')' near \"\"", "error     + FullyQualifiedErrorId : ParserError"}},
	} {
		t.Run(c.script, func(t *testing.T) {
			r, said := machine(disk{
				`C:\home\sub.ps1`: "param([string]$Name)\r\nWrite-Host ('hello {0}' -f $Name)\r\n'out'\r\nexit 5\r\n", `C:\home\deep\`: "",
			})
			code := r.RunText(c.script)
			if diff := cmp.Diff(c.want, *said); code != c.code || diff != "" {
				t.Errorf("exits with %d, want %d (-want +got):\n%s", code, c.code, diff)
			}
		})
	}
}

// What is written is on the disk after Flush or Dispose, and a file is put in the
// place of another with the old one kept.
func TestFiles(t *testing.T) {
	d := disk{`C:\home\a`: "old"}
	r, said := machine(d)
	code := r.RunText(`
$bytes = [System.Text.Encoding]::UTF8.GetBytes('new')
$s = [System.IO.File]::Open('C:\home\b', 'Create', 'Write', 'None')
try { $s.Write($bytes, 0, $bytes.Length); $s.Flush($true) } finally { $s.Dispose() }
[System.IO.File]::Replace('C:\home\b', 'C:\home\a', 'C:\home\c')
[System.IO.Directory]::GetFiles('C:\home', '*') -join ' '
[System.IO.File]::ReadAllText('C:\home\a')
`)
	if diff := cmp.Diff([]string{`C:\home\a C:\home\c`, "new"}, *said); code != 0 || diff != "" || d[`C:\home\c`] != "old" {
		t.Errorf("exits with %d, files %v:\n%s", code, d, diff)
	}
}

// A data file is a table of constants, and no larger than PowerShell reads.
func TestDataFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		code       int
	}{
		{"constants", "# a\r\n@{ A = 'x'; B = @(1, -2); C = @( @{ D = $null } \r\n @{ D = [uint64]5 } ); E = ($true) }\r\n", 0},
		{"joined", "@{ A = ('x' + 'y') }", 1},
		{"a call", "@{ A = [char]::ConvertFromUtf32(0x1f600) }", 1},
		{"a command", "@{ A = @(Get-Thing) }", 1},
		{"a variable", "@{ A = $env:who }", 1},
		{"no table", "'x'", 1},
		{"two tables", "@{ A = 1 }; @{ A = 2 }", 1},
		{"as many values as there may be", "@{ A = @(" + strings.Repeat("1, ", 4996) + "1) }", 0}, // with the key and the statement
		{"one too many", "@{ A = @(" + strings.Repeat("1, ", 4997) + "1) }", 1},
		{"as many keys", "@{ " + manyKeys(500) + " }", 0},
		{"a key too many", "@{ " + manyKeys(501) + " }", 1},
	} {
		r, said := machine(disk{`C:\home\d.psd1`: c.text})
		code := r.RunText(`$d = Import-PowerShellDataFile -LiteralPath 'd.psd1' -ErrorAction Stop; $d.ContainsKey('A') -or $d.ContainsKey('K1')`)
		if code != c.code || code == 0 && !slices.Equal(*said, []string{"True"}) {
			t.Errorf("%s: exits with %d and says %.200q", c.name, code, *said)
		}
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "K%d = 1; ", i+1)
	}
	return b.String()
}

// A process that is ended goes no further.
func TestKilled(t *testing.T) {
	r, said := machine(disk{})
	ctx, cancel := context.WithCancel(t.Context())
	r.Ctx = ctx
	r.Cmdlets["stop-me"] = func(*Call) []any { cancel(); return nil }
	if code := r.RunText(`while ($true) { Stop-Me; Write-Host 'still there' }`); code == 0 || len(*said) > 0 {
		t.Errorf("exits with %d and says %v", code, *said)
	}
}

// Commands that PowerShell does not know are noted, also where a script caught
// the error.
func TestMistakes(t *testing.T) {
	r, _ := machine(disk{})
	r.RunText(`function F { param($A) }; try { Get-Nothing } catch { }; try { F -B 1 } catch { }`)
	if len(r.Mistakes) != 2 {
		t.Errorf("mistakes %v", r.Mistakes)
	}
}

// FuzzRun: no text brings the runner down, or keeps it for ever.
func FuzzRun(f *testing.F) {
	for _, s := range []string{"", "if (", "@{ a = @(1, 'x') }", "$x.y[0]::z", "'a' -f 1, 2 | F", "{0,9999999}' -f 1", "function f { f }; f", "while ($true) { }", "6>&1", "'a' -like '[b-a]`'", "'{\"a\":[1,2.5]}' | ConvertFrom-Json", "try { throw } finally { throw 'x' }", "switch (1) { 1 { break } }", "$", "[", "<#", "1..9999999999", "\"$x\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		r, _ := machine(disk{})
		r.Ctx = ctx
		r.RunText(s)
		_, _ = Parse(s)
	})
}

func ExampleParse() {
	b, err := Parse("@{ Name = 'a'; Rows = @(1, 2) }")
	fmt.Println(len(b.Body), err)
	// Output: 1 <nil>
}
