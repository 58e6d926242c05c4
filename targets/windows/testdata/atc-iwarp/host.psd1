# made by rocec for n1
# intent sha256:b4a5ef5054b7518773b8a17ee563e5dd452e79e27705b2d664cfb9352e326b0f
@{
    Target = 'network-atc'
    Computer = 'n1'
    MinimumBuild = 26100
    Features = @('NetworkATC', 'Hyper-V', 'Failover-Clustering', 'Data-Center-Bridging')
    Cluster = ''
    Willing = $false
    Intents = @(
        @{
            Name = 'Storage'
            Manage = $true
            Types = @('Storage')
            Adapters = @('smb_a', 'smb_b')
            StorageVlans = @(711, 712)
            ManagementVlan = $null
            Overrides = @(
                @{ Kind = 'Adapter'; Name = 'JumboPacket'; Value = 9014 }
                @{ Kind = 'Adapter'; Name = 'NetworkDirect'; Value = 1 }
                @{ Kind = 'Adapter'; Name = 'NetworkDirectTechnology'; Value = 1 }
                @{ Kind = 'Adapter'; Name = 'FlowControl'; Value = 0 }
                @{ Kind = 'Qos'; Name = 'PriorityValue8021Action_SMB'; Value = 3 }
                @{ Kind = 'Qos'; Name = 'BandwidthPercentage_SMB'; Value = 50 }
                @{ Kind = 'Qos'; Name = 'NetDirectPortMatchCondition'; Value = 445 }
                @{ Kind = 'Qos'; Name = 'PriorityValue8021Action_Cluster'; Value = 7 }
                @{ Kind = 'Qos'; Name = 'BandwidthPercentage_Cluster'; Value = 1 }
                @{ Kind = 'Storage'; Name = 'EnableAutomaticIPGeneration'; Value = $false }
            )
        }
        @{
            Name = 'Compute'
            Manage = $true
            Types = @('Management', 'Compute')
            Adapters = @('pNIC01', 'pNIC02')
            StorageVlans = $null
            ManagementVlan = 0
            Overrides = @(
                @{ Kind = 'Adapter'; Name = 'NetworkDirect'; Value = 0 }
                @{ Kind = 'Switch'; Name = 'LoadBalancingAlgorithm'; Value = 'HyperVPort' }
            )
        }
    )
    Global = @()
    ManageQos = $true
    Qos = @{
        Name = 'smb_direct'
        Trust = 'pcp'
        Pfc = @(3)
        PcpMap = @(0, 0, 0, 3, 0, 0, 0, 7)
        Ecn = @('smb')
        Policies = @(
            @{ Name = 'SMB_Direct'; Match = 'NetDirect'; Port = 445; Priority = 3; Dscp = -1; Precedence = $null; Class = 'smb'; Carries = 'rdma'; Transport = 'iwarp' }
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
            Model = 'chelsio/t6' # cxgb4 slot1
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
            Technology = 1
            FlowControl = @{ Keyword = '*FlowControl'; Value = '0'; Optional = $false }
            Properties = @(
                @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
                @{ Keyword = 'VlanID'; Value = '711'; Optional = $false }
                @{ Keyword = '*PriorityVLANTag'; Value = '3'; Optional = $true }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '1'; Optional = $false }
            )
        }
        @{
            Name = 'smb_b'
            Manage = $true
            Model = 'chelsio/t6' # cxgb4 slot1
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
            Technology = 1
            FlowControl = @{ Keyword = '*FlowControl'; Value = '0'; Optional = $false }
            Properties = @(
                @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
                @{ Keyword = 'VlanID'; Value = '712'; Optional = $false }
                @{ Keyword = '*PriorityVLANTag'; Value = '3'; Optional = $true }
                @{ Keyword = '*NetworkDirectTechnology'; Value = '1'; Optional = $false }
            )
        }
        @{
            Name = 'pNIC01'
            Manage = $true
            Model = 'intel/e810' # ice
            Pci = ''
            Mac = ''
            DriverVersion = ''
            Notes = @()
            Enabled = $null
            Mbps = $null
            Team = 'Compute'
            Willing = $null
            Qos = $false
            Rdma = $false
            Technology = $null
            FlowControl = $null
            Properties = @(
                @{ Keyword = 'VlanID'; Value = '0'; Optional = $false } # the vNICs tag
            )
        }
        @{
            Name = 'pNIC02'
            Manage = $true
            Model = 'intel/e810' # ice
            Pci = ''
            Mac = ''
            DriverVersion = ''
            Notes = @()
            Enabled = $null
            Mbps = $null
            Team = 'Compute'
            Willing = $null
            Qos = $false
            Rdma = $false
            Technology = $null
            FlowControl = $null
            Properties = @(
                @{ Keyword = 'VlanID'; Value = '0'; Optional = $false } # the vNICs tag
            )
        }
    )
    Teams = @(
        @{
            Name = 'Compute'
            Members = @('pNIC01', 'pNIC02')
            Vlans = @() # a virtual switch passes every tag; set on the team:, 10 is untagged
            Untagged = 10
        }
    )
    Vnics = @(
        @{
            Name = 'vManagement(Compute)' # interface mgmt
            Switch = ''
            Vlan = 0 # VLAN 10 is untagged on the team
            Pin = ''
            PriorityTag = $false
            Jumbo = $null
            Rdma = $null
        }
    )
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
    Taken = @(
        @{
            Alias = 'vManagement(Compute)' # interface mgmt, VLAN 10
            Members = @('pNIC01', 'pNIC02')
            Addresses = @(
                @{ Address = '192.0.2.11'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = '192.0.2.1'
            Mtu = $null
            Rdma = $false
        }
    )
}
