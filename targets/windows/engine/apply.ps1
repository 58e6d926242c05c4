#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec, the same for every host
<#
.SYNOPSIS
Brings the RDMA, DCB, VLAN, MTU and address settings of this host to the state in its data.
.DESCRIPTION
Every step compares first and changes only what differs; a second run changes nothing. Before the first change the old state is
saved as JSON, which undo.ps1 reads. Nothing is restarted without -AllowRestart. -WhatIf shows the changes and makes none.
.PARAMETER AllowRestart
Restarts the adapters whose new settings need it, one at a time, and never while a storage job runs. Also makes virtual switches, which
interrupts their adapters.
.PARAMETER ReplaceConflicting
Removes policies and traffic classes that stand in the way under another name. Without it they are listed and nothing is changed.
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
Exit codes: 0 no change, 2 changed (or would change), 1 failed, 3 wrong host or precondition, 4 a restart is pending.
#>
[CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
param(
    [switch]$AllowRestart,
    [switch]$AllowDisconnect,
    [switch]$ReplaceConflicting,
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

# rocec:names

# rocec:steps

# rocec:addresses

# --- preconditions ----------------------------------------------------------

# Whether an adapter can be used as wanted: not in a team or switch of others,
# able to do DCB and RDMA, and not the one this session came by.
function Assert-Adapter {
    param([string]$Name, $Row)
    $bound = @(Get-NetAdapterBinding -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue | Where-Object { $_.Enabled } | ForEach-Object { $_.ComponentID })
    if ($bound -contains 'ms_implat') { Stop-Run -Code 3 -Text ("adapter '{0}' is a member of an LBFO team, which RDMA and SET exclude" -f $Name) }
    $description = [string] (Get-NetAdapter -ErrorAction Stop | Where-Object { $_.Name -eq $Name } | Select-Object -First 1).InterfaceDescription
    if ($bound -contains 'vms_pp') {
        $owner = ''
        foreach ($vmswitch in @(Get-VMSwitch -ErrorAction SilentlyContinue)) {
            $uplinks = @(Get-Field -InputObject $vmswitch -Name 'NetAdapterInterfaceDescriptions', 'NetAdapterInterfaceDescription')
            if ($uplinks -contains $description) { $owner = [string]$vmswitch.Name }
        }
        if ($Row.Team -eq '' -or $owner -ne $Row.Team) {
            Stop-Run -Code 3 -Text ("adapter '{0}' belongs to the virtual switch '{1}'" -f $Name, $owner)
        }
    }
    elseif ($Row.Team -ne '' -and (Test-Uplink -Name $Name)) {
        Stop-Run -Code 3 -Text ("adapter '{0}' carries this session or the default route (-AllowDisconnect goes on, at a console); creating switch '{1}' on it would cut the host off" -f $Name, $Row.Team)
    }
    if ($Row.Enabled -eq $false -and (Test-Uplink -Name $Name)) {
        Stop-Run -Code 3 -Text ("adapter '{0}' carries this session or the default route and is not disabled without -AllowDisconnect" -f $Name)
    }
    if ($Row.Qos) {
        $qos = @(Get-NetAdapterQos -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue)
        if ($qos.Count -eq 0) { Stop-Run -Code 3 -Text ("adapter '{0}' or its driver has no DCB" -f $Name) }
        $hardware = Get-Field -InputObject $qos[0] -Name 'HardwareCapabilities'
        if ($null -ne $hardware -and $null -ne $Desired.Qos -and $null -ne $Desired.Qos.Classes) {
            $room = [int] (Get-Field -InputObject $hardware -Name 'NumberOfTrafficClasses')
            # With more classes than the NIC has, Windows programs none of them.
            if ($room -gt 0 -and $Desired.Qos.Classes.Count + 1 -gt $room) {
                Stop-Run -Code 3 -Text ("adapter '{0}' has {1} traffic classes, {2} are wanted" -f $Name, $room, ($Desired.Qos.Classes.Count + 1))
            }
        }
        $dcbx = @(Get-Rows -Command 'Get-NetQosDcbxSetting' -Read {
                Get-NetQosDcbxSetting -InterfaceAlias $Name -ErrorAction SilentlyContinue | Where-Object { $_.Willing }
            })
        if ($null -eq $Row.Willing -and $dcbx.Count -gt 0) {
            Stop-Run -Code 3 -Text ("adapter '{0}' is willing to take DCB settings from the switch, so its own are not in force" -f $Name)
        }
    }
    if ($Row.Rdma -eq $true -and @(Get-NetAdapterRdma -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue).Count -eq 0) {
        Stop-Run -Code 3 -Text ("adapter '{0}' or its driver has no RDMA" -f $Name)
    }
}

# A switch that exists must be a SET team of our adapters: members of others
# are not taken out of it.
function Assert-Teams {
    param($State)
    foreach ($team in $Desired.Teams) {
        $ours = @($team.Members | ForEach-Object { $script:Current[$_] })
        foreach ($row in @($State.Switches | Where-Object { $_.Name -eq $team.Name })) {
            if (-not $row.EmbeddedTeamingEnabled) { Stop-Run -Code 3 -Text ("virtual switch '{0}' exists and is no SET team" -f $team.Name) }
            $foreign = @($row.Members | Where-Object { $ours -notcontains $_ })
            if ($foreign.Count -gt 0) { Stop-Run -Code 3 -Text ("virtual switch '{0}' has the member '{1}', which is not to be in it" -f $team.Name, $foreign[0]) }
        }
    }
}

# --- QoS, adapters, switches --------------------------------------------------

function Step-Qos {
    if ($null -ne $Desired.Willing) {
        Invoke-Step -What ('DCBX willing = {0}' -f $Desired.Willing) -Test {
            @(Get-NetQosDcbxSetting -ErrorAction Stop | Where-Object { -not $_.InterfaceAlias -and [bool]$_.Willing -ne $Desired.Willing }).Count -eq 0
        } -Apply { Set-NetQosDcbxSetting -Willing $Desired.Willing -Confirm:$false -ErrorAction Stop }
    }
    foreach ($row in $Managed) {
        if ($null -eq $row.Willing) { continue }
        $name = $script:Current[$row.Name]
        Invoke-Step -What ("adapter '{0}': DCBX willing = {1}" -f $name, $row.Willing) -Test {
            @(Get-NetQosDcbxSetting -InterfaceAlias $name -ErrorAction Stop | Where-Object { [bool]$_.Willing -ne $row.Willing }).Count -eq 0
        } -Apply { Set-NetQosDcbxSetting -InterfaceAlias $name -Willing $row.Willing -Confirm:$false -ErrorAction Stop }
    }
    foreach ($row in $Managed) {
        if ($null -ne $row.FlowControl) { Step-Property -Name $script:Current[$row.Name] -Want $row.FlowControl }
    }
    if ($null -eq $Desired.Qos) { return }
    foreach ($found in @(Get-Conflict -State $script:Before)) {
        if ($found.Kind -eq 'policy') { Remove-Policy -Name $found.Name -Why $found.Why }
    }
    foreach ($want in $Desired.Qos.Policies) { Step-Policy -Want $want }
    if ($null -ne $Desired.Qos.Pfc) { Step-Pfc -Priority $Desired.Qos.Pfc }
    if ($null -eq $Desired.Qos.Classes) { return }
    foreach ($found in @(Get-Conflict -State $script:Before)) {
        if ($found.Kind -eq 'traffic class') { Step-RemoveClass -Name $found.Name -Why $found.Why }
    }
    Step-Classes -Classes $Desired.Qos.Classes -Rest $Desired.Qos.DefaultPercent
}

function Step-Adapters {
    foreach ($row in $Managed) {
        $name = $script:Current[$row.Name]
        if ($row.Enabled -eq $true) {
            Invoke-Step -What ("adapter '{0}' is enabled" -f $name) -Test { Test-AdminUp -Name $name } -Apply {
                Enable-NetAdapter -Name (ConvertTo-Pattern -Text $name) -Confirm:$false -ErrorAction Stop
            }
        }
        foreach ($want in $row.Properties) { Step-Property -Name $name -Want $want }
        if ($row.Qos) {
            Invoke-Step -What ("adapter '{0}': QoS is on" -f $name) -Restarts $name -Test {
                @(Get-NetAdapterQos -Name (ConvertTo-Pattern -Text $name) -ErrorAction SilentlyContinue | Where-Object { $_.Enabled }).Count -eq 1
            } -Apply { Enable-NetAdapterQos -Name (ConvertTo-Pattern -Text $name) -NoRestart -Confirm:$false -ErrorAction Stop }
        }
        Step-Rdma -Name $name -Want $row.Rdma
        if ($row.Enabled -eq $false) {
            Invoke-Step -What ("adapter '{0}' is disabled" -f $name) -Test { -not (Test-AdminUp -Name $name) } -Apply {
                Disable-NetAdapter -Name (ConvertTo-Pattern -Text $name) -Confirm:$false -ErrorAction Stop
            }
        }
    }
}

# 1 is up, 2 is down: ifAdminStatus of MSFT_NetAdapter.
function Test-AdminUp {
    param([string]$Name)
    @(Get-NetAdapter -ErrorAction Stop | Where-Object { $_.Name -eq $Name -and [int]$_.InterfaceAdminStatus -eq 1 }).Count -eq 1
}

function Step-Offload {
    if ($null -eq $Desired.NetworkDirect) { return }
    Invoke-Step -What 'NetworkDirect is enabled on the host' -Test {
        [string] (Get-NetOffloadGlobalSetting -ErrorAction Stop).NetworkDirect -eq 'Enabled'
    } -Apply { Set-NetOffloadGlobalSetting -NetworkDirect 'Enabled' -Confirm:$false -ErrorAction Stop }
    if ($Desired.NetworkDirect -ne 'routed') { return }
    Invoke-Step -What 'NetworkDirect is allowed across subnets' -Test {
        [string] (Get-NetOffloadGlobalSetting -ErrorAction Stop).NetworkDirectAcrossIPSubnets -eq 'Allowed'
    } -Apply { Set-NetOffloadGlobalSetting -NetworkDirectAcrossIPSubnets 'Allowed' -Confirm:$false -ErrorAction Stop }
}

function Step-Switches {
    foreach ($team in $Desired.Teams) {
        $members = @($team.Members | ForEach-Object { $script:Current[$_] })
        if (-not $WhatIfPreference -and -not (Test-Team -Team $team)) {
            if (-not $AllowRestart -or -not (Wait-Storage)) {
                Write-Line -Tag 'note' -Text ("switch '{0}' is made with -AllowRestart only, and not while storage jobs run: that interrupts its adapters" -f $team.Name)
                $script:Owed = 1
                return
            }
        }
        Invoke-Step -What ("switch '{0}' teams {1}" -f $team.Name, ($team.Members -join ', ')) -Test { Test-Team -Team $team } -Apply {
            if ($null -eq (Get-VMSwitch -ErrorAction Stop | Where-Object { $_.Name -eq $team.Name })) {
                New-VMSwitch -Name $team.Name -NetAdapterName $members -EnableEmbeddedTeaming $true -AllowManagementOS $false -Confirm:$false -ErrorAction Stop
            }
            else { Set-VMSwitchTeam -Name $team.Name -NetAdapterName $members -Confirm:$false -ErrorAction Stop }
        }
        Invoke-Step -What ("switch '{0}' balances by Hyper-V port" -f $team.Name) -Test {
            @(Get-VMSwitchTeam -Name $team.Name -ErrorAction SilentlyContinue | Where-Object { [string]$_.LoadBalancingAlgorithm -eq 'HyperVPort' }).Count -eq 1
        } -Apply { Set-VMSwitchTeam -Name $team.Name -LoadBalancingAlgorithm 'HyperVPort' -Confirm:$false -ErrorAction Stop }
    }
    foreach ($nic in $Desired.Vnics) { Step-Vnic -Want $nic }
}

function Test-Team {
    param($Team)
    $found = @(Get-VMSwitch -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $Team.Name -and $_.EmbeddedTeamingEnabled })
    if ($found.Count -ne 1) { return $false }
    $descriptions = @((Get-VMSwitchTeam -Name $Team.Name -ErrorAction Stop).NetAdapterInterfaceDescription)
    $have = @(Get-NetAdapter -ErrorAction Stop | Where-Object { $descriptions -contains $_.InterfaceDescription } | ForEach-Object { $_.Name } | Sort-Object)
    $want = @($Team.Members | ForEach-Object { $script:Current[$_] } | Sort-Object)
    ($have -join '|') -eq ($want -join '|')
}

function Find-Vnic {
    param($Want)
    Get-VMNetworkAdapter -ManagementOS -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $Want.Name -and $_.SwitchName -eq $Want.Switch } | Select-Object -First 1
}

