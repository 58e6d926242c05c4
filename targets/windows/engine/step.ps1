# --- changing ----------------------------------------------------------------

$script:Changed = 0
$script:Planned = 0
$script:Saved = ''
$script:Pending = @()
$script:Owed = 0 # steps that have to wait for another run
$script:Kept = 0 # what undo.ps1 leaves as it is
$script:Current = @{}
$script:Before = $null

# A host that is only compared is not changed, and tables that belong to ports
# that are only compared are not either.
function Assert-Managed {
    if ($Managed.Count -eq 0) { Stop-Run -Code 3 -Text 'nothing on this host is managed; verify.ps1 compares it' }
    if (-not $Desired.ManageQos) { $Desired.Qos = $null }
}

# One setting: test, ask, save the old state, apply, test again. The first
# failure ends the run, since later steps rest on earlier ones.
function Invoke-Step {
    [CmdletBinding(SupportsShouldProcess = $true)]
    param(
        [Parameter(Mandatory = $true)][string]$What,
        [Parameter(Mandatory = $true)][scriptblock]$Test,
        [Parameter(Mandatory = $true)][scriptblock]$Apply,
        [string]$Restarts = ''
    )
    if (& $Test) {
        Write-Line -Tag 'ok' -Text $What
        return
    }
    if (-not $PSCmdlet.ShouldProcess($env:COMPUTERNAME, $What)) {
        if (-not $WhatIfPreference) { Stop-Run -Code 1 -Text ('{0}: declined' -f $What) }
        $script:Planned++
        return
    }
    Save-Snapshot
    if ($Restarts -ne '') { Add-Pending -Name $Restarts }
    & $Apply | Out-Null
    if (-not (& $Test)) { Stop-Run -Code 1 -Text ('{0}: the state differs after the change' -f $What) }
    $script:Changed++
    Write-Line -Tag 'changed' -Text $What
}

function Initialize-StateDir {
    if (-not (Test-Path -LiteralPath $StateDir)) {
        New-Item -Path $StateDir -ItemType 'Directory' -Force -WhatIf:$false -Confirm:$false | Out-Null
    }
}

function Save-Snapshot {
    if ($script:Saved -ne '') { return }
    Initialize-StateDir
    $stamp = [DateTime]::UtcNow.ToString('yyyyMMdd-HHmmss-fff', [System.Globalization.CultureInfo]::InvariantCulture)
    $file = Join-Path -Path $StateDir -ChildPath ('netqos-before-{0}.json' -f $stamp)
    $json = ConvertTo-Json -InputObject $script:Before -Depth 6
    Set-Content -LiteralPath $file -Value $json -Encoding 'UTF8' -WhatIf:$false -Confirm:$false
    $script:Saved = $file
    Write-Line -Tag 'saved' -Text $file
}

function Save-Pending {
    Initialize-StateDir
    $json = ConvertTo-Json -InputObject ([pscustomobject]@{ Boot = $script:Before.Boot; Adapters = [string[]]@($script:Pending) }) -Depth 3
    Set-Content -LiteralPath $script:PendingFile -Value $json -Encoding 'UTF8' -WhatIf:$false -Confirm:$false
}

function Add-Pending {
    param([string]$Name)
    if ($script:Pending -contains $Name) { return }
    $script:Pending = @($script:Pending) + $Name
    Save-Pending
}

# --- adapters ----------------------------------------------------------------

function Rename-Adapter {
    param([string]$From, [string]$To)
    Get-NetAdapter -ErrorAction Stop | Where-Object { $_.Name -eq $From } | Rename-NetAdapter -NewName $To -Confirm:$false -ErrorAction Stop
}

function Test-AdapterName {
    param([string]$Name)
    @(Get-NetAdapter -ErrorAction SilentlyContinue | Where-Object { $_.Name -eq $Name }).Count -eq 1
}

function Read-Property {
    param([string]$Name, [string]$Keyword)
    Get-NetAdapterAdvancedProperty -Name (ConvertTo-Pattern -Text $Name) -ErrorAction SilentlyContinue |
        Where-Object { $_.RegistryKeyword -eq $Keyword } | Select-Object -First 1
}

function Test-Property {
    param([string]$Name, [string]$Keyword, [string]$Value)
    $property = Read-Property -Name $Name -Keyword $Keyword
    $null -ne $property -and (@($property.RegistryValue) -join ',') -eq $Value
}

# Whether the driver takes the value, before anything is changed.
function Assert-Property {
    param([string]$Name, $Want)
    $property = Read-Property -Name $Name -Keyword $Want.Keyword
    if ($null -eq $property) {
        if ($Want.Optional) { return }
        Stop-Run -Code 3 -Text ("adapter '{0}': the driver does not list {1}" -f $Name, $Want.Keyword)
    }
    $valid = @($property.ValidRegistryValues | Where-Object { $null -ne $_ -and [string]$_ -ne '' })
    if ($valid.Count -gt 0) {
        if ($valid -contains $Want.Value) { return }
        Stop-Run -Code 3 -Text ("adapter '{0}': {1} cannot be {2}, the driver takes {3}" -f $Name, $Want.Keyword, $Want.Value, ($valid -join ', '))
    }
    $number = [long]$Want.Value
    $least = [string]$property.NumericParameterMinValue
    $most = [string]$property.NumericParameterMaxValue
    if ($least -match '^\d+$' -and $most -match '^\d+$' -and ($number -lt [long]$least -or $number -gt [long]$most)) {
        Stop-Run -Code 3 -Text ("adapter '{0}': {1} cannot be {2}, the driver takes {3} to {4}" -f $Name, $Want.Keyword, $Want.Value, $least, $most)
    }
}

# Suspended counts as running: a node in maintenance has jobs that resume.
function Wait-Storage {
    if ($null -eq (Get-Command -Name 'Get-StorageJob' -ErrorAction SilentlyContinue)) { return $true }
    # Names, or the numbers that CIM_ConcreteJob gives them.
    $ended = 'Completed', 'Terminated', 'Killed', 'Exception', '7', '8', '9', '10'
    $deadline = [DateTime]::UtcNow.AddSeconds($StorageWaitSeconds)
    while ($true) {
        $running = @(Get-StorageJob -ErrorAction SilentlyContinue | Where-Object {
                $ended -notcontains [string]$_.JobState
            })
        if ($running.Count -eq 0) { return $true }
        if ([DateTime]::UtcNow -gt $deadline) { return $false }
        Start-Sleep -Seconds 10
    }
}

# Whether this SSH session came to an address of the adapter.
function Test-Session {
    param([string]$Name)
    $parts = @(([string]$env:SSH_CONNECTION).Split(' ') | Where-Object { $_ -ne '' })
    if ($parts.Count -ne 4) { return $false }
    @(Get-NetIPAddress -InterfaceAlias $Name -ErrorAction SilentlyContinue | Where-Object { $_.IPAddress -eq $parts[2] }).Count -gt 0
}

# Whether the host may be cut off for good when the adapter goes: what else is
# known of how it is reached is its default route.
function Test-Uplink {
    param([string]$Name)
    if ($AllowDisconnect) { return $false }
    if (Test-Session -Name $Name) { return $true }
    @(Get-NetRoute -InterfaceAlias $Name -DestinationPrefix '0.0.0.0/0', '::/0' -ErrorAction SilentlyContinue).Count -gt 0
}
