# --- what stands in the way ---------------------------------------------------

function Find-Policy {
    param([string]$Name)
    Get-NetQosPolicy -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $Name } | Select-Object -First 1
}

function Remove-Policy {
    param([string]$Name, [string]$Why)
    Invoke-Step -What ("policy '{0}' is removed: {1}" -f $Name, $Why) -Test { $null -eq (Find-Policy -Name $Name) } -Apply {
        Get-NetQosPolicy -ErrorAction Stop | Where-Object { $_.Name -eq $Name } | Remove-NetQosPolicy -Confirm:$false -ErrorAction Stop
    }
}

function Read-Class {
    param([string]$Name)
    Get-NetQosTrafficClass -ErrorAction Stop | Where-Object { -not $_.InterfaceAlias -and $_.Name -eq $Name } | Select-Object -First 1
}

function Remove-Class {
    param([string]$Name)
    Get-NetQosTrafficClass -ErrorAction Stop | Where-Object { -not $_.InterfaceAlias -and $_.Name -eq $Name } |
        Remove-NetQosTrafficClass -Confirm:$false -ErrorAction Stop
}

function Step-RemoveClass {
    param([string]$Name, [string]$Why)
    Invoke-Step -What ("traffic class '{0}' is removed: {1}" -f $Name, $Why) -Test { $null -eq (Read-Class -Name $Name) } -Apply {
        Remove-Class -Name $Name
    }
}

function Assert-Conflict {
    param([object[]]$Found, [bool]$Replace)
    foreach ($row in $Found) { Write-Line -Tag 'CONFLICT' -Text ("{0} '{1}': {2}" -f $row.Kind, $row.Name, $row.Why) }
    if (@($Found | Where-Object { $_.Kind -eq 'group policy' }).Count -gt 0) { Stop-Run -Code 3 -Text 'a group policy decides the QoS of this host; change it there' }
    if ($Found.Count -gt 0 -and -not $Replace) { Stop-Run -Code 3 -Text 'remove what conflicts, or run with -ReplaceConflicting; nothing was changed' }
}

function Step-Features {
    param([object[]]$Missing)
    foreach ($feature in $Missing) {
        Invoke-Step -What ('feature {0}' -f $feature) -Test { (Get-WindowsFeature -Name $feature -ErrorAction Stop).InstallState -eq 'Installed' } -Apply {
            Install-WindowsFeature -Name $feature -IncludeManagementTools -Confirm:$false -ErrorAction Stop
        }
    }
    if ($Missing.Count -gt 0 -and $WhatIfPreference) {
        Write-Line -Tag 'note' -Text 'the other steps can be shown only when the features are installed'
    }
}
