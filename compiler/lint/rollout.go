package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/intent"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
)

// rolled is four hosts on one switch and the order of their changes.
func rolled(rollout, waves string) string {
	return fourNodes(``, ``) + "rollout {\n  " + rollout + "\n" + waves + "}\n"
}

const (
	canaryWave = "  wave \"canary\" {\n    select = node.n[\"n1\"]\n    soak   = \"15m\"\n    gate   = [\"verify\"]\n  }\n"
	restWave   = "  wave \"rest\" {\n    group_by = \"device\"\n  }\n"
)

var roce902 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE902", Name: "plan_mismatch", Severity: diag.Error,
		Title:  "the two ends of a link differ for longer than the rollout allows",
		Why:    "while one end has the new priorities and the other the old ones, pauses stop the wrong queue",
		Fix:    "put both ends into one wave, shorten the soak, or allow more time",
		Source: "IEEE 802.1Q-2018, 36.1 (PFC works where both ends of a link have it); house limit: max_mismatch of the rollout",
		Bad:    rolled(`max_mismatch = "10m"`, canaryWave+restWave),
		Good:   rolled(`max_mismatch = "20m"`, canaryWave+restWave),
	},
	Run: mismatchedFor,
}

func mismatchedFor(p *Pass) {
	f := p.Fabric
	out := &f.Rollout
	if out.Decl == 0 || !out.MismatchSet {
		return
	}
	type pair struct{ first, second int }
	type worst struct {
		count int
		ms    uint64
		link  fabric.LinkID
	}
	found := map[pair]worst{}
	begins := watchedBefore(f)
	for l := fabric.LinkID(1); int(l) < len(f.Links); l++ {
		a, b := p.End(f.Links[l].A), p.End(f.Links[l].B)
		wa, wb := out.Of[a.Port.Device], out.Of[b.Port.Device]
		if wa == 0 || wb == 0 || !p.Lossless(a) || !p.Lossless(b) || a.Port.Manage != fabric.Full || b.Port.Manage != fabric.Full {
			continue
		}
		one, other := begins[a.Port.Device], begins[b.Port.Device]
		ms := max(one, other) - min(one, other)
		if ms <= uint64(out.MaxMismatchMs) {
			continue
		}
		k := pair{min(wa, wb), max(wa, wb)}
		x := found[k]
		if x.count++; ms > x.ms {
			x.ms, x.link = ms, l
		}
		found[k] = x
	}
	for _, k := range slices.SortedFunc(maps.Keys(found), func(a, b pair) int { return cmp.Or(a.first-b.first, a.second-b.second) }) {
		x := found[k]
		a, b := p.End(f.Links[x.link].A), p.End(f.Links[x.link].B)
		what := fmt.Sprintf("the ends of the link between %s and %s", p.Name(a), p.Name(b))
		if n := x.count; n > 1 {
			what += " and of " + others(n-1)
		}
		first, second := &out.Waves[k.first-1], &out.Waves[k.second-1]
		why := fmt.Sprintf("wave %s is watched before wave %s begins", f.Text(first.Name), f.Text(second.Name))
		labels := []diag.Label{f.Label(out.Decl, 0, schema.AMaxMismatch, ""), f.Label(first.Decl, 0, schema.ASoak, "the soak")}
		if k.first == k.second {
			why = fmt.Sprintf("each part of wave %s is watched before the next one begins", f.Text(first.Name))
		} else {
			labels = append(labels, f.DeclLabel(second.Decl, "the later wave"))
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s differ for %s, %s is allowed: %s", what, Millis(x.ms), Millis(uint64(out.MaxMismatchMs)), why),
			Address: f.LinkAddress(x.link), Concerns: []string{f.PortAddress(a.ID), f.PortAddress(b.ID)},
			Labels: labels, Help: "put both ends into one wave, shorten the soak, or allow more time",
		})
	}
}

