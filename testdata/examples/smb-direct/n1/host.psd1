# made by rocec for n1
# intent sha256:c2abc87c847d8eb54bd165ff7ee5e79679aed2c912c9643996285020241061bb
@{
    Target = 'netqos'
    Computer = 'n1'
    MinimumBuild = 26100
    Features = @('Data-Center-Bridging')
    Willing = $false
    NetworkDirect = 'enabled'
    LiveMigrationBytes = 0
    MigrationOption = ''
    ManageQos = $true
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
                @{ Keyword = '*PriorityVLANTag'; Value = '3'; Optional = $true }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '4'; Optional = $false }
                @{ Keyword = '*NetworkDirectRoCEFrameSize'; Value = '4096'; Optional = $true }
                @{ Keyword = 'RoceFrameSize'; Value = '4096'; Optional = $true }
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
                @{ Keyword = '*PriorityVLANTag'; Value = '3'; Optional = $true }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '4'; Optional = $false }
                @{ Keyword = '*NetworkDirectRoCEFrameSize'; Value = '4096'; Optional = $true }
                @{ Keyword = 'RoceFrameSize'; Value = '4096'; Optional = $true }
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
