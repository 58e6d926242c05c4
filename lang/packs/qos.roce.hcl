# Contracts to refer to or to start from: qos.nvidia_roce, or `from` one of them.

# What Onyx `roce` and Cumulus `nv set qos roce` set: half of the port for RoCE on
# priority 3, CNPs strict on priority 6, marking from 150 to 1500 kB.
# Source: docs.nvidia.com Onyx "RoCE Commands"; CumulusNetworks/docs Cumulus
# Linux 5.13 Quality of Service, RoCE. Both map the DSCPs 24 to 31 and 48 to 55;
# hosts send 26 and 48, and here nothing else is lossless.
qos "nvidia_roce" {
  trust = "dscp"
  class "roce" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
    ecn       = { min = "150KB", max = "1500KB", probability = 100 }
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}

# The template that SONiC images come with, and `config qos reload` brings back.
# Hosts' DSCP 26 is lossy there: RDMA has to be marked 3 or 4.
# Source: sonic-net/sonic-buildimage files/build_templates/qos_config.j2: maps,
# schedulers and WRED profile AZURE_LOSSLESS.
qos "sonic_default" {
  trust = "dscp"
  class "scavenger" {
    carries   = "other"
    dscp      = [8]
    priority  = 0
    bandwidth = 14
  }
  class "default" {
    priority  = 1
    bandwidth = 14
    default   = true
  }
  class "two" {
    carries   = "other"
    dscp      = [5]
    priority  = 2
    bandwidth = 14
  }
  class "lossless3" {
    carries   = "rdma"
    dscp      = [3]
    priority  = 3
    bandwidth = 15
    ecn       = { min = "1MiB", max = "2MiB", probability = 5 }
  }
  class "lossless4" {
    carries   = "rdma"
    dscp      = [4]
    priority  = 4
    bandwidth = 15
    ecn       = { min = "1MiB", max = "2MiB", probability = 5 }
  }
  class "five" {
    carries   = "other"
    dscp      = [46]
    priority  = 5
    bandwidth = 14
  }
  class "six" {
    carries   = "other"
    dscp      = [48]
    priority  = 6
    bandwidth = 14
  }
}

# Storage Spaces Direct with SMB Direct on ports of 25 Gb/s and more. Slower ones
# want 2 % for the heartbeat. VLAN tags carry the priority.
# Source: Microsoft Learn, Azure Local "Host network requirements": traffic
# classes, and "Network reference patterns" for ToR switches.
qos "s2d" {
  trust = "pcp"
  class "smb" {
    carries   = "rdma"
    priority  = 3
    bandwidth = 50
    match     = { netdirect_port = 445 }
    ecn       = "auto"
  }
  class "cluster" {
    carries   = "cluster"
    priority  = 7
    bandwidth = 1
  }
  class "default" {
    priority  = 0
    bandwidth = 49
    default   = true
  }
}

# NVMe over Fabrics on RoCE v2 beside other traffic.
# Source: att/netarbiter nvmf (DSCP 26 on priority 3, PFC on 3 only); NVIDIA
# device defaults for CNPs (DSCP 48, priority 6).
qos "nvme_of" {
  trust = "dscp"
  class "nvme" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 50
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}

# Back-end network of accelerators: next to nothing but RDMA.
# Source: DSCPs and priorities as NVIDIA's and Broadcom's NICs come with (26 on
# priority 3, CNPs 48); the shares are those that AMD states for its NICs (10 and
# 90, public Pollara 400 set-ups).
qos "ai_backend" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    bandwidth = 90
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 10
    default   = true
  }
}

# RoCE without PFC: ECN alone slows senders down. Every NIC of the class has to
# be one that recovers from loss.
# Source: NVIDIA "Resilient RoCE" and Cumulus `nv set qos roce mode lossy`.
qos "lossy" {
  trust = "dscp"
  class "rdma" {
    carries   = "rdma"
    dscp      = [26]
    priority  = 3
    lossless  = false
    bandwidth = 50
    ecn       = "auto"
  }
  class "cnp" {
    carries  = "cnp"
    dscp     = [48]
    priority = 6
  }
  class "default" {
    priority  = 0
    bandwidth = 50
    default   = true
  }
}
