package windows

import (
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/targets"
)

// atcReadBack is what a capture is kept as.
const atcReadBack = "network-atc.json"

// Names of options.
const (
	optionCluster    = "cluster_name"
	optionIntent     = "storage_intent"
	optionBandwidth  = "live_migration_gbps"
	optionMigrations = "live_migrations"
)

var atcOptions = []targets.Option{
	{
		Name: optionCluster, Kind: targets.OptionString,
		Doc: "the failover cluster that this node must be in; without it the intents are those of the cluster that the node is in",
	},
	{
		Name: optionIntent, Kind: targets.OptionString, Default: "Storage",
		Doc: "name of the intent of the RDMA nics that are in no bond; the intent of a bond has the bond's name",
	},
	{
		Name: optionTransport, Kind: targets.OptionEnum, Values: []string{"keep", "smb", "compression", "tcpip"}, Default: "keep",
		Doc: "how the cluster moves the memory of virtual machines; keep leaves the choice to Network ATC",
	},
	{
		Name: optionBandwidth, Kind: targets.OptionNumber, Default: "0",
		Doc: "Gbit/s that live migration over SMB may use; 0 leaves it to Network ATC, which reckons it from the adapters",
	},
	{
		Name: optionMigrations, Kind: targets.OptionNumber, Default: "0",
		Doc: "live migrations at the same time, 1 to 10; 0 leaves it to Network ATC, whose default is 1",
	},
	restartOption,
}

// NetworkATC is the emitter for hosts that Network ATC configures.
var NetworkATC = targets.Target{
	Name:       "network-atc",
	Title:      "Network ATC intents with overrides for Azure Local and Windows Server 2025 clusters",
	OS:         []string{"azure-local", "windows-server"},
	Kinds:      []intent.Kind{intent.Node},
	Versions:   "Azure Local 2311.2 and later, Windows Server 2025",
	Options:    atcOptions,
	Features:   atcFeatures,
	Limits:     atcLimits,
	Shared:     atcShared,
	Emit:       atcWrite,
	Written:    atcWritten,
	Left:       left,
	Probes:     []targets.Probe{{File: atcReadBack, Command: run + captureFile}},
	Capture:    captureFile,
	Health:     &health,
	Parse:      atcParse,
	Impact:     atcImpact,
	Observable: atcObservable,
	Live:       live(atcKit),
	Sources: []string{
		"MicrosoftDocs/windowsserverdocs networking/network-atc/network-atc, manage-network-atc",
		"MicrosoftDocs/windows-powershell-docs docset/winserver2025-ps NetworkATC",
		"Azure/AzureLocal-Supportability TSG/Networking: change of the storage RDMA transport, merged cluster networks, ToR QoS reference",
		"MicrosoftDocs/azure-stack-docs azure-local/concepts/host-network-requirements",
		"AzStackHci.EnvironmentChecker (PowerShell Gallery): names of switches and vNICs, properties of Get-NetIntent",
	},
}

// atcImpact says that Network ATC restarts adapters on every node at once, which is
// why no intent changes in a session unless that was allowed.
func atcImpact(d *intent.Device, c targets.Change) targets.Impact {
	i := atcChange(c)
	if i.Interrupts && i.Note == everywhere {
		if i.Withheld = d.Options[optionRestart] != "true"; i.Withheld {
			i.Note = alone(everywhere)
		}
	}
	return i
}

const everywhere = "Network ATC restarts the adapters of the intent on every node of the cluster"

func atcChange(c targets.Change) targets.Impact {
	switch c.Path.Object {
	case intent.OfPort:
		switch c.Path.Field {
		case "roce_mode", "model":
			return targets.Impact{Interrupts: true, Note: "the RDMA technology of the whole cluster changes: storage must be offline"}
		case "mtu", "segments", "rdma", "qos", "":
			return targets.Impact{Interrupts: true, Note: everywhere}
		case "name", "pci", "mac":
			return targets.Impact{Note: "the adapter is renamed, which no intent that owns it survives"}
		}
	case intent.OfLAG:
		return targets.Impact{Interrupts: true, Note: everywhere}
	case intent.OfIface:
		switch c.Path.Field {
		case "address":
			return targets.Impact{Interrupts: true, Note: "connections on the old address end"}
		case "segment", "mtu", "rdma", "":
			return targets.Impact{Interrupts: true, Note: everywhere}
		}
	case intent.OfQoS:
		return targets.Impact{Interrupts: true, Note: everywhere}
	}
	return targets.Impact{}
}

// atcObservable says which fields the read-back shows: what netqos shows, since
// Network ATC sets by the same means, but the names that it gives itself.
func atcObservable(d *intent.Device, p intent.Path) bool {
	if p.Object == intent.OfOption {
		return p.Name != optionIntent && p.Name != optionRestart
	}
	return observable(d, p)
}

// atcIntent is one intent of Network ATC: what a set of adapters is used for.
type atcIntent struct {
	name       string
	at         intent.Path
	manage     bool
	management bool
	compute    bool
	storage    bool
	adapters   []*intent.Port
	vlans      []uint16 // of storage, by adapter
	mgmtVLAN   int      // -1 where there is no management network
	// static: storage addresses are written, so Network ATC must give none.
	static bool
}

