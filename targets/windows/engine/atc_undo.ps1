#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec, the same for every host
<#
.SYNOPSIS
Restores what rocec-atc.ps1 changed, from the snapshot it saved.
.DESCRIPTION
Restores the values that intents had, and removes the addresses that were not there. An override that had no value keeps the new one:
Network ATC cannot take one back. The state before the undo is saved as a snapshot too.
.PARAMETER Snapshot
The file to restore; by default the newest netqos-before-*.json in StateDir.
.PARAMETER RemoveIntent
Also removes intents that did not exist then, for the whole cluster. Network ATC leaves their switches, traffic classes and adapter settings
behind.
.PARAMETER AllowRestart
Lets Network ATC change intents, which restarts adapters on every node of the cluster at once. Never while a storage job runs.
.PARAMETER AllowDisconnect
Goes on where an adapter that carries this session or the default route is stripped of its address. For use at a console.
.PARAMETER Data
The data of this host; host.psd1 of the folder the script is started in by default.
.PARAMETER ExpectComputer
The name this computer has, where it is not the name in the data.
.PARAMETER StateDir
Where snapshots are kept; %ProgramData%\rocec by default.
.PARAMETER StorageWaitSeconds
How long to wait for storage jobs to end before intents change.
.PARAMETER ProvisionWaitSeconds
How long to wait for Network ATC.
.NOTES
Exit codes: 0 no change, 2 changed (or would change), 1 failed, 3 wrong host or no snapshot, 4 more is to be done: run again,
5 not everything is as it was.
#>
[CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
param(
    [string]$Snapshot = '',
    [switch]$RemoveIntent,
    [switch]$AllowRestart,
    [switch]$AllowDisconnect,
    [string]$Data = '.\host.psd1',
    [string]$ExpectComputer = '',
    [string]$StateDir = '',
    [int]$StorageWaitSeconds = 900,
    [int]$ProvisionWaitSeconds = 1800
)
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$Target = 'network-atc'

# rocec:data

# rocec:state

# rocec:guards

# rocec:step

# rocec:restore

# rocec:atc_fields

# rocec:atc

# --- restoring intents -----------------------------------------------------------

# What had no value cannot be restored: only a new value replaces an override.
function Select-Override {
    param($Want, $Rows, $Now, [string]$Where)
    foreach ($override in $Want) {
        $was = @($Rows | Where-Object { $_.Kind -eq $override.Kind -and $_.Name -eq $override.Name })
        $is = @($Now | Where-Object { $_.Kind -eq $override.Kind -and $_.Name -eq $override.Name })
        if ($was.Count -gt 0) { @{ Kind = $override.Kind; Name = $override.Name; Value = $was[0].Value } }
        elseif ($is.Count -gt 0) { Write-Kept -Text ('{0}: {1} was not overridden then and keeps its value' -f $Where, $override.Name) }
    }
}

function Restore-Intents {
    param($Old)
    $scope = Get-Scope
    foreach ($want in $Intents) {
        $name = $want.Name
        $was = @(Get-List -Rows $Old.Intents | Where-Object { $_.Name -eq $name })
        if ($was.Count -eq 0) {
            if (-not $RemoveIntent) {
                if ($null -ne (Find-Intent -Name $name)) { Write-Kept -Text ("intent '{0}' did not exist before; -RemoveIntent removes it from the cluster" -f $name) }
                continue
            }
            if ($null -ne (Find-Intent -Name $name) -and -not (Test-Approved -Name $name)) { continue }
            $there = $null -ne (Find-Intent -Name $name)
            Invoke-Step -What ("intent '{0}' is removed" -f $name) -Test { $null -eq (Find-Intent -Name $name) } -Apply {
                Remove-NetIntent -Name $name -ErrorAction Stop @scope
            }
            # Remove-NetIntent "does not remove the provisioning on the target hosts" (windows-powershell-docs).
            if ($there) { Write-Kept -Text ("intent '{0}' leaves on every node what it set: look at Get-VMSwitch, Get-NetQosPolicy, Get-NetQosTrafficClass, Get-NetQosFlowControl and Get-NetAdapterAdvancedProperty, and take away what was not there" -f $name) }
            continue
        }
        $is = @($script:Before.Intents | Where-Object { $_.Name -eq $name } | ForEach-Object { $_.Overrides })
        $vlans = $null
        if ($null -ne $want.StorageVlans -and @(Get-List -Rows $was[0].StorageVlans).Count -gt 0) { $vlans = @(Get-List -Rows $was[0].StorageVlans) }
        $management = $null
        if ($null -ne $want.ManagementVlan -and '', '-1' -notcontains [string]$was[0].ManagementVlan) { $management = [string]$was[0].ManagementVlan }
        Step-Intent -Want @{
            Name = $name
            Types = @(Get-List -Rows $was[0].Types)
            Adapters = @(Get-List -Rows $was[0].Adapters)
            StorageVlans = $vlans
            ManagementVlan = $management
            Overrides = @(Select-Override -Want $want.Overrides -Rows @(Get-List -Rows $was[0].Overrides) -Now $is -Where ("intent '{0}'" -f $name))
        }
    }
}

# --- run -------------------------------------------------------------------------

$Intents = @($Desired.Intents | Where-Object { $_.Manage })

function Invoke-Main {
    $script:Before = Read-State
    Assert-Host -State $script:Before
    Assert-Managed
    $old = Read-Snapshot
    foreach ($row in $Managed) {
        $script:Current[$row.Name] = $row.Name
        $script:NameThen[$row.Name] = ''
        $now = @($script:Before.Adapters | Where-Object { $_.Name -eq $row.Name })
        if ($now.Count -ne 1) { Stop-Run -Code 3 -Text ("no adapter is named '{0}'" -f $row.Name) }
        $was = @(Get-List -Rows $old.Adapters | Where-Object { $_.InterfaceGuid -eq $now[0].InterfaceGuid })
        if ($was.Count -eq 1) { $script:NameThen[$row.Name] = [string]$was[0].Name }
    }
    Restore-Addresses -Old $old
    Step-Global -Rows @(Select-Override -Want $Desired.Global -Rows @(Get-List -Rows $old.GlobalOverrides) -Now $script:Before.GlobalOverrides -Where 'cluster settings')
    Restore-Intents -Old $old
    foreach ($want in $Intents) { Wait-Intent -Name $want.Name }
    $owned = @($Intents | Where-Object { $null -ne (Find-Intent -Name $_.Name) })
    if ($owned.Count -eq 0) { Restore-Names }
}

# rocec:finish
