# made by rocec for edge1
# intent sha256:027aa1c4cc2ec912e24c7ba6f908ef32586c5348411a0c0ee3097d2bbd335ea6
@{
    Target = 'network-atc'
    Computer = 'edge1'
    MinimumBuild = 26100
    Features = @('NetworkATC', 'Hyper-V', 'Failover-Clustering', 'Data-Center-Bridging')
    Cluster = ''
    Willing = $false
    Intents = @(
        @{
            Name = 'team'
            Manage = $true
            Types = @('Compute', 'Storage')
            Adapters = @('smb1', 'smb2')
            StorageVlans = @(711, 712)
            ManagementVlan = $null
            Overrides = @(
                @{ Kind = 'Adapter'; Name = 'JumboPacket'; Value = 9014 }
                @{ Kind = 'Adapter'; Name = 'NetworkDirect'; Value = 1 }
                @{ Kind = 'Adapter'; Name = 'NetworkDirectTechnology'; Value = 4 }
                @{ Kind = 'Adapter'; Name = 'FlowControl'; Value = 0 }
                @{ Kind = 'Qos'; Name = 'PriorityValue8021Action_SMB'; Value = 3 }
                @{ Kind = 'Qos'; Name = 'BandwidthPercentage_SMB'; Value = 50 }
                @{ Kind = 'Qos'; Name = 'NetDirectPortMatchCondition'; Value = 445 }
                @{ Kind = 'Qos'; Name = 'PriorityValue8021Action_Cluster'; Value = 7 }
                @{ Kind = 'Qos'; Name = 'BandwidthPercentage_Cluster'; Value = 1 }
                @{ Kind = 'Switch'; Name = 'LoadBalancingAlgorithm'; Value = 'HyperVPort' }
                @{ Kind = 'Storage'; Name = 'EnableAutomaticIPGeneration'; Value = $false }
            )
        }
    )
    Global = @()
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
            Name = 'vSMB(team#smb1)' # interface vSMB1
            Switch = ''
            Vlan = 711
            Pin = 'smb1'
            PriorityTag = $true
            Jumbo = @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
            Rdma = $true
        }
        @{
            Name = 'vSMB(team#smb2)' # interface vSMB2
            Switch = ''
            Vlan = 712
            Pin = 'smb2'
            PriorityTag = $true
            Jumbo = @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
            Rdma = $true
        }
    )
    Interfaces = @(
        @{
            Alias = 'vSMB(team#smb1)' # interface vSMB1, VLAN 711
            Addresses = @(
                @{ Address = '10.71.1.15'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
        @{
            Alias = 'vSMB(team#smb2)' # interface vSMB2, VLAN 712
            Addresses = @(
                @{ Address = '10.71.2.15'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
    )
    Taken = @()
}
