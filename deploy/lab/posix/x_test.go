package posix

import (
	"bytes"
	"os"
	"context"
	"strings"
	"testing"

	"github.com/rocec/rocec/deploy/lab"
)

func TestX(t *testing.T) {
	h := NewHost(Options{Name: "h1", Disk: lab.NewDisk(lab.DiskOptions{Volatile: []string{"/run", "/tmp"}})})
	defer h.Close()
	src := `
bash /root/y.sh; exit

x='{"a":[1,2],"tc_tsa":["ets","strict"]}'
[[ $x =~ \"tc_tsa\":\[([a-z\",]*)\] ]] && echo "m ${BASH_REMATCH[1]}"
map=(); map[3]=x; map[3]+=+y; echo "${map[3]} ${#map[@]} ${map[*]}"
printf -- '- '; echo
printf '%q\n' "a b"
printf -v q '%s-%d' 5 6; echo "q=$q"
umask 077; echo x >/tmp/u; stat -c %a /tmp/u
exec 9>/run/l && flock -w 2 9 && echo locked
flock -n /run/l true || echo busy
exec 9>&-
flock -n /run/l echo free
( flock -n 8 || exit 3; echo in ) 8>/run/m; echo rc $?
while IFS= read -r l; do echo "got $l"; done < <(printf 'a\nb\n')
diff <(echo 1) <(echo 2); echo "diff $?"
echo "$EUID $(id -u) $(hostname) $0 ${BASH_SOURCE[0]-none}"
command -v grep nosuch; echo $?
cat >/tmp/s.sh <<'E'
#!/bin/bash
set -u
trap 'echo bye' EXIT HUP
echo "script $0 $1 ${BASH_SOURCE[0]} $$"
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd); echo $kit
exit 4
E
bash /tmp/s.sh one; echo rc $?
chmod +x /tmp/s.sh; /tmp/s.sh two; cd /tmp; ./s.sh three
systemd-escape --template=rocec-qos@.service -- eth0.1-x
nosuch; echo $?
systemd-run --quiet --unit=back --on-active=1h bash -c 'touch /tmp/fired'
systemctl is-active back.timer
systemctl list-timers
setsid bash -c 'sleep 0.01; echo late >/tmp/late' </dev/null >/dev/null 2>&1 &
wait; cat /tmp/late
find /tmp -type f | sort
echo "${x/a/b}" | sed -n 's/.*\(ets\).*/<\1>/p'
grep -Hr . /tmp --include='lat*'
for f in /tmp/*.sh; do echo "f $f"; done
[[ -x /usr/bin/grep ]] && echo isx
echo $((SECONDS < 5))
`
	yy, _ := os.ReadFile("/tmp/e/y.sh"); h.Disk().WriteFile("/root/y.sh", yy, 0o644)
	var b bytes.Buffer
	code := h.Exec(context.Background(), src, strings.NewReader(""), &b, &b)
	t.Log(code, "\n"+b.String())
}
