package oracle

import (
	"strings"
	"testing"
)

const netplanVLAN = `network:
  version: 2
  ethernets:
    eth0:
      mtu: 9000
      addresses: [10.0.0.1/24]
  vlans:
    eth0.100:
      id: 100
      link: eth0
`

func TestNetplan(t *testing.T) {
	Need(t, "netplan")
	generated := Netplan(t, map[string][]byte{"60-rocec.yaml": []byte(netplanVLAN)})
	network := string(generated["10-netplan-eth0.network"])
	for _, want := range []string{"Address=10.0.0.1/24", "VLAN=eth0.100"} {
		if !strings.Contains(network, want) {
			t.Errorf("10-netplan-eth0.network is %q, without %s", network, want)
		}
	}
	if netdev := string(generated["10-netplan-eth0.100.netdev"]); !strings.Contains(netdev, "Id=100") {
		t.Errorf("10-netplan-eth0.100.netdev is %q, without Id=100", netdev)
	}
}

func TestNetplanRejects(t *testing.T) {
	for _, c := range []struct{ name, file, old, new, want string }{
		{"range", "a.yaml", "id: 100", "id: 9999", "a.yaml:9:"},
		{"key", "a.yaml", "mtu: 9000", "mut: 9000", "unknown key 'mut'"},
		{"reference", "a.yaml", "link: eth0", "link: eth1", "eth1"},
		{"address", "a.yaml", "10.0.0.1/24", "10.0.0.1/33", "10.0.0.1/33"},
		{"yaml", "a.yaml", "  version", " version", "a.yaml:"},
		{"file name", "a.yml", "", "", "does not read a file called a.yml"},
		{"folder", "x/a.yaml", "", "", "does not read a file called x/a.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			Need(t, "netplan")
			text := strings.Replace(netplanVLAN, c.old, c.new, 1)
			rejects(t, c.want, func(t testing.TB) { Netplan(t, map[string][]byte{c.file: []byte(text)}) })
		})
	}
	Need(t, "netplan")
	rejects(t, "no files", func(t testing.TB) { Netplan(t, nil) })
}

const unit = `[Unit]
Description=RoCE settings
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
ExecStart=/usr/sbin/rocec-qos %i
RemainAfterExit=yes

[Install]
WantedBy=multi-user.target
`

func TestSystemd(t *testing.T) {
	Need(t, "systemd-analyze")
	accepts(t, func(t testing.TB) {
		Systemd(t, map[string][]byte{"rocec.service": []byte(unit), "rocec-qos@.service": []byte(unit)}, "/usr/sbin/rocec-qos")
	})
	bin := []string{"/usr/sbin/rocec-qos"}
	for _, c := range []struct {
		name, old, new, want string
		bins                 []string
	}{
		{"key", "RemainAfterExit=yes", "RemainAfterExti=yes", "RemainAfterExti", bin},
		{"value", "RemainAfterExit=yes", "RemainAfterExit=perhaps", "perhaps", bin},
		{"type", "Type=oneshot", "Type=once", "once", bin},
		{"section", "[Install]", "[Instal]", "Instal", bin},
		{"program", "", "", "/usr/sbin/rocec-qos", nil},
		{"relative program", "/usr/sbin/rocec-qos", "rocec-qos", "rocec-qos", nil},
		{"target", "Wants=network-online.target", "Requires=networks-online.target", "networks-online.target", bin},
		{"no command", "ExecStart=/usr/sbin/rocec-qos %i\n", "", "rocec.service", bin},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(unit, c.old, c.new, 1)
			rejects(t, c.want, func(t testing.TB) { Systemd(t, map[string][]byte{"rocec.service": []byte(text)}, c.bins...) })
		})
	}
	rejects(t, "no units", func(t testing.TB) { Systemd(t, nil) })
}

func TestShell(t *testing.T) {
	Need(t, "shellcheck")
	for _, script := range []string{
		"#!/bin/bash\nset -eu\nfor d in 'a b' c; do printf '%s\\n' \"$d\"; done\n[[ $1 == x ]] && echo y\n",
		"#!/bin/sh\nset -eu\necho \"$1\"\n",
		"#!/usr/bin/env -S sh -e\necho \"$1\"\n",
		"dcb pfc set dev eth0 prio-pfc all:off 3:on\n",
	} {
		accepts(t, func(t testing.TB) { Shell(t, "a script", []byte(script)) })
	}
	for _, c := range []struct{ script, want string }{
		{"if true; then\n", "fi"},
		{"echo $1\n", "SC2086"},
		{"x=1\n", "SC2034"},
		{"#!/bin/sh\n[[ a == b ]]\n", "SC3010"},
		{"#!/bin/sh\na=(1 2)\n", "sh"},
		{"#!/bin/sh\necho <(true)\n", "script"},
		{"echo `date`\n", "SC2006"}, // severity style
		{"echo 'a\n", "quote"},
	} {
		rejects(t, c.want, func(t testing.TB) { Shell(t, "a script", []byte(c.script)) })
	}
}
