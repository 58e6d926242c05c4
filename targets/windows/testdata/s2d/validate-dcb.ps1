# made by rocec for n1
# intent sha256:4bd82314d4ab04973a0d507266d8b4b97b637e90e20fbbcdccd8b7165e994bf2
$Global:configData = @{
    AllNodes = @(
        @{
            NodeName = 'n1'
            Role = 'Storage'
            RDMAEnabledAdapters = @(
                @{ Name = 'smb_a'; VLANID = 711; JumboPacket = 9014 }
                @{ Name = 'smb_b'; VLANID = 712; JumboPacket = 9014 }
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
