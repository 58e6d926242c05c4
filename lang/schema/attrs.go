package schema

// The attributes, in the order of the documentation.
const (
	_ Attr = iota
	// what many blocks share
	AName
	AForEach
	AEnabled
	ADescription
	AReason
	ASource
	ASources
	AOptions
	AVersion
	// rocec
	ARequiredVersion
	ALanguage
	ARecord
	// variable, output, module, check
	AType
	ADefault
	ASensitive
	ANullable
	AValue
	ACondition
	AErrorMessage
	// qos and class
	AFrom
	ATrust
	ADCBX
	ATransport
	ACarries
	ADSCP
	APriority
	AQueue
	AGroup
	APriorityGroup
	ALossless
	ABandwidth
	AStrict
	ACap
	AECN
	ACongestion
	AWatchdog
	ABuffer
	AMatch
	AMark
	ARDMAMTU
	ARemap
	// segment
	AVLAN
	ASubnet
	AFirst
	AGateway
	AExternalGateway
	AVRF
	AQoS
	AIsolated
	AMTU
	// devices
	AModel
	AOS
	ARole
	AFacing
	AMgmt
	AManage
	AVars
	ARack
	ASlot
	ACluster
	ATrusted
	// ports and NICs
	ASpeed
	AFEC
	AAutoneg
	ABreakout
	AExternal
	ASegments
	ANative
	ADevice
	AIfname
	APCI
	AMAC
	AAdapter
	APCIe
	ALinkLayer
	ARoCEMode
	APauseStormTimeout
	AFirmware
	ADriver
	ARail
	APlane
	AGPU
	APCIeSwitch
	ASegment
	AAddress
	AVFs
	// LAGs, interfaces
	AMembers
	AMode
	ARate
	AHash
	AHashPolicy
	AID
	AOn
	APin
	ARDMA
	// mlag, link
	ASwitches
	ADomain
	APeerLink
	AKeepalive
	ACable
	AEnds
	AMediaName
	ALength
	ADelay
	// deviations
	ADSCPMap
	APCPMap
	AQueueMap
	AGroupMap
	APFC
	APFCQueueMap
	APause
	AETS
	AHeadroom
	// target, override
	ASelect
	AOutput
	ADelivery
	AAccept
	ASet
	AExpires
	// fields of objects
	AMin
	AMax
	AProbability
	ADetect
	ARestore
	APoll
	AAction
	AAlpha
	AXon
	AXoff
	AShared
	ANetDirectPort
	ATCPPort
	AUDPPort
	AOwner
	ACount
	AResource
	AGen
	ALanes
	ANUMA
	ASource4 // keepalive: address of the device itself, by switch name
	AInterval
	ATimeout
	// models
	AASIC
	APorts
	AVendor
	AFamily
	ACell
	AMaxLossless
	APFCQueues
	AQueues
	APauseResponse
	APipelineLatency
	AMacPhyDelay
	ATile
	ACompensation
	AFormula
	APlatform
	AHWSKU
	ASpeeds
	AMaxMTU
	AJumboMTU
	AHasWatchdog
	ADSCPPFC
	ARoCE
	AIWARP
	AIB
	ATrafficClasses
	APFCPriorities
	ADSCPTrust
	AResilient
	ACNPDSCP
	ACNPPriority
	ADefaults
	AFacts
	AReach
	AMinSpeed
	AMaxLength
	AClassOfMedia
	AUsableMbps
	AGeneration
	AWidth
	ACaps
	ACapETS
	ACapECN
	ACapPFC
	AOSNames
	AReservedHeadroomShare
	// topology, tiers
	ANodes
	ANICs
	APlanes
	APods
	ARouting
	APaths
	ANodePorts
	AUpPorts
	ADownPorts
	ALoopback
	AAddressing
	AFabricSubnet
	AAt
	// switch hash
	AFunction
	ASeed
	// class
	ARedundancy
	AMaxOversubscription
	// cabling
	AFile
	AFormat
	AColumns
	ARename
	ADefaultCable
	// routing
	ARepair
	ALeak
	ATo
	AAnnounce
	ABreakouts
	AIndex
	AModes
	// place of a written switch
	APlace
	ATier
	APod
	// rollout
	AOrder
	AConfirm
	AOnFailure
	AMaxShare
	AMaxMismatch
	AGroupBy
	ASoak
	AGate
	ADrain
	AWithFirmware
	// what rules ask for and no device is told
	ASite
	ATenant
	APXE
	AUnknownUnicast
	AMonitor
	ABaseline
	AFallback
	ATested
	AACS
	AVirtualised
	APersistent
	AAlarm
	// analysis
	AFailures
	AProperties
	ABudget
	// as found, where rocec does not write; and what rules on classes ask for
	AToS
	ADCQCN
	AMarkOn
	ARemark
	APFCDirection
	AColors
	ASemiLossless
	AMACsec
	APFCFrames
	AFloodClass
	ALatencyBudget
	ACNPInterval
	ASlowedBy
	AOverlayMarks
	// buffers as found, and what else rules on buffers, capability and topology ask for
	APools
	AIngress
	AEgressLossy
	AEgressLossless
	AReceiveBuffer
	AValidated
	ADriverOrigin
	AGIDIndex
	AMemlock
	AModules
	AConsumers
	AInterop
	AReordering
	AQPs
	ACrossRail
	AAdaptive
	AOverlay
	AEVPN
	ASTP
	AARPTimeout
	AMACTimeout
	// what the edge of a fabric keeps out
	ADeny
	ASparePorts
	AAdmin
	// ways to live devices
	AConnection
	APort
	AUser
	AIdentity
	AAgent
	APasswordEnv
	APasswordCommand
	AEnableEnv
	AJump
	AKnownHosts
	AHostKey
	// where the record is
	ABackend
	ARemote
	ABranch
	APush
	AUpdateMethod
	ALockAddress
	ALockMethod
	AUnlockAddress
	AUnlockMethod
	AUsernameEnv
	ABucket
	ARegion
	AEndpoint
	APrefix
	APathStyle
	AObserved
	AECNColors
	AttrCount // the number of attribute numbers, 0 included
)

