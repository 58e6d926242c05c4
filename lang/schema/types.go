package schema

// Shapes of values that several blocks share.

// inLink says of an attribute of a tier where it is written.
const inLink = "written in the `link` block of the tier"

func str() Type                 { return Type{Base: String} }
func boolean() Type             { return Type{Base: Bool} }
func enum(words ...string) Type { return Type{Base: String, Enum: words} }
func number(lo, hi int64) Type  { return Type{Base: Int, Min: lo, Max: hi} }
func ref(kinds ...Kind) Type    { return Type{Base: Ref, Refs: kinds} }
func refs(kinds ...Kind) Type   { return Type{Base: Ref, Refs: kinds, Many: true} }
func many(t Type) Type          { t.Many = true; return t }
func object(f ...AttrDef) Type  { return Type{Base: Object, Fields: f} }
func mapOf(key, elem Type) Type { return Type{Base: Map, Key: &key, Elem: &elem} }
func or(t Type, w ...string) Type {
	t.Words = append(t.Words[:len(t.Words):len(t.Words)], w...)
	return t
}

// kept is a type of what is written to devices: "keep" leaves alone what is there, even where something around writes it.
func kept(t Type) Type { return or(t, "keep") }

// was is a type that took a word in earlier editions for which another one, or a list without elements, is written now.
func was(t Type, word, now string) Type {
	t.Was = map[string]string{word: now}
	return t
}

func attr(n Attr, t Type, doc string) AttrDef { return AttrDef{Num: n, Type: t, Doc: doc} }

// seen is an attribute that says what was found: a field of the block's `observed`.
func seen(n Attr, t Type, doc string) AttrDef {
	return AttrDef{Num: n, Type: t, Doc: doc, Observed: true}
}

func required(n Attr, t Type, doc string) AttrDef {
	return AttrDef{Num: n, Type: t, Doc: doc, Required: true}
}

// renamed is attr for what had another name in an earlier edition.
func renamed(n Attr, former string, t Type, doc string) AttrDef {
	return AttrDef{Num: n, Type: t, Doc: doc, Former: []string{former}}
}

