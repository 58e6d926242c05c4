#Requires -Version 5.1
# made by rocec, the same for every host
<#
.SYNOPSIS
Prints what the drivers of this host have counted, as one line of JSON. Changes nothing.
.NOTES
Exit codes: 0 printed, 1 failed.
#>
[CmdletBinding()]
param()
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# rocec:ascii

# Performance counters by their classes, whose names are the same in every language.
# A class that no driver of this host brings has no rows.
function Read-Counter {
    param([string]$Class, [string[]]$Name)
    Get-CimInstance -ClassName ('Win32_PerfFormattedData_{0}' -f $Class) -ErrorAction SilentlyContinue | ForEach-Object {
        $row = [ordered]@{ Name = [string]$_.Name }
        foreach ($counter in $Name) {
            $property = $_.PSObject.Properties[$counter]
            if ($null -ne $property) { $row[$counter] = [string]$property.Value }
        }
        [pscustomobject]$row
    }
}

function Read-Health {
    $computer = Get-CimInstance -ClassName 'Win32_ComputerSystem' -ErrorAction Stop
    [pscustomobject][ordered]@{
        Schema = 1
        Computer = [string]$computer.DNSHostName
        Domain = [string]$computer.Domain
        Adapters = @(Get-NetAdapter -ErrorAction SilentlyContinue | ForEach-Object {
                [pscustomobject]@{ Name = [string]$_.Name; InterfaceDescription = [string]$_.InterfaceDescription; PermanentAddress = [string]$_.PermanentAddress }
            })
        Hardware = @(Get-NetAdapterHardwareInfo -ErrorAction SilentlyContinue | ForEach-Object {
                [pscustomobject]@{
                    Name = [string]$_.Name
                    SegmentNumber = [uint32]$_.SegmentNumber
                    BusNumber = [uint32]$_.BusNumber
                    DeviceNumber = [uint32]$_.DeviceNumber
                    FunctionNumber = [uint32]$_.FunctionNumber
                }
            })
        PortQoS = @(Read-Counter -Class 'Mlx5Provider_MellanoxWinOF2PortQoS' -Name 'RcvPauseFrames', 'SentPauseFrames', 'packetsreceiveddiscarded')
        PortTraffic = @(Read-Counter -Class 'Mlx5Provider_MellanoxWinOF2PortTraffic' -Name 'PacketsReceivedBadCRCError', 'PacketsReceivedSymbolError')
        CongestionControl = @(Read-Counter -Class 'Mlx5Provider_MellanoxWinOF2CongestionControl' -Name 'NotificationPointRoCEv2ECNMarkedPackets', 'NotificationPointCNPsSentSuccessfully')
        Diagnostics = @(Read-Counter -Class 'Mlx5Provider_MellanoxWinOF2Diagnostics' -Name 'ResponderOutofOrderSequenceReceived', 'RequesterTimeoutReceived')
    }
}

try {
    ConvertTo-Ascii -Text (ConvertTo-Json -InputObject (Read-Health) -Depth 4 -Compress)
}
catch {
    Write-Host ('FAILED  {0}' -f $_.Exception.Message)
    exit 1
}
exit 0
