package oracle

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// GuestJobs are jobs that show what every other job relies on: that what one dcb process sets another one reads back from the
// kernel, that the stub starts anew for each job, that it refuses as a port does, and that a job's files, exit code and output come
// through, and that a power cut leaves what had reached the disk and nothing else. They are run beside others, as a boot takes longer than all of them; CheckGuest judges what came of them.
func GuestJobs() []GuestJob {
	return []GuestJob{
		{Name: "set and read back", Script: `exec 3>&1 >/dev/null 2>&1 # what dcb 6.1 says of a set is not to be trusted, see testdata/lab
dcb ets set dev rd0 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:40 3:60 prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7
dcb pfc set dev rd0 prio-pfc all:off 3:on
dcb app add dev rd0 dscp-prio 26:3 48:6
exec >&3
dcb -j ets show dev rd0
dcb -j pfc show dev rd0
dcb -j app show dev rd0
`},
		{Name: "a new port", Script: "dcb -j pfc show dev rd0\ndcb -j ets show dev rd0\ndcb -j app show dev rd0\n"},
		{Name: "refused", Script: "dcb app add dev rd0 ethtype-prio 0x8915:3\ndcb -j app show dev rd0\n"},
		{Name: "files", Files: map[string][]byte{
			"/etc/rocec-test/data":      []byte("content\n"),
			"/usr/local/bin/rocec-test": []byte("#!/bin/sh\ncat /etc/rocec-test/data\nid -u\n"),
		}, Script: "rocec-test; echo to stderr >&2; printf 'no newline'; exit 9\n"},
		{Name: "nothing", Script: ""},
		{Name: "before the power cut", Script: "echo whole >/etc/rocec-test/kept; sync /etc/rocec-test/kept; echo >/run/gone; cat /proc/sys/kernel/random/boot_id >/etc/rocec-test/boot; sync /etc/rocec-test/boot\n"},
		{Name: "after the power cut", PowerCut: true, Script: "cat /etc/rocec-test/kept; ls /run/gone; cmp -s /proc/sys/kernel/random/boot_id /etc/rocec-test/boot || echo another kernel\n"},
	}
}

// CheckGuest fails t unless the results of GuestJobs, in their order, are those of a guest that works.
func CheckGuest(t testing.TB, results []GuestResult) {
	t.Helper()
	if len(results) != len(GuestJobs()) {
		t.Fatalf("%d results of %d jobs", len(results), len(GuestJobs()))
	}
	type ets struct {
		Bandwidth []int    `json:"tc_bw"`
		Algorithm []string `json:"tc_tsa"`
		Class     []int    `json:"prio_tc"`
	}
	type pfc struct {
		On []bool `json:"prio_pfc"`
	}
	type app struct {
		DSCP [][2]int `json:"dscp_prio"`
	}
	lines := func(r GuestResult) []string { return strings.Split(strings.TrimSpace(r.Output), "\n") }
	read := func(r GuestResult, line int, v any) {
		t.Helper()
		if l := lines(r); line >= len(l) {
			t.Fatalf("%s printed %q", r.Name, r.Output)
		} else if err := json.Unmarshal([]byte(l[line]), v); err != nil {
			t.Fatalf("%s: %v in %q", r.Name, err, l[line])
		}
	}
	var e ets
	var p pfc
	var a app
	set := results[0]
	read(set, 0, &e)
	read(set, 1, &p)
	read(set, 2, &a)
	wantETS := ets{
		Bandwidth: []int{40, 0, 0, 60, 0, 0, 0, 0},
		Algorithm: []string{"ets", "strict", "strict", "ets", "strict", "strict", "strict", "strict"},
		Class:     []int{0, 1, 2, 3, 4, 5, 6, 7},
	}
	if diff := cmp.Diff(wantETS, e); diff != "" {
		t.Errorf("ets: %s", diff)
	}
	if diff := cmp.Diff(pfc{[]bool{false, false, false, true, false, false, false, false}}, p); diff != "" {
		t.Errorf("pfc: %s", diff)
	}
	if diff := cmp.Diff(app{[][2]int{{26, 3}, {48, 6}}}, a); diff != "" {
		t.Errorf("app: %s", diff)
	}
	p, e = pfc{}, ets{}
	read(results[1], 0, &p)
	read(results[1], 1, &e)
	if diff := cmp.Diff(pfc{make([]bool, 8)}, p); diff != "" {
		t.Errorf("pfc of a new port: %s", diff)
	}
	if diff := cmp.Diff([]int{1, 0, 2, 3, 4, 5, 6, 7}, e.Class); diff != "" {
		t.Errorf("prio_tc of a new port: %s", diff)
	}
	if got := results[1].Output; strings.Contains(got, "dscp_prio") {
		t.Errorf("a new port has %q", got)
	}
	if got := results[2].Output; !strings.Contains(got, "Invalid argument") || strings.Contains(got, "ethtype") {
		t.Errorf("an ethtype APP entry, which mlx5 refuses: %q", got)
	}
	if diff := cmp.Diff(GuestResult{Name: "files", Output: "content\n0\nto stderr\nno newline", ExitCode: 9}, results[3]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(GuestResult{Name: "nothing"}, results[4]); diff != "" {
		t.Error(diff)
	}
	want := "whole\nls: cannot access '/run/gone': No such file or directory\nanother kernel\n"
	if diff := cmp.Diff(GuestResult{Name: "after the power cut", Output: want}, results[6]); diff != "" {
		t.Error(diff)
	}
}
