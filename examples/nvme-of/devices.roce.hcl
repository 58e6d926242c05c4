# The pair of switches and the hosts.

rocec {
  language = 1
}

locals {
  hosts  = { for h in csvdecode(file("hosts.csv")) : h.name => h }
  bonded = { for name, h in local.hosts : name => h if h.bond == "yes" }
  single = { for name, h in local.hosts : name => h if h.bond != "yes" }
}

switch "tor" {
  for_each = { a = segment.path["a"], b = segment.path["b"] }
  name     = "tor-${each.key}"
  model    = "nvidia/sn3700c"
  os       = "sonic/202505"
  role     = "storage-tor"

  # Bonded hosts: both paths, tagged.
  port "Ethernet[0-4:4]" {
    admin  = "up"
    speed  = "100G"
    fec    = "rs"
    tagged = segment.path
  }
  # The others: this switch's path.
  port "Ethernet[8-20:4]" {
    admin    = "up"
    speed    = "100G"
    fec      = "rs"
    untagged = each.value
  }
  port "Ethernet[120-124:4]" {
    admin = "up"
    speed = "100G"
    fec   = "rs"
  }
}

mlag "rack1" {
  switches  = switch.tor
  domain    = 1
  peer_link = "Ethernet[120-124:4]"
  keepalive = { addresses = { "tor-a" = "192.0.2.1", "tor-b" = "192.0.2.2" } }
  cable     = { media = "dac", length = "1m" }
}

# A bond cabled to both switches makes the LAG over the pair by itself.
node "bonded" {
  for_each = local.bonded
  os       = "ubuntu/24.04"
  rack     = each.value.rack
  slot     = each.value.slot

  nic "p[0-1]" {
    model = each.value.nic
    pci   = "0000:${each.value.bus}:00.${nic.index}"
    speed = "100G"
    fec   = "rs"
  }
  bond "bond0" {
    mode    = "lacp"
    members = "p[0-1]"
    rate    = "fast"
  }
  interface "nvme_[a-b]" {
    on      = "bond0"
    segment = segment.path[interface.key]
  }
}

node "single" {
  for_each = local.single
  os       = "ubuntu/24.04"
  rack     = each.value.rack
  slot     = each.value.slot

  nic "nvme_[a-b]" {
    model    = each.value.nic
    pci      = "0000:${each.value.bus}:00.${nic.index}"
    speed    = "100G"
    fec      = "rs"
    untagged = segment.path[nic.key]
  }
}
