try { Invoke-Main }
catch {
    Write-Line -Tag 'FAILED' -Text $_.Exception.Message
    if ($script:Saved -ne '') { Write-Line -Tag 'note' -Text ('undo.ps1 restores {0}' -f $script:Saved) }
    exit $script:ExitCode
}
$waiting = @($script:Pending).Count
Write-Line -Tag 'done' -Text ('{0} changed, {1} planned, restart pending: {2}' -f $script:Changed, $script:Planned, $waiting)
if ($script:Kept -gt 0) {
    Write-Line -Tag 'note' -Text 'not everything is as it was, see the notes above'
    exit 5
}
if ($waiting + $script:Owed -gt 0 -and -not $WhatIfPreference) {
    if ($waiting -gt 0) { Write-Line -Tag 'note' -Text ('a restart is pending of {0}' -f ($script:Pending -join ', ')) }
    Write-Line -Tag 'note' -Text 'run again, with -AllowRestart in a maintenance window'
    exit 4
}
if ($script:Changed + $script:Planned -gt 0) { exit 2 }
exit 0
