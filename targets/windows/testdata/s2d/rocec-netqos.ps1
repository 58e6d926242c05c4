#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec for n1
# intent sha256:4bd82314d4ab04973a0d507266d8b4b97b637e90e20fbbcdccd8b7165e994bf2
<#
.SYNOPSIS
Brings the RDMA, DCB, VLAN, MTU and address settings of this host to the state below.
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
.PARAMETER ExpectComputer
The name this computer has, where it is not the name below.
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
    [string]$ExpectComputer = '',
    [string]$StateDir = '',
    [int]$StorageWaitSeconds = 900
)
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# What this host shall be. Nothing below this block depends on the host.
$Desired = @{
    Computer = 'n1'
    MinimumBuild = 26100
    Features = @('Data-Center-Bridging')
    Willing = $false
    NetworkDirect = 'enabled'
    LiveMigrationBytes = 0
    MigrationOption = ''
    Qos = @{
        Name = 'smb_direct'
        Trust = 'pcp'
        Pfc = @(3)
        PcpMap = @(0, 0, 0, 3, 0, 0, 0, 7)
        Ecn = @('smb')
        Policies = @(
            @{ Name = 'SMB_Direct'; Match = 'NetDirect'; Port = 445; Priority = 3; Dscp = -1; Precedence = $null; Class = 'smb'; Carries = 'rdma'; Transport = 'roce_v2' }
            @{ Name = 'Cluster'; Match = 'Cluster'; Port = 0; Priority = 7; Dscp = -1; Precedence = $null; Class = 'cluster'; Carries = 'cluster'; Transport = '' }
            @{ Name = 'Default'; Match = 'Default'; Port = 0; Priority = 0; Dscp = -1; Precedence = $null; Class = 'default'; Carries = ''; Transport = '' }
        )
        Classes = @(
            @{ Name = 'SMB_Direct'; Algorithm = 'ETS'; Percent = 50; Priority = @(3) }
            @{ Name = 'Cluster'; Algorithm = 'ETS'; Percent = 1; Priority = @(7) }
        )
        DefaultPercent = 49
    }
    Adapters = @(
        @{
            Name = 'smb_a'
            Manage = $true
            Model = 'nvidia/connectx-6-dx' # mlx5 slot1
            Pci = ''
            Mac = ''
            DriverVersion = ''
            Notes = @()
            Enabled = $null
            Mbps = 25000
            Team = ''
            Willing = $false
            Qos = $true
            Rdma = $true
            Technology = 4
            FlowControl = @{ Keyword = '*FlowControl'; Value = '0'; Optional = $false }
            Properties = @(
                @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
                @{ Keyword = 'VlanID'; Value = '711'; Optional = $false }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '4'; Optional = $false }
                @{ Keyword = '*NetworkDirectRoCEFrameSize'; Value = '4096'; Optional = $true }
            )
        }
        @{
            Name = 'smb_b'
            Manage = $true
            Model = 'nvidia/connectx-6-dx' # mlx5 slot1
            Pci = ''
            Mac = ''
            DriverVersion = ''
            Notes = @()
            Enabled = $null
            Mbps = 25000
            Team = ''
            Willing = $false
            Qos = $true
            Rdma = $true
            Technology = 4
            FlowControl = @{ Keyword = '*FlowControl'; Value = '0'; Optional = $false }
            Properties = @(
                @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
                @{ Keyword = 'VlanID'; Value = '712'; Optional = $false }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '4'; Optional = $false }
                @{ Keyword = '*NetworkDirectRoCEFrameSize'; Value = '4096'; Optional = $true }
            )
        }
    )
    Teams = @()
    Vnics = @()
    Interfaces = @(
        @{
            Alias = 'smb_a' # interface smb_a, VLAN 711
            Addresses = @(
                @{ Address = '10.71.1.11'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
        @{
            Alias = 'smb_b' # interface smb_b, VLAN 712
            Addresses = @(
                @{ Address = '10.71.2.11'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
    )
}

# --- reading -----------------------------------------------------------------

# Escapes the wildcard characters of a name that a -Name parameter would expand.
function ConvertTo-Pattern {
    param([string]$Text)
    [System.Management.Automation.WildcardPattern]::Escape($Text)
}

# The first of several properties that an object has: builds of Windows differ.
function Get-Field {
    param($InputObject, [string[]]$Name)
    foreach ($candidate in $Name) {
        $property = $InputObject.PSObject.Properties[$candidate]
        if ($null -ne $property) { return $property.Value }
    }
    return $null
}

# Names of enumerations that some builds give as numbers.
function ConvertTo-Algorithm {
    param([string]$Text)
    switch ($Text) {
        '0' { return 'Strict' }
        '2' { return 'ETS' }
    }
    return $Text
}

function Get-Rows {
    param([string]$Command, [scriptblock]$Read)
    if ($null -eq (Get-Command -Name $Command -ErrorAction SilentlyContinue)) { return }
    & $Read
}

# Everything that rocec reads on this host, as plain values: a raw CIM object
# would serialise its class as well.
function Read-State {
    $keywords = '*JumboPacket', '*FlowControl', '*NetworkDirect', '*NetworkDirectTechnology', '*NetworkDirectRoCEFrameSize', '*QOS', 'VlanID'
    $os = Get-CimInstance -ClassName 'Win32_OperatingSystem' -ErrorAction Stop
    $computer = Get-CimInstance -ClassName 'Win32_ComputerSystem' -ErrorAction Stop
    $state = [ordered]@{
        Schema = 1
        Computer = [string]$computer.DNSHostName
        Domain = [string]$computer.Domain
        Build = [int]$os.BuildNumber
        ProductType = [int]$os.ProductType
        Boot = [long][Math]::Floor($os.LastBootUpTime.ToFileTimeUtc() / 10000000)
    }
    $state.Features = @(Get-Rows -Command 'Get-WindowsFeature' -Read {
            Get-WindowsFeature -Name 'Data-Center-Bridging', 'Hyper-V', 'FS-SMBBW' -ErrorAction SilentlyContinue | ForEach-Object {
                [pscustomobject]@{ Name = [string]$_.Name; InstallState = [string]$_.InstallState }
            }
        })
    $state.Adapters = @(Get-NetAdapter -ErrorAction SilentlyContinue | ForEach-Object {
            [pscustomobject]@{
                Name = [string]$_.Name
                InterfaceDescription = [string]$_.InterfaceDescription
                InterfaceGuid = [string]$_.InterfaceGuid
                InterfaceIndex = [uint32]$_.InterfaceIndex
                InterfaceAdminStatus = [uint32]$_.InterfaceAdminStatus
                Status = [string]$_.Status
                PermanentAddress = [string]$_.PermanentAddress
                ReceiveLinkSpeed = [uint64]$_.ReceiveLinkSpeed
                DriverProvider = [string]$_.DriverProvider
                DriverVersionString = [string]$_.DriverVersionString
                Virtual = [bool]$_.Virtual
            }
        })
    $state.Hardware = @(Get-NetAdapterHardwareInfo -ErrorAction SilentlyContinue | ForEach-Object {
            [pscustomobject]@{
                Name = [string]$_.Name
                SegmentNumber = [uint32]$_.SegmentNumber
                BusNumber = [uint32]$_.BusNumber
                DeviceNumber = [uint32]$_.DeviceNumber
                FunctionNumber = [uint32]$_.FunctionNumber
            }
        })
    $state.Properties = @(Get-NetAdapterAdvancedProperty -Name '*' -ErrorAction SilentlyContinue |
            Where-Object { $keywords -contains $_.RegistryKeyword } | ForEach-Object {
                [pscustomobject]@{
                    Name = [string]$_.Name
                    RegistryKeyword = [string]$_.RegistryKeyword
                    RegistryValue = [string[]]@($_.RegistryValue)
                }
            })
    $state.Policies = @(Get-NetQosPolicy -ErrorAction SilentlyContinue | ForEach-Object { ConvertTo-PolicyRow -Policy $_ })
    $state.ActivePolicies = @(Get-NetQosPolicy -PolicyStore 'ActiveStore' -ErrorAction SilentlyContinue |
            ForEach-Object { ConvertTo-PolicyRow -Policy $_ })
    $state.FlowControl = @(Get-Rows -Command 'Get-NetQosFlowControl' -Read {
            Get-NetQosFlowControl -ErrorAction SilentlyContinue | Where-Object { -not $_.InterfaceAlias } | ForEach-Object {
                [pscustomobject]@{ Priority = [int]$_.Priority; Enabled = [bool]$_.Enabled }
            }
        })
    $state.TrafficClasses = @(Get-Rows -Command 'Get-NetQosTrafficClass' -Read {
            Get-NetQosTrafficClass -ErrorAction SilentlyContinue | Where-Object { -not $_.InterfaceAlias } | ForEach-Object {
                [pscustomobject]@{
                    Name = [string]$_.Name
                    Algorithm = ConvertTo-Algorithm -Text ([string]$_.Algorithm)
                    BandwidthPercentage = [int]$_.BandwidthPercentage
                    Priority = [int[]]@($_.Priority)
                }
            }
        })
    $state.Dcbx = @(Get-Rows -Command 'Get-NetQosDcbxSetting' -Read {
            Get-NetQosDcbxSetting -ErrorAction SilentlyContinue | Where-Object { -not $_.InterfaceAlias } | ForEach-Object {
                [pscustomobject]@{ InterfaceAlias = ''; Willing = [bool]$_.Willing }
            }
            foreach ($adapter in $state.Adapters) {
                if ($adapter.Virtual) { continue }
                Get-NetQosDcbxSetting -InterfaceAlias $adapter.Name -ErrorAction SilentlyContinue | ForEach-Object {
                    [pscustomobject]@{ InterfaceAlias = $adapter.Name; Willing = [bool]$_.Willing }
                }
            }
        })
    $state.AdapterQos = @(Get-NetAdapterQos -ErrorAction SilentlyContinue | ForEach-Object {
            $operational = Get-Field -InputObject $_ -Name 'OperationalSettings'
            $pfc = @()
            if ($null -ne $operational) { $pfc = @(Get-Field -InputObject $operational -Name 'PriorityFlowControlEnableArray') }
            $hardware = Get-Field -InputObject $_ -Name 'HardwareCapabilities'
            $classes = 0
            if ($null -ne $hardware) { $classes = [int] (Get-Field -InputObject $hardware -Name 'NumberOfTrafficClasses') }
            [pscustomobject]@{
                Name = [string]$_.Name
                Enabled = [bool]$_.Enabled
                NumberOfTrafficClasses = $classes
                PriorityFlowControlEnableArray = @($pfc | Where-Object { $null -ne $_ })
            }
        })
    $state.AdapterRdma = @(Get-NetAdapterRdma -ErrorAction SilentlyContinue | ForEach-Object {
            $info = Get-Field -InputObject $_ -Name 'RdmaAdapterInfo'
            $technology = 0
            if ($null -ne $info) { $technology = [int] (Get-Field -InputObject $info -Name 'RdmaTechnology') }
            [pscustomobject]@{ Name = [string]$_.Name; Enabled = [bool]$_.Enabled; RdmaTechnology = $technology }
        })
    $state.Addresses = @(Get-NetIPAddress -PolicyStore 'ActiveStore' -ErrorAction SilentlyContinue | ForEach-Object {
            [pscustomobject]@{
                InterfaceAlias = [string]$_.InterfaceAlias
                IPAddress = [string]$_.IPAddress
                PrefixLength = [int]$_.PrefixLength
                PrefixOrigin = [string]$_.PrefixOrigin
            }
        })
    $state.Interfaces = @(Get-NetIPInterface -PolicyStore 'ActiveStore' -ErrorAction SilentlyContinue | ForEach-Object {
            [pscustomobject]@{
                InterfaceAlias = [string]$_.InterfaceAlias
                AddressFamily = [string]$_.AddressFamily
                NlMtu = [uint32]$_.NlMtu
                Dhcp = [string]$_.Dhcp
            }
        })
    $state.Routes = @(Get-NetRoute -DestinationPrefix '0.0.0.0/0', '::/0' -ErrorAction SilentlyContinue | ForEach-Object {
            [pscustomobject]@{
                InterfaceAlias = [string]$_.InterfaceAlias
                DestinationPrefix = [string]$_.DestinationPrefix
                NextHop = [string]$_.NextHop
            }
        })
    $offload = Get-NetOffloadGlobalSetting -ErrorAction SilentlyContinue
    $state.Offload = [ordered]@{ NetworkDirect = ''; NetworkDirectAcrossIPSubnets = '' }
    if ($null -ne $offload) {
        $state.Offload.NetworkDirect = [string]$offload.NetworkDirect
        $state.Offload.NetworkDirectAcrossIPSubnets = [string]$offload.NetworkDirectAcrossIPSubnets
    }
    $state.SmbLimits = @(Get-Rows -Command 'Get-SmbBandwidthLimit' -Read {
            foreach ($category in 'Default', 'VirtualMachine', 'LiveMigration') {
                Get-SmbBandwidthLimit -Category $category -ErrorAction SilentlyContinue | ForEach-Object {
                    [pscustomobject]@{ Category = $category; BytesPerSecond = [uint64]$_.BytesPerSecond }
                }
            }
        })
    $state.SmbInterfaces = @(Get-Rows -Command 'Get-SmbClientNetworkInterface' -Read {
            Get-SmbClientNetworkInterface -ErrorAction SilentlyContinue | ForEach-Object {
                [pscustomobject]@{ InterfaceIndex = [uint32]$_.InterfaceIndex; RdmaCapable = [bool]$_.RdmaCapable }
            }
        })
    $state.Switches = @(Get-Rows -Command 'Get-VMSwitchTeam' -Read {
            foreach ($vmswitch in @(Get-VMSwitch -ErrorAction SilentlyContinue)) {
                $descriptions = @()
                $algorithm = ''
                if ($vmswitch.EmbeddedTeamingEnabled) {
                    $team = Get-VMSwitchTeam -Name $vmswitch.Name -ErrorAction SilentlyContinue
                    if ($null -ne $team) {
                        $descriptions = @($team.NetAdapterInterfaceDescription)
                        $algorithm = [string]$team.LoadBalancingAlgorithm
                    }
                }
                [pscustomobject]@{
                    Name = [string]$vmswitch.Name
                    EmbeddedTeamingEnabled = [bool]$vmswitch.EmbeddedTeamingEnabled
                    LoadBalancingAlgorithm = $algorithm
                    Members = @($state.Adapters | Where-Object { $descriptions -contains $_.InterfaceDescription } | ForEach-Object { $_.Name })
                }
            }
        })
    $state.HostAdapters = @(Get-Rows -Command 'Get-VMNetworkAdapterTeamMapping' -Read {
            foreach ($nic in @(Get-VMNetworkAdapter -ManagementOS -ErrorAction SilentlyContinue)) {
                $vlan = Get-VMNetworkAdapterVlan -ManagementOS -VMNetworkAdapterName $nic.Name -ErrorAction SilentlyContinue
                $mapping = Get-VMNetworkAdapterTeamMapping -ManagementOS -Name $nic.Name -ErrorAction SilentlyContinue
                $mode = ''
                $id = 0
                $pin = ''
                if ($null -ne $vlan) {
                    $mode = [string]$vlan.OperationMode
                    if ($mode -eq 'Access') { $id = [int]$vlan.AccessVlanId }
                }
                if ($null -ne $mapping) { $pin = [string]$mapping.NetAdapterName }
                [pscustomobject]@{
                    Name = [string]$nic.Name
                    SwitchName = [string]$nic.SwitchName
                    IeeePriorityTag = [string]$nic.IeeePriorityTag
                    OperationMode = $mode
                    AccessVlanId = $id
                    NetAdapterName = $pin
                }
            }
        })
    $state.MigrationOption = ''
    if ($null -ne (Get-Command -Name 'Get-VMHost' -ErrorAction SilentlyContinue)) {
        $vmhost = Get-VMHost -ErrorAction SilentlyContinue
        if ($null -ne $vmhost) { $state.MigrationOption = [string]$vmhost.VirtualMachineMigrationPerformanceOption }
    }
    [pscustomobject]$state
}

function Get-Template {
    param($Policy)
    $template = Get-Field -InputObject $Policy -Name 'Template', 'TemplateMatchCondition'
    [string]$template
}

function ConvertTo-PolicyRow {
    param($Policy)
    # What narrows a policy beyond the port: such a policy is not one of ours.
    $others = 'AppPathNameMatchCondition', 'UserMatchCondition', 'JobObjectMatchCondition', 'URIMatchCondition',
    'IPSrcPrefixMatchCondition', 'IPDstPrefixMatchCondition', 'IPPortMatchCondition', 'IPSrcPortStartMatchCondition', 'IPSrcPortEndMatchCondition'
    $narrower = @()
    foreach ($other in $others) {
        $value = Get-Field -InputObject $Policy -Name $other
        if ([string]$value -ne '' -and [string]$value -ne '0') { $narrower = $narrower + [string]$value }
    }
    [pscustomobject]@{
        Name = [string]$Policy.Name
        Owner = [string]$Policy.Owner
        Precedence = [uint32]$Policy.Precedence
        Template = Get-Template -Policy $Policy
        NetDirectPortMatchCondition = [int]$Policy.NetDirectPortMatchCondition
        IPProtocolMatchCondition = [string]$Policy.IPProtocolMatchCondition
        IPDstPortStartMatchCondition = [int]$Policy.IPDstPortStartMatchCondition
        IPDstPortEndMatchCondition = [int]$Policy.IPDstPortEndMatchCondition
        OtherMatchConditions = [string[]]@($narrower)
        PriorityValue8021Action = [int]$Policy.PriorityValue8021Action
        DSCPAction = [int]$Policy.DSCPAction
    }
}

# --- guards ------------------------------------------------------------------

$Managed = @($Desired.Adapters | Where-Object { $_.Manage })
$script:ExitCode = 1
if ($StateDir -eq '') { $StateDir = Join-Path -Path $env:ProgramData -ChildPath 'rocec' }
$script:PendingFile = Join-Path -Path $StateDir -ChildPath 'restart-pending.json'

function Write-Line {
    param([string]$Tag, [string]$Text)
    Write-Host ('{0,-8} {1}' -f $Tag, $Text)
}

function Stop-Run {
    param([int]$Code, [string]$Text)
    $script:ExitCode = $Code
    throw $Text
}

function Test-Feature {
    param($State, [string]$Name)
    @($State.Features | Where-Object { $_.Name -eq $Name -and $_.InstallState -eq 'Installed' }).Count -eq 1
}

# The right computer, a server, new enough, and not one that Network ATC configures.
function Assert-Host {
    param($State)
    $names = @($State.Computer, ('{0}.{1}' -f $State.Computer, $State.Domain))
    $wanted = $Desired.Computer
    if ($ExpectComputer -ne '') { $wanted = $ExpectComputer }
    if ($names -notcontains $wanted) {
        Stop-Run -Code 3 -Text ("this script is for '{0}', this computer is '{1}'; -ExpectComputer takes the name it has" -f $wanted, $names[0])
    }
    if ($State.ProductType -eq 1) { Stop-Run -Code 3 -Text 'this is not a server edition of Windows' }
    if ($State.Build -lt $Desired.MinimumBuild) {
        Stop-Run -Code 3 -Text ('build {0} or newer is expected, this is {1}' -f $Desired.MinimumBuild, $State.Build)
    }
    if ($null -eq (Get-Command -Name 'Get-NetIntent' -ErrorAction SilentlyContinue)) { return }
    $ours = @($Desired.Adapters | ForEach-Object { $_.Name })
    foreach ($intent in @(Get-NetIntent -ErrorAction SilentlyContinue)) {
        $owned = Get-Field -InputObject $intent -Name 'NetAdapterNamesAsList'
        if ($null -eq $owned -or @($owned | Where-Object { $ours -contains $_ }).Count -gt 0) {
            Stop-Run -Code 3 -Text ("Network ATC intent '{0}' owns adapters of this host; use one of the two, not both" -f [string] (Get-Field -InputObject $intent -Name 'IntentName', 'Name'))
        }
    }
}

function Test-PolicyMatch {
    param($Row, $Want)
    switch ($Want.Match) {
        'NetDirect' { return ($Row.NetDirectPortMatchCondition -eq $Want.Port) }
        'Cluster' { return ($Row.Template -eq 'Cluster') }
        'Default' { return ($Row.Template -eq 'Default') }
    }
    # Some builds give the protocol as a number; the port then has to do.
    $protocol = $Row.IPProtocolMatchCondition -eq $Want.Match -or $Row.IPProtocolMatchCondition -match '^\d+$'
    $protocol -and @($Row.OtherMatchConditions).Count -eq 0 -and $Row.IPDstPortStartMatchCondition -eq $Want.Port -and $Row.IPDstPortEndMatchCondition -eq $Want.Port
}

# Policies that match the same traffic under another name, and traffic classes
# of other names: both would take what the classes below need.
function Get-Conflict {
    param($State)
    if ($null -eq $Desired.Qos) { return }
    $names = @($Desired.Qos.Policies | ForEach-Object { $_.Name })
    $local = @($State.Policies | ForEach-Object { $_.Name })
    foreach ($row in $State.Policies) {
        if ($names -contains $row.Name) { continue }
        foreach ($want in $Desired.Qos.Policies) {
            if (Test-PolicyMatch -Row $row -Want $want) {
                [pscustomobject]@{ Kind = 'policy'; Name = $row.Name; Why = ("it matches the traffic of '{0}'" -f $want.Name) }
            }
        }
    }
    foreach ($row in $State.ActivePolicies) {
        if ($local -contains $row.Name) { continue }
        foreach ($want in $Desired.Qos.Policies) {
            if (Test-PolicyMatch -Row $row -Want $want) {
                [pscustomobject]@{ Kind = 'group policy'; Name = $row.Name; Why = ("it matches the traffic of '{0}' and comes from {1}" -f $want.Name, $row.Owner) }
            }
        }
    }
    if ($null -eq $Desired.Qos.Classes) { return }
    $classes = @($Desired.Qos.Classes | ForEach-Object { $_.Name })
    foreach ($row in $State.TrafficClasses) {
        if ($row.Name -eq '[Default]' -or $classes -contains $row.Name) { continue }
        [pscustomobject]@{ Kind = 'traffic class'; Name = $row.Name; Why = ('it holds priority {0} and {1} %' -f (@($row.Priority) -join ', '), $row.BandwidthPercentage) }
    }
}

# Since the 2022-09 update a cluster sets the limit of its nodes by itself.
function Write-ClusterLimit {
    if ($null -eq (Get-Command -Name 'Get-Cluster' -ErrorAction SilentlyContinue)) { return }
    $cluster = Get-Cluster -ErrorAction SilentlyContinue
    if ($null -eq $cluster) { return }
    if ([string] (Get-Field -InputObject $cluster -Name 'SetSMBBandwidthLimit') -eq '1') {
        Write-Line -Tag 'note' -Text 'the cluster property SetSMBBandwidthLimit is on and may replace the SMB limit of this node'
    }
}

# Restarts that are still owed outlive this run, until the host was booted.
function Read-Pending {
    param($State)
    if (-not (Test-Path -LiteralPath $script:PendingFile)) { return }
    $saved = Get-Content -LiteralPath $script:PendingFile -Raw | ConvertFrom-Json
    # The boot time is reckoned from the uptime and moves with the clock.
    if ([Math]::Abs([long]$saved.Boot - [long]$State.Boot) -gt 300) { return }
    @($saved.Adapters)
}

# --- changing ----------------------------------------------------------------

$script:Changed = 0
$script:Planned = 0
$script:Saved = ''
$script:Pending = @()
$script:Current = @{}
$script:Before = $null

# One setting: test, ask, save the old state, apply, test again. The first
# failure ends the run, since later steps rest on earlier ones.
function Invoke-Step {
    [CmdletBinding(SupportsShouldProcess = $true)]
    param(
        [Parameter(Mandatory = $true)][string]$What,
        [Parameter(Mandatory = $true)][scriptblock]$Test,
        [Parameter(Mandatory = $true)][scriptblock]$Apply,
        [string]$Restarts = ''
    )
    if (& $Test) {
        Write-Line -Tag 'ok' -Text $What
        return
    }
    if (-not $PSCmdlet.ShouldProcess($env:COMPUTERNAME, $What)) {
        if (-not $WhatIfPreference) { Stop-Run -Code 1 -Text ('{0}: declined' -f $What) }
        $script:Planned++
        return
    }
    Save-Snapshot
    if ($Restarts -ne '') { Add-Pending -Name $Restarts }
    & $Apply | Out-Null
    if (-not (& $Test)) { Stop-Run -Code 1 -Text ('{0}: the state differs after the change' -f $What) }
    $script:Changed++
    Write-Line -Tag 'changed' -Text $What
}

function Initialize-StateDir {
    if (-not (Test-Path -LiteralPath $StateDir)) {
        New-Item -Path $StateDir -ItemType 'Directory' -Force -WhatIf:$false -Confirm:$false | Out-Null
    }
}

function Save-Snapshot {
    if ($script:Saved -ne '') { return }
    Initialize-StateDir
    $stamp = [DateTime]::UtcNow.ToString('yyyyMMdd-HHmmss-fff', [System.Globalization.CultureInfo]::InvariantCulture)
    $file = Join-Path -Path $StateDir -ChildPath ('netqos-before-{0}.json' -f $stamp)
    $json = ConvertTo-Json -InputObject $script:Before -Depth 6
    Set-Content -LiteralPath $file -Value $json -Encoding 'UTF8' -WhatIf:$false -Confirm:$false
    $script:Saved = $file
    Write-Line -Tag 'saved' -Text $file
}

function Save-Pending {
    Initialize-StateDir
    $json = ConvertTo-Json -InputObject ([pscustomobject]@{ Boot = $script:Before.Boot; Adapters = [string[]]@($script:Pending) }) -Depth 3
    Set-Content -LiteralPath $script:PendingFile -Value $json -Encoding 'UTF8' -WhatIf:$false -Confirm:$false
}

# A step on a policy.
function Step-Policy {
    param($Want)
    $text = "policy '{0}': {1} {2} has priority {3}, DSCP {4}" -f $Want.Name, $Want.Match, $Want.Port, $Want.Priority, $Want.Dscp
    Invoke-Step -What $text -Test { Test-Policy -Want $Want } -Apply { New-Policy -Want $Want }
}

function Remove-Policy {
    param([string]$Name, [string]$Why)
    Invoke-Step -What ("policy '{0}' is removed: {1}" -f $Name, $Why) -Test { $null -eq (Find-Policy -Name $Name) } -Apply {
        Get-NetQosPolicy -ErrorAction Stop | Where-Object { $_.Name -eq $Name } | Remove-NetQosPolicy -Confirm:$false -ErrorAction Stop
    }
}

function Step-RemoveClass {
    param([string]$Name, [string]$Why)
    Invoke-Step -What ("traffic class '{0}' is removed: {1}" -f $Name, $Why) -Test { $null -eq (Read-Class -Name $Name) } -Apply {
        Remove-Class -Name $Name
    }
}

function Add-Pending {
    param([string]$Name)
    if ($script:Pending -contains $Name) { return }
    $script:Pending = @($script:Pending) + $Name
    Save-Pending
}

# --- adapters ----------------------------------------------------------------

function Rename-Adapter {
    param([string]$From, [string]$To)
    Get-NetAdapter -ErrorAction Stop | Where-Object { $_.Name -eq $From } | Rename-NetAdapter -NewName $To -Confirm:$false -ErrorAction Stop
}

function Test-AdapterName {
    param([string]$Name)
    @(Get-NetAdapter -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $Name }).Count -eq 1
}

function Read-Property {
    param([string]$Name, [string]$Keyword)
    Get-NetAdapterAdvancedProperty -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue |
        Where-Object { $_.RegistryKeyword -eq $Keyword } | Select-Object -First 1
}

function Test-Property {
    param([string]$Name, [string]$Keyword, [string]$Value)
    $property = Read-Property -Name $Name -Keyword $Keyword
    $null -ne $property -and (@($property.RegistryValue) -join ',') -eq $Value
}

# Whether the driver takes the value, before anything is changed.
function Assert-Property {
    param([string]$Name, $Want)
    $property = Read-Property -Name $Name -Keyword $Want.Keyword
    if ($null -eq $property) {
        if ($Want.Optional) { return }
        Stop-Run -Code 3 -Text ("adapter '{0}': the driver does not list {1}" -f $Name, $Want.Keyword)
    }
    $valid = @($property.ValidRegistryValues | Where-Object { $null -ne $_ -and [string]$_ -ne '' })
    if ($valid.Count -gt 0) {
        if ($valid -contains $Want.Value) { return }
        Stop-Run -Code 3 -Text ("adapter '{0}': {1} cannot be {2}, the driver takes {3}" -f $Name, $Want.Keyword, $Want.Value, ($valid -join ', '))
    }
    $number = [long]$Want.Value
    $least = [string]$property.NumericParameterMinValue
    $most = [string]$property.NumericParameterMaxValue
    if ($least -match '^\d+$' -and $most -match '^\d+$' -and ($number -lt [long]$least -or $number -gt [long]$most)) {
        Stop-Run -Code 3 -Text ("adapter '{0}': {1} cannot be {2}, the driver takes {3} to {4}" -f $Name, $Want.Keyword, $Want.Value, $least, $most)
    }
}

# Sets through the object: as a parameter, '*FlowControl' is a wildcard and
# would set vendor keywords that end in the same word.
function Step-Property {
    param([string]$Name, $Want)
    if ($Want.Optional -and $null -eq (Read-Property -Name $Name -Keyword $Want.Keyword)) {
        Write-Line -Tag 'note' -Text ("adapter '{0}': the driver does not list {1} and follows *JumboPacket" -f $Name, $Want.Keyword)
        return
    }
    Invoke-Step -What ("adapter '{0}': {1} = {2}" -f $Name, $Want.Keyword, $Want.Value) -Restarts $Name -Test {
        Test-Property -Name $Name -Keyword $Want.Keyword -Value $Want.Value
    } -Apply {
        Read-Property -Name $Name -Keyword $Want.Keyword |
            Set-NetAdapterAdvancedProperty -RegistryValue $Want.Value -NoRestart -Confirm:$false -ErrorAction Stop
    }
}

# --- QoS ---------------------------------------------------------------------

function Find-Policy {
    param([string]$Name)
    Get-NetQosPolicy -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $Name } | Select-Object -First 1
}

function Test-Policy {
    param($Want)
    $policy = Find-Policy -Name $Want.Name
    if ($null -eq $policy) { return $false }
    $row = ConvertTo-PolicyRow -Policy $policy
    (Test-PolicyMatch -Row $row -Want $Want) -and $row.PriorityValue8021Action -eq $Want.Priority -and $row.DSCPAction -eq $Want.Dscp
}

# A policy cannot change what it matches, so it is made anew.
function New-Policy {
    param($Want)
    if ($null -ne (Find-Policy -Name $Want.Name)) { Remove-NetQosPolicy -Name $Want.Name -Confirm:$false -ErrorAction Stop }
    $mark = @{}
    if ($Want.Dscp -ge 0) { $mark['DSCPAction'] = $Want.Dscp }
    $more = @{}
    if ($null -ne $Want.Precedence) { $more['Precedence'] = $Want.Precedence }
    switch ($Want.Match) {
        'NetDirect' {
            New-NetQosPolicy -Name $Want.Name -NetDirectPortMatchCondition $Want.Port -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @more
        }
        'Cluster' { New-NetQosPolicy -Name $Want.Name -Cluster -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @mark @more }
        'Default' { New-NetQosPolicy -Name $Want.Name -Default -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @mark @more }
        'TCP' {
            New-NetQosPolicy -Name $Want.Name -IPProtocolMatchCondition 'TCP' -IPDstPortMatchCondition $Want.Port -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @mark @more
        }
        'UDP' {
            New-NetQosPolicy -Name $Want.Name -IPProtocolMatchCondition 'UDP' -IPDstPortMatchCondition $Want.Port -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @mark @more
        }
    }
}

function Read-Pfc {
    @(Get-NetQosFlowControl -ErrorAction Stop | Where-Object { -not $_.InterfaceAlias -and $_.Enabled } |
            ForEach-Object { [int]$_.Priority } | Sort-Object) -join ','
}

# Disables before it enables: a NIC with room for one lossless priority must
# never be asked for two.
function Step-Pfc {
    param([int[]]$Priority)
    $text = 'PFC on no priority'
    if ($Priority.Count -gt 0) { $text = 'PFC only on priority {0}' -f ($Priority -join ', ') }
    Invoke-Step -What $text -Test { (Read-Pfc) -eq ($Priority -join ',') } -Apply {
        $off = @((0, 1, 2, 3, 4, 5, 6, 7) | Where-Object { $Priority -notcontains $_ })
        if ($off.Count -gt 0) { Disable-NetQosFlowControl -Priority $off -Confirm:$false -ErrorAction Stop }
        if ($Priority.Count -gt 0) { Enable-NetQosFlowControl -Priority $Priority -Confirm:$false -ErrorAction Stop }
    }
}

function Read-Class {
    param([string]$Name)
    Get-NetQosTrafficClass -ErrorAction Stop | Where-Object { -not $_.InterfaceAlias -and $_.Name -eq $Name } | Select-Object -First 1
}

function Remove-Class {
    param([string]$Name)
    Get-NetQosTrafficClass -ErrorAction Stop | Where-Object { -not $_.InterfaceAlias -and $_.Name -eq $Name } |
        Remove-NetQosTrafficClass -Confirm:$false -ErrorAction Stop
}

# Whether a class has the priorities and the algorithm of a row. Its share may
# still differ.
function Test-ClassShape {
    param($Class, $Want)
    ((@($Class.Priority) | Sort-Object) -join ',') -eq ($Want.Priority -join ',') -and
    (ConvertTo-Algorithm -Text ([string]$Class.Algorithm)) -eq $Want.Algorithm
}

function Test-Class {
    param($Want)
    $class = Read-Class -Name $Want.Name
    if ($null -eq $class) { return $false }
    (Test-ClassShape -Class $class -Want $Want) -and ($Want.Algorithm -ne 'ETS' -or [int]$class.BandwidthPercentage -eq $Want.Percent)
}

# The shares never sum to more than 100 on the way: classes of another shape
# give theirs back to [Default] first, then classes shrink, then classes grow,
# then new ones take from [Default] what is free by then. [Default] keeps the
# rest at every moment.
function Step-Classes {
    param([object[]]$Classes, [int]$Rest)
    foreach ($want in $Classes) {
        $class = Read-Class -Name $want.Name
        if ($null -eq $class -or (Test-ClassShape -Class $class -Want $want)) { continue }
        Invoke-Step -What ("traffic class '{0}' of another shape is removed" -f $want.Name) -Test {
            $null -eq (Read-Class -Name $want.Name)
        } -Apply { Remove-Class -Name $want.Name }
    }
    foreach ($want in $Classes) {
        $class = Read-Class -Name $want.Name
        if ($null -eq $class -or $want.Algorithm -ne 'ETS' -or [int]$class.BandwidthPercentage -le $want.Percent) { continue }
        Invoke-Step -What ("traffic class '{0}' shrinks to {1} %" -f $want.Name, $want.Percent) -Test { Test-Class -Want $want } -Apply {
            Set-NetQosTrafficClass -Name $want.Name -BandwidthPercentage $want.Percent -Confirm:$false -ErrorAction Stop
        }
    }
    foreach ($want in $Classes) {
        $class = Read-Class -Name $want.Name
        if ($null -eq $class -or $want.Algorithm -ne 'ETS' -or [int]$class.BandwidthPercentage -ge $want.Percent) { continue }
        Invoke-Step -What ("traffic class '{0}' grows to {1} %" -f $want.Name, $want.Percent) -Test { Test-Class -Want $want } -Apply {
            Set-NetQosTrafficClass -Name $want.Name -BandwidthPercentage $want.Percent -Confirm:$false -ErrorAction Stop
        }
    }
    foreach ($want in $Classes) {
        $text = "traffic class '{0}': priority {1}, {2}, {3} %" -f $want.Name, ($want.Priority -join ', '), $want.Algorithm, $want.Percent
        Invoke-Step -What $text -Test { Test-Class -Want $want } -Apply {
            if ($want.Algorithm -eq 'ETS') {
                New-NetQosTrafficClass -Name $want.Name -Algorithm 'ETS' -BandwidthPercentage $want.Percent -Priority $want.Priority -Confirm:$false -ErrorAction Stop
            }
            else {
                New-NetQosTrafficClass -Name $want.Name -Algorithm 'Strict' -Priority $want.Priority -Confirm:$false -ErrorAction Stop
            }
        }
    }
    if ($WhatIfPreference) { return }
    $default = Read-Class -Name '[Default]'
    if ($null -eq $default -or [int]$default.BandwidthPercentage -ne $Rest) {
        Stop-Run -Code 1 -Text ("traffic class '[Default]' does not have {0} %" -f $Rest)
    }
    Write-Line -Tag 'ok' -Text ("traffic class '[Default]': {0} %" -f $Rest)
}

function Step-Rdma {
    param([string]$Name, $Want)
    if ($null -eq $Want) { return }
    Invoke-Step -What ("adapter '{0}': RDMA = {1}" -f $Name, $Want) -Restarts $Name -Test {
        @(Get-NetAdapterRdma -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue | Where-Object { [bool]$_.Enabled -eq $Want }).Count -eq 1
    } -Apply {
        if ($Want) { Enable-NetAdapterRdma -Name (ConvertTo-Pattern -Text $Name) -NoRestart -Confirm:$false -ErrorAction Stop }
        else { Disable-NetAdapterRdma -Name (ConvertTo-Pattern -Text $Name) -NoRestart -Confirm:$false -ErrorAction Stop }
    }
}

# A restart is due before the vNICs are made: the switch takes over the adapters' settings.
function Restart-Rails {
    if ($WhatIfPreference) {
        if (@($script:Pending).Count -gt 0) { Write-Line -Tag 'note' -Text ('a restart is pending: {0}' -f ($script:Pending -join ', ')) }
        return
    }
    if (-not $AllowRestart) { return }
    foreach ($name in @($script:Pending)) {
        if (Test-Session -Name $name) {
            Write-Line -Tag 'note' -Text ("adapter '{0}' carries this session; restart it from a console" -f $name)
            continue
        }
        if (-not (Wait-Storage)) {
            Write-Line -Tag 'note' -Text ("adapter '{0}' is not restarted while storage jobs run" -f $name)
            return
        }
        $others = @($Managed | Where-Object {
                $script:Current[$_.Name] -ne $name -and $_.Enabled -ne $false -and -not (Test-Up -Name $script:Current[$_.Name])
            })
        if ($others.Count -gt 0) {
            Write-Line -Tag 'note' -Text ("adapter '{0}' is not restarted while '{1}' is not up" -f $name, $others[0].Name)
            return
        }
        Write-Line -Tag 'restart' -Text $name
        Restart-NetAdapter -Name (ConvertTo-Pattern -Text $name) -Confirm:$false -ErrorAction Stop
        $deadline = [DateTime]::UtcNow.AddSeconds(120)
        while (-not (Test-Up -Name $name)) {
            if ([DateTime]::UtcNow -gt $deadline) { Stop-Run -Code 1 -Text ("adapter '{0}' did not come up within 120 s after its restart" -f $name) }
            Start-Sleep -Seconds 2
        }
        $script:Pending = @($script:Pending | Where-Object { $_ -ne $name })
        Save-Pending
        $script:Changed++
    }
}

function Test-Up {
    param([string]$Name)
    @(Get-NetAdapter -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $Name -and $_.Status -eq 'Up' }).Count -eq 1
}

# Suspended counts as running: a node in maintenance has jobs that resume.
function Wait-Storage {
    if ($null -eq (Get-Command -Name 'Get-StorageJob' -ErrorAction SilentlyContinue)) { return $true }
    # Names, or the numbers that CIM_ConcreteJob gives them.
    $ended = 'Completed', 'Terminated', 'Killed', 'Exception', '7', '8', '9', '10'
    $deadline = [DateTime]::UtcNow.AddSeconds($StorageWaitSeconds)
    while ($true) {
        $running = @(Get-StorageJob -ErrorAction SilentlyContinue | Where-Object {
                $ended -notcontains [string]$_.JobState
            })
        if ($running.Count -eq 0) { return $true }
        if ([DateTime]::UtcNow -gt $deadline) { return $false }
        Start-Sleep -Seconds 10
    }
}

# Whether this SSH session came to an address of the adapter.
function Test-Session {
    param([string]$Name)
    $parts = @(([string]$env:SSH_CONNECTION).Split(' ') | Where-Object { $_ -ne '' })
    if ($parts.Count -ne 4) { return $false }
    @(Get-NetIPAddress -InterfaceAlias $Name -ErrorAction SilentlyContinue | Where-Object { $_.IPAddress -eq $parts[2] }).Count -gt 0
}

# Whether the host may be cut off for good when the adapter goes: what else is
# known of how it is reached is its default route.
function Test-Uplink {
    param([string]$Name)
    if ($AllowDisconnect) { return $false }
    if (Test-Session -Name $Name) { return $true }
    @(Get-NetRoute -InterfaceAlias $Name -DestinationPrefix '0.0.0.0/0', '::/0' -ErrorAction SilentlyContinue).Count -gt 0
}

# --- names and QoS ----------------------------------------------------------

# The adapter of a row: by PCI address, else by permanent address, else by name.
function Find-Adapter {
    param($Row)
    $all = @(Get-NetAdapter -ErrorAction SilentlyContinue)
    if ($Row.Pci -ne '') {
        $at = @(Get-NetAdapterHardwareInfo -ErrorAction SilentlyContinue | Where-Object {
                ('{0:x4}:{1:x2}:{2:x2}.{3:x}' -f [int]$_.SegmentNumber, [int]$_.BusNumber, [int]$_.DeviceNumber, [int]$_.FunctionNumber) -eq $Row.Pci
            } | ForEach-Object { $_.Name })
        $all = @($all | Where-Object { $at -contains $_.Name })
    }
    if ($Row.Mac -ne '') {
        $all = @($all | Where-Object { -not $_.Virtual -and ([string]$_.PermanentAddress -replace '[^0-9A-Fa-f]', '') -eq $Row.Mac })
    }
    if ($Row.Pci -eq '' -and $Row.Mac -eq '') { $all = @($all | Where-Object { $_.Name -eq $Row.Name }) }
    if ($all.Count -ne 1) {
        Stop-Run -Code 3 -Text ("adapter '{0}' (pci '{1}', mac '{2}'): {3} adapters fit" -f $Row.Name, $Row.Pci, $Row.Mac, $all.Count)
    }
    $all[0]
}

# Names may be swapped among our own adapters, hence the two passes.
function Step-Names {
    $wrong = @($Managed | Where-Object { $script:Current[$_.Name] -ne $_.Name })
    foreach ($row in $wrong) {
        $taken = @($wrong | Where-Object { $script:Current[$_.Name] -eq $row.Name })
        if ($taken.Count -eq 0) { continue }
        $other = $taken[0]
        $from = $script:Current[$other.Name]
        $aside = 'rocec-{0}' -f $other.Name
        Invoke-Step -What ("adapter '{0}' is set aside as '{1}'" -f $from, $aside) -Test { Test-AdapterName -Name $aside } -Apply {
            Rename-Adapter -From $from -To $aside
        }
        if (-not $WhatIfPreference) { $script:Current[$other.Name] = $aside }
    }
    foreach ($row in $wrong) {
        $from = $script:Current[$row.Name]
        Invoke-Step -What ("adapter '{0}' is named '{1}'" -f $from, $row.Name) -Test {
            (Test-AdapterName -Name $row.Name) -and -not (Test-AdapterName -Name $from)
        } -Apply {
            Rename-Adapter -From $from -To $row.Name
        }
        if (-not $WhatIfPreference) { $script:Current[$row.Name] = $row.Name }
    }
}

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

# --- preconditions ----------------------------------------------------------

# A name that an adapter is to get must not be that of a foreign adapter.
function Assert-Names {
    param($State)
    $mine = @($script:Current.Values)
    foreach ($row in $Managed) {
        if ($script:Current[$row.Name] -eq $row.Name) { continue }
        if (@($State.Adapters | Where-Object { $_.Name -eq $row.Name -and $mine -notcontains $_.Name }).Count -gt 0) {
            Stop-Run -Code 3 -Text ("another adapter is already named '{0}'; rename it first" -f $row.Name)
        }
    }
}

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

function Assert-Conflict {
    param($State, [bool]$Replace)
    $found = @(Get-Conflict -State $State)
    foreach ($row in $found) { Write-Line -Tag 'CONFLICT' -Text ("{0} '{1}': {2}" -f $row.Kind, $row.Name, $row.Why) }
    if (@($found | Where-Object { $_.Kind -eq 'group policy' }).Count -gt 0) { Stop-Run -Code 3 -Text 'a group policy decides the QoS of this host; change it there' }
    if ($found.Count -gt 0 -and -not $Replace) { Stop-Run -Code 3 -Text 'remove what conflicts, or run with -ReplaceConflicting; nothing was changed' }
}

# --- adapters, switches, addresses -------------------------------------------

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

function Test-Address {
    param([string]$Alias, $Want)
    @(Get-NetIPAddress -InterfaceAlias $Alias -PolicyStore 'ActiveStore' -ErrorAction SilentlyContinue | Where-Object {
            $_.IPAddress -eq $Want.Address -and [int]$_.PrefixLength -eq $Want.Prefix
        }).Count -eq 1
}

function Step-Addresses {
    foreach ($port in $Desired.Interfaces) {
        $alias = $port.Alias
        if ($script:Current.ContainsKey($alias)) { $alias = $script:Current[$alias] }
        if (-not $WhatIfPreference -and -not (Test-AdapterName -Name $alias)) {
            Write-Line -Tag 'note' -Text ("interface '{0}' gets its addresses when it exists" -f $alias)
            continue
        }
        foreach ($want in $port.Addresses) {
            if ($want.Family -eq 'IPv4') {
                Invoke-Step -What ("interface '{0}': DHCP is off" -f $alias) -Test {
                    @(Get-NetIPInterface -InterfaceAlias $alias -AddressFamily 'IPv4' -PolicyStore 'ActiveStore' -ErrorAction SilentlyContinue |
                            Where-Object { [string]$_.Dhcp -eq 'Disabled' }).Count -eq 1
                } -Apply { Set-NetIPInterface -InterfaceAlias $alias -AddressFamily 'IPv4' -Dhcp 'Disabled' -Confirm:$false -ErrorAction Stop }
            }
            Invoke-Step -What ("interface '{0}': {1}/{2}" -f $alias, $want.Address, $want.Prefix) -Test { Test-Address -Alias $alias -Want $want } -Apply {
                $there = @(Get-NetIPAddress -InterfaceAlias $alias -ErrorAction SilentlyContinue | Where-Object { $_.IPAddress -eq $want.Address })
                if ($there.Count -gt 0) {
                    Set-NetIPAddress -InterfaceAlias $alias -IPAddress $want.Address -PrefixLength $want.Prefix -Confirm:$false -ErrorAction Stop
                }
                else { New-NetIPAddress -InterfaceAlias $alias -IPAddress $want.Address -PrefixLength $want.Prefix -Confirm:$false -ErrorAction Stop }
            }
        }
        if ($port.Gateway -ne '') {
            $default = '0.0.0.0/0'
            if ($port.Gateway.Contains(':')) { $default = '::/0' }
            Invoke-Step -What ("interface '{0}': default route by {1}" -f $alias, $port.Gateway) -Test {
                @(Get-NetRoute -InterfaceAlias $alias -DestinationPrefix $default -ErrorAction SilentlyContinue | Where-Object { $_.NextHop -eq $port.Gateway }).Count -ge 1
            } -Apply { New-NetRoute -InterfaceAlias $alias -DestinationPrefix $default -NextHop $port.Gateway -Confirm:$false -ErrorAction Stop }
        }
        if ($null -eq $port.Mtu) { continue }
        if ($script:Pending -contains $alias) {
            Write-Line -Tag 'note' -Text ("interface '{0}': IP MTU {1} is set after the restart" -f $alias, $port.Mtu)
            continue
        }
        Invoke-Step -What ("interface '{0}': IP MTU {1}" -f $alias, $port.Mtu) -Test {
            @(Get-NetIPInterface -InterfaceAlias $alias -PolicyStore 'ActiveStore' -ErrorAction SilentlyContinue | Where-Object { [int]$_.NlMtu -ne $port.Mtu }).Count -eq 0
        } -Apply { Set-NetIPInterface -InterfaceAlias $alias -NlMtuBytes $port.Mtu -Confirm:$false -ErrorAction Stop }
    }
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

$script:Owed = 0

# --- run ---------------------------------------------------------------------

function Invoke-Main {
    $script:Before = Read-State
    Assert-Host -State $script:Before
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
    Assert-Conflict -State $script:Before -Replace ([bool]$ReplaceConflicting)
    foreach ($feature in $missing) {
        Invoke-Step -What ('feature {0}' -f $feature) -Test { (Get-WindowsFeature -Name $feature -ErrorAction Stop).InstallState -eq 'Installed' } -Apply {
            Install-WindowsFeature -Name $feature -IncludeManagementTools -Confirm:$false -ErrorAction Stop
        }
    }
    if ($missing.Count -gt 0 -and $WhatIfPreference) {
        Write-Line -Tag 'note' -Text 'the other steps can be shown only when the features are installed'
        return
    }
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

try { Invoke-Main }
catch {
    Write-Line -Tag 'FAILED' -Text $_.Exception.Message
    if ($script:Saved -ne '') { Write-Line -Tag 'note' -Text ('undo.ps1 restores {0}' -f $script:Saved) }
    exit $script:ExitCode
}
Write-Line -Tag 'done' -Text ('{0} changed, {1} planned, restart pending: {2}' -f $script:Changed, $script:Planned, (@($script:Pending).Count))
if (@($script:Pending).Count + $script:Owed -gt 0 -and -not $WhatIfPreference) {
    Write-Line -Tag 'note' -Text 'run again with -AllowRestart in a maintenance window'
    exit 4
}
if ($script:Changed + $script:Planned -gt 0) { exit 2 }
exit 0
