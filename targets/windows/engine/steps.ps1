# --- settings -----------------------------------------------------------------

# Sets through the object: as a parameter, '*FlowControl' is a wildcard and
# would set vendor keywords that end in the same word.
function Step-Property {
    param([string]$Name, $Want)
    if ($Want.Optional -and $null -eq (Read-Property -Name $Name -Keyword $Want.Keyword)) {
        Write-Line -Tag 'note' -Text ("adapter '{0}': the driver does not list {1}" -f $Name, $Want.Keyword)
        return
    }
    Invoke-Step -What ("adapter '{0}': {1} = {2}" -f $Name, $Want.Keyword, $Want.Value) -Restarts $Name -Test {
        Test-Property -Name $Name -Keyword $Want.Keyword -Value $Want.Value
    } -Apply {
        Read-Property -Name $Name -Keyword $Want.Keyword |
            Set-NetAdapterAdvancedProperty -RegistryValue $Want.Value -NoRestart -Confirm:$false -ErrorAction Stop
    }
}

function Test-Policy {
    param($Want)
    $policy = Find-Policy -Name $Want.Name
    if ($null -eq $policy) { return $false }
    $row = ConvertTo-PolicyRow -Policy $policy
    (Test-PolicyMatch -Row $row -Want $Want) -and $row.PriorityValue8021Action -eq $Want.Priority -and $row.DSCPAction -eq $Want.Dscp
}

# A policy cannot change what it matches, so it is made anew.
function New-Policy {
    param($Want)
    if ($null -ne (Find-Policy -Name $Want.Name)) { Remove-NetQosPolicy -Name $Want.Name -Confirm:$false -ErrorAction Stop }
    $mark = @{}
    if ($Want.Dscp -ge 0) { $mark['DSCPAction'] = $Want.Dscp }
    $more = @{}
    if ($null -ne $Want.Precedence) { $more['Precedence'] = $Want.Precedence }
    switch ($Want.Match) {
        'NetDirect' {
            New-NetQosPolicy -Name $Want.Name -NetDirectPortMatchCondition $Want.Port -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @more
        }
        'Cluster' { New-NetQosPolicy -Name $Want.Name -Cluster -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @mark @more }
        'Default' { New-NetQosPolicy -Name $Want.Name -Default -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @mark @more }
    }
    if ('TCP', 'UDP' -notcontains $Want.Match) { return }
    # Either port: what a server sends has it as the source. Only what was so before has the destination alone.
    if ($Want.ContainsKey('Toward')) {
        New-NetQosPolicy -Name $Want.Name -IPProtocolMatchCondition $Want.Match -IPDstPortMatchCondition $Want.Port -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @mark @more
    }
    else {
        New-NetQosPolicy -Name $Want.Name -IPProtocolMatchCondition $Want.Match -IPPortMatchCondition $Want.Port -PriorityValue8021Action $Want.Priority -Confirm:$false -ErrorAction Stop @mark @more
    }
}

# A step on a policy.
function Step-Policy {
    param($Want)
    $text = "policy '{0}': {1} {2} has priority {3}, DSCP {4}" -f $Want.Name, $Want.Match, $Want.Port, $Want.Priority, $Want.Dscp
    Invoke-Step -What $text -Test { Test-Policy -Want $Want } -Apply { New-Policy -Want $Want }
}

function Read-Pfc {
    @(Get-NetQosFlowControl -ErrorAction Stop | Where-Object { -not $_.InterfaceAlias -and $_.Enabled } |
            ForEach-Object { [int]$_.Priority } | Sort-Object) -join ','
}

# Disables before it enables: a NIC with room for one lossless priority must
# never be asked for two.
function Step-Pfc {
    param([int[]]$Priority)
    $text = 'PFC on no priority'
    if ($Priority.Count -gt 0) { $text = 'PFC only on priority {0}' -f ($Priority -join ', ') }
    Invoke-Step -What $text -Test { (Read-Pfc) -eq ($Priority -join ',') } -Apply {
        $off = @((0, 1, 2, 3, 4, 5, 6, 7) | Where-Object { $Priority -notcontains $_ })
        if ($off.Count -gt 0) { Disable-NetQosFlowControl -Priority $off -Confirm:$false -ErrorAction Stop }
        if ($Priority.Count -gt 0) { Enable-NetQosFlowControl -Priority $Priority -Confirm:$false -ErrorAction Stop }
    }
}

# Whether a class has the priorities and the algorithm of a row. Its share may
# still differ.
function Test-ClassShape {
    param($Class, $Want)
    ((@($Class.Priority) | Sort-Object) -join ',') -eq ($Want.Priority -join ',') -and
    (ConvertTo-Algorithm -Text ([string]$Class.Algorithm)) -eq $Want.Algorithm
}

function Test-Class {
    param($Want)
    $class = Read-Class -Name $Want.Name
    if ($null -eq $class) { return $false }
    (Test-ClassShape -Class $class -Want $Want) -and ($Want.Algorithm -ne 'ETS' -or [int]$class.BandwidthPercentage -eq $Want.Percent)
}

