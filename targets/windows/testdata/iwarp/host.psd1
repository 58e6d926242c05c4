# made by rocec for files
# intent sha256:1164f0a9ebf49d4bbe2089f52f32c689cc3eed7146158d3014a680c06cc45338
@{
    Target = 'netqos'
    Computer = 'files'
    MinimumBuild = 17763
    Features = @('Data-Center-Bridging')
    Willing = $false
    NetworkDirect = 'routed'
    LiveMigrationBytes = 0
    MigrationOption = ''
    ManageQos = $true
    Qos = @{
        Name = 'iwarp'
        Trust = 'pcp'
        Pfc = @()
        PcpMap = $null
        # voice (other) is marked by the application
        Ecn = @()
        Policies = @(
            @{ Name = 'SMB_Direct'; Match = 'NetDirect'; Port = 445; Priority = 3; Dscp = -1; Precedence = $null; Class = 'smb'; Carries = 'rdma'; Transport = 'iwarp' }
            @{ Name = 'iscsi'; Match = 'TCP'; Port = 3260; Priority = 4; Dscp = 18; Precedence = $null; Class = 'iscsi'; Carries = 'other'; Transport = '' }
            @{ Name = 'telemetry'; Match = 'UDP'; Port = 6343; Priority = 4; Dscp = -1; Precedence = $null; Class = 'telemetry'; Carries = 'other'; Transport = '' }
            @{ Name = 'Default'; Match = 'Default'; Port = 0; Priority = 0; Dscp = -1; Precedence = $null; Class = 'default'; Carries = ''; Transport = '' }
        )
        Classes = @(
            @{ Name = 'SMB_Direct'; Algorithm = 'ETS'; Percent = 50; Priority = @(3) }
            @{ Name = 'iscsi'; Algorithm = 'ETS'; Percent = 10; Priority = @(4) }
            @{ Name = 'voice'; Algorithm = 'Strict'; Percent = 0; Priority = @(6) }
        )
        DefaultPercent = 40
    }
    Adapters = @(
        @{
            Name = 'Slot 3'
            Manage = $true
            Model = 'chelsio/t6' # cxgb4
            Pci = ''
            Mac = ''
            DriverVersion = ''
            Notes = @('firmware 1.27.*', 'driver >= 7.0', 'a cable of 3000 mm')
            Enabled = $null
            Mbps = 100000
            Team = ''
            Willing = $false # owner os
            Qos = $true
            Rdma = $true
            Technology = 1
            FlowControl = @{ Keyword = '*FlowControl'; Value = '3'; Optional = $false }
            Properties = @(
                @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
                @{ Keyword = 'VlanID'; Value = '0'; Optional = $false } # untagged; VLAN 20 on the switch
                @{ Keyword = '*PriorityVLANTag'; Value = '3'; Optional = $true }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '1'; Optional = $false }
            )
        }
        @{
            Name = 'Slot 4'
            Manage = $false
            Model = 'chelsio/t6' # cxgb4
            Pci = ''
            Mac = ''
            DriverVersion = ''
            Notes = @('firmware 1.27.*', 'driver >= 7.0')
            Enabled = $true
            Mbps = 100000
            Team = ''
            Willing = $false # owner os
            Qos = $true
            Rdma = $true
            Technology = 1
            FlowControl = @{ Keyword = '*FlowControl'; Value = '3'; Optional = $false }
            Properties = @(
                @{ Keyword = '*PriorityVLANTag'; Value = '3'; Optional = $true }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '1'; Optional = $false }
            )
        }
        @{
            Name = 'John''s spare'
            Manage = $true
            Model = 'intel/i350' # igb
            Pci = ''
            Mac = ''
            DriverVersion = '14.*'
            Notes = @()
            Enabled = $false
            Mbps = $null
            Team = ''
            Willing = $null
            Qos = $false
            Rdma = $null
            Technology = $null
            FlowControl = $null
            Properties = @(
            )
        }
    )
    Teams = @()
    Vnics = @()
    Interfaces = @(
        @{
            Alias = 'Slot 3' # interface storage, VLAN 20
            Addresses = @(
                @{ Address = '10.9.0.5'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = '10.9.0.1'
            Mtu = 8900
            Rdma = $true
        }
    )
}
