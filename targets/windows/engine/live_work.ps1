# --- what the tasks do -------------------------------------------------------------

# Runs a program of the kit in this process, so that it ends when the task is ended.
function Invoke-Program {
    param([string]$File, $Arguments)
    $path = Join-Path -Path $PSScriptRoot -ChildPath $File
    $lines = @(& $path @Arguments 6>&1 | ForEach-Object { [string]$_ })
    [pscustomobject]@{ Code = [int]$LASTEXITCODE; Lines = $lines }
}

# What a program said in the end: why it failed, or its summary and what follows it.
function Get-Outcome {
    param($Run)
    $failed = @($Run.Lines | Where-Object { $_.StartsWith('FAILED') })
    if ($failed.Count -gt 0) { return ($failed | Select-Object -Last 1).Substring(8).Trim() }
    $texts = @()
    $kept = $Run.Code -eq 5
    foreach ($line in $Run.Lines) {
        if ($line.StartsWith('done') -and -not $kept) { $texts = @() }
        if ($line.StartsWith('done') -or $line.StartsWith('note')) { $texts = @($texts) + $line.Substring(8).Trim() }
    }
    $texts -join '; '
}

# Whether the intent lets adapters restart without asking.
function Test-Restart {
    param($State)
    $desired = Import-PowerShellDataFile -LiteralPath (Join-Path -Path $State.Folder -ChildPath 'host.psd1') -ErrorAction Stop
    $desired.ContainsKey('LiveRestart') -and $desired.LiveRestart
}

function Invoke-Change {
    $state = Read-Live -Of $Id
    if ($null -eq $state -or $state.Phase -ne 'changing') { return }
    $arguments = @{}
    $phase = 'failed'
    try {
        if (Test-Restart -State $state) { $arguments['AllowRestart'] = $true }
        $run = Invoke-Program -File $Program -Arguments $arguments
        $text = Get-Outcome -Run $run
        # 4: a restart is pending, which needs -AllowRestart.
        if ($run.Code -eq 4 -and $arguments.Count -eq 0) { $text = $text + '; live_restart = true in the target block lets rocec apply do that' }
        if (0, 2, 4 -contains $run.Code) { $phase = 'changed' }
    }
    catch { $text = $_.Exception.Message }
    if (-not (Enter-Lock -Seconds 60)) { return }
    $state = Read-Live -Of $Id
    if ($null -ne $state -and $state.Phase -eq 'changing') { Set-Phase -State $state -Phase $phase -Message $text }
    Exit-Lock
}

# When Windows has just started adapters may not be there yet: what fails is
# tried again.
function Invoke-Undo {
    param($State)
    $arguments = @{ Snapshot = (Get-Kept -Of $Id -Kind 'before.json') }
    # After a start of Windows the drivers run what was stored.
    if ($State.Booted) { $arguments['AllowRestart'] = $true }
    if ($State.Forced -or (Test-Restart -State $State)) {
        foreach ($name in @('AllowRestart') + $UndoRestart) { $arguments[$name] = $true }
    }
    if ($State.Forced) {
        foreach ($name in $UndoForced) { $arguments[$name] = $true }
    }
    foreach ($round in 1, 2, 3, 4) {
        $run = Invoke-Program -File 'undo.ps1' -Arguments $arguments
        if (1, 3 -notcontains $run.Code) { break }
        if ($round -lt 4) { Start-Sleep -Seconds 15 }
    }
    $back = 0, 2 -contains $run.Code
    # Without a restart, now or before, adapters run what they ran then: what is
    # stored is that again, and nothing is pending that was not.
    if (-not $arguments.ContainsKey('AllowRestart')) {
        if ($run.Code -eq 4 -and $PendingIsBack) { $back = $true }
        if ($back) { Restore-Pending -State $State }
    }
    [pscustomobject]@{ Back = $back; Text = (Get-Outcome -Run $run) }
}

function Restore-Pending {
    param($State)
    if ($State.Pending -ne '') { Write-Whole -Path $PendingFile -Text $State.Pending }
    elseif (Test-Path -LiteralPath $PendingFile) { Remove-Item -LiteralPath $PendingFile -Force -ErrorAction Stop }
}

function Invoke-Revert {
    $state = Read-Live -Of $Id
    if ($null -eq $state) { return }
    Remove-Room
    $phase = 'stuck'
    try {
        $result = Invoke-Undo -State $state
        $text = $result.Text
        if ($result.Back) { $phase = 'reverted' }
    }
    catch { $text = $_.Exception.Message }
    if (-not (Enter-Lock -Seconds 60)) { return }
    Set-Phase -State $state -Phase $phase -Message $text
    Unregister-Live
    if ($phase -eq 'reverted') { Remove-Ended }
    Exit-Lock
}

# Every minute, when the time is over, and (-Booted) when Windows starts.
function Invoke-Due {
    param([bool]$Booted)
    if (-not (Enter-Lock -Seconds 20)) { return }
    $state = Read-Live -Of $Id
    if ($null -eq $state -or ($ArmedPhases -notcontains $state.Phase -and $state.Phase -ne 'reverting')) {
        Unregister-Live
        return
    }
    if (-not $Booted) {
        if ((Test-Running -Part '-change') -or (Test-Running -Part '-revert')) { return }
        if ($state.Phase -ne 'reverting' -and (Get-Elapsed -Since $state.Tick) -lt [long]$state.Seconds) { return }
    }
    $text = 'it was not confirmed in time'
    if ($Booted) { $text = 'Windows was started before it was confirmed' }
    Remove-Room
    if ($Booted) { $state.Booted = $true }
    # If the phase cannot be written it stays what it was; the way back is what counts.
    try { Set-Phase -State $state -Phase 'reverting' -Message $text }
    catch { [Console]::Error.WriteLine((ConvertTo-Ascii -Text $_.Exception.Message)) }
    Start-ScheduledTask -TaskName (Get-TaskName -Part '-revert') -ErrorAction Stop
    Exit-Lock
}
