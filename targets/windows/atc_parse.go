package windows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/targets"
)

// atcParse turns a capture into what could be observed: the state of adapters
// and tables as netqos reads it. Intents have no place of their own in a
// device; one that is missing, differs or has failed is a finding.
func atcParse(d *intent.Device, c targets.Captured) (*intent.Device, diag.List) {
	file := captureOf{c, atcReadBack}
	o, list := observe(d, file)
	if o == nil {
		return nil, list
	}
	intents := atcIntents(d)
	for i := range intents {
		if summary := o.intent(&intents[i]); summary != "" {
			list.Add(file.finding(0, 0, diag.Warning, summary, "run "+atcApplyFile+" on a node of the cluster"))
		}
	}
	for _, r := range o.s.IntentStatus {
		if strings.HasPrefix(string(r.ConfigurationStatus), "Fail") {
			list.Add(file.finding(0, 0, diag.Warning, fmt.Sprintf("Network ATC failed intent %q on %s: %s", string(r.IntentName), string(r.Host), string(r.Error)),
				"remove the cause, then run Set-NetIntentRetryState"))
		}
	}
	o.atcOptions()
	return o.got, list
}

// intent says what is wrong with an intent, "" if nothing is.
func (o *observer) intent(want *atcIntent) string {
	at := slices.IndexFunc(o.s.Intents, func(r intentRow) bool { return sameName(r.Name, want.name) })
	if at < 0 {
		return fmt.Sprintf("the cluster of node %q has no intent %q", o.want.Name, want.name)
	}
	r := o.s.Intents[at]
	var adapters, types []string
	for _, p := range want.adapters {
		adapters = append(adapters, p.Name)
	}
	var have []string
	for _, a := range r.Adapters {
		have = append(have, o.wantedName(a))
	}
	for _, t := range r.Types {
		types = append(types, string(t))
	}
	switch {
	case !sameSet(adapters, have):
		return fmt.Sprintf("intent %q holds %s, want %s", want.name, strings.Join(have, ", "), strings.Join(adapters, ", "))
	case !sameSet(types, want.types()):
		return fmt.Sprintf("intent %q is of %s, want %s", want.name, strings.Join(types, ", "), strings.Join(want.types(), ", "))
	}
	for _, x := range atcOverrides(o.want, want) {
		value := ""
		for _, h := range r.Overrides {
			if string(h.Kind) == x.kind && string(h.Name) == x.name {
				value = string(h.Value)
			}
		}
		if !strings.EqualFold(value, strings.Trim(x.value, "'$")) {
			return fmt.Sprintf("intent %q overrides %s by %q, want %s", want.name, x.name, value, strings.Trim(x.value, "'$"))
		}
	}
	return ""
}

// atcOptions are the settings of the cluster.
func (o *observer) atcOptions() {
	if name := atcOption(o.want, optionCluster); name != "" {
		o.option(optionCluster, string(o.s.Cluster))
		if sameName(o.s.Cluster, name) {
			o.option(optionCluster, name)
		}
	}
	for _, x := range []struct{ option, property, unset string }{
		{optionTransport, "VirtualMachineMigrationPerformanceOption", "keep"},
		{optionBandwidth, "MaximumSMBMigrationBandwidthInGbps", "0"},
		{optionMigrations, "MaximumVirtualMachineMigrations", "0"},
	} {
		if atcOption(o.want, x.option) == x.unset {
			continue
		}
		value := x.unset
		for _, r := range o.s.GlobalOverrides {
			if string(r.Name) == x.property && r.Value != "" {
				value = strings.ToLower(string(r.Value))
			}
		}
		o.option(x.option, value)
	}
}
