#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec, the same for every host
<#
.SYNOPSIS
Brings the Network ATC intents of this host's cluster, and the addresses of this host, to the state in its data.
.DESCRIPTION
Intents belong to the cluster: the first node that runs this makes them, on the others nothing is left to do but their addresses. Every
step compares first and changes only what differs; a second run changes nothing. Before the first change the old state is saved as JSON,
which undo.ps1 reads. -WhatIf shows the changes and makes none.
.PARAMETER AllowRestart
Lets Network ATC make and change intents, which restarts adapters on every node of the cluster at once. Never while a storage job runs.
.PARAMETER ReplaceConflicting
Removes the policies and traffic classes that Network ATC would take for a conflict. Before the first intent, run the script with it and
without -AllowRestart on every node.
.PARAMETER StorageIsOffline
Goes on where the RDMA technology of a storage intent changes, which no peer survives: storage and workloads must be offline.
.PARAMETER AllowDisconnect
Goes on where an adapter that carries this session or the default route is put into a switch without a management network. For use at a
console.
.PARAMETER Standalone
Goes on where this computer is in no cluster. Microsoft supports that for tests only.
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
Where an application control policy is in force, as on Azure Local, the scripts of the kit have to be signed.
Exit codes: 0 no change, 2 changed (or would change), 1 failed, 3 wrong host or precondition, 4 more is to be done: run again.
#>
[CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
param(
    [switch]$AllowRestart,
    [switch]$ReplaceConflicting,
    [switch]$StorageIsOffline,
    [switch]$AllowDisconnect,
    [switch]$Standalone,
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

# rocec:clear

# rocec:names

# rocec:addresses

# rocec:atc_fields

# rocec:atc

# --- preconditions ---------------------------------------------------------------

function Assert-Cluster {
    $name = $script:Before.Cluster
    if ($name -eq '') {
        if (-not $Standalone) { Stop-Run -Code 3 -Text 'this computer is in no cluster; make the cluster first (-Standalone goes on, for tests)' }
        return
    }
    if ($Desired.Cluster -ne '' -and $name -ne $Desired.Cluster) { Stop-Run -Code 3 -Text ("this computer is in cluster '{0}', not in '{1}'" -f $name, $Desired.Cluster) }
}

# Intents of other names must not own our adapters, and one of ours keeps its
# types: a switch is neither made nor taken away under what runs on it.
function Assert-Intents {
    foreach ($row in @(Get-Owner -State $script:Before -Except @($Desired.Intents | ForEach-Object { $_.Name }))) {
        Stop-Run -Code 3 -Text ("intent '{0}' owns adapters that are wanted elsewhere" -f $row.Name)
    }
    foreach ($want in $Intents) {
        foreach ($row in @($script:Before.Intents | Where-Object { $_.Name -eq $want.Name })) {
            foreach ($field in @(Get-IntentField -Want $want -Row $row | Where-Object { $_.Want -ne $_.Have })) {
                if ($field.What -eq 'types') {
                    Stop-Run -Code 3 -Text ("intent '{0}' has the types {1}, not {2}; change them with Update-NetIntentType first" -f $want.Name, $field.Have, $field.Want)
                }
                if ($field.What -eq 'NetworkDirectTechnology' -and -not $StorageIsOffline) {
                    Stop-Run -Code 3 -Text ("intent '{0}' changes its RDMA technology from '{1}' to {2}, which ends every RDMA connection of the cluster; take storage offline, then run with -StorageIsOffline" -f $want.Name, $field.Have, $field.Want)
                }
            }
        }
    }
}

# Whether an adapter can be given to an intent that is not there yet.
function Assert-Adapter {
    param([string]$Name, $Want)
    $bound = @(Get-NetAdapterBinding -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue | Where-Object { $_.Enabled } | ForEach-Object { $_.ComponentID })
    if ($bound -contains 'ms_implat') { Stop-Run -Code 3 -Text ("adapter '{0}' is a member of an LBFO team" -f $Name) }
    if ($bound -contains 'vms_pp') { Stop-Run -Code 3 -Text ("adapter '{0}' belongs to a virtual switch, which Network ATC takes for a conflict; remove the switch first" -f $Name) }
    $adapter = Get-NetAdapter -ErrorAction Stop | Where-Object { $_.Name -eq $Name } | Select-Object -First 1
    if ([string]$adapter.Status -ne 'Up') { Stop-Run -Code 3 -Text ("adapter '{0}' is not up, which Network ATC demands" -f $Name) }
    if ($Want.Types -contains 'Storage') {
        if ([string]$adapter.DriverProvider -eq 'Microsoft') { Stop-Run -Code 3 -Text ("adapter '{0}' has the driver that comes with Windows; Network ATC wants the vendor's" -f $Name) }
        if (@(Get-NetAdapterRdma -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue).Count -eq 0) {
            Stop-Run -Code 3 -Text ("adapter '{0}' or its driver has no RDMA" -f $Name)
        }
    }
    if ($Want.Types -contains 'Management' -and (Test-Session -Name $Name)) {
        Write-Line -Tag 'note' -Text ("adapter '{0}' carries this session, which ends when Network ATC moves its address; run again then" -f $Name)
    }
    if ($Want.Types -contains 'Compute' -and $Want.Types -notcontains 'Management' -and (Test-Uplink -Name $Name)) {
        Stop-Run -Code 3 -Text ("adapter '{0}' carries this session or the default route (-AllowDisconnect goes on, at a console); intent '{1}' has no management network" -f $Name, $Want.Name)
    }
}

# Network ATC takes over the management address that an adapter has.
function Assert-Taken {
    foreach ($port in $Desired.Taken) {
        $aliases = @($port.Alias) + @($port.Members | ForEach-Object { $script:Current[$_] })
        foreach ($want in $port.Addresses) {
            $there = @($script:Before.Addresses | Where-Object { $aliases -contains $_.InterfaceAlias -and $_.IPAddress -eq $want.Address -and [int]$_.PrefixLength -eq $want.Prefix })
            if ($there.Count -eq 0) { Stop-Run -Code 3 -Text ("no adapter of '{0}' has the address {1}/{2}, which Network ATC would take over; set it first" -f $port.Alias, $want.Address, $want.Prefix) }
        }
    }
}

# Before the first storage intent, whatever NetQos has is foreign to Network ATC.
function Get-Leftover {
    Get-Conflict -State $script:Before | Where-Object { $_.Kind -eq 'group policy' }
    if (@($script:Before.Intents | Where-Object { $_.Types -contains 'Storage' }).Count -gt 0) { return }
    foreach ($row in $script:Before.Policies) { [pscustomobject]@{ Kind = 'policy'; Name = $row.Name; Why = 'it is not of Network ATC' } }
    foreach ($row in $script:Before.TrafficClasses) {
        if ($row.Name -ne '[Default]') { [pscustomobject]@{ Kind = 'traffic class'; Name = $row.Name; Why = 'it is not of Network ATC' } }
    }
}

# What no override sets stays with whoever keeps the drivers.
function Write-Unset {
    foreach ($row in $Managed) {
        $name = $script:Current[$row.Name]
        foreach ($want in @($row.Properties | Where-Object { $_.Optional })) {
            if ($null -eq (Read-Property -Name $name -Keyword $want.Keyword)) { continue }
            if (Test-Property -Name $name -Keyword $want.Keyword -Value $want.Value) { continue }
            Write-Line -Tag 'note' -Text ("adapter '{0}': {1} is not {2}, and no override of the intents sets it; set it with Set-NetAdapterAdvancedProperty" -f $name, $want.Keyword, $want.Value)
        }
    }
}

# --- run -------------------------------------------------------------------------

$Intents = @($Desired.Intents | Where-Object { $_.Manage })

function Invoke-Main {
    $script:Before = Read-State
    Assert-Host -State $script:Before
    Assert-Managed
    $missing = @($Desired.Features | Where-Object { -not (Test-Feature -State $script:Before -Name $_) })
    foreach ($feature in @($missing | Where-Object { $_ -eq 'Hyper-V' -or $_ -eq 'Failover-Clustering' })) {
        Stop-Run -Code 3 -Text ('the feature {0} is not installed; install it first' -f $feature)
    }
    Assert-Cluster
    foreach ($row in $Managed) { $script:Current[$row.Name] = (Find-Adapter -Row $row).Name }
    Assert-Names -State $script:Before
    Assert-Intents
    foreach ($row in $Managed) {
        $name = $script:Current[$row.Name]
        foreach ($want in $row.Properties) { Assert-Property -Name $name -Want $want }
        if ($null -ne $row.FlowControl) { Assert-Property -Name $name -Want $row.FlowControl }
        foreach ($want in @($Intents | Where-Object { $_.Adapters -contains $row.Name })) {
            $there = @($script:Before.Intents | Where-Object { $_.Name -eq $want.Name -and $_.Adapters -contains $name })
            if ($there.Count -eq 0) { Assert-Adapter -Name $name -Want $want }
            elseif ($name -ne $row.Name) { Stop-Run -Code 3 -Text ("adapter '{0}' cannot become '{1}' while intent '{2}' owns it" -f $name, $row.Name, $want.Name) }
        }
    }
    Assert-Taken
    $leftover = @(Get-Leftover)
    Assert-Conflict -Found $leftover -Replace ([bool]$ReplaceConflicting)
    Step-Features -Missing $missing
    if ($missing.Count -gt 0 -and $WhatIfPreference) { return }
    foreach ($found in $leftover) {
        if ($found.Kind -eq 'policy') { Remove-Policy -Name $found.Name -Why $found.Why }
        if ($found.Kind -eq 'traffic class') { Step-RemoveClass -Name $found.Name -Why $found.Why }
    }
    Step-Names
    foreach ($want in $Intents) { Step-Intent -Want $want }
    foreach ($want in $Intents) { Wait-Intent -Name $want.Name }
    if ($script:Owed -gt 0) { return }
    Write-Unset
    Step-Global -Rows $Desired.Global
    Step-Addresses
}

# rocec:finish