# The shares never sum to more than 100 on the way: classes of another shape
# give theirs back to [Default] first, then classes shrink, then classes grow,
# then new ones take from [Default] what is free by then. [Default] keeps the
# rest at every moment.
function Step-Classes {
    param([object[]]$Classes, [int]$Rest)
    foreach ($want in $Classes) {
        $class = Read-Class -Name $want.Name
        if ($null -eq $class -or (Test-ClassShape -Class $class -Want $want)) { continue }
        Invoke-Step -What ("traffic class '{0}' of another shape is removed" -f $want.Name) -Test {
            $null -eq (Read-Class -Name $want.Name)
        } -Apply { Remove-Class -Name $want.Name }
    }
    foreach ($want in $Classes) {
        $class = Read-Class -Name $want.Name
        if ($null -eq $class -or $want.Algorithm -ne 'ETS' -or [int]$class.BandwidthPercentage -le $want.Percent) { continue }
        Invoke-Step -What ("traffic class '{0}' shrinks to {1} %" -f $want.Name, $want.Percent) -Test { Test-Class -Want $want } -Apply {
            Set-NetQosTrafficClass -Name $want.Name -BandwidthPercentage $want.Percent -Confirm:$false -ErrorAction Stop
        }
    }
    foreach ($want in $Classes) {
        $class = Read-Class -Name $want.Name
        if ($null -eq $class -or $want.Algorithm -ne 'ETS' -or [int]$class.BandwidthPercentage -ge $want.Percent) { continue }
        Invoke-Step -What ("traffic class '{0}' grows to {1} %" -f $want.Name, $want.Percent) -Test { Test-Class -Want $want } -Apply {
            Set-NetQosTrafficClass -Name $want.Name -BandwidthPercentage $want.Percent -Confirm:$false -ErrorAction Stop
        }
    }
    foreach ($want in $Classes) {
        $text = "traffic class '{0}': priority {1}, {2}, {3} %" -f $want.Name, ($want.Priority -join ', '), $want.Algorithm, $want.Percent
        Invoke-Step -What $text -Test { Test-Class -Want $want } -Apply {
            if ($want.Algorithm -eq 'ETS') {
                New-NetQosTrafficClass -Name $want.Name -Algorithm 'ETS' -BandwidthPercentage $want.Percent -Priority $want.Priority -Confirm:$false -ErrorAction Stop
            }
            else {
                New-NetQosTrafficClass -Name $want.Name -Algorithm 'Strict' -Priority $want.Priority -Confirm:$false -ErrorAction Stop
            }
        }
    }
    if ($WhatIfPreference) { return }
    $default = Read-Class -Name '[Default]'
    if ($null -eq $default -or [int]$default.BandwidthPercentage -ne $Rest) {
        Stop-Run -Code 1 -Text ("traffic class '[Default]' does not have {0} %" -f $Rest)
    }
    Write-Line -Tag 'ok' -Text ("traffic class '[Default]': {0} %" -f $Rest)
}

function Step-Rdma {
    param([string]$Name, $Want)
    if ($null -eq $Want) { return }
    Invoke-Step -What ("adapter '{0}': RDMA = {1}" -f $Name, $Want) -Restarts $Name -Test {
        @(Get-NetAdapterRdma -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue | Where-Object { [bool]$_.Enabled -eq $Want }).Count -eq 1
    } -Apply {
        if ($Want) { Enable-NetAdapterRdma -Name (ConvertTo-Pattern -Text $Name) -NoRestart -Confirm:$false -ErrorAction Stop }
        else { Disable-NetAdapterRdma -Name (ConvertTo-Pattern -Text $Name) -NoRestart -Confirm:$false -ErrorAction Stop }
    }
}

# A restart is due before the vNICs are made: the switch takes over the adapters' settings.
function Restart-Rails {
    if ($WhatIfPreference) {
        if (@($script:Pending).Count -gt 0) { Write-Line -Tag 'note' -Text ('a restart is pending: {0}' -f ($script:Pending -join ', ')) }
        return
    }
    if (-not $AllowRestart) { return }
    foreach ($name in @($script:Pending)) {
        if (Test-Session -Name $name) {
            Write-Line -Tag 'note' -Text ("adapter '{0}' carries this session; restart it from a console" -f $name)
            continue
        }
        if (-not (Wait-Storage)) {
            Write-Line -Tag 'note' -Text ("adapter '{0}' is not restarted while storage jobs run" -f $name)
            return
        }
        $others = @($Managed | Where-Object {
                $script:Current[$_.Name] -ne $name -and $_.Enabled -ne $false -and -not (Test-Up -Name $script:Current[$_.Name])
            })
        if ($others.Count -gt 0) {
            Write-Line -Tag 'note' -Text ("adapter '{0}' is not restarted while '{1}' is not up" -f $name, $others[0].Name)
            return
        }
        Write-Line -Tag 'restart' -Text $name
        Restart-NetAdapter -Name (ConvertTo-Pattern -Text $name) -Confirm:$false -ErrorAction Stop
        $deadline = [DateTime]::UtcNow.AddSeconds(120)
        while (-not (Test-Up -Name $name)) {
            if ([DateTime]::UtcNow -gt $deadline) { Stop-Run -Code 1 -Text ("adapter '{0}' did not come up within 120 s after its restart" -f $name) }
            Start-Sleep -Seconds 2
        }
        $script:Pending = @($script:Pending | Where-Object { $_ -ne $name })
        Save-Pending
        $script:Changed++
    }
}

function Test-Up {
    param([string]$Name)
    @(Get-NetAdapter -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $Name -and $_.Status -eq 'Up' }).Count -eq 1
}
