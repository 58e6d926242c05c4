# made by rocec for n1
# intent sha256:c2abc87c847d8eb54bd165ff7ee5e79679aed2c912c9643996285020241061bb
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
