package server

import (
	"net"
	"net/netip"
)

// own returns the addresses on which this process listens. The list is complete once the bus is open. No job
// may be sent to one of them, because the server would carry out requests that a tenant makes it send to
// itself.
func (s *Server) own() []netip.AddrPort {
	var own []netip.AddrPort
	add := func(addr net.Addr) {
		if tcp, ok := addr.(*net.TCPAddr); ok && tcp != nil {
			own = append(own, tcp.AddrPort())
		}
	}
	for _, l := range []net.Listener{s.listener, s.profileListener} {
		if l != nil {
			add(l.Addr())
		}
	}
	for _, addr := range s.bus.Addrs() {
		add(addr)
	}
	return own
}

// listening returns the addresses of the listeners. It is complete once the bus is open.
func (s *Server) listening() Listening {
	all := Listening{HTTP: s.listener.Addr().String()}
	for i, addr := range s.bus.Addrs() {
		*[]*string{&all.NATS, &all.Peers}[i] = addr.String() // clients, then peers
	}
	return all
}