// watchedBefore is for how long, in milliseconds, parts of waves are watched before a
// device's turn comes, when all that is managed changes.
func watchedBefore(f *fabric.Fabric) []uint64 {
	out := &f.Rollout
	parts := make([]map[string]int, len(out.Waves))
	managed := func(yield func(fabric.DeviceID, int) bool) {
		for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
			if w := out.Of[d]; w > 0 && f.Devices[d].Manage == fabric.Full && !yield(d, w-1) {
				return
			}
		}
	}
	for d, w := range managed {
		if parts[w] == nil {
			parts[w] = map[string]int{}
		}
		parts[w][f.WaveGroup(&out.Waves[w], d)] = 0
	}
	first := make([]uint64, len(out.Waves))
	for w := range parts {
		for i, name := range slices.SortedFunc(maps.Keys(parts[w]), intent.Natural) {
			parts[w][name] = i
		}
		if w > 0 {
			first[w] = first[w-1] + uint64(len(parts[w-1]))*uint64(out.Waves[w-1].SoakMs)
		}
	}
	begins := make([]uint64, len(f.Devices))
	for d, w := range managed {
		begins[d] = first[w] + uint64(parts[w][f.WaveGroup(&out.Waves[w], d)])*uint64(out.Waves[w].SoakMs)
	}
	return begins
}

// Millis shows a time as people say it.
func Millis(ms uint64) string {
	switch {
	case ms >= 3600_000 && ms%3600_000 == 0:
		return fmt.Sprintf("%d h", ms/3600_000)
	case ms >= 60_000 && ms%60_000 == 0:
		return fmt.Sprintf("%d min", ms/60_000)
	case ms >= 1000 && ms%1000 == 0:
		return fmt.Sprintf("%d s", ms/1000)
	}
	return fmt.Sprintf("%d ms", ms)
}

var roce906 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE906", Name: "plan_share", Severity: diag.Error, Fixable: true,
		Title: "more devices of a role change together than the rollout allows",
		Why: "a wrong setting is on all of them before anybody sees it on one. Switches that are the whole of their role and cabled to each other may change together " +
			"where the rollout has max_mismatch: ROCE902 wins, as ends that differ do harm at once",
		Fix:    "split the wave, or group it",
		Source: "Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 6; house limit: max_share of the rollout",
		Bad:    rolled(`max_share = 50`, canaryWave+"  wave \"rest\" {}\n"),
		Good:   rolled(`max_share = 50`, canaryWave+restWave),
	},
	Run: shareOfRole,
}

func shareOfRole(p *Pass) {
	f := p.Fabric
	out := &f.Rollout
	if out.Decl == 0 || out.MaxSharePercent == 0 {
		return
	}
	type part struct {
		wave  int
		group string
		role  alikeKey
	}
	of := map[alikeKey]int{}
	together := map[part]int{}
	one := map[part]fabric.DeviceID{}
	var order []part
	for d := fabric.DeviceID(1); int(d) < len(f.Devices); d++ {
		dev := &f.Devices[d]
		if out.Of[d] == 0 || dev.Manage != fabric.Full {
			continue
		}
		role := p.roleKey(dev)
		of[role]++
		k := part{out.Of[d], f.WaveGroup(&out.Waves[out.Of[d]-1], d), role}
		if together[k]++; together[k] == 1 {
			order = append(order, k)
			one[k] = d
		}
	}
	said := map[part]bool{} // by wave and role: the parts of a wave are alike
	for _, k := range order {
		n, all := together[k], of[k.role]
		if n < 2 || n*100 <= all*int(out.MaxSharePercent) {
			continue // one device alone cannot be split
		}
		if p.changesTogether(k.role, n, all) {
			continue
		}
		if whole := (part{wave: k.wave, role: k.role}); said[whole] {
			continue
		} else {
			said[whole] = true
		}
		wave := &out.Waves[k.wave-1]
		in := "wave " + f.Text(wave.Name)
		if k.group != "" {
			in += ", " + k.group + ","
		}
		p.Report(diag.Diagnostic{
			Summary: fmt.Sprintf("%s changes %d of %d devices of %s together, %d %% are allowed", in, n, all, p.roleName(&f.Devices[one[k]]), out.MaxSharePercent), Address: f.Text(f.Devices[one[k]].Address),
			Labels: []diag.Label{f.DeclLabel(wave.Decl, ""), f.Label(out.Decl, 0, schema.AMaxShare, "the limit")}, Help: "split the wave, or write group_by",
			Edits: setAt(f.DeclLabel(wave.Decl, ""), "group_by", `"device"`),
		})
	}
}

