package funcs

import (
	"net"
	"net/netip"

	"github.com/apparentlymart/go-cidr/cidr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func networkFuncs() []Func {
	const group = "network"
	return []Func{
		{"cidrcontains", "cidrcontains(containing, contained)", "Whether a prefix contains an address or the whole of another prefix.", `cidrcontains("10.64.0.0/13", "10.71.3.0/24")`, `true`, group, cidrContainsFunc()},
		{"cidrhost", "cidrhost(prefix, hostnum)", "The address of a host number in a prefix. Negative numbers count from the end.", `cidrhost("10.64.3.0/24", 11)`, `"10.64.3.11"`, group, cidrHostFunc()},
		{"cidrnetmask", "cidrnetmask(prefix)", "The netmask of an IPv4 prefix.", `cidrnetmask("172.16.0.0/12")`, `"255.240.0.0"`, group, cidrNetmaskFunc()},
		{"cidrsubnet", "cidrsubnet(prefix, newbits, netnum)", "The subnet of a prefix that has newbits more bits and the number netnum.", `cidrsubnet("10.64.0.0/13", 8, 3)`, `"10.64.24.0/21"`, group, cidrSubnetFunc()},
		{"cidrsubnets", "cidrsubnets(prefix, newbits...)", "Consecutive subnets of a prefix, each with its number of additional bits.", `cidrsubnets("10.1.0.0/16", 4, 8, 4)`, `["10.1.0.0/20", "10.1.16.0/24", "10.1.32.0/20"]`, group, cidrSubnetsFunc()},
	}
}

func prefixArg(args []cty.Value) (*net.IPNet, error) {
	s := args[0].AsString()
	_, p, err := net.ParseCIDR(s)
	if err != nil {
		return nil, function.NewArgErrorf(0, "%q is not a prefix like 10.64.0.0/13", clip(s))
	}
	return p, nil
}

func cidrContainsFunc() function.Function {
	return fn(text("containing", "contained"), cty.Bool, func(args []cty.Value) (cty.Value, error) {
		outer, err := netip.ParsePrefix(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "%q is not a prefix like 10.64.0.0/13", clip(args[0].AsString()))
		}
		if addr, err := netip.ParseAddr(args[1].AsString()); err == nil {
			return cty.BoolVal(outer.Contains(addr)), nil
		}
		inner, err := netip.ParsePrefix(args[1].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(1, "%q is neither an address nor a prefix", clip(args[1].AsString()))
		}
		return cty.BoolVal(inner.Bits() >= outer.Bits() && outer.Contains(inner.Addr())), nil
	})
}

func cidrHostFunc() function.Function {
	params := []function.Parameter{param("prefix", cty.String), param("hostnum", cty.Number)}
	return fn(params, cty.String, func(args []cty.Value) (cty.Value, error) {
		p, err := prefixArg(args)
		if err != nil {
			return cty.NilVal, err
		}
		num := args[1].AsBigFloat()
		if err := numberLimit(args); err != nil || !num.IsInt() {
			return cty.NilVal, function.NewArgErrorf(1, "a whole number is needed")
		}
		n, _ := num.Int(nil)
		ip, err := cidr.HostBig(p, n)
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(1, "prefix %s has no host number %s", p, n)
		}
		return cty.StringVal(ip.String()), nil
	})
}

func cidrNetmaskFunc() function.Function {
	return fn(text("prefix"), cty.String, func(args []cty.Value) (cty.Value, error) {
		p, err := prefixArg(args)
		if err != nil {
			return cty.NilVal, err
		}
		if p.IP.To4() == nil {
			return cty.NilVal, function.NewArgErrorf(0, "IPv6 prefix %s has no netmask", p)
		}
		return cty.StringVal(net.IP(p.Mask).String()), nil
	})
}

func cidrSubnetFunc() function.Function {
	params := []function.Parameter{param("prefix", cty.String), param("newbits", cty.Number), param("netnum", cty.Number)}
	return fn(params, cty.String, func(args []cty.Value) (cty.Value, error) {
		p, err := prefixArg(args)
		if err != nil {
			return cty.NilVal, err
		}
		bits, err := newBits(args, 1)
		if err != nil {
			return cty.NilVal, err
		}
		num := args[2].AsBigFloat()
		if err := numberLimit(args); err != nil || !num.IsInt() {
			return cty.NilVal, function.NewArgErrorf(2, "a whole number is needed")
		}
		n, _ := num.Int(nil)
		ones, size := p.Mask.Size()
		if ones+bits > size {
			return cty.NilVal, function.NewArgErrorf(1, "prefix %s has no room for %d more bits", p, bits)
		}
		sub, err := cidr.SubnetBig(p, bits, n)
		if err != nil || n.Sign() < 0 {
			return cty.NilVal, function.NewArgErrorf(2, "with %d more bits prefix %s has no subnet number %s", bits, p, n)
		}
		return cty.StringVal(sub.String()), nil
	})
}

func newBits(args []cty.Value, i int) (int, error) {
	bits, err := whole(args, i)
	if err != nil || bits < 0 || bits > 128 {
		return 0, function.NewArgErrorf(i, "a whole number of bits from 0 to 128 is needed")
	}
	return bits, nil
}

func cidrSubnetsFunc() function.Function {
	rest := &function.Parameter{Name: "newbits", Type: cty.Number}
	return variadic(text("prefix"), rest, cty.List(cty.String), func(args []cty.Value) (cty.Value, error) {
		p, err := prefixArg(args)
		if err != nil {
			return cty.NilVal, err
		}
		if err := elementLimit(len(args)); err != nil {
			return cty.NilVal, err
		}
		start, size := p.Mask.Size()
		var out []string
		var last *net.IPNet
		for i := range args[1:] {
			bits, err := newBits(args, i+1)
			if err != nil {
				return cty.NilVal, err
			}
			if bits == 0 || start+bits > size {
				return cty.NilVal, function.NewArgErrorf(i+1, "prefix %s has no room for %d more bits: 1 to %d are possible", p, bits, size-start)
			}
			next, ok := firstSubnet(p, start+bits, size), true
			if last != nil {
				var rolled bool
				next, rolled = cidr.NextSubnet(last, start+bits)
				ok = !rolled && p.Contains(next.IP)
			}
			if !ok {
				return cty.NilVal, function.NewArgErrorf(i+1, "prefix %s has no room left for subnet %d", p, i+1)
			}
			out = append(out, next.String())
			last = next
		}
		return stringList(out), nil
	})
}

func firstSubnet(p *net.IPNet, ones, size int) *net.IPNet {
	return &net.IPNet{IP: p.IP, Mask: net.CIDRMask(ones, size)}
}