var names = [AttrCount]string{
	AName: "name", AForEach: "for_each", AEnabled: "enabled", ADescription: "description", AReason: "reason",
	ASource: "source", ASources: "sources", AOptions: "options", AVersion: "version",
	ALanguage: "language", ARequiredVersion: "required_version", ARecord: "record",
	AType: "type", ADefault: "default", ASensitive: "sensitive", ANullable: "nullable", AValue: "value", ACondition: "condition", AErrorMessage: "error_message",
	AFrom: "from", ATrust: "trust", ADCBX: "dcbx", ATransport: "transport", ACarries: "carries", ADSCP: "dscp", APriority: "priority",
	AQueue: "queue", AGroup: "group", APriorityGroup: "priority_group", ALossless: "lossless", ABandwidth: "bandwidth", AStrict: "strict", ACap: "max_rate", AECN: "ecn",
	ACongestion: "congestion_control", AWatchdog: "watchdog", ABuffer: "buffer", AMatch: "match", AMark: "marked_by", ARDMAMTU: "rdma_mtu", ARemap: "remap",
	AVLAN: "vlan", ASubnet: "subnet", AFirst: "first", AGateway: "gateway", AExternalGateway: "external_gateway", AVRF: "vrf", AQoS: "qos", AIsolated: "isolated", AMTU: "mtu",
	AModel: "model", AOS: "os", ARole: "role", AFacing: "facing", AMgmt: "mgmt", AManage: "manage", AVars: "vars", ARack: "rack", ASlot: "slot", ACluster: "cluster", ATrusted: "trusted",
	ASpeed: "speed", AFEC: "fec", AAutoneg: "autoneg", ABreakout: "breakout", AExternal: "external", ASegments: "tagged", ANative: "untagged",
	ADevice: "device", AIfname: "ifname", APCI: "pci", AMAC: "mac", AAdapter: "adapter", APCIe: "pcie", ALinkLayer: "link_layer", ARoCEMode: "roce_mode",

	APauseStormTimeout: "pause_storm_timeout",

	AFirmware: "firmware", ADriver: "driver", ARail: "rail", APlane: "plane", AGPU: "gpu", APCIeSwitch: "pcie_switch", ASegment: "segment", AAddress: "address", AVFs: "vfs",
	AMembers: "members", AMode: "mode", ARate: "rate", AHash: "hash", AHashPolicy: "hash_policy", AID: "id", AOn: "on", APin: "pin", ARDMA: "rdma",
	ASwitches: "switches", ADomain: "domain", APeerLink: "peer_link", AKeepalive: "keepalive", ACable: "cable", AEnds: "ends",
	AMediaName: "media", ALength: "length", ADelay: "delay",
	ADSCPMap: "dscp_map", APCPMap: "pcp_map", AQueueMap: "queue_map", AGroupMap: "group_map", APFC: "pfc", APFCQueueMap: "pfc_queue_map",
	APause: "global_pause", AETS: "ets", AHeadroom: "headroom",
	ASelect: "select", AOutput: "output", ADelivery: "delivery", AAccept: "accept", ASet: "set", AExpires: "expires",
	AMin: "min", AMax: "max", AProbability: "probability", ADetect: "detect", ARestore: "restore", APoll: "poll", AAction: "action",
	AAlpha: "alpha", AXon: "xon", AXoff: "xoff", AShared: "shared", ANetDirectPort: "netdirect_port", ATCPPort: "tcp_port", AUDPPort: "udp_port",
	AOwner: "owner", ACount: "count", AResource: "resource", AGen: "gen", ALanes: "lanes", ANUMA: "numa", ASource4: "addresses", AInterval: "interval", ATimeout: "timeout",
	AASIC: "asic", APorts: "ports", AVendor: "vendor", AFamily: "family", ACell: "cell", AMaxLossless: "max_lossless", APFCQueues: "lossless_priorities",
	AQueues: "queues", APauseResponse: "pause_response", APipelineLatency: "pipeline_latency", AMacPhyDelay: "mac_phy_delay", ATile: "tile",
	ACompensation: "compensation", AFormula: "formula", APlatform: "platform", AHWSKU: "hwsku", ASpeeds: "speeds", AMaxMTU: "max_mtu", AJumboMTU: "jumbo_mtu",
	AHasWatchdog: "has_watchdog", ADSCPPFC: "dscp_pfc", ARoCE: "roce", AIWARP: "iwarp", AIB: "infiniband", ATrafficClasses: "traffic_classes",
	APFCPriorities: "pfc_priorities", ADSCPTrust: "dscp_trust", AResilient: "resilient", ACNPDSCP: "cnp_dscp", ACNPPriority: "cnp_priority",
	ADefaults: "defaults", AFacts: "facts", AReach: "reach", AMinSpeed: "min_speed", AMaxLength: "max_length", AClassOfMedia: "class",
	AUsableMbps: "usable", AGeneration: "generation", AWidth: "width", ACaps: "capabilities", ACapETS: "has_ets", ACapECN: "has_ecn", ACapPFC: "has_pfc",
	AOSNames: "port_names", AReservedHeadroomShare: "headroom_share",
	ANodes: "nodes", ANICs: "nics", APlanes: "planes", APods: "pods", ARouting: "routing", APaths: "paths", ANodePorts: "node_ports", AUpPorts: "up_ports", ADownPorts: "down_ports",
	ALoopback: "loopback", AAddressing: "addressing", AFabricSubnet: "fabric_subnet", AAt: "at", AFunction: "function", ASeed: "seed",
	ARedundancy: "redundancy", AMaxOversubscription: "max_oversubscription",
	AFile: "file", AFormat: "format", AColumns: "columns", ARename: "rename", ADefaultCable: "default_cable",
	ARepair: "repair", ALeak: "leak", ATo: "to", AAnnounce: "announce",
	ABreakouts: "breakouts", AIndex: "index", AModes: "modes",
	APlace: "place", ATier: "tier", APod: "pod",
	AOrder: "order", AConfirm: "confirm", AOnFailure: "on_failure", AMaxShare: "max_share", AMaxMismatch: "max_mismatch",
	AGroupBy: "group_by", ASoak: "soak", AGate: "gate", ADrain: "drain", AWithFirmware: "with_firmware",
	ASite: "site", ATenant: "tenant", APXE: "pxe", AUnknownUnicast: "unknown_unicast",
	AMonitor: "monitor", ABaseline: "baseline", AFallback: "fallback", ATested: "tested", AACS: "acs", AVirtualised: "virtualised", APersistent: "persistent", AAlarm: "alarm",
	AFailures: "failures", AProperties: "properties", ABudget: "budget",
	AToS: "tos", ADCQCN: "dcqcn", AMarkOn: "mark_on", ARemark: "remark", APFCDirection: "pfc_direction", AColors: "colors",
	ASemiLossless: "semi_lossless", AMACsec: "macsec", APFCFrames: "pfc_frames", AFloodClass: "flood_class",
	ALatencyBudget: "latency_budget", ACNPInterval: "cnp_interval", ASlowedBy: "slowed_by", AOverlayMarks: "overlay_marks",
	APools: "pools", AIngress: "ingress", AEgressLossy: "egress_lossy", AEgressLossless: "egress_lossless", AReceiveBuffer: "receive_buffer",
	AValidated: "validated", ADriverOrigin: "driver_origin", AGIDIndex: "gid_index", AMemlock: "memlock", AModules: "modules", AConsumers: "consumers",
	AInterop: "interop", AReordering: "reordering", AQPs: "qps", ACrossRail: "cross_rail", AAdaptive: "adaptive", AOverlay: "overlay", AEVPN: "evpn",
	ADeny: "deny", ASparePorts: "spare_ports", AAdmin: "admin",
	AConnection: "connection", APort: "port", AUser: "user", AIdentity: "identity", AAgent: "agent", APasswordEnv: "password_env",
	APasswordCommand: "password_command", AEnableEnv: "enable_env", AJump: "jump", AKnownHosts: "known_hosts", AHostKey: "host_key",
	ABackend: "backend", ARemote: "remote", ABranch: "branch", APush: "push", AUpdateMethod: "update_method", ALockAddress: "lock_address", ALockMethod: "lock_method",
	AUnlockAddress: "unlock_address", AUnlockMethod: "unlock_method", AUsernameEnv: "username_env", ABucket: "bucket", ARegion: "region", AEndpoint: "endpoint", APrefix: "prefix", APathStyle: "path_style",
	ASTP: "stp", AARPTimeout: "arp_timeout", AMACTimeout: "mac_timeout",
	AObserved: "observed", AECNColors: "ecn_colors",
}
