# --- Network ATC: changing -------------------------------------------------------

$OverrideField = @{
    Adapter = 'AdapterAdvancedParametersOverride'
    Qos = 'QosPolicyOverride'
    Switch = 'SwitchConfigOverride'
    Storage = 'IPOverride'
}

# The arguments that name the cluster; none where the computer is in none.
function Get-Scope {
    $scope = @{}
    if ($script:Before.Cluster -ne '') { $scope['ClusterName'] = $script:Before.Cluster }
    $scope
}

# The intent of a name as Network ATC gives it, $null if there is none.
function Find-Intent {
    param([string]$Name)
    try { $all = @(Read-Intent -ClusterName $script:Before.Cluster) }
    catch {
        # Before the first intent it may throw instead of giving nothing.
        if (@($script:Before.Intents).Count -gt 0) { throw $_.Exception.Message }
        $all = @()
    }
    $all | Where-Object { [string] (Get-Field -InputObject $_ -Name 'IntentName', 'Name') -eq $Name } | Select-Object -First 1
}

# What differs of an intent, as one text for each field.
function Get-Difference {
    param($Want)
    $intent = Find-Intent -Name $Want.Name
    if ($null -eq $intent) { return }
    Get-IntentField -Want $Want -Row (ConvertTo-IntentRow -Intent $intent) | Where-Object { $_.Want -ne $_.Have }
}

# An override object with the values of another one and those of the rows: a new
# object alone would take back what else was overridden.
function New-Override {
    param([string]$Kind, $Rows, $Old)
    switch ($Kind) {
        'Adapter' { $override = New-NetIntentAdapterPropertyOverrides }
        'Qos' { $override = New-NetIntentQoSPolicyOverrides }
        'Switch' { $override = New-NetIntentSwitchConfigurationOverrides }
        'Storage' { $override = New-NetIntentStorageOverrides }
        'Cluster' { $override = New-NetIntentGlobalClusterOverrides }
    }
    foreach ($property in @($override.PSObject.Properties)) {
        $name = $property.Name
        if ($null -eq $Old -or 'InstanceId', 'ObjectVersion' -contains $name) { continue }
        $value = Get-Field -InputObject $Old -Name $name
        if ($null -ne $value) { $override.$name = $value }
    }
    foreach ($row in $Rows) {
        $name = $row.Name
        $override.$name = $row.Value
    }
    $override
}

function Get-Override {
    param($Want, [string]$Kind, $Intent)
    $rows = @($Want.Overrides | Where-Object { $_.Kind -eq $Kind })
    if ($rows.Count -eq 0) { return }
    $old = $null
    if ($null -ne $Intent) { $old = Get-Field -InputObject $Intent -Name $OverrideField[$Kind] }
    New-Override -Kind $Kind -Rows $rows -Old $old
}

# The arguments that Add-NetIntent and Set-NetIntent share.
function Get-IntentArgument {
    param($Want, $Intent)
    $more = Get-Scope
    if ($null -ne $Want.StorageVlans) { $more['StorageVlans'] = [int[]]@($Want.StorageVlans) }
    if ($null -ne $Want.ManagementVlan) { $more['ManagementVlan'] = [int]$Want.ManagementVlan }
    $adapter = Get-Override -Want $Want -Kind 'Adapter' -Intent $Intent
    if ($null -ne $adapter) { $more['AdapterPropertyOverrides'] = $adapter }
    $qos = Get-Override -Want $Want -Kind 'Qos' -Intent $Intent
    if ($null -ne $qos) { $more['QoSPolicyOverrides'] = $qos }
    $storage = Get-Override -Want $Want -Kind 'Storage' -Intent $Intent
    if ($null -ne $storage) { $more['StorageOverrides'] = $storage }
    $more
}

function New-Intent {
    param($Want)
    $more = Get-IntentArgument -Want $Want -Intent $null
    foreach ($type in $Want.Types) { $more[$type] = $true }
    $vmswitch = Get-Override -Want $Want -Kind 'Switch' -Intent $null
    if ($null -ne $vmswitch) { $more['SwitchPropertyOverrides'] = $vmswitch }
    Add-NetIntent -Name $Want.Name -AdapterName $Want.Adapters -ErrorAction Stop @more
}

function Set-Intent {
    param($Want)
    $intent = Find-Intent -Name $Want.Name
    $more = Get-IntentArgument -Want $Want -Intent $intent
    $vmswitch = Get-Override -Want $Want -Kind 'Switch' -Intent $intent
    if ($null -ne $vmswitch) { $more['SwitchOverrides'] = $vmswitch }
    Set-NetIntent -Name $Want.Name -ErrorAction Stop @more
}

