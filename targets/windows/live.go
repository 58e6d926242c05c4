package windows

import (
	"fmt"
	"strings"

	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
)

// liveRoot is where transactions lie. It is in engine/live_state.ps1 too.
const liveRoot = "C:/ProgramData/rocec/live"

// A transaction is rocec-live.ps1 of the kit and four scheduled tasks. The time is
// kept by the ticks since the start of Windows; that no clock on the wall stops
// it rests on a trigger that began in the past and repeats every minute without
// an end (win32 TaskSchd repetitionType: no Duration is "indefinitely", the
// shortest Interval is a minute; windows-powershell-docs New-ScheduledTaskTrigger
// -Once -RepetitionInterval), and a start of Windows runs the task of -AtStartup.
// So the host goes back within a minute and some seconds of the time, and after
// every start of Windows.
func live(kit func() *emit.Kit) *targets.Live {
	return &targets.Live{
		Shell:   targets.PowerShell,
		Root:    liveRoot,
		Prepare: prepare,
		Command: func(v targets.Verb, tx targets.Transaction) string {
			return command(kit(), v, tx)
		},
		Manual: func(tx targets.Transaction) string {
			return fmt.Sprintf(`powershell.exe -NoProfile -ExecutionPolicy Bypass -File %s\%s -Verb revert -Id %s -AllowRestart`, windowsPath(liveRoot), liveFile, tx.ID)
		},
		Confirms: "a scheduled task",
	}
}

// prepare makes the folder, and takes it from everyone but SYSTEM and the
// administrators before there is anything in it: everyone may make folders in
// ProgramData, and the tasks run as SYSTEM what lies there.
func prepare(tx targets.Transaction) string {
	return `try { $ErrorActionPreference = 'Stop'; $root = '` + windowsPath(liveRoot) + `'; ` +
		`New-Item -Path ($root + '\` + tx.ID + `') -ItemType 'Directory' -Force | Out-Null; ` +
		trusted(`(Split-Path -Path $root), $root, ($root + '\`+tx.ID+`')`) +
		`$security = [System.Security.AccessControl.DirectorySecurity]::new(); ` +
		`$security.SetSecurityDescriptorSddlForm('` + liveAccess + `', 'Access'); ` +
		`[System.IO.Directory]::SetAccessControl($root, $security) ` +
		`} catch { [Console]::Error.WriteLine($_.Exception.Message); exit 10 }`
}

// trusted stops before a folder that belongs to somebody who is neither SYSTEM, nor
// an administrator, nor the login: what lies in it is not to be run. It is asked of
// folders here and, once more, by begin (engine/live_verbs.ps1).
func trusted(folders string) string {
	return `$trusted = 'S-1-5-18', 'S-1-5-32-544', [System.Security.Principal.WindowsIdentity]::GetCurrent().User.Value; ` +
		`foreach ($path in ` + folders + `) { ` +
		`$owner = [System.IO.Directory]::GetAccessControl($path).GetOwner([System.Security.Principal.SecurityIdentifier]).Value; ` +
		`if ($trusted -notcontains $owner) { throw ("the folder '{0}' belongs to '{1}', who is neither an administrator of this host nor you" -f $path, $owner) } }; `
}

// liveAccess gives full control to SYSTEM and administrators, with nothing
// inherited. It is in engine/live_verbs.ps1 too.
const liveAccess = "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"

func windowsPath(path string) string { return strings.ReplaceAll(path, "/", `\`) }

// command is the text of PowerShell for one verb. It runs the script in its own
// process, so that the last line of the standard error is the script's, and stops
// where the script is not there. Only this process is told to run scripts that
// nobody signed (PowerShell-Docs Set-ExecutionPolicy -Scope Process); a group
// policy that forbids it stays in force. It is kept short: base64 makes nearly
// three of a character, and cmd.exe takes 8191 of them.
func command(kit *emit.Kit, v targets.Verb, tx targets.Transaction) string {
	const (
		stop   = `$ErrorActionPreference = 'Stop'; `
		policy = `try { Set-ExecutionPolicy -ExecutionPolicy 'Bypass' -Scope 'Process' -Force } catch { }; `
		code   = `; exit $LASTEXITCODE`
	)
	if v == targets.VerbStatus {
		// begin puts a copy there. Before the first, nothing was begun on this host.
		script := windowsPath(liveRoot) + `\` + liveFile
		guard := trusted("(Split-Path -Path $root), $root")
		return stop + fmt.Sprintf(`$root = '%s'; if (Test-Path -LiteralPath '%s') { %s%s& '%s' -Verb status -Id '%s'%s }; `, windowsPath(liveRoot), script, guard, policy, script, tx.ID, code) +
			fmt.Sprintf(`Write-Output '{"id":"%s","phase":"none","left_seconds":0,"open":"","open_left_seconds":0,"message":"","boot":""}'`, tx.ID)
	}
	script := windowsPath(kit.Folder()) + `\` + liveFile
	more := ""
	if v == targets.VerbBegin {
		more = fmt.Sprintf(" -ConfirmSeconds %d", int64(tx.Confirm.Seconds()))
	}
	return stop + policy + fmt.Sprintf(`& '%s' -Verb %s -Id '%s'%s%s`, script, v, tx.ID, more, code)
}
