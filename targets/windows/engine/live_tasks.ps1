# --- scheduled tasks --------------------------------------------------------------

# Four tasks make a transaction: the one without a part looks whether the time is
# over, -boot runs when Windows starts, -change and -revert do the work.
$Parts = '', '-boot', '-change', '-revert'

function Get-TaskName {
    param([string]$Part)
    'rocec-live-{0}{1}' -f $Id, $Part
}

function Get-Task {
    param([string]$Part)
    $name = Get-TaskName -Part $Part
    @(Get-ScheduledTask -TaskName $name -ErrorAction SilentlyContinue | Where-Object { $_.TaskName -eq $name })
}

function Test-Task {
    param([string]$Part)
    @(Get-Task -Part $Part | Where-Object { [string]$_.State -ne 'Disabled' }).Count -eq 1
}

function Test-Running {
    param([string]$Part)
    @(Get-Task -Part $Part | Where-Object { 'Running', 'Queued' -contains [string]$_.State }).Count -eq 1
}

function Register-Part {
    param($State, [string]$Part, [string]$Run, $Trigger, [int]$LimitSeconds)
    $script = Join-Path -Path $State.Kit -ChildPath 'rocec-live.ps1'
    $argument = '-NoProfile -NonInteractive -ExecutionPolicy Bypass -File "{0}" -Verb {1} -Id {2}' -f $script, $Run, $State.Id
    $shell = Join-Path -Path $env:SystemRoot -ChildPath 'System32\WindowsPowerShell\v1.0\powershell.exe'
    $settings = New-ScheduledTaskSettingsSet -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -StartWhenAvailable -MultipleInstances 'IgnoreNew' -ExecutionTimeLimit ([TimeSpan]::FromSeconds($LimitSeconds))
    $task = @{
        TaskName = (Get-TaskName -Part $Part)
        Description = 'rocec apply'
        Action = (New-ScheduledTaskAction -Execute $shell -Argument $argument -WorkingDirectory $State.Folder)
        Principal = (New-ScheduledTaskPrincipal -UserId 'NT AUTHORITY\SYSTEM' -LogonType 'ServiceAccount' -RunLevel 'Highest')
        Settings = $settings
        Force = $true
        ErrorAction = 'Stop'
    }
    if ($null -ne $Trigger) { $task['Trigger'] = $Trigger }
    Register-ScheduledTask @task | Out-Null
}

# The time is kept by the ticks of Windows (do-change, Get-Left), the clock on the
# wall only wakes the task: once when the time is over, and every minute, for a
# clock that was set back. That trigger began in the past and has no end, so that
# no clock is before or after it.
function Register-Live {
    param($State)
    $at = (Get-Date).AddSeconds([long]$State.Seconds + 2)
    $due = New-ScheduledTaskTrigger -Once -At $at
    $minute = New-ScheduledTaskTrigger -Once -At ([DateTime]::new(1980, 1, 1)) -RepetitionInterval ([TimeSpan]::FromMinutes(1))
    $boot = New-ScheduledTaskTrigger -AtStartup
    # First the one that takes the others away where there is no state.
    Register-Part -State $State -Part '' -Run 'due' -Trigger @($due, $minute) -LimitSeconds 600
    Register-Part -State $State -Part '-change' -Run 'do-change' -Trigger $null -LimitSeconds $State.Seconds
    Register-Part -State $State -Part '-revert' -Run 'do-revert' -Trigger $null -LimitSeconds 14400
    Register-Part -State $State -Part '-boot' -Run 'boot' -Trigger $boot -LimitSeconds 600
    foreach ($part in $Parts) {
        if (-not (Test-Task -Part $part)) { throw ("the scheduled task '{0}' is not there" -f (Get-TaskName -Part $part)) }
    }
}

# Room for what the way back writes, on a disk that has become full.
function Add-Room {
    $room = [System.IO.File]::Open((Get-Kept -Of $Id -Kind 'room'), 'Create', 'Write', 'None')
    try { $room.SetLength(1048576) }
    finally { $room.Dispose() }
}

function Remove-Room {
    $room = Get-Kept -Of $Id -Kind 'room'
    if (Test-Path -LiteralPath $room) { Remove-Item -LiteralPath $room -Force -ErrorAction SilentlyContinue }
}

# The last one is that of the minute: until it is gone, the others are taken away again.
function Unregister-Live {
    foreach ($part in '-boot', '-change', '-revert', '') {
        foreach ($task in @(Get-Task -Part $part)) {
            try { Unregister-ScheduledTask -TaskName $task.TaskName -Confirm:$false -ErrorAction Stop }
            catch { [Console]::Error.WriteLine((ConvertTo-Ascii -Text $_.Exception.Message)) }
        }
    }
    Remove-Room
}
