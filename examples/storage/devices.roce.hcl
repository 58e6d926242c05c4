# The two switches, the hosts and their cables. Slot n is on the n-th port of
# both switches and has host number 10 + n in both subnets.

rocec {
  language = 1
}

switch "tor" {
  for_each = toset(["a", "b"])
  name     = "tor-${each.key}"
  model    = "nvidia/sn3700c"
  os       = "sonic/202505"
  role     = "storage-tor" # switches that should be alike

  port "Ethernet[0-28:4]" {
    admin = "up"
    speed = "100G"
    fec   = "rs" # the VLAN is that of the NIC
  }
}

node "stor" {
  for_each = rows("hosts.csv", "name")
  os       = "ubuntu/24.04"
  rack     = each.value.rack
  slot     = each.value.slot

  nic "nvme_[a-b]" {
    model    = "nvidia/connectx-6-dx"
    at       = switch.tor[nic.key].port["Ethernet${4 * (self.slot - 1)}"]
    pci      = "0000:3b:00.${nic.index}" # found there and renamed, whatever the kernel called it
    speed    = "100G"
    fec      = "rs"
    cable    = { media = "dac", length = "3m" }
    untagged = segment.storage[nic.key]
  }
}

# One host is tried first and watched under load: its counters of drops and of
# storms may not grow. Then the hosts of one rack after the other, which send each
# other RDMA when they are done, in the end the switches, one at a time, each when
# multipath has left its fabric.

rollout {
  max_share = 50 # of devices that are alike, together

  wave "canary" {
    select = [node.stor["stor01"]]
    soak   = "15m"
    gate   = ["verify", "no_discards", "no_pause_storm"]
  }
  wave "hosts" {
    select   = node.stor
    soak     = "5m"
    gate     = ["verify", "no_discards", "no_pause_storm", "rdma_ping"]
    group_by = "rack"
  }
  wave "switches" {
    soak     = "5m"
    gate     = ["verify", "no_discards", "no_pause_storm"]
    group_by = "device"
    drain    = true
  }
}
