package main

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/rocec/rocec/cmd/rocec/internal/jobenv"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/compiler/paths"
	"github.com/rocec/rocec/lang/funcs"
	"github.com/spf13/cobra"
)

// traceFlags are what trace is asked.
type traceFlags struct {
	from, to  string
	class     string
	dscp, pcp string
	env       string
	all, back bool
}

func (a *app) traceCommand() *cobra.Command {
	in := &inputs{}
	o := traceFlags{}
	c := &cobra.Command{
		Use: "trace --from=ADDR --to=ADDR", Short: "One flow, hop by hop: mark, priority, queue, group, PFC, buffer, ECN, MTU", Args: cobra.NoArgs,
		Long: `Follows the packets of one class from one NIC to another over the ways that the
routing has, and shows at each port what they are taken for. Of many ways that
treat them alike the first is shown, with their number. Where a class loses its
treatment, the line says by what. Without --class or a mark, each class that
carries RDMA is followed.

It ends with 1 where no way leads from the one to the other, and with 0 whatever
becomes of the class on a way: that is judged by rocec validate.

--env reads the variables of NCCL and UCX from a file of NAME=VALUE lines or a
shell script of exports, and says which class that traffic really rides.`,
		Example: `  rocec trace --from=node.n[n1] --to=node.n[n2]
  rocec trace --from=n1/rail0 --to=10.100.0.12 --class=rdma --all-paths
  rocec trace --from=n1 --to=n2 --dscp=af31 --both
  rocec trace --from=gpu01 --to=gpu02 --env=job.env`,
		RunE: func(*cobra.Command, []string) error { return a.trace(in, &o) },
	}
	in.flags(c)
	f := c.Flags()
	f.StringVar(&o.from, "from", "", "`ADDRESS` of the NIC or node that sends: as in the source, a name, or an IP address")
	f.StringVar(&o.to, "to", "", "`ADDRESS` of the one that receives")
	f.StringVar(&o.class, "class", "", "`NAME` of a class of the sender's contract")
	f.StringVar(&o.dscp, "dscp", "", "packets with this `DSCP`, by number or name, instead of a class")
	f.StringVar(&o.pcp, "pcp", "", "packets with this `PRIORITY` in their tag, from 0 to 7")
	f.StringVar(&o.env, "env", "", "packets that NCCL and UCX send with the variables in `FILE`")
	f.BoolVar(&o.all, "all-paths", false, "show one way of each shape, not of the first only")
	f.BoolVar(&o.back, "both", false, "show the way back even where it is treated alike")
	return c
}

// asked is one kind of packets to follow.
type asked struct {
	title   string
	class   string      // by name, "" = by mark
	mark    *paths.Mark // nil: that of the class
	because []string
	nics    *jobenv.Traffic // which NICs it uses, nil: no word on that
}

func (a *app) trace(in *inputs, o *traceFlags) error {
	list, err := o.asked()
	if err != nil {
		return err
	}
	p, err := a.load(in, false)
	if err != nil {
		return err
	}
	if !p.loaded() {
		return a.stopOnErrors(p)
	}
	t := p.tracer()
	from, err := t.endpoints(o.from)
	if err != nil {
		return err
	}
	to, err := t.endpoints(o.to)
	if err != nil {
		return err
	}
	var traces []trace
	for _, q := range list {
		more, err := t.follow(q, from, to)
		if err != nil {
			return err
		}
		traces = append(traces, more...)
	}
	if err := a.object(traces, func() error {
		for i := range traces {
			if i > 0 {
				fmt.Fprintln(a.out)
			}
			traces[i].text(a.out, o)
		}
		return nil
	}); err != nil {
		return err
	}
	if i := slices.IndexFunc(traces, func(x trace) bool { return x.Ways == 0 }); i >= 0 {
		return fmt.Errorf("no way leads from %s", traces[i].title)
	}
	return nil
}

