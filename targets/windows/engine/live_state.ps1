# --- state ---------------------------------------------------------------------

# Not $env:ProgramData: sessions put the files here.
$Root = 'C:\ProgramData\rocec\live'
$PendingFile = Join-Path -Path $env:ProgramData -ChildPath 'rocec\restart-pending.json'
$OpenPhases = 'begun', 'changing', 'changed', 'failed', 'reverting', 'stuck'
$ArmedPhases = 'begun', 'changing', 'changed', 'failed'
$KeptEnded = 5

# The last line of the standard error says why.
function Stop-Verb {
    param([int]$Code, [string]$Text)
    [Console]::Error.WriteLine((ConvertTo-Ascii -Text ($Text -replace '\s+', ' ')))
    exit $Code
}

# Milliseconds since Windows started, which no change of the clock moves. They
# begin anew after 49.7 days.
function Get-Tick {
    ([long][Environment]::TickCount + 4294967296) % 4294967296
}

function Get-Elapsed {
    param([long]$Since)
    [long][Math]::Floor((((Get-Tick) - $Since + 4294967296) % 4294967296) / 1000)
}

# A file is the old one or the new one, whatever happens: it is written beside,
# flushed, and put in its place. The one before stays as .old.
function Write-Whole {
    param([string]$Path, [string]$Text)
    $new = $Path + '.new'
    $bytes = [System.Text.Encoding]::UTF8.GetBytes($Text)
    $stream = [System.IO.File]::Open($new, 'Create', 'Write', 'None')
    try {
        $stream.Write($bytes, 0, $bytes.Length)
        $stream.Flush($true)
    }
    finally { $stream.Dispose() }
    # Windows does not replace a file while somebody reads it, be it a scanner.
    foreach ($milliseconds in 100, 200, 500, 1000, 2000, 0) {
        try {
            if (Test-Path -LiteralPath $Path) { [System.IO.File]::Replace($new, $Path, ($Path + '.old')) }
            else { [System.IO.File]::Move($new, $Path) }
            return
        }
        catch {
            if ($milliseconds -eq 0) { throw }
        }
        Start-Sleep -Milliseconds $milliseconds
    }
}

function Get-Kept {
    param([string]$Of, [string]$Kind)
    Join-Path -Path $Root -ChildPath ('{0}.{1}' -f $Of, $Kind)
}

# What is known of a transaction; nothing where there was none.
function Read-Live {
    param([string]$Of)
    $file = Get-Kept -Of $Of -Kind 'state.json'
    $old = $file + '.old'
    foreach ($path in $file, $old) {
        if (-not (Test-Path -LiteralPath $path)) { continue }
        try {
            $state = [System.IO.File]::ReadAllText($path) | ConvertFrom-Json
            if ([int]$state.Schema -eq 1 -and [string]$state.Id -eq $Of) { return $state }
        }
        catch { continue }
    }
}

function Set-Phase {
    param($State, [string]$Phase, [string]$Message)
    $State.Phase = $Phase
    $State.Message = $Message -replace '\s+', ' '
    $State.At = Get-Tick
    Write-Whole -Path (Get-Kept -Of $State.Id -Kind 'state.json') -Text (ConvertTo-Json -InputObject $State -Compress)
}

# The transaction that is begun and neither confirmed nor reverted.
function Get-OpenId {
    if (-not (Test-Path -LiteralPath $Root)) { return '' }
    foreach ($file in @([System.IO.Directory]::GetFiles($Root, '*.state.json') | Sort-Object)) {
        $name = (Split-Path -Path $file -Leaf) -replace '\.state\.json$', ''
        $state = Read-Live -Of $name
        if ($null -ne $state -and $OpenPhases -contains $state.Phase) { return $name }
    }
    return ''
}

# Seconds until the host goes back; 0 where nothing is scheduled.
function Get-Left {
    param($State)
    if ($ArmedPhases -notcontains $State.Phase) { return 0 }
    if (-not (Test-Task -Part '')) { return 0 }
    [Math]::Max(1, [long]$State.Seconds - (Get-Elapsed -Since $State.Tick))
}

# Forgets all but the last transactions that ended, this one among them, with the
# files that sessions put there. Its order is that in which they ended, whatever
# the clock said. What cannot be removed is tried again after the next one.
function Remove-Ended {
    $file = Join-Path -Path $Root -ChildPath 'ended.json'
    $ended = @()
    try {
        if (Test-Path -LiteralPath $file) { $ended = @(([System.IO.File]::ReadAllText($file) | ConvertFrom-Json).Ids) }
    }
    catch { $ended = @() }
    $ended = @($ended | Where-Object { [string]$_ -match '^[a-z0-9]{1,32}$' -and $_ -ne $Id }) + $Id
    try {
        while ($ended.Count -gt $KeptEnded) {
            $gone = $ended[0]
            $paths = @(Join-Path -Path $Root -ChildPath $gone)
            foreach ($kind in 'before.json', 'before.json.old', 'room', 'state.json.old', 'state.json') { $paths = $paths + (Get-Kept -Of $gone -Kind $kind) }
            foreach ($path in $paths) {
                if (Test-Path -LiteralPath $path) { Remove-Item -LiteralPath $path -Recurse -Force -ErrorAction Stop }
            }
            $ended = @($ended | Where-Object { $_ -ne $gone })
        }
    }
    catch { [Console]::Error.WriteLine((ConvertTo-Ascii -Text $_.Exception.Message)) }
    try { Write-Whole -Path $file -Text (ConvertTo-Json -InputObject ([pscustomobject]@{ Ids = [string[]]@($ended) }) -Compress) }
    catch { [Console]::Error.WriteLine((ConvertTo-Ascii -Text $_.Exception.Message)) }
}

# One command at a time. Windows gives the file back when its process ends.
$script:Lock = $null

function Enter-Lock {
    param([int]$Seconds)
    $file = Join-Path -Path $Root -ChildPath 'lock'
    $since = Get-Tick
    while ($true) {
        try {
            $script:Lock = [System.IO.File]::Open($file, 'OpenOrCreate', 'ReadWrite', 'None')
            return $true
        }
        catch {
            if ((Get-Elapsed -Since $since) -ge $Seconds) { return $false }
        }
        Start-Sleep -Seconds 1
    }
}

function Exit-Lock {
    if ($null -eq $script:Lock) { return }
    $script:Lock.Dispose()
    $script:Lock = $null
}
