# Adapters of Marvell and Chelsio, and soft-RoCE.

nic_model "marvell/ql41000" {
  vendor     = "marvell"
  driver     = "qede"
  ports      = 4
  speeds     = ["10G", "25G", "40G", "50G"]
  roce       = ["v1", "v2"]
  iwarp      = true
  infiniband = false
  max_mtu    = 9600
  source     = "pci.ids: FastLinQ QL41000 Series 10/25/40/50GbE; torvalds/linux drivers/infiniband/hw/qedr: RoCE and iWARP"
  sources = {
    max_mtu = "torvalds/linux drivers/net/ethernet/qlogic/qede/qede.h, QEDE_MAX_JUMBO_PACKET_SIZE"
  }
}

nic_model "marvell/ql45000" {
  vendor     = "marvell"
  driver     = "qede"
  ports      = 4
  speeds     = ["10G", "25G", "40G", "50G", "100G"]
  roce       = ["v1", "v2"]
  iwarp      = true
  infiniband = false
  max_mtu    = 9600
  source     = "Marvell white paper on FastLinQ 41000 and 45000; torvalds/linux drivers/infiniband/hw/qedr: RoCE and iWARP"
  sources = {
    speeds  = "pci.ids: FastLinQ QL45000 Series, controllers of 10, 25, 40, 50 and 100GbE"
    max_mtu = "torvalds/linux drivers/net/ethernet/qlogic/qede/qede.h, QEDE_MAX_JUMBO_PACKET_SIZE"
  }
}

nic_model "chelsio/t6" {
  vendor     = "chelsio"
  driver     = "cxgb4"
  ports      = 4
  speeds     = ["10G", "25G", "40G", "50G", "100G"]
  pcie       = { gen = 3, lanes = 16 }
  roce       = []
  iwarp      = true
  infiniband = false
  max_mtu    = 9600
  source     = "torvalds/linux drivers/net/ethernet/chelsio/cxgb4/t4_pci_id_tbl.h: ports and speeds of T6 boards; drivers/infiniband/hw/cxgb4: iWARP"
  sources = {
    max_mtu = "torvalds/linux drivers/net/ethernet/chelsio/cxgb4/t4_hw.h, MAX_MTU"
  }
}

# Soft-RoCE. Speed, MTU and everything below RDMA are those of the Ethernet
# device under it.
nic_model "linux/rxe" {
  vendor     = "linux"
  driver     = "rxe"
  roce       = ["v2"]
  iwarp      = false
  infiniband = false
  source     = "torvalds/linux drivers/infiniband/sw/rxe: RoCE v2 in software over any Ethernet device"
}
