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
    if ($Want.Optional -and $have -eq '') { return }
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
    $sizes = @($Row.Properties | Where-Object { $_.Keyword -like '*FrameSize' })
    if ($sizes.Count -gt 0 -and @($sizes | Where-Object { (Read-Keyword -State $State -Name $Row.Name -Keyword $_.Keyword) -ne '' }).Count -eq 0) {
        Write-Line -Tag 'note' -Text ('{0}: expected is a RoCE frame size of {1}; the driver has a setting of its own for it, or none' -f $label, $sizes[0].Value)
    }
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
    if ($null -ne $Desired.Qos.Pfc -and @($qos.PriorityFlowControlEnableArray).Count -eq 8) {
        $on = @((0, 1, 2, 3, 4, 5, 6, 7) | Where-Object { [bool]$qos.PriorityFlowControlEnableArray[$_] }) -join ','
        Compare-Setting -What ('{0} PFC in force on' -f $label) -Want ($Desired.Qos.Pfc -join ',') -Have $on
    }
    if ($null -eq $Desired.Qos.Classes -or @($qos.PriorityAssignmentTable).Count -ne 8 -or @($qos.TsaAssignmentTable).Count -ne 8 -or
        @($qos.BandwidthAssignmentTable).Count -ne 8) { return }
    $want = @()
    $have = @()
    foreach ($priority in (0, 1, 2, 3, 4, 5, 6, 7)) {
        $share = 'ETS {0}' -f $Desired.Qos.DefaultPercent
        foreach ($class in @($Desired.Qos.Classes | Where-Object { $_.Priority -contains $priority })) {
            $share = $class.Algorithm
            if ($share -eq 'ETS') { $share = 'ETS {0}' -f $class.Percent }
        }
        $want += $share
        $in = [int]$qos.PriorityAssignmentTable[$priority]
        $share = 'TSA {0}' -f $qos.TsaAssignmentTable[$in]
        if ($share -eq 'TSA 0') { $share = 'Strict' }
        if ($share -eq 'TSA 2') { $share = 'ETS {0}' -f $qos.BandwidthAssignmentTable[$in] }
        $have += $share
    }
    Compare-Setting -What ('{0} shares in force of priorities 0 to 7' -f $label) -Want ($want -join ', ') -Have ($have -join ', ')
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
}

function Compare-Vnics {
    param($State)
    foreach ($want in $Desired.Vnics) {
        $label = "vNIC '{0}'" -f $want.Name
        $row = Find-Row -Rows $State.HostAdapters -Field 'Name' -Value $want.Name
        if ($null -eq $row) {
            Compare-Setting -What $label -Want 'present' -Have 'missing'
            continue
        }
        if ($want.Switch -ne '') { Compare-Setting -What ('{0} switch' -f $label) -Want $want.Switch -Have $row.SwitchName }
        # Network ATC tags by isolation, the cmdlets for VLANs by access mode.
        $vlan = $row.AccessVlanId
        if ($vlan -eq 0) { $vlan = $row.DefaultIsolationID }
        Compare-Setting -What ('{0} VLAN' -f $label) -Want $want.Vlan -Have $vlan
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
    param($State, $Rows)
    foreach ($port in $Rows) {
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
