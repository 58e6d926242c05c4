package jobenv

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want map[string]string
		err  string // of its line, "" = none
	}{
		{"NCCL_IB_TC=106\nUCX_IB_SL=3\n", map[string]string{"NCCL_IB_TC": "106", "UCX_IB_SL": "3"}, ""},
		{"export NCCL_IB_TC=106 # RDMA", map[string]string{"NCCL_IB_TC": "106"}, ""},
		{"export NCCL_IB_TC=\"106\" NCCL_IB_SL='3'; export UCX_NET_DEVICES=mlx5_0:1", map[string]string{"NCCL_IB_TC": "106", "NCCL_IB_SL": "3", "UCX_NET_DEVICES": "mlx5_0:1"}, ""},
		{"NCCL_IB_HCA==mlx5_0:1,mlx5_1:1", map[string]string{"NCCL_IB_HCA": "=mlx5_0:1,mlx5_1:1"}, ""},
		{"# NCCL_IB_TC=1\nPATH=/bin\nNCCL_IB_TC=2\r\nNCCL_IB_TC=3", map[string]string{"NCCL_IB_TC": "3"}, ""},
		{"NCCL_IB_TC=106 \\\n  NCCL_IB_SL=3 ./train", map[string]string{"NCCL_IB_TC": "106", "NCCL_IB_SL": "3"}, ""},
		{"#!/bin/sh\nmodule load cuda\nif true; then export NCCL_IB_TC=106; fi", map[string]string{"NCCL_IB_TC": "106"}, ""},
		{"export A=$HOME NCCL_IB_TC=106", map[string]string{"NCCL_IB_TC": "106"}, ""},
		{"export NCCL_IB_TC=$TC", nil, "line 1 gives NCCL_IB_TC a value that a shell works out: write the value"},
		{"A=1\nNCCL_IB_TC=\"10`x`\"", nil, "line 2 gives NCCL_IB_TC a value that a shell works out: write the value"},
		{"NCCL_IB_TC='$1'", map[string]string{"NCCL_IB_TC": "$1"}, ""},
		{`NCCL_IB_TC="\$1"`, map[string]string{"NCCL_IB_TC": "$1"}, ""},
		{"NCCL_IB_TC='106", nil, "line 1 has a quote that does not end"},
		{"mpirun -x NCCL_IB_TC=106 ./train", nil, "line 1 hands NCCL_IB_TC to a command: write it as NCCL_IB_TC=106"},
		{"export NCCL_IB_TC", nil, "line 1 names NCCL_IB_TC and gives it no value"},
		{"", map[string]string{}, ""},
	} {
		got, err := Parse([]byte(c.text))
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: error %v, want %s", c.text, err, c.err)
			}
			continue
		}
		texts := map[string]string{}
		for name, v := range got {
			texts[name] = v.Text
		}
		if diff := cmp.Diff(c.want, texts); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", c.text, err, diff)
		}
	}
}

func TestLibraries(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Traffic
		err  string
	}{
		{"NCCL_IB_TC=106\nNCCL_IB_GID_INDEX=3\nNCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_0:2", []Traffic{{
			Library: "NCCL", What: "data", ToS: 106, GIDIndex: 3, Devices: []string{"mlx5_0", "mlx5_1"},
			Because: []string{"NCCL_IB_TC=106", "NCCL_IB_SL is 0 by default", "NCCL_IB_GID_INDEX=3", "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_0:2"},
		}}, ""},
		{"NCCL_DEBUG=WARN", []Traffic{{Library: "NCCL", What: "data", GIDIndex: -1, Because: []string{"NCCL_IB_TC is 0 by default", "NCCL_IB_SL is 0 by default"}}}, ""},
		{"NCCL_IB_TC=0x6a\nNCCL_IB_SL=3\nNCCL_IB_FIFO_TC=192\nNCCL_IB_HCA=^mlx5_3", []Traffic{
			{Library: "NCCL", What: "data", ToS: 106, Priority: 3, GIDIndex: -1, Devices: []string{"mlx5_3"}, Except: true, Because: []string{"NCCL_IB_TC=0x6a", "NCCL_IB_SL=3", "NCCL_IB_HCA=^mlx5_3"}},
			{Library: "NCCL", What: "control messages", ToS: 192, Priority: 3, GIDIndex: -1, Devices: []string{"mlx5_3"}, Except: true, Because: []string{"NCCL_IB_FIFO_TC=192"}},
		}, ""},
		{"UCX_TLS=rc", []Traffic{{Library: "UCX", What: "data", ToS: 106, GIDIndex: -1, Because: []string{"UCX_IB_TRAFFIC_CLASS is 106 by default", "UCX_IB_SL is 0 by default"}}}, ""},
		{"UCX_IB_TRAFFIC_CLASS=138\nUCX_IB_SL=auto\nUCX_NET_DEVICES=all", []Traffic{{Library: "UCX", What: "data", ToS: 138, GIDIndex: -1, Because: []string{"UCX_IB_TRAFFIC_CLASS=138", "UCX_IB_SL is 0 by default"}}}, ""},
		{"X=1\nNCCL_IB_TC=256", nil, `line 2 sets NCCL_IB_TC to "256", which is not a number from 0 to 255`},
		{"NCCL_IB_TC=", nil, `line 1 sets NCCL_IB_TC to "", which is not a number from 0 to 255`},
		{"UCX_IB_SL=8", nil, `line 1 sets UCX_IB_SL to "8", which is not a number from 0 to 7`},
		{"A=b", nil, ""},
	} {
		s, err := Parse([]byte(c.text))
		if err != nil {
			t.Fatalf("%q: %v", c.text, err)
		}
		got, err := s.Libraries()
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: error %v, want %s", c.text, err, c.err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", c.text, err, diff)
		}
	}
}

// FuzzParse: whatever the file holds, an error names a line of it, values are
// parts of the text but for quotes, and what was read can be written and read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"NCCL_IB_TC=106", "export NCCL_IB_TC=\"1\\\"06\" UCX_IB_SL='3'", "NCCL_=\\", "UCX_\\\n=1", "a;b&NCCL_IB_TC=1|c", "NCCL_IB_HCA=^=mlx5_0:1,"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		var at *LineError
		if errors.As(err, &at) {
			if at.Line < 1 || at.Line > 1+strings.Count(string(text), "\n") {
				t.Errorf("line %d of %q", at.Line, text)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Libraries(); err != nil && !errors.As(err, &at) {
			t.Error(err)
		}
		for name, v := range s {
			if strings.ContainsAny(v.Text, "\n\r'") {
				continue
			}
			again, err := Parse([]byte(name + "='" + v.Text + "'\n"))
			if err != nil || again[name].Text != v.Text {
				t.Errorf("%s=%q reads as %q, %v", name, v.Text, again[name].Text, err)
			}
		}
	})
}
