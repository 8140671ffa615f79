// Package lan makes a network of hosts on one machine. Each host is a network namespace with a TUN device;
// a [Switch] in this process carries the packets between the devices, and does to them what a test asks:
//
//	cut     packets vanish, in one direction or in both, without a word to either side
//	reset   each TCP connection is ended by a RST, and each new one is refused
//	delay   packets arrive later, in order
//	loss    a share of the packets vanishes
//
// The kernel's own TCP runs at both ends, so retransmissions, backoff and half-open connections are the
// real ones. The kernel needs no bridge, no netem and no packet filter for it; it takes root and
// /dev/net/tun. Where they are missing, [New] returns an error that wraps [ErrUnavailable].
//
// A namespace ends with the last process in it and with [LAN.Close]: nothing has a name that could outlive
// the program.
//
// lan_linux.go makes hosts and runs code on them, tun_linux.go their devices; switch.go carries the packets, and
// packet.go reads and makes those of TCP. lan_other.go stands in for systems without namespaces.
//
// Each device has one goroutine, which reads its packets and writes them to the device of the other host under the
// one lock of the switch. A delayed link has a goroutine of its own, so that order within it is kept.
package lan
