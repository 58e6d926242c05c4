#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec for n1
# intent sha256:4bd82314d4ab04973a0d507266d8b4b97b637e90e20fbbcdccd8b7165e994bf2
<#
.SYNOPSIS
Restores what rocec-netqos.ps1 changed, from the snapshot it saved.
.DESCRIPTION
Restores the old values and never factory values, only of what is managed below. Features stay installed. The state before the undo is
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
.PARAMETER ExpectComputer
The name this computer has, where it is not the name below.
.PARAMETER StateDir
Where snapshots and the list of pending restarts are kept; %ProgramData%\rocec by default.
.PARAMETER StorageWaitSeconds
How long to wait for storage jobs to end before the next adapter is restarted.
.NOTES
Exit codes: 0 no change, 2 changed (or would change), 1 failed, 3 wrong host or no snapshot, 4 a restart is pending.
#>
[CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
param(
    [string]$Snapshot = '',
    [switch]$RemoveSwitch,
    [switch]$AllowRestart,
    [switch]$AllowDisconnect,
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

# --- restoring ---------------------------------------------------------------

function Read-Snapshot {
    $file = $Snapshot
    if ($file -eq '') {
        if (Test-Path -LiteralPath $StateDir) {
            $files = [System.IO.Directory]::GetFiles($StateDir, 'netqos-before-*.json')
            $file = [string] ($files | Sort-Object | Select-Object -Last 1)
        }
    }
    if ($file -eq '' -or -not (Test-Path -LiteralPath $file)) { Stop-Run -Code 3 -Text ("no snapshot in '{0}'" -f $StateDir) }
    Write-Line -Tag 'restore' -Text $file
    $old = Get-Content -LiteralPath $file -Raw -Encoding 'UTF8' | ConvertFrom-Json
    if ([int]$old.Schema -ne 1 -or [string]$old.Computer -ne $script:Before.Computer) {
        Stop-Run -Code 3 -Text ("'{0}' is not a snapshot of this computer" -f $file)
    }
    $old
}

# The rows of a list of the snapshot: 5.1 writes some lists as { value, Count }.
function Get-List {
    param($Rows)
    if ($null -eq $Rows) { return }
    $inner = $Rows.PSObject.Properties['value']
    if ($null -ne $inner -and $null -ne $Rows.PSObject.Properties['Count'] -and -not ($Rows -is [array])) { $Rows = $inner.Value }
    $Rows | Where-Object { $null -ne $_ }
}

function ConvertTo-Want {
    param($Row)
    $match = $Row.Template
    $port = 0
    if ([int]$Row.NetDirectPortMatchCondition -gt 0) {
        $match = 'NetDirect'
        $port = [int]$Row.NetDirectPortMatchCondition
    }
    elseif ([int]$Row.IPDstPortStartMatchCondition -gt 0) {
        $match = [string]$Row.IPProtocolMatchCondition
        $port = [int]$Row.IPDstPortStartMatchCondition
    }
    @{ Name = $Row.Name; Match = $match; Port = $port; Priority = [int]$Row.PriorityValue8021Action; Dscp = [int]$Row.DSCPAction; Precedence = [uint32]$Row.Precedence }
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
        $clash = @($Desired.Qos.Policies | Where-Object { Test-PolicyMatch -Row $row -Want $_ })
        if ($ours -notcontains $row.Name -and $clash.Count -eq 0) { continue }
        $want = ConvertTo-Want -Row $row
        if ('NetDirect', 'Cluster', 'Default', 'TCP', 'UDP' -notcontains $want.Match) {
            Write-Line -Tag 'note' -Text ("policy '{0}' matched '{1}', which is not restored here" -f $want.Name, $want.Match)
            continue
        }
        Step-Policy -Want $want
    }
}

function Restore-Qos {
    param($Old)
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

# Removes the addresses and routes that were not there, and restores DHCP and MTU.
function Restore-Addresses {
    param($Old)
    foreach ($port in $Desired.Interfaces) {
        $alias = $port.Alias
        $from = $alias
        if ($script:NameThen.ContainsKey($alias)) { $from = $script:NameThen[$alias] }
        if ($port.Gateway -ne '' -and @(Get-List -Rows $Old.Routes | Where-Object { $_.InterfaceAlias -eq $from -and $_.NextHop -eq $port.Gateway }).Count -eq 0) {
            Invoke-Step -What ("interface '{0}': no default route by {1}" -f $alias, $port.Gateway) -Test {
                @(Get-NetRoute -InterfaceAlias $alias -DestinationPrefix '0.0.0.0/0', '::/0' -ErrorAction SilentlyContinue | Where-Object { $_.NextHop -eq $port.Gateway }).Count -eq 0
            } -Apply {
                Get-NetRoute -InterfaceAlias $alias -DestinationPrefix '0.0.0.0/0', '::/0' -ErrorAction SilentlyContinue |
                    Where-Object { $_.NextHop -eq $port.Gateway } | Remove-NetRoute -Confirm:$false -ErrorAction Stop
            }
        }
        foreach ($want in $port.Addresses) {
            $was = @(Get-List -Rows $Old.Addresses | Where-Object { $_.InterfaceAlias -eq $from -and $_.IPAddress -eq $want.Address })
            if ($was.Count -gt 0) {
                $length = [int]$was[0].PrefixLength
                Invoke-Step -What ("interface '{0}': {1}/{2}" -f $alias, $want.Address, $length) -Test {
                    @(Get-NetIPAddress -InterfaceAlias $alias -ErrorAction SilentlyContinue | Where-Object { $_.IPAddress -eq $want.Address -and [int]$_.PrefixLength -eq $length }).Count -eq 1
                } -Apply { Set-NetIPAddress -InterfaceAlias $alias -IPAddress $want.Address -PrefixLength $length -Confirm:$false -ErrorAction Stop }
                continue
            }
            Invoke-Step -What ("interface '{0}': {1} is removed" -f $alias, $want.Address) -Test {
                @(Get-NetIPAddress -InterfaceAlias $alias -ErrorAction SilentlyContinue | Where-Object { $_.IPAddress -eq $want.Address }).Count -eq 0
            } -Apply {
                if (Test-Uplink -Name $alias) { Stop-Run -Code 3 -Text ("interface '{0}' carries this session or the default route; -AllowDisconnect goes on, at a console" -f $alias) }
                Get-NetIPAddress -InterfaceAlias $alias -ErrorAction Stop | Where-Object { $_.IPAddress -eq $want.Address } | Remove-NetIPAddress -Confirm:$false -ErrorAction Stop
            }
        }
        foreach ($row in @(Get-List -Rows $Old.Interfaces | Where-Object { $_.InterfaceAlias -eq $from })) {
            $family = [string]$row.AddressFamily
            if ($family -eq 'IPv4' -and @($port.Addresses | Where-Object { $_.Family -eq 'IPv4' }).Count -gt 0 -and [string]$row.Dhcp -eq 'Enabled') {
                Invoke-Step -What ("interface '{0}': DHCP is on" -f $alias) -Test {
                    @(Get-NetIPInterface -InterfaceAlias $alias -AddressFamily 'IPv4' -ErrorAction SilentlyContinue | Where-Object { [string]$_.Dhcp -eq 'Enabled' }).Count -eq 1
                } -Apply { Set-NetIPInterface -InterfaceAlias $alias -AddressFamily 'IPv4' -Dhcp 'Enabled' -Confirm:$false -ErrorAction Stop }
            }
            if ($null -eq $port.Mtu) { continue }
            $mtu = [uint32]$row.NlMtu
            Invoke-Step -What ("interface '{0}': {1} MTU {2}" -f $alias, $family, $mtu) -Test {
                @(Get-NetIPInterface -InterfaceAlias $alias -ErrorAction SilentlyContinue | Where-Object { [string]$_.AddressFamily -eq $family -and [uint32]$_.NlMtu -eq $mtu }).Count -eq 1
            } -Apply { Set-NetIPInterface -InterfaceAlias $alias -AddressFamily $family -NlMtuBytes $mtu -Confirm:$false -ErrorAction Stop }
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
            Write-Line -Tag 'note' -Text ("switch '{0}' did not exist before; -RemoveSwitch removes it" -f $team.Name)
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

# Names come last: until then both sides go by the names of today.
function Restore-Names {
    foreach ($row in $Managed) {
        $from = $row.Name
        $to = $script:NameThen[$row.Name]
        if ($to -eq '' -or $to -eq $from) { continue }
        Invoke-Step -What ("adapter '{0}' is named '{1}'" -f $from, $to) -Test {
            (Test-AdapterName -Name $to) -and -not (Test-AdapterName -Name $from)
        } -Apply { Rename-Adapter -From $from -To $to }
    }
}

$script:NameThen = @{}

function Invoke-Main {
    $script:Before = Read-State
    Assert-Host -State $script:Before
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

try { Invoke-Main }
catch {
    Write-Line -Tag 'FAILED' -Text $_.Exception.Message
    exit $script:ExitCode
}
Write-Line -Tag 'done' -Text ('{0} changed, {1} planned, restart pending: {2}' -f $script:Changed, $script:Planned, (@($script:Pending).Count))
if (@($script:Pending).Count -gt 0 -and -not $WhatIfPreference) {
    Write-Line -Tag 'note' -Text ('run again with -AllowRestart in a maintenance window to restart {0}' -f ($script:Pending -join ', '))
    exit 4
}
if ($script:Changed + $script:Planned -gt 0) { exit 2 }
exit 0
