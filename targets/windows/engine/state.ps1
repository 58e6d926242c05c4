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
    $keywords = '*JumboPacket', '*FlowControl', '*NetworkDirect', '*NetworkDirectTechnology', '*NetworkDirectRoCEFrameSize', 'RdmaRoceFrameSize', 'RoceFrameSize', '*QOS', 'VlanID', '*PriorityVLANTag'
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
            Get-WindowsFeature -Name 'Data-Center-Bridging', 'Hyper-V', 'FS-SMBBW', 'NetworkATC', 'Failover-Clustering' -ErrorAction SilentlyContinue | ForEach-Object {
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
            $force = @{}
            foreach ($table in 'PriorityFlowControlEnableArray', 'PriorityAssignmentTable', 'BandwidthAssignmentTable', 'TsaAssignmentTable') {
                $force[$table] = @()
                if ($null -ne $operational) { $force[$table] = @(@(Get-Field -InputObject $operational -Name $table) | Where-Object { $null -ne $_ }) }
            }
            $hardware = Get-Field -InputObject $_ -Name 'HardwareCapabilities'
            $classes = 0
            if ($null -ne $hardware) { $classes = [int] (Get-Field -InputObject $hardware -Name 'NumberOfTrafficClasses') }
            [pscustomobject]@{
                Name = [string]$_.Name
                Enabled = [bool]$_.Enabled
                NumberOfTrafficClasses = $classes
                PriorityFlowControlEnableArray = $force['PriorityFlowControlEnableArray']
                PriorityAssignmentTable = [int[]]$force['PriorityAssignmentTable']
                BandwidthAssignmentTable = [int[]]$force['BandwidthAssignmentTable']
                TsaAssignmentTable = [int[]]$force['TsaAssignmentTable']
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
                $isolation = Get-VMNetworkAdapterIsolation -ManagementOS -VMNetworkAdapterName $nic.Name -ErrorAction SilentlyContinue
                $mapping = Get-VMNetworkAdapterTeamMapping -ManagementOS -Name $nic.Name -ErrorAction SilentlyContinue
                $mode = ''
                $id = 0
                $isolated = 0
                $pin = ''
                if ($null -ne $isolation -and [string]$isolation.IsolationMode -eq 'Vlan') { $isolated = [int]$isolation.DefaultIsolationID }
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
                    DefaultIsolationID = $isolated
                    NetAdapterName = $pin
                }
            }
        })
    $state.Cluster = ''
    if ($null -ne (Get-Command -Name 'Get-Cluster' -ErrorAction SilentlyContinue)) {
        $cluster = Get-Cluster -ErrorAction SilentlyContinue
        if ($null -ne $cluster) { $state.Cluster = [string]$cluster.Name }
    }
    $state.Intents = @()
    $state.IntentError = ''
    # Network ATC throws where it was installed and never used.
    try { $state.Intents = @(Get-Rows -Command 'Get-NetIntent' -Read { Read-Intent -ClusterName $state.Cluster | ForEach-Object { ConvertTo-IntentRow -Intent $_ } }) }
    catch { $state.IntentError = $_.Exception.Message }
    $state.IntentStatus = @(Get-Rows -Command 'Get-NetIntentStatus' -Read {
            if (@($state.Intents).Count -eq 0) { return }
            Read-Status -ClusterName $state.Cluster | ForEach-Object {
                [pscustomobject]@{
                    IntentName = [string]$_.IntentName
                    Host = [string]$_.Host
                    ConfigurationStatus = [string]$_.ConfigurationStatus
                    ProvisioningStatus = [string]$_.ProvisioningStatus
                    Error = [string]$_.Error
                }
            }
        })
    $state.GlobalOverrides = @(Get-Rows -Command 'Get-NetIntent' -Read {
            foreach ($found in @(Read-Global -ClusterName $state.Cluster)) {
                ConvertTo-OverrideRow -Kind 'Cluster' -Override (Get-Field -InputObject $found -Name 'ClusterOverride')
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
    'IPSrcPrefixMatchCondition', 'IPDstPrefixMatchCondition', 'IPSrcPortStartMatchCondition', 'IPSrcPortEndMatchCondition'
    $narrower = @()
    foreach ($other in $others) {
        $value = Get-Field -InputObject $Policy -Name $other
        if ([string]$value -ne '' -and [string]$value -ne '0') { $narrower = $narrower + [string]$value }
    }
    # What a policy does beyond a priority and a DSCP, which none of ours does.
    $actions = @()
    foreach ($other in 'ThrottleRateAction', 'MinBandwidthWeightAction') {
        $value = [string] (Get-Field -InputObject $Policy -Name $other)
        if ('', '0', '255', '18446744073709551615' -notcontains $value) { $actions = $actions + ('{0} {1}' -f $other, $value) }
    }
    [pscustomobject]@{
        Name = [string]$Policy.Name
        Owner = [string]$Policy.Owner
        Precedence = [uint32]$Policy.Precedence
        Template = Get-Template -Policy $Policy
        NetDirectPortMatchCondition = [int]$Policy.NetDirectPortMatchCondition
        IPProtocolMatchCondition = [string]$Policy.IPProtocolMatchCondition
        IPPortMatchCondition = [int] (Get-Field -InputObject $Policy -Name 'IPPortMatchCondition')
        IPDstPortStartMatchCondition = [int]$Policy.IPDstPortStartMatchCondition
        IPDstPortEndMatchCondition = [int]$Policy.IPDstPortEndMatchCondition
        OtherMatchConditions = [string[]]@($narrower)
        OtherActions = [string[]]@($actions)
        PriorityValue8021Action = [int]$Policy.PriorityValue8021Action
        DSCPAction = [int]$Policy.DSCPAction
    }
}

# Intents of the cluster, or of this computer where it is in none.
function Read-Intent {
    param([string]$ClusterName)
    if ($ClusterName -ne '') { Get-NetIntent -ClusterName $ClusterName -ErrorAction Stop }
    else { Get-NetIntent -ErrorAction Stop }
}

function Read-Global {
    param([string]$ClusterName)
    try {
        if ($ClusterName -ne '') { Get-NetIntent -GlobalOverrides -ClusterName $ClusterName -ErrorAction Stop }
        else { Get-NetIntent -GlobalOverrides -ErrorAction Stop }
    }
    catch { return }
}

function Read-Status {
    param([string]$ClusterName)
    try {
        if ($ClusterName -ne '') { Get-NetIntentStatus -ClusterName $ClusterName -ErrorAction Stop }
        else { Get-NetIntentStatus -ErrorAction Stop }
    }
    catch { return }
}

# What an override object sets; a property without a value is not overridden.
function ConvertTo-OverrideRow {
    param([string]$Kind, $Override)
    if ($null -eq $Override) { return }
    foreach ($property in @($Override.PSObject.Properties)) {
        if ('InstanceId', 'ObjectVersion' -contains $property.Name) { continue }
        if ([string]$property.Value -ne '') { [pscustomobject]@{ Kind = $Kind; Name = [string]$property.Name; Value = $property.Value } }
    }
}

function ConvertTo-IntentRow {
    param($Intent)
    $types = @()
    foreach ($type in 'Management', 'Compute', 'Storage', 'Stretch') {
        if (Get-Field -InputObject $Intent -Name ('Is{0}IntentSet' -f $type)) { $types = $types + $type }
    }
    $overrides = @(
        ConvertTo-OverrideRow -Kind 'Adapter' -Override (Get-Field -InputObject $Intent -Name 'AdapterAdvancedParametersOverride')
        ConvertTo-OverrideRow -Kind 'Qos' -Override (Get-Field -InputObject $Intent -Name 'QosPolicyOverride')
        ConvertTo-OverrideRow -Kind 'Switch' -Override (Get-Field -InputObject $Intent -Name 'SwitchConfigOverride')
        ConvertTo-OverrideRow -Kind 'Storage' -Override (Get-Field -InputObject $Intent -Name 'IPOverride')
    )
    [pscustomobject]@{
        Name = [string] (Get-Field -InputObject $Intent -Name 'IntentName', 'Name')
        Types = [string[]]@($types)
        Adapters = [string[]]@(Get-Field -InputObject $Intent -Name 'NetAdapterNamesAsList')
        StorageVlans = [string[]]@(Get-Field -InputObject $Intent -Name 'StorageVLANs')
        ManagementVlan = [string] (Get-Field -InputObject $Intent -Name 'ManagementVLAN')
        Overrides = @($overrides)
    }
}
