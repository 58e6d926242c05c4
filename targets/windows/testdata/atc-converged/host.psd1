# made by rocec for hci1
# intent sha256:a131a79b9840f201e4ce6a9e7fd95ce754f4ebf851101279fe004aa1cced4f57
@{
    Target = 'network-atc'
    Computer = 'hci1'
    MinimumBuild = 0
    Features = @('NetworkATC', 'Hyper-V', 'Failover-Clustering', 'Data-Center-Bridging')
    Cluster = 'hci'
    Willing = $false
    Intents = @(
        @{
            Name = 'Converged'
            Manage = $true
            Types = @('Management', 'Compute', 'Storage')
            Adapters = @('SMB 1', 'SMB 2')
            StorageVlans = @(711, 712)
            ManagementVlan = 0
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
            )
        }
    )
    Global = @(
        @{ Kind = 'Cluster'; Name = 'EnableVirtualMachineMigrationPerformanceSelection'; Value = $false }
        @{ Kind = 'Cluster'; Name = 'VirtualMachineMigrationPerformanceOption'; Value = 'SMB' }
        @{ Kind = 'Cluster'; Name = 'MaximumSMBMigrationBandwidthInGbps'; Value = 20 }
        @{ Kind = 'Cluster'; Name = 'MaximumVirtualMachineMigrations'; Value = 2 }
    )
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
            Team = 'Converged'
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
            Team = 'Converged'
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
            Name = 'Converged'
            Members = @('SMB 1', 'SMB 2')
            Vlans = @(711, 712) # a virtual switch passes every tag; set on the team: 711, 712, 10 is untagged
            Untagged = 10
        }
    )
    Vnics = @(
        @{
            Name = 'vSMB(Converged#SMB 1)' # interface vSMB1
            Switch = ''
            Vlan = 711
            Pin = 'SMB 1'
            PriorityTag = $true
            Jumbo = @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
            Rdma = $true
        }
        @{
            Name = 'vSMB(Converged#SMB 2)' # interface vSMB2
            Switch = ''
            Vlan = 712
            Pin = 'SMB 2'
            PriorityTag = $true
            Jumbo = @{ Keyword = '*JumboPacket'; Value = '9014'; Optional = $false }
            Rdma = $true
        }
        @{
            Name = 'vManagement(Converged)' # interface Management
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
            Alias = 'vSMB(Converged#SMB 1)' # interface vSMB1, VLAN 711
            Addresses = @()
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
        @{
            Alias = 'vSMB(Converged#SMB 2)' # interface vSMB2, VLAN 712
            Addresses = @()
            Gateway = ''
            Mtu = $null
            Rdma = $true # as the interface says
        }
    )
    Taken = @(
        @{
            Alias = 'vManagement(Converged)' # interface Management, VLAN 10
            Members = @('SMB 1', 'SMB 2')
            Addresses = @(
                @{ Address = '192.0.2.17'; Prefix = 24; Family = 'IPv4' }
            )
            Gateway = '192.0.2.1'
            Mtu = $null
            Rdma = $false
        }
    )
}