var (
	priority = number(0, 7)
	speed    = Type{Base: Speed}
	length   = Type{Base: Length}
	duration = Type{Base: Time}
	size     = Type{Base: Bytes}
	mtu      = number(576, 16000)
	vlanID   = number(1, 4094)
	fec      = kept(was(enum("rs", "fc", "off", "auto"), "none", "off"))
	admin    = kept(enum("up", "down"))
	address  = kept(was(many(Type{Base: CIDR}), "none", "[]"))
	untagged = or(ref(Segment), "off", "keep")
	routes   = or(str(), "off")
	percent  = Type{Base: Percent, Min: 0, Max: 100}

	// described is on every block that has an address.
	described = attr(ADescription, str(), "what it is, for people: `explain` and `doc` show it, and nothing is emitted")

	dcbx = or(object(
		attr(AMode, enum("off", "advertise", "willing"), "who decides: nobody, this end, or the other end"),
		attr(AVersion, enum("ieee", "cee"), "the DCBX version spoken"),
		attr(AOwner, many(enum("os", "firmware", "lldpad")), "the agent on a host that speaks it; several where that is found"),
	), "off", "advertise", "willing", "keep")

	ecn = or(object(ecnFields...), "auto", "off", "keep")

	ecnFields = []AttrDef{
		attr(AMin, or(size, "auto"), "queue length at which marking starts"),
		attr(AMax, or(size, "auto"), "queue length from which every packet is marked"),
		attr(AProbability, or(Type{Base: Percent, Min: 1, Max: 100}, "auto"), "marking probability at max, in percent"),
	}

	// ecnFound is the marking of a device or port. Which colours it marks was written in it once.
	ecnFound = or(object(join(ecnFields, []AttrDef{attr(AColors, colors, "what `observed` says as ecn_colors")})...), "auto", "off", "keep")

	colors = many(enum("green", "yellow", "red"))

	// markedColors is the rest of what is known of the marking of a switch or port.
	markedColors = seen(AECNColors, colors, "colours of packets that are marked with ECN (all)")

	// macsec is what is known of encryption on a link or port: rocec writes none.
	macsec = or(object(
		attr(APFCFrames, enum("clear", "protected"), "whether PFC frames are sent in clear or encrypted with the rest"),
	), "on", "off")

	remark = mapOf(Type{Base: DSCP}, Type{Base: DSCP})

	watchdog = or(object(
		attr(ADetect, duration, "pause time after which a queue counts as stuck"),
		attr(ARestore, duration, "time without pause after which the queue is served again"),
		attr(APoll, duration, "how often the device looks"),
		attr(AAction, enum("drop", "forward", "alert"), "what happens to the stuck queue"),
	), "auto", "off", "keep")

	classBuffer = object(
		attr(AAlpha, Type{Base: Alpha}, "dynamic threshold of the lossless priority group, a number or \"1/8\""),
		attr(AHeadroom, size, "bytes reserved per port for what arrives after the pause"),
		attr(AXon, size, "fill level at which the pause ends"),
	)

	match = object(
		attr(ANetDirectPort, number(1, 65535), "NetworkDirect port of the service (Windows: 445 for SMB Direct)"),
		attr(ATCPPort, number(1, 65535), "TCP destination port"),
		attr(AUDPPort, number(1, 65535), "UDP destination port"),
	)

	cable = object(
		attr(AMediaName, str(), "a `media` block: \"dac\", \"aoc\", \"sr\", \"dr\", \"fr\", \"lr\"; NetBox's words are understood: \"dac-passive\", \"mmf-om4\", \"smf-os2\", \"cat6a\""),
		attr(ALength, length, "length, which headroom follows"),
		attr(ADelay, Type{Base: Delay, Max: 1e9}, "extra one-way delay of equipment in the path"),
	)

	hash = object(
		attr(AFunction, str(), "hash function over flows, in the words of the OS: \"CRC\", \"XOR\", \"CRC_32LO\" of SONiC"),
		attr(ASeed, number(0, 1<<32-1), "seed; tiers that follow each other have different ones"),
	)

	// place is what is known of a generated switch, written on one by hand. Its
	// fields are those of a switch in a topology.
	place = object(
		attr(ATier, enum("leaf", "spine", "core"), "rank of the switch, from the nodes up; needed"),
		attr(AIndex, number(0, MaxTier-1), "position in the tier, from 0"),
		attr(AGroup, number(0, MaxTier-1), "group of nodes that a leaf serves"),
		attr(APlane, number(0, MaxTier-1), "plane of the fabric"),
		attr(ARail, number(0, MaxTier-1), "rail that a leaf serves"),
		attr(APod, number(0, MaxTier-1), "pod under a core"),
	)

	switchBuffer = object(
		attr(AShared, size, "shared pool"), attr(AHeadroom, size, "shared headroom pool"),
		attr(AAlpha, Type{Base: Alpha}, "dynamic threshold of lossless groups"),
		attr(AMaxOversubscription, Type{Base: Number}, "most that all lossless groups together may need for each byte of the shared headroom pool: 2, 1.5; nothing is emitted"),
	)

	pools = object(
		attr(AIngress, size, "pool that all received traffic shares"), attr(AHeadroom, size, "shared headroom pool beside it"),
		attr(AEgressLossy, size, "most of the memory that lossy traffic may take on its way out"),
		attr(AEgressLossless, size, "static threshold of lossless traffic on its way out"),
	)

	// deviations are what a device, port or NIC may restate: other than its qos has it, and written so where rocec writes it.
	deviations = []AttrDef{
		attr(ATrust, or(enum("dscp", "pcp", "none"), "keep"), "which mark classifies a frame"),
		attr(ADSCPMap, kept(mapOf(Type{Base: DSCP}, priority)), "DSCP to priority; the rest follows the qos"),
		attr(APCPMap, kept(mapOf(number(0, 7), priority)), "PCP to priority"),
		attr(AQueueMap, kept(mapOf(priority, number(0, 15))), "priority to egress queue"),
		attr(AGroupMap, kept(mapOf(priority, number(0, 15))), "priority to priority group"),
		attr(APFC, or(many(priority), "keep"), "priorities with PFC"),
		attr(APFCQueueMap, kept(mapOf(priority, number(0, 15))), "priority of a received PFC frame to the queue it stops"),
		renamed(APause, "pause", kept(boolean()), "802.3x global pause"),
		seen(APFCDirection, enum("both", "receive", "send"), "\"receive\": pauses are honoured and none are sent, \"send\": the reverse (\"both\"); only where rocec does not write the port"),
		attr(AETS, kept(mapOf(number(0, 7), or(percent, "strict"))), "traffic class to ETS percent or \"strict\""),
		attr(ADCBX, dcbx, "DCBX on this device or port"),
		attr(AECN, ecnFound, "ECN of every class that marks, on this device or port"),
		attr(AHeadroom, Type{Base: Bytes, Words: []string{"keep"}, Key: &Type{Base: String}, Elem: &Type{Base: Bytes}}, "headroom of every lossless class of this port; a map by class name gives each its own"),
		attr(AWatchdog, watchdog, "PFC watchdog of this device or port"),
	}

	// deviceAttrs are common to switches and nodes.
	deviceAttrs = []AttrDef{
		attr(AName, str(), "the device's name, instead of the label or key"), described,
		attr(AOS, str(), "operating system and lowest version: \"sonic/202405\", \"windows-server/2025\", \"ubuntu/24.04\""),
		attr(AMgmt, str(), "management address or name; a way in, never emitted"),
		attr(AConnection, ref(Connection), "how it is reached: a `connection` block, evaluated for it. Commands that contact devices then go to it, unless its `target` says otherwise; never emitted"),
		attr(AManage, enum("full", "verify", "none"), "full: rocec writes it; verify: proven and compared, never written; none: taken as declared"),
		attr(ARack, str(), "rack the device stands in"),
		attr(ASite, str(), "building or campus the device stands in; nothing is emitted"),
		attr(AVars, Type{Base: Any}, "free values for expressions: `self.vars`"),
	}

	// switchAttrs are common to written and to generated switches.
	switchAttrs = []AttrDef{
		attr(AModel, str(), "a `switch_model`: \"nvidia/sn5600\""),
		attr(ARole, str(), "free word shared by switches that should be alike"),
		attr(AQoS, or(ref(QoS), "keep"), "qos of every port"),
		attr(AMTU, kept(mtu), "IP MTU of every port"),
		attr(ABuffer, kept(switchBuffer), "packet buffer of the switch"),
		attr(AFirmware, str(), "expected firmware: a version, \"28.43.*\" or conditions such as \">= 28.43, < 29\"; compared where a capture shows it, never installed"),
		attr(AHash, kept(hash), "how flows are spread over links of equal cost"),
		attr(ASparePorts, kept(enum("shut")), "\"shut\" shuts down the ports of the model that no block names and no cable uses"),
		seen(APools, pools, "packet buffer of the device, where `buffer` does not write it; compared with each other and with the model"),
		seen(ASTP, enum("off", "stp", "rstp", "mstp", "pvst"), "spanning tree"),
		attr(AARPTimeout, kept(duration), "how long an ARP entry lives without an answer: \"4h\""),
		attr(AMACTimeout, kept(duration), "how long a learned MAC address lives without traffic: \"30m\""),
		seen(ARemark, remark, "DSCP that policers and remark rules of every port write, by the DSCP that comes in; only where rocec does not write the switch"),
		seen(ASemiLossless, boolean(), "the switch honours pauses and passes none on; only where rocec does not write the switch"),
		markedColors,
	}

	// tierAttrs are common to the tiers of a topology.
	tierAttrs = join([]AttrDef{
		attr(ACount, number(1, MaxTier), "how many switches are generated"),
		attr(ASwitches, refs(Switch), "switches written elsewhere that play this tier, in index order; in place of `count`"),
	}, deviceAttrs, switchAttrs, []AttrDef{
		attr(ACable, cable, inLink),
		attr(ASpeed, kept(speed), inLink),
		attr(AFEC, fec, inLink),
		attr(AAutoneg, kept(boolean()), inLink),
		seen(AMACsec, macsec, "encryption of the links below, as it is set on both ends"),
		attr(ALoopback, Type{Base: CIDR}, "address of the loopback; of a longer prefix, each switch has the one at its index"),
		attr(AVRF, routes, "routing table of the ports of this tier; \"default\" is that of the device itself"),
	})

	// linkAttrs are what a link says of both its ends.
	linkAttrs = []AttrDef{
		attr(ACable, cable, "the cable"),
		attr(ASpeed, kept(speed), "speed of both ends"),
		attr(AFEC, fec, "forward error correction of both ends"),
		attr(AAutoneg, kept(boolean()), "auto-negotiation of both ends"),
	}

	// hostFound is what a host may do to RDMA traffic where rocec does not write it.
	hostFound = []AttrDef{
		seen(AToS, number(0, 255), "ToS byte that the host writes into RDMA traffic: DSCP x 4, and 2 more for ECT; only where rocec does not write the host"),
		seen(ADCQCN, many(priority), "priorities on which the NIC sends CNPs and slows down for them; only where rocec does not write the host"),
	}

	// portAttrs are common to switch ports and NICs.
	portAttrs = []AttrDef{
		attr(AAdmin, admin, "administrative state"),
		attr(ASpeed, kept(speed), "speed of the port"),
		attr(AFEC, fec, "forward error correction"),
		attr(AAutoneg, kept(boolean()), "auto-negotiation"),
		attr(AExternal, boolean(), "the peer is not of this fabric and not trusted"),
		attr(AManage, enum("full", "verify", "none"), "who writes this port"),
		attr(AQoS, or(ref(QoS), "keep"), "the qos of the port; \"keep\" leaves the vendor's default"),
		renamed(ASegments, "segments", kept(refs(Segment)), "segments carried tagged"),
		renamed(ANative, "native", untagged, "the segment carried untagged"),
		attr(AMTU, kept(mtu), "IP MTU; on a bridged switch port a floor"),
		attr(ACable, cable, "of the link on this port: as good as in the link block, and before what a tier, an mlag, a `default_cable` or defaults say; what one leaves out the other fills in, and two that differ are an error"),
	}
)

func join(lists ...[]AttrDef) []AttrDef {
	var out []AttrDef
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
