package cumulus

import (
	"strings"
	"testing"

	"github.com/rocec/rocec/targets"
	"github.com/rocec/rocec/targets/oracle"
	"github.com/rocec/rocec/targets/targettest"
)

// nv is NVUE over files: rev/N is a revision, in the state that state/N says;
// pending holds what is not applied yet.
const nv = `#!/bin/bash
cd "$ROCEC_FAKE/nvue" || exit 9
echo "nv $*" >>asked
if [[ -e refuse-${2-} ]]; then
	echo "Error: refused" >&2
	exit 1
fi
text() {
	case $1 in
	applied) cat "rev/$(cat applied)" ;;
	startup) cat /etc/nvue.d/startup.yaml ;;
	*) cat "rev/$1" ;;
	esac
}
# apply REVISION STATE
apply() {
	echo "$1" >applied
	echo "$2" >"state/$1"
	[[ $2 == confirm || -e no-auto-save ]] || cp "rev/$1" /etc/nvue.d/startup.yaml
}
waiting() { grep -lx confirm state/* | sed 's/.*\///'; }
case "$1 $2" in
"config revision")
	echo "Rev ID  State  Apply ID"
	echo "------  -----  --------"
	for r in rev/*; do echo "${r#rev/}  $(cat "state/${r#rev/}")  rev_${r#rev/}_apply_1"; done
	;;
"config diff")
	if (($# == 2)); then
		[[ ! -e pending ]] || cat pending
	else
		one=$(text "$3") && two=$(text "$4") || exit 1
		[[ $one == "$two" ]] || echo "- set:"
	fi
	;;
"config patch") cp "$3" pending ;;
"config detach") rm -f pending ;;
"config save") text applied >saved.new && cp saved.new /etc/nvue.d/startup.yaml ;;
"config apply")
	case $3 in
	--confirm)
		[[ -e pending ]] || exit 1
		echo "$4" >time
		n=$(($(cat applied) + 1))
		cat "rev/$(cat applied)" pending >"rev/$n"
		rm pending
		cat applied >before
		apply $n confirm
		;;
	--confirm-yes | --confirm-no)
		[[ -n $(waiting) ]] || { echo "Error: nothing to confirm" >&2 && exit 1; }
		if [[ $3 == --confirm-yes ]]; then
			apply "$(cat applied)" applied
		else
			echo undone >"state/$(cat applied)"
			apply "$(cat before)" applied
		fi
		;;
	*) apply "$3" applied ;;
	esac
	;;
show*) ;;
*) exit 2 ;;
esac
`

func liveSwitch(t *testing.T) targettest.LiveDevice {
	t.Helper()
	for _, p := range []string{"bash", "flock", "setsid"} {
		oracle.Need(t, p)
	}
	d := tor()
	d.Name = "leaf-1"
	files := map[string]string{}
	for _, a := range targettest.Emit(&Target, d) {
		files[a.Path] = string(a.Bytes)
	}
	s := targettest.NewLiveDevice(t, kit().Artifacts[0].Bytes, map[string]string{"nv": nv}, files)
	s.Write("nvue/rev/1", "system\n")
	s.Write("nvue/rev/2", "old\n")
	s.Write("nvue/state/1", "applied_and_saved")
	s.Write("nvue/state/2", "applied_and_saved")
	s.Write("nvue/applied", "2")
	s.Write("etc/nvue.d/startup.yaml", "old\n")
	return s
}