function Step-Vnic {
    param($Want)
    # Adding twice would make a second one of the same name.
    Invoke-Step -What ("vNIC '{0}' on switch '{1}'" -f $Want.Name, $Want.Switch) -Test { $null -ne (Find-Vnic -Want $Want) } -Apply {
        Add-VMNetworkAdapter -ManagementOS -SwitchName $Want.Switch -Name $Want.Name -Confirm:$false -ErrorAction Stop
    }
    $given = 'vEthernet ({0})' -f $Want.Name
    Invoke-Step -What ("vNIC '{0}' has its name as an adapter" -f $Want.Name) -Test { Test-AdapterName -Name $Want.Name } -Apply {
        Rename-Adapter -From $given -To $Want.Name
    }
    Invoke-Step -What ("vNIC '{0}': VLAN {1}" -f $Want.Name, $Want.Vlan) -Test {
        $vlan = Get-VMNetworkAdapterVlan -ManagementOS -VMNetworkAdapterName $Want.Name -ErrorAction SilentlyContinue
        $null -ne $vlan -and (($Want.Vlan -eq 0 -and [string]$vlan.OperationMode -eq 'Untagged') -or
            ($Want.Vlan -gt 0 -and [string]$vlan.OperationMode -eq 'Access' -and [int]$vlan.AccessVlanId -eq $Want.Vlan))
    } -Apply {
        if ($Want.Vlan -eq 0) { Set-VMNetworkAdapterVlan -ManagementOS -VMNetworkAdapterName $Want.Name -Untagged -Confirm:$false -ErrorAction Stop }
        else { Set-VMNetworkAdapterVlan -ManagementOS -VMNetworkAdapterName $Want.Name -Access -VlanId $Want.Vlan -Confirm:$false -ErrorAction Stop }
    }
    if ($Want.PriorityTag) {
        Invoke-Step -What ("vNIC '{0}' keeps its priority tag" -f $Want.Name) -Test {
            $nic = Find-Vnic -Want $Want
            $null -ne $nic -and [string]$nic.IeeePriorityTag -eq 'On'
        } -Apply { Set-VMNetworkAdapter -ManagementOS -Name $Want.Name -IeeePriorityTag 'On' -Confirm:$false -ErrorAction Stop }
    }
    if ($Want.Pin -ne '') {
        $member = $script:Current[$Want.Pin]
        Invoke-Step -What ("vNIC '{0}' is mapped to '{1}'" -f $Want.Name, $member) -Test {
            $mapping = Get-VMNetworkAdapterTeamMapping -ManagementOS -Name $Want.Name -ErrorAction SilentlyContinue
            $null -ne $mapping -and [string]$mapping.NetAdapterName -eq $member
        } -Apply {
            Set-VMNetworkAdapterTeamMapping -ManagementOS -VMNetworkAdapterName $Want.Name -PhysicalNetAdapterName $member -Confirm:$false -ErrorAction Stop
        }
    }
    if ($null -ne $Want.Jumbo) {
        if (Test-AdapterName -Name $Want.Name) { Assert-Property -Name $Want.Name -Want $Want.Jumbo }
        Step-Property -Name $Want.Name -Want $Want.Jumbo
    }
    Step-Rdma -Name $Want.Name -Want $Want.Rdma
}

