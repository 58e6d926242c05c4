#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec, the same for every host
<#
.SYNOPSIS
Restores what rocec-netqos.ps1 changed, from the snapshot it saved.
.DESCRIPTION
Restores the old values and never factory values, only of what is managed. Features stay installed. The state before the undo is
saved as a snapshot too.
.PARAMETER Snapshot
The file to restore; by default the newest netqos-before-*.json in StateDir.
.PARAMETER RemoveSwitch
Also removes virtual switches that did not exist then. Virtual machines on them lose their network.
.PARAMETER AllowRestart
Restarts the adapters whose restored settings need it, one at a time, and never while a storage job runs.
.PARAMETER AllowDisconnect
Goes on where an adapter that carries this session or the default route is put into a switch, disabled or stripped of its address. For
use at a console.
.PARAMETER Data
The data of this host; host.psd1 of the folder the script is started in by default.
.PARAMETER ExpectComputer
The name this computer has, where it is not the name in the data.
.PARAMETER StateDir
Where snapshots and the list of pending restarts are kept; %ProgramData%\rocec by default.
.PARAMETER StorageWaitSeconds
How long to wait for storage jobs to end before the next adapter is restarted.
.NOTES
Exit codes: 0 no change, 2 changed (or would change), 1 failed, 3 wrong host or no snapshot, 4 a restart is pending,
5 not everything is as it was.
#>
[CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
param(
    [string]$Snapshot = '',
    [switch]$RemoveSwitch,
    [switch]$AllowRestart,
    [switch]$AllowDisconnect,
    [string]$Data = '.\host.psd1',
    [string]$ExpectComputer = '',
    [string]$StateDir = '',
    [int]$StorageWaitSeconds = 900
)
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$Target = 'netqos'

# rocec:data

# rocec:state

# rocec:guards

# rocec:step

# rocec:clear

# rocec:steps

# rocec:restore

# --- restoring QoS, adapters, switches ----------------------------------------

function ConvertTo-Want {
    param($Row)
    $match = $Row.Template
    $port = 0
    $toward = $false
    if ([int]$Row.NetDirectPortMatchCondition -gt 0) {
        $match = 'NetDirect'
        $port = [int]$Row.NetDirectPortMatchCondition
    }
    elseif ([int] (Get-Field -InputObject $Row -Name 'IPPortMatchCondition') -gt 0) {
        $match = [string]$Row.IPProtocolMatchCondition
        $port = [int]$Row.IPPortMatchCondition
    }
    elseif ([int]$Row.IPDstPortStartMatchCondition -gt 0) {
        $match = [string]$Row.IPProtocolMatchCondition
        $port = [int]$Row.IPDstPortStartMatchCondition
        $toward = $true
        if ([int]$Row.IPDstPortEndMatchCondition -ne $port) { $match = 'a range of ports' }
    }
    $want = @{ Name = $Row.Name; Match = $match; Port = $port; Priority = [int]$Row.PriorityValue8021Action; Dscp = [int]$Row.DSCPAction; Precedence = [uint32]$Row.Precedence }
    if ($toward) { $want['Toward'] = $true }
    $want
}

# Policies of our names, and those of other names that were in the way.
function Restore-Policies {
    param($Old)
    if ($null -eq $Desired.Qos) { return }
    $kept = @(Get-List -Rows $Old.Policies)
    $ours = @($Desired.Qos.Policies | ForEach-Object { $_.Name })
    $before = @($kept | ForEach-Object { $_.Name })
    foreach ($name in $ours) {
        if ($before -notcontains $name) { Remove-Policy -Name $name -Why 'it did not exist before' }
    }
    foreach ($row in $kept) {
        $clash = @($Desired.Qos.Policies | Where-Object { Test-PolicyClash -Row $row -Want $_ })
        if ($ours -notcontains $row.Name -and $clash.Count -eq 0) { continue }
        $want = ConvertTo-Want -Row $row
        if ('NetDirect', 'Cluster', 'Default', 'TCP', 'UDP' -notcontains $want.Match) {
            Write-Kept -Text ("policy '{0}' matched '{1}', which is not restored here" -f $want.Name, $want.Match)
            continue
        }
        Step-Policy -Want $want
    }
}

function Restore-Qos {
    param($Old)
    if ($null -eq (Get-Command -Name 'Get-NetQosTrafficClass' -ErrorAction SilentlyContinue)) {
        # Without Data-Center-Bridging there are policies, and nothing else to restore.
        Restore-Policies -Old $Old
        return
    }
    if ($null -ne $Desired.Qos -and $null -ne $Desired.Qos.Classes) {
        $rows = @(Get-List -Rows $Old.TrafficClasses)
        $names = @($rows | ForEach-Object { $_.Name })
        foreach ($class in $Desired.Qos.Classes) {
            if ($names -notcontains $class.Name) { Step-RemoveClass -Name $class.Name -Why 'it did not exist before' }
        }
        $classes = @($rows | Where-Object { $_.Name -ne '[Default]' } | ForEach-Object {
                @{ Name = $_.Name; Algorithm = $_.Algorithm; Percent = [int]$_.BandwidthPercentage; Priority = @(Get-List -Rows $_.Priority | ForEach-Object { [int]$_ } | Sort-Object) }
            })
        $rest = 100
        foreach ($class in $classes) { if ($class.Algorithm -eq 'ETS') { $rest = $rest - $class.Percent } }
        Step-Classes -Classes $classes -Rest $rest
    }
    if ($null -ne $Desired.Qos -and $null -ne $Desired.Qos.Pfc) {
        Step-Pfc -Priority @(Get-List -Rows $Old.FlowControl | Where-Object { $_.Enabled } | ForEach-Object { [int]$_.Priority } | Sort-Object)
    }
    Restore-Policies -Old $Old
    foreach ($row in @(Get-List -Rows $Old.Dcbx)) {
        $alias = [string]$row.InterfaceAlias
        $want = [bool]$row.Willing
        if ($alias -eq '' -and $null -ne $Desired.Willing) {
            Invoke-Step -What ('DCBX willing = {0}' -f $want) -Test {
                @(Get-NetQosDcbxSetting -ErrorAction Stop | Where-Object { -not $_.InterfaceAlias -and [bool]$_.Willing -ne $want }).Count -eq 0
            } -Apply { Set-NetQosDcbxSetting -Willing $want -Confirm:$false -ErrorAction Stop }
        }
        $adapter = @($Managed | Where-Object { $script:NameThen[$_.Name] -eq $alias -and $null -ne $_.Willing })
        if ($alias -eq '' -or $adapter.Count -eq 0) { continue }
        $name = $adapter[0].Name
        Invoke-Step -What ("adapter '{0}': DCBX willing = {1}" -f $name, $want) -Test {
            @(Get-NetQosDcbxSetting -InterfaceAlias $name -ErrorAction Stop | Where-Object { [bool]$_.Willing -ne $want }).Count -eq 0
        } -Apply { Set-NetQosDcbxSetting -InterfaceAlias $name -Willing $want -Confirm:$false -ErrorAction Stop }
    }
}

# Keyword values, RDMA and QoS of one adapter; $From is the name it had then.
function Restore-Adapter {
    param($Old, [string]$Name, [string]$From, [object[]]$Keywords, [bool]$Qos, [bool]$Rdma)
    foreach ($row in @(Get-List -Rows $Old.Properties)) {
        if ($row.Name -ne $From -or $Keywords -notcontains $row.RegistryKeyword) { continue }
        $value = @(Get-List -Rows $row.RegistryValue) -join ','
        Step-Property -Name $Name -Want @{ Keyword = $row.RegistryKeyword; Value = $value; Optional = $true }
    }
    if ($Qos) {
        foreach ($row in @(Get-List -Rows $Old.AdapterQos)) {
            if ($row.Name -ne $From) { continue }
            $want = [bool]$row.Enabled
            Invoke-Step -What ("adapter '{0}': QoS = {1}" -f $Name, $want) -Restarts $Name -Test {
                @(Get-NetAdapterQos -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue | Where-Object { [bool]$_.Enabled -eq $want }).Count -eq 1
            } -Apply {
                if ($want) { Enable-NetAdapterQos -Name (ConvertTo-Pattern -Text $Name) -NoRestart -Confirm:$false -ErrorAction Stop }
                else { Disable-NetAdapterQos -Name (ConvertTo-Pattern -Text $Name) -NoRestart -Confirm:$false -ErrorAction Stop }
            }
        }
    }
    if ($Rdma) {
        foreach ($row in @(Get-List -Rows $Old.AdapterRdma)) {
            if ($row.Name -eq $From) { Step-Rdma -Name $Name -Want ([bool]$row.Enabled) }
        }
    }
}

function Restore-Adapters {
    param($Old)
    foreach ($row in $Managed) {
        $from = $script:NameThen[$row.Name]
        if ($from -eq '') { continue }
        $keywords = @($row.Properties | ForEach-Object { $_.Keyword })
        if ($null -ne $row.FlowControl) { $keywords = @($keywords) + $row.FlowControl.Keyword }
        Restore-Adapter -Old $Old -Name $row.Name -From $from -Keywords $keywords -Qos ([bool]$row.Qos) -Rdma ($null -ne $row.Rdma)
        if ($null -eq $row.Enabled) { continue }
        $was = @(Get-List -Rows $Old.Adapters | Where-Object { $_.Name -eq $from })[0]
        $want = [int]$was.InterfaceAdminStatus -eq 1
        $name = $row.Name
        Invoke-Step -What ("adapter '{0}': enabled = {1}" -f $name, $want) -Test {
            @(Get-NetAdapter -ErrorAction Stop | Where-Object { $_.Name -eq $name -and ([int]$_.InterfaceAdminStatus -eq 1) -eq $want }).Count -eq 1
        } -Apply {
            if ($want) { Enable-NetAdapter -Name (ConvertTo-Pattern -Text $name) -Confirm:$false -ErrorAction Stop }
            else {
                if (Test-Uplink -Name $name) { Stop-Run -Code 3 -Text ("adapter '{0}' carries this session or the default route; -AllowDisconnect goes on, at a console" -f $name) }
                Disable-NetAdapter -Name (ConvertTo-Pattern -Text $name) -Confirm:$false -ErrorAction Stop
            }
        }
    }
}

function Restore-Switches {
    param($Old)
    $nics = @(Get-List -Rows $Old.HostAdapters | ForEach-Object { '{0}/{1}' -f $_.SwitchName, $_.Name })
    foreach ($want in $Desired.Vnics) {
        if ($nics -contains ('{0}/{1}' -f $want.Switch, $want.Name)) {
            Restore-Vnic -Old $Old -Want $want
            continue
        }
        Invoke-Step -What ("vNIC '{0}' is removed" -f $want.Name) -Test {
            @(Get-VMNetworkAdapter -ManagementOS -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $want.Name -and $_.SwitchName -eq $want.Switch }).Count -eq 0
        } -Apply {
            if (Test-Uplink -Name $want.Name) { Stop-Run -Code 3 -Text ("vNIC '{0}' carries this session or the default route; -AllowDisconnect goes on, at a console" -f $want.Name) }
            Remove-VMNetworkAdapter -ManagementOS -SwitchName $want.Switch -Name $want.Name -Confirm:$false -ErrorAction Stop
        }
    }
    $switches = @(Get-List -Rows $Old.Switches | ForEach-Object { $_.Name })
    foreach ($team in $Desired.Teams) {
        if ($switches -contains $team.Name) { continue }
        if (-not $RemoveSwitch) {
            if (@(Get-VMSwitch -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $team.Name }).Count -gt 0) { Write-Kept -Text ("switch '{0}' did not exist before; -RemoveSwitch removes it" -f $team.Name) }
            continue
        }
        Invoke-Step -What ("switch '{0}' is removed" -f $team.Name) -Test {
            @(Get-VMSwitch -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $team.Name }).Count -eq 0
        } -Apply { Remove-VMSwitch -Name $team.Name -Force -Confirm:$false -ErrorAction Stop }
    }
}

