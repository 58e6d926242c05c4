package oracle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goodPS are scripts in the style that is emitted; both checkers take them.
func goodPS() map[string]string {
	return map[string]string{
		"class maps": `#Requires -Version 5.1
<# SMB Direct:
   one class #>
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
New-NetQosPolicy -Name 'SMB_Direct' -NetDirectPortMatchCondition 445 -PriorityValue8021Action 3 -Confirm:$false
New-NetQosPolicy 'CNP' -IPDstPortMatchCondition 4791 -DSCPAction 48 # positional
Enable-NetQosFlowControl -Priority 3
Disable-NetQosFlowControl -Priority 0, 1, 2,
    4, 5, 6, 7
New-NetQosTrafficClass -Name "SMB" -Priority 3 -BandwidthPercentage 60 -Algorithm ETS
Set-NetQosDcbxSetting -Willing $false -Confirm:$false
`,
		"functions and blocks": `function Set-Step {
    [CmdletBinding(SupportsShouldProcess = $true)]
    param(
        [Parameter(Mandatory = $true)][string]$What,
        [Parameter(Mandatory = $true)][scriptblock]$Test,
        [switch]$Force,
        [int[]]$List = @(1, 2)
    )
    if (& $Test) { Write-Output ('ok {0}' -f $What); return }
    elseif (-not $Force -and $List.Count -gt 0) { return }
    else {
        try { & $Test | Out-Null }
        catch [System.Exception] { Write-Warning "failed: $($_.Exception.Message) on ${What}: see $env:COMPUTERNAME" }
        finally { $script:Changed++ }
    }
}
Set-Step -What 'PFC only on 3' -Force -Test {
    $on = @(Get-NetQosFlowControl).Where({ $_.Enabled })
    $on.Count -eq 1 -and
        $on[0].Priority -eq 3
} -Verbose
foreach ($a in @('Ethernet 1', 'Ethernet 2')) {
    $v = Get-NetAdapterAdvancedProperty -Name $a -RegistryKeyword '*NetworkDirectTechnology' -ErrorAction SilentlyContinue
    if ($null -eq $v) { continue }
    Set-NetAdapterAdvancedProperty -Name $a -RegistryKeyword '*PriorityVLANTag' -RegistryValue 3 -NoRestart
}
for ($i = 0; $i -lt 8; $i++) { Write-Output "prio $i" }
switch ($on) {
    1 { 'one' }
    default { 'other' }
}
do { Start-Sleep -Seconds 1 } while ($false)
`,
		"pipelines and tables": `$p = @{
    Name = 'SMB'; Priority = 3
    BandwidthPercentage = 50
    Algorithm = 'ETS'
}
New-NetQosTrafficClass @p
Get-NetQosPolicy -Name 'SMB*' -ErrorAction SilentlyContinue | Remove-NetQosPolicy -Confirm:$false
Get-NetAdapter |
    Where-Object { $_.Status -eq 'Up' } |
    ForEach-Object { [pscustomobject]@{ Name = $_.Name; Speed = [int64]$_.Speed / 1gb } } |
    ConvertTo-Json -Depth 4
$text = @'
Get-Nothing -Here
'@
$n = [Math]::Max(1, (Get-NetAdapter).Count)
$m = [int](Get-Content -LiteralPath 'a') + [string[]][object[]](Get-NetAdapter -Name 'a').Count
$s = 'it''s'
Get-NetAdapterRdma -Name 'Ethernet 1' 2>&1 | Out-Null
`,
	}
}

