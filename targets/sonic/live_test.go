package sonic

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/emit"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/posix"
	"github.com/rocec/rocec/targets/targettest"
)

// liveCommands are a switch's programs over one file, db.json.
var liveCommands = map[string]string{
	"sonic-cfggen": "#!/bin/sh\ncat \"$ROCEC_FAKE/db.json\"\n",
	"pfcwd": `#!/bin/sh
[ "$1" = stop ] || exit 0
shift
for port; do
	python3 "$ROCEC_FAKE/database.py" "$ROCEC_FAKE/db.json" DEL "PFC_WD|$port"
done
`,
	"sonic-db-cli": `#!/bin/sh
echo "sonic-db-cli $*" >>"$ROCEC_FAKE/asked"
[ "$1" = CONFIG_DB ] && shift && exec python3 "$ROCEC_FAKE/database.py" "$ROCEC_FAKE/db.json" "$@"
`,
	"show": "#!/bin/sh\n",
	"config": `#!/bin/sh
echo "config $*" >>"$ROCEC_FAKE/asked"
if [ -e "$ROCEC_FAKE/refuse-$1" ]; then
	echo "Failed to $1" >&2
	exit 2
fi
points=/etc/sonic/checkpoints
mkdir -p "$points"
case $1 in
checkpoint) cp "$ROCEC_FAKE/db.json" "$points/$2" ;;
rollback) python3 "$ROCEC_FAKE/updater.py" "$ROCEC_FAKE/db.json" "$points/$2" && cp "$points/$2" "$ROCEC_FAKE/db.json" ;;
load) python3 "$ROCEC_FAKE/database.py" "$ROCEC_FAKE/db.json" LOAD "$3" ;;
delete-checkpoint) rm "$points/$2" ;;
save) cp "$ROCEC_FAKE/db.json" /etc/sonic/config_db.json ;;
apply-patch)
	python3 "$ROCEC_FAKE/patch.py" "$ROCEC_FAKE/db.json" "$2"
	;;
*) exit 3 ;;
esac
`,
}

// storeProgram is what sonic-db-cli and config load do to a database; patchProgram is config
// apply-patch with what it refuses before 202511, ECN and buffer profiles, operations on what
// is not there and tables left empty [sonic-utilities generic_config_updater: the validators
// of gcu_field_operation_validators.conf.json, PatchApplier.apply]; updaterProgram is the
// same refusal on the way back.
const (
	storeProgram = `import json, sys
name, verb, key, *words = sys.argv[1:]
db = json.load(open(name))
if verb == "LOAD":
    for table, rows in json.load(open(key)).items():
        for row, fields in rows.items():
            db.setdefault(table, {}).setdefault(row, {}).update(fields)
else:
    table, row = key.split("|", 1)
    rows = db.setdefault(table, {})
    if verb == "HSET":
        rows.setdefault(row, {})[words[0]] = words[1]
    elif verb == "HDEL":
        rows.get(row, {}).pop(words[0], None)
    else:
        rows.pop(row, None)
    if not rows.get(row, True):
        del rows[row]
    if not rows:
        del db[table]
json.dump(db, open(name, "w"), sort_keys=True, separators=(",", ":"))
`
	patchProgram = `import json, sys
db = json.load(open(sys.argv[1]))
for step in json.load(open(sys.argv[2])):
    *way, last = [p.replace("~1", "/").replace("~0", "~") for p in step["path"].split("/")[1:]]
    if (way + [last])[0] in ("WRED_PROFILE", "BUFFER_POOL", "BUFFER_PROFILE"):
        sys.exit("Failed to apply patch: modification of %s table is illegal" % (way + [last])[0])
    at = db
    for p in way:
        at = at[p]
    if step["op"] != "add" and last not in at:
        sys.exit("Failed to apply patch: can't %s a non-existent object '%s'" % (step["op"], last))
    if step["op"] == "remove":
        del at[last]
    else:
        at[last] = step["value"]
if not all(db.values()):
    sys.exit("Failed to apply patch: given patch is not valid because it will result in empty tables")
json.dump(db, open(sys.argv[1], "w"), sort_keys=True, separators=(",", ":"))
`
	updaterProgram = `import json, sys
now, then = (json.load(open(name)) for name in sys.argv[1:])
if now.get("WRED_PROFILE") != then.get("WRED_PROFILE"):
    sys.exit("Failed to rollback config: modification of WRED_PROFILE table is illegal")
`
)