function Step-Smb {
    if ($Desired.LiveMigrationBytes -gt 0) {
        Invoke-Step -What ('SMB limit of live migration = {0} bytes/s' -f $Desired.LiveMigrationBytes) -Test {
            @(Get-SmbBandwidthLimit -Category 'LiveMigration' -ErrorAction SilentlyContinue | Where-Object {
                    [uint64]$_.BytesPerSecond -eq [uint64]$Desired.LiveMigrationBytes
                }).Count -eq 1
        } -Apply { Set-SmbBandwidthLimit -Category 'LiveMigration' -BytesPerSecond $Desired.LiveMigrationBytes -Confirm:$false -ErrorAction Stop }
        Write-ClusterLimit
    }
    if ($Desired.MigrationOption -ne '') {
        Invoke-Step -What ('live migration by {0}' -f $Desired.MigrationOption) -Test {
            [string] (Get-VMHost -ErrorAction Stop).VirtualMachineMigrationPerformanceOption -eq $Desired.MigrationOption
        } -Apply { Set-VMHost -VirtualMachineMigrationPerformanceOption $Desired.MigrationOption -Confirm:$false -ErrorAction Stop }
    }
}

# --- run ---------------------------------------------------------------------

function Invoke-Main {
    $script:Before = Read-State
    Assert-Host -State $script:Before
    Assert-Managed
    Assert-Unowned -State $script:Before
    $missing = @($Desired.Features | Where-Object { -not (Test-Feature -State $script:Before -Name $_) })
    $manual = @($missing | Where-Object { $_ -eq 'Hyper-V' })
    if ($manual.Count -gt 0) { Stop-Run -Code 3 -Text 'the Hyper-V role is not installed; it needs a reboot, so install it first' }
    foreach ($row in $Managed) { $script:Current[$row.Name] = (Find-Adapter -Row $row).Name }
    Assert-Names -State $script:Before
    $script:Pending = @(Read-Pending -State $script:Before)
    foreach ($row in $Managed) {
        $name = $script:Current[$row.Name]
        if ($null -ne $row.FlowControl) { Assert-Property -Name $name -Want $row.FlowControl }
        foreach ($want in $row.Properties) { Assert-Property -Name $name -Want $want }
        Assert-Adapter -Name $name -Row $row
    }
    Assert-Teams -State $script:Before
    Assert-Conflict -Found @(Get-Conflict -State $script:Before) -Replace ([bool]$ReplaceConflicting)
    Step-Features -Missing $missing
    if ($missing.Count -gt 0 -and $WhatIfPreference) { return }
    Step-Names
    Step-Qos
    Step-Offload
    Step-Adapters
    Restart-Rails
    Step-Switches
    Restart-Rails
    Step-Addresses
    Step-Smb
}

# rocec:finish