// badPS are scripts with one thing wrong, and the code that names it. only marks what the grammar does not see.
func badPS() []struct{ name, script, code, only string } {
	return []struct{ name, script, code, only string }{
		{"unknown cmdlet", "Set-NetQosPfc -Priority 3\n", "E-CMD", ""},
		{"alias", "Get-NetAdapter | select Name\n", "E-CMD", ""},
		{"unknown in a block", "if ($true) { foreach ($x in 1, 2) { Set-Nothing $x } }\n", "E-CMD", ""},
		{"unknown in an argument", "Write-Output (Get-Nothing)\n", "E-CMD", ""},
		{"unknown in a string", "Write-Output \"a $(Get-Nothing) b\"\n", "E-CMD", ""},
		{"unknown in a table", "$t = @{ A = Get-Nothing }\n", "E-CMD", ""},
		{"unknown under a cast", "$n = 1 + [int](Get-Nothing -A 1)\n", "E-CMD", ""},
		{"index before parentheses", "$a[0](Get-NetAdapter -Name 'a')\n", "E-SYNTAX", ""},
		{"unknown behind a pipe", "Get-NetAdapter | Set-Nothing\n", "E-CMD", ""},
		{"unknown after an assignment", "$x = Get-Nothing\n", "E-CMD", ""},
		{"unknown in a call", "@(1).Where({ Get-Nothing })\n", "E-CMD", ""},
		{"parameter", "Enable-NetQosFlowControl -Prio 3\n", "E-PARAM", ""},
		{"parameter of a table", "$p = @{ Prio = 3 }\nEnable-NetQosFlowControl @p\n", "E-PARAM", ""},
		{"parameter alias", "New-NetQosPolicy -Name 'a' -Default -DSCP 3\n", "W-ALIAS", ""},
		{"twice", "Enable-NetQosFlowControl -Priority 3 -Priority 4\n", "E-DUP", ""},
		{"no value", "Enable-NetQosFlowControl -Priority\n", "E-NOVAL", ""},
		{"accepted values", "New-NetQosTrafficClass -Name 'a' -Priority 3 -BandwidthPercentage 50 -Algorithm DWRR\n", "E-VALUE", ""},
		{"type", "Enable-NetQosFlowControl -Priority three\n", "E-TYPE", ""},
		{"range", "Enable-NetQosFlowControl -Priority 8\n", "E-RANGE", ""},
		{"range in a list", "Disable-NetQosFlowControl -Priority 0, 1, 9\n", "E-RANGE", ""},
		{"DSCP", "New-NetQosPolicy -Name 'a' -Default -DSCPAction 64\n", "E-RANGE", ""},
		{"boolean", "Set-NetQosDcbxSetting -Willing false\n", "E-BOOL", ""},
		{"no set", "New-NetQosPolicy -Name 'a' -Default -SMB -PriorityValue8021Action 3\n", "E-SET", ""},
		{"mandatory", "New-NetQosTrafficClass -Name 'a' -Priority 3\n", "E-SET", ""},
		{"too many positional", "Enable-NetQosFlowControl 3 4 5\n", "E-SET", ""},
		{"typographic quote", "Write-Output \u2018a\u2019\n", "E-SMARTCHAR", ""},
		{"not ASCII beside a literal, marked", "\ufeffWrite-Output caf\u00e9\n", "E-NONASCII", "Go"},
		{"typographic quote, marked", "\ufeffWrite-Output \u2018a\u2019\n", "E-SMARTCHAR", "Go"},
		{"literal ended by a typographic quote", "\ufeffWrite-Output 'a\u2019; Remove-Nothing; 'b'\n", "E-CMD", "Go"},
		{"not ASCII", "Write-Output 'caf\u00e9'\n", "E-NONASCII", ""},
		{"open brace", "if ($true) { Write-Output 'a'\n", "E-SYNTAX", ""},
		{"closing brace", "Write-Output 'a' }\n", "E-SYNTAX", ""},
		{"open string", "Write-Output 'a\n", "E-SYNTAX", ""},
		{"open parenthesis", "$a = (1 + 2\n", "E-SYNTAX", ""},
		{"equality", "if ($a == 1) { 'x' }\n", "E-SYNTAX", "Go"},
		{"foreach without in", "foreach ($a of $b) { 'x' }\n", "E-SYNTAX", ""},
		{"try alone", "try { Get-NetAdapter }\n", "E-SYNTAX", "Go"},
		{"and-and", "Get-NetAdapter && Get-NetAdapterRdma\n", "E-SYNTAX", "Go"},
		{"operator", "if ($a -equals 1) { 'x' }\n", "E-SYNTAX", "Go"},
		{"scope in a string", "Write-Output \"$name: up\"\n", "E-SYNTAX", "Go"},
		{"own function's parameter", "function Set-It { param([string]$A) }\nSet-It -B 1\n", "E-PARAM", "Go"},
		{"common parameter of a plain function", "function Set-It { param([string]$A) }\nSet-It -Verbose\n", "E-PARAM", "Go"},
		{"class", "class A { }\n", "E-SYNTAX", "Go"},
		{"text after a command", "Get-NetAdapter ] \n", "E-SYNTAX", "Go"},
	}
}

