package schema

var top = []Kind{
	Rocec, Variable, Locals, Output, Module, Defaults, Connection, QoS, Segment, Switch, Node, MLAG, Link,
	Topology, Cabling, Routing, Analysis, Rollout, Check, Target, Override, SwitchModel, NICModel, ASIC, Media, PCIe,
}

// Language is the newest edition of the language that this version reads.
const Language = 1

// MaxTier is the greatest number of switches of one tier.
const MaxTier = 1 << 16

// Consumers are the applications that are known to use RDMA.
var Consumers = []string{
	"beegfs", "ceph", "daos", "db2-purescale", "gds", "gpfs", "iser", "live-migration", "lustre", "mpi", "nccl", "nfs-rdma", "nixl",
	"nvme-of", "nvshmem", "oracle-rac", "perftest", "pvrdma", "rccl", "s2d", "sharp", "smb-direct", "spark-rdma", "spectrum-scale", "spdk", "srp", "storage-spaces-direct", "ucx", "vast", "vsan", "weka",
}

// TopologyKinds are the words for how a topology is wired.
var TopologyKinds = []string{"rail_optimized", "leaf_spine", "clos3", "dual_tor", "ring", "full_mesh"}

// ColumnWords are what the columns of a cable list in CSV are named for.
var ColumnWords = []string{"a_device", "a_port", "b_device", "b_port", "media", "length", "length_unit", "label"}

// MaxFailures is the largest number of failures at a time that proofs go through.
const MaxFailures = 2

// Properties are the words for what is proven of a fabric.
var Properties = []string{"composition", "deadlock", "isolation", "buffers", "mtu", "reachability"}

// needed is an attribute that has to be written.
func needed(a AttrDef) AttrDef {
	a.Required = true
	return a
}

func label(name string, enum ...string) []Label { return []Label{{Name: name, Enum: enum}} }

var source = []AttrDef{
	attr(ASource, str(), "document, page or repository path that states the facts"),
	attr(ASources, mapOf(str(), str()), "sources of single facts that stand elsewhere"),
}

