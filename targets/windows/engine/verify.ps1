#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec, the same for every host
<#
.SYNOPSIS
Compares this host with the state in its data. Changes nothing.
.PARAMETER Data
The data of this host; host.psd1 of the folder the script is started in by default.
.PARAMETER ExpectComputer
The name this computer has, where it is not the name in the data.
.PARAMETER StateDir
Where rocec-netqos.ps1 keeps the list of pending restarts; %ProgramData%\rocec by default.
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

$Target = 'netqos'

# rocec:data

# rocec:state

# rocec:guards

# rocec:compare

# --- run ---------------------------------------------------------------------

function Invoke-Main {
    $state = Read-State
    Assert-Host -State $state
    Assert-Unowned -State $state
    foreach ($feature in $Desired.Features) {
        Compare-Setting -What ('feature {0} installed' -f $feature) -Want 'True' -Have (Test-Feature -State $state -Name $feature)
    }
    Compare-Qos -State $state
    foreach ($row in $Desired.Adapters) { Compare-Adapter -State $state -Row $row }
    if ($null -ne $Desired.NetworkDirect) {
        Compare-Setting -What 'NetworkDirect' -Want 'Enabled' -Have $state.Offload.NetworkDirect
        if ($Desired.NetworkDirect -eq 'routed') {
            Compare-Setting -What 'NetworkDirect across subnets' -Want 'Allowed' -Have $state.Offload.NetworkDirectAcrossIPSubnets
        }
    }
    Compare-Teams -State $state
    Compare-Vnics -State $state
    Compare-Interfaces -State $state -Rows $Desired.Interfaces
    if ($Desired.LiveMigrationBytes -gt 0) {
        $limit = Find-Row -Rows $state.SmbLimits -Field 'Category' -Value 'LiveMigration'
        $have = 'none'
        if ($null -ne $limit) { $have = [string]$limit.BytesPerSecond }
        Compare-Setting -What 'SMB limit of live migration in bytes/s' -Want $Desired.LiveMigrationBytes -Have $have
        Write-ClusterLimit
    }
    if ($Desired.MigrationOption -ne '') {
        Compare-Setting -What 'live migration by' -Want $Desired.MigrationOption -Have $state.MigrationOption
    }
    foreach ($name in @(Read-Pending -State $state)) {
        Compare-Setting -What ("restart of adapter '{0}'" -f $name) -Want 'done' -Have 'pending'
    }
}

# rocec:report