function Restore-Vnic {
    param($Old, $Want)
    $row = @(Get-List -Rows $Old.HostAdapters | Where-Object { $_.Name -eq $Want.Name -and $_.SwitchName -eq $Want.Switch })[0]
    $id = [int]$row.AccessVlanId
    $mode = [string]$row.OperationMode
    if ($mode -eq 'Access' -or $mode -eq 'Untagged') {
        Invoke-Step -What ("vNIC '{0}': VLAN {1}" -f $Want.Name, $id) -Test {
            $vlan = Get-VMNetworkAdapterVlan -ManagementOS -VMNetworkAdapterName $Want.Name -ErrorAction SilentlyContinue
            $null -ne $vlan -and [string]$vlan.OperationMode -eq $mode -and ($id -eq 0 -or [int]$vlan.AccessVlanId -eq $id)
        } -Apply {
            if ($id -eq 0) { Set-VMNetworkAdapterVlan -ManagementOS -VMNetworkAdapterName $Want.Name -Untagged -Confirm:$false -ErrorAction Stop }
            else { Set-VMNetworkAdapterVlan -ManagementOS -VMNetworkAdapterName $Want.Name -Access -VlanId $id -Confirm:$false -ErrorAction Stop }
        }
    }
    $tag = [string]$row.IeeePriorityTag
    if ($Want.PriorityTag -and $tag -ne '') {
        Invoke-Step -What ("vNIC '{0}': priority tag {1}" -f $Want.Name, $tag) -Test {
            @(Get-VMNetworkAdapter -ManagementOS | Where-Object { $_.Name -eq $Want.Name -and [string]$_.IeeePriorityTag -eq $tag }).Count -eq 1
        } -Apply { Set-VMNetworkAdapter -ManagementOS -Name $Want.Name -IeeePriorityTag $tag -Confirm:$false -ErrorAction Stop }
    }
    $pin = [string]$row.NetAdapterName
    if ($Want.Pin -ne '') {
        Invoke-Step -What ("vNIC '{0}': mapped to '{1}'" -f $Want.Name, $pin) -Test {
            $mapping = Get-VMNetworkAdapterTeamMapping -ManagementOS -Name $Want.Name -ErrorAction SilentlyContinue
            ($pin -eq '' -and $null -eq $mapping) -or ($null -ne $mapping -and [string]$mapping.NetAdapterName -eq $pin)
        } -Apply {
            if ($pin -eq '') { Remove-VMNetworkAdapterTeamMapping -ManagementOS -Name $Want.Name -Confirm:$false -ErrorAction Stop }
            else { Set-VMNetworkAdapterTeamMapping -ManagementOS -VMNetworkAdapterName $Want.Name -PhysicalNetAdapterName $pin -Confirm:$false -ErrorAction Stop }
        }
    }
    $keywords = @()
    if ($null -ne $Want.Jumbo) { $keywords = @($Want.Jumbo.Keyword) }
    Restore-Adapter -Old $Old -Name $Want.Name -From $Want.Name -Keywords $keywords -Qos $false -Rdma ($null -ne $Want.Rdma)
}