// types are the words of Add-NetIntent.
func (a *atcIntent) types() []string {
	var words []string
	for _, t := range []struct {
		on   bool
		word string
	}{{a.management, "Management"}, {a.compute, "Compute"}, {a.storage, "Storage"}} {
		if t.on {
			words = append(words, t.word)
		}
	}
	return words
}

// atcIntents are the intents of a host: one of the RDMA adapters outside of
// teams, and one for each team.
func atcIntents(d *intent.Device) []atcIntent {
	var list []atcIntent
	direct := atcIntent{
		name: atcOption(d, optionIntent), at: intent.Path{Object: intent.OfOption, Name: optionIntent}, storage: true, mgmtVLAN: -1,
	}
	for i := range d.Ports {
		p := &d.Ports[i]
		if teamMember(d, p.Name) || !portRDMA(d, p).Value {
			continue
		}
		id, _ := vlanID(d, p)
		direct.adapters, direct.vlans = append(direct.adapters, p), append(direct.vlans, id)
		direct.manage = direct.manage || !p.Verify
	}
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		direct.static = direct.static || f.Kind == intent.Direct && len(f.Addresses.Or(nil)) > 0 && ifaceRDMA(d, f)
	}
	if len(direct.adapters) > 0 {
		list = append(list, direct)
	}
	for i := range d.LAGs {
		list = append(list, atcTeam(d, &d.LAGs[i]))
	}
	return list
}

// atcTeam is the intent of a SET team. Its virtual switch makes it a compute
// intent, what stands on it the rest.
func atcTeam(d *intent.Device, l *intent.LAG) atcIntent {
	a := atcIntent{name: l.Name, at: intent.Path{Object: intent.OfLAG, Name: l.Name, Field: "name"}, compute: true, mgmtVLAN: -1}
	for _, m := range l.Members {
		p := d.PortNamed(m)
		if p == nil {
			continue
		}
		a.adapters = append(a.adapters, p)
		a.manage = a.manage || !p.Verify
	}
	for i := range d.Ifaces {
		f := &d.Ifaces[i]
		if f.Kind != intent.VNIC || f.On != l.Name {
			continue
		}
		if f.RDMA {
			a.storage = true
			a.static = a.static || len(f.Addresses.Or(nil)) > 0
		} else {
			a.management, a.mgmtVLAN = true, int(vnicVLAN(d, f))
		}
	}
	if !a.storage {
		return a
	}
	for _, p := range a.adapters {
		id := uint16(0)
		for i := range d.Ifaces {
			if f := &d.Ifaces[i]; f.Kind == intent.VNIC && f.RDMA && f.On == l.Name && f.Pin == p.Name {
				id = vnicVLAN(d, f)
			}
		}
		a.vlans = append(a.vlans, id)
	}
	return a
}

// atcAlias is what Network ATC calls an interface (AzStackHci.EnvironmentChecker;
// windowsserverdocs shows the same in its samples).
func atcAlias(f *intent.Iface) string {
	switch {
	case f.Kind == intent.Direct:
		return f.On
	case f.RDMA:
		return "vSMB(" + f.On + "#" + f.Pin + ")"
	}
	return "vManagement(" + f.On + ")"
}

// taken reports whether Network ATC takes the address of an interface over from
// an adapter: rocec must not set it.
func taken(f *intent.Iface) bool { return f.Kind == intent.VNIC && !f.RDMA }

func atcOption(d *intent.Device, name string) string {
	for _, o := range atcOptions {
		if o.Name == name {
			return strings.TrimSpace(o.Value(d))
		}
	}
	return ""
}

// atcShared are the intents and the settings of the cluster: the last node that
// applied others would win, on every node.
func atcShared(d *intent.Device) []targets.Shared {
	var list []targets.Shared
	intents := atcIntents(d)
	for i := range intents {
		a := &intents[i]
		put := func(what, value string, at intent.Path) {
			list = append(list, targets.Shared{What: what + " of intent " + a.name, Value: value, Path: at})
		}
		names := make([]string, len(a.adapters))
		for j, p := range a.adapters {
			names[j] = p.Name
		}
		at := a.at
		if !a.compute {
			at = intent.Path{Object: intent.OfPort, Name: names[0], Field: "name"}
		}
		put("adapters", strings.Join(names, ", "), at)
		put("types", strings.Join(a.types(), ", "), a.at)
		if a.storage {
			put("storage VLANs", joined(a.vlans), intent.Path{Object: intent.OfPort, Name: names[0], Field: "segments"})
		}
		if a.management {
			put("management VLANs", strconv.Itoa(a.mgmtVLAN), a.at)
		}
		for _, o := range atcOverrides(d, a) {
			put("overrides of "+o.name, strings.Trim(o.value, "'$"), o.at)
		}
	}
	for _, o := range atcGlobal(d) {
		list = append(list, targets.Shared{What: "settings of " + o.name, Value: strings.Trim(o.value, "'$"), Path: o.at})
	}
	return list
}
