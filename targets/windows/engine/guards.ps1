# --- guards ------------------------------------------------------------------

$Managed = @($Desired.Adapters | Where-Object { $_.Manage })
$script:ExitCode = 1
if ($StateDir -eq '') { $StateDir = Join-Path -Path $env:ProgramData -ChildPath 'rocec' }
$script:PendingFile = Join-Path -Path $StateDir -ChildPath 'restart-pending.json'

function Write-Line {
    param([string]$Tag, [string]$Text)
    Write-Host ('{0,-8} {1}' -f $Tag, $Text)
}

function Stop-Run {
    param([int]$Code, [string]$Text)
    $script:ExitCode = $Code
    throw $Text
}

function Test-Feature {
    param($State, [string]$Name)
    @($State.Features | Where-Object { $_.Name -eq $Name -and $_.InstallState -eq 'Installed' }).Count -eq 1
}

# The right computer, a server, and new enough.
function Assert-Host {
    param($State)
    $names = @($State.Computer, ('{0}.{1}' -f $State.Computer, $State.Domain))
    $wanted = $Desired.Computer
    if ($ExpectComputer -ne '') { $wanted = $ExpectComputer }
    if ($names -notcontains $wanted) {
        Stop-Run -Code 3 -Text ("this script is for '{0}', this computer is '{1}'; -ExpectComputer takes the name it has" -f $wanted, $names[0])
    }
    if ($State.ProductType -eq 1) { Stop-Run -Code 3 -Text 'this is not a server edition of Windows' }
    if ($State.Build -lt $Desired.MinimumBuild) {
        Stop-Run -Code 3 -Text ('build {0} or newer is expected, this is {1}' -f $Desired.MinimumBuild, $State.Build)
    }
}

# The intents of Network ATC that own adapters of ours, but those of some names.
function Get-Owner {
    param($State, [string[]]$Except)
    $ours = @($Desired.Adapters | ForEach-Object { $_.Name })
    @($State.Intents | Where-Object { $Except -notcontains $_.Name -and @($_.Adapters | Where-Object { $ours -contains $_ }).Count -gt 0 })
}

function Assert-Unowned {
    param($State)
    if ($State.IntentError -ne '') { Write-Line -Tag 'note' -Text ('Network ATC does not answer: {0}' -f $State.IntentError) }
    foreach ($row in @(Get-Owner -State $State -Except @())) {
        Stop-Run -Code 3 -Text ("Network ATC intent '{0}' owns adapters of this host; use one of the two, not both" -f $row.Name)
    }
}

function Test-PolicyMatch {
    param($Row, $Want)
    switch ($Want.Match) {
        'NetDirect' { return ($Row.NetDirectPortMatchCondition -eq $Want.Port) }
        'Cluster' { return ($Row.Template -eq 'Cluster') }
        'Default' { return ($Row.Template -eq 'Default') }
    }
    # Some builds give the protocol as a number; the port then has to do.
    $protocol = $Row.IPProtocolMatchCondition -eq $Want.Match -or $Row.IPProtocolMatchCondition -match '^\d+$'
    if (-not $protocol -or @($Row.OtherMatchConditions).Count -gt 0) { return $false }
    # What an older kit read has no such field.
    $either = [int] (Get-Field -InputObject $Row -Name 'IPPortMatchCondition')
    if (-not $Want.ContainsKey('Toward')) { return ($either -eq $Want.Port) }
    # What goes to the port, and not what comes back from it.
    $either -eq 0 -and $Row.IPDstPortStartMatchCondition -eq $Want.Port -and $Row.IPDstPortEndMatchCondition -eq $Want.Port
}

# Whether a policy takes traffic of another one, all of it or what goes to its port.
function Test-PolicyClash {
    param($Row, $Want)
    if (Test-PolicyMatch -Row $Row -Want $Want) { return $true }
    if ('TCP', 'UDP' -notcontains $Want.Match) { return $false }
    Test-PolicyMatch -Row $Row -Want @{ Match = $Want.Match; Port = $Want.Port; Toward = $true }
}

# Policies that match the same traffic under another name, and traffic classes
# of other names: both would take what the classes below need.
function Get-Conflict {
    param($State)
    if ($null -eq $Desired.Qos) { return }
    $names = @($Desired.Qos.Policies | ForEach-Object { $_.Name })
    $local = @($State.Policies | ForEach-Object { $_.Name })
    foreach ($row in $State.Policies) {
        if ($names -contains $row.Name) {
            # It would be made anew, without what ours have no word for.
            $want = @($Desired.Qos.Policies | Where-Object { $_.Name -eq $row.Name })[0]
            $more = @(Get-Field -InputObject $row -Name 'OtherMatchConditions') + @(Get-Field -InputObject $row -Name 'OtherActions')
            $more = @($more | Where-Object { [string]$_ -ne '' })
            $same = (Test-PolicyMatch -Row $row -Want $want) -and $row.PriorityValue8021Action -eq $want.Priority -and $row.DSCPAction -eq $want.Dscp
            if ($more.Count -gt 0 -and -not $same) {
                [pscustomobject]@{ Kind = 'policy'; Name = $row.Name; Why = ('it has more than is written here, which would be lost: {0}' -f ($more -join ', ')) }
            }
        }
        else {
            foreach ($want in $Desired.Qos.Policies) {
                if (Test-PolicyClash -Row $row -Want $want) {
                    [pscustomobject]@{ Kind = 'policy'; Name = $row.Name; Why = ("it matches the traffic of '{0}'" -f $want.Name) }
                }
            }
        }
    }
    foreach ($row in $State.ActivePolicies) {
        if ($local -contains $row.Name) { continue }
        foreach ($want in $Desired.Qos.Policies) {
            if (Test-PolicyClash -Row $row -Want $want) {
                [pscustomobject]@{ Kind = 'group policy'; Name = $row.Name; Why = ("it matches the traffic of '{0}' and comes from {1}" -f $want.Name, $row.Owner) }
            }
        }
    }
    if ($null -eq $Desired.Qos.Classes) { return }
    $classes = @($Desired.Qos.Classes | ForEach-Object { $_.Name })
    foreach ($row in $State.TrafficClasses) {
        if ($row.Name -eq '[Default]' -or $classes -contains $row.Name) { continue }
        [pscustomobject]@{ Kind = 'traffic class'; Name = $row.Name; Why = ('it holds priority {0} and {1} %' -f (@($row.Priority) -join ', '), $row.BandwidthPercentage) }
    }
}

# Since the 2022-09 update a cluster sets the limit of its nodes by itself.
function Write-ClusterLimit {
    if ($null -eq (Get-Command -Name 'Get-Cluster' -ErrorAction SilentlyContinue)) { return }
    $cluster = Get-Cluster -ErrorAction SilentlyContinue
    if ($null -eq $cluster) { return }
    if ([string] (Get-Field -InputObject $cluster -Name 'SetSMBBandwidthLimit') -eq '1') {
        Write-Line -Tag 'note' -Text 'the cluster property SetSMBBandwidthLimit is on and may replace the SMB limit of this node'
    }
}

# Restarts that are still owed outlive this run, until the host was booted.
function Read-Pending {
    param($State)
    if (-not (Test-Path -LiteralPath $script:PendingFile)) { return }
    $saved = Get-Content -LiteralPath $script:PendingFile -Raw -Encoding 'UTF8' | ConvertFrom-Json
    # The boot time is reckoned from the uptime and moves with the clock.
    if ([Math]::Abs([long]$saved.Boot - [long]$State.Boot) -gt 300) { return }
    @($saved.Adapters)
}
