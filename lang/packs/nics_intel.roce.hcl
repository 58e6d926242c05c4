# Intel adapters.

# RoCE and iWARP exclude each other on a port. Without pause or PFC the driver
# de-tunes RoCE, so whether it counts as resilient is not stated.
nic_model "intel/e810" {
  vendor          = "intel"
  driver          = "ice"
  ports           = 4
  speeds          = ["10G", "25G", "50G", "100G"]
  pcie            = { gen = 4, lanes = 16 }
  roce            = ["v2"]
  iwarp           = true
  infiniband      = false
  traffic_classes = 8
  pfc_priorities  = 1
  dscp_trust      = true
  max_mtu         = 9702
  source          = "intel/ethernet-linux-ice README; Intel document 635330"
  sources = {
    roce            = "torvalds/linux drivers/net/ethernet/intel/ice, devlink parameters enable_roce and enable_iwarp; no RoCE v1"
    traffic_classes = "Intel document 635330 of November 2025: eight on adapters with up to four ports"
    pfc_priorities  = "Intel document 635330: one traffic class with PFC"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/intel/ice/ice_dcb_nl.c, L3 mode"
    max_mtu         = "torvalds/linux drivers/net/ethernet/intel/ice, ICE_MAX_MTU"
    pcie            = "servethehome.com review of E810-CQDA2: PCIe Gen4 x16"
  }
}

nic_model "intel/x722" {
  vendor          = "intel"
  driver          = "i40e"
  ports           = 4
  speeds          = ["1G", "10G"]
  roce            = []
  iwarp           = true
  infiniband      = false
  traffic_classes = 8
  dscp_trust      = false
  max_mtu         = 9702
  source          = "torvalds/linux drivers/net/ethernet/intel/i40e; irdma for X722: iWARP only"
  sources = {
    roce            = "Microsoft Learn, Validate-DCB and Azure Local host network requirements: X722 is iWARP"
    max_mtu         = "torvalds/linux Documentation/networking/device_drivers/ethernet/intel/i40e.rst"
    dscp_trust      = "the same: DCB uses the VLAN priority"
    traffic_classes = "the same: eight priorities"
  }
}
