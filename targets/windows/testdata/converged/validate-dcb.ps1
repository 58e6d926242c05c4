# made by rocec for hv07
# intent sha256:9281199bea58b4098ee9b884a6ddce5cf57763a4c59d6621b28623b4cad70934
$Global:configData = @{
    AllNodes = @(
        @{
            NodeName = 'hv07'
            Role = 'Storage'
            VMSwitch = @(
                @{
                    Name = 'team'
                    EmbeddedTeamingEnabled = $true
                    LoadBalancingAlgorithm = 'HyperVPort'
                    RDMAEnabledAdapters = @(
                        @{ Name = 'SMB 1'; VMNetworkAdapter = 'vSMB1'; VLANID = 711; JumboPacket = 9014 }
                        @{ Name = 'SMB 2'; VMNetworkAdapter = 'vSMB2'; VLANID = 712; JumboPacket = 9014 }
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
