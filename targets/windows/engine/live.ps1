#Requires -Version 5.1
# made by rocec, the same for every host
<#
.SYNOPSIS
Changes this host in a transaction that goes back by itself unless it is confirmed.
.DESCRIPTION
rocec apply puts this script on the host and starts its verbs; the work is done by scheduled tasks, which a lost session does not end.
The state before the change is kept as JSON, which undo.ps1 reads. Everything lies in C:\ProgramData\rocec\live.
.PARAMETER Verb
begin, change, status, confirm or revert. The scheduled tasks use due, boot, do-change and do-revert.
.PARAMETER Id
The transaction.
.PARAMETER ConfirmSeconds
After how many seconds the host goes back, for begin.
.PARAMETER AllowRestart
For revert by hand, after it got stuck: undo.ps1 may restart adapters and remove what did not exist before.
.NOTES
Exit codes: 0 done, 10 refused and nothing changed, 20 the change or the confirmation failed, 30 the way back failed: a person has to.
#>
[CmdletBinding()]
param(
    [string]$Verb = 'status',
    [string]$Id = '',
    [int]$ConfirmSeconds = 600,
    [switch]$AllowRestart
)
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$Program = 'rocec-netqos.ps1'
# A restart that is pending after undo.ps1 leaves no setting behind.
$PendingIsBack = $true
# What undo.ps1 may do besides where restarts are allowed, and where a person said so.
$UndoRestart = 'RemoveSwitch'
$UndoForced = @()

# rocec:ascii

# rocec:live_state

# rocec:live_tasks

# rocec:live_work

# rocec:live_verbs