var roce907 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE907", Name: "plan_canary", Severity: diag.Warning,
		Title: "nothing is tried on a few devices first",
		Why: "PFC and ECN go wrong under load, hours after the change: what is not tried on one device is tried on all. A pair of switches that has to change together " +
			"(ROCE902) is tried on neither: begin with a host",
		Fix:    "begin with a small wave that has a soak and a gate",
		Source: "Guo et al., SIGCOMM 2016, section 6",
		Bad:    rolled(``, restWave),
		Good:   rolled(``, canaryWave+restWave),
	},
	Run: func(p *Pass) {
		f := p.Fabric
		out := &f.Rollout
		if out.Decl == 0 || len(out.Waves) == 0 {
			return
		}
		// A wave without a device tries nothing.
		index, last := len(out.Waves), 0
		for _, n := range out.Of {
			if n > 0 {
				index, last = min(index, n), max(last, n)
			}
		}
		first := &out.Waves[index-1]
		if last == 0 || last > index && (first.SoakMs > 0 || first.Gates != 0) {
			return
		}
		summary := fmt.Sprintf("wave %s is the first and only one: nothing is tried before", f.Text(first.Name))
		if last > index {
			summary = fmt.Sprintf("wave %s is the first, and nobody watches it: it has no soak and no gate", f.Text(first.Name))
		}
		p.Report(diag.Diagnostic{Summary: summary, Address: fabric.WaveAddress(f.Text(first.Name)), Labels: []diag.Label{f.DeclLabel(first.Decl, "")}, Help: "begin with a small wave that has a soak and a gate"})
	},
}

// changesTogether reports whether devices are the whole of a role and joined by a cable whose ends the
// rollout wants to change within a time: ROCE902 wins then.
func (p *Pass) changesTogether(role alikeKey, n, all int) bool {
	f := p.Fabric
	if n != all || !f.Rollout.MismatchSet {
		return false
	}
	joined := map[fabric.DeviceID]bool{}
	for l := 1; l < len(f.Links); l++ {
		a, b := p.End(f.Links[l].A), p.End(f.Links[l].B)
		if a.Device.Kind == fabric.Switch && b.Device.Kind == fabric.Switch && p.Lossless(a) && p.Lossless(b) && p.roleKey(a.Device) == role && p.roleKey(b.Device) == role {
			joined[a.Port.Device], joined[b.Port.Device] = true, true
		}
	}
	return len(joined) == n
}

// verifyGate are the edits that make a wave without a gate end with a look back.
func (p *Pass) verifyGate(w *fabric.Wave) []diag.Edit {
	if w.Gates != 0 {
		return nil
	}
	return setAt(p.Fabric.DeclLabel(w.Decl, ""), "gate", `["verify"]`)
}

var roce911 = &Rule{
	Rule: diag.Rule{
		ID: "ROCE911", Name: "plan_firmware", Severity: diag.Warning, Fixable: true,
		Title:  "after new firmware, nothing reads the settings back",
		Why:    "new firmware may reset congestion control to its own defaults",
		Fix:    "write gate = [\"verify\"] on the wave",
		Source: "Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024",
		Bad:    rolled(``, "  wave \"canary\" {\n    select   = node.n[\"n1\"]\n    soak     = \"15m\"\n    with_firmware = true\n  }\n"+restWave),
		Good:   rolled(``, "  wave \"canary\" {\n    select   = node.n[\"n1\"]\n    soak     = \"15m\"\n    with_firmware = true\n    gate     = [\"verify\"]\n  }\n"+restWave),
	},
	Run: func(p *Pass) {
		f := p.Fabric
		for i := range f.Rollout.Waves {
			w := &f.Rollout.Waves[i]
			if w.Firmware && w.Gates&fabric.GateVerify == 0 {
				p.Report(diag.Diagnostic{
					Summary: fmt.Sprintf("wave %s brings new firmware, and no gate reads the settings back", f.Text(w.Name)), Address: fabric.WaveAddress(f.Text(w.Name)),
					Labels: []diag.Label{f.Label(w.Decl, 0, schema.AWithFirmware, ""), f.Label(w.Decl, 0, schema.AGate, "")}, Help: `write gate = ["verify"]`,
					Edits: p.verifyGate(w),
				})
			}
		}
	},
}
