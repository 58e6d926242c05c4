# made by rocec for hv1
# intent sha256:def07e286f7fd3b767b1ecb71401d3af9a8ac146e6ea233140cdaab3d01a52bf
@{
    Target = 'netqos'
    Computer = 'hv1'
    MinimumBuild = 26100
    Features = @('Data-Center-Bridging', 'Hyper-V')
    Willing = $false
    NetworkDirect = 'enabled'
    LiveMigrationBytes = 0
    MigrationOption = ''
    ManageQos = $true
    Qos = @{
        Name = 'hci'
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
            Name = 'smb1'
            Manage = $true
            Model = 'nvidia/connectx-6-dx' # mlx5
            Pci = ''
            Mac = ''
            DriverVersion = ''
            Notes = @()
            Enabled = $null
            Mbps = 25000
            Team = 'team'
            Willing = $false
            Qos = $true
            Rdma = $true # for the host vNICs
            Technology = 4
            FlowControl = @{ Keyword = '*FlowControl'; Value = '0'; Optional = $false }
            Properties = @(
                @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
                @{ Keyword = 'VlanID'; Value = '0'; Optional = $false } # the vNICs tag
                @{ Keyword = '*PriorityVLANTag'; Value = '3'; Optional = $true }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '4'; Optional = $false }
                @{ Keyword = '*NetworkDirectRoCEFrameSize'; Value = '4096'; Optional = $true }
                @{ Keyword = 'RoceFrameSize'; Value = '4096'; Optional = $true }
            )
        }
        @{
            Name = 'smb2'
            Manage = $true
            Model = 'nvidia/connectx-6-dx' # mlx5
            Pci = ''
            Mac = ''
            DriverVersion = ''
            Notes = @()
            Enabled = $null
            Mbps = 25000
            Team = 'team'
            Willing = $false
            Qos = $true
            Rdma = $true # for the host vNICs
            Technology = 4
            FlowControl = @{ Keyword = '*FlowControl'; Value = '0'; Optional = $false }
            Properties = @(
                @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
                @{ Keyword = 'VlanID'; Value = '0'; Optional = $false } # the vNICs tag
                @{ Keyword = '*PriorityVLANTag'; Value = '3'; Optional = $true }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '4'; Optional = $false }
                @{ Keyword = '*NetworkDirectRoCEFrameSize'; Value = '4096'; Optional = $true }
                @{ Keyword = 'RoceFrameSize'; Value = '4096'; Optional = $true }
            )
        }
    )
    Teams = @(
        @{
            Name = 'team'
            Members = @('smb1', 'smb2') # IP MTU 9000
            Vlans = @(711, 712) # a virtual switch passes every tag; set on the team: 711, 712
            Untagged = 0
        }
    )
    Vnics = @(
        @{
            Name = 'vSMB1'
            Switch = 'team'
            Vlan = 711
            Pin = 'smb1'
            PriorityTag = $true
            Jumbo = @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
            Rdma = $true
        }
        @{
            Name = 'vSMB2'
            Switch = 'team'
            Vlan = 712
            Pin = 'smb2'
            PriorityTag = $true
            Jumbo = @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
            Rdma = $true
        }
    )
    Interfaces = @(
        @{
            Alias = 'vSMB1'
            Addresses = @(
                @{ Address = '10.71.1.11'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
        @{
            Alias = 'vSMB2'
            Addresses = @(
                @{ Address = '10.71.2.11'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
    )
}
