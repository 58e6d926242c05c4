# made by rocec for hv1
# intent sha256:def07e286f7fd3b767b1ecb71401d3af9a8ac146e6ea233140cdaab3d01a52bf
$Global:configData = @{
    AllNodes = @(
        @{
            NodeName = 'hv1'
            Role = 'Storage'
            VMSwitch = @(
                @{
                    Name = 'team'
                    EmbeddedTeamingEnabled = $true
                    LoadBalancingAlgorithm = 'HyperVPort'
                    RDMAEnabledAdapters = @(
                        @{ Name = 'smb1'; VMNetworkAdapter = 'vSMB1'; VLANID = 711; JumboPacket = 9014 }
                        @{ Name = 'smb2'; VMNetworkAdapter = 'vSMB2'; VLANID = 712; JumboPacket = 9014 }
                    )
                }
            )
        }
    )
    NonNodeData = @{
        NetQos = @(
            @{ Name = 'SMB_Direct'; NetDirectPortMatchCondition = 445; PriorityValue8021Action = 3; BandwidthPercentage = 50; Algorithm = 'ETS' }
            @{ Name = 'Cluster'; Template = 'Cluster'; PriorityValue8021Action = 7; BandwidthPercentage = 1; Algorithm = 'ETS' }
            @{ Name = 'Default'; Template = 'Default'; PriorityValue8021Action = 0; BandwidthPercentage = 49; Algorithm = 'ETS' }
        )
    }
}
