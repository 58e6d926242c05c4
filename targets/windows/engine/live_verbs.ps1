# --- verbs -------------------------------------------------------------------------

function Test-Administrator {
    $user = [System.Security.Principal.WindowsPrincipal]::new([System.Security.Principal.WindowsIdentity]::GetCurrent())
    $user.IsInRole([System.Security.Principal.WindowsBuiltInRole]::Administrator)
}

# The tasks run as SYSTEM what lies here, so nobody else may write it: everyone
# may make folders in ProgramData.
function Protect-Root {
    $trusted = 'S-1-5-18', 'S-1-5-32-544', [System.Security.Principal.WindowsIdentity]::GetCurrent().User.Value
    foreach ($path in (Split-Path -Path $Root), $Root, (Join-Path -Path $Root -ChildPath $Id)) {
        $owner = [System.IO.Directory]::GetAccessControl($path).GetOwner([System.Security.Principal.SecurityIdentifier]).Value
        if ($trusted -notcontains $owner) { Stop-Verb -Code 10 -Text ("the folder '{0}' belongs to '{1}', who is neither an administrator of this host nor you" -f $path, $owner) }
    }
    # Full control for SYSTEM and administrators, nothing inherited.
    $security = [System.Security.AccessControl.DirectorySecurity]::new()
    $security.SetSecurityDescriptorSddlForm('D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)', 'Access')
    [System.IO.Directory]::SetAccessControl($Root, $security)
}

function Start-Transaction {
    if (-not (Test-Administrator)) { Stop-Verb -Code 10 -Text 'the user of this session is no administrator of this host' }
    if (-not (Test-Path -LiteralPath (Join-Path -Path $PSScriptRoot -ChildPath $Program))) { Stop-Verb -Code 10 -Text ('{0} does not lie beside this script' -f $Program) }
    if ($ConfirmSeconds -lt 1) { Stop-Verb -Code 10 -Text 'the time to confirm is less than a second' }
    Protect-Root
    if (-not (Enter-Lock -Seconds 30)) { Stop-Verb -Code 10 -Text 'another command of rocec is at work on this host' }
    $state = Read-Live -Of $Id
    if ($null -ne $state) {
        if ($ArmedPhases -contains $state.Phase) { return }
        Stop-Verb -Code 10 -Text ('transaction {0} is {1} already' -f $Id, $state.Phase)
    }
    $open = Get-OpenId
    if ($open -ne '') { Stop-Verb -Code 10 -Text ('transaction {0} is open on this host; confirm or revert it first' -f $open) }
    # The right host, and nothing in the way: what the program finds before it changes anything.
    $run = Invoke-Program -File $Program -Arguments @{ WhatIf = $true }
    if (1, 3 -contains $run.Code) { Stop-Verb -Code 10 -Text (Get-Outcome -Run $run) }
    $shot = Invoke-Program -File 'capture.ps1' -Arguments @{}
    if ($shot.Code -ne 0 -or $shot.Lines.Count -ne 1) { Stop-Verb -Code 10 -Text ('the state of the host cannot be kept: {0}' -f (Get-Outcome -Run $shot)) }
    try {
        Write-Whole -Path (Get-Kept -Of $Id -Kind 'before.json') -Text $shot.Lines[0]
        Write-Whole -Path (Join-Path -Path $Root -ChildPath 'rocec-live.ps1') -Text ([System.IO.File]::ReadAllText($PSCommandPath))
        Add-Room
        $state = [pscustomobject]@{
            Schema = 1
            Id = $Id
            Phase = ''
            Message = ''
            Folder = (Get-Location).Path
            Kit = $PSScriptRoot
            Seconds = $ConfirmSeconds
            Tick = (Get-Tick)
            At = 0
            Forced = $false
            Booted = $false
            Pending = ''
        }
        if (Test-Path -LiteralPath $PendingFile) { $state.Pending = [System.IO.File]::ReadAllText($PendingFile) }
        Register-Live -State $state
        Set-Phase -State $state -Phase 'begun' -Message 'the state of the host is kept and the way back is scheduled'
    }
    catch {
        $text = $_.Exception.Message
        Unregister-Live
        Stop-Verb -Code 10 -Text $text
    }
}

# Waits until a phase that a task works on is over. A task that ended without a
# word was killed.
function Wait-Phase {
    param([string]$Phase, [string]$Part, [string]$Else)
    $idle = 0
    while ($true) {
        $state = Read-Live -Of $Id
        if ($null -ne $state -and $state.Phase -ne $Phase) { return $state }
        $idle = $idle + 1
        if (Test-Running -Part $Part) { $idle = 0 }
        if ($idle -gt 10 -and (Enter-Lock -Seconds 10)) {
            $state = Read-Live -Of $Id
            if ($state.Phase -eq $Phase) { Set-Phase -State $state -Phase $Else -Message 'it was ended before it said how it went' }
            Exit-Lock
            return $state
        }
        Start-Sleep -Seconds 1
    }
}

# Takes the lock, and the state of a transaction that was begun.
function Enter-Begun {
    param([int]$Busy)
    if ($null -eq (Read-Live -Of $Id)) { Stop-Verb -Code 10 -Text ('transaction {0} was never begun' -f $Id) }
    if (-not (Enter-Lock -Seconds 60)) { Stop-Verb -Code $Busy -Text 'another command of rocec is at work on this host' }
    Read-Live -Of $Id
}

