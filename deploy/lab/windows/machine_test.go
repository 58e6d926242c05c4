package windows

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/lab/powershell"
	"github.com/rocec/rocec/deploy/session"
)

// node is a host with two adapters, one of them looked for by its place.
func node() *intent.Device {
	return &intent.Device{
		Version: intent.Version, Name: "n1", Kind: intent.Node, OS: intent.OS{Name: "windows-server", Version: "2022"},
		Ports: []intent.Port{
			{Name: "smb_a", NIC: &intent.NIC{Model: "x"}},
			{Name: "smb_b", Mbps: intent.Some(uint32(100000)), NIC: &intent.NIC{Model: "x", PCI: "0000:5e:00.1", MAC: "b8:3f:d2:00:00:02"}},
		},
	}
}

func start(t *testing.T, e lab.Environment) *Machine {
	t.Helper()
	m, err := made(node(), "netqos", e, &powershell.Scripts{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// exec runs a command line to its end.
func exec(ctx context.Context, m *Machine, line string) (code int, stdout, stderr string) {
	var o, e strings.Builder
	code = m.Exec(ctx, line, nil, &o, &e)
	return code, o.String(), e.String()
}

// ps runs a text as sessions do.
func ps(t *testing.T, m *Machine, script string) (code int, stdout, stderr string) {
	t.Helper()
	line, err := session.PowerShellLine(script)
	if err != nil {
		t.Fatal(err)
	}
	return exec(t.Context(), m, line)
}

// A host is found with the adapters of its intent, as their drivers leave them.
func TestFound(t *testing.T) {
	m := start(t, lab.Environment{})
	code, out, errs := ps(t, m, `Get-NetAdapter | ForEach-Object { '{0} {1} {2}' -f $_.Name, $_.PermanentAddress, $_.ReceiveLinkSpeed }
(Get-CimInstance -ClassName 'Win32_OperatingSystem').BuildNumber`)
	want := "smb_a 020000000000 25000000000\r\nEthernet 3 B83FD2000002 100000000000\r\n20348\r\n"
	if code != 0 || out != want || errs != "" {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if _, err := made(node(), "linux", lab.Environment{}, &powershell.Scripts{}); err == nil {
		t.Error("a Linux host is made")
	}
	bad := node()
	bad.Ports[1].NIC.PCI = "x"
	if _, err := made(bad, "netqos", lab.Environment{}, &powershell.Scripts{}); err == nil {
		t.Error("an adapter is at no place")
	}
}

// What sshd hands over, and what comes back.
func TestExec(t *testing.T) {
	m := start(t, lab.Environment{})
	if err := m.Disk().WriteFile("/C:/Users/Administrator/a.ps1", []byte("param([string]$Name, [switch]$Loud)\r\nWrite-Host ('{0} {1}' -f $Name, $Loud)\r\nexit 7\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line   string
		code   int
		stdout string
		stderr string // a part
	}{
		{"", 0, "", ""},
		{"echo %COMSPEC%", 0, "C:\\Windows\\system32\\cmd.exe\r\n", ""},
		{"uname -a", 1, "", "'uname' is not recognized as an internal or external command,\r\noperable program or batch file.\r\n"},
		{`powershell.exe -NoProfile -File a.ps1 -Name x -Loud`, 7, "x True\r\n", ""},
		{`"C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe" -File "C:\Users\Administrator\a.ps1" -Name "x y"`, 7, "x y False\r\n", ""},
		{`powershell -NoProfile -File b.ps1`, -196608, "", "does not exist"},
		{`powershell -File a.ps1 -Nmae x`, 1, "", "matches parameter name 'nmae'"},
		{`powershell -Command 'x'`, 0, "x\r\n", ""},
		{`powershell -EncodedCommand !`, -196608, "", "not properly encoded"},
		{`powershell -EncodedCommand ` + base64.StdEncoding.EncodeToString([]byte("e\x00x\x00i\x00t\x00 \x004\x00")), 4, "", ""},
		{`powershell -Command Get-Nothing`, 1, "", "is not recognized as the name of a cmdlet"},
		{`powershell -Command Get-NetAdapter -Nmae x`, 1, "", "A parameter cannot be found that matches parameter name 'nmae'."},
		{`powershell -Command New-NetQosPolicy`, 1, "", "Parameter set cannot be resolved"},
		{`powershell -Command Get-NetQosFlowControl`, 1, "", "is not recognized as the name of a cmdlet"}, // the feature is not installed
		{"powershell " + strings.Repeat("x", longestLine), 1, "", "The command line is too long."},
	} {
		code, stdout, stderr := exec(t.Context(), m, c.line)
		if code != c.code || stdout != c.stdout || !strings.Contains(stderr, c.stderr) || c.stderr == "" && stderr != "" {
			t.Errorf("%.60q exits with %d\nstdout %q\nstderr %q", c.line, code, stdout, stderr)
		}
	}
}

// What sessions put around their commands works, and hands the code over.
func TestSessionLines(t *testing.T) {
	m := start(t, lab.Environment{})
	for script, want := range map[string]int{"'x'": 0, "exit 20": 20, "Get-Nothing": 1, "Set-Location -LiteralPath 'C:/ProgramData' -ErrorAction Stop\n(Get-Location).Path": 0} {
		if code, out, errs := ps(t, m, script); code != want {
			t.Errorf("%s exits with %d: %s%s", script, code, out, errs)
		}
	}
}

// A power loss keeps what Windows stores; a task of -AtStartup runs then.
func TestReboot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := start(t, lab.Environment{})
		code, _, errs := ps(t, m, `$ErrorActionPreference = 'Stop'
Get-NetAdapterAdvancedProperty -Name 'smb_a' | Where-Object { $_.RegistryKeyword -eq '*JumboPacket' } | Set-NetAdapterAdvancedProperty -RegistryValue '9014' -NoRestart
New-NetQosPolicy -Name 'SMB' -NetDirectPortMatchCondition 445 -PriorityValue8021Action 3 | Out-Null
$task = @{
    TaskName = 'at start'
    Action = (New-ScheduledTaskAction -Execute 'powershell.exe' -Argument '-Command "Set-Content -LiteralPath C:\started -Value x"')
    Principal = (New-ScheduledTaskPrincipal -UserId 'NT AUTHORITY\SYSTEM' -LogonType 'ServiceAccount')
    Settings = (New-ScheduledTaskSettingsSet -MultipleInstances 'IgnoreNew')
    Trigger = (New-ScheduledTaskTrigger -AtStartup)
}
Register-ScheduledTask @task | Out-Null`)
		if code != 0 {
			t.Fatal(errs)
		}
		time.Sleep(time.Hour)
		before := m.ticks()
		if n := m.Host().NICs[0]; n.MTU != 1500 {
			t.Errorf("the MTU is %d before the driver starts anew", n.MTU)
		}
		m.Reboot()
		synctest.Wait()
		if _, err := m.Disk().Stat("/C:/started"); err != nil {
			t.Errorf("the task did not run: %v", err)
		}
		if h := m.Host(); h.NICs[0].MTU != 9000 || len(h.Policies) != 1 || m.ticks() >= before || !slices.Equal(m.Tasks(), []string{"at start"}) {
			t.Errorf("MTU %d, %d policies, %d ticks, tasks %v", h.NICs[0].MTU, len(h.Policies), m.ticks(), m.Tasks())
		}
	})
}

// Faults strike cmdlets that change the host, and no others.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := `Set-NetOffloadGlobalSetting -NetworkDirectAcrossIPSubnets 'Allowed'`
		for kind, want := range map[lab.FaultKind]struct {
			code   int
			across string
		}{lab.FaultRefuse: {1, "Blocked"}, lab.FaultLie: {0, "Blocked"}, lab.FaultStall: {0, "Allowed"}, lab.FaultReboot: {1, "Blocked"}} {
			f := &lab.Faults{}
			m := start(t, lab.Environment{Faults: f})
			f.Inject(lab.Fault{Kind: kind})
			began := time.Now()
			code, _, _ := ps(t, m, "Get-NetAdapter | Out-Null\n"+set)
			if code != want.code || m.Host().Across != want.across {
				t.Errorf("%s: exits with %d, %s", kind, code, m.Host().Across)
			}
			if slow := time.Since(began) >= lab.DefaultDelay; slow != (kind == lab.FaultStall) {
				t.Errorf("%s takes %s", kind, time.Since(began))
			}
		}
	})
}

// A session that is lost ends its process.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := start(t, lab.Environment{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		line, err := session.PowerShellLine("Start-Sleep -Seconds 3600\nSet-Content -LiteralPath 'C:\\late' -Value 'x'")
		if err != nil {
			t.Fatal(err)
		}
		if code, _, _ := exec(ctx, m, line); code == 0 {
			t.Error("it ended well")
		}
		time.Sleep(2 * time.Hour)
		if _, err := m.Disk().Stat("/C:/late"); err == nil {
			t.Error("it went on")
		}
	})
}
