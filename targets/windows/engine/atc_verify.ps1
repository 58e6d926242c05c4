#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec, the same for every host
<#
.SYNOPSIS
Compares the Network ATC intents of this host's cluster, and what Network ATC made of them on this host, with the state in its data. Changes
nothing.
.PARAMETER Data
The data of this host; host.psd1 of the folder the script is started in by default.
.PARAMETER ExpectComputer
The name this computer has, where it is not the name in the data.
.PARAMETER StateDir
Not used; every script of rocec takes it.
.NOTES
Exit codes: 0 as wanted, 2 differences, 1 failed, 3 wrong host.
#>
[CmdletBinding()]
param(
    [string]$Data = '.\host.psd1',
    [string]$ExpectComputer = '',
    [string]$StateDir = ''
)
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$Target = 'network-atc'

# rocec:data

# rocec:state

# rocec:guards

# rocec:compare

# rocec:atc_fields

# --- run ---------------------------------------------------------------------

function Compare-Intents {
    param($State)
    if ($State.IntentError -ne '') { Write-Line -Tag 'note' -Text ('Network ATC does not answer: {0}' -f $State.IntentError) }
    foreach ($want in $Desired.Intents) {
        $row = Find-Row -Rows $State.Intents -Field 'Name' -Value $want.Name
        if ($null -eq $row) {
            Compare-Setting -What ("intent '{0}'" -f $want.Name) -Want 'present' -Have 'missing'
            continue
        }
        foreach ($field in @(Get-IntentField -Want $want -Row $row)) {
            Compare-Setting -What ("intent '{0}' {1}" -f $want.Name, $field.What) -Want $field.Want -Have $field.Have
        }
        foreach ($status in @($State.IntentStatus | Where-Object { $_.IntentName -eq $want.Name })) {
            $have = '{0}, {1}' -f $status.ConfigurationStatus, ([string]$status.ProvisioningStatus -replace '^Success$', 'Completed')
            Compare-Setting -What ("intent '{0}' on {1} {2}" -f $want.Name, $status.Host, $status.Error) -Want 'Success, Completed' -Have $have
        }
    }
    foreach ($row in @(Get-Owner -State $State -Except @($Desired.Intents | ForEach-Object { $_.Name }))) {
        Compare-Setting -What ("intent '{0}' on adapters of others" -f $row.Name) -Want 'absent' -Have 'present'
    }
    foreach ($field in @(Get-OverrideField -Want $Desired.Global -Rows $State.GlobalOverrides)) {
        Compare-Setting -What ('cluster setting {0}' -f $field.What) -Want $field.Want -Have $field.Have
    }
}

# Network ATC names its switch itself; its adapters tell which one it is.
function Compare-Switches {
    param($State)
    foreach ($team in $Desired.Teams) {
        $want = (@($team.Members) | Sort-Object) -join ', '
        $have = 'none'
        foreach ($row in $State.Switches) {
            if ($row.EmbeddedTeamingEnabled -and ((@($row.Members) | Sort-Object) -join ', ') -eq $want) { $have = $row.LoadBalancingAlgorithm }
        }
        Compare-Setting -What ('switch of {0}' -f $want) -Want 'HyperVPort' -Have $have
    }
}

function Invoke-Main {
    $state = Read-State
    Assert-Host -State $state
    if ($Desired.Cluster -ne '') { Compare-Setting -What 'cluster' -Want $Desired.Cluster -Have $state.Cluster }
    foreach ($feature in $Desired.Features) {
        Compare-Setting -What ('feature {0} installed' -f $feature) -Want 'True' -Have (Test-Feature -State $state -Name $feature)
    }
    Compare-Intents -State $state
    Compare-Qos -State $state
    foreach ($row in $Desired.Adapters) { Compare-Adapter -State $state -Row $row }
    Compare-Switches -State $state
    Compare-Vnics -State $state
    Compare-Interfaces -State $state -Rows $Desired.Interfaces
    Compare-Interfaces -State $state -Rows $Desired.Taken
}

# rocec:report