function Start-Change {
    $state = Enter-Begun -Busy 10
    if ($ArmedPhases -notcontains $state.Phase) { Stop-Verb -Code 10 -Text ('transaction {0} is {1} already' -f $Id, $state.Phase) }
    if ($state.Phase -eq 'begun') {
        if ((Get-Left -State $state) -le 1) { Stop-Verb -Code 10 -Text 'the time to confirm is over, or nothing is scheduled any more' }
        Set-Phase -State $state -Phase 'changing' -Message 'the change is under way'
        # A change that still runs when the time is over is ended by Windows.
        try {
            Register-Part -State $state -Part '-change' -Run 'do-change' -Trigger $null -LimitSeconds (Get-Left -State $state)
            Start-ScheduledTask -TaskName (Get-TaskName -Part '-change') -ErrorAction Stop
        }
        catch { Set-Phase -State $state -Phase 'failed' -Message $_.Exception.Message }
    }
    Exit-Lock
    $state = Wait-Phase -Phase 'changing' -Part '-change' -Else 'failed'
    if ($state.Phase -ne 'changed') { Stop-Verb -Code 20 -Text $state.Message }
}

function Confirm-Change {
    $state = Enter-Begun -Busy 20
    if ('begun', 'changing', 'failed' -contains $state.Phase) { Stop-Verb -Code 20 -Text ('transaction {0} is {1}, and there is nothing to confirm' -f $Id, $state.Phase) }
    # What is stuck may be confirmed by hand: the host stays as it is.
    if ('changed', 'stuck', 'confirmed' -notcontains $state.Phase) { Stop-Verb -Code 10 -Text ('transaction {0} is {1} already' -f $Id, $state.Phase) }
    # From here on the tasks find nothing to do; Windows keeps the settings by itself.
    if ($state.Phase -ne 'confirmed') { Set-Phase -State $state -Phase 'confirmed' -Message $state.Message }
    Unregister-Live
    Remove-Ended
    Exit-Lock
}

function Undo-Change {
    # A change that is under way ends first, or when the time is over.
    while (Test-Running -Part '-change') { Start-Sleep -Seconds 1 }
    $state = Enter-Begun -Busy 30
    if ($state.Phase -eq 'reverted') {
        Unregister-Live
        return
    }
    $open = Get-OpenId
    if ($open -ne '' -and $open -ne $Id) { Stop-Verb -Code 10 -Text ('transaction {0} is open on this host; confirm or revert it first' -f $open) }
    if ($state.Phase -ne 'reverting' -or -not (Test-Running -Part '-revert')) {
        try {
            Remove-Room
            $state.Forced = [bool]$AllowRestart
            Register-Live -State $state
            try { Set-Phase -State $state -Phase 'reverting' -Message 'the way back is under way' }
            catch { [Console]::Error.WriteLine((ConvertTo-Ascii -Text $_.Exception.Message)) }
            Start-ScheduledTask -TaskName (Get-TaskName -Part '-revert') -ErrorAction Stop
        }
        catch { Stop-Verb -Code 30 -Text $_.Exception.Message }
    }
    Exit-Lock
    $state = Wait-Phase -Phase 'reverting' -Part '-revert' -Else 'stuck'
    if ($state.Phase -ne 'reverted') { Stop-Verb -Code 30 -Text $state.Message }
}

function Show-Status {
    # No start of the host is named: every one of them takes back what is not confirmed.
    $shown = [ordered]@{ id = $Id; phase = 'none'; left_seconds = 0; open = (Get-OpenId); open_left_seconds = 0; message = ''; boot = '' }
    if ($shown.open -ne '') { $shown.open_left_seconds = Get-Left -State (Read-Live -Of $shown.open) }
    $state = Read-Live -Of $Id
    if ($null -ne $state) {
        $shown.phase = [string]$state.Phase
        $shown.left_seconds = Get-Left -State $state
        $shown.message = [string]$state.Message
        # A change that was killed; its task needs some seconds to start.
        if ($state.Phase -eq 'changing' -and (Get-Elapsed -Since $state.At) -gt 15 -and -not (Test-Running -Part '-change')) {
            $shown.phase = 'failed'
            $shown.message = 'it was ended before it said how it went'
        }
    }
    ConvertTo-Ascii -Text (ConvertTo-Json -InputObject ([pscustomobject]$shown) -Compress)
}

if ($Id -notmatch '^[a-z0-9]{1,32}$') { Stop-Verb -Code 10 -Text ("'{0}' is no transaction" -f $Id) }
try {
    switch ($Verb) {
        'begin' { Start-Transaction }
        'change' { Start-Change }
        'status' { Show-Status }
        'confirm' { Confirm-Change }
        'revert' { Undo-Change }
        'due' { Invoke-Due -Booted $false }
        'boot' { Invoke-Due -Booted $true }
        'do-change' { Invoke-Change }
        'do-revert' { Invoke-Revert }
    }
}
catch {
    $text = $_.Exception.Message
    switch ($Verb) {
        'begin' { Stop-Verb -Code 10 -Text $text }
        'revert' { Stop-Verb -Code 30 -Text $text }
    }
    Stop-Verb -Code 20 -Text $text
}
exit 0