# Whether adapters may be interrupted now, on every node of the cluster at once.
function Test-Approved {
    param([string]$Name)
    if ($WhatIfPreference) { return $true }
    if ($AllowRestart -and (Wait-Storage)) { return $true }
    Write-Line -Tag 'note' -Text ("intent '{0}' is made and changed with -AllowRestart only, and not while storage jobs run: Network ATC restarts adapters on every node at once" -f $Name)
    $script:Owed = 1
    return $false
}

function Step-Intent {
    param($Want)
    if ($null -eq (Find-Intent -Name $Want.Name)) {
        if (-not (Test-Approved -Name $Want.Name)) { return }
        Invoke-Step -What ("intent '{0}' ({1}) on {2}" -f $Want.Name, ($Want.Types -join ', '), ($Want.Adapters -join ', ')) -Test {
            $null -ne (Find-Intent -Name $Want.Name)
        } -Apply { New-Intent -Want $Want }
        return
    }
    $wrong = @(Get-Difference -Want $Want)
    if ($wrong.Count -eq 0) {
        Write-Line -Tag 'ok' -Text ("intent '{0}'" -f $Want.Name)
        return
    }
    if (-not (Test-Approved -Name $Want.Name)) { return }
    if (@($wrong | Where-Object { $_.What -eq 'adapters' }).Count -gt 0) {
        $scope = Get-Scope
        Invoke-Step -What ("intent '{0}' has the adapters {1}" -f $Want.Name, ($Want.Adapters -join ', ')) -Test {
            @(Get-Difference -Want $Want | Where-Object { $_.What -eq 'adapters' }).Count -eq 0
        } -Apply { Update-NetIntentAdapter -Name $Want.Name -AdapterName $Want.Adapters -ErrorAction Stop @scope }
    }
    $set = @($wrong | Where-Object { $_.What -ne 'adapters' } | ForEach-Object { '{0} = {1}' -f $_.What, $_.Want })
    if ($set.Count -eq 0) { return }
    Invoke-Step -What ("intent '{0}': {1}" -f $Want.Name, ($set -join '; ')) -Test {
        @(Get-Difference -Want $Want | Where-Object { $_.What -ne 'adapters' }).Count -eq 0
    } -Apply { Set-Intent -Want $Want }
}

function Step-Global {
    param($Rows)
    $wrong = @(Get-OverrideField -Want $Rows -Rows (Read-GlobalRow) | Where-Object { $_.Want -ne $_.Have } | ForEach-Object { '{0} = {1}' -f $_.What, $_.Want })
    if ($wrong.Count -eq 0) { return }
    $scope = Get-Scope
    Invoke-Step -What ('cluster settings: {0}' -f ($wrong -join '; ')) -Test {
        @(Get-OverrideField -Want $Rows -Rows (Read-GlobalRow) | Where-Object { $_.Want -ne $_.Have }).Count -eq 0
    } -Apply {
        $old = $null
        foreach ($found in @(Read-Global -ClusterName $script:Before.Cluster)) { $old = Get-Field -InputObject $found -Name 'ClusterOverride' }
        $override = New-Override -Kind 'Cluster' -Rows $Rows -Old $old
        Set-NetIntent -GlobalClusterOverrides $override -ErrorAction Stop @scope
    }
}

function Read-GlobalRow {
    foreach ($found in @(Read-Global -ClusterName $script:Before.Cluster)) {
        ConvertTo-OverrideRow -Kind 'Cluster' -Override (Get-Field -InputObject $found -Name 'ClusterOverride')
    }
}

# Network ATC works in the background, on every node.
function Wait-Intent {
    param([string]$Name)
    if ($WhatIfPreference -or $null -eq (Find-Intent -Name $Name)) { return }
    $scope = Get-Scope
    $deadline = [DateTime]::UtcNow.AddSeconds($ProvisionWaitSeconds)
    while ($true) {
        # There may be no status yet, and then it throws.
        try { $rows = @(Get-NetIntentStatus -Name $Name -ErrorAction Stop @scope) }
        catch { $rows = @() }
        $open = @($rows | Where-Object { [string]$_.ConfigurationStatus -ne 'Success' -or 'Completed', 'Success' -notcontains [string]$_.ProvisioningStatus })
        $failed = @($open | Where-Object { [string]$_.ConfigurationStatus -match '^Fail' })
        if ($failed.Count -gt 0) {
            Stop-Run -Code 1 -Text ("intent '{0}' failed on {1}: {2}; remove the cause, then Set-NetIntentRetryState" -f $Name, [string]$failed[0].Host, [string]$failed[0].Error)
        }
        if ($rows.Count -gt 0 -and $open.Count -eq 0) { break }
        if ([DateTime]::UtcNow -gt $deadline) {
            Write-Line -Tag 'note' -Text ("intent '{0}' is still being provisioned" -f $Name)
            $script:Owed = 1
            return
        }
        Start-Sleep -Seconds 5
    }
    Write-Line -Tag 'ok' -Text ("intent '{0}' is provisioned on {1} nodes" -f $Name, $rows.Count)
}
