package job

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Reach says which addresses http targets may have besides the public ones. Whatever it says, networks with
// [Network.Always] and the listeners of the server itself stay closed. The zero value opens nothing. It must not be
// changed after it was passed on.
type Reach struct {
	All      bool // every network that can be opened, at every port
	openings []Opening
	text     string // the openings
}

// Opening is a network that http targets may reach, at one port.
type Opening struct {
	Prefix netip.Prefix
	Port   uint16
}

// ParseOpening parses a network and a port: 10.2.0.0/16:443 or [fd00:1::/64]:8443. The address of the network must
// have no bits beyond its prefix, so that 10.2.3.4/16 is not mistaken for one machine.
func ParseOpening(text string) (Opening, error) {
	bad := func(why string) (Opening, error) {
		return Opening{}, fmt.Errorf("%q is no network with a port: %s; want one such as 10.2.0.0/16:443 or [fd00:1::/64]:8443", text, why)
	}
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return bad("it has no port")
	}
	network, number := text[:at], text[at+1:]
	port, err := strconv.ParseUint(number, 10, 16)
	if err != nil || port == 0 {
		return bad("the port must be 1 to 65535")
	}
	inner, isBracketed := strings.CutPrefix(network, "[")
	if isBracketed {
		inner, isBracketed = strings.CutSuffix(inner, "]")
	}
	prefix, err := netip.ParsePrefix(inner)
	switch {
	case err != nil:
		return bad("the network has not the form ADDRESS/BITS")
	case isBracketed != prefix.Addr().Is6():
		return bad("IPv6 networks stand in brackets, and no others do")
	case prefix.Addr().Is4In6():
		return bad("an IPv4 network has the form 10.2.0.0/16")
	case prefix != prefix.Masked():
		return bad("its first address is " + prefix.Masked().Addr().String())
	}
	return Opening{Prefix: prefix, Port: uint16(port)}, nil
}

// String returns the form that [ParseOpening] reads.
func (o Opening) String() string {
	if o.Prefix.Addr().Is4() {
		return fmt.Sprintf("%s:%d", o.Prefix, o.Port)
	}
	return fmt.Sprintf("[%s]:%d", o.Prefix, o.Port)
}

// String returns a text that is equal exactly for reaches with the same openings in the same order. It is cheap.
func (r Reach) String() string {
	if r.All {
		return "all"
	}
	return r.text
}

// IsPublic reports whether no closed address is open.
func (r Reach) IsPublic() bool { return !r.All && len(r.openings) == 0 }

// Add adds an opening, written as [ParseOpening] reads it. The error says what would be right.
func (r *Reach) Add(text string) error {
	o, err := ParseOpening(text)
	switch {
	case err != nil:
		return fmt.Errorf("has an item that is wrong: %w", err)
	case len(r.openings) == TargetPatternsMax:
		return errTooManyPatterns
	}
	r.openings = append(r.openings, o)
	r.text += o.String() + " "
	return nil
}

// opens reports whether a network that can be opened is open at an address.
func (r Reach) opens(at netip.AddrPort) bool {
	if r.All {
		return true
	}
	addr := at.Addr().WithZone("").Unmap()
	for _, o := range r.openings {
		if o.Port == at.Port() && o.Prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// ClosedTo returns the network that closes an address to http targets with a reach, and whether there is one. It is
// [ClosedNetwork] for an address with a port.
func ClosedTo(at netip.AddrPort, reach Reach) (Network, bool) {
	return ClosedNetwork(at.Addr(), at.IsValid() && reach.opens(at))
}
