package server

import "net"

// reachable returns an address by which a program on this machine reaches a listener on addr. If addr stands
// for all addresses of the machine, it returns the loopback address.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || len(tcp.IP) > 0 && !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	return (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}).String()
}
