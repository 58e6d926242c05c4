try { Invoke-Main }
catch {
    Write-Line -Tag 'FAILED' -Text $_.Exception.Message
    exit $script:ExitCode
}
Write-Line -Tag 'done' -Text ('{0} differences' -f $script:Differences)
if ($script:Differences -gt 0) { exit 2 }
exit 0
