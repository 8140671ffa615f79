package job

import (
	"fmt"
	"net/netip"
)

// Network is a block of addresses to which http targets are not sent. The zero value contains no address.
type Network struct {
	Prefix netip.Prefix
	Name   string // what the block is for
	Source string // the document that sets it aside
	// Always keeps the block closed even if private targets are allowed, because no webhook is there, or because a
	// cloud hands out the credentials of its machines there.
	Always bool
}

// closedNetworks is the only table of closed addresses. A definition is checked with it, and so is each address
// before it is dialled. It follows the IANA registries of special-purpose addresses for IPv4 and IPv6. Blocks that
// these call globally reachable (AS112, AMT) stay open, except those inside a larger closed block. The first row that
// contains an address decides, so a narrow block precedes a wide one.
//
// The table has no row for ::ffff:0:0/96, because [ClosedNetwork] checks the IPv4 address inside.
var closedNetworks = []Network{
	closed("0.0.0.0/8", "this network", "RFC 791").always(),
	closed("10.0.0.0/8", "private use", "RFC 1918"),
	closed("100.100.100.200/32", "metadata of a cloud", "Alibaba Cloud").always(),
	closed("100.64.0.0/10", "shared by carriers", "RFC 6598"),
	closed("127.0.0.0/8", "loopback", "RFC 1122"),
	closed("169.254.0.23/32", "metadata of a cloud", "Tencent Cloud").always(),
	closed("169.254.42.42/32", "metadata of a cloud", "Scaleway").always(),
	closed("169.254.169.254/32", "metadata of a cloud", "AWS, Azure, Google Cloud and others").always(),
	closed("169.254.170.2/32", "credentials of a container", "AWS ECS").always(),
	closed("169.254.170.23/32", "credentials of a container", "AWS EKS").always(),
	closed("169.254.0.0/16", "link-local", "RFC 3927"),
	closed("168.63.129.16/32", "platform of a cloud", "Azure").always(),
	closed("172.16.0.0/12", "private use", "RFC 1918"),
	closed("192.0.0.192/32", "metadata of a cloud", "Oracle Cloud").always(),
	closed("192.0.0.0/24", "protocol assignments", "RFC 6890"),
	closed("192.0.2.0/24", "documentation", "RFC 5737"),
	closed("192.88.99.0/24", "6to4 relays", "RFC 7526"),
	closed("192.168.0.0/16", "private use", "RFC 1918"),
	closed("198.18.0.0/15", "benchmarks", "RFC 2544"),
	closed("198.51.100.0/24", "documentation", "RFC 5737"),
	closed("203.0.113.0/24", "documentation", "RFC 5737"),
	closed("224.0.0.0/4", "multicast", "RFC 5771").always(),
	closed("255.255.255.255/32", "broadcast", "RFC 919").always(),
	closed("240.0.0.0/4", "reserved", "RFC 1112"),

	closed("::/128", "unspecified", "RFC 4291").always(),
	closed("::1/128", "loopback", "RFC 4291"),
	closed("::/96", "IPv4-compatible, an IPv4 address inside", "RFC 4291").always(),
	closed("::ffff:0:0:0/96", "IPv4-translated, an IPv4 address inside", "RFC 2765").always(),
	closed("64:ff9b::/96", "NAT64, an IPv4 address inside", "RFC 6052"),
	closed("64:ff9b:1::/48", "NAT64, an IPv4 address inside", "RFC 8215"),
	closed("100::/64", "discard-only", "RFC 6666"),
	closed("100:0:0:1::/64", "dummy prefix", "RFC 9780"),
	closed("2001::/32", "Teredo, an IPv4 address inside", "RFC 4380").always(),
	closed("2001:2::/48", "benchmarks", "RFC 5180"),
	closed("2001::/23", "protocol assignments", "RFC 2928"),
	closed("2001:db8::/32", "documentation", "RFC 3849"),
	closed("2002::/16", "6to4, an IPv4 address inside", "RFC 3056").always(),
	closed("3fff::/20", "documentation", "RFC 9637"),
	closed("5f00::/16", "segment routing", "RFC 9602"),
	closed("fd00:42::42/128", "metadata of a cloud", "Scaleway").always(),
	closed("fd00:c1::a9fe:a9fe/128", "metadata of a cloud", "Oracle Cloud").always(),
	closed("fd00:ec2::23/128", "credentials of a container", "AWS EKS").always(),
	closed("fd00:ec2::254/128", "metadata of a cloud", "AWS").always(),
	closed("fd20:ce::254/128", "metadata of a cloud", "Google Cloud").always(),
	closed("fc00::/7", "private use", "RFC 4193"),
	closed("fe80::a9fe:a9fe/128", "metadata of a cloud", "OpenStack").always(),
	closed("fe80::/10", "link-local", "RFC 4291"),
	closed("fec0::/10", "site-local", "RFC 3879"),
	closed("ff00::/8", "multicast", "RFC 4291").always(),
	// Whatever is left outside 2000::/3 is not assigned for public use.
	closed("::/3", "not for public use", "RFC 4291"),
	closed("4000::/2", "not for public use", "RFC 4291"),
	closed("8000::/1", "not for public use", "RFC 4291"),
}