// asked says what the flags ask for.
func (o *traceFlags) asked() ([]asked, error) {
	if o.from == "" || o.to == "" {
		return nil, errors.New("name both ends: rocec trace --from=ADDR --to=ADDR")
	}
	if marked := o.dscp != "" || o.pcp != ""; marked && o.class != "" || o.env != "" && (marked || o.class != "") {
		return nil, errors.New("give one of --class, --dscp with --pcp, and --env")
	}
	switch {
	case o.env != "":
		return o.variables()
	case o.dscp != "" || o.pcp != "":
		m := paths.Mark{PCP: -1}
		if o.dscp != "" {
			n, err := funcs.ParseDSCP(o.dscp)
			if err != nil {
				return nil, fmt.Errorf("dscp: %w", err)
			}
			m.DSCP = uint8(n)
		}
		if o.pcp != "" {
			if len(o.pcp) != 1 || o.pcp[0] < '0' || o.pcp[0] > '7' {
				return nil, fmt.Errorf("pcp is a number from 0 to 7, not %q", o.pcp)
			}
			m.PCP = int8(o.pcp[0] - '0')
		}
		return []asked{{mark: &m}}, nil
	}
	return []asked{{class: o.class}}, nil
}

// variables is what NCCL and UCX send with the variables of a file.
func (o *traceFlags) variables() ([]asked, error) {
	text, err := readFile(o.env)
	if err != nil {
		return nil, fmt.Errorf("read variables: %w", err)
	}
	set, err := jobenv.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.env, err)
	}
	found, err := set.Libraries()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.env, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s sets no variable of NCCL or UCX", o.env)
	}
	var list []asked
	for i := range found {
		t := &found[i]
		list = append(list, asked{title: t.Library + " " + t.What, mark: &paths.Mark{DSCP: t.ToS >> 2, PCP: int8(t.Priority)}, because: t.Because, nics: t})
	}
	return list, nil
}

// tracer follows packets through a compiled fabric.
type tracer struct {
	*project
	proof *paths.Composer
	down  *fabric.Mask // what the ways do without; nil: nothing
}

func (p *project) tracer() *tracer { return &tracer{project: p} }

// fan finds ways; what that needs to know of the fabric is made at the first.
func (t *tracer) fan(x paths.Traffic) (*paths.Fan, error) {
	if t.proof == nil {
		t.proof = paths.NewComposer(t.res.Fabric, t.res.Facts)
	}
	return t.proof.Fan(x, t.down)
}

// endpoints are the NICs that an address names: one of them, those of a bond or
// of one node.
func (t *tracer) endpoints(what string) ([]fabric.PortID, error) {
	f := t.res.Fabric
	if ip, err := netip.ParseAddr(what); err == nil {
		return t.byIP(ip)
	}
	nics := portsNamed(f, what)
	if len(nics) == 0 {
		for _, d := range devicesNamed(f, what) {
			first, end := f.PortsOf(d)
			for p := first; p < end; p++ {
				nics = append(nics, p)
			}
		}
	}
	return t.ofOneNode(what, nics)
}

// byIP are the NICs that an address of a host is on.
func (t *tracer) byIP(ip netip.Addr) ([]fabric.PortID, error) {
	f := t.res.Fabric
	for i := 1; i < len(f.Ifaces); i++ {
		row := &f.Ifaces[i]
		if !slices.ContainsFunc(f.Addresses(row), func(p netip.Prefix) bool { return p.Addr() == ip }) {
			continue
		}
		switch {
		case row.Pin != 0:
			return t.ofOneNode(ip.String(), []fabric.PortID{row.Pin})
		case row.OnLAG != 0:
			return t.ofOneNode(ip.String(), f.LAGs[row.OnLAG].Members)
		case row.On != 0:
			return t.ofOneNode(ip.String(), []fabric.PortID{row.On})
		}
	}
	return nil, fmt.Errorf("nothing has the address %s", ip)
}

