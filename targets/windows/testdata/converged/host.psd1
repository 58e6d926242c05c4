# made by rocec for hv07
# intent sha256:9281199bea58b4098ee9b884a6ddce5cf57763a4c59d6621b28623b4cad70934
@{
    Target = 'netqos'
    Computer = 'hv07'
    MinimumBuild = 20348
    Features = @('Data-Center-Bridging', 'Hyper-V', 'FS-SMBBW')
    Willing = $false
    NetworkDirect = 'enabled'
    LiveMigrationBytes = 906250000 # 29 % of the SMB Direct class
    MigrationOption = 'SMB'
    ManageQos = $true
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
            Name = 'SMB 1'
            Manage = $true
            Model = 'nvidia/connectx-6-dx' # mlx5 slot1
            Pci = '0000:3b:00.0'
            Mac = ''
            DriverVersion = ''
            Notes = @()
            Enabled = $null
            Mbps = 25000
            Team = 'team'
            Willing = $false
            Qos = $true
            Rdma = $true # for the host vNICs; the port itself: false
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
            Name = 'SMB 2'
            Manage = $true
            Model = 'nvidia/connectx-6-dx' # mlx5 slot1
            Pci = '0000:3b:00.1'
            Mac = 'b83fd2000002'
            DriverVersion = ''
            Notes = @()
            Enabled = $null
            Mbps = 25000
            Team = 'team'
            Willing = $false
            Qos = $true
            Rdma = $true # for the host vNICs; the port itself: false
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
            Members = @('SMB 1', 'SMB 2')
            Vlans = @(711, 712) # a virtual switch passes every tag; set on the team: 711, 712, 10 is untagged
            Untagged = 10
        }
    )
    Vnics = @(
        @{
            Name = 'vSMB1'
            Switch = 'team'
            Vlan = 711
            Pin = 'SMB 1'
            PriorityTag = $true # qos smb_direct
            Jumbo = @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
            Rdma = $true
        }
        @{
            Name = 'vSMB2'
            Switch = 'team'
            Vlan = 712
            Pin = 'SMB 2'
            PriorityTag = $true # qos smb_direct
            Jumbo = @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
            Rdma = $true
        }
        @{
            Name = 'Management'
            Switch = 'team'
            Vlan = 0 # VLAN 10 is untagged on the team
            Pin = ''
            PriorityTag = $false
            Jumbo = $null
            Rdma = $null
        }
    )
    Interfaces = @(
        @{
            Alias = 'vSMB1'
            Addresses = @(
                @{ Address = '10.71.1.17'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
        @{
            Alias = 'vSMB2'
            Addresses = @(
                @{ Address = '10.71.2.17'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
        @{
            Alias = 'Management'
            Addresses = @(
                @{ Address = '192.0.2.17'; Prefix = 24; Family = 'IPv4' }
                @{ Address = '2001:db8::17'; Prefix = 64; Family = 'IPv6' }
            )
            Gateway = '192.0.2.1'
            Mtu = $null
            Rdma = $false
        }
    )
}