// nat64Prefixes are the blocks of the table that a NAT64 translates into IPv4 addresses. An IPv6-only server reaches
// every IPv4 host through one of them, so they can be opened; the IPv4 address inside is then checked.
var nat64Prefixes = [...]netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48")}

// nat64Layouts are the positions of the IPv4 address in an address of these blocks (RFC 6052, section 2.2). The
// well-known block has one layout; in the other one, its operator chooses a prefix of 96, 64, 56 or 48 bits.
var nat64Layouts = [...][][4]int{
	{{12, 13, 14, 15}},
	{{12, 13, 14, 15}, {9, 10, 11, 12}, {7, 9, 10, 11}, {6, 7, 9, 10}},
}

// closed returns a row of the table. It panics on a prefix that is none, at the start of every program.
func closed(prefix, name, source string) Network {
	return Network{Prefix: netip.MustParsePrefix(prefix), Name: name, Source: source}
}

// always returns the row as one that stays closed if private targets are allowed.
func (n Network) always() Network {
	n.Always = true
	return n
}

// String returns the block, its purpose and its source.
func (n Network) String() string { return fmt.Sprintf("%s (%s, %s)", n.Prefix, n.Name, n.Source) }

// ClosedNetwork returns the network that closes an address to http targets, and whether there is one. With
// privateAllowed, only networks with Always count. The zone of an address is ignored, and an IPv4-mapped address
// counts as its IPv4 address. An invalid address is closed by the zero Network. It must see the address that is
// dialled, after the name is resolved: a name that was checked earlier can resolve to another address by then (DNS
// rebinding).
func ClosedNetwork(addr netip.Addr, privateAllowed bool) (Network, bool) {
	if !addr.IsValid() {
		return Network{Name: "no address", Always: true}, true
	}
	addr = addr.WithZone("").Unmap()
	for _, n := range closedNetworks {
		switch {
		case !n.Prefix.Contains(addr):
		case n.Always || !privateAllowed:
			return n, true
		default:
			return behindNAT64(addr)
		}
	}
	return Network{}, false
}

// behindNAT64 returns the network that closes the IPv4 address to which a NAT64 may translate addr, and whether there
// is one. Only blocks of a single address count, because a NAT64 does not translate to multicast, and the
// layout that its operator chose is unknown.
func behindNAT64(addr netip.Addr) (Network, bool) {
	b := addr.As16()
	for i, prefix := range nat64Prefixes {
		if !prefix.Contains(addr) {
			continue
		}
		for _, at := range nat64Layouts[i] {
			inner := netip.AddrFrom4([4]byte{b[at[0]], b[at[1]], b[at[2]], b[at[3]]})
			if n, ok := ClosedNetwork(inner, true); ok && n.Prefix.IsSingleIP() {
				return n, true
			}
		}
	}
	return Network{}, false
}
