# --- restoring ---------------------------------------------------------------

function Read-Snapshot {
    $file = $Snapshot
    if ($file -eq '') {
        if (Test-Path -LiteralPath $StateDir) {
            $files = [System.IO.Directory]::GetFiles($StateDir, 'netqos-before-*.json')
            $file = [string] ($files | Sort-Object | Select-Object -Last 1)
        }
    }
    if ($file -eq '' -or -not (Test-Path -LiteralPath $file)) { Stop-Run -Code 3 -Text ("no snapshot in '{0}'" -f $StateDir) }
    Write-Line -Tag 'restore' -Text $file
    $old = Get-Content -LiteralPath $file -Raw -Encoding 'UTF8' | ConvertFrom-Json
    if ([int]$old.Schema -ne 1 -or [string]$old.Computer -ne $script:Before.Computer) {
        Stop-Run -Code 3 -Text ("'{0}' is not a snapshot of this computer" -f $file)
    }
    $old
}

# What stays as it is, though it was another way.
function Write-Kept {
    param([string]$Text)
    Write-Line -Tag 'note' -Text $Text
    $script:Kept++
}

# The rows of a list of the snapshot: 5.1 writes some lists as { value, Count }.
function Get-List {
    param($Rows)
    if ($null -eq $Rows) { return }
    $inner = $Rows.PSObject.Properties['value']
    if ($null -ne $inner -and $null -ne $Rows.PSObject.Properties['Count'] -and -not ($Rows -is [array])) { $Rows = $inner.Value }
    $Rows | Where-Object { $null -ne $_ }
}

# Removes the addresses and routes that were not there, and restores DHCP and MTU.
function Restore-Addresses {
    param($Old)
    foreach ($port in $Desired.Interfaces) {
        $alias = $port.Alias
        $from = $alias
        if ($script:NameThen.ContainsKey($alias)) { $from = $script:NameThen[$alias] }
        if ($port.Gateway -ne '' -and @(Get-List -Rows $Old.Routes | Where-Object { $_.InterfaceAlias -eq $from -and $_.NextHop -eq $port.Gateway }).Count -eq 0) {
            Invoke-Step -What ("interface '{0}': no default route by {1}" -f $alias, $port.Gateway) -Test {
                @(Get-NetRoute -InterfaceAlias $alias -DestinationPrefix '0.0.0.0/0', '::/0' -ErrorAction SilentlyContinue | Where-Object { $_.NextHop -eq $port.Gateway }).Count -eq 0
            } -Apply {
                Get-NetRoute -InterfaceAlias $alias -DestinationPrefix '0.0.0.0/0', '::/0' -ErrorAction SilentlyContinue |
                    Where-Object { $_.NextHop -eq $port.Gateway } | Remove-NetRoute -Confirm:$false -ErrorAction Stop
            }
        }
        foreach ($want in $port.Addresses) {
            $was = @(Get-List -Rows $Old.Addresses | Where-Object { $_.InterfaceAlias -eq $from -and $_.IPAddress -eq $want.Address })
            if ($was.Count -gt 0) {
                $length = [int]$was[0].PrefixLength
                Invoke-Step -What ("interface '{0}': {1}/{2}" -f $alias, $want.Address, $length) -Test {
                    @(Get-NetIPAddress -InterfaceAlias $alias -ErrorAction SilentlyContinue | Where-Object { $_.IPAddress -eq $want.Address -and [int]$_.PrefixLength -eq $length }).Count -eq 1
                } -Apply { Set-NetIPAddress -InterfaceAlias $alias -IPAddress $want.Address -PrefixLength $length -Confirm:$false -ErrorAction Stop }
                continue
            }
            Invoke-Step -What ("interface '{0}': {1} is removed" -f $alias, $want.Address) -Test {
                @(Get-NetIPAddress -InterfaceAlias $alias -ErrorAction SilentlyContinue | Where-Object { $_.IPAddress -eq $want.Address }).Count -eq 0
            } -Apply {
                if (Test-Uplink -Name $alias) { Stop-Run -Code 3 -Text ("interface '{0}' carries this session or the default route; -AllowDisconnect goes on, at a console" -f $alias) }
                Get-NetIPAddress -InterfaceAlias $alias -ErrorAction Stop | Where-Object { $_.IPAddress -eq $want.Address } | Remove-NetIPAddress -Confirm:$false -ErrorAction Stop
            }
        }
        foreach ($row in @(Get-List -Rows $Old.Interfaces | Where-Object { $_.InterfaceAlias -eq $from })) {
            $family = [string]$row.AddressFamily
            if ($family -eq 'IPv4' -and @($port.Addresses | Where-Object { $_.Family -eq 'IPv4' }).Count -gt 0 -and [string]$row.Dhcp -eq 'Enabled') {
                Invoke-Step -What ("interface '{0}': DHCP is on" -f $alias) -Test {
                    @(Get-NetIPInterface -InterfaceAlias $alias -AddressFamily 'IPv4' -ErrorAction SilentlyContinue | Where-Object { [string]$_.Dhcp -eq 'Enabled' }).Count -eq 1
                } -Apply { Set-NetIPInterface -InterfaceAlias $alias -AddressFamily 'IPv4' -Dhcp 'Enabled' -Confirm:$false -ErrorAction Stop }
            }
            if ($null -eq $port.Mtu) { continue }
            $mtu = [uint32]$row.NlMtu
            Invoke-Step -What ("interface '{0}': {1} MTU {2}" -f $alias, $family, $mtu) -Test {
                @(Get-NetIPInterface -InterfaceAlias $alias -ErrorAction SilentlyContinue | Where-Object { [string]$_.AddressFamily -eq $family -and [uint32]$_.NlMtu -eq $mtu }).Count -eq 1
            } -Apply { Set-NetIPInterface -InterfaceAlias $alias -AddressFamily $family -NlMtuBytes $mtu -Confirm:$false -ErrorAction Stop }
        }
    }
}

# Names come last: until then both sides go by the names of today.
function Restore-Names {
    foreach ($row in $Managed) {
        $from = $row.Name
        $to = $script:NameThen[$row.Name]
        if ($to -eq '' -or $to -eq $from) { continue }
        Invoke-Step -What ("adapter '{0}' is named '{1}'" -f $from, $to) -Test {
            (Test-AdapterName -Name $to) -and -not (Test-AdapterName -Name $from)
        } -Apply { Rename-Adapter -From $from -To $to }
    }
}

$script:NameThen = @{}
