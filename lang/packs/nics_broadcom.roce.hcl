# Broadcom NetXtreme-E adapters. How many traffic classes and lossless ones there
# are depends on the profile in NVRAM (3 or 8): the host tells (`dcb pfc show`), so
# no number of lossless ones is stated.

nic_model "broadcom/bcm574xx" {
  vendor          = "broadcom"
  driver          = "bnxt"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "100G"]
  roce            = ["v1", "v2"]
  iwarp           = false
  infiniband      = false
  traffic_classes = 8
  dscp_trust      = true
  max_mtu         = 9500
  source          = "torvalds/linux drivers/net/ethernet/broadcom/bnxt/bnxt.c, names of boards"
  sources = {
    max_mtu         = "torvalds/linux drivers/net/ethernet/broadcom/bnxt/bnxt.h, BNXT_MAX_MTU"
    traffic_classes = "Broadcom bnxt_setupcc.sh: 8, or 3 by the profile in NVRAM"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c, IEEE_8021QAZ_APP_SEL_DSCP"
    roce            = "torvalds/linux drivers/infiniband/hw/bnxt_re: the firmware reports both"
  }
}

# ports is that of the P2100G: cards of these chips with other counts have no name of
# their own here.
nic_model "broadcom/bcm575xx" {
  vendor          = "broadcom"
  driver          = "bnxt"
  ports           = 2
  speeds          = ["10G", "25G", "40G", "50G", "100G", "200G"]
  roce            = ["v2"]
  iwarp           = false
  infiniband      = false
  traffic_classes = 8
  dscp_trust      = true
  max_mtu         = 9500
  source          = "torvalds/linux drivers/net/ethernet/broadcom/bnxt/bnxt.c, names of boards"
  sources = {
    ports           = "the netdev and io-uring mailing lists on the P2100G, a dual-port 100G card"
    max_mtu         = "torvalds/linux drivers/net/ethernet/broadcom/bnxt/bnxt.h, BNXT_MAX_MTU"
    traffic_classes = "Broadcom bnxt_setupcc.sh: 8, or 3 by the profile in NVRAM"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c, IEEE_8021QAZ_APP_SEL_DSCP"
  }
}

nic_model "broadcom/bcm576xx" {
  vendor          = "broadcom"
  driver          = "bnxt"
  ports           = 2
  speeds          = ["10G", "25G", "50G", "100G", "200G", "400G"]
  roce            = ["v2"]
  iwarp           = false
  infiniband      = false
  traffic_classes = 8
  dscp_trust      = true
  max_mtu         = 9500
  cnp_dscp        = 48
  cnp_priority    = 7
  source          = "torvalds/linux drivers/net/ethernet/broadcom/bnxt/bnxt.c, names of boards"
  sources = {
    max_mtu         = "torvalds/linux drivers/net/ethernet/broadcom/bnxt/bnxt.h, BNXT_MAX_MTU"
    traffic_classes = "Broadcom bnxt_setupcc.sh: 8, or 3 by the profile in NVRAM"
    dscp_trust      = "torvalds/linux drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c, IEEE_8021QAZ_APP_SEL_DSCP"
    cnp_priority    = "juniper.net JVD AI data centre with AMD, DCQCN configuration: defaults of Thor2"
    cnp_dscp        = "juniper.net JVD AI data centre with AMD, DCQCN configuration: defaults of Thor2"
    roce            = "juniper.net JVD AI data centre with AMD: Thor2 defaults"
  }
}
