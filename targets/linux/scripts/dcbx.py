# made by rocec, the same for every host
# Gives DCBX of a port back to the firmware of its adapter: python3 dcbx.py PORT
# It sends what mlnx_qos -d fw sends, no flag at all, which mlx5 takes as that (mlx5e_dcbnl_setdcbx in
# drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c); dcb dcbx set sends one flag at least (dcb/dcb_dcbx.c of iproute2). The
# message is that of dcb (dcb/dcb.c; include/uapi/linux/netlink.h, rtnetlink.h, dcbnl.h), and needs no module besides Python's own.
import os
import socket
import struct
import sys

NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR, RTM_SETDCB = 1, 4, 2, 79
DCB_CMD_SDCBX, DCB_ATTR_IFNAME, DCB_ATTR_DCBX = 23, 1, 14


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def attributes(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            return
        yield kind, data[4:length]
        data = data[(length + 3) // 4 * 4:]


def messages(data):
    while len(data) >= 16:
        length, kind = struct.unpack_from("=IH", data)
        if length < 16:
            return
        yield kind, data[16:length]
        data = data[(length + 3) // 4 * 4:]


def refused(port):
    """Why the kernel or the driver does not do it; None when it is done."""
    body = struct.pack("=BBH", 0, DCB_CMD_SDCBX, 0) + attribute(DCB_ATTR_IFNAME, port.encode() + b"\0") + attribute(DCB_ATTR_DCBX, b"\0")
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:  # NETLINK_ROUTE
        s.settimeout(30)
        s.send(struct.pack("=IHHII", 16 + len(body), RTM_SETDCB, NLM_F_REQUEST | NLM_F_ACK, 1, 0) + body)
        while True:  # the driver's answer, then the kernel's
            for kind, data in messages(s.recv(65536)):
                if kind == NLMSG_ERROR:
                    code = -struct.unpack_from("=i", data)[0]
                    return os.strerror(code) if code else None
                for name, value in attributes(data[4:]) if kind == RTM_SETDCB else ():
                    if name == DCB_ATTR_DCBX and value[:1] != b"\0":
                        return "the driver refuses"


why = refused(sys.argv[1])
if why:
    sys.exit(sys.argv[1] + ": DCBX does not go back to the firmware: " + why)
