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

# What goes to a file by > passes the code page of the console, which has not
# every letter of a name: JSON can say them all in ASCII.
function ConvertTo-Ascii {
    param([string]$Text)
    $parts = @(foreach ($c in $Text.ToCharArray()) {
            if ([int][char]$c -gt 126) { '\u{0:x4}' -f [int][char]$c } else { [string]$c }
        })
    $parts -join ''
}

try {
    ConvertTo-Ascii -Text (ConvertTo-Json -InputObject (Read-State) -Depth 6 -Compress)
}
catch {
    Write-Host ('FAILED  {0}' -f $_.Exception.Message)
    exit 1
}
exit 0
