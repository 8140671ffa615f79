//go:build !linux

package lan

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
)

// LAN is some hosts and the switch between them. There is none on this system.
type LAN struct{ *Switch }

// Host is a network namespace with an address on the LAN.
type Host struct{}

// New returns [ErrUnavailable]: only Linux has network namespaces.
func New(uint64) (*LAN, error) {
	return nil, fmt.Errorf("%w: the system is %s", ErrUnavailable, runtime.GOOS)
}

// Add returns [ErrUnavailable].
func (l *LAN) Add(string, byte) (*Host, error) { return nil, ErrUnavailable }

// Close does nothing.
func (l *LAN) Close() {}

// Name returns nothing.
func (h *Host) Name() string { return "" }

// Addr returns no address.
func (h *Host) Addr() netip.Addr { return netip.Addr{} }

// Start returns [ErrUnavailable].
func (h *Host) Start(*exec.Cmd) error { return ErrUnavailable }

// DialContext returns [ErrUnavailable].
func (h *Host) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, ErrUnavailable
}

// Listen returns [ErrUnavailable].
func (h *Host) Listen(uint16) (net.Listener, error) { return nil, ErrUnavailable }