func TestPowerShellCommands(t *testing.T) {
	for name, script := range goodPS() {
		t.Run(name, func(t *testing.T) {
			accepts(t, func(t testing.TB) { PowerShellCommands(t, []byte(script)) })
			accepts(t, func(t testing.TB) { PowerShellCommands(t, []byte("\uFEFF"+strings.ReplaceAll(script, "\n", "\r\n"))) })
		})
	}
	accepts(t, func(t testing.TB) {
		PowerShellCommands(t, []byte("\uFEFFWrite-Output 'caf\u00e9 \u2019\u2019' # caf\u00e9 \u2019\r\n"))
	})
	for _, c := range badPS() {
		t.Run(c.name, func(t *testing.T) {
			rejects(t, c.code, func(t testing.TB) { PowerShellCommands(t, []byte(c.script)) })
		})
	}
}

// Both checkers must come to the same verdict where both can see: one written for this project alone could be wrong alone.
func TestPSCheck(t *testing.T) {
	Need(t, PSCheckTool)
	write := func(t *testing.T, script string) string {
		path := filepath.Join(t.TempDir(), "script.ps1")
		if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var good []string
	for _, script := range goodPS() {
		good = append(good, write(t, script))
	}
	accepts(t, func(t testing.TB) { PSCheck(t, good...) })
	npm, err := pscheckPackages().folder()
	if err != nil {
		t.Fatal(err)
	}
	var bad []string
	for _, c := range badPS() {
		if c.only == "" {
			bad = append(bad, write(t, c.script))
		}
	}
	err = pscheck(Dir(t), npm, bad) // one process: each takes a third of a second to load the grammar
	if err == nil {
		t.Fatal("pscheck found nothing wrong")
	}
	i := 0
	for _, c := range badPS() {
		if c.only != "" {
			continue
		}
		found := false
		for line := range strings.Lines(err.Error()) {
			found = found || strings.Contains(line, bad[i]) && strings.Contains(line, c.code)
		}
		if !found {
			t.Errorf("%s: pscheck does not report %s", c.name, c.code)
		}
		i++
	}
	rejects(t, "no files", func(t testing.TB) { PSCheck(t) })
	rejects(t, "E-CMD", func(t testing.TB) { PSCheck(t, bad[0]) })
}

func TestPSFindingLine(t *testing.T) {
	db, err := loadCmdlets(filepath.Join(Dir(t), "powershell-cmdlets.json"))
	if err != nil {
		t.Fatal(err)
	}
	got := db.check("Get-NetAdapter\n\n$x = {\n  Set-Nothing `\n    -A 1\n}\nEnable-NetQosFlowControl `\n  -Priority 9\n")
	want := []string{"line 4: E-CMD unknown command Set-Nothing", "line 8: E-RANGE Enable-NetQosFlowControl -Priority 9: want 0..7"}
	if len(got) != 2 || got[0].String() != want[0] || got[1].String() != want[1] {
		t.Errorf("findings %v, want %v", got, want)
	}
}

func FuzzPowerShell(f *testing.F) {
	db, err := loadCmdlets(filepath.Join(Dir(f), "powershell-cmdlets.json"))
	if err != nil {
		f.Fatal(err)
	}
	for _, script := range goodPS() {
		f.Add(script)
	}
	for _, c := range badPS() {
		f.Add(c.script)
	}
	f.Fuzz(func(t *testing.T, script string) {
		lines := 1 + strings.Count(script, "\n")
		for _, finding := range db.check(script) {
			if finding.line < 1 || finding.line > lines {
				t.Errorf("%v in a script of %d lines", finding, lines)
			}
		}
	})
}