func (t *tracer) ofOneNode(what string, nics []fabric.PortID) ([]fabric.PortID, error) {
	f := t.res.Fabric
	if len(nics) == 0 {
		return nil, fmt.Errorf("nothing has the address %s%s", what, meant(f, what))
	}
	node := f.Ports[nics[0]].Device
	var list []fabric.PortID
	for _, p := range nics {
		port := &f.Ports[p]
		switch {
		case f.Devices[port.Device].Kind != fabric.Node:
			return nil, fmt.Errorf("%s is a switch, which sends no RDMA: name a node or a NIC", f.Text(f.Devices[port.Device].Name))
		case port.Device != node:
			return nil, fmt.Errorf("%s names several nodes, %s and %s among them: name one", what, f.Text(f.Devices[node].Name), f.Text(f.Devices[port.Device].Name))
		case port.Flags&fabric.IsLAG != 0:
			list = append(list, f.LAGs[port.LAG].Members...)
		case port.Peer != 0:
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no cable", what)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// follow traces what is asked, between the first NICs of both ends that reach
// each other: those of one name, if there are such.
func (t *tracer) follow(q asked, from, to []fabric.PortID) ([]trace, error) {
	f := t.res.Fabric
	var notes []string
	if q.nics != nil {
		from, notes = t.used(from, q.nics)
	}
	var pairs [][2]fabric.PortID
	for _, s := range from {
		for _, d := range to {
			if s != d {
				pairs = append(pairs, [2]fabric.PortID{s, d})
			}
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%s sends nothing to itself", f.PortName(from[0]))
	}
	slices.SortStableFunc(pairs, func(a, b [2]fabric.PortID) int { return t.unlike(a) - t.unlike(b) })
	var wrong error
	var lost []trace // without a way
	for _, pair := range pairs {
		list, err := t.between(q, pair[0], pair[1], notes)
		switch {
		case err == nil && list[0].Ways > 0:
			return list, nil
		case err == nil && lost == nil:
			lost = list
		case wrong == nil:
			wrong = err
		}
	}
	if lost != nil {
		return lost, nil
	}
	return nil, wrong
}

// unlike is 1 for NICs of different names.
func (t *tracer) unlike(pair [2]fabric.PortID) int {
	if f := t.res.Fabric; f.Ports[pair[0]].Name != f.Ports[pair[1]].Name {
		return 1
	}
	return 0
}

// used are the NICs that a library may use, as far as the source knows their
// names.
func (t *tracer) used(nics []fabric.PortID, by *jobenv.Traffic) (list []fabric.PortID, notes []string) {
	f := t.res.Fabric
	if by.GIDIndex >= 0 {
		notes = append(notes, fmt.Sprintf("the GID index is %d: whether that is an address of RoCE v2 of this NIC, only the host knows", by.GIDIndex))
	}
	if len(by.Devices) == 0 {
		return nics, notes
	}
	for _, p := range nics {
		names := []string{f.Text(f.Ports[p].Name)}
		if n := f.Ports[p].NIC; n != 0 {
			names = append(names, f.Text(f.NICs[n].Device))
		}
		if slices.ContainsFunc(by.Devices, func(d string) bool { return slices.Contains(names, d) }) != by.Except {
			list = append(list, p)
		}
	}
	if len(list) == 0 || by.Except && len(list) == len(nics) {
		return nics, append(notes, fmt.Sprintf("the source has no NIC called %s: which of them those are, only the host knows", strings.Join(by.Devices, " or ")))
	}
	return list, notes
}

// between traces what is asked from one NIC to another.
func (t *tracer) between(q asked, from, to fabric.PortID, notes []string) ([]trace, error) {
	f := t.res.Fabric
	if f.Ports[from].Profile == 0 {
		return nil, fmt.Errorf("%s has no qos", f.PortName(from))
	}
	profile := &f.Profiles[f.Ports[from].Profile]
	contract := &f.QoS[profile.QoS]
	var list []trace
	add := func(c paths.Class, m paths.Mark) error {
		x, err := t.one(q, paths.Traffic{From: from, To: to, Class: c, Mark: m})
		if err != nil {
			return err
		}
		x.Notes = append(x.Notes, notes...)
		list = append(list, *x)
		return nil
	}
	if q.mark != nil {
		err := add(paths.Classify(f, profile.QoS, *q.mark, profile.Trust == fabric.TrustPCP), *q.mark)
		return list, err
	}
	for i := range contract.Classes {
		k := &contract.Classes[i]
		if q.class == "" && k.Carries != fabric.CarriesRDMA || q.class != "" && f.Text(k.Name) != q.class {
			continue
		}
		c := paths.Class{QoS: profile.QoS, Index: i}
		if err := add(c, paths.Marks(f, c, profile)); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 && q.class != "" {
		var names []string
		for i := range contract.Classes {
			names = append(names, f.Text(contract.Classes[i].Name))
		}
		return nil, fmt.Errorf("qos %s of %s has no class %s: it has %s", f.Text(contract.Name), f.PortName(from), q.class, strings.Join(names, ", "))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no class of qos %s carries RDMA: name one by --class", f.Text(contract.Name))
	}
	return list, nil
}

// one traces packets and those that come back.
func (t *tracer) one(q asked, x paths.Traffic) (*trace, error) {
	f := t.res.Fabric
	c := &f.QoS[x.Class.QoS].Classes[x.Class.Index]
	fan, err := t.fan(x)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", f.PortName(x.From), f.PortName(x.To), err)
	}
	r := &trace{
		From: f.PortAddress(x.From), To: f.PortAddress(x.To), QoS: f.Text(f.QoS[x.Class.QoS].Name), Class: f.Text(c.Name), Carries: carriesWords[c.Carries], Lossless: c.Lossless,
		Mark: markOf(x.Mark), Traffic: q.title, Because: q.because, title: f.PortName(x.From) + " to " + f.PortName(x.To), declared: !c.Default,
	}
	r.Ways, r.Shapes = fan.Count, t.shapes(fan)
	t.note(r, fan)
	back := x
	back.From, back.To, back.Class = x.To, x.From, paths.Class{}
	p := &f.Profiles[f.Ports[x.To].Profile]
	back.Class = paths.Classify(f, p.QoS, x.Mark, p.Trust == fabric.TrustPCP)
	if q.mark == nil {
		// By name: what answers is marked by its own host.
		for i := range f.QoS[p.QoS].Classes {
			if f.QoS[p.QoS].Classes[i].Name == c.Name {
				back.Class = paths.Class{QoS: p.QoS, Index: i}
				back.Mark = paths.Marks(f, back.Class, &f.Profiles[f.Ports[back.From].Profile])
			}
		}
	}
	if fan, err := t.fan(back); err == nil {
		r.Back = &direction{From: r.To, To: r.From, Mark: markOf(back.Mark), Ways: fan.Count, Shapes: t.shapes(fan), title: f.PortName(x.To) + " to " + f.PortName(x.From)}
		r.BackAlike = r.Mark == r.Back.Mark && alike(r.Shapes, r.Back.Shapes)
	}
	if q.mark != nil && c.Carries != fabric.CarriesRDMA {
		r.Notes = append(r.Notes, fmt.Sprintf("class %s does not carry RDMA: nothing holds this traffic back from loss, or keeps it apart", r.Class))
		if name := unshifted(f, x.From, q.nics); name != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("%d is the whole ToS byte, and so DSCP %d: for DSCP %d, which is class %s, write %d, or %d with ECT", q.nics.ToS, q.nics.ToS>>2, q.nics.ToS, name, q.nics.ToS*4, q.nics.ToS*4+2))
		}
	}
	return r, nil
}

// unshifted names the class that carries RDMA whose DSCP somebody wrote where a
// ToS byte is wanted, "" if there is none.
func unshifted(f *fabric.Fabric, from fabric.PortID, t *jobenv.Traffic) string {
	if t == nil || t.ToS > 63 {
		return ""
	}
	for _, c := range f.QoS[f.Profiles[f.Ports[from].Profile].QoS].Classes {
		if c.Carries == fabric.CarriesRDMA && c.DSCP>>t.ToS&1 != 0 {
			return f.Text(c.Name)
		}
	}
	return ""
}

var carriesWords = [...]string{fabric.CarriesDefault: "", fabric.CarriesRDMA: "rdma", fabric.CarriesCNP: "cnp", fabric.CarriesCluster: "cluster", fabric.CarriesOther: "other"}

// ways is how many ways there are, for people.
func ways(n uint64) string {
	switch n {
	case 0:
		return "no way"
	case 1:
		return "1 way"
	case math.MaxUint64:
		return "more ways than can be counted"
	}
	return fmt.Sprintf("%d ways", n)
}