var blocks = [KindCount]BlockDef{
	None: {},
	Rocec: {Kind: Rocec, Word: "rocec", Doc: "Settings of the configuration as a whole.", Attrs: []AttrDef{
		attr(ALanguage, number(1, Language), "edition of the language that the folder is written in (1): words keep their meaning in it, whatever the version of rocec"),
		attr(ARequiredVersion, str(), "versions of rocec that may compile this: \">= 0.3\""),
		attr(AValidated, mapOf(str(), object(
			attr(AFirmware, many(str()), "firmware: versions, \"28.43.*\" or conditions such as \">= 28.43, < 29\""),
			attr(ADriver, many(str()), "versions of the driver, in the same form"),
		)), "what was tested, by model of switch or NIC: { \"nvidia/connectx-7\" = { firmware = [\"28.43.*\"] } }; `firmware` and `driver` are compared with it"),
		attr(AConsumers, many(str()), "applications that use RDMA and that rocec does not know, for `consumers` of classes and nodes"),
		attr(ARecord, object(
			attr(ABackend, enum("local", "git", "http", "s3"), "\"local\" (unless written): a folder; \"git\": a folder of a work tree, committed after each run; \"http\": a server that keeps states as Terraform's \"http\" backend asks it to, as GitLab does; \"s3\": a bucket with conditional writes"),
			attr(ASource, str(), "of \"local\" and \"git\": the folder (\"record\")"),
			attr(ARemote, str(), "of \"git\": the remote that the lock is on, and that is pushed to (\"origin\" with `push`)"),
			attr(ABranch, str(), "of \"git\" with `push`: the branch (the one that is checked out)"),
			attr(APush, boolean(), "of \"git\": the record is read from the remote's branch and pushed there, and the work tree is left alone"),
			attr(AAddress, str(), "of \"http\": where the state is; {workspace} stands for the workspace"),
			attr(AUpdateMethod, enum("POST", "PUT"), "of \"http\": how the state is sent (\"POST\")"),
			attr(ALockAddress, str(), "of \"http\": where the lock is (`address`)"),
			attr(ALockMethod, enum("LOCK", "POST", "PUT"), "of \"http\": how the lock is taken (\"LOCK\"; GitLab: \"POST\")"),
			attr(AUnlockAddress, str(), "of \"http\": where the lock is given back (`lock_address`)"),
			attr(AUnlockMethod, enum("UNLOCK", "DELETE", "POST", "PUT"), "of \"http\": how the lock is given back (\"UNLOCK\"; GitLab: \"DELETE\")"),
			attr(AUsernameEnv, Type{Base: EnvVar}, "of \"http\": environment variable that holds the user: ROCEC_..., or one that ROCEC_ALLOW_ENV lists"),
			attr(APasswordEnv, Type{Base: EnvVar}, "of \"http\": environment variable that holds the password or token: ROCEC_..., or one that ROCEC_ALLOW_ENV lists"),
			attr(ABucket, str(), "of \"s3\": the bucket; credentials are in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"),
			attr(ARegion, str(), "of \"s3\": the region (AWS_REGION, else \"us-east-1\")"),
			attr(AEndpoint, str(), "of \"s3\": address of a store other than Amazon's: \"https://minio.example.net\""),
			attr(APrefix, str(), "of \"s3\": what keys begin with; the workspace and the device follow"),
			attr(APathStyle, boolean(), "of \"s3\": the bucket stands in the path and not in the name of the host"),
		), "where the record is kept; secrets are named, never written"),
	}},
	Variable: {Kind: Variable, Word: "variable", Labels: label("name"), Doc: "An input of the module.", Blocks: nil, Attrs: []AttrDef{
		attr(AType, Type{Base: Any}, "type, with optional(); block words (qos, segment, switch, node, cable) stand for handles"),
		attr(ADefault, Type{Base: Any}, "value when none is given"),
		attr(ASensitive, boolean(), "the value is a secret: it may stand only where a secret is named"),
		attr(ANullable, boolean(), "null is a value"),
		attr(ADescription, str(), "what it is for"),
	}},
	Locals: {Kind: Locals, Word: "locals", Free: true, Doc: "Named expressions."},
	Output: {Kind: Output, Word: "output", Labels: label("name"), Doc: "A value of the module.", Attrs: []AttrDef{required(AValue, Type{Base: Any}, "the value"), attr(ADescription, str(), "what it is"), attr(ASensitive, boolean(), "the value is a secret")}},
	Module: {Kind: Module, Word: "module", Labels: label("name"), Each: true, Free: true, Doc: "A folder of configuration, called with inputs.", Attrs: []AttrDef{required(ASource, str(), "local path, beginning with ./ or ../")}},
	Defaults: {
		Kind: Defaults, Word: "defaults", Labels: label("block", "switch", "node", "port", "nic", "link"), Free: true,
		Doc: "Attributes of every block of a kind, unless something nearer writes them.",
	},
	Connection: {
		Kind: Connection, Word: "connection", Labels: label("name"), Each: true,
		Doc: "A way to live devices over SSH. A device names it with its attribute `connection`, and it is evaluated for that device: `self` is the device, as in" +
			" `address = \"${self.name}.oob.example.net\"`. Only commands that contact devices read it, and nothing of it is emitted or recorded. It names secrets and holds none.",
		Attrs: []AttrDef{
			described,
			attr(AAddress, Type{Base: Host}, "host name or IP address; the device's `mgmt` unless written, else its name"),
			attr(APort, number(1, 65535), "TCP port (22)"),
			attr(AUser, str(), "who logs in; the user that runs rocec unless written"),
			attr(AIdentity, many(str()), "files of private keys; `~/` is the home folder, other relative paths start at the module"),
			attr(AAgent, boolean(), "use the keys of the SSH agent"),
			attr(APasswordEnv, Type{Base: EnvVar}, "name of the environment variable that holds the password: ROCEC_..., or one that ROCEC_ALLOW_ENV lists"),
			attr(APasswordCommand, many(str()), "program and arguments that print the password, run without a shell where ROCEC_ALLOW_COMMANDS lists the program: [\"pass\", \"show\", \"fabric\"]"),
			attr(AEnableEnv, Type{Base: EnvVar}, "name of the environment variable that holds the password of the privileged mode: ROCEC_..., or one that ROCEC_ALLOW_ENV lists"),
			attr(AJump, refs(Connection), "connections to the hosts on the way, the nearest first, each evaluated with the same `self`"),
			attr(AKnownHosts, many(str()), "files of host keys that are trusted, in place of those of the user and the system; paths as in `identity`"),
			attr(AHostKey, Type{Base: HostKey}, "the one host key that is trusted: its fingerprint \"SHA256:...\", or the key \"ssh-ed25519 AAAA...\""),
		},
	},
	QoS: {Kind: QoS, Word: "qos", Labels: label("name"), Each: true, Blocks: []Kind{Class}, Doc: "A contract of traffic classes that ports and segments refer to.", Attrs: []AttrDef{
		described,
		attr(AFrom, ref(QoS), "a qos to start from; a class of the same name replaces single attributes"),
		attr(ATrust, enum("dscp", "pcp", "none"), "which mark classifies a frame"),
		attr(ADCBX, dcbx, "on switch ports: \"off\" or \"advertise\""),
		attr(ATransport, enum("roce_v2", "roce_v1", "iwarp"), "transport of the classes that carry RDMA"),
	}},
	Class: {Kind: Class, Word: "class", Labels: label("name"), Doc: "One traffic class.", Attrs: []AttrDef{
		described,
		attr(ACarries, enum("rdma", "cnp", "cluster", "other"), "what it carries; written on every class but the default one"),
		attr(ADSCP, Type{Base: DSCP, Many: true}, "code points, by number or name"),
		attr(APriority, priority, "802.1p priority"),
		attr(AQueue, number(0, 15), "egress queue; the priority unless written"),
		renamed(APriorityGroup, "group", number(0, 15), "priority group; by losslessness unless written"),
		attr(ALossless, boolean(), "PFC; true for RDMA unless written"),
		attr(ABandwidth, Type{Base: Percent, Max: 100}, "ETS share in percent; the classes that are not strict sum to 100. 0: only what the others leave, for a lossy class"),
		attr(AStrict, boolean(), "strict priority; true for CNP"),
		renamed(ACap, "cap", Type{Base: Cap}, "most that the class may send: a speed or a percent"),
		attr(AECN, ecn, "ECN marking on switches"),
		renamed(ACongestion, "congestion", enum("dcqcn", "receiver"), "who slows the sender"),
		attr(AWatchdog, watchdog, "PFC watchdog on switch ports"),
		attr(ABuffer, classBuffer, "buffer of the class"),
		attr(AMatch, match, "how a host recognises the traffic"),
		renamed(AMark, "mark", enum("host", "application"), "who writes the DSCP"),
		seen(AMarkOn, many(enum("initiators", "responders")), "which side of a connection writes the DSCP, where that is known of an application (both)"),
		attr(ATransport, enum("roce_v2", "roce_v1", "iwarp"), "transport of this class"),
		attr(ARDMAMTU, enum("256", "512", "1024", "2048", "4096"), "RDMA path MTU the class asks for"),
		attr(ARedundancy, number(1, 16), "leaves that each node with this class is cabled to, at least"),
		attr(AMaxOversubscription, Type{Base: Number}, "most that a leaf may take from nodes for each unit its uplinks carry: 1, 1.5"),
		attr(ARemap, boolean(), "priorities may differ between ports: the rewrite is declared"),
		seen(AMonitor, many(enum("pause", "ecn", "cnp", "discards", "latency")), "what of the class is watched in operation"),
		seen(ABaseline, str(), "where the bandwidth and latency measured without load are kept, to compare with after a change"),
		seen(AFallback, object(
			required(ATo, enum("tcp", "none"), "what the service runs on when RDMA stops: TCP, or nothing"),
			attr(ATested, boolean(), "somebody has tried it"), attr(AAlarm, boolean(), "somebody is told when it happens"),
		), "what happens when RDMA stops"),
		attr(ALatencyBudget, duration, "most that the queue of one switch port may add to the latency of the class; nothing is emitted"),
		seen(ACNPInterval, duration, "least time between two CNPs that every NIC of the class has been set to, by other means"),
		seen(ASlowedBy, enum("rtt"), "what slows senders where neither marks nor receivers do, as vendors' tools have set every NIC of the class: \"rtt\", as Zero Touch RoCE"),
		seen(AConsumers, many(str()), "applications that use the class: \"nccl\", \"smb-direct\"; others are declared by `consumers` of `rocec`"),
		seen(AQPs, number(1, 65535), "queue pairs that two nodes open between each other, as their applications are set"),
		seen(ACrossRail, boolean(), "NICs of different rails talk to each other"),
		attr(ADefault, boolean(), "takes every undeclared code point"),
	}},
	Segment: {Kind: Segment, Word: "segment", Labels: label("name"), Each: true, Doc: "A VLAN with its subnet and what may use it.", Attrs: []AttrDef{
		attr(AName, str(), "the segment's name, instead of the label or key"), described,
		required(AVLAN, vlanID, "VLAN ID"),
		attr(ASubnet, Type{Base: CIDR}, "subnet; addresses follow from slots"),
		attr(AFirst, number(1, 1<<24), "host number of slot 1 (11)"),
		attr(AGateway, or(Type{Base: Addr}, "off"), "address of the router; absent: not routed"),
		attr(AExternalGateway, boolean(), "the router is a device that the source does not have: that no device has its address is meant"),
		attr(AVRF, routes, "routing table that reaches it; \"default\" is that of the device itself, as if nothing were written"),
		attr(AQoS, ref(QoS), "qos of the ports that carry it"),
		attr(AIsolated, boolean(), "no path into another segment, proven"),
		seen(AFloodClass, str(), "class of its qos that its switches put broadcast, multicast and unknown unicast into (by their marks)"),
		attr(AMTU, mtu, "IP MTU of everything on it"),
		seen(AOverlay, enum("vxlan"), "header in which switches carry it to each other over routed links: its frames are larger there"),
		seen(AOverlayMarks, enum("kept", "lost"), "whether its switches copy DSCP and ECN into that header and bring congestion marks back (by their operating system)"),
		seen(AUnknownUnicast, enum("flood", "limit"), "what its switches do with frames to unknown addresses: \"limit\" where a storm control bounds them"),
	}},
	Switch: {
		Kind: Switch, Word: "switch", Labels: label("name"), Each: true, Blocks: []Kind{Port, LAG, Interface, Except}, Doc: "A switch. Its ports exist by its model; a block says more about one.",
		Attrs: join(deviceAttrs, switchAttrs, []AttrDef{
			attr(APlace, place, "where the switch stands in a fabric that no topology generates: checks, pictures and proofs know it as they know a generated one"),
		}, deviations),
	},
	Port: {
		Kind: Port, Word: "port", Labels: label("name"), Ranged: true, Each: true, Blocks: []Kind{Except}, Doc: "Ports of a switch, by name or range.",
		Attrs: join([]AttrDef{attr(AName, str(), "with for_each: the port's name"), described}, portAttrs, []AttrDef{
			attr(ADeny, kept(many(enum("roce_v2", "roce_v1"))), "RDMA that is dropped as it comes in, whatever its marks: RoCEv2 (UDP port 4791), RoCEv1 (EtherType 0x8915);"+
				" by default, on external ports and towards nodes that are not trusted, what the rules of the switch can match; [] for nothing"),
			attr(ABreakout, str(), "split: \"4x100G\"; the children replace the port"),
			attr(AAddress, kept(many(Type{Base: CIDR})), "addresses of a routed port"),
			attr(AVRF, routes, "routing table of a routed port; \"default\" is that of the device itself"),
			renamed(AFacing, "role", enum("node", "fabric", "peer_link"), "what is at the other end, where the cable does not show it"),
			seen(ARemark, remark, "DSCP that policers and remark rules of the port write, by the DSCP that comes in; only where rocec does not write the port"),
			markedColors,
			seen(AMACsec, macsec, "encryption of the link, as it is set on this port"),
		}, deviations),
	},
	LAG: {Kind: LAG, Word: "lag", Labels: label("name"), Each: true, Doc: "A link aggregation of switch ports.", Attrs: []AttrDef{
		attr(AName, str(), "with for_each: the LAG's name"), described,
		required(AMembers, Type{Base: Range}, "ports, ranges allowed"),
		attr(AMode, enum("lacp", "static"), "negotiated or not"),
		attr(ARate, kept(enum("fast", "slow")), "LACP rate"),
		renamed(AHashPolicy, "hash", kept(str()), "hash policy, in the words of the OS"),
		attr(AID, number(1, 65535), "number of the LAG"),
		attr(AQoS, or(ref(QoS), "keep"), "qos of the members"),
		renamed(ASegments, "segments", kept(refs(Segment)), "segments carried tagged"),
		renamed(ANative, "native", untagged, "the segment carried untagged"),
		attr(AMTU, kept(mtu), "IP MTU of the members"),
	}},
	Interface: {Kind: Interface, Word: "interface", Labels: label("name"), Ranged: true, Each: true, Blocks: []Kind{Except}, Doc: "A layer-3 interface on a NIC, bond, port, LAG or segment.", Attrs: []AttrDef{
		attr(AName, str(), "with for_each: the interface's name"), described,
		required(AOn, Type{Base: Ref, Refs: []Kind{NIC, Bond, Port, LAG, Segment}, Words: []string{"loopback", "*"}}, "what it sits on: a name, a reference, or \"loopback\""),
		attr(APin, str(), "the member of a SET team that a host vNIC prefers"),
		attr(ASegment, ref(Segment), "tagged segment"),
		renamed(ANative, "native", ref(Segment), "untagged segment"),
		attr(AAddress, address, "addresses; by slot in the segment's subnet unless written"),
		attr(AVRF, routes, "routing table; \"default\" is that of the device itself, whatever the segment says"),
		attr(AMTU, kept(mtu), "IP MTU"),
		attr(ARDMA, boolean(), "carries RDMA; follows the segment's qos unless written"),
	}},
	Node: {
		Kind: Node, Word: "node", Labels: label("name"), Each: true, Blocks: []Kind{NIC, Bond, Interface, GPU, Except}, Doc: "A host.",
		Attrs: join(deviceAttrs, []AttrDef{
			attr(ASlot, number(1, 1<<24), "position, from 1: addresses follow it"),
			attr(ACluster, str(), "cluster the node belongs to"), attr(ATrusted, boolean(), "false: its ports are hostile"),
			attr(ATenant, str(), "whose the node is; nodes of different tenants should not pause each other; nothing is emitted"),
			attr(ARole, str(), "free word shared by nodes that should be alike"),
			seen(AACS, boolean(), "PCIe access control services are on"),
			seen(AVirtualised, boolean(), "virtual machines are given GPUs or NICs of it, which needs access control services"),
			seen(APersistent, boolean(), "its RDMA settings survive a reboot: what rocec writes on a host does"),
			seen(AConsumers, many(str()), "applications on it that use RDMA, in the words of the classes; [] for none"),
			seen(AMemlock, or(size, "unlimited"), "memory that a user of RDMA may lock: RLIMIT_MEMLOCK"),
			seen(AModules, many(str()), "kernel modules that are loaded: all that lsmod lists"),
			attr(AQoS, or(ref(QoS), "keep"), "qos of every NIC"), attr(AMTU, kept(mtu), "IP MTU of every NIC"),
		}, hostFound, deviations),
	},
	NIC: {
		Kind: NIC, Word: "nic", Labels: label("name"), Ranged: true, Each: true, Blocks: []Kind{Except}, Doc: "Ports of host adapters, by name or range.",
		Attrs: join([]AttrDef{
			attr(AName, str(), "with for_each: the NIC's name"), described,
			attr(AModel, str(), "a `nic_model`: \"nvidia/connectx-7\""),
			renamed(AIfname, "device", str(), "name in the operating system; the label unless written"),
			attr(APCI, str(), "PCI address that finds the port"), attr(AMAC, str(), "MAC address that finds the port"),
			attr(AAdapter, str(), "card the port is on; ports whose PCI address differs in the function share one"),
			attr(APCIe, object(attr(AGen, number(1, 7), "generation"), attr(ALanes, number(1, 32), "lanes"), attr(ASlot, str(), "slot: ports in one are of one card, unless `adapter` names it"), attr(ANUMA, number(0, 255), "NUMA node")), "the slot"),
			attr(ALinkLayer, enum("ethernet", "infiniband"), "link layer"),
			attr(ARoCEMode, kept(enum("v2", "v1")), "RoCE version"),
			attr(
				APauseStormTimeout, kept(or(duration, "auto", "off")),
				"how long the NIC may hold its switch by pause before it drops what it cannot take: \"auto\" is 100 ms; a NIC begins with seconds",
			),
			attr(AFirmware, str(), "expected firmware: a version, \"28.43.*\" or conditions such as \">= 28.43, < 29\"; compared, never installed"),
			attr(ADriver, str(), "expected version of the driver, in the same form; compared, never installed"),
			attr(ARail, number(0, 4095), "rail"), attr(APlane, number(0, 4095), "plane"), attr(AGPU, str(), "GPU beside it, a `gpu` block of the node if it has any: applications are told their NICs in the order of the GPUs"),
			attr(APCIeSwitch, str(), "PCIe switch of the host that it sits on; the GPU beside it is then the first one there, unless written"),
			seen(ADriverOrigin, enum("inbox", "vendor"), "where its driver comes from: the operating system, or a package of the maker"),
			seen(AGIDIndex, number(0, 255), "entry of the GID table that applications are told: NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX"),
			seen(AReceiveBuffer, size, "receive buffer of the lossless priorities: `mlnx_qos -i DEVICE` shows it"),
			seen(ADeny, many(enum("roce_v2", "roce_v1")), "RDMA that a firewall of the host drops on it: RoCEv2 (UDP port 4791), RoCEv1 (EtherType 0x8915)"),
			seen(APXE, boolean(), "the node boots over it: it must get along without a tag"),
			attr(AAt, ref(Port), "the switch port it is plugged into, as good as a link: each member of a range and of for_each has its own, as in switch.tor[nic.key].port[\"Ethernet${self.slot}\"]; in a topology, where that is not the one it would take"),
			attr(ASegment, ref(Segment), "one tagged segment, with the address on it"),
			attr(ASubnet, Type{Base: CIDR}, "subnet of an untagged address"),
			attr(AAddress, address, "addresses; by slot unless written"),
			attr(AGateway, or(Type{Base: Addr}, "off", "keep"), "router of an untagged address; that of its segment or leaf unless written"),
			attr(AExternalGateway, boolean(), "that router is a device that the source does not have"),
			attr(AVFs, kept(object(
				required(ACount, number(0, 1024), "how many"), attr(AMode, enum("legacy", "switchdev"), "mode of the embedded switch"),
				attr(ARDMA, boolean(), "RDMA on them"), attr(ASegment, ref(Segment), "their segment"), attr(ATrusted, boolean(), "they may set their own MAC"),
			)), "virtual functions"),
			seen(AMACsec, macsec, "encryption of the link, as it is set on this NIC"),
		}, hostFound, portAttrs, deviations),
	},
	GPU: {Kind: GPU, Word: "gpu", Labels: label("name"), Each: true, Doc: "A GPU of a host: what its NICs are told apart by. Nothing is configured on it.", Attrs: []AttrDef{
		attr(AName, str(), "with for_each: the GPU's name"), described,
		attr(APCIeSwitch, str(), "PCIe switch of the host that it sits on, a word of your choice"), attr(ANUMA, number(0, 255), "NUMA node"),
	}},
	Bond: {Kind: Bond, Word: "bond", Labels: label("name"), Each: true, Doc: "NICs of a host joined into one.", Attrs: []AttrDef{
		attr(AName, str(), "with for_each: the bond's name"), described,
		required(AMembers, Type{Base: Range}, "NICs, ranges allowed"),
		required(AMode, enum("lacp", "static", "active_backup", "set"), "\"set\" is a Hyper-V SET team"),
		attr(ARate, kept(enum("fast", "slow")), "LACP rate"), renamed(AHashPolicy, "hash", kept(str()), "hash policy, in the words of the OS"), attr(AID, number(1, 65535), "number of the LAG at the switch"),
		attr(AQoS, or(ref(QoS), "keep"), "qos of the members"), renamed(ASegments, "segments", kept(refs(Segment)), "segments carried tagged"), renamed(ANative, "native", untagged, "the segment carried untagged"),
		attr(AMTU, kept(mtu), "IP MTU"), attr(AAddress, address, "addresses of the bond itself"), attr(ASegment, ref(Segment), "one tagged segment, with the address on it"),
		attr(ASubnet, Type{Base: CIDR}, "subnet of an untagged address"),
	}},
	MLAG: {Kind: MLAG, Word: "mlag", Labels: label("name"), Each: true, Doc: "Two switches that share LAGs.", Attrs: []AttrDef{
		described, required(ASwitches, refs(Switch), "the two switches"), attr(ADomain, number(1, 4095), "domain number (1)"),
		attr(APeerLink, Type{Base: Range}, "ports between them, the same names on both"),
		attr(AKeepalive, object(attr(ASource4, mapOf(str(), Type{Base: Addr}), "address of each switch, by name"), attr(AInterval, duration, "between keepalives"), attr(ATimeout, duration, "until the peer counts as gone")), "how they watch each other"),
		attr(ACable, cable, "of the peer link"),
		attr(AEVPN, boolean(), "the two are no MLAG pair: each LAG over both is a segment of EVPN multihoming (ESI), which somebody else sets up. rocec writes their LAGs, and no MLAG"),
	}},
	Link: {Kind: Link, Word: "link", Labels: label("name"), Each: true, Doc: "One cable.", Attrs: join([]AttrDef{
		described, required(AEnds, Type{Base: Ref, Refs: []Kind{Port, NIC}, Many: true, Pair: true}, "the two ends"),
	}, linkAttrs, []AttrDef{seen(AMACsec, macsec, "encryption of the link, as it is set on both ends")})},
	TierLink: {
		Kind: TierLink, Word: "link", Attrs: linkAttrs,
		Doc: "The links of a tier to what is below it, both ends of each. `cable` also sees the tier below, as `leaf` or `spine`.",
	},
	Check: {Kind: Check, Word: "check", Labels: label("name"), Doc: "A condition over the compiled fabric: `assert` blocks.", Attrs: nil},
	Target: {Kind: Target, Word: "target", Labels: label("emitter"), Doc: "Which devices an emitter serves, and how.", Attrs: []AttrDef{
		attr(ASelect, Type{Base: Ref, Refs: []Kind{Switch, Node, Topology}, Many: true, Words: []string{"*"}}, "devices, by reference (to one, all of a for_each, a tier, all switches of a topology) or quoted glob, or a list of these; all that fit unless written"),
		attr(AOutput, str(), "folder inside the output directory"),
		attr(AOptions, mapOf(str(), Type{Base: Scalar}), "settings of the emitter"),
		attr(ADelivery, enum("ssh", "bundle"), "who carries artifacts to the device"),
	}},
	Except: {Kind: Except, Word: "except", Labels: label("member"), Free: true, Doc: "A permanent deviation of one member of a repeated block: what it says counts above the block it stands in. Blocks in it speak of those that the member has.", Attrs: []AttrDef{attr(AReason, str(), "why")}},
	Override: {Kind: Override, Word: "override", Doc: "A temporary exception with an end date: what it sets counts above everything that is written for what it is on, and in it.", Attrs: []AttrDef{
		required(AOn, Type{Base: Ref, Refs: []Kind{Switch, Port, LAG, Interface, Node, NIC, Bond, Link, MLAG, Segment, QoS}, Many: true, Words: []string{"*"}}, "what it is about, by reference or quoted glob; a wave is \"rollout.wave[NAME]\", the proofs under failures are \"analysis\""),
		attr(AAccept, many(str()), "rules, by code or name"), attr(ASet, Type{Base: Any}, "attributes to set"),
		required(AReason, str(), "why"), required(AExpires, Type{Base: Date}, "the day from which it no longer holds"),
	}},
	ASIC: {Kind: ASIC, Word: "asic", Labels: label("vendor/family"), Doc: "What switch models with one chip share.", Attrs: join([]AttrDef{
		attr(AVendor, str(), "maker"), attr(AFamily, str(), "family name that emitters know: \"spectrum-4\", \"trident3\""),
		attr(ACell, size, "buffer cell"), attr(ABuffer, size, "packet buffer"), attr(AMaxLossless, number(0, 8), "lossless priorities it can carry"),
		attr(APFCQueues, many(priority), "the only priorities that can be lossless"), attr(AQueues, number(1, 64), "egress queues per port"),
		attr(AFormula, enum("reference", "spectrum", "mlxsw", "cisco"), "headroom formula of the vendor"),
		attr(APipelineLatency, size, "pipeline latency of the headroom formula"), attr(AMacPhyDelay, size, "MAC and PHY delay of the headroom formula"),
		attr(ATile, boolean(), "headroom counts an on-chip tile delay"), attr(ACompensation, size, "bytes that newer images add to xoff"),
		attr(AReservedHeadroomShare, percent, "largest share of the buffer for headroom"),
		attr(ADSCPPFC, boolean(), "PFC by DSCP"), attr(AHasWatchdog, boolean(), "PFC watchdog"), attr(ACapPFC, boolean(), "PFC"), attr(ACapECN, boolean(), "ECN"), attr(ACapETS, boolean(), "ETS"),
		attr(AMaxMTU, number(576, 65535), "largest IP MTU"), attr(ASpeeds, many(speed), "speeds that its ports can run"),
		attr(AAutoneg, mapOf(str(), boolean()), "whether a port negotiates that nobody told, by operating system"), attr(AFacts, mapOf(str(), Type{Base: Number}), "further numbers, by name"),
	}, source)},
	SwitchModel: {Kind: SwitchModel, Word: "switch_model", Labels: label("vendor/model"), Doc: "What a switch is.", Attrs: join([]AttrDef{
		required(AASIC, str(), "an `asic` block"), required(APorts, mapOf(str(), Type{Base: Range}), "port names by operating system: { sonic = \"Ethernet[0-252:4]\" }"),
		attr(ASpeeds, mapOf(str(), speed), "speed of ports by range of the first naming; \"*\" for all"), attr(ALanes, number(1, 16), "lanes of a port"),
		attr(AMaxMTU, number(576, 65535), "largest IP MTU"), attr(AJumboMTU, number(576, 65535), "the usual jumbo IP MTU of its ports"),
		attr(APlatform, str(), "platform name of the vendor's headroom table"), attr(AHWSKU, str(), "SKU name of the vendor's headroom table"),
		attr(ABreakouts, mapOf(str(), object(
			required(ALanes, str(), "their lanes, in the order of the ports: \"[0-127]\""),
			required(AIndex, str(), "their numbers on the front panel"),
			required(AModes, mapOf(str(), many(str())), "aliases of the children by mode as the platform spells it: { \"4x25G[10G]\" = \"etp[1-32][a-d]\" }"),
		)), "ports that can be split, by range, as SONiC's platform.json has them"),
		attr(ABuffer, size, "packet buffer, where it differs from the asic's"), attr(AMaxLossless, number(0, 8), "lossless priorities, where it differs from the asic's"),
		attr(APauseResponse, duration, "response to a pause, where it is not the standard's"),
		attr(AHasWatchdog, mapOf(str(), boolean()), "PFC watchdog, by operating system"),
		attr(AOS, many(str()), "operating systems it runs"), attr(ADefaults, mapOf(str(), ref(QoS)), "the vendor's default as a qos, by operating system: what \"keep\" leaves"), attr(AFacts, mapOf(str(), Type{Base: Number}), "further numbers, by name"),
	}, source)},
	NICModel: {Kind: NICModel, Word: "nic_model", Labels: label("vendor/model"), Doc: "What a NIC is.", Attrs: join([]AttrDef{
		required(AVendor, str(), "maker"), required(ADriver, str(), "driver family: mlx5, mlx4, ice, i40e, bnxt, qede, cxgb4, rxe"),
		attr(APorts, number(1, 16), "ports of a card"), attr(ASpeeds, many(speed), "speeds a port can run"),
		attr(APCIe, object(attr(AGen, number(1, 7), "generation"), attr(ALanes, number(1, 32), "lanes")), "widest slot it uses"),
		attr(ARoCE, many(enum("v1", "v2")), "RoCE versions"), attr(AIWARP, boolean(), "iWARP"), attr(AIB, boolean(), "InfiniBand"),
		attr(ATrafficClasses, number(1, 16), "traffic classes"), attr(APFCPriorities, number(0, 8), "priorities that can have PFC at a time"),
		attr(ADSCPTrust, boolean(), "classifies by DSCP"), attr(AResilient, boolean(), "runs RoCE on lossy Ethernet with ECN"),
		attr(AReordering, boolean(), "takes the packets of a connection in any order"), attr(AAutoneg, boolean(), "negotiates where nobody told it"),
		attr(AInterop, many(str()), "vendors, besides its own, whose adapters it runs RDMA with; not written where any will do"),
		attr(AMaxMTU, number(576, 65535), "largest IP MTU"), attr(ACNPDSCP, Type{Base: DSCP}, "DSCP of CNPs by default"), attr(ACNPPriority, priority, "priority of CNPs by default"),
		attr(AOS, mapOf(str(), str()), "lowest version by operating system"), attr(ADefaults, mapOf(str(), ref(QoS)), "the vendor's default as a qos, by operating system: what \"keep\" leaves"), attr(AFacts, mapOf(str(), Type{Base: Number}), "further numbers, by name"),
	}, source)},
	Media: {Kind: Media, Word: "media", Labels: label("name"), Doc: "A kind of cable or transceiver.", Attrs: join([]AttrDef{
		attr(AClassOfMedia, enum("copper", "active_copper", "aoc", "multimode", "singlemode"), "class; members of a LAG share it"),
		attr(AReach, many(object(attr(AMinSpeed, speed, "from this speed up"), required(AMaxLength, length, "longest cable"))), "reach, by speed"),
	}, source)},
	PCIe: {Kind: PCIe, Word: "pcie", Labels: label("generation"), Doc: "What a PCIe generation carries.", Attrs: join([]AttrDef{
		attr(AUsableMbps, mapOf(number(1, 32), speed), "usable data rate by lanes"),
	}, source)},
	Topology: {
		Kind: Topology, Word: "topology", Labels: []Label{{Name: "kind", Enum: TopologyKinds}, {Name: "name"}}, Each: true, Blocks: []Kind{Leaf, Spine, Core},
		Doc: "A generated fabric: its tiers give switches, and its links follow from counts. `topology.NAME.leaf[3].port[\"swp9\"]` is the address of a generated port.",
		Attrs: []AttrDef{
			described,
			attr(ANodes, refs(Node), "nodes that it joins; without them only switches are joined"),
			attr(ANICs, Type{Base: Range}, "which NICs of the nodes, in this order; all unless written"),
			attr(APlanes, number(1, 64), "planes of a `rail_optimized` or `dual_tor` topology (1): separate fabrics side by side"),
			attr(APods, refs(Topology), "of a `clos3`: topologies whose spines the `core` tier joins"),
			attr(AQoS, or(ref(QoS), "keep"), "qos of the ports and NICs it connects"),
			attr(ARouting, ref(Routing), "what the proofs may assume of paths through it"),
			attr(AMTU, kept(mtu), "IP MTU of the ports and NICs it connects"),
		},
	},
	Leaf: {Kind: Leaf, Word: "leaf", Blocks: []Kind{Port, TierLink, Except}, Doc: "The switches that nodes are cabled to; in `ring` and `full_mesh`, the switches that are joined.", Attrs: join(tierAttrs, []AttrDef{
		attr(ANodePorts, Type{Base: Range}, "ports for nodes, in order of slots"),
		attr(AUpPorts, Type{Base: Range}, "ports to spines, or to each other"),
		attr(ASubnet, Type{Base: CIDR}, "subnet of the NICs below, where neither NIC nor segment has one"),
		attr(AAddressing, enum("shared", "per_port"), "\"shared\": one subnet, the switch is host 1; \"per_port\": a /31 or /127 for each port, switch first"),
		attr(AFabricSubnet, Type{Base: CIDR}, "a /31 or /127 for each uplink, by leaf and uplink; unnumbered unless written"),
	}, deviations)},
	Spine: {Kind: Spine, Word: "spine", Blocks: []Kind{Port, TierLink, Except}, Doc: "The switches that join leaves.", Attrs: join(tierAttrs, []AttrDef{
		attr(ADownPorts, Type{Base: Range}, "ports to leaves"),
		attr(AUpPorts, Type{Base: Range}, "ports to cores"),
		attr(APorts, Type{Base: Range}, "ports, when all go to leaves"),
		attr(AFabricSubnet, Type{Base: CIDR}, "a /31 or /127 for each uplink, by spine and uplink; unnumbered unless written"),
	}, deviations)},
	Core: {Kind: Core, Word: "core", Blocks: []Kind{Port, TierLink, Except}, Doc: "The switches that join the spines of a `clos3`, or of its pods.", Attrs: join(tierAttrs, []AttrDef{
		attr(ADownPorts, Type{Base: Range}, "ports to spines"),
		attr(APorts, Type{Base: Range}, "ports to spines"),
	}, deviations)},
	Cabling: {Kind: Cabling, Word: "cabling", Labels: label("name"), Doc: "A list of cables in a file. Rows that no port of the fabric is in, as those for management, are passed over; `rocec doc` counts them.", Attrs: []AttrDef{
		described,
		required(AFile, many(str()), "file of the list, inside the module, or a list of files"),
		required(AFormat, enum("netbox", "csv", "dot", "lldp"), "\"netbox\": its cable import or export; \"dot\": a graph as topology checkers read it; \"lldp\": captures of what neighbours say"),
		attr(AColumns, mapOf(enum(ColumnWords...), str()), "of \"csv\": the file's name of each column, where it differs: { a_device = \"From\" }"),
		attr(ARename, mapOf(str(), str()), "device names of the list, and what they are called here"),
		attr(AMode, enum("define", "verify"), "\"define\" (unless written): its rows are links; \"verify\": they are compared with the links there are"),
		attr(ADefaultCable, cable, "fills what a row leaves empty"),
		attr(ADevice, str(), "of \"lldp\": the device that took the capture, where the file does not say; else its name without the extension"),
	}},
	Routing: {Kind: Routing, Word: "routing", Labels: label("name"), Doc: "What the proofs may assume of paths. rocec writes no routing protocol; one that nothing names, and that does not speak for all, is told.", Attrs: []AttrDef{
		described,
		needed(renamed(APaths, "model", enum("up_down", "ecmp", "table"), "\"up_down\": up and then down the tiers; \"ecmp\": every shortest path; \"table\": what `file` lists")),
		attr(AFile, str(), "of \"table\": CSV with the columns at, from, to, next and perhaps priority. Devices by their names; packets at a switch, from a neighbour (empty or * for any), to a device, go on to the next one, with the new priority if there is one; several rows are several ways"),
		attr(ADefault, boolean(), "speaks for all that names none; before language 1 that was the block called \"default\""),
		attr(ARepair, enum("global", "local"), "who routes around a failure: all switches, or the one beside it"),
		seen(AAdaptive, boolean(), "packets of one flow take several paths: adaptive routing or packet spraying"),
		seen(AReordering, boolean(), "the NICs under it are set to take the packets of a queue pair in any order"),
		attr(ALeak, many(object(required(AFrom, ref(Segment), "segment that is reached"), required(ATo, ref(Segment), "segment that reaches it"))), "segments of different `vrf` that reach each other"),
		attr(AAnnounce, many(Type{Base: CIDR}), "prefixes that leave by external ports"),
	}},
	Rollout: {Kind: Rollout, Word: "rollout", Blocks: []Kind{Wave}, Doc: "In which order devices are changed. `plan` and `apply` list them wave by wave.", Attrs: []AttrDef{
		attr(AOrder, enum("downstream_first", "upstream_first"), "inside a wave, what is nearer to the nodes first, or last"),
		attr(AConfirm, duration, "time in which a change must be confirmed"),
		attr(AOnFailure, enum("rollback", "stop"), "what happens to the wave when a device fails"),
		attr(AMaxShare, Type{Base: Percent, Min: 1, Max: 100}, "largest share of the devices of one role that may change together, in percent"),
		attr(AMaxMismatch, duration, "longest time that the two ends of a link may differ"),
	}},
	Wave: {Kind: Wave, Word: "wave", Labels: label("name"), Doc: "Devices that change together. A device is in the first wave that selects it.", Attrs: []AttrDef{
		described,
		attr(ASelect, Type{Base: Ref, Refs: []Kind{Switch, Node, Topology}, Many: true, Words: []string{"*"}}, "devices, by reference (to one, all of a for_each, a tier, all switches of a topology) or quoted glob, or a list of these; all that no wave before selects, unless written"),
		attr(AGroupBy, enum("rail", "plane", "pod", "rack", "cluster", "device"), "parts of the wave, one after the other"),
		attr(ASoak, duration, "how long the wave is watched before the next one, and each of its parts before the next part"),
		attr(AGate, many(enum("verify", "no_pause_storm", "no_discards", "rdma_ping")), "what must hold before the next part and the next wave; what does not goes back, with its part"),
		attr(ADrain, boolean(), "traffic is moved away from the devices first"),
		renamed(AWithFirmware, "firmware", boolean(), "the wave brings new firmware too, by other means"),
	}},
	Analysis: {Kind: Analysis, Word: "analysis", Doc: "What the proofs go on to when nothing has failed. Without the block, and without --failures, they take every link and switch as up.", Attrs: []AttrDef{
		attr(AFailures, number(0, MaxFailures), "how many links and switches may be down at a time: each of them, and with 2 each pair, is taken out and everything is proven again (0)"),
		attr(AProperties, many(enum(Properties...)), "what is proven then; all unless written"),
		attr(ABudget, number(1_000_000, 1_000_000_000_000), "bound of each proof over paths, in steps from one buffer to the next (4000000000, and 250000000 where few switches stand alike): a larger fabric is refused, with the number; proofs under failures may take sixteen times as much together"),
	}},
}