function Restore-Host {
    param($Old)
    if ($Desired.LiveMigrationBytes -gt 0) {
        $was = @(Get-List -Rows $Old.SmbLimits | Where-Object { $_.Category -eq 'LiveMigration' })
        $bytes = [uint64]0
        if ($was.Count -gt 0) { $bytes = [uint64]$was[0].BytesPerSecond }
        Invoke-Step -What ('SMB limit of live migration = {0} bytes/s' -f $bytes) -Test {
            $now = @(Get-SmbBandwidthLimit -Category 'LiveMigration' -ErrorAction SilentlyContinue)
            ($bytes -eq 0 -and $now.Count -eq 0) -or ($now.Count -eq 1 -and [uint64]$now[0].BytesPerSecond -eq $bytes)
        } -Apply {
            if ($bytes -eq 0) { Remove-SmbBandwidthLimit -Category 'LiveMigration' -ErrorAction Stop }
            else { Set-SmbBandwidthLimit -Category 'LiveMigration' -BytesPerSecond $bytes -Confirm:$false -ErrorAction Stop }
        }
    }
    $option = [string]$Old.MigrationOption
    if ($Desired.MigrationOption -ne '' -and $option -ne '') {
        Invoke-Step -What ('live migration by {0}' -f $option) -Test {
            [string] (Get-VMHost -ErrorAction Stop).VirtualMachineMigrationPerformanceOption -eq $option
        } -Apply { Set-VMHost -VirtualMachineMigrationPerformanceOption $option -Confirm:$false -ErrorAction Stop }
    }
    $direct = [string]$Old.Offload.NetworkDirect
    if ($null -ne $Desired.NetworkDirect -and $direct -ne '') {
        Invoke-Step -What ('NetworkDirect = {0}' -f $direct) -Test { [string] (Get-NetOffloadGlobalSetting -ErrorAction Stop).NetworkDirect -eq $direct } -Apply {
            Set-NetOffloadGlobalSetting -NetworkDirect $direct -Confirm:$false -ErrorAction Stop
        }
    }
    $across = [string]$Old.Offload.NetworkDirectAcrossIPSubnets
    if ($Desired.NetworkDirect -eq 'routed' -and $across -ne '') {
        Invoke-Step -What ('NetworkDirect across subnets = {0}' -f $across) -Test {
            [string] (Get-NetOffloadGlobalSetting -ErrorAction Stop).NetworkDirectAcrossIPSubnets -eq $across
        } -Apply { Set-NetOffloadGlobalSetting -NetworkDirectAcrossIPSubnets $across -Confirm:$false -ErrorAction Stop }
    }
}

# --- run ---------------------------------------------------------------------

function Invoke-Main {
    $script:Before = Read-State
    Assert-Host -State $script:Before
    Assert-Managed
    Assert-Unowned -State $script:Before
    $old = Read-Snapshot
    $script:Pending = @(Read-Pending -State $script:Before)
    foreach ($row in $Managed) {
        $script:Current[$row.Name] = $row.Name
        $script:NameThen[$row.Name] = ''
        $now = @($script:Before.Adapters | Where-Object { $_.Name -eq $row.Name })
        if ($now.Count -ne 1) { Stop-Run -Code 3 -Text ("no adapter is named '{0}'" -f $row.Name) }
        $was = @(Get-List -Rows $old.Adapters | Where-Object { $_.InterfaceGuid -eq $now[0].InterfaceGuid })
        if ($was.Count -eq 1) { $script:NameThen[$row.Name] = [string]$was[0].Name }
    }
    Restore-Host -Old $old
    Restore-Addresses -Old $old
    Restore-Switches -Old $old
    Restore-Adapters -Old $old
    Restore-Qos -Old $old
    Restart-Rails
    Restore-Names
}

# rocec:finish
