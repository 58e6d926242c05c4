# --- names --------------------------------------------------------------------

# The adapter of a row: by PCI address, else by permanent address, else by name.
function Find-Adapter {
    param($Row)
    $all = @(Get-NetAdapter -ErrorAction SilentlyContinue)
    if ($Row.Pci -ne '') {
        $at = @(Get-NetAdapterHardwareInfo -ErrorAction SilentlyContinue | Where-Object {
                ('{0:x4}:{1:x2}:{2:x2}.{3:x}' -f [int]$_.SegmentNumber, [int]$_.BusNumber, [int]$_.DeviceNumber, [int]$_.FunctionNumber) -eq $Row.Pci
            } | ForEach-Object { $_.Name })
        $all = @($all | Where-Object { $at -contains $_.Name })
    }
    if ($Row.Mac -ne '') {
        $all = @($all | Where-Object { -not $_.Virtual -and ([string]$_.PermanentAddress -replace '[^0-9A-Fa-f]', '') -eq $Row.Mac })
    }
    if ($Row.Pci -eq '' -and $Row.Mac -eq '') { $all = @($all | Where-Object { $_.Name -eq $Row.Name }) }
    if ($all.Count -ne 1) {
        Stop-Run -Code 3 -Text ("adapter '{0}' (pci '{1}', mac '{2}'): {3} adapters fit" -f $Row.Name, $Row.Pci, $Row.Mac, $all.Count)
    }
    $all[0]
}

# A name that an adapter is to get must not be that of a foreign adapter.
function Assert-Names {
    param($State)
    $mine = @($script:Current.Values)
    foreach ($row in $Managed) {
        if ($script:Current[$row.Name] -eq $row.Name) { continue }
        if (@($State.Adapters | Where-Object { $_.Name -eq $row.Name -and $mine -notcontains $_.Name }).Count -gt 0) {
            Stop-Run -Code 3 -Text ("another adapter is already named '{0}'; rename it first" -f $row.Name)
        }
    }
}

# Names may be swapped among our own adapters, hence the two passes.
function Step-Names {
    $wrong = @($Managed | Where-Object { $script:Current[$_.Name] -ne $_.Name })
    foreach ($row in $wrong) {
        $taken = @($wrong | Where-Object { $script:Current[$_.Name] -eq $row.Name })
        if ($taken.Count -eq 0) { continue }
        $other = $taken[0]
        $from = $script:Current[$other.Name]
        $aside = 'rocec-{0}' -f $other.Name
        Invoke-Step -What ("adapter '{0}' is set aside as '{1}'" -f $from, $aside) -Test { Test-AdapterName -Name $aside } -Apply {
            Rename-Adapter -From $from -To $aside
        }
        if (-not $WhatIfPreference) { $script:Current[$other.Name] = $aside }
    }
    foreach ($row in $wrong) {
        $from = $script:Current[$row.Name]
        Invoke-Step -What ("adapter '{0}' is named '{1}'" -f $from, $row.Name) -Test {
            (Test-AdapterName -Name $row.Name) -and -not (Test-AdapterName -Name $from)
        } -Apply {
            Rename-Adapter -From $from -To $row.Name
        }
        if (-not $WhatIfPreference) { $script:Current[$row.Name] = $row.Name }
    }
}