// holds demands what is applied, and what the next boot starts from.
func holds(t *testing.T, s targettest.LiveDevice, when, applied, startup string) {
	t.Helper()
	got := s.Read("nvue/rev/" + s.Read("nvue/applied"))
	for _, c := range []struct{ what, got, want string }{{"applied", got, applied}, {"in startup.yaml", s.Read("etc/nvue.d/startup.yaml"), startup}} {
		if c.got != c.want {
			t.Errorf("%s: %s: %.60q, wanted %.60q", when, c.what, c.got, c.want)
		}
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	s := liveSwitch(t)
	s.Do("a1", "begin", "change")
	changed := "old\n" + s.Read("var/live/a1/leaf-1/"+patchFile)
	holds(t, s, "changed", changed, "old")
	if got := s.Read("nvue/time"); got != "660s" {
		t.Errorf("NVUE waits %s", got)
	}
	if code := s.Expire("a1"); code != 0 {
		t.Errorf("the timer ends with %d", code)
	}
	holds(t, s, "the timer", "old", "old")
	s.Do("b2", "begin", "change", "confirm")
	holds(t, s, "confirmed", changed, changed)
	s.Do("b2", "revert")
	holds(t, s, "undone", "old", "old")
	if asked := s.Read("nvue/asked"); !strings.Contains(asked, "nv config apply 2 -y") || strings.Contains(asked, "nv config replace") {
		t.Errorf("it asks for:\n%s", asked)
	}
}

// TestLiveReboot: whatever NVUE makes of a boot in the middle, the timer goes back.
func TestLiveReboot(t *testing.T) {
	t.Parallel()
	for name, boot := range map[string]func(s targettest.LiveDevice){
		"starts from the old one":           func(s targettest.LiveDevice) { s.Write("nvue/applied", "2"); s.Write("nvue/state/3", "undone") },
		"starts from the new one":           func(s targettest.LiveDevice) { s.Write("nvue/state/3", "applied_and_saved") },
		"the new one is in startup.yaml":    func(s targettest.LiveDevice) { s.Write("etc/nvue.d/startup.yaml", s.Read("nvue/rev/3")+"\n") },
		"a pending change was left":         func(s targettest.LiveDevice) { s.Write("nvue/pending", "half") },
		"waits for the confirmation as yet": func(targettest.LiveDevice) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := liveSwitch(t)
			s.Do("a1", "begin", "change")
			boot(s)
			s.Write("proc/sys/kernel/random/boot_id", "second\n")
			if code := s.Expire("a1"); code != 0 {
				t.Errorf("the timer ends with %d", code)
			}
			holds(t, s, "the timer", "old", "old")
			if s.Read("nvue/pending") != "" {
				t.Error("the pending change stays")
			}
		})
	}
}

// TestLiveUnsaved: what somebody applied and did not save comes back unsaved.
func TestLiveUnsaved(t *testing.T) {
	t.Parallel()
	s := liveSwitch(t)
	s.Write("etc/nvue.d/startup.yaml", "older\n")
	s.Write("nvue/no-auto-save", "")
	s.Do("a1", "begin", "change", "confirm")
	changed := "old\n" + s.Read("var/live/a1/leaf-1/"+patchFile)
	holds(t, s, "confirmed", changed, changed)
	s.Do("a1", "revert")
	holds(t, s, "undone", "old", "older")
}

func TestLiveRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(s targettest.LiveDevice)
		says  string
	}{
		"pending":     {func(s targettest.LiveDevice) { s.Write("nvue/pending", "- set:") }, "there are pending changes"},
		"unconfirmed": {func(s targettest.LiveDevice) { s.Write("nvue/state/2", "confirm") }, "revision 2 waits for its confirmation"},
		"no revision": {func(s targettest.LiveDevice) {
			s.Write("nvue/rev/3", "x")
			s.Write("nvue/state/3", "pending")
			s.Write("nvue/applied", "3")
		}, "does not show the revision"},
		"nothing": {func(s targettest.LiveDevice) { s.Remove("var/live/a1/leaf-1/apply.sh") }, "nothing is to be done here: it was changed, or what is applied was saved"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := liveSwitch(t)
			c.spoil(s)
			if code, why := s.Run("a1", "begin"); code != targets.ExitRefused || !strings.Contains(why, c.says) {
				t.Errorf("exit %d: %s", code, why)
			}
			if asked := s.Read("nvue/asked"); strings.Contains(asked, "apply") || strings.Contains(asked, "detach") {
				t.Errorf("it asks for:\n%s", asked)
			}
		})
	}
}

// TestLiveStuck: a switch that does not go back is named.
func TestLiveStuck(t *testing.T) {
	t.Parallel()
	s := liveSwitch(t)
	s.Do("a1", "begin", "change", "confirm")
	s.Write("nvue/refuse-apply", "")
	if code, why := s.Run("a1", "revert"); code != targets.ExitStuck || !strings.Contains(why, "nv config apply 2 goes back") {
		t.Errorf("exit %d: %s", code, why)
	}
	s.Remove("nvue/refuse-apply")
	s.Do("a1", "revert")
	holds(t, s, "undone", "old", "old")
}

func TestLiveParses(t *testing.T) {
	t.Parallel()
	oracle.Shell(t, "rocec-live.sh", kit().Artifacts[0].Bytes)
}
