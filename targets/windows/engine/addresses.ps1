# --- addresses ----------------------------------------------------------------

function Test-Address {
    param([string]$Alias, $Want)
    @(Get-NetIPAddress -InterfaceAlias $Alias -PolicyStore 'ActiveStore' -ErrorAction SilentlyContinue | Where-Object {
            $_.IPAddress -eq $Want.Address -and [int]$_.PrefixLength -eq $Want.Prefix
        }).Count -eq 1
}

function Step-Addresses {
    foreach ($port in $Desired.Interfaces) {
        $alias = $port.Alias
        if ($script:Current.ContainsKey($alias)) { $alias = $script:Current[$alias] }
        if (-not $WhatIfPreference -and -not (Test-AdapterName -Name $alias)) {
            Write-Line -Tag 'note' -Text ("interface '{0}' gets its addresses when it exists" -f $alias)
            continue
        }
        foreach ($want in $port.Addresses) {
            if ($want.Family -eq 'IPv4') {
                Invoke-Step -What ("interface '{0}': DHCP is off" -f $alias) -Test {
                    @(Get-NetIPInterface -InterfaceAlias $alias -AddressFamily 'IPv4' -PolicyStore 'ActiveStore' -ErrorAction SilentlyContinue |
                            Where-Object { [string]$_.Dhcp -eq 'Disabled' }).Count -eq 1
                } -Apply { Set-NetIPInterface -InterfaceAlias $alias -AddressFamily 'IPv4' -Dhcp 'Disabled' -Confirm:$false -ErrorAction Stop }
            }
            Invoke-Step -What ("interface '{0}': {1}/{2}" -f $alias, $want.Address, $want.Prefix) -Test { Test-Address -Alias $alias -Want $want } -Apply {
                $there = @(Get-NetIPAddress -InterfaceAlias $alias -ErrorAction SilentlyContinue | Where-Object { $_.IPAddress -eq $want.Address })
                if ($there.Count -gt 0) {
                    Set-NetIPAddress -InterfaceAlias $alias -IPAddress $want.Address -PrefixLength $want.Prefix -Confirm:$false -ErrorAction Stop
                }
                else { New-NetIPAddress -InterfaceAlias $alias -IPAddress $want.Address -PrefixLength $want.Prefix -Confirm:$false -ErrorAction Stop }
            }
        }
        if ($port.Gateway -ne '') {
            $default = '0.0.0.0/0'
            if ($port.Gateway.Contains(':')) { $default = '::/0' }
            Invoke-Step -What ("interface '{0}': default route by {1}" -f $alias, $port.Gateway) -Test {
                @(Get-NetRoute -InterfaceAlias $alias -DestinationPrefix $default -ErrorAction SilentlyContinue | Where-Object { $_.NextHop -eq $port.Gateway }).Count -ge 1
            } -Apply { New-NetRoute -InterfaceAlias $alias -DestinationPrefix $default -NextHop $port.Gateway -Confirm:$false -ErrorAction Stop }
        }
        if ($null -eq $port.Mtu) { continue }
        if ($script:Pending -contains $alias) {
            Write-Line -Tag 'note' -Text ("interface '{0}': IP MTU {1} is set after the restart" -f $alias, $port.Mtu)
            continue
        }
        Invoke-Step -What ("interface '{0}': IP MTU {1}" -f $alias, $port.Mtu) -Test {
            @(Get-NetIPInterface -InterfaceAlias $alias -PolicyStore 'ActiveStore' -ErrorAction SilentlyContinue | Where-Object { [int]$_.NlMtu -ne $port.Mtu }).Count -eq 0
        } -Apply { Set-NetIPInterface -InterfaceAlias $alias -NlMtuBytes $port.Mtu -Confirm:$false -ErrorAction Stop }
    }
}
