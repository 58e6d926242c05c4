package windows

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocec/rocec/deploy/lab"
	"github.com/rocec/rocec/deploy/session"
)

// everything is a machine on which every cmdlet is.
func everything(t testing.TB) *Machine {
	h := NewHost("N1", "a", "b")
	h.Features = []string{"Data-Center-Bridging", "Hyper-V", "FS-SMBBW", "NetworkATC", "Failover-Clustering"}
	h.ATC = NewCluster("s2d")
	h.Policies = []*Policy{{Name: "p", Template: "None", Protocol: "None"}}
	h.Classes = []*Class{{"c", "ETS", 10, []any{int64(3)}}}
	m := newMachine(h, lab.Environment{}, nil)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// say runs a text for a short time, with nobody who reads what it says.
func say(t testing.TB, m *Machine, script string) {
	line, err := session.PowerShellLine(script)
	if err != nil {
		return // no text for PowerShell
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	m.Exec(ctx, line, nil, io.Discard, io.Discard)
}

// Whatever a cmdlet is called with it answers or throws.
func TestCmdletsTakeAnything(t *testing.T) {
	values := []string{"'x'", "'a'", "-1", "99", "$null", "@()", "@('a', 1)", "@{ a = 1 }", "$true", "(Get-Date)"}
	pipes := []string{"", "Get-NetAdapter | ", "Get-NetQosPolicy | ", "'x' | ", "@() | "}
	for _, name := range answered() {
		if slices.Contains([]string{"start-sleep", "start-scheduledtask"}, name) {
			continue // they wait
		}
		m := everything(t)
		for i, value := range values {
			for _, s := range table().byName[name].Sets {
				base := name
				for _, p := range s.Mandatory {
					if contains(table().byName[name].Switches, p) {
						base += " -" + p
					} else {
						base += fmt.Sprintf(" -%s %s", p, value)
					}
				}
				pipe := pipes[i%len(pipes)]
				say(t, m, "try { "+pipe+base+" } catch { }")
				for k, p := range s.Optional {
					if (k+i)%9 == 0 && !contains(table().byName[name].Switches, p) {
						say(t, m, fmt.Sprintf("try { %s%s -%s %s -Confirm:$false } catch { }", pipe, base, p, values[(i+k)%len(values)]))
					}
				}
			}
		}
	}
}

// FuzzExec: no text and no command line brings a host down.
func FuzzExec(f *testing.F) {
	for _, name := range answered() {
		f.Add(name + " -Name 'a'")
	}
	for _, s := range []string{
		"Get-NetAdapter | Rename-NetAdapter -NewName 'x'", "New-NetIPAddress -InterfaceAlias 'a' -IPAddress 'x' -PrefixLength 99", "Enable-NetQosFlowControl -Priority 9",
		"[System.IO.Directory]::SetAccessControl()", "[Environment]::TickCount + [DateTime]::new(1, 2)", "([System.IO.File]::Open('C:\\x', 'Create', 'Write', 'None')).Write()",
		`powershell.exe -File "x`, "echo", "powershell -e !",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := everything(t)
		say(t, m, s)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		m.Exec(ctx, s, nil, io.Discard, io.Discard)
	})
}

// What Windows refuses, and what nothing here stands for, is refused.
func TestRefused(t *testing.T) {
	for script, want := range map[string]string{
		`Get-NetAdapter -Name 'c'`:                       "No MSFT_NetAdapter objects found",
		`Rename-NetAdapter -Name 'a' -NewName 'B'`:       "already existed",
		`Enable-NetQosFlowControl -Priority 8`:           "not from 0 to 7",
		`Enable-NetQosFlowControl`:                       "by -Priority only",
		`New-NetQosPolicy -Name 'p' -SMB -DSCPAction 1`:  "policy \"p\" exists",
		`New-NetQosPolicy -Name 'q' -SMB -DSCPAction 64`: "not from 0 to 63",
		`New-NetQosPolicy -Name 'q' -NetDirectPortMatchCondition 445 -PriorityValue8021Action 3 -DSCPAction 1`:     "Parameter set cannot be resolved",
		`Set-NetQosPolicy -Name 'p' -DSCPAction 1`:                                                                 "is not recognized as the name of a cmdlet",
		`New-NetQosTrafficClass -Name 'd' -Algorithm 'ETS' -Priority 4`:                                            "not from 1 to 100",
		`New-NetQosTrafficClass -Name 'd' -Algorithm 'ETS' -BandwidthPercentage 90 -Priority 4`:                    "leave 0 %",
		`New-NetQosTrafficClass -Name 'd' -Algorithm 'ETS' -BandwidthPercentage 5 -Priority 3`:                     "takes the name or a priority",
		`New-NetQosTrafficClass -Name 'd' -Algorithm 'WRR' -BandwidthPercentage 5 -Priority 4`:                     "possible enumeration values",
		`Set-NetQosTrafficClass -Name 'c' -BandwidthPercentage 100`:                                                "leave 0 %",
		`Get-NetAdapterAdvancedProperty -Name 'a' | Set-NetAdapterAdvancedProperty -RegistryValue '99' -NoRestart`: "does not take 99",
		`Get-NetAdapterAdvancedProperty -Name 'a' | Set-NetAdapterAdvancedProperty -RegistryValue '0'`:             "does not take 0",
		`New-NetIPAddress -InterfaceAlias 'a' -IPAddress '10.0.0.1' -PrefixLength 33`:                              "Invalid parameter PrefixLength",
		`Set-NetIPAddress -InterfaceAlias 'a' -IPAddress '10.0.0.9' -PrefixLength 24`:                              "No matching MSFT_NetIPAddress",
		`New-NetRoute -InterfaceAlias 'a' -DestinationPrefix '::/0' -NextHop '10.0.0.1'`:                           "only default routes",
		`New-VMSwitch -Name 's' -NetAdapterName 'a' -EnableEmbeddedTeaming $true -AllowManagementOS $true`:         "switch of another kind",
		`Add-VMNetworkAdapter -ManagementOS -SwitchName 's' -Name 'v'`:                                             "unable to find a virtual switch",
		`Install-WindowsFeature -Name 'Data-Center-Bridgin'`:                                                       "feature name is not valid",
		`Get-CimInstance -ClassName 'Win32_Nothing'`:                                                               "Invalid class",
		`Remove-SmbBandwidthLimit -Category 'LiveMigration'`:                                                       "No MSFT_SmbBandwidthLimit",
		`Get-Command -Name 'Get-Nothing'`:                                                                          "is not recognized",
		`New-ScheduledTaskTrigger -Once -At 'tomorrow'`:                                                            "takes a time here",
		`Get-NetAdapter -Name 'a' -ThrottleLimit 1`:                                                                "nothing is simulated for it",
		`Sort-Object -Unique`:                         "nothing is simulated for it",
		`function F { param([switch]$A) }; F -WhatIf`: "matches parameter name 'whatif'",
	} {
		t.Run(script, func(t *testing.T) {
			m := everything(t)
			code, _, stderr := ps(t, m, "$ErrorActionPreference = 'Stop'\n"+script)
			if code == 0 || !strings.Contains(stderr, want) {
				t.Errorf("exits with %d: %s", code, stderr)
			}
		})
	}
}

// A cmdlet of a module goes on where only the script that calls it says Stop, as
// Get-NetIPAddress does (PowerShell/PowerShell#24389).
func TestPreferenceOfScript(t *testing.T) {
	m := everything(t)
	for script, want := range map[string]string{
		"Get-NetAdapter -Name 'c'\r\nWrite-Host 'on'":                   "on\r\n",
		"Get-NetAdapter -Name 'c' -ErrorAction Stop\r\nWrite-Host 'on'": "",
		"Get-VMSwitchTeam -Name 'c'\r\nWrite-Host 'on'":                 "",
	} {
		if err := m.Disk().WriteFile("/C:/Users/Administrator/a.ps1", []byte("$ErrorActionPreference = 'Stop'\r\n"+script), 0o644); err != nil {
			t.Fatal(err)
		}
		_, stdout, stderr := ps(t, m, `& 'C:\Users\Administrator\a.ps1'`)
		if stdout != want || stderr == "" {
			t.Errorf("%s: %q, %q", script, stdout, stderr)
		}
	}
}

// Adapters take their settings when they are restarted, and QoS and RDMA restart
// them unless they are told not to.
func TestRestarts(t *testing.T) {
	m := everything(t)
	script := `Enable-NetAdapterQos -Name 'a'; Enable-NetAdapterRdma -Name 'a' -NoRestart
Get-NetAdapterAdvancedProperty -Name 'b' | Where-Object { $_.RegistryKeyword -eq '*JumboPacket' } | Set-NetAdapterAdvancedProperty -RegistryValue '9014' -NoRestart
Set-NetIPInterface -InterfaceAlias 'b' -NlMtuBytes 9000`
	if code, _, stderr := ps(t, m, script); code != 0 {
		t.Fatal(stderr)
	}
	h := m.Host()
	if a, b := h.NIC("a"), h.NIC("b"); !slices.Equal(h.Restarts, []string{"a"}) || a.Property("*NetworkDirect").Value != "1" || b.MTU != 1500 {
		t.Errorf("restarted %v, RDMA %v, MTU %d", h.Restarts, a.Property("*NetworkDirect"), b.MTU)
	}
}
