#Requires -Version 5.1
#Requires -RunAsAdministrator
#Requires -Modules NetAdapter, NetQos, NetTCPIP
# made by rocec, the same for every host
<#
.SYNOPSIS
Prints what rocec reads on this host as one line of JSON. Changes nothing.
.NOTES
Exit codes: 0 printed, 1 failed.
#>
[CmdletBinding()]
param()
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# rocec:state

# rocec:ascii

try {
    ConvertTo-Ascii -Text (ConvertTo-Json -InputObject (Read-State) -Depth 6 -Compress)
}
catch {
    Write-Host ('FAILED  {0}' -f $_.Exception.Message)
    exit 1
}
exit 0
