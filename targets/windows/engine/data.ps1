# --- what this host shall be -----------------------------------------------------

if (-not (Test-Path -LiteralPath $Data)) {
    Write-Host ("FAILED   no '{0}' here; start the script in the folder of this host, or name its data with -Data" -f $Data)
    exit 3
}
$Desired = Import-PowerShellDataFile -LiteralPath $Data -ErrorAction Stop
if ($Desired.Target -ne $Target) {
    Write-Host ("FAILED   '{0}' is data of {1}, not of {2}" -f $Data, $Desired.Target, $Target)
    exit 3
}
