# Cables and transceivers, with the reach that IEEE 802.3 gives each class.
# Copper reach is that of what is sold: the clauses for 100 Gb/s a lane promise
# 2 m, and 3 m cables exist; a longer one than this is refused.

media "dac" {
  class = "copper"
  reach = [
    { min_speed = "10G", max_length = "7m" },
    { min_speed = "25G", max_length = "5m" },
    { min_speed = "40G", max_length = "7m" },
    { min_speed = "50G", max_length = "5m" },
    { min_speed = "200G", max_length = "3m" },
  ]
  source = "IEEE 802.3 clauses 85 (40GBASE-CR4, 7 m), 92 (100GBASE-CR4, 5 m), 110 (25GBASE-CR, 5 m), 136 (200GBASE-CR4, 3 m), 162 (100 Gb/s a lane, 2 m); SFF-8431 appendix E (10 Gb/s, 7 m)"
}

media "acc" {
  class  = "active_copper"
  reach  = [{ max_length = "7m" }]
  source = "mapyourtech.com, Active Copper Cables: 3 to 7 m from 25 to 800 Gb/s; no clause of IEEE 802.3 covers them"
}

media "aec" {
  class  = "active_copper"
  reach  = [{ max_length = "7m" }]
  source = "as sold, between passive copper and optics; no clause of IEEE 802.3 covers them"
}

media "aoc" {
  class  = "aoc"
  reach  = [{ max_length = "100m" }]
  source = "telewiretech.com, cable assemblies for data centres: up to 100 m; no clause of IEEE 802.3 covers them"
}

media "sr" {
  class = "multimode"
  reach = [
    { min_speed = "10G", max_length = "400m" },
    { min_speed = "25G", max_length = "100m" },
    { min_speed = "40G", max_length = "150m" },
    { min_speed = "50G", max_length = "100m" },
  ]
  source = "IEEE 802.3, over OM4: clauses 52 (10GBASE-SR, 400 m), 112 (25GBASE-SR, 100 m), 86 (40GBASE-SR4, 150 m), 95 and 138 (100 m), 167 (100 Gb/s a lane, 100 m: P802.3db objectives)"
}

media "dr" {
  class  = "singlemode"
  reach  = [{ max_length = "500m" }]
  source = "IEEE 802.3 clauses 121 (200GBASE-DR4), 124 (400GBASE-DR4), 140 (100GBASE-DR): 500 m"
}

media "fr" {
  class  = "singlemode"
  reach  = [{ max_length = "2km" }]
  source = "IEEE 802.3 clauses 122 (200GBASE-FR4), 139 (50GBASE-FR), 140 (100GBASE-FR1), 151 (400GBASE-FR4): 2 km"
}

media "lr" {
  class  = "singlemode"
  reach  = [{ max_length = "10km" }]
  source = "IEEE 802.3 clauses 52 (10GBASE-LR), 87 (40GBASE-LR4), 88 (100GBASE-LR4), 114 (25GBASE-LR), 122 (400GBASE-LR8): 10 km"
}

# The fibre alone, where nobody says what stands at its ends: how far it reaches is the transceiver's matter.

media "mmf" {
  class  = "multimode"
  source = "netbox-community/netbox, netbox/dcim/choices.py, CableTypeChoices: mmf, mmf-om1 to mmf-om5"
}

media "smf" {
  class  = "singlemode"
  source = "netbox-community/netbox, netbox/dcim/choices.py, CableTypeChoices: smf, smf-os1, smf-os2"
}

# Twisted pair. Of 25 and 40 Gb/s only category 8 carries anything.

media "cat6" {
  class = "copper"
  reach = [
    { max_length = "100m" },
    { min_speed = "10G", max_length = "55m" },
    { min_speed = "25G", max_length = "0m" },
  ]
  source = "IEEE 802.3 clauses 40 (1000BASE-T, 100 m) and 55 (10GBASE-T, 55 m of category 6)"
}

media "cat6a" {
  class = "copper"
  reach = [
    { max_length = "100m" },
    { min_speed = "25G", max_length = "0m" },
  ]
  source = "IEEE 802.3 clause 55 (10GBASE-T, 100 m)"
}

media "cat8" {
  class = "copper"
  reach = [
    { max_length = "100m" },
    { min_speed = "25G", max_length = "30m" },
    { min_speed = "50G", max_length = "0m" },
  ]
  source = "IEEE 802.3 clauses 55 (10GBASE-T, 100 m) and 113 (25GBASE-T and 40GBASE-T, 30 m)"
}
