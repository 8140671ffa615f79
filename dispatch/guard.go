package dispatch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/carillon-io/carillon/job"
)

// guard decides which addresses http targets may be at. It looks at each address that is about to be dialled, after
// the name was resolved, so a name that resolves to something else the second time gains nothing.
type guard struct {
	privateAllowed bool
	own            []netip.AddrPort // where this process listens
	interfaces     func() ([]net.Addr, error)
}

func newGuard(o Options) *guard {
	g := &guard{privateAllowed: o.AllowPrivateTargets, interfaces: net.InterfaceAddrs}
	for _, at := range o.Own {
		g.own = append(g.own, netip.AddrPortFrom(at.Addr().WithZone("").Unmap(), at.Port()))
	}
	return g
}

// ownAddressError says that a target is at an address where this process listens.
type ownAddressError struct{ address string }

// Error implements error.
func (e ownAddressError) Error() string {
	return fmt.Sprintf("%s is an address of this server itself, which no run is sent to; want the address of another program", e.address)
}

// control is called with the address that is about to be dialled.
func (g *guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	if n, ok := job.ClosedNetwork(at.Addr(), g.privateAllowed); ok {
		return &job.ClosedError{Host: at.Addr().String(), Network: n}
	}
	if g.isOwn(at) {
		return ownAddressError{address}
	}
	return nil
}

// isOwn reports whether a connection to an address would reach a listener of this process.
func (g *guard) isOwn(at netip.AddrPort) bool {
	addr := at.Addr().WithZone("").Unmap()
	for _, own := range g.own {
		switch {
		case own.Port() != at.Port():
		case own.Addr() == addr:
			return true
		case own.Addr() == netip.IPv4Unspecified() && !addr.Is4():
		case own.Addr().IsUnspecified() && g.isLocal(addr):
			return true
		}
	}
	return false
}

// isLocal reports whether an address is one of this machine. If the system does not say, it may be.
func (g *guard) isLocal(addr netip.Addr) bool {
	if addr.IsLoopback() {
		return true
	}
	interfaces, err := g.interfaces()
	if err != nil {
		return true
	}
	for _, one := range interfaces {
		prefix, err := netip.ParsePrefix(one.String())
		if err == nil && prefix.Addr().WithZone("").Unmap() == addr {
			return true
		}
	}
	return false
}

// refusalOf returns the refusal by a guard that err comes from; nil if it comes from none.
func refusalOf(err error) error {
	if e, ok := errors.AsType[*job.ClosedError](err); ok {
		return e
	}
	if e, ok := errors.AsType[ownAddressError](err); ok {
		return e
	}
	return nil
}
