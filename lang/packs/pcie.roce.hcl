# Usable data rate of PCI Express by lanes: the line rate less its encoding
# (128b/130b up to generation 5; FLITs with 242 of 256 bytes in generation 6),
# times 256/280 for packets of 256 bytes of data and 24 of overhead.

pcie "3" {
  usable = { 1 = "7.2G", 2 = "14.4G", 4 = "28.8G", 8 = "57.6G", 16 = "115.2G" }
  source = "PCI Express Base Specification 3.0: 8 GT/s, 128b/130b"
}

pcie "4" {
  usable = { 1 = "14.4G", 2 = "28.8G", 4 = "57.6G", 8 = "115.2G", 16 = "230.5G" }
  source = "PCI Express Base Specification 4.0: 16 GT/s, 128b/130b"
}

pcie "5" {
  usable = { 1 = "28.8G", 2 = "57.6G", 4 = "115.2G", 8 = "230.5G", 16 = "460.9G" }
  source = "PCI Express Base Specification 5.0: 32 GT/s, 128b/130b"
}

pcie "6" {
  usable = { 1 = "55.3G", 2 = "110.6G", 4 = "221.3G", 8 = "442.5G", 16 = "885G" }
  source = "PCI Express Base Specification 6.0: 64 GT/s, 242 of 256 bytes of a FLIT"
}
