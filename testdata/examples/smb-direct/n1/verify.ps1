#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec for n1
# intent sha256:c2abc87c847d8eb54bd165ff7ee5e79679aed2c912c9643996285020241061bb
<#
.SYNOPSIS
Compares this host with the state below. Changes nothing.
.PARAMETER ExpectComputer
The name this computer has, where it is not the name below.
.PARAMETER StateDir
Where rocec-netqos.ps1 keeps the list of pending restarts; %ProgramData%\rocec by default.
.NOTES
Exit codes: 0 as wanted, 2 differences, 1 failed, 3 wrong host.
#>
[CmdletBinding()]
param(
    [string]$ExpectComputer = '',
    [string]$StateDir = ''
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
        PcpMap = @(0, 1, 2, 3, 4, 5, 6, 7)
        Ecn = @('SMB_Direct')
        Policies = @(
            @{ Name = 'SMB_Direct'; Match = 'NetDirect'; Port = 445; Priority = 3; Dscp = -1; Precedence = $null; Class = 'SMB_Direct'; Carries = 'rdma'; Transport = 'roce_v2' }
            @{ Name = 'Cluster'; Match = 'Cluster'; Port = 0; Priority = 7; Dscp = -1; Precedence = $null; Class = 'Cluster'; Carries = 'cluster'; Transport = '' }
            @{ Name = 'Default'; Match = 'Default'; Port = 0; Priority = 0; Dscp = -1; Precedence = $null; Class = 'Default'; Carries = ''; Transport = '' }
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
            Model = 'nvidia/connectx-6-dx' # mlx5
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
            Model = 'nvidia/connectx-6-dx' # mlx5
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

# --- comparing ---------------------------------------------------------------

$script:Differences = 0

function Compare-Setting {
    param([string]$What, [string]$Want, [string]$Have)
    if ($Want -eq $Have) {
        Write-Line -Tag 'ok' -Text ('{0} = {1}' -f $What, $Have)
        return
    }
    $script:Differences++
    Write-Line -Tag 'DIFF' -Text ("{0} is '{1}', want '{2}'" -f $What, $Have, $Want)
}

# The first row with a value in a field, else $null.
function Find-Row {
    param($Rows, [string]$Field, [string]$Value)
    $Rows | Where-Object { $null -ne $_ -and [string]$_.$Field -eq $Value } | Select-Object -First 1
}

function Read-Keyword {
    param($State, [string]$Name, [string]$Keyword)
    $found = @($State.Properties | Where-Object { $_.Name -eq $Name -and $_.RegistryKeyword -eq $Keyword })
    if ($found.Count -eq 0) { return '' }
    @($found[0].RegistryValue) -join ','
}

function Compare-Keyword {
    param($State, [string]$Name, $Want)
    $have = Read-Keyword -State $State -Name $Name -Keyword $Want.Keyword
    if ($Want.Optional -and $have -eq '') {
        Write-Line -Tag 'note' -Text ("adapter '{0}': the driver does not list {1} and follows *JumboPacket" -f $Name, $Want.Keyword)
        return
    }
    Compare-Setting -What ("adapter '{0}' {1}" -f $Name, $Want.Keyword) -Want $Want.Value -Have $have
}

function Compare-Adapter {
    param($State, $Row)
    $label = "adapter '{0}'" -f $Row.Name
    $adapter = Find-Row -Rows $State.Adapters -Field 'Name' -Value $Row.Name
    if ($null -eq $adapter) {
        Compare-Setting -What $label -Want 'present' -Have 'missing'
        return
    }
    $up = 'up'
    if ($Row.Enabled -eq $false) { $up = 'disabled' }
    $status = ([string]$adapter.Status).ToLowerInvariant()
    Compare-Setting -What ('{0} status' -f $label) -Want $up -Have $status
    if ($Row.Mac -ne '') { Compare-Setting -What ('{0} MAC' -f $label) -Want $Row.Mac -Have ($adapter.PermanentAddress -replace '[^0-9A-Fa-f]', '') }
    if ($Row.Pci -ne '') {
        $at = Find-Row -Rows $State.Hardware -Field 'Name' -Value $Row.Name
        $place = ''
        if ($null -ne $at) { $place = '{0:x4}:{1:x2}:{2:x2}.{3:x}' -f [int]$at.SegmentNumber, [int]$at.BusNumber, [int]$at.DeviceNumber, [int]$at.FunctionNumber }
        Compare-Setting -What ('{0} PCI address' -f $label) -Want $Row.Pci -Have $place
    }
    if ($null -ne $Row.Mbps -and $status -eq 'up') {
        Compare-Setting -What ('{0} speed in Mbit/s' -f $label) -Want $Row.Mbps -Have ([uint64]$adapter.ReceiveLinkSpeed / 1000000)
    }
    if ($Row.DriverVersion -ne '') {
        $fits = [string]$adapter.DriverVersionString -like $Row.DriverVersion
        Compare-Setting -What ('{0} driver {1} fits {2}' -f $label, $adapter.DriverVersionString, $Row.DriverVersion) -Want 'True' -Have $fits
    }
    foreach ($note in $Row.Notes) {
        Write-Line -Tag 'note' -Text ('{0}: expected is {1}; no cmdlet shows it' -f $label, $note)
    }
    if ($null -ne $Row.FlowControl) { Compare-Keyword -State $State -Name $Row.Name -Want $Row.FlowControl }
    foreach ($want in $Row.Properties) { Compare-Keyword -State $State -Name $Row.Name -Want $want }
    if ($null -ne $Row.Willing) {
        $dcbx = Find-Row -Rows $State.Dcbx -Field 'InterfaceAlias' -Value $Row.Name
        $have = ''
        if ($null -ne $dcbx) { $have = [string]$dcbx.Willing }
        Compare-Setting -What ('{0} DCBX willing' -f $label) -Want $Row.Willing -Have $have
    }
    if ($Row.Qos) { Compare-AdapterQos -State $State -Name $Row.Name }
    if ($null -ne $Row.Rdma) {
        $rdma = Find-Row -Rows $State.AdapterRdma -Field 'Name' -Value $Row.Name
        $have = 'none'
        if ($null -ne $rdma) { $have = [string]$rdma.Enabled }
        Compare-Setting -What ('{0} RDMA' -f $label) -Want $Row.Rdma -Have $have
        if ($Row.Rdma -and $null -ne $rdma -and $rdma.RdmaTechnology -gt 0 -and $null -ne $Row.Technology) {
            Compare-Setting -What ('{0} RDMA technology in force' -f $label) -Want $Row.Technology -Have $rdma.RdmaTechnology
        }
    }
}

# What the NIC does, not what Windows was told.
function Compare-AdapterQos {
    param($State, [string]$Name)
    $label = "adapter '{0}'" -f $Name
    $qos = Find-Row -Rows $State.AdapterQos -Field 'Name' -Value $Name
    if ($null -eq $qos) {
        Compare-Setting -What ('{0} QoS' -f $label) -Want 'True' -Have 'none'
        return
    }
    Compare-Setting -What ('{0} QoS' -f $label) -Want 'True' -Have $qos.Enabled
    if ($null -eq $Desired.Qos.Pfc -or @($qos.PriorityFlowControlEnableArray).Count -ne 8) { return }
    $on = @((0, 1, 2, 3, 4, 5, 6, 7) | Where-Object { [bool]$qos.PriorityFlowControlEnableArray[$_] }) -join ','
    Compare-Setting -What ('{0} PFC in force on' -f $label) -Want ($Desired.Qos.Pfc -join ',') -Have $on
}

function Compare-Qos {
    param($State)
    if ($null -ne $Desired.Willing) {
        $dcbx = Find-Row -Rows $State.Dcbx -Field 'InterfaceAlias' -Value ''
        $have = ''
        if ($null -ne $dcbx) { $have = [string]$dcbx.Willing }
        Compare-Setting -What 'DCBX willing' -Want $Desired.Willing -Have $have
    }
    if ($null -eq $Desired.Qos) { return }
    foreach ($want in $Desired.Qos.Policies) {
        $row = Find-Row -Rows $State.Policies -Field 'Name' -Value $want.Name
        $have = 'missing'
        if ($null -ne $row) {
            $have = 'another match'
            if (Test-PolicyMatch -Row $row -Want $want) { $have = 'priority {0}, DSCP {1}' -f $row.PriorityValue8021Action, $row.DSCPAction }
        }
        Compare-Setting -What ("policy '{0}' ({1} {2})" -f $want.Name, $want.Match, $want.Port) -Want ('priority {0}, DSCP {1}' -f $want.Priority, $want.Dscp) -Have $have
    }
    foreach ($class in $Desired.Qos.Ecn) {
        Write-Line -Tag 'note' -Text ("class '{0}' sends ECN-capable packets; the NIC's driver decides that and no cmdlet shows it" -f $class)
    }
    foreach ($found in @(Get-Conflict -State $State)) {
        Compare-Setting -What ("{0} '{1}', {2}," -f $found.Kind, $found.Name, $found.Why) -Want 'absent' -Have 'present'
    }
    if ($null -ne $Desired.Qos.Pfc) {
        $on = @($State.FlowControl | Where-Object { $_.Enabled } | ForEach-Object { $_.Priority } | Sort-Object) -join ','
        Compare-Setting -What 'PFC on' -Want ($Desired.Qos.Pfc -join ',') -Have $on
    }
    if ($null -ne $Desired.Qos.Classes) { Compare-Classes -State $State }
}

function Compare-Classes {
    param($State)
    $holder = @{}
    foreach ($row in $State.TrafficClasses) {
        foreach ($priority in @($row.Priority)) { $holder[[string]$priority] = $row.Name }
    }
    foreach ($want in $Desired.Qos.Classes) {
        $row = Find-Row -Rows $State.TrafficClasses -Field 'Name' -Value $want.Name
        $have = 'missing'
        if ($null -ne $row) { $have = '{0} {1} % for priority {2}' -f $row.Algorithm, $row.BandwidthPercentage, ((@($row.Priority) | Sort-Object) -join ', ') }
        Compare-Setting -What ("traffic class '{0}'" -f $want.Name) -Want ('{0} {1} % for priority {2}' -f $want.Algorithm, $want.Percent, ($want.Priority -join ', ')) -Have $have
    }
    $rest = Find-Row -Rows $State.TrafficClasses -Field 'Name' -Value '[Default]'
    $have = 'missing'
    if ($null -ne $rest) { $have = [string]$rest.BandwidthPercentage }
    Compare-Setting -What "traffic class '[Default]' percent" -Want $Desired.Qos.DefaultPercent -Have $have
    if ($null -eq $Desired.Qos.PcpMap) { return }
    foreach ($pcp in 0, 1, 2, 3, 4, 5, 6, 7) {
        $priority = [string]$Desired.Qos.PcpMap[$pcp]
        Compare-Setting -What ('traffic class of frames with PCP {0}' -f $pcp) -Want ([string]$holder[$priority]) -Have ([string]$holder[[string]$pcp])
    }
}

function Compare-Teams {
    param($State)
    foreach ($team in $Desired.Teams) {
        $row = Find-Row -Rows $State.Switches -Field 'Name' -Value $team.Name
        $have = 'missing'
        if ($null -ne $row) { $have = '{0} of {1}' -f $row.LoadBalancingAlgorithm, ((@($row.Members) | Sort-Object) -join ', ') }
        Compare-Setting -What ("switch '{0}'" -f $team.Name) -Want ('HyperVPort of {0}' -f ((@($team.Members) | Sort-Object) -join ', ')) -Have $have
    }
    foreach ($want in $Desired.Vnics) {
        $label = "vNIC '{0}'" -f $want.Name
        $row = Find-Row -Rows $State.HostAdapters -Field 'Name' -Value $want.Name
        if ($null -eq $row) {
            Compare-Setting -What $label -Want 'present' -Have 'missing'
            continue
        }
        Compare-Setting -What ('{0} switch' -f $label) -Want $want.Switch -Have $row.SwitchName
        Compare-Setting -What ('{0} VLAN' -f $label) -Want $want.Vlan -Have $row.AccessVlanId
        if ($want.PriorityTag) { Compare-Setting -What ('{0} priority tag' -f $label) -Want 'On' -Have $row.IeeePriorityTag }
        if ($want.Pin -ne '') { Compare-Setting -What ('{0} team mapping' -f $label) -Want $want.Pin -Have $row.NetAdapterName }
        if ($null -ne $want.Jumbo) { Compare-Keyword -State $State -Name $want.Name -Want $want.Jumbo }
        if ($null -ne $want.Rdma) {
            $rdma = Find-Row -Rows $State.AdapterRdma -Field 'Name' -Value $want.Name
            $have = 'none'
            if ($null -ne $rdma) { $have = [string]$rdma.Enabled }
            Compare-Setting -What ('{0} RDMA' -f $label) -Want $want.Rdma -Have $have
        }
    }
}

function Compare-Interfaces {
    param($State)
    foreach ($port in $Desired.Interfaces) {
        $label = "interface '{0}'" -f $port.Alias
        foreach ($want in $port.Addresses) {
            $text = '{0}/{1}' -f $want.Address, $want.Prefix
            $have = @($State.Addresses | Where-Object { $_.InterfaceAlias -eq $port.Alias -and ('{0}/{1}' -f $_.IPAddress, $_.PrefixLength) -eq $text }).Count
            Compare-Setting -What ('{0} {1}' -f $label, $text) -Want '1' -Have $have
        }
        if ($port.Gateway -ne '') {
            $have = @($State.Routes | Where-Object { $_.InterfaceAlias -eq $port.Alias } | ForEach-Object { $_.NextHop }) -join ', '
            Compare-Setting -What ('{0} default route' -f $label) -Want $port.Gateway -Have $have
        }
        if ($null -ne $port.Mtu) {
            foreach ($row in @($State.Interfaces | Where-Object { $_.InterfaceAlias -eq $port.Alias })) {
                Compare-Setting -What ('{0} {1} MTU' -f $label, $row.AddressFamily) -Want $port.Mtu -Have $row.NlMtu
            }
        }
        if ($port.Rdma) {
            $adapter = Find-Row -Rows $State.Adapters -Field 'Name' -Value $port.Alias
            $capable = 'none'
            if ($null -ne $adapter) {
                $smb = Find-Row -Rows $State.SmbInterfaces -Field 'InterfaceIndex' -Value $adapter.InterfaceIndex
                if ($null -ne $smb) { $capable = [string]$smb.RdmaCapable }
            }
            Compare-Setting -What ('{0} RDMA capable for SMB' -f $label) -Want 'True' -Have $capable
        }
    }
}

function Invoke-Main {
    $state = Read-State
    Assert-Host -State $state
    foreach ($feature in $Desired.Features) {
        Compare-Setting -What ('feature {0} installed' -f $feature) -Want 'True' -Have (Test-Feature -State $state -Name $feature)
    }
    Compare-Qos -State $state
    foreach ($row in $Desired.Adapters) { Compare-Adapter -State $state -Row $row }
    if ($null -ne $Desired.NetworkDirect) {
        Compare-Setting -What 'NetworkDirect' -Want 'Enabled' -Have $state.Offload.NetworkDirect
        if ($Desired.NetworkDirect -eq 'routed') {
            Compare-Setting -What 'NetworkDirect across subnets' -Want 'Allowed' -Have $state.Offload.NetworkDirectAcrossIPSubnets
        }
    }
    Compare-Teams -State $state
    Compare-Interfaces -State $state
    if ($Desired.LiveMigrationBytes -gt 0) {
        $limit = Find-Row -Rows $state.SmbLimits -Field 'Category' -Value 'LiveMigration'
        $have = 'none'
        if ($null -ne $limit) { $have = [string]$limit.BytesPerSecond }
        Compare-Setting -What 'SMB limit of live migration in bytes/s' -Want $Desired.LiveMigrationBytes -Have $have
        Write-ClusterLimit
    }
    if ($Desired.MigrationOption -ne '') {
        Compare-Setting -What 'live migration by' -Want $Desired.MigrationOption -Have $state.MigrationOption
    }
    foreach ($name in @(Read-Pending -State $state)) {
        Compare-Setting -What ("restart of adapter '{0}'" -f $name) -Want 'done' -Have 'pending'
    }
}

try { Invoke-Main }
catch {
    Write-Line -Tag 'FAILED' -Text $_.Exception.Message
    exit $script:ExitCode
}
Write-Line -Tag 'done' -Text ('{0} differences' -f $script:Differences)
if ($script:Differences -gt 0) { exit 2 }
exit 0