// liveSwitch is a switch with what Rebase writes for it.
func liveSwitch(t *testing.T) targettest.LiveDevice {
	t.Helper()
	for _, p := range []string{"bash", "flock", "setsid", "python3"} {
		oracle.Need(t, p)
	}
	d := leaf()
	d.Hash = intent.Hash{}
	d.Name = "leaf-1"
	d.OS.Version = "202405"
	db := bytesOf(t, stock(t, d))
	var out emit.Out
	if list := rebase(d, targets.Captured{Files: map[string][]byte{running: db}}, &out); len(list) > 0 {
		t.Fatal(list)
	}
	files := map[string]string{}
	for _, a := range out.Artifacts {
		files[a.Path] = string(a.Bytes)
	}
	var program []byte
	for _, a := range kit().Artifacts {
		files[path.Join(kit().Folder(), a.Path)] = string(a.Bytes)
		if a.Path != posix.File {
			files["../common/kit/"+a.Path] = string(a.Bytes) // where the program of the test lies
		}
		program = a.Bytes // the last one
	}
	s := targettest.NewLiveDevice(t, program, liveCommands, files)
	s.Write("database.py", storeProgram)
	s.Write("patch.py", patchProgram)
	s.Write("updater.py", updaterProgram)
	s.Write("db.json", string(db))
	s.Write("etc/sonic/config_db.json", string(db))
	return s
}

// TestLive: nothing is saved before the confirmation, and whatever way it goes
// back, running and saved configuration are those of before.
func TestLive(t *testing.T) {
	t.Parallel()
	s := liveSwitch(t)
	old := s.Read("db.json")
	s.Do("a1", "begin", "change")
	changed := s.Read("db.json")
	if changed == old || !strings.Contains(changed, `"wred_profile":"rocec_roce_q3"`) || s.Read("etc/sonic/config_db.json") != old {
		t.Fatal("the change is not in the running configuration alone")
	}
	if code := s.Expire("a1"); code != 0 || s.Read("db.json") != old || s.Read("etc/sonic/config_db.json") != old {
		t.Errorf("the timer ends with %d: %s", code, s.Read("var/live/a1.state/log"))
	}
	s.Do("b2", "begin", "change", "confirm")
	if s.Read("etc/sonic/config_db.json") != changed {
		t.Error("confirm does not save")
	}
	s.Do("b2", "revert")
	if s.Read("db.json") != old || s.Read("etc/sonic/config_db.json") != old {
		t.Error("revert after confirm does not go back")
	}
	if got := strings.Count(s.Read("asked"), "config save"); got != 1 {
		t.Errorf("saved %d times", got)
	}
}

// TestLiveRefused: a step that the switch refuses.
func TestLiveRefused(t *testing.T) {
	t.Parallel()
	s := liveSwitch(t)
	old := s.Read("db.json")
	s.Write("refuse-checkpoint", "")
	if code, why := s.Run("a1", "begin"); code != targets.ExitRefused || why != "cannot keep what there is: Failed to checkpoint" {
		t.Errorf("begin: exit %d: %s", code, why)
	}
	s.Remove("refuse-checkpoint")
	s.Do("a1", "begin")
	s.Write("refuse-apply-patch", "")
	if code, why := s.Run("a1", "change"); code != targets.ExitFailed || why != "Failed to apply-patch" {
		t.Errorf("change: exit %d: %s", code, why)
	}
	s.Remove("refuse-apply-patch")
	s.Do("a1", "revert")
	s.Do("b2", "begin", "change")
	s.Write("refuse-save", "")
	if code, why := s.Run("b2", "confirm"); code != targets.ExitFailed || why != "cannot be confirmed: Failed to save" {
		t.Errorf("confirm: exit %d: %s", code, why)
	}
	s.Remove("refuse-save")
	s.Do("b2", "confirm")
	s.Write("refuse-rollback", "")
	kept := s.Root + "/var/live/b2.state/kept/running.json"
	code, why := s.Run("b2", "revert")
	if want := fmt.Sprintf("config reload -y %s goes back, but restarts the services", kept); code != targets.ExitStuck || !strings.Contains(why, want) {
		t.Errorf("revert: exit %d: %s", code, why)
	}
	if s.Read("etc/sonic/config_db.json") != old || s.Read("var/live/b2.state/kept/running.json") != old {
		t.Error("a reboot does not go back")
	}
	s.Write("db.json", old) // somebody typed it
	s.Do("b2", "revert")
	if got := s.Status("b2"); got.Phase != targets.PhaseReverted || got.Open != "" {
		t.Errorf("%+v", got)
	}
}

// TestLiveWindow: what needs a window is not done, and where nothing is to be done that is said.
func TestLiveWindow(t *testing.T) {
	t.Parallel()
	s := liveSwitch(t)
	s.Remove("var/live/a1/leaf-1/apply.sh")
	if code, why := s.Run("a1", "begin"); code != targets.ExitRefused || why != "what is to be done here needs a maintenance window: apply-maintenance.sh" {
		t.Errorf("exit %d: %s", code, why)
	}
	s.Remove("var/live/a1/leaf-1/apply-maintenance.sh")
	if code, why := s.Run("a1", "begin"); code != targets.ExitRefused || !strings.HasPrefix(why, "nothing is to be done here: it was changed, or what runs was stored, since the plan was made") {
		t.Errorf("exit %d: %s", code, why)
	}
	if s.Read("asked") != "" {
		t.Errorf("it asks for %s", s.Read("asked"))
	}
}

func TestLiveParses(t *testing.T) {
	t.Parallel()
	for _, a := range kit().Artifacts {
		if strings.HasSuffix(a.Path, ".sh") {
			oracle.Shell(t, a.Path, a.Bytes)
		}
	}
}
