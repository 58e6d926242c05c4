# --- Network ATC: comparing ------------------------------------------------------

# What an intent shall be beside what it is, field by field. Storage VLANs go to
# the adapters in their order; a management VLAN that was never given is 0.
function Get-IntentField {
    param($Want, $Row)
    [pscustomobject]@{ What = 'types'; Want = (@($Want.Types) | Sort-Object) -join ', '; Have = (@($Row.Types) | Sort-Object) -join ', ' }
    [pscustomobject]@{ What = 'adapters'; Want = (@($Want.Adapters) | Sort-Object) -join ', '; Have = (@($Row.Adapters) | Sort-Object) -join ', ' }
    if ($null -ne $Want.StorageVlans) {
        [pscustomobject]@{ What = 'storage VLANs'; Want = $Want.StorageVlans -join ', '; Have = @($Row.StorageVlans) -join ', ' }
    }
    if ($null -ne $Want.ManagementVlan) {
        $have = [string]$Row.ManagementVlan
        if ($have -eq '' -or $have -eq '-1') { $have = '0' }
        [pscustomobject]@{ What = 'management VLAN'; Want = [string]$Want.ManagementVlan; Have = $have }
    }
    Get-OverrideField -Want $Want.Overrides -Rows $Row.Overrides
}

function Get-OverrideField {
    param($Want, $Rows)
    foreach ($override in $Want) {
        $have = ''
        foreach ($row in $Rows) {
            if ($row.Kind -eq $override.Kind -and $row.Name -eq $override.Name) { $have = [string]$row.Value }
        }
        [pscustomobject]@{ What = $override.Name; Want = [string]$override.Value; Have = $have }
    }
}
