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

// guard decides which addresses http targets may have. It checks each address at the moment when it is
// dialled, after the name is resolved. So a name that resolves to another address the second time cannot
// evade it.
//
// Two things are closed. Private addresses are, unless the tenant's reach opens them, because a tenant of
// a shared server could reach its internal services by a job. And so is this process itself, because a job
// could otherwise make requests that appear to come from this machine.
type guard struct {
	reach      job.Reach
	own        []netip.AddrPort // addresses on which this process listens
	interfaces func() ([]net.Addr, error)
}

// newGuard returns the guard of the targets with a reach.
func newGuard(o Options, reach job.Reach) *guard {
	g := &guard{reach: reach, interfaces: net.InterfaceAddrs}
	for _, at := range o.Own {
		g.own = append(g.own, netip.AddrPortFrom(at.Addr().WithZone("").Unmap(), at.Port()))
	}
	return g
}

// ownAddressError reports that a target has an address on which this process listens.
type ownAddressError struct{ address string }

// Error implements error.
func (e ownAddressError) Error() string {
	return fmt.Sprintf("%s is an address of this server itself, which no run is sent to; want the address of another program", e.address)
}

// control is the Control function of the dialler: an error from it prevents the connection to address. It
// runs for each address that a dial tries, just before the connection.
func (g *guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	if n, ok := job.ClosedTo(at, g.reach); ok {
		return &job.ClosedError{Host: at.Addr().String(), Network: n}
	}
	if g.isOwn(at) {
		return ownAddressError{address}
	}
	return nil
}

// isOwn reports whether a connection to an address would reach a listener of this process. A listener at
// the unspecified IPv4 address accepts no IPv6 connections; one at the unspecified IPv6 address may accept
// both.
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

// isLocal reports whether an address belongs to this machine. If the system does not list its addresses, it
// returns true, which is the safe answer. The list is read each time, because addresses come and go; that
// happens only for a port on which this process listens.
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

// refusalOf returns the error of a guard that err wraps; nil if it wraps none.
func refusalOf(err error) error {
	if e, ok := errors.AsType[*job.ClosedError](err); ok {
		return e
	}
	if e, ok := errors.AsType[ownAddressError](err); ok {
		return e
	}
	return nil
}
